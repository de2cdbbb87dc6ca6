/* local_ranks.h: a few local ranks in one thread, over one mapping each. */
#ifndef LOCAL_RANKS_H
#define LOCAL_RANKS_H

#include "shm/epochs.h"

enum { LOCAL_RANKS = 3 };

typedef struct local_ranks {
    sk_shm *b[LOCAL_RANKS];
    int n;
} local_ranks;

static inline local_ranks local_ranks_new(int n, sk_waiting waiting)
{
    local_ranks s = {.n = n};
    int64_t slot_bytes;
    sk_segment_handle note;
    void *mem;
    size_t bytes = sk_shm_bytes(n, INT64_MAX, &slot_bytes);
    for (int i = 0; i < n; i++) {
        assert_int_equal(i == 0 ? sk_segment_make(bytes, &mem, &note)
                                : sk_segment_map(&note, bytes, &mem),
                         SK_OK);
        s.b[i] = sk_shm_new(mem, bytes, n, i);
        assert_non_null(s.b[i]);
        sk_shm_set_waiting(s.b[i], waiting);
        sk_shm_begin(s.b[i], 0);
    }
    sk_segment_close(&note);
    return s;
}

static inline void local_ranks_free(local_ranks *s)
{
    for (int i = 0; i < s->n; i++)
        sk_shm_free(s->b[i]);
}

static inline void local_ranks_epoch(local_ranks *s, int64_t slot_bytes, bool all)
{
    for (int i = 0; i < s->n; i++)
        sk_shm_epoch(s->b[i], slot_bytes, all, all);
}

#endif
