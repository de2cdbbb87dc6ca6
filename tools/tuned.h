/* tuned.h: the tuning file as commands find it. */
#ifndef SK_TOOLS_TUNED_H
#define SK_TOOLS_TUNED_H

#include "price/prices.h"
#include "select/select.h"
#include "select/tuning_file.h"

typedef struct sk_tool_tuning {
    char path[SK_TUNING_PATH];                /* empty: there is no file */
    char err[SK_TUNING_PATH + SK_TUNING_ERR]; /* empty: it could be read */
    char here[SK_TUNING_NAME]; /* "; 8 cores; AMD EPYC 7402": this machine, with any MPI */
    sk_tuning *tuning;         /* NULL: see above */
    int machine;               /* -1: the file does not have this one */
} sk_tool_tuning;

/* Finds and reads the file. */
void sk_tool_tuning_read(const sk_select *s, sk_tool_tuning *out);

/* Reads it and chooses by it: it belongs to the selection then. A wrong file gets a message. */
void sk_tool_tuning_use(sk_select *s, const char *command, sk_tool_tuning *out);

/* Takes over the prices that the file has for this machine. Wrong ones get a message. */
void sk_tool_tuning_prices(const sk_tool_tuning *t, const char *command, sk_prices *p);

#endif
