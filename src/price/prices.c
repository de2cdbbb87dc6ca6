/* prices.c: the parameters of the model: usual values, measured ones, and the text form. */
#include "price/prices.h"

#include <inttypes.h>
#include <string.h>

#include "base/numbers.h"
#include "base/word.h"

typedef enum price_unit { TIME, PER_BYTE, BYTES, COUNT, NUNITS } price_unit;

typedef struct price_row {
    const char *name, *why;
    price_unit unit;
    size_t offset; /* in sk_prices */
    double usual;
} price_row;

static const price_row rows[] = {
#define PRICE(field, name, unit, value, why) {name, why, unit, offsetof(sk_prices, field), value},
#include "price/prices.def"
#undef PRICE
};
static const char *const names[] = {
#define PRICE(field, name, unit, value, why) name,
#include "price/prices.def"
#undef PRICE
    NULL};
enum { NPRICES = sizeof rows / sizeof *rows };
_Static_assert(NPRICES * sizeof(double) == sizeof(sk_prices), "every price has a row");

/* What a price may be written in; the first one is what is printed. */
static const struct {
    const char *name;
    price_unit unit;
    bool inverse; /* bytes per time */
    double factor;
} units[] = {
    {"ns", TIME, false, 1},          {"ps", TIME, false, 1e-3},
    {"us", TIME, false, 1e3},        {"ms", TIME, false, 1e6},
    {"s", TIME, false, 1e9},         {"ns/B", PER_BYTE, false, 1},
    {"ps/B", PER_BYTE, false, 1e-3}, {"us/B", PER_BYTE, false, 1e3},
    {"GB/s", PER_BYTE, true, 1},     {"MB/s", PER_BYTE, true, 1e3},
    {"KB/s", PER_BYTE, true, 1e6},   {"B", BYTES, false, 1},
    {"KB", BYTES, false, 1024},      {"MB", BYTES, false, 1024 * 1024},
    {"-", COUNT, false, 1},
};
static const char *const wanted[NUNITS] = {[TIME] = "a time in s, ms, us, ns or ps",
                                           [PER_BYTE] = "ns/B, ps/B, us/B, GB/s, MB/s or KB/s",
                                           [BYTES] = "bytes in B, KB or MB",
                                           [COUNT] = "a number without a unit: write -"};
static const double MOST = 1e12; /* ns: 1000 s, and as many bytes */

static double *price_at(sk_prices *p, int i)
{
    return (double *)((char *)p + rows[i].offset);
}

/* ---- levels ---- */

sk_at sk_at_of(const sk_machine *m, int a, int b)
{
    if (!m)
        return a == b ? SK_AT_CORE : SK_AT_NET;
    switch (sk_machine_level(m, a, b)) {
    case SK_NET:
        return SK_AT_NET;
    case SK_NODE:
        return SK_AT_NODE;
    default:
        return a == b || (sk_core_of(m, a) >= 0 && sk_core_of(m, a) == sk_core_of(m, b))
                   ? SK_AT_CORE
                   : SK_AT_SOCKET;
    }
}

int sk_core_of(const sk_machine *m, int rank)
{
    if (!m || !sk_machine_oversubscribed(m))
        return -1;
    return m->core[rank] >= 0 ? m->core[rank] : m->local_rank[rank] % m->cores;
}

/* ---- values ---- */

sk_prices sk_prices_usual(void)
{
    sk_prices p;
    for (int i = 0; i < NPRICES; i++)
        *price_at(&p, i) = rows[i].usual;
    return p;
}

