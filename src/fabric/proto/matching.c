/* matching.c: the matchers of an endpoint, their statistics for people (SKEIN_MATCH_STATS) and their
 * trace for replay (SKEIN_TRACE). Every process writes its own files: their names end in the
 * process id. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fabric/proto/endpoint.h"
#include "match/hint.h"

static void report_path(const char *prefix, char *path, size_t size)
{
    snprintf(path, size, "%s.%ld", prefix, (long)getpid());
}

/* NULL: no trace is wanted, or the file cannot be written. */
static sk_trace *trace_open(sk_endpoint *ep, uint32_t nranks)
{
    char path[4096], text[4608];
    const char *prefix = ep->config->trace;
    if (!*prefix || ep->trace)
        return ep->trace;
    report_path(prefix, path, sizeof path);
    if (sk_trace_new(path, nranks, &ep->trace) == SK_OK)
        return ep->trace;
    snprintf(text, sizeof text, "%s=%s: cannot write %s: %s",
             sk_setting_info_get(SK_SET_TRACE)->var, prefix, path, strerror(errno));
    sk_provider_message(text);
    return NULL;
}

static void fill_counts(void *of, int64_t counts[SK_MATCH_COUNTS])
{
    sk_match_stats s;
    const sk_endpoint *ep = of;
    sk_matcher_stats(ep->matcher[SK_TAGGED], &s);
    for (int side = 0; side < SK_STATS_SIDES; side++) {
        int64_t *c = counts + side * (SK_MATCH_COUNTS / SK_STATS_SIDES);
        c[0] = (int64_t)s.max_length[side];
        c[1] = (int64_t)(1e3 * s.mean_length[side]);
        c[2] = c[3] = 0;
        for (int kind = 0; kind < SK_STATS_KINDS; kind++) {
            c[2] += (int64_t)s.kind[kind][side].searches;
            c[3] += (int64_t)s.kind[kind][side].traversals;
        }
    }
}

/* Offers the counts to the report of the preload library, or withdraws them. */
static void offer_counts(sk_endpoint *ep, bool withdraw)
{
    union {
        void *object;
        sk_match_offer_fn *function;
    } symbol = {.object = dlsym(RTLD_DEFAULT, SK_MATCH_COUNTS_SYMBOL)};
    if (symbol.object && ep->matcher[SK_TAGGED])
        symbol.function(withdraw ? NULL : fill_counts, ep,
                        sk_matcher_engine(ep->matcher[SK_TAGGED]));
}

sk_matcher *sk_matching_init(sk_endpoint *ep, sk_queue q)
{
    const sk_fabric_config *c = ep->config;
    uint64_t nranks = sk_id_expected(ep->ids);
    sk_match_config config = {
        .nranks = nranks < UINT32_MAX ? (uint32_t)nranks : UINT32_MAX,
        .kc = c->kc,
        .kp = c->kp,
        .theta = c->theta,
        .trace = q == SK_TAGGED ? trace_open(ep, (uint32_t)nranks) : NULL,
    };
    if (sk_matcher_new(c->engine, &config, &ep->matcher[q]) != SK_OK)
        return NULL;
    if (q == SK_TAGGED)
        offer_counts(ep, false);
    return ep->matcher[q];
}

static void stats_write(sk_endpoint *ep, uint64_t contended)
{
    char path[4096];
    const char *prefix = ep->config->stats;
    const sk_matcher *m = ep->matcher[SK_TAGGED];
    sk_match_stats stats;
    if (!*prefix || !m)
        return;
    sk_matcher_stats(m, &stats);
    stats.contended += contended;
    if (strcmp(prefix, "1") == 0) {
        flockfile(stderr);
        fprintf(stderr, "skein: matching in process %ld\n", (long)getpid());
        sk_match_stats_print(&stats, sk_matcher_engine(m), sk_kind_name, stderr);
        funlockfile(stderr);
        return;
    }
    report_path(prefix, path, sizeof path);
    FILE *to = fopen(path, "we");
    if (!to) {
        fprintf(stderr, "skein: %s=%s: cannot write %s: %s\n",
                sk_setting_info_get(SK_SET_MATCH_STATS)->var, prefix, path, strerror(errno));
        return;
    }
    sk_match_stats_print(&stats, sk_matcher_engine(m), sk_kind_name, to);
    if (fclose(to) != 0)
        fprintf(stderr, "skein: %s: %s\n", path, strerror(errno));
}

void sk_matching_report(sk_endpoint *ep, uint64_t contended)
{
    offer_counts(ep, true);
    stats_write(ep, contended);
    if (sk_trace_free(ep->trace) != SK_OK)
        fprintf(stderr, "skein: the trace of process %ld is not complete: %s\n", (long)getpid(),
                strerror(errno));
    ep->trace = NULL;
}
