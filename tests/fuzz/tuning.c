/* tuning.c: libFuzzer target: whatever bytes a tuning file has, it is refused with its line, or what was read is
 * written and read again as the same, and every call gets advice that can be followed. Each input lies in memory of
 * exactly its length. */
#include <stdlib.h>
#include <string.h>

#include "select/tuning.h"

#define MUST(cond)                                                                                 \
    do {                                                                                           \
        if (!(cond))                                                                               \
            abort();                                                                               \
    } while (0)

static bool any(const void *ctx, const sk_algo *a)
{
    (void)ctx;
    return a != NULL;
}

static void advice_holds(sk_tuning *t, int machine)
{
    sk_advice x;
    for (int coll = 0; coll < SK_NCOLLS; coll++)
        for (int ranks = 2; ranks < 100; ranks *= 3)
            for (int64_t bytes = 0; bytes < 1 << 20; bytes = 9 * bytes + 1) {
                sk_tuned call = {.coll = (sk_coll)coll,
                                 .form = (sk_form)((coll + ranks + bytes) % SK_NFORMS),
                                 .ranks = ranks,
                                 .nodes = 1 + (ranks > 20),
                                 .neighbours = sk_coll_neighbor((sk_coll)coll) ? 4 : 0,
                                 .bytes = coll % 3 ? bytes : SK_TUNED_ANY_SIZE};
                if (sk_tuning_advise(t, machine, &call, any, NULL, &x))
                    MUST(x.algo && x.algo->coll == call.coll && x.us > 0);
            }
}

static sk_tuning *read_it(const char *text, size_t len)
{
    char err[512] = "";
    sk_tuning *t = sk_tuning_new();
    MUST(t);
    if (sk_tuning_read(t, text, len, err, sizeof err) == SK_OK)
        return t;
    MUST(err[0] >= '1' && err[0] <= '9' && strchr(err, ';'));
    sk_tuning_free(t);
    return NULL;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len)
{
    char *exact = malloc(len ? len : 1);
    if (!exact)
        return 0;
    memcpy(exact, data, len);
    sk_tuning *t = read_it(exact, len);
    free(exact);
    if (!t)
        return 0;
    char *text = sk_tuning_text(t, NULL);
    MUST(text);
    sk_tuning *u = read_it(text, strlen(text));
    MUST(u);
    char *again = sk_tuning_text(u, NULL);
    MUST(again && strcmp(text, again) == 0);
    for (int i = 0; sk_tuning_machine(u, i); i++)
        advice_holds(u, i);
    free(again);
    free(text);
    sk_tuning_free(u);
    sk_tuning_free(t);
    return 0;
}
