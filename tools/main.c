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
    {"report", sk_cmd_report, "make a page of a run, or compare two runs"},
    {"advise", sk_cmd_advise, "say what a run suggests to change"},
    {"explain", sk_cmd_explain, "show which algorithm serves a call, why, and what it sends"},
    {"trace", sk_cmd_trace, "run an MPI program and record how its messages meet their receives"},
    {"tune", sk_cmd_tune, "measure which algorithms, or the host MPI, are the fastest here"},
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
    fprintf(out, "  %-9s the version\n", "version");
    fprintf(out, "\nskein(1) tells more.\n");
}

static int unknown(const char *name)
{
    const char *names[NCOMMANDS + 3] = {"help", "version"};
    for (int i = 0; i < NCOMMANDS; i++)
        names[i + 2] = commands[i].name;
    char hint[128];
    fprintf(stderr, "skein: no command %s; %s\n", name, sk_suggest(name, names, hint, sizeof hint));
    return 2;
}

/* `skein help COMMAND [SUBCOMMAND]` is `skein COMMAND [SUBCOMMAND] --help`. */
static int help(int argc, char **argv)
{
    if (argc == 0) {
        usage(stdout);
        return 0;
    }
    const struct command *c = find(argv[0]);
    if (!c)
        return unknown(argv[0]);
    char *asked[] = {argv[0], argc > 1 ? argv[1] : "--help", argc > 1 ? "--help" : NULL, NULL};
    return c->run(argc > 1 ? 3 : 2, asked);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return 2;
    }
    const char *name = argv[1];
    if (sk_word_find(name, (const char *const[]){"version", "--version", "-V", NULL}) >= 0) {
        printf("skein %s\n", SKEIN_VERSION);
        return 0;
    }
    if (sk_word_find(name, (const char *const[]){"help", "--help", "-h", NULL}) >= 0)
        return help(argc - 2, argv + 2);
    const struct command *c = find(name);
    return c ? c->run(argc - 1, argv + 1) : unknown(name);
}
