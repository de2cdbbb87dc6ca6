#include "select/tuning.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/word.h"

enum { LINE = 400, NAME = 240, PRICES = 64, WORDS = 8, MACHINES = 256 };
static const char head[] = "skein-tuning";
static const char host_name[] = "host";
static const char again[] = "correct it, remove the line, or run `skein tune` again";

typedef struct price_line {
    char name[32], value[32];
} price_line;

typedef struct tuned_machine {
    char name[NAME];
    sk_tuned *v;
    int n, cap;
    bool sorted;
    price_line price[PRICES];
    int nprices;
    char *price_text;
} tuned_machine;

struct sk_tuning {
    tuned_machine *machine;
    int n;
};

sk_tuning *sk_tuning_new(void)
{
    return calloc(1, sizeof(sk_tuning));
}

void sk_tuning_free(sk_tuning *t)
{
    for (int i = 0; t && i < t->n; i++) {
        free(t->machine[i].v);
        free(t->machine[i].price_text);
    }
    if (t)
        free(t->machine);
    free(t);
}

/* ---- adding ---- */

/* NULL: out of memory, or too many. */
static tuned_machine *machine_of(sk_tuning *t, const char *name)
{
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->machine[i].name, name) == 0)
            return &t->machine[i];
    tuned_machine *more =
        t->n < MACHINES ? realloc(t->machine, (size_t)(t->n + 1) * sizeof *more) : NULL;
    if (!more)
        return NULL;
    t->machine = more;
    more[t->n] = (tuned_machine){.sorted = true};
    snprintf(more[t->n].name, sizeof more->name, "%s", name);
    return &more[t->n++];
}

static sk_status add(tuned_machine *m, const sk_tuned *e)
{
    if (m->n == m->cap) {
        int cap = m->cap ? 2 * m->cap : 64;
        sk_tuned *v = realloc(m->v, (size_t)cap * sizeof *v);
        if (!v)
            return SK_NOMEM;
        m->v = v;
        m->cap = cap;
    }
    m->v[m->n++] = *e;
    m->sorted = false;
    return SK_OK;
}

static sk_status add_price(tuned_machine *m, const char *name, const char *value)
{
    int i = 0;
    while (i < m->nprices && strcmp(m->price[i].name, name) != 0)
        i++;
    if (i == PRICES)
        return SK_TOOBIG;
    m->nprices += i == m->nprices;
    snprintf(m->price[i].name, sizeof m->price->name, "%s", name);
    snprintf(m->price[i].value, sizeof m->price->value, "%s", value);
    char *text = calloc((size_t)m->nprices, sizeof *m->price + 2);
    if (!text)
        return SK_NOMEM;
    for (int k = 0, at = 0; k < m->nprices; k++)
        at += sprintf(text + at, "%s %s\n", m->price[k].name, m->price[k].value);
    free(m->price_text);
    m->price_text = text;
    return SK_OK;
}

sk_status sk_tuning_add(sk_tuning *t, const char *machine, const sk_tuned *e)
{
    tuned_machine *m = machine_of(t, machine);
    return m ? add(m, e) : SK_NOMEM;
}

sk_status sk_tuning_add_price(sk_tuning *t, const char *machine, const char *name,
                              const char *value)
{
    tuned_machine *m = machine_of(t, machine);
    return m ? add_price(m, name, value) : SK_NOMEM;
}

/* ---- order ---- */

