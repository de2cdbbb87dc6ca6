/* values.h: the values of options. All return false after a message on standard error. */
#ifndef SK_VALUES_H
#define SK_VALUES_H

#include "bench/match/options.h"

#define SK_MATCH_COMMAND "bench match"

bool sk_value_number(const char *option, const char *text, int64_t lo, int64_t hi, int64_t *out);
bool sk_value_numbers(sk_arena *a, const char *option, const char *text, int64_t lo, int64_t hi,
                      sk_numbers *out);

/* Words separated by commas, all of them among the valid ones; `all` stands for these. */
bool sk_value_choose(const char *what, const char *text, const sk_strlist *valid, sk_strlist *out);

#endif
