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

#endif