static int order_of(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare(const void *pa, const void *pb)
{
    const sk_tuned *a = pa, *b = pb;
    int d = order_of(a->coll, b->coll);
    d = d ? d : order_of(a->form, b->form);
    d = d ? d : order_of(a->nodes, b->nodes);
    d = d ? d : order_of(a->ranks, b->ranks);
    d = d ? d : order_of(a->neighbours, b->neighbours);
    d = d ? d : order_of(a->bytes, b->bytes);
    return d ? d
             : order_of(a->algo ? sk_algo_index(a->algo) : -1,
                        b->algo ? sk_algo_index(b->algo) : -1);
}

/* In order, with one entry for each call and algorithm. */
static void tidy(tuned_machine *m)
{
    const int64_t most = 1000000000;
    int n = 0;
    if (m->sorted)
        return;
    qsort(m->v, (size_t)m->n, sizeof *m->v, compare);
    for (int i = 0; i < m->n; i++) {
        sk_tuned *last = n ? &m->v[n - 1] : NULL;
        const sk_tuned *e = &m->v[i];
        if (!last || compare(last, e) != 0) {
            m->v[n++] = *e;
            continue;
        }
        double calls = (double)last->calls + (double)e->calls;
        last->us = (last->us * (double)last->calls + e->us * (double)e->calls) / calls;
        last->calls = calls < (double)most ? (int64_t)calls : most;
    }
    m->n = n;
    m->sorted = true;
}

/* ---- reading ---- */

typedef struct tuning_line {
    char text[LINE];
    char *word[WORDS + 1];
    int n, number;
    char *err;
    size_t size;
} tuning_line;

__attribute__((format(printf, 2, 3))) static sk_status wrong(const tuning_line *l,
                                                             const char *format, ...)
{
    va_list args;
    int at = snprintf(l->err, l->size, "%d: ", l->number);
    va_start(args, format);
    if (at >= 0 && (size_t)at < l->size)
        vsnprintf(l->err + at, l->size - (size_t)at, format, args);
    va_end(args);
    return SK_BADARG;
}

static void split(tuning_line *l)
{
    l->n = 0;
    for (char *at = l->text; l->n <= WORDS;) {
        at += strspn(at, " \t\r");
        if (!*at)
            break;
        l->word[l->n++] = at;
        at += strcspn(at, " \t\r");
        if (*at)
            *at++ = '\0';
    }
}

static sk_status read_int(const tuning_line *l, int i, const char *what, int64_t lo, int64_t hi,
                          int64_t *out)
{
    if (sk_read_integer(l->word[i], false, lo, hi, out) == SK_OK)
        return SK_OK;
    return wrong(l, "%.40s is no %s from %" PRId64 " to %" PRId64 "; %s", l->word[i], what, lo, hi,
                 again);
}

static sk_status read_names(const tuning_line *l, sk_tuned *e)
{
    char hint[160];
    const char *words[SK_NCOLLS * SK_NFORMS + 1] = {NULL};
    size_t n = 0;
    e->coll = sk_form_find(l->word[0], &e->form);
    if (e->coll == SK_NCOLLS) {
        for (; n < SK_NCOLLS * SK_NFORMS; n++)
            words[n] = sk_form_name((sk_coll)(n / SK_NFORMS), (sk_form)(n % SK_NFORMS));
        const char *near = sk_near(l->word[0], words);
        return wrong(l, "no collective %.40s%s%s%s; %s", l->word[0], near ? ", did you mean " : "",
                     near ? near : "", near ? "?" : "", again);
    }
    e->algo = sk_algo_find(e->coll, l->word[5]);
    if (e->algo || strcmp(l->word[5], host_name) == 0)
        return SK_OK;
    words[n++] = host_name;
    for (const sk_algo *const *a = sk_algos(); *a && n < SK_NCOLLS * SK_NFORMS; a++)
        if ((*a)->coll == e->coll)
            words[n++] = (*a)->name;
    return wrong(l, "%s has no algorithm %.40s, %s; %s", l->word[0], l->word[5],
                 sk_suggest(l->word[5], words, hint, sizeof hint), again);
}

static sk_status read_time(const tuning_line *l, sk_tuned *e)
{
    const double longest = 1e12;
    const char *end;
    if (l->n != WORDS)
        return wrong(l,
                     "%s words are wanted: COLLECTIVE RANKS NODES NEIGHBOURS BYTES ALGORITHM "
                     "MICROSECONDS CALLS; %s",
                     "8", again);
    sk_status st = read_names(l, e);
    int64_t ranks = 0, nodes = 0, neighbours = 0;
    bool around = st == SK_OK && sk_coll_neighbor(e->coll);
    if (st == SK_OK)
        st = read_int(l, 1, "number of ranks", 2, INT32_MAX, &ranks);
    if (st == SK_OK)
        st = read_int(l, 2, "number of nodes", 1, ranks, &nodes);
    if (st == SK_OK && around)
        st = read_int(l, 3, "number of neighbours", 1, INT32_MAX, &neighbours);
    else if (st == SK_OK && strcmp(l->word[3], "-") != 0)
        st = wrong(l, "%s has no neighbours: - is wanted instead of %.40s; %s", l->word[0],
                   l->word[3], again);
    if (st == SK_OK)
        st = read_int(l, 4, "number of bytes", 0, INT64_MAX / 2, &e->bytes);
    if (st == SK_OK)
        st = read_int(l, 7, "number of calls", 1, 1000000000, &e->calls);
    if (st != SK_OK)
        return st;
    e->ranks = (int)ranks;
    e->nodes = (int)nodes;
    e->neighbours = (int)neighbours;
    e->us = sk_read_decimal(l->word[6], &end);
    if (end == l->word[6] || *end || !(e->us > 0) || e->us > longest)
        return wrong(l, "%.40s is no time in microseconds above 0; %s", l->word[6], again);
    return SK_OK;
}

/* Whether the name means what it says only the model knows. */
static sk_status read_price(const tuning_line *l, tuned_machine *m)
{
    char value[32];
    const char *end;
    if (l->n != 4 || strlen(l->word[1]) >= sizeof m->price->name ||
        strlen(l->word[2]) + strlen(l->word[3]) + 2 > sizeof value)
        return wrong(l, "a price is wanted as in: price net.latency 1.2 us; %s", again);
    sk_read_decimal(l->word[2], &end);
    if (end == l->word[2] || *end)
        return wrong(l, "%.40s is no number; %s", l->word[2], again);
    snprintf(value, sizeof value, "%s %s", l->word[2], l->word[3]);
    sk_status st = add_price(m, l->word[1], value);
    return st == SK_TOOBIG ? wrong(l, "more than %d prices; %s", PRICES, again) : st;
}

static sk_status read_head(const tuning_line *l)
{
    int64_t version = 0;
    if (l->n != 2 || strcmp(l->word[0], head) != 0)
        return wrong(l, "no tuning file: it begins with the line %s %d; run `skein tune`", head,
                     SK_TUNING_VERSION);
    sk_status st = read_int(l, 1, "version", 1, INT32_MAX, &version);
    if (st == SK_OK && version > SK_TUNING_VERSION)
        st = wrong(l,
                   "version %" PRId64 " of the format, but this Skein reads versions up to %d; run "
                   "`skein tune` again with another file",
                   version, SK_TUNING_VERSION);
    return st;
}

/* The rest of the line, with single blanks. */
static sk_status read_machine(const tuning_line *l, const char *text, sk_tuning *t,
                              tuned_machine **out)
{
    char name[LINE];
    size_t n = 0;
    for (; *text; text++)
        if (!isspace((unsigned char)*text))
            name[n++] = *text;
        else if (n && name[n - 1] != ' ')
            name[n++] = ' ';
    while (n && name[n - 1] == ' ')
        n--;
    name[n] = '\0';
    if (!n || n >= NAME)
        return wrong(l, "a machine is wanted, up to %d letters, as `skein info` shows it; %s",
                     NAME - 1, again);
    *out = machine_of(t, name);
    return *out ? SK_OK : wrong(l, "too many machines, or out of memory; remove some");
}

/* One line, not yet split. `m`: the machine it belongs to. */
static sk_status read_line(tuning_line *l, sk_tuning *t, bool *begun, tuned_machine **m)
{
    sk_tuned e = {0};
    char copy[LINE];
    l->text[strcspn(l->text, "#")] = '\0';
    memcpy(copy, l->text, sizeof copy);
    split(l);
    if (l->n == 0)
        return SK_OK;
    if (!*begun) {
        *begun = true;
        return read_head(l);
    }
    if (strcmp(l->word[0], "machine") == 0)
        return read_machine(l, copy + (l->word[0] - l->text) + strlen("machine"), t, m);
    if (!*m)
        return wrong(l, "a line \"machine ...\" is wanted before this one; %s", again);
    if (strcmp(l->word[0], "price") == 0)
        return read_price(l, *m);
    sk_status st = read_time(l, &e);
    return st == SK_OK ? add(*m, &e) : st;
}

sk_status sk_tuning_read(sk_tuning *t, const char *text, size_t len, char *err, size_t size)
{
    tuning_line l = {.err = err, .size = size};
    tuned_machine *m = NULL;
    bool begun = false;
    sk_status st = SK_OK;
    l.number = 1;
    if (len > SK_TUNING_BYTES)
        return wrong(&l,
                     "more than %d MB; is this a tuning file? Run `skein tune` with another one",
                     SK_TUNING_BYTES >> 20);
    if (len && memchr(text, 0, len))
        return wrong(&l, "not a text; is this a tuning file? Run `skein tune` with another one");
    for (const char *end = text + len; st == SK_OK && text < end; l.number++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (!stop)
            return wrong(&l, "the line is cut off: the file is not complete; %s", again);
        if (stop - text >= LINE)
            return wrong(&l, "a line of more than %d letters; %s", LINE - 1, again);
        memset(l.text, 0, sizeof l.text);
        memcpy(l.text, text, (size_t)(stop - text));
        st = read_line(&l, t, &begun, &m);
        text = stop + 1;
    }
    if (st == SK_OK && !begun)
        return wrong(&l, "the file is empty; run `skein tune`");
    if (st == SK_NOMEM)
        wrong(&l, "%s", sk_status_text(st));
    return st;
}

/* ---- writing ---- */

static void write_machine(tuned_machine *m, FILE *out)
{
    tidy(m);
    fprintf(out, "\nmachine %s\n", m->name);
    for (int i = 0; i < m->nprices; i++)
        fprintf(out, "price %s %s\n", m->price[i].name, m->price[i].value);
    fprintf(out, "# %-18s %5s %5s %10s %10s %-18s %12s %s\n", "collective", "ranks", "nodes",
            "neighbours", "bytes", "algorithm", "microseconds", "calls");
    for (int i = 0; i < m->n; i++) {
        const sk_tuned *e = &m->v[i];
        char neighbours[16] = "-";
        if (e->neighbours)
            snprintf(neighbours, sizeof neighbours, "%d", e->neighbours);
        fprintf(out, "%-20s %5d %5d %10s %10" PRId64 " %-18s %12.3f %" PRId64 "\n",
                sk_form_name(e->coll, e->form), e->ranks, e->nodes, neighbours, e->bytes,
                e->algo ? e->algo->name : host_name, e->us < 0.001 ? 0.001 : e->us, e->calls);
    }
}

char *sk_tuning_text(sk_tuning *t, const char *machine)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return NULL;
    fprintf(out, "%s %d\n# Made by `skein tune` or SKEIN_LEARN; skein(7) describes it.\n", head,
            SK_TUNING_VERSION);
    for (int i = 0; i < t->n; i++)
        if (!machine || strcmp(machine, t->machine[i].name) == 0)
            write_machine(&t->machine[i], out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

const char *sk_tuning_machine(const sk_tuning *t, int i)
{
    return i >= 0 && i < t->n ? t->machine[i].name : NULL;
}

const sk_tuned *sk_tuning_times(sk_tuning *t, int machine, int *n)
{
    tidy(&t->machine[machine]);
    *n = t->machine[machine].n;
    return t->machine[machine].v;
}

const char *sk_tuning_prices(const sk_tuning *t, int machine)
{
    return t->machine[machine].price_text ? t->machine[machine].price_text : "";
}

bool sk_tuning_has(sk_tuning *t, int machine, sk_coll coll, sk_form form)
{
    int n;
    const sk_tuned *v = sk_tuning_times(t, machine, &n);
    for (int i = 0; i < n; i++)
        if (v[i].coll == coll && (v[i].form == form || v[i].form == SK_BLOCKING))
            return true;
    return false;
}
