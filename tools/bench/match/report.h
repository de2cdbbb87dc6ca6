/* report.h: the tables of contests, and their CSV. */
#ifndef SK_REPORT_H
#define SK_REPORT_H

#include "bench/match/contest.h"
#include "bench/match/options.h"

/* What was played, for the CSV. */
typedef struct sk_subject {
    const char *stream; /* "synthetic", an application or a file */
    uint32_t ranks, depth;
    const char *order, *side; /* "" where there is none */
    int wild;
    bool any_tag;
} sk_subject;

/* A contest as the options want it. */
sk_contest sk_report_contest(const sk_match_options *o);

void sk_report_csv_header(FILE *f);
void sk_report_csv(FILE *f, const sk_subject *s, const sk_contest *k);

/* Rows of queues of one depth. */
void sk_report_depth_header(FILE *f);
void sk_report_depth(FILE *f, uint32_t depth, const sk_contest *k);

/* The whole table of a stream: lengths of queues, then engines. */
void sk_report_stream(FILE *f, const char *title, const sk_stream *s, const sk_contest *k);

/* One line on standard error when engines disagree; true if they do. */
bool sk_report_wrong(const char *title, const sk_contest *k);

/* The dedicated queues of a side, and the most that it may have: k * sqrt(n). */
uint64_t sk_report_queues(const sk_match_stats *s, sk_match_side side);
uint64_t sk_report_cap(const sk_match_config *c, uint32_t nranks);

#endif
