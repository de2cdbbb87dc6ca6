/* matching.c: the matchers of an endpoint, their statistics for people (SKEIN_MATCH_STATS) and their
 * trace for replay (SKEIN_TRACE). Every process writes its own files: their names end in the
 * process id. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fabric/proto/endpoint.h"

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
    return sk_matcher_new(c->engine, &config, &ep->matcher[q]) == SK_OK ? ep->matcher[q] : NULL;
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
    stats_write(ep, contended);
    if (sk_trace_free(ep->trace) != SK_OK)
        fprintf(stderr, "skein: the trace of process %ld is not complete: %s\n", (long)getpid(),
                strerror(errno));
    ep->trace = NULL;
}
