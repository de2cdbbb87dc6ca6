/* option.h: the words of a command line: --name, --name VALUE and --name=VALUE. */
#ifndef SK_OPTION_H
#define SK_OPTION_H

#include <stdbool.h>

typedef struct sk_option {
    const char *name;
    bool value; /* takes one */
} sk_option;

enum { SK_OPTION_WORD = -1, SK_OPTION_BAD = -2 };

/* Takes argv[*i] and the value that may follow, and leaves *i at the last word taken. Returns the
 * place of the option in the table (ended by a name of NULL) with its *value, "" where it takes
 * none; SK_OPTION_WORD when it is no option but a word, then *value; SK_OPTION_BAD after a message
 * that starts with the name of the command. */
int sk_option_take(const char *command, const sk_option *table, char **argv, int *i,
                   const char **value);

/* "skein COMMAND: ..." on standard error; 2, the exit status of a wrong use. */
int sk_bad_use(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
