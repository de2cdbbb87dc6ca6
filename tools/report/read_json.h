/* read_json.h: reading of JSON that may be hostile: limits on depth and size, and strings that are UTF-8 afterwards. */
#ifndef SK_READ_JSON_H
#define SK_READ_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

typedef enum sk_json_kind {
    SK_JSON_NULL,
    SK_JSON_BOOL,
    SK_JSON_NUMBER,
    SK_JSON_STRING,
    SK_JSON_ARRAY,
    SK_JSON_OBJECT,
} sk_json_kind;

typedef struct sk_json {
    sk_json_kind kind;
    double number;    /* finite; of a bool 0 or 1 */
    const char *text; /* of a string: UTF-8 without control characters */
    const char *key;  /* of a member of an object */
    int n;            /* elements, or members */
    struct sk_json *first, *next;
} sk_json;

enum { SK_JSON_ERR = 160 };

/* NULL: `err` says in which line what is wrong. */
const sk_json *sk_json_read(sk_arena *a, const char *text, size_t len, char err[SK_JSON_ERR]);

/* The first member of that name; NULL: none, or not an object. */
const sk_json *sk_json_get(const sk_json *object, const char *key);

#endif
