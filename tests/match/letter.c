/* letter.c: see scene.h. Most letters are short; some are empty, some long enough to stay with
 * their sender until they are asked for. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"

static rng letter_rng(const scene *s, const letter *l)
{
    uint64_t who = (uint64_t)(uint32_t)l->from << 32 | (uint32_t)l->tag;
    return rng_seed(s->seed, who, (uint64_t)(uint32_t)l->number);
}

size_t letter_length(const scene *s, const letter *l)
{
    rng r = letter_rng(s, l);
    int draw = rng_below(&r, 100);
    size_t most = l->most;
    if (draw >= 15 && draw < 75 && most > SHORT_LETTER)
        most = SHORT_LETTER;
    else if (draw < 95 && most > MIXED_LETTER)
        most = MIXED_LETTER;
    return draw < 5 ? 0 : rng_next(&r) % (most + 1);
}

void letter_write(const scene *s, const letter *l, void *to)
{
    rng r = letter_rng(s, l);
    rng_fill(&r, to, letter_length(s, l));
}

void letter_check(const scene *s, const letter *l, const void *got, const MPI_Status *status)
{
    size_t bytes = letter_length(s, l);
    int count = -1;
    MPI_Get_count(status, MPI_BYTE, &count);
    if (status->MPI_SOURCE != l->from || status->MPI_TAG != l->tag || (size_t)count != bytes) {
        scene_fail(s,
                   "got %d bytes with tag %d from %d, not letter %d of %zu bytes, tag %d from %d",
                   count, status->MPI_TAG, status->MPI_SOURCE, l->number, bytes, l->tag, l->from);
        return;
    }
    unsigned char *want = must_alloc(bytes);
    letter_write(s, l, want);
    const unsigned char *p = got;
    size_t i = 0;
    while (i < bytes && p[i] == want[i])
        i++;
    EXPECT(s, i == bytes, "letter %d, tag %d from %d: byte %zu of %zu is %02x, not %02x", l->number,
           l->tag, l->from, i, bytes, p[i], want[i]);
    free(want);
}

void letter_send(const scene *s, const letter *l, int to)
{
    size_t bytes = letter_length(s, l);
    void *text = must_alloc(bytes);
    letter_write(s, l, text);
    MPI_Send(text, (int)bytes, MPI_BYTE, to, l->tag, s->comm);
    free(text);
}

void letter_receive(const scene *s, const letter *l)
{
    void *text = must_alloc(l->most);
    MPI_Status status;
    MPI_Recv(text, (int)l->most, MPI_BYTE, l->from, l->tag, s->comm, &status);
    letter_check(s, l, text, &status);
    free(text);
}

void scene_fail(const scene *s, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    test_fail("%s: %s", s->name, text);
}

bool host_forgets_acks(void)
{
    const char *mtl = getenv("OMPI_MCA_mtl"); /* mpirun passes --mca on this way */
    return mtl != NULL && strcmp(mtl, "ofi") == 0;
}
