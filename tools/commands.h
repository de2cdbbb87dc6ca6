/* commands.h: the sub-commands of `skein`. Each gets its own name as argv[0] and returns the exit
 * status: 0 done, 1 failed, 2 wrong usage. */
#ifndef SK_COMMANDS_H
#define SK_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

int sk_cmd_run(int argc, char **argv);
int sk_cmd_info(int argc, char **argv);
int sk_cmd_explain(int argc, char **argv);
int sk_cmd_explain_neighbor(int argc, char **argv); /* `skein explain neighbor` */
int sk_cmd_report(int argc, char **argv);
int sk_cmd_advise(int argc, char **argv);
int sk_cmd_trace(int argc, char **argv);
int sk_cmd_tune(int argc, char **argv);
int sk_cmd_bench(int argc, char **argv);
int sk_cmd_bench_match(int argc, char **argv); /* `skein bench match` */

/* The path of the preload library of a flavour ("openmpi", "mpich"), of the provider ("fi"), or of
 * libskein-smpi.a ("smpi"). It is searched in ../lib beside the directory of the command, then in
 * the library directory of the installation. False when it is in neither; `path` then names the
 * file that was looked for first. */
bool sk_library_find(const char *flavour, char *path, size_t size);

#endif
