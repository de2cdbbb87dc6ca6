/* main.c: the `skein` command: finds the sub-command and runs it. */
#include <stdio.h>
#include <string.h>

#include "base/word.h"
#include "commands.h"
#include "skein.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"run", sk_cmd_run, "run an MPI program with its collectives served by Skein"},
    {"info", sk_cmd_info, "list collectives, algorithms, settings and libraries"},
    {"explain", sk_cmd_explain, "show which algorithm serves a call, why, and what it sends"},
    {"trace", sk_cmd_trace, "run an MPI program and record how its messages meet their receives"},
    {"bench", sk_cmd_bench, "time Skein's collectives against those of the host MPI"},
};
enum { NCOMMANDS = sizeof commands / sizeof *commands };

static const struct command *find(const char *name)
{
    for (int i = 0; i < NCOMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static void usage(FILE *out)
{
    fprintf(out, "Usage: skein COMMAND [ARGUMENT]...\n\n");
    for (int i = 0; i < NCOMMANDS; i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].help);
    fprintf(out, "  %-9s this text, or `skein help COMMAND` for one command\n", "help");
    fprintf(out, "\n`skein --version` prints the version; skein(1) tells more.\n");
}

static int unknown(const char *name)
{
    const char *names[NCOMMANDS + 2] = {"help"};
    for (int i = 0; i < NCOMMANDS; i++)
        names[i + 1] = commands[i].name;
    fprintf(stderr, "skein: no command %s; did you mean %s?\n", name, sk_nearest(name, names));
    return 2;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return 2;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0) {
        printf("skein %s\n", SKEIN_VERSION);
        return 0;
    }
    bool help = strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
    if (help && argc == 2) {
        usage(stdout);
        return 0;
    }
    if (help)
        name = argv[2];
    const struct command *c = find(name);
    if (!c)
        return unknown(name);
    if (help) {
        char *asked[] = {(char *)c->name, "--help", NULL};
        return c->run(2, asked);
    }
    return c->run(argc - 1, argv + 1);
}
