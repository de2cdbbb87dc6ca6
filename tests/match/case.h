/* case.h: the context of a test case of matching, and the messages it sends. A case is a function
 * and a row in cases.def; main.c runs it on several communicators. */
#ifndef MATCH_CASE_H
#define MATCH_CASE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../mpi/testlib.h"

typedef struct case_ctx {
    const char *name; /* the case and the communicator, for messages */
    MPI_Comm comm;
    int rank, size;
    uint64_t seed; /* the same on all ranks */
    int amount;    /* -n: how much to do; 0: the default of the case */
    bool threads;  /* MPI_THREAD_MULTIPLE is provided */
    char *program; /* path, to spawn more processes */
} case_ctx;

typedef void case_fn(const case_ctx *s);

#define CASE(id, ranks, seconds, where) case_fn case_##id;
#include "cases.def"
#undef CASE

/* What spawned processes run. */
void dynamic_child(MPI_Comm parent);

/* A message. Its length and bytes are a function of sender, tag and number, so the receiver knows
 * them, too. */
typedef struct test_msg {
    int from, tag, number;
    size_t most; /* longest length */
} test_msg;

enum { SHORT_MSG = 64, MIXED_MSG = 40000, LONG_MSG = 1 << 18 };

size_t msg_bytes(const case_ctx *s, const test_msg *l);
void msg_fill(const case_ctx *s, const test_msg *l, void *to);

/* Checks a received message: status, length and bytes. */
void msg_check(const case_ctx *s, const test_msg *l, const void *got, const MPI_Status *status);

/* Fills and sends a message, blocking. */
void msg_send(const case_ctx *s, const test_msg *l, int to);

/* Receives and checks a message, blocking, with its exact source and tag. */
void msg_recv(const case_ctx *s, const test_msg *l);

/* Open MPI's OFI transport never acknowledges a synchronous message that was received by MPI_Mrecv
 * (its callback for those lacks the acknowledgement): such a sender waits for ever, over any
 * provider. Cases must not combine the two there. */
bool host_loses_mrecv_acks(void);

/* Reports a failure, with the name of the case. */
#define EXPECT(s, cond, ...)                                                                       \
    do {                                                                                           \
        if (!(cond))                                                                               \
            case_fail((s), __VA_ARGS__);                                                           \
    } while (0)
void case_fail(const case_ctx *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline int case_amount(const case_ctx *s, int otherwise)
{
    return s->amount > 0 ? s->amount : otherwise;
}

#endif
