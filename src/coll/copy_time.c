#include "coll/copy_time.h"

#include "coll/tuning.h"

static double ns(const sk_copy_prices *p, sk_price_id i)
{
    return (double)p->fs[i] * 1e-6;
}

sk_copy_costs sk_copy_costs_of(const sk_call *c)
{
    const sk_copy_prices *p = &c->machine->copy;
    bool shared = sk_machine_oversubscribed(c->machine);
    double cores = shared ? c->machine->cores : c->nranks, others = c->nranks - 1;
    double apart = shared ? (cores - 1) / cores : 1, far = shared ? cores - 1 : others;
    double copy = ns(p, SK_PRICE_COPY), again = ns(p, SK_PRICE_REREAD), in = ns(p, SK_PRICE_IN),
           out = ns(p, SK_PRICE_OUT), fresh = ns(p, SK_PRICE_READ), user = (fresh + again) / 2;
    return (sk_copy_costs){
        .in = in * apart + copy * (1 - apart),
        .out = out * apart + copy * (1 - apart),
        .all_out = out * far + copy * (others - far),
        .copy = copy,
        .read = user * apart + again * (1 - apart),
        .all_read = user * far + again * (others - far),
        .read_fresh = fresh * apart + again * (1 - apart),
        .call = ns(p, SK_PRICE_CALL),
        .wait = shared ? ns(p, SK_PRICE_CALL) : SK_INTRA_FLAG * in,
        .cores = cores,
        .known = sk_copy_prices_known(p),
    };
}

double sk_copy_waits(const sk_copy_costs *x, double bytes, double chunk)
{
    return (double)(int64_t)((bytes + chunk - 1) / chunk) * x->wait;
}

double sk_copy_time(const sk_copy_costs *x, double busiest, double all)
{
    return busiest > all / x->cores ? busiest : all / x->cores;
}

double sk_copy_gain(const sk_call *c)
{
    return sk_machine_oversubscribed(c->machine) ? 2. / 3 : 1;
}

/* Single copy takes below `gain` of the time through slots from so many bytes on. */
static int64_t cutoff(const sk_copy_prices *p, double gain)
{
    double slots = gain * (double)(p->fs[SK_PRICE_IN] + p->fs[SK_PRICE_OUT]),
           read = (double)(p->fs[SK_PRICE_READ] + p->fs[SK_PRICE_REREAD]) / 2;
    if (!sk_copy_prices_known(p) || slots <= read)
        return INT64_MAX;
    double bytes = 2 * (double)p->fs[SK_PRICE_CALL] / (slots - read) +
                   1; /* a call, and the wait for its end */
    return bytes < 1e15 ? (int64_t)bytes : INT64_MAX;
}

int64_t sk_copy_message_cutoff(const sk_copy_prices *p)
{
    return cutoff(p, 1);
}

int64_t sk_copy_longest_cell(const sk_call *c)
{
    const sk_copy_prices *p = &c->machine->copy;
    return !sk_copy_prices_known(p) ? 0 : c->direct ? cutoff(p, sk_copy_gain(c)) : INT64_MAX;
}
