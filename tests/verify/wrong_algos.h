/* wrong_algos.h: algorithms that are wrong as a whole, and what the verifier is to say of them. */
#ifndef VERIFY_WRONG_ALGOS_H
#define VERIFY_WRONG_ALGOS_H

#include "scene.h"

typedef struct wrong_algo {
    sk_algo algo; /* name NULL: end */
    kase k;
    const char *why; /* part of the verifier's answer */
} wrong_algo;

extern const wrong_algo wrong_algos[];

/* The same for local ranks: on a machine. */
typedef struct wrong_shared {
    wrong_algo wrong;
    const char *on;
} wrong_shared;

extern const wrong_shared wrong_shareds[];

#define ALGO_OF(COLL, NAME, BUILD, ...)                                                            \
    {                                                                                              \
        .name = (NAME), .coll = SK_##COLL, .build = (BUILD), __VA_ARGS__                           \
    }

#endif
