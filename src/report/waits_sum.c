/* waits_sum.c: the profiles of all ranks, at rank 0. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coll/algo.h"
#include "report/json.h"
#include "report/waits.h"

enum { MOST_BUCKETS = 32, MOST_LATE = 8 };

/* Calls that were noted. Times stand for all calls of their communicators: each counts as often as there are calls for
 * one that was noted. */
typedef struct coll_sum {
    int64_t sampled, most_spread_ns;
    double weight, sampled_ns, waited_ns, spread_ns;
} coll_sum;

/* All communicators of one name and number of ranks. */
typedef struct comm_sum {
    char name[SK_WAITS_NAME];
    int nranks, members; /* rows of ranks that were added */
    double groups;
    int64_t communicators, calls, ns, most_ns;
    coll_sum waits;
    sk_waits_graph least, most, sum; /* of their graphs */
    int graphs;
} comm_sum;

typedef struct entry { /* of a rank into a call that was noted */
    uint64_t ranks;
    sk_waits_sample sample;
    int64_t calls;  /* of the row */
    int rank, comm; /* index of its comm_sum */
} entry;

typedef struct rank_sum {
    int node;
    int64_t ns, sampled_ns, waited_ns;
    int64_t last,
        caused_ns; /* calls that it entered last, and how long others waited for it then */
} rank_sum;

struct sk_waits_sum {
    int nranks, per_bucket, nbuckets;
    rank_sum *rank;
    comm_sum *comm;
    int ncomms, comm_cap;
    entry *entry;
    size_t nentries, entry_cap;
    coll_sum all, coll[SK_NCOLLS];
    double *matrix; /* ns that ranks of a bucket waited for those of another */
};

sk_waits_sum *sk_waits_sum_new(int nranks)
{
    sk_waits_sum *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->nranks = nranks;
    s->per_bucket = (nranks + MOST_BUCKETS - 1) / MOST_BUCKETS;
    s->nbuckets = (nranks + s->per_bucket - 1) / s->per_bucket;
    s->rank = calloc((size_t)nranks, sizeof *s->rank);
    s->matrix = calloc((size_t)s->nbuckets * (size_t)s->nbuckets, sizeof *s->matrix);
    if (s->rank && s->matrix)
        return s;
    sk_waits_sum_free(s);
    return NULL;
}

void sk_waits_sum_free(sk_waits_sum *s)
{
    if (!s)
        return;
    free(s->rank);
    free(s->comm);
    free(s->entry);
    free(s->matrix);
    free(s);
}

/* ---- what a rank sends ---- */

/* Room for one more element; false: out of memory. */
static bool grow(void **array, size_t size, size_t n, size_t *cap)
{
    if (n < *cap)
        return true;
    size_t more = *cap ? 2 * *cap : 64;
    void *bigger = realloc(*array, more * size);
    if (!bigger)
        return false;
    *array = bigger;
    *cap = more;
    return true;
}

/* Its index; -1: out of memory. */
static int comm_of(sk_waits_sum *s, const sk_waits_row *r)
{
    for (int i = 0; i < s->ncomms; i++)
        if (s->comm[i].nranks == r->nranks && strcmp(s->comm[i].name, r->name) == 0)
            return i;
    void *array = s->comm;
    size_t cap = (size_t)s->comm_cap;
    if (!grow(&array, sizeof *s->comm, (size_t)s->ncomms, &cap))
        return -1;
    s->comm = array;
    s->comm_cap = (int)cap;
    s->comm[s->ncomms] = (comm_sum){.nranks = r->nranks};
    memcpy(s->comm[s->ncomms].name, r->name, sizeof r->name);
    return s->ncomms++;
}

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static void add_graph(comm_sum *c, const sk_waits_graph *g)
{
    if (!g->calls)
        return;
    if (!c->graphs++)
        c->least = c->most = *g;
    c->least.in = smaller(c->least.in, g->in);
    c->least.out = smaller(c->least.out, g->out);
    c->most.in = larger(c->most.in, g->in);
    c->most.out = larger(c->most.out, g->out);
    c->sum.in += g->in;
    c->sum.out += g->out;
    c->sum.local += g->local;
    c->sum.algo = g->algo;
    c->sum.calls = g->calls > c->sum.calls ? g->calls : c->sum.calls;
}

