/* report.h: prints comparisons as tables and as CSV. */
#ifndef SK_MATCH_REPORT_H
#define SK_MATCH_REPORT_H

#include "bench/match/compare.h"
#include "bench/match/match.h"

/* What was run, for the CSV. */
typedef struct sk_report_subject {
    const char *stream; /* "synthetic", an application or a file */
    uint32_t ranks, depth;
    const char *order, *side; /* "": none */
    int wild;
    bool any_tag;
} sk_report_subject;

/* A comparison of the engines that the options select. */
sk_comparison sk_report_comparison(const sk_match_options *o);

void sk_report_csv_header(FILE *f);
void sk_report_csv(FILE *f, const sk_report_subject *s, const sk_comparison *k);

/* The rows of one depth. */
void sk_report_depth_header(FILE *f);
void sk_report_depth(FILE *f, uint32_t depth, const sk_comparison *k);

/* The whole table of a stream: lengths of the queues, then a row per engine. */
void sk_report_stream(FILE *f, const char *title, const sk_stream *s, const sk_comparison *k);

/* Writes a line to standard error for each engine that disagrees; true: there is one. */
bool sk_report_wrong(const char *title, const sk_comparison *k);

#endif
