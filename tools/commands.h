/* commands.h: the sub-commands of `skein`. Each gets its own name as argv[0] and returns the exit
 * status: 0 done, 1 failed, 2 used wrongly. */
#ifndef SK_COMMANDS_H
#define SK_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

int sk_cmd_run(int argc, char **argv);
int sk_cmd_info(int argc, char **argv);
int sk_cmd_explain(int argc, char **argv);
int sk_cmd_explain_neighbor(int argc, char **argv); /* `skein explain neighbor` */
int sk_cmd_trace(int argc, char **argv);
int sk_cmd_bench(int argc, char **argv);
int sk_cmd_bench_match(int argc, char **argv); /* `skein bench match` */

/* The preload library of a flavour ("openmpi", "mpich"), the provider ("fi"), or libskein-smpi.a
 * for "smpi": in ../lib beside the command's own directory, or where the command was installed to
 * find it. False when it is nowhere; `path` then names the first place looked at. */
bool sk_library_find(const char *flavour, char *path, size_t size);

#endif
