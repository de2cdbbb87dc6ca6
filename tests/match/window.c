/* window.c: one-sided communication, which travels as messages over the provider. */
#include <stdlib.h>

#include "case.h"

enum { CELLS = 3000 };

static void check_cells(const case_ctx *s, const char *what, const int *cell, int from, int n,
                        int factor)
{
    for (int i = 0; i < n; i++)
        if (cell[i] != factor * (from * 10000 + i)) {
            case_fail(s, "%s: cell %d is %d, not %d", what, i, cell[i],
                      factor * (from * 10000 + i));
            return;
        }
}

static void put_and_get(const case_ctx *s, MPI_Win win, int *cells, const int *mine)
{
    int to = (s->rank + 1) % s->size, from = (s->rank + s->size - 1) % s->size;
    int *copy = must_alloc(CELLS * sizeof *copy);
    MPI_Win_fence(0, win);
    MPI_Put(mine, CELLS, MPI_INT, to, 0, CELLS, MPI_INT, win);
    MPI_Win_fence(0, win);
    check_cells(s, "put", cells, from, CELLS, 1);
    MPI_Get(copy, CELLS, MPI_INT, to, 0, CELLS, MPI_INT, win);
    MPI_Win_fence(0, win);
    check_cells(s, "get", copy, s->rank, CELLS, 1);
    MPI_Accumulate(mine, CELLS, MPI_INT, to, 0, CELLS, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    check_cells(s, "accumulate", cells, from, CELLS, 2);
    free(copy);
}

/* All ranks add to the first cell of rank 0, one at a time. */
static void lock_and_add(const case_ctx *s, MPI_Win win, const int *cells)
{
    int one = 1, before = s->rank == 0 ? cells[0] : 0;
    MPI_Barrier(s->comm);
    for (int i = 0; i < 10; i++) {
        int old;
        MPI_Win_lock(i % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, win);
        MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(s->comm);
    if (s->rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        EXPECT(s, cells[0] == before + 10 * s->size, "fetch_and_op: %d, not %d", cells[0],
               before + 10 * s->size);
        MPI_Win_unlock(0, win);
    }
}

/* Exposed to one neighbour and accessed at the other. */
static void post_and_start(const case_ctx *s, MPI_Win win, const int *cells, const int *mine)
{
    int to = (s->rank + 1) % s->size, from = (s->rank + s->size - 1) % s->size;
    MPI_Group all, readers, target;
    MPI_Comm_group(s->comm, &all);
    MPI_Group_incl(all, 1, &from, &readers);
    MPI_Group_incl(all, 1, &to, &target);
    MPI_Win_post(readers, 0, win);
    MPI_Win_start(target, 0, win);
    MPI_Put(mine, CELLS, MPI_INT, to, 0, CELLS, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    check_cells(s, "put after start", cells, from, CELLS, 1);
    MPI_Group_free(&all);
    MPI_Group_free(&readers);
    MPI_Group_free(&target);
}

/* Open MPI has windows only over some of its transports. */
static bool window_make(const case_ctx *s, int *cells, MPI_Win *win)
{
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    int made = MPI_SUCCESS == MPI_Win_create(cells, CELLS * sizeof *cells, sizeof *cells,
                                             MPI_INFO_NULL, s->comm, win);
    MPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_INT, MPI_MIN, s->comm);
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_ARE_FATAL);
    if (!made)
        test_skip("window: this MPI makes no window over this transport");
    return made;
}

void case_window(const case_ctx *s)
{
    int *cells = must_alloc(CELLS * sizeof *cells), *mine = must_alloc(CELLS * sizeof *mine);
    MPI_Win win;
    for (int i = 0; i < CELLS; i++)
        mine[i] = s->rank * 10000 + i;
    if (window_make(s, cells, &win)) {
        put_and_get(s, win, cells, mine);
        lock_and_add(s, win, cells);
        post_and_start(s, win, cells, mine);
        MPI_Win_free(&win);
    }
    free(cells);
    free(mine);
}
