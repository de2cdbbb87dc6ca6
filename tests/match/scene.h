/* scene.h: what every case of the matching tests gets, and the letters it sends. A case is a
 * function and a row in cases.def; main.c plays it on several communicators. */
#ifndef SCENE_H
#define SCENE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../mpi/testlib.h"

typedef struct scene {
    const char *name; /* the case and the communicator, for messages */
    MPI_Comm comm;
    int rank, size;
    uint64_t seed; /* the same on all ranks */
    int amount;    /* -n: how much of it; 0: what the case takes for itself */
    bool threads;  /* MPI_THREAD_MULTIPLE is there */
    char *program; /* for those who start more of it */
} scene;

typedef void case_fn(const scene *s);

#define CASE(id, ranks, seconds, where) case_fn case_##id;
#include "cases.def"
#undef CASE

/* The part that spawned processes play. */
void dynamic_child(MPI_Comm parent);

/* A letter's bytes and length follow from who wrote it, its tag and its number, so that the reader
 * knows them too. */
typedef struct letter {
    int from, tag, number;
    size_t most; /* it is at most so long */
} letter;

enum { SHORT_LETTER = 64, MIXED_LETTER = 40000, LONG_LETTER = 1 << 18 };

size_t letter_length(const scene *s, const letter *l);
void letter_write(const scene *s, const letter *l, void *to);

/* The letter as `to` got it: status, length and bytes. */
void letter_check(const scene *s, const letter *l, const void *got, const MPI_Status *status);

/* Write and send it, blocking. */
void letter_send(const scene *s, const letter *l, int to);

/* Receive and check it, blocking, with the source and tag that it has. */
void letter_receive(const scene *s, const letter *l);

/* Open MPI's OFI transport never acknowledges a synchronous message that was received by MPI_Mrecv
 * (its callback for those lacks what the ordinary one does): such a sender waits for ever, over any
 * provider. There, cases must not bring the two together. */
bool host_forgets_acks(void);

/* A failure, with the name of the case. */
#define EXPECT(s, cond, ...)                                                                       \
    do {                                                                                           \
        if (!(cond))                                                                               \
            scene_fail((s), __VA_ARGS__);                                                          \
    } while (0)
void scene_fail(const scene *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline int scene_amount(const scene *s, int otherwise)
{
    return s->amount > 0 ? s->amount : otherwise;
}

#endif
