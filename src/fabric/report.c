/* report.c: what the matcher did, for people (SKEIN_MATCH_STATS) and to be played again
 * (SKEIN_TRACE). Files get the process id as a suffix: every process writes its own. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fabric/endpoint.h"

static void report_path(const char *start, char *path, size_t size)
{
    snprintf(path, size, "%s.%ld", start, (long)getpid());
}

sk_trace *sk_report_trace(sk_ep *ep, uint32_t nranks)
{
    char path[4096], text[4608];
    const char *start = ep->domain->config.trace;
    if (!*start || ep->trace)
        return ep->trace;
    report_path(start, path, sizeof path);
    if (sk_trace_new(path, nranks, &ep->trace) == SK_OK)
        return ep->trace;
    snprintf(text, sizeof text, "%s=%s: cannot write %s: %s",
             sk_setting_info_get(SK_SET_TRACE)->var, start, path, strerror(errno));
    sk_provider_tell(text);
    return NULL;
}

static void report_stats(sk_ep *ep)
{
    char path[4096];
    const char *start = ep->domain->config.stats;
    sk_match_stats stats;
    if (!*start || !ep->matcher)
        return;
    sk_matcher_stats(ep->matcher, &stats);
    stats.contended += ep->domain->contended;
    if (strcmp(start, "1") == 0) {
        flockfile(stderr);
        fprintf(stderr, "skein: matching in process %ld\n", (long)getpid());
        sk_match_stats_print(&stats, sk_matcher_engine(ep->matcher), sk_kind_name, stderr);
        funlockfile(stderr);
        return;
    }
    report_path(start, path, sizeof path);
    FILE *to = fopen(path, "we");
    if (!to) {
        fprintf(stderr, "skein: %s=%s: cannot write %s: %s\n",
                sk_setting_info_get(SK_SET_MATCH_STATS)->var, start, path, strerror(errno));
        return;
    }
    sk_match_stats_print(&stats, sk_matcher_engine(ep->matcher), sk_kind_name, to);
    if (fclose(to) != 0)
        fprintf(stderr, "skein: %s: %s\n", path, strerror(errno));
}

void sk_report_close(sk_ep *ep)
{
    report_stats(ep);
    if (sk_trace_free(ep->trace) != SK_OK)
        fprintf(stderr, "skein: the trace of process %ld is not complete: %s\n", (long)getpid(),
                strerror(errno));
    ep->trace = NULL;
}
