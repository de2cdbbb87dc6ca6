#include "base/copy_prices.h"

#include <stdio.h>
#include <string.h>

#include "base/numbers.h"
#include "base/word.h"

static const char *const names[] = {"in", "out", "copy", "read", "reread", "call", NULL};
static const char example[] = "in:0.2ns out:0.2ns copy:0.03ns read:0.25ns reread:0.08ns call:1.2us";

static const struct {
    const char *name;
    double fs;
} units[] = {{"ps", 1e3}, {"ns", 1e6}, {"us", 1e9}};

bool sk_copy_prices_known(const sk_copy_prices *p)
{
    for (int i = 0; i < SK_NPRICES; i++)
        if (p->fs[i] <= 0)
            return false;
    return true;
}

/* "0.2ns"; 0: it is no time, or not between 1 fs and 1 ms. */
static int64_t read_time(const char *text)
{
    const char *end;
    double value = sk_read_decimal(text, &end);
    for (size_t i = 0; end > text && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0) {
            double fs = value * units[i].fs;
            return fs >= 1 && fs <= 1e12 ? (int64_t)(fs + 0.5) : 0;
        }
    return 0;
}

sk_status sk_copy_prices_parse(const char *text, sk_copy_prices *p, char *err, size_t size)
{
    sk_copy_prices prices = *p;
    for (sk_word w; sk_word_next(&text, &w);) {
        int i = sk_word_find(w.name, names);
        if (i < 0) {
            snprintf(err, size, "%s: unknown; did you mean %s? As in %s", w.text,
                     sk_nearest(w.name[0] ? w.name : w.text, names), example);
            return SK_BADARG;
        }
        prices.fs[i] = read_time(w.value);
        if (!prices.fs[i]) {
            snprintf(err, size, "%s: a time with its unit (ps, ns, us) is wanted, as in %s", w.text,
                     example);
            return SK_BADARG;
        }
    }
    *p = prices;
    return SK_OK;
}

const char *sk_copy_prices_text(const sk_copy_prices *p, char *out, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < SK_NPRICES && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%s:%.3g%s", i ? " " : "", names[i],
                               (double)p->fs[i] / (i == SK_PRICE_CALL ? 1e9 : 1e6),
                               i == SK_PRICE_CALL ? "us" : "ns");
    return out;
}
