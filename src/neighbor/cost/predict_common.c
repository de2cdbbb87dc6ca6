/* predict_common.c: how many messages friends save each other in a random graph. */
#include "neighbor/cost/draft.h"

enum { LEVELS = 4 }; /* how often cumulative combining goes on, at most */

/* Newton's way to the square root, of x not below 0. */
static double root(double x)
{
    double r = x + 1;
    for (int i = 0; i < 40; i++)
        r = (r + x / r) / 2;
    return r;
}

/* What a rank has in common with its best friend, when it has `left` targets to share and others
 * have a target with probability p. With any rank of a random graph that is left * p, spread as a
 * Poisson distribution; the best of hundreds lies some three deviations above. */
static double shared(double left, double p)
{
    double mean = left * p, best = mean + 3 * root(mean) + 1.5;
    return best < left ? best : left;
}

/* One group of friends, of the `both` targets that two share. While there are enough, groups join;
 * what all of the larger group have in common is divided by all. The messages that remain of
 * `both`; *size is that of the group. */
static double group(const sk_size *s, double both, double p, double *size)
{
    double messages = 0, most = s->o->friends;
    *size = 2;
    while (*size < most) {
        double grow = 2 * *size < most ? *size : most - *size;
        double all = both * (1 - sk_any_of(grow, 1 - p));
        if (all < s->o->theta * *size * grow)
            break;
        messages += (both - all) / *size;
        both = all;
        *size += grow;
    }
    return messages + both / *size;
}

/* Friends find each other again and again, until nobody has enough in common with anybody, and
 * share `left` targets of a rank. The messages that remain; *friends and *extra count the exchanges
 * of blocks between friends, and the blocks in them. */
static double share(const sk_size *s, double left, double *friends, double *extra)
{
    /* Of a rank with many targets; others may have fewer in common with it. */
    double even = s->degree / (double)s->g->most, messages = 0, members;
    double least = s->o->theta > 1 ? s->o->theta : 1;
    for (double both; (both = shared(left, left * even / s->n)) >= least; left -= both) {
        double remain = group(s, both, left * even / s->n, &members);
        messages += remain;
        *friends += members - 1;
        *extra += both - remain;
    }
    return messages + left;
}

/* When combining is cumulative, the messages that remain are shared in the same way again. */
void sk_predict_common(sk_draft *d, const sk_size *s)
{
    double most = (double)s->g->most, messages = most, friends = 0, before = -1, extra = 0;
    d->stages = 1;
    for (int i = 0; i < (s->o->cumulative ? LEVELS : 1) && friends > before; i++) {
        before = friends;
        messages = share(s, messages, &friends, &extra);
        d->stages += friends > before;
    }
    for (int l = 0; l < SK_NLEVELS; l++)
        sk_draft_both(d, (sk_level)l, s->part[l] * (messages + friends),
                      s->part[l] * (most + friends), s->part[l] * (most + extra));
}
