/* parse.c: a model from a text such as "net:1.5us,12GB epoch:2us", on top of the default. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/settings.h"
#include "base/word.h"
#include "neighbor/cost/model.h"

static const char example[] = "\"socket:0.3us,10GB node:0.5us,8GB net:1.5us,12GB turn:40us\"";

/* An ordinary cluster: a 100 Gb/s network, copies through memory shared in the node. An epoch is a
 * context switch as measured with many ranks on one core. */
static const sk_model usual = {
    .alpha = {[SK_SOCKET] = 0.4e-6, [SK_NODE] = 0.6e-6, [SK_NET] = 1.5e-6},
    .beta = {[SK_SOCKET] = 1 / 10e9, [SK_NODE] = 1 / 8e9, [SK_NET] = 1 / 12.5e9},
    .epoch = 40e-6,
};

enum { EPOCH = SK_NLEVELS };
static const char *const names[] = {
    [SK_SOCKET] = "socket", [SK_NODE] = "node", [SK_NET] = "net", [EPOCH] = "turn", NULL};

typedef struct unit {
    const char *name;
    bool rate; /* bytes per second, else seconds */
    double times, parts;
} unit;
static const unit units[] = {
    {"s", false, 1, 1}, {"ms", false, 1, 1e3}, {"us", false, 1, 1e6}, {"ns", false, 1, 1e9},
    {"B", true, 1, 1},  {"KB", true, 1e3, 1},  {"MB", true, 1e6, 1},  {"GB", true, 1e9, 1},
};

/* "1.5us": the unit, and the number in seconds or bytes per second; NULL when it is neither. Not
 * strtod, which reads "1.5" as 1 where the program's locale has decimal commas. */
static const unit *read_quantity(const char *text, double *out)
{
    double whole = 0, parts = 1;
    bool digits = false, point = false;
    for (; isdigit((unsigned char)*text) || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        digits = true;
        whole = 10 * whole + (*text - '0');
        parts *= point ? 10 : 1;
    }
    for (size_t i = 0; digits && i < sizeof units / sizeof *units; i++)
        if (!strcmp(text, units[i].name)) {
            *out = whole * units[i].times / (parts * units[i].parts);
            return &units[i];
        }
    return NULL;
}

static sk_status wrong(const char *why, const sk_word *w, char *err, size_t size)
{
    snprintf(err, size, "\"%s\": %s; a model is written like %s", w->text, why, example);
    return SK_BADARG;
}

/* One quantity of the level or epoch `k`; `given` has a bit for each that came before. */
static sk_status put(sk_model *m, int k, const sk_word *w, unsigned *given, char *err, size_t size)
{
    double number;
    const unit *u = read_quantity(w->value, &number);
    if (!u)
        return wrong("wanted is a time in s, ms, us or ns, or bytes per second in B, KB, MB or GB",
                     w, err, size);
    if (u->rate && (k == EPOCH || number <= 0))
        return wrong(k == EPOCH ? "turn is a time" : "nothing would ever arrive", w, err, size);
    unsigned bit = 1u << (2 * k + u->rate);
    if (*given & bit)
        return wrong("given twice", w, err, size);
    *given |= bit;
    if (k == EPOCH)
        m->epoch = number;
    else if (u->rate)
        m->beta[k] = 1 / number;
    else
        m->alpha[k] = number;
    return SK_OK;
}

sk_status sk_model_parse(const char *text, sk_model *out, char *err, size_t size)
{
    sk_model m = usual;
    const char *left = text ? text : "";
    unsigned given = 0;
    int k = -1; /* "net:1.5us,12GB": the second word has no name and goes on with the first's */
    for (sk_word w; sk_word_next(&left, &w);) {
        if (w.name[0] || k < 0)
            k = sk_word_find(w.name, names);
        if (k < 0) {
            char why[64];
            snprintf(why, sizeof why, "unknown; did you mean %s?",
                     sk_nearest(w.name[0] ? w.name : w.value, names));
            return wrong(why, &w, err, size);
        }
        sk_status st = put(&m, k, &w, &given, err, size);
        if (st != SK_OK)
            return st;
    }
    *out = m;
    return SK_OK;
}
