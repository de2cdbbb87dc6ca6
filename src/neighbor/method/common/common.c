/* common.c: common neighbourhoods. Two friends are ranks with at least theta targets in common. They
 * exchange their blocks and divide the common targets: each sends both blocks to one half of them.
 *
 * cost      per pair of friends with c common targets: c + 2 messages instead of 2c; a block is sent 1.5
 *           times on average
 * rounds    2 for pairs of friends
 * scratch   the combined blocks
 * good for  short blocks, many neighbours, neighbourhoods that overlap
 * set-up    O(t (r F + D^2)) per rank for t iterations of r tries, F friends, D neighbours
 * paper     Mirsadeghi, Traff, Balaji, Afsahi: Exploiting Common Neighborhoods to Optimize MPI
 *           Neighborhood Collectives, HiPC 2017: Algorithm 1 (plan.c, negotiation.c) and 2 (core.c)
 *
 * Algorithm 3 completes an iteration before it begins the next. No data dependence requires that: friends
 * exchange their own blocks, in whatever iteration they became friends. So here the stages follow from
 * the dependences: all exchanges and all direct messages are stage 0, all combined messages stage 1. A
 * block for the friend itself is part of the exchange.
 *
 * There are two extensions. Groups of K friends: each member delivers a K-th of the common targets for
 * all. Cumulative combining: combined blocks are combined again, one level and one stage later. */
#include "neighbor/method/common/common.h"
#include "neighbor/cost/predict.h"

/* ---- prediction ---- */

/* The square root of x >= 0 by Newton's method: all ranks must get the same bits. */
static double root(double x)
{
    double r = x + 1;
    for (int i = 0; i < 40; i++)
        r = (r + x / r) / 2;
    return r;
}

/* Targets that a rank has in common with its best friend, when it has `left` targets to share and
 * other ranks have a target with probability p. With any rank of a random graph that is left * p on
 * average, in a Poisson distribution; the best of hundreds is about three deviations above. */
static double common_with_best(double left, double p)
{
    double mean = left * p, best = mean + 3 * root(mean) + 1.5;
    return best < left ? best : left;
}

/* One group of friends that begins with two ranks and their `both` common targets. While there are
 * enough, groups join, and the targets common to all members are divided among all. Returns the messages
 * that remain of `both`; *size is the size of the group. */
static double group(const sk_problem_shape *s, double both, double p, double *size)
{
    double messages = 0, most = s->o->friends;
    *size = 2;
    while (*size < most) {
        double grow = 2 * *size < most ? *size : most - *size;
        double all = both * (1 - sk_predict_any_of(grow, 1 - p));
        if (all < s->o->theta * *size * grow)
            break;
        messages += (both - all) / *size;
        both = all;
        *size += grow;
    }
    return messages + both / *size;
}

/* Friends find each other in iterations, until no two ranks have enough in common, and share `left`
 * targets of a rank. Returns the messages that remain; *friends and *extra count the exchanges between
 * friends, and the blocks in them. */
static double share(const sk_problem_shape *s, double left, double *friends, double *extra)
{
    /* Of a rank with many targets; others may have fewer in common with it. */
    double even = s->degree / (double)s->g->most, messages = 0, members;
    double least = s->o->theta > 1 ? s->o->theta : 1;
    for (double both; (both = common_with_best(left, left * even / s->n)) >= least; left -= both) {
        double remain = group(s, both, left * even / s->n, &members);
        messages += remain;
        *friends += members - 1;
        *extra += both - remain;
    }
    return messages + left;
}

/* With cumulative combining, the messages that remain are shared in the same way again. */
static void predict(sk_prediction *d, const sk_problem_shape *s)
{
    double most = (double)s->g->most, messages = most, friends = 0, before = -1, extra = 0;
    d->stages = 1;
    for (int i = 0; i < (s->o->cumulative ? SK_MAX_LEVELS : 1) && friends > before; i++) {
        before = friends;
        messages = share(s, messages, &friends, &extra);
        d->stages += friends > before;
    }
    d->net_stages = s->part[SK_NET] > 0 ? d->stages : 0;
    d->intra_stages = s->part[SK_NET] < 1 ? d->stages : 0;
    d->even = sk_predict_ratio(s->degree, most);
    for (int l = 0; l < SK_NLEVELS; l++)
        sk_prediction_add_both(d, (sk_level)l, s->part[l] * (messages + friends),
                               s->part[l] * (most + friends), s->part[l] * (most + extra));
}

const sk_method sk_method_common = {
    .name = "common",
    .plan = sk_common_plan,
    .negotiator = sk_common_negotiator_new,
    .predict = predict,
};
