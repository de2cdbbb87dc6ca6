#include "report/waits.h"

#include <stdlib.h>
#include <string.h>

struct sk_waits {
    int nrows;
    int64_t waited_ns; /* for nonblocking calls */
    sk_waits_row row[SK_WAITS_ROWS];
};

sk_waits *sk_waits_new(void)
{
    return calloc(1, sizeof(sk_waits));
}

void sk_waits_free(sk_waits *p)
{
    for (int i = 0; p && i < p->nrows; i++)
        free(p->row[i].sample);
    free(p);
}

static uint64_t number_of(uint64_t ranks, const char *name)
{
    for (; ranks && *name; name++)
        ranks = sk_random_mix(ranks + (unsigned char)*name);
    return ranks;
}

sk_waits_row *sk_waits_row_of(sk_waits *p, uint64_t ranks, int nranks, const char *name)
{
    enum { LAST = SK_WAITS_ROWS - 1 };
    char shown[SK_WAITS_NAME];
    snprintf(shown, sizeof shown, "%s", name);
    uint64_t number = number_of(ranks, shown);
    int i = 0;
    while (i < p->nrows && i < LAST &&
           (p->row[i].ranks != number || p->row[i].nranks != nranks ||
            strcmp(p->row[i].name, shown) != 0))
        i++;
    sk_waits_row *r = &p->row[i];
    if (i == p->nrows) {
        bool others = i == LAST;
        p->nrows++;
        *r = (sk_waits_row){.ranks = others ? 0 : number, .nranks = others ? 0 : nranks};
        snprintf(r->name, sizeof r->name, "%s", others ? "all others" : shown);
        if (r->ranks && nranks > 1)
            r->sample = malloc(SK_WAITS_SAMPLES * sizeof *r->sample);
    }
    r->communicators++;
    return r;
}

void sk_waits_thin(sk_waits_row *r)
{
    int kept = 0;
    r->mask = 2 * r->mask + 1;
    for (int i = 0; i < r->nsamples; i++)
        if (!(sk_waits_mix(r->sample[i].call) & r->mask))
            r->sample[kept++] = r->sample[i];
    r->nsamples = kept;
}

void sk_waits_wait(sk_waits *p, int64_t ns)
{
    p->waited_ns += ns;
}

static int samples_of(const sk_waits *p)
{
    int n = 0;
    for (int i = 0; i < p->nrows; i++)
        n += p->row[i].nsamples;
    return n;
}

/* Drops samples, of the rows with most of them first. */
static void thin_to(sk_waits *p, int most)
{
    while (samples_of(p) > most) {
        sk_waits_row *longest = &p->row[0];
        for (int i = 1; i < p->nrows; i++)
            if (p->row[i].nsamples > longest->nsamples)
                longest = &p->row[i];
        if (longest->nsamples <= 1)
            return;
        sk_waits_thin(longest);
    }
}

static int64_t corrected(sk_waits_clock clock, int64_t ns)
{
    return ns + clock.offset + (int64_t)(clock.drift * (double)ns);
}

void *sk_waits_pack(sk_waits *p, int most, sk_waits_clock clock, size_t *bytes)
{
    thin_to(p, most);
    sk_waits_head head = {p->nrows, p->waited_ns};
    *bytes = sizeof head + (size_t)p->nrows * sizeof *p->row +
             (size_t)samples_of(p) * sizeof *p->row->sample;
    char *packed = malloc(*bytes), *to = packed;
    if (!packed)
        return NULL;
    memcpy(to, &head, sizeof head);
    memcpy(to += sizeof head, p->row, (size_t)p->nrows * sizeof *p->row);
    to += (size_t)p->nrows * sizeof *p->row;
    for (int i = 0; i < p->nrows; i++)
        for (int k = 0; k < p->row[i].nsamples; k++) {
            sk_waits_sample s = p->row[i].sample[k];
            s.from = corrected(clock, s.from);
            memcpy(to, &s, sizeof s);
            to += sizeof s;
        }
    return packed;
}