void sk_prices_measured(sk_prices *p, const sk_copy_prices *measured)
{
    double ns[SK_NPRICES];
    for (int i = 0; i < SK_NPRICES; i++)
        ns[i] = (double)measured->fs[i] * 1e-6;
    sk_level_prices *core = &p->level[SK_AT_CORE], *socket = &p->level[SK_AT_SOCKET],
                    *node = &p->level[SK_AT_NODE];
    if (ns[SK_PRICE_IN] > 0) {
        node->in *= socket->in > 0 ? ns[SK_PRICE_IN] / socket->in : 1;
        socket->in = ns[SK_PRICE_IN];
    }
    if (ns[SK_PRICE_OUT] > 0) {
        node->out *= socket->out > 0 ? ns[SK_PRICE_OUT] / socket->out : 1;
        socket->out = ns[SK_PRICE_OUT];
    }
    if (ns[SK_PRICE_COPY] > 0)
        p->copy = core->in = core->out = ns[SK_PRICE_COPY];
    /* As in coll/copy_time.h: half of the programs have written the memory since the last call. */
    if (ns[SK_PRICE_READ] > 0 && ns[SK_PRICE_REREAD] > 0) {
        p->read = (ns[SK_PRICE_READ] + ns[SK_PRICE_REREAD]) / 2;
        p->fresh = ns[SK_PRICE_READ] - p->read;
    }
    if (ns[SK_PRICE_CALL] > 0)
        p->call = ns[SK_PRICE_CALL];
}

/* ---- text ---- */

/* The value of row `i` in ns, ns/B or bytes; NULL, or what is wrong. */
static const char *read_value(int i, const char *number, const char *unit, double *out)
{
    const char *end;
    double x = sk_read_decimal(number, &end);
    if (end == number || *end)
        return "the value is no number such as 1.5";
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        if (units[u].unit != rows[i].unit || strcmp(units[u].name, unit) != 0)
            continue;
        if (units[u].inverse && x <= 0)
            return "nothing would ever arrive";
        *out = units[u].inverse ? units[u].factor / x : units[u].factor * x;
        return *out <= MOST ? NULL : "the value is too large";
    }
    return wanted[rows[i].unit];
}

static sk_status wrong(char *err, size_t size, int line, const char *word, const char *why)
{
    snprintf(err, size, "line %d: %.48s: %s", line, word, why);
    return SK_BADARG;
}

/* One line without its end. */
static sk_status read_line(const char *text, int line, sk_prices *p, char *err, size_t size)
{
    char name[64], number[64], unit[64], more[2], why[128];
    int n = sscanf(text, "%63s %63s %63s %1s", name, number, unit, more);
    if (n <= 0)
        return SK_OK;
    int i = sk_word_find(name, names);
    if (i < 0) {
        snprintf(why, sizeof why, "no such price; did you mean %s?", sk_nearest(name, names));
        return wrong(err, size, line, name, why);
    }
    if (n != 3)
        return wrong(err, size, line, name, "a line has a name, a value and a unit");
    const char *bad = read_value(i, number, unit, price_at(p, i));
    return bad ? wrong(err, size, line, name, bad) : SK_OK;
}

sk_status sk_prices_read(const char *text, sk_prices *p, char *err, size_t size)
{
    sk_prices read = *p;
    char line[256];
    for (int n = 1; *text; n++) {
        size_t whole = strcspn(text, "\n"), len = strcspn(text, "#\n");
        if (len >= sizeof line)
            return wrong(err, size, n, "", "too long");
        memcpy(line, text, len);
        line[len] = '\0';
        sk_status st = read_line(line, n, &read, err, size);
        if (st != SK_OK)
            return st;
        text += whole + (text[whole] == '\n');
    }
    *p = read;
    return SK_OK;
}

/* Six decimals without trailing zeros, and a point in every locale. */
static void print_value(double x, FILE *out)
{
    int64_t micro = (int64_t)(x * 1e6 + 0.5);
    char text[48];
    int n = snprintf(text, sizeof text, "%" PRId64 ".%06" PRId64, micro / 1000000, micro % 1000000);
    while (text[n - 1] == '0')
        n--;
    text[text[n - 1] == '.' ? n - 1 : n] = '\0';
    fprintf(out, " %10s", text);
}

void sk_prices_print(const sk_prices *p, FILE *out)
{
    static const char *const unit[NUNITS] = {
        [TIME] = "ns", [PER_BYTE] = "ns/B", [BYTES] = "B", [COUNT] = "-"};
    sk_prices copy = *p;
    for (int i = 0; i < NPRICES; i++) {
        fprintf(out, "%-16s", rows[i].name);
        print_value(*price_at(&copy, i), out);
        fprintf(out, " %-5s # %s\n", unit[rows[i].unit], rows[i].why);
    }
}