static void add_row(comm_sum *c, const sk_waits_row *r)
{
    c->members++;
    c->groups += r->nranks > 0 ? 1.0 / r->nranks : 0;
    c->communicators = r->communicators > c->communicators ? r->communicators : c->communicators;
    c->calls = r->calls > c->calls ? r->calls : c->calls;
    c->ns += r->ns;
    c->most_ns = r->ns > c->most_ns ? r->ns : c->most_ns;
    add_graph(c, &r->graph);
}

static sk_status add_entry(sk_waits_sum *s, const entry *e)
{
    void *array = s->entry;
    if (!grow(&array, sizeof *s->entry, s->nentries, &s->entry_cap))
        return SK_NOMEM;
    s->entry = array;
    s->entry[s->nentries++] = *e;
    return SK_OK;
}

sk_status sk_waits_take(sk_waits_sum *s, int rank, int node, const void *packed, size_t bytes)
{
    const char *at = packed, *end = at + bytes;
    sk_waits_head head;
    if (rank < 0 || rank >= s->nranks || bytes < sizeof head)
        return SK_BADARG;
    memcpy(&head, at, sizeof head);
    at += sizeof head;
    if (head.nrows < 0 || head.nrows > SK_WAITS_ROWS ||
        (size_t)(end - at) < (size_t)head.nrows * sizeof(sk_waits_row))
        return SK_BADARG;
    const char *sample = at + (size_t)head.nrows * sizeof(sk_waits_row);
    s->rank[rank].node = node;
    s->rank[rank].ns = head.waited_ns;
    for (int i = 0; i < head.nrows; i++, at += sizeof(sk_waits_row)) {
        sk_waits_row r;
        memcpy(&r, at, sizeof r);
        int comm = comm_of(s, &r);
        if (comm < 0)
            return SK_NOMEM;
        add_row(&s->comm[comm], &r);
        s->rank[rank].ns += r.ns;
        for (int k = 0; k < r.nsamples; k++, sample += sizeof(sk_waits_sample)) {
            entry e = {.ranks = r.ranks, .calls = r.calls, .rank = rank, .comm = comm};
            if ((size_t)(end - sample) < sizeof e.sample)
                return SK_BADARG;
            memcpy(&e.sample, sample, sizeof e.sample);
            if (e.sample.coll < SK_NCOLLS && add_entry(s, &e) != SK_OK)
                return SK_NOMEM;
        }
    }
    return SK_OK;
}

/* ---- who waited for whom ---- */

static int by_call(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->ranks != y->ranks)
        return x->ranks < y->ranks ? -1 : 1;
    if (x->sample.call != y->sample.call)
        return x->sample.call < y->sample.call ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The entry of the last rank; NULL: they are not entries of all ranks into one call. */
static const entry *last_of(const sk_waits_sum *s, const entry *first, int n)
{
    const entry *last = first;
    if (n != s->comm[first->comm].nranks)
        return NULL;
    for (int i = 1; i < n; i++) {
        if (first[i].sample.coll != first->sample.coll || first[i].rank == first[i - 1].rank)
            return NULL;
        if (first[i].sample.from > last->sample.from)
            last = &first[i];
    }
    return last;
}

static void add_call(coll_sum *c, const coll_sum *one)
{
    c->sampled++;
    c->weight += one->weight;
    c->sampled_ns += one->weight * one->sampled_ns;
    c->waited_ns += one->weight * one->waited_ns;
    c->spread_ns += one->weight * one->spread_ns;
    c->most_spread_ns =
        (int64_t)one->spread_ns > c->most_spread_ns ? (int64_t)one->spread_ns : c->most_spread_ns;
}

