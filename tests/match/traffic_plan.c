/* traffic_plan.c: see traffic.h. On some communicators a receiver hears from one sender only: there
 * a receive may take anything. On the others each tag is used by one sender only: there a receive
 * may leave the source open, or the tag, but not both. */
#include "traffic.h"

enum { TAGS = 3 };

typedef struct drawing {
    traffic *t;
    const town *w;
    rng r;
    int only[COMMS]; /* the one sender to this receiver, or NOBODY */
} drawing;

static int draw_comm(drawing *d, int receiver)
{
    int c;
    do
        c = rng_below(&d->r, COMMS);
    while (d->w->number[c][receiver] < 0);
    return c;
}

static int members(const town *w, int c)
{
    int n = 0;
    for (int i = 0; i < w->world; i++)
        n += w->number[c][i] >= 0;
    return n;
}

static void draw_parcel(drawing *d, int i, int receiver)
{
    parcel *p = &d->t->parcel[i];
    p->comm = draw_comm(d, receiver);
    int size = members(d->w, p->comm);
    bool one = d->only[p->comm] != NOBODY;
    p->from = one ? d->only[p->comm] : rng_below(&d->r, size);
    int kind = rng_below(&d->r, TAGS);
    p->l = (letter){p->from, one ? kind : kind * size + p->from, i, LONG_LETTER};
}

/* A receive that fits the parcel, made wider by chance. */
static take fitting(drawing *d, const parcel *p)
{
    take t = {p->comm, p->l.from, p->l.tag, NOBODY};
    bool one = d->only[p->comm] != NOBODY;
    int wide = rng_below(&d->r, one ? 5 : 4);
    if (wide == 1 || wide == 4)
        t.source = MPI_ANY_SOURCE;
    if (wide == 2 || wide == 4)
        t.tag = MPI_ANY_TAG;
    return t;
}

/* Mostly in the order of the parcels, some far away from it. */
static void mix(drawing *d)
{
    traffic *t = d->t;
    for (int i = 0; i < t->takes; i++) {
        int far = rng_chance(&d->r, 20) ? t->takes : 6, j = i + rng_below(&d->r, far);
        if (j >= t->takes)
            continue;
        take keep = t->take[i];
        t->take[i] = t->take[j];
        t->take[j] = keep;
    }
}

static bool fits(const take *t, const parcel *p)
{
    return t->gets == NOBODY && t->comm == p->comm &&
           (t->source == MPI_ANY_SOURCE || t->source == p->l.from) &&
           (t->tag == MPI_ANY_TAG || t->tag == p->l.tag);
}

/* Each parcel in turn goes to the oldest free receive that fits. One that finds none gets an exact
 * receive at the end, which is too late to change anything for the others. */
static void match(traffic *t)
{
    for (int i = 0; i < t->parcels; i++) {
        const parcel *p = &t->parcel[i];
        int k = 0;
        while (k < t->takes && !fits(&t->take[k], p))
            k++;
        if (k == t->takes)
            t->take[t->takes++] = (take){p->comm, p->l.from, p->l.tag, NOBODY};
        t->take[k].gets = i;
    }
}

void traffic_plan(traffic *t, const town *w, uint64_t seed, int round, int receiver, int parcels)
{
    drawing d = {t, w, rng_seed(seed, (uint64_t)round, (uint64_t)receiver), {0}};
    for (int c = 0; c < COMMS; c++) {
        int size = members(w, c);
        d.only[c] = size > 0 && rng_chance(&d.r, 50) ? rng_below(&d.r, size) : NOBODY;
    }
    t->parcels = t->takes = parcels;
    for (int i = 0; i < parcels; i++)
        draw_parcel(&d, i, receiver);
    for (int i = 0; i < parcels; i++)
        t->take[i] = fitting(&d, &t->parcel[i]);
    mix(&d);
    match(t);
}
