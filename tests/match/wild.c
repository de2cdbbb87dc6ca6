/* wild.c: receives from anyone, with any tag. What such a receive gets is open, but the letters of
 * one sender that fit arrive in the order in which they were sent, and nothing arrives twice. */
#include <stdlib.h>

#include "scene.h"

enum { EACH = 60, FIRST_TAG = 100, TAGS = 5, ROOT = 0 };

static int tag_of(const scene *s, int from, int number)
{
    rng r = rng_seed(s->seed, (uint64_t)from, (uint64_t)number + 1000);
    return FIRST_TAG + rng_below(&r, TAGS);
}

static letter nth(const scene *s, int from, int number, bool one_tag)
{
    int tag = one_tag ? FIRST_TAG : tag_of(s, from, number);
    return (letter){from, tag, number, MIXED_LETTER};
}

/* Start to send all letters of this rank to the root. The root sends to itself too. */
static void post_all(const scene *s, bool one_tag, void **text, MPI_Request *req)
{
    for (int i = 0; i < EACH; i++) {
        letter l = nth(s, s->rank, i, one_tag);
        size_t bytes = letter_length(s, &l);
        text[i] = must_alloc(bytes);
        letter_write(s, &l, text[i]);
        MPI_Isend(text[i], (int)bytes, MPI_BYTE, ROOT, l.tag, s->comm, &req[i]);
    }
}

/* Take what everybody sends; `source` of MPI_PROC_NULL stands for one sender after the other. */
static void take_all(const scene *s, int source, int tag)
{
    bool in_epoch = source == MPI_PROC_NULL, one_tag = tag != MPI_ANY_TAG;
    int *next = must_alloc((size_t)s->size * sizeof *next);
    void *text = must_alloc(MIXED_LETTER);
    for (int i = 0; i < EACH * s->size; i++) {
        MPI_Status st;
        MPI_Recv(text, MIXED_LETTER, MPI_BYTE, in_epoch ? i % s->size : source, tag, s->comm, &st);
        if (st.MPI_SOURCE < 0 || st.MPI_SOURCE >= s->size) {
            scene_fail(s, "a message from %d", st.MPI_SOURCE);
            continue;
        }
        letter l = nth(s, st.MPI_SOURCE, next[st.MPI_SOURCE]++, one_tag);
        letter_check(s, &l, text, &st);
    }
    for (int i = 0; i < s->size; i++)
        EXPECT(s, next[i] == EACH, "%d letters of %d, not %d", next[i], i, EACH);
    free(text);
    free(next);
}

static void finish_all(void **text, MPI_Request *req)
{
    MPI_Waitall(EACH, req, MPI_STATUSES_IGNORE);
    for (int i = 0; i < EACH; i++)
        free(text[i]);
}

static void everyone_to_root(const scene *s, int source, int tag)
{
    void *text[EACH];
    MPI_Request req[EACH];
    post_all(s, tag != MPI_ANY_TAG, text, req);
    if (s->rank == ROOT)
        take_all(s, source, tag);
    finish_all(text, req);
}

void case_any_source(const scene *s)
{
    everyone_to_root(s, MPI_ANY_SOURCE, FIRST_TAG);
}

void case_any_tag(const scene *s)
{
    everyone_to_root(s, MPI_PROC_NULL, MPI_ANY_TAG);
}

void case_any_message(const scene *s)
{
    everyone_to_root(s, MPI_ANY_SOURCE, MPI_ANY_TAG);
}

/* Receives that take anything, posted behind exact ones, must leave to these what is theirs.
 * Posted: exact receives for the first tag, from anyone for the second, anything at all for the
 * others. */
static int fit_of(int tag)
{
    return tag == FIRST_TAG ? 0 : tag == FIRST_TAG + 1 ? 1 : 2;
}

static int post_fitting(const scene *s, int fit, char *room, MPI_Request *req)
{
    int n = 0;
    for (int from = 0; from < s->size; from++)
        for (int i = 0; i < EACH; i++) {
            int tag = tag_of(s, from, i);
            if (fit_of(tag) != fit)
                continue;
            MPI_Irecv(room + (size_t)n * MIXED_LETTER, MIXED_LETTER, MPI_BYTE,
                      fit == 0 ? from : MPI_ANY_SOURCE, fit == 2 ? MPI_ANY_TAG : tag, s->comm,
                      &req[n]);
            n++;
        }
    return n;
}

static void check_fitting(const scene *s, int fit, int n, const char *room, const MPI_Status *st)
{
    int *next = must_alloc((size_t)s->size * sizeof *next);
    for (int k = 0; k < n; k++) {
        int from = st[k].MPI_SOURCE, i;
        for (i = next[from]; i < EACH && fit_of(tag_of(s, from, i)) != fit;)
            i++;
        next[from] = i + 1;
        letter l = nth(s, from, i, false);
        letter_check(s, &l, room + (size_t)k * MIXED_LETTER, &st[k]);
    }
    free(next);
}

void case_exact_before_any(const scene *s)
{
    size_t all = (size_t)s->size * EACH;
    void *text[EACH];
    MPI_Request sent[EACH];
    if (s->rank == ROOT) {
        char *room = must_alloc(all * MIXED_LETTER);
        MPI_Request *req = must_alloc(all * sizeof *req);
        MPI_Status *st = must_alloc(all * sizeof *st);
        int upto[4] = {0};
        for (int fit = 0; fit < 3; fit++)
            upto[fit + 1] =
                upto[fit] +
                post_fitting(s, fit, room + (size_t)upto[fit] * MIXED_LETTER, req + upto[fit]);
        post_all(s, false, text, sent);
        MPI_Waitall((int)all, req, st);
        for (int fit = 0; fit < 3; fit++)
            check_fitting(s, fit, upto[fit + 1] - upto[fit],
                          room + (size_t)upto[fit] * MIXED_LETTER, st + upto[fit]);
        free(room);
        free(req);
        free(st);
    } else
        post_all(s, false, text, sent);
    finish_all(text, sent);
}
