/* token.h: one of many has it, and the others ask for it: of a process's persistent collectives one is compared at a
 * time. A holder that is not started any more loses it to another one that asks again and again. */
#ifndef SK_TOKEN_H
#define SK_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

/* What one of them knows. */
typedef struct sk_token_claim {
    int refused;    /* times in a row, without a start of the holder */
    int64_t starts; /* sk_token.starts then */
} sk_token_claim;

typedef struct sk_token {
    const sk_token_claim *holder; /* NULL: nobody */
    int64_t starts;               /* of those that had it, so far */
} sk_token;

/* Ask for the token. */
bool sk_token_take(sk_token *t, sk_token_claim *c);

/* It is started. False: another one has the token now. */
bool sk_token_keep(sk_token *t, const sk_token_claim *c);

/* True: it had the token. */
bool sk_token_drop(sk_token *t, const sk_token_claim *c);

#endif
