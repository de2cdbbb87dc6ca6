/* mates.h: boards of a few mates in one thread, over one mapping each. */
#ifndef MATES_H
#define MATES_H

#include "shm/epochs.h"

enum { MATES = 3 };

typedef struct mates {
    sk_board *b[MATES];
    int n;
} mates;

static inline mates mates_new(int n, sk_pause pause)
{
    mates s = {.n = n};
    int64_t room;
    sk_segment_note note;
    void *mem;
    size_t bytes = sk_board_bytes(n, INT64_MAX, &room);
    for (int i = 0; i < n; i++) {
        assert_int_equal(i == 0 ? sk_segment_make(bytes, &mem, &note)
                                : sk_segment_map(&note, bytes, &mem),
                         SK_OK);
        s.b[i] = sk_board_new(mem, bytes, n, i);
        assert_non_null(s.b[i]);
        sk_board_wait_as(s.b[i], pause);
        sk_board_begin(s.b[i], 0);
    }
    sk_segment_close(&note);
    return s;
}

static inline void mates_free(mates *s)
{
    for (int i = 0; i < s->n; i++)
        sk_board_free(s->b[i]);
}

static inline void mates_turn(mates *s, int64_t room, bool all)
{
    for (int i = 0; i < s->n; i++)
        sk_board_turn(s->b[i], room, all, all);
}

#endif
