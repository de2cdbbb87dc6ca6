/* msg.c: see case.h. Most messages are short; some are empty, some long enough for a rendezvous. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"

static rng msg_rng(const case_ctx *s, const test_msg *l)
{
    uint64_t who = (uint64_t)(uint32_t)l->from << 32 | (uint32_t)l->tag;
    return rng_seed(s->seed, who, (uint64_t)(uint32_t)l->number);
}

size_t msg_bytes(const case_ctx *s, const test_msg *l)
{
    rng r = msg_rng(s, l);
    int draw = rng_below(&r, 100);
    size_t most = l->most;
    if (draw >= 15 && draw < 75 && most > SHORT_MSG)
        most = SHORT_MSG;
    else if (draw < 95 && most > MIXED_MSG)
        most = MIXED_MSG;
    return draw < 5 ? 0 : rng_next(&r) % (most + 1);
}

void msg_fill(const case_ctx *s, const test_msg *l, void *to)
{
    rng r = msg_rng(s, l);
    rng_fill(&r, to, msg_bytes(s, l));
}

void msg_check(const case_ctx *s, const test_msg *l, const void *got, const MPI_Status *status)
{
    size_t bytes = msg_bytes(s, l);
    int count = -1;
    MPI_Get_count(status, MPI_BYTE, &count);
    if (status->MPI_SOURCE != l->from || status->MPI_TAG != l->tag || (size_t)count != bytes) {
        case_fail(s,
                  "got %d bytes with tag %d from %d, not message %d of %zu bytes, tag %d from %d",
                  count, status->MPI_TAG, status->MPI_SOURCE, l->number, bytes, l->tag, l->from);
        return;
    }
    unsigned char *want = must_alloc(bytes);
    msg_fill(s, l, want);
    const unsigned char *p = got;
    size_t i = 0;
    while (i < bytes && p[i] == want[i])
        i++;
    EXPECT(s, i == bytes, "message %d, tag %d from %d: byte %zu of %zu is %02x, not %02x",
           l->number, l->tag, l->from, i, bytes, p[i], want[i]);
    free(want);
}

void msg_send(const case_ctx *s, const test_msg *l, int to)
{
    size_t bytes = msg_bytes(s, l);
    void *buf = must_alloc(bytes);
    msg_fill(s, l, buf);
    MPI_Send(buf, (int)bytes, MPI_BYTE, to, l->tag, s->comm);
    free(buf);
}

void msg_recv(const case_ctx *s, const test_msg *l)
{
    void *buf = must_alloc(l->most);
    MPI_Status status;
    MPI_Recv(buf, (int)l->most, MPI_BYTE, l->from, l->tag, s->comm, &status);
    msg_check(s, l, buf, &status);
    free(buf);
}

void case_fail(const case_ctx *s, const char *format, ...)
{
    char buf[400];
    va_list args;
    va_start(args, format);
    vsnprintf(buf, sizeof buf, format, args);
    va_end(args);
    test_fail("%s: %s", s->name, buf);
}

bool host_loses_mrecv_acks(void)
{
    const char *mtl = getenv("OMPI_MCA_mtl"); /* mpirun passes --mca on this way */
    return mtl != NULL && strcmp(mtl, "ofi") == 0;
}
