/* numbers.h: whole numbers and sizes from text. Settings, descriptions, options of commands and data
 * files all read their numbers here. */
#ifndef SK_NUMBERS_H
#define SK_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* A decimal number that fills the whole text. With `sized` the unit K, M or G (powers of 1024, also
 * in small letters) may follow. SK_BADARG: the text is no such number. SK_TOOBIG: it is, but not
 * within lo <= number <= hi. *out is set on success only. */
sk_status sk_read_integer(const char *text, bool sized, int64_t lo, int64_t hi, int64_t *out);

/* The same for any number >= 0; false: it is none. */
bool sk_read_number(const char *text, bool sized, int64_t *out);

/* A number such as 1.5 at the start of the text: its value, and in *end what follows it. No sign, no
 * exponent. *end == text: there is none. Not by strtod, which reads "1.5" as 1 where the program's
 * locale has decimal commas. */
double sk_read_decimal(const char *text, const char **end);

#endif
