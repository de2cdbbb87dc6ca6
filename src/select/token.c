#include "select/token.h"

#include <stddef.h>

bool sk_token_take(sk_token *t, sk_token_claim *c)
{
    enum { PATIENCE = 8 };
    if (c->starts != t->starts)
        *c = (sk_token_claim){.starts = t->starts};
    if (t->holder && t->holder != c && c->refused < PATIENCE) {
        c->refused++;
        return false;
    }
    t->holder = c;
    t->starts++;
    return true;
}

bool sk_token_keep(sk_token *t, const sk_token_claim *c)
{
    if (t->holder != c)
        return false;
    t->starts++;
    return true;
}

bool sk_token_drop(sk_token *t, const sk_token_claim *c)
{
    if (t->holder != c)
        return false;
    t->holder = NULL;
    return true;
}