/* The entries of all ranks into one call. */
static void add_entries(sk_waits_sum *s, const entry *first, int n, const entry *last,
                        double weight)
{
    coll_sum one = {.weight = weight};
    for (const entry *e = first; e < first + n; e++) {
        int64_t late = last->sample.from - e->sample.from,
                waited = late < e->sample.took ? late : e->sample.took;
        rank_sum *r = &s->rank[e->rank];
        r->sampled_ns += weight * (double)e->sample.took;
        r->waited_ns += weight * (double)waited;
        s->matrix[e->rank / s->per_bucket * s->nbuckets + last->rank / s->per_bucket] +=
            weight * (double)waited;
        one.sampled_ns += (double)e->sample.took;
        one.waited_ns += (double)waited;
        one.spread_ns = (double)late > one.spread_ns ? (double)late : one.spread_ns;
    }
    s->rank[last->rank].last++;
    s->rank[last->rank].caused_ns += weight * one.waited_ns;
    add_call(&s->all, &one);
    add_call(&s->coll[first->sample.coll], &one);
    add_call(&s->comm[first->comm].waits, &one);
}

/* The number of entries from here on that are of the same call, or of calls of the same ranks. */
static size_t alike(const entry *first, const entry *end, bool call)
{
    const entry *e = first + 1;
    while (e < end && e->ranks == first->ranks && (!call || e->sample.call == first->sample.call))
        e++;
    return (size_t)(e - first);
}

/* The entries into calls of the same ranks: first counts the calls that all of them noted. */
static void add_calls(sk_waits_sum *s, const entry *first, const entry *end)
{
    int64_t noted = 0;
    for (int pass = 0; pass < 2; pass++)
        for (const entry *e = first; e < end;) {
            size_t n = alike(e, end, true);
            const entry *last = n <= INT32_MAX ? last_of(s, e, (int)n) : NULL;
            if (last && pass == 0)
                noted++;
            else if (last)
                add_entries(s, e, (int)n, last, (double)first->calls / (double)noted);
            e += n;
        }
}

sk_status sk_waits_finish(sk_waits_sum *s)
{
    if (s->nentries)
        qsort(s->entry, s->nentries, sizeof *s->entry, by_call);
    for (size_t i = 0, n; i < s->nentries; i += n) {
        n = alike(&s->entry[i], s->entry + s->nentries, false);
        add_calls(s, &s->entry[i], &s->entry[i + n - 1] + 1);
    }
    return SK_OK;
}

/* ---- JSON ---- */

static double seconds(double ns)
{
    return 1e-9 * ns;
}

static void json_sampled(FILE *out, const coll_sum *c)
{
    fprintf(out,
            "\"sampled_calls\": %" PRId64
            ", \"sampled_seconds\": %.9f, \"waited_seconds\": %.9f, \"spread_us\": %.3f, "
            "\"most_spread_us\": %.3f",
            c->sampled, seconds(c->sampled_ns), seconds(c->waited_ns),
            c->sampled ? 1e-3 * c->spread_ns / c->weight : 0, 1e-3 * (double)c->most_spread_ns);
}

static void json_comm(FILE *out, const comm_sum *c)
{
    fputs("\n    {", out);
    sk_json_text(out, "name", c->name);
    fprintf(out,
            ", \"ranks\": %d, \"groups\": %.0f, \"communicators\": %" PRId64 ", \"calls\": %" PRId64
            ", \"seconds\": %.9f, \"most_seconds\": %.9f, ",
            c->nranks, c->groups, c->communicators, c->calls,
            seconds((double)c->ns) / (c->members ? c->members : 1), seconds((double)c->most_ns));
    json_sampled(out, &c->waits);
    fputc('}', out);
}

static void json_graph(FILE *out, const comm_sum *c)
{
    double n = c->graphs;
    fputs("\n    {", out);
    sk_json_text(out, "name", c->name);
    fprintf(out,
            ", \"ranks\": %d, \"groups\": %.0f, \"calls\": %" PRId64
            ", \"least_in\": %d, \"mean_in\": %.2f, \"most_in\": %d, \"least_out\": %d, "
            "\"mean_out\": %.2f, \"most_out\": %d, \"local_part\": %.4f, ",
            c->nranks, c->groups, c->sum.calls, (int)c->least.in, c->sum.in / n, (int)c->most.in,
            (int)c->least.out, c->sum.out / n, (int)c->most.out,
            c->sum.out ? (double)c->sum.local / c->sum.out : 1.0);
    sk_json_text(out, "algorithm", c->sum.algo < 0 ? NULL : sk_algos()[c->sum.algo]->name);
    fputc('}', out);
}

