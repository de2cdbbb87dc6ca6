#include "report/read_json.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strlist.h"

enum { DEEPEST = 16, MOST_VALUES = 1 << 20 };

typedef struct reader {
    sk_arena *arena;
    const char *at, *end;
    int line, depth, values;
    char *err;
} reader;

static bool wrong(reader *r, const char *what)
{
    if (!*r->err)
        snprintf(r->err, SK_JSON_ERR, "line %d: %s", r->line, what);
    return false;
}

static void skip_space(reader *r)
{
    for (; r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at; r->at++)
        r->line += *r->at == '\n';
}

/* Is this the next character? Then it is taken. */
static bool next_is(reader *r, char c)
{
    skip_space(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* ---- strings ---- */

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

enum { REPLACEMENT = 0xfffd };

/* One character of UTF-8, or the replacement for a byte that begins none. */
static uint32_t take_utf8(reader *r)
{
    const unsigned char *c = (const unsigned char *)r->at;
    int n = *c < 0x80 ? 1 : *c >= 0xc2 && *c < 0xe0 ? 2 : *c >= 0xe0 && *c < 0xf0 ? 3 : 4;
    uint32_t value = n == 1 ? *c : (uint32_t)(*c & (0xff >> (n + 1)));
    bool ok = (*c < 0x80 || *c >= 0xc2) && *c < 0xf5 && r->end - r->at >= n;
    for (int i = 1; ok && i < n; i++) {
        ok = (c[i] & 0xc0) == 0x80;
        value = value << 6 | (c[i] & 0x3f);
    }
    ok = ok && !(n == 3 && value < 0x800) && !(n == 4 && (value < 0x10000 || value > 0x10ffff)) &&
         !(value >= 0xd800 && value < 0xe000);
    r->at += ok ? n : 1;
    return ok ? value : REPLACEMENT;
}

static bool take_hex(reader *r, uint32_t *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = r->at < r->end && *r->at ? strchr(digits, *r->at | 0x20) : NULL;
        if (!digit || (*r->at & 0x80))
            return wrong(r, "\\u needs four hexadecimal digits");
        *value = *value << 4 | (uint32_t)(digit - digits);
    }
    return true;
}

/* After the backslash. */
static bool take_escape(reader *r, uint32_t *value)
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char c = r->at < r->end ? *r->at++ : '\0';
    const char *at = c ? strchr(names, c) : NULL;
    if (at) {
        *value = (unsigned char)meant[at - names];
        return true;
    }
    if (c != 'u')
        return wrong(r, "an unknown escape in a string");
    if (!take_hex(r, value))
        return false;
    if (*value >= 0xd800 && *value < 0xdc00 && r->end - r->at >= 2 && r->at[0] == '\\' &&
        r->at[1] == 'u') {
        uint32_t low;
        r->at += 2;
        if (!take_hex(r, &low))
            return false;
        bool pair = low >= 0xdc00 && low < 0xe000;
        *value = pair ? 0x10000 + ((*value - 0xd800) << 10) + (low - 0xdc00) : REPLACEMENT;
    }
    if (*value >= 0xd800 && *value < 0xe000)
        *value = REPLACEMENT;
    return true;
}

/* After the first quote. Control characters become spaces. */
static const char *take_string(reader *r)
{
    const char *close = r->at;
    while (close < r->end && *close != '"')
        close += *close == '\\' ? 2 : 1;
    if (close >= r->end) {
        wrong(r, "a string does not end");
        return NULL;
    }
    /* A byte that is no UTF-8 becomes three. */
    char *text = sk_arena_need(r->arena, 3 * (size_t)(close - r->at) + 1), *to = text;
    while (*r->at != '"') {
        uint32_t c;
        if (*r->at == '\\') {
            r->at++;
            if (!take_escape(r, &c))
                return NULL;
        } else {
            c = take_utf8(r);
        }
        to = put_utf8(to, c < ' ' || c == 0x7f ? ' ' : c);
    }
    r->at++;
    *to = '\0';
    return text;
}

/* ---- values ---- */

static bool take_number(reader *r, sk_json *v)
{
    char word[64];
    size_t n = 0;
    while (r->at + n < r->end && r->at[n] && strchr("+-.eE0123456789", r->at[n]))
        n++;
    if (n == 0 || n >= sizeof word || r->at[0] == '+' || r->at[0] == '.')
        return wrong(r, "neither a value nor a number");
    memcpy(word, r->at, n);
    word[n] = '\0';
    char *end;
    v->kind = SK_JSON_NUMBER;
    v->number = strtod(word, &end);
    r->at += n;
    return *end == '\0' && isfinite(v->number) ? true : wrong(r, "a number is wrong or too large");
}

static bool take_word(reader *r, sk_json *v)
{
    static const struct {
        const char *word;
        sk_json_kind kind;
        double number;
    } words[] = {{"null", SK_JSON_NULL, 0}, {"true", SK_JSON_BOOL, 1}, {"false", SK_JSON_BOOL, 0}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word);
        if ((size_t)(r->end - r->at) >= n && memcmp(r->at, words[i].word, n) == 0) {
            v->kind = words[i].kind;
            v->number = words[i].number;
            r->at += n;
            return true;
        }
    }
    return take_number(r, v);
}

static bool take_value(reader *r, sk_json *v);

/* The elements of an array, or the members of an object, after its bracket. */
static bool take_elements(reader *r, sk_json *v, char close)
{
    sk_json **last = &v->first;
    if (++r->depth > DEEPEST)
        return wrong(r, "too many brackets in brackets");
    if (!next_is(r, close)) {
        do {
            sk_json *e = sk_arena_need(r->arena, sizeof *e);
            if (close == '}' &&
                (!next_is(r, '"') || !(e->key = take_string(r)) || !next_is(r, ':')))
                return wrong(r, "a name and a colon were expected");
            if (!take_value(r, e))
                return false;
            *last = e;
            last = &e->next;
            v->n++;
        } while (next_is(r, ','));
        if (!next_is(r, close))
            return wrong(r, "a comma or a closing bracket was expected");
    }
    r->depth--;
    return true;
}

static bool take_value(reader *r, sk_json *v)
{
    if (++r->values > MOST_VALUES)
        return wrong(r, "more values than any report has");
    if (next_is(r, '"')) {
        v->kind = SK_JSON_STRING;
        return (v->text = take_string(r)) != NULL;
    }
    if (next_is(r, '[') || next_is(r, '{')) {
        v->kind = r->at[-1] == '[' ? SK_JSON_ARRAY : SK_JSON_OBJECT;
        return take_elements(r, v, v->kind == SK_JSON_ARRAY ? ']' : '}');
    }
    return r->at < r->end ? take_word(r, v) : wrong(r, "it ends too early");
}

const sk_json *sk_json_read(sk_arena *a, const char *text, size_t len, char err[SK_JSON_ERR])
{
    reader r = {.arena = a, .at = text, .end = text + len, .line = 1, .err = err};
    sk_json *root = sk_arena_need(a, sizeof *root);
    err[0] = '\0';
    if (!take_value(&r, root))
        return NULL;
    skip_space(&r);
    if (r.at < r.end) {
        wrong(&r, "more follows after the end");
        return NULL;
    }
    return root;
}

const sk_json *sk_json_get(const sk_json *object, const char *key)
{
    const sk_json *e = object && object->kind == SK_JSON_OBJECT ? object->first : NULL;
    while (e && strcmp(e->key, key) != 0)
        e = e->next;
    return e;
}
