/* sizes.c: lengths around every power of two, where the protocol of a message may change, up to
 * 16 MB, and types that are not contiguous. */
#include <stdlib.h>
#include <string.h>

#include "case.h"

enum { TAG = 60 };

/* One length, in both directions at once. The receive is posted before the send (early) or
 * after. */
static void exchange(const case_ctx *s, size_t bytes, bool early)
{
    int other = s->rank ^ 1;
    if (other >= s->size)
        return;
    char *out = must_alloc(bytes), *in = must_alloc(bytes + 8), *want = must_alloc(bytes);
    rng mine = rng_seed(s->seed, bytes, (uint64_t)s->rank),
        theirs = rng_seed(s->seed, bytes, (uint64_t)other);
    MPI_Request req[2];
    MPI_Status st[2];
    int count;
    rng_fill(&mine, out, bytes);
    rng_fill(&theirs, want, bytes);
    memset(in + bytes, 0x5a, 8);
    if (early)
        MPI_Irecv(in, (int)bytes + 8, MPI_BYTE, other, TAG, s->comm, &req[0]);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, other, TAG + 1, NULL, 0, MPI_BYTE, other, TAG + 1, s->comm,
                 MPI_STATUS_IGNORE);
    MPI_Isend(out, (int)bytes, MPI_BYTE, other, TAG, s->comm, &req[1]);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, other, TAG + 1, NULL, 0, MPI_BYTE, other, TAG + 1, s->comm,
                 MPI_STATUS_IGNORE);
    if (!early)
        MPI_Irecv(in, (int)bytes + 8, MPI_BYTE, other, TAG, s->comm, &req[0]);
    MPI_Waitall(2, req, st);
    MPI_Get_count(&st[0], MPI_BYTE, &count);
    EXPECT(s, (size_t)count == bytes, "%d bytes of %zu", count, bytes);
    EXPECT(s, memcmp(in, want, bytes) == 0, "%zu bytes, %s: wrong", bytes,
           early ? "early" : "late");
    for (size_t i = bytes; i < bytes + 8; i++)
        EXPECT(s, in[i] == 0x5a, "%zu bytes: written past the end", bytes);
    free(out);
    free(in);
    free(want);
}

void case_sizes(const case_ctx *s)
{
    for (size_t bytes = 1; bytes <= 1 << 16; bytes *= 2)
        for (size_t k = bytes > 1 ? bytes - 2 : 0; k <= bytes + 2; k++)
            exchange(s, k, (k + bytes) % 2);
    for (size_t bytes = 100000; bytes <= 16u << 20; bytes *= 5)
        for (int early = 0; early < 2; early++)
            exchange(s, bytes, early);
    exchange(s, 16u << 20, true);
    exchange(s, 16u << 20, false);
}

/* Packs `count` of a type at `from` to contiguous ints. */
static int *packed(const case_ctx *s, const int *from, int count, MPI_Datatype type)
{
    int bytes, at = 0;
    MPI_Pack_size(count, type, s->comm, &bytes);
    int *plain = must_alloc((size_t)bytes);
    MPI_Pack(from, count, type, plain, bytes, &at, s->comm);
    return plain;
}

/* Sends `count_out` of one type and receives the same `ints` numbers as another type. */
static void as_type(const case_ctx *s, const char *what, MPI_Datatype out, int count_out,
                    MPI_Datatype in, int count_in, int ints)
{
    int to = (s->rank + 1) % s->size, from = (s->rank + s->size - 1) % s->size;
    size_t capacity = (size_t)ints * 6 + 64; /* types have gaps, and a receive may be larger */
    int *a = must_alloc(capacity * sizeof *a), *b = must_alloc(capacity * sizeof *b);
    for (size_t i = 0; i < capacity; i++)
        a[i] = (int)i * 3 + s->rank, b[i] = -1;
    MPI_Request req;
    MPI_Status st;
    int elements, wrong = 0, touched = 0;
    MPI_Isend(a, count_out, out, to, TAG, s->comm, &req);
    MPI_Recv(b, count_in, in, from, TAG, s->comm, &st);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    MPI_Get_elements(&st, in, &elements);
    EXPECT(s, elements == ints, "%s: %d elements of %d", what, elements, ints);
    int *mine = packed(s, a, count_out, out), *got = packed(s, b, count_in, in);
    for (int i = 0; i < ints; i++)
        wrong += got[i] != mine[i] - s->rank + from;
    for (size_t i = 0; i < capacity; i++)
        touched += b[i] != -1;
    EXPECT(s, wrong == 0, "%s: %d of %d elements are wrong", what, wrong, ints);
    EXPECT(s, touched == ints, "%s: %d elements written, not %d", what, touched, ints);
    free(a);
    free(b);
    free(mine);
    free(got);
}

void case_types(const case_ctx *s)
{
    static const int sizes[] = {4, 60, 4000, 30000, 400000};
    for (int i = 0; i < 5; i++) {
        int n = sizes[i], half = n / 2, blocks[2] = {half / 2, half / 2};
        MPI_Aint at[2] = {0, (half / 2 + 3) * (MPI_Aint)sizeof(int)};
        MPI_Datatype kinds[2] = {MPI_INT, MPI_INT}, gaps, back, parts, wide;
        MPI_Type_vector(n, 1, 2, MPI_INT, &gaps);
        MPI_Type_create_hvector(half, 2, 3 * (MPI_Aint)sizeof(int), MPI_INT, &back);
        MPI_Type_create_struct(2, blocks, at, kinds, &parts);
        MPI_Type_create_resized(MPI_INT, 0, 3 * (MPI_Aint)sizeof(int), &wide);
        MPI_Type_commit(&gaps);
        MPI_Type_commit(&back);
        MPI_Type_commit(&parts);
        MPI_Type_commit(&wide);
        as_type(s, "contiguous to gaps", MPI_INT, n, gaps, 1, n);
        as_type(s, "gaps to contiguous", gaps, 1, MPI_INT, n, n);
        as_type(s, "struct to wide", parts, 2, wide, n, 4 * (half / 2));
        as_type(s, "pairs to gaps", back, 1, gaps, 1, 2 * half);
        as_type(s, "wide to a larger receive", wide, half, wide, n, half);
        MPI_Type_free(&gaps);
        MPI_Type_free(&back);
        MPI_Type_free(&parts);
        MPI_Type_free(&wide);
    }
}