typedef void json_fn(FILE *out, const comm_sum *c);

static void json_comms(const sk_waits_sum *s, const char *name, bool graphs, json_fn *fn, FILE *out)
{
    bool more = false;
    fprintf(out, "  \"%s\": [", name);
    for (int i = 0; i < s->ncomms; i++)
        if (!graphs || s->comm[i].graphs) {
            fputs(more ? "," : "", out);
            fn(out, &s->comm[i]);
            more = true;
        }
    fputs("],\n", out);
}

/* The mean over the ranks of a bucket; what ranks waited is in proportion to all their calls. */
static double bucket_mean(const sk_waits_sum *s, int bucket, bool waited)
{
    int first = bucket * s->per_bucket, n = 0;
    double sum = 0;
    for (; n < s->per_bucket && first + n < s->nranks; n++) {
        const rank_sum *r = &s->rank[first + n];
        double part = !waited         ? 1
                      : r->sampled_ns ? (double)r->waited_ns / (double)r->sampled_ns
                                      : 0;
        sum += part * seconds((double)r->ns);
    }
    return sum / n;
}

static void json_ranks(const sk_waits_sum *s, FILE *out)
{
    fprintf(out, "  \"rank_time\": {\"ranks_each\": %d", s->per_bucket);
    for (int waited = 0; waited < 2; waited++) {
        fprintf(out, ", \"%s\": [", waited ? "waited_seconds" : "seconds");
        for (int i = 0; i < s->nbuckets; i++)
            fprintf(out, "%s%.6g", i ? ", " : "", bucket_mean(s, i, waited));
        fputs("]", out);
    }
    fputs("},\n", out);
}

static void json_matrix(const sk_waits_sum *s, FILE *out)
{
    fprintf(out, ",\n    \"ranks_each\": %d,\n    \"matrix\": [", s->per_bucket);
    for (int i = 0; i < s->nbuckets; i++) {
        fprintf(out, "%s\n      [", i ? "," : "");
        for (int k = 0; k < s->nbuckets; k++)
            fprintf(out, "%s%.4g", k ? ", " : "", seconds(s->matrix[i * s->nbuckets + k]));
        fputs("]", out);
    }
    fputs("],\n", out);
}

/* The ranks for which others waited longest. */
static void json_late(const sk_waits_sum *s, FILE *out)
{
    bool more = false;
    double below = INFINITY;
    fputs("    \"late\": [", out);
    for (int i = 0; i < MOST_LATE; i++) {
        const rank_sum *most = NULL;
        for (const rank_sum *r = s->rank; r < s->rank + s->nranks; r++)
            if (r->caused_ns < below && r->caused_ns > (most ? most->caused_ns : 0))
                most = r;
        if (!most)
            break;
        fprintf(out,
                "%s\n      {\"rank\": %d, \"node\": %d, \"last\": %" PRId64
                ", \"caused_seconds\": %.9f}",
                more ? "," : "", (int)(most - s->rank), most->node, most->last,
                seconds(most->caused_ns));
        below = most->caused_ns;
        more = true;
    }
    fputs("]\n  },\n", out);
}

static void json_waiting(const sk_waits_sum *s, FILE *out)
{
    bool more = false;
    fputs("  \"waiting\": {\n    ", out);
    json_sampled(out, &s->all);
    fputs(",\n    \"collectives\": [", out);
    for (int i = 0; i < SK_NCOLLS; i++)
        if (s->coll[i].sampled) {
            fprintf(out, "%s\n      {\"collective\": \"%s\", ", more ? "," : "",
                    sk_coll_name((sk_coll)i));
            json_sampled(out, &s->coll[i]);
            fputc('}', out);
            more = true;
        }
    fputs("]", out);
    json_matrix(s, out);
    json_late(s, out);
}

void sk_waits_json(const sk_waits_sum *s, FILE *out)
{
    json_comms(s, "communicators", false, json_comm, out);
    json_comms(s, "neighborhoods", true, json_graph, out);
    json_ranks(s, out);
    json_waiting(s, out);
}
