/* cli.h: the command line of a sub-command. A command describes its options in one table of struct
 * argp_option; glibc's argp parses the command line by it and writes the text of --help from it.
 *
 * A row is {"ranks", RANKS, "P", 0, "ranks of the communicator", 0}: name, key, name of the value
 * (NULL: takes none), flags (OPTION_ARG_OPTIONAL for --name[=VALUE]), help. Keys start at
 * SK_CLI_KEY; a letter as key makes a short option too. The table ends with {0}. --help and -h are
 * added here. The help keeps the order of the table, unless a row without name and key starts a
 * group with a heading: then each group is sorted by name.
 *
 * Messages go to standard error as "COMMAND: message". A function that prints one returns false. */
#ifndef SK_CLI_H
#define SK_CLI_H

#include <argp.h>
#include <stdint.h>
#include <stdio.h>

#include "strlist.h"

enum {
    SK_CLI_WORD = 0,  /* the key of a word that is no option */
    SK_CLI_KEY = 256, /* the first key of options without a letter */
    SK_CLI_LIST = 32, /* numbers in one list */
};

/* What sk_cli_parse returns besides an exit status. */
enum { SK_CLI_OK = -1, SK_CLI_HELP = 0, SK_CLI_WRONG = 2 };

typedef struct sk_cli {
    const char *command;               /* as it is typed: "skein bench match" */
    const char *args;                  /* after the options in the usage line; "\n" between forms */
    const char *about;                 /* text above the options; after a "\v": text below them */
    const struct argp_option *options; /* up to 62 */

    /* Takes one option with its value (NULL: none given) or, with key SK_CLI_WORD, a word. False
     * after a message. */
    bool (*take)(void *ctx, int key, const char *value);

    bool stop_at_word; /* the first word that is no option starts another command line */
} sk_cli;

/* Parses argv[1...]. Returns SK_CLI_OK, or the exit status: 0 after --help was printed, 2 after a
 * message. *first (may be NULL) gets the index of the word at which parsing stopped, or argc. */
int sk_cli_parse(const sk_cli *cli, void *ctx, int argc, char **argv, int *first);

void sk_cli_help(const sk_cli *cli, FILE *out);

bool sk_cli_error(const sk_cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "no WHAT WORD; did you mean ...?" `valid` ends with NULL and has at least one name. */
bool sk_cli_unknown(const sk_cli *cli, const char *what, const char *word,
                    const char *const *valid);

/* The values of the option `key`. A number is lo...hi and may end in K, M or G. */
bool sk_cli_number(const sk_cli *cli, int key, const char *value, int64_t lo, int64_t hi,
                   int64_t *out);

typedef struct sk_numbers {
    int64_t v[SK_CLI_LIST];
    int n;
} sk_numbers;

/* Numbers separated by commas. */
bool sk_cli_numbers(const sk_cli *cli, int key, const char *value, int64_t lo, int64_t hi,
                    sk_numbers *out);

/* Words separated by commas, each one of `valid`, or `all` for every one of them. *out gets them in
 * the order given. `what` they are, for messages. */
bool sk_cli_choose(const sk_cli *cli, const char *what, const char *value, const sk_strlist *valid,
                   sk_strlist *out);

#endif
