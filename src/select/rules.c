/* rules.c: the conditions of a rule.
 *
 * The cutoff of bcast and, as a formula, of reduce-scatter by operations that do not commute are those of the
 * paper (global-collectives, section 4). The others are where the model of `skein explain` says so with its
 * customary prices, see "Settled questions" of lab/papers. */
#include "select/rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "neighbor/cost/model.h"

/* Choices are made in calls, words are wanted seldom: without space for them nothing is formatted. */
__attribute__((format(printf, 3, 4))) static void say(char *why, size_t size, const char *format,
                                                      ...)
{
    va_list args;
    if (!size)
        return;
    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
}

static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t measure(const sk_rule *r, const sk_call *c)
{
    int64_t bytes = sk_call_bytes(c);
    if (r->measure >= SK_MEASURE_BLOCKS)
        bytes = times(bytes, c->nranks);
    if (r->measure == SK_MEASURE_MATRIX)
        bytes = times(bytes, c->nranks);
    return bytes;
}

/* The bound `below`. Leaders send fewer messages and more bytes, so their bounds grow with what a message costs in
 * bytes. Reductions that may round have the same bits in each run: a measured cost is not for them. */
static int64_t bound_below(const sk_rule *r, const sk_settings *s, const sk_call *c)
{
    int64_t usual = sk_settings_int(s, r->below);
    int64_t cost = r->when == SK_WHEN_NODES && !c->rounds ? c->machine->net.message : 0;
    if (r->grows && cost > r->grows * SK_USUAL_MESSAGE_BYTES)
        cost = r->grows * SK_USUAL_MESSAGE_BYTES;
    return cost <= SK_USUAL_MESSAGE_BYTES || sk_settings_given(s, r->below)
               ? usual
               : times(usual, cost) / SK_USUAL_MESSAGE_BYTES;
}

static bool below_holds(const sk_rule *r, const sk_settings *s, const sk_call *c, char *why,
                        size_t size)
{
    int64_t have = measure(r, c), want = bound_below(r, s, c);
    say(why, size, "%" PRId64 " bytes %s %" PRId64 " (%s)", have, have < want ? "<" : ">=", want,
        sk_setting_info_get(r->below)->var);
    return have < want;
}

/* Is single copy the faster way? */
static bool way_holds(const sk_rule *r, const sk_call *c, char *why, size_t size)
{
    if (!sk_copy_prices_known(&c->machine->copy)) {
        say(why, size, "what copies cost here is not known");
        return false;
    }
    sk_ways w = r->ways(c);
    double most = w.slots * sk_copy_gain(c);
    bool yes = w.single < most;
    say(why, size, "%.1f us by single copy %s %.1f us%s through slots", w.single * 1e-3,
        yes ? "<" : ">=", most * 1e-3, most < w.slots ? ", two thirds of the time" : "");
    return yes;
}

static bool from_holds(const sk_rule *r, const sk_settings *s, const sk_call *c, char *why,
                       size_t size)
{
    sk_rule other = {.when = r->when, .from = r->otherwise, .ways = r->ways};
    if (r->ways && sk_settings_int(s, r->from) == 0)
        return r->otherwise ? from_holds(&other, s, c, why, size) : way_holds(r, c, why, size);
    static const char *const unit[] = {"bytes", "bytes on each rank", "bytes on all ranks"};
    int64_t have = measure(r, c), want = sk_settings_int(s, r->from);
    const char *source = sk_setting_info_get(r->from)->var;
    if (r->formula && want == 0) {
        want = r->formula(c->nranks, c->machine);
        source = "the formula for this many ranks";
    }
    say(why, size, "%" PRId64 " %s %s %" PRId64 " (%s)", have, unit[r->measure],
        have >= want ? ">=" : "<", want, source);
    return have >= want;
}

static bool kind_holds(const sk_rule *r, const sk_call *c, char *why, size_t size)
{
    int p = c->nranks;
    bool yes = true;
    switch (r->when) {
    case SK_WHEN_POWER_OF_TWO:
        yes = (p & (p - 1)) == 0;
        say(why, size, "%d ranks are %s power of two", p, yes ? "a" : "no");
        break;
    case SK_WHEN_EVEN:
        yes = p % 2 == 0;
        say(why, size, "%d ranks are %s", p, yes ? "even" : "odd");
        break;
    case SK_WHEN_COMMUTES:
        yes = !c->ordered;
        say(why, size, "the operation %s", yes ? "commutes" : "does not commute");
        break;
    case SK_WHEN_ORDERED:
        say(why, size, "the operation does not commute");
        break;
    case SK_WHEN_ONE_NODE:
        say(why, size, "all ranks share memory");
        break;
    case SK_WHEN_NODES:
        say(why, size, "%d nodes", c->machine->nnodes);
        break;
    case SK_WHEN_SUB:
    case SK_WHEN_ANY:
    case SK_WHEN_NEVER:
        break;
    }
    return yes;
}

/* Is the rule for calls and machines like these at all? */
static bool applies(const sk_rule *r, const sk_call *c)
{
    const sk_machine *m = c->machine;
    switch (r->when) {
    case SK_WHEN_NEVER:
        return false;
    case SK_WHEN_ONE_NODE:
        return m && m->nnodes == 1 && c->slot_bytes > 0;
    case SK_WHEN_NODES:
        return m && m->nnodes > 1 && m->max_per_node > 1;
    case SK_WHEN_SUB:
        return c->sub;
    case SK_WHEN_ORDERED:
        return c->ordered;
    default:
        return true;
    }
}

static bool ranks_hold(const sk_rule *r, const sk_settings *s, const sk_call *c, char *why,
                       size_t size)
{
    int64_t want = sk_settings_int(s, r->ranks);
    if (c->nranks >= want && r->from)
        say(why, size, " on %d >= %" PRId64 " ranks", c->nranks, want);
    else
        say(why, size, "%d ranks %s %" PRId64 " (%s)", c->nranks, c->nranks >= want ? ">=" : "<",
            want, sk_setting_info_get(r->ranks)->var);
    return c->nranks >= want;
}

static bool nodes_hold(const sk_rule *r, const sk_settings *s, const sk_call *c, char *why,
                       size_t size)
{
    int64_t most = sk_settings_int(s, r->nodes);
    int have = c->machine ? c->machine->nnodes : 1;
    bool yes = have <= most;
    say(why, size, "%d nodes %s %" PRId64 " (%s)", have, yes ? "<=" : ">", most,
        sk_setting_info_get(r->nodes)->var);
    return yes;
}

sk_rule_result sk_rule_check(const sk_rule *r, const sk_settings *s, const sk_call *c, char *why,
                             size_t size)
{
    char bytes[112], ranks[80], kind[80];
    size_t one = size ? sizeof bytes : 0, two = size ? sizeof ranks : 0,
           three = size ? sizeof kind : 0;
    bytes[0] = ranks[0] = kind[0] = '\0';
    if (!applies(r, c))
        return SK_RULE_WRONG_MACHINE;
    if (r->from && !from_holds(r, s, c, bytes, one)) {
        say(why, size, "%s", bytes);
        return SK_RULE_WRONG_SIZE;
    }
    if (r->below && !below_holds(r, s, c, bytes, one)) {
        say(why, size, "%s", bytes);
        return SK_RULE_WRONG_SIZE;
    }
    if (r->ranks && !ranks_hold(r, s, c, ranks, two)) {
        say(why, size, "%s", ranks);
        return SK_RULE_WRONG_SIZE;
    }
    if (!kind_holds(r, c, kind, three) || (r->nodes && !nodes_hold(r, s, c, kind, three))) {
        say(why, size, "%s", kind);
        return SK_RULE_WRONG_KIND;
    }
    bool join = kind[0] && (bytes[0] || ranks[0]);
    say(why, size, "%s%s%s%s", bytes, ranks, join ? ", " : "", kind);
    return SK_RULE_HOLDS;
}

/* The bound `from`; 0: none. */
static int64_t bound_from(const sk_rule *r, const sk_settings *s, const sk_call *c)
{
    int64_t from = r->from ? sk_settings_int(s, r->from) : 0;
    return r->formula && from == 0 ? r->formula(c->nranks, c->machine) : from;
}

bool sk_rule_nearly_holds(const sk_rule *r, const sk_settings *s, const sk_call *c)
{
    enum { FACTOR = 4 };
    sk_rule any_size = *r;
    any_size.from = any_size.below = SK_SET_ENABLE;
    if (sk_rule_check(&any_size, s, c, NULL, 0) != SK_RULE_HOLDS)
        return false;
    if (r->ways && sk_copy_prices_known(&c->machine->copy)) {
        sk_ways w = r->ways(c);
        return w.single < 2 * w.slots;
    }
    int64_t have = measure(r, c);
    return times(have, FACTOR) >= bound_from(r, s, c) &&
           (!r->below || have / FACTOR < bound_below(r, s, c));
}

bool sk_rule_holds_by_far(const sk_rule *r, const sk_settings *s, const sk_call *c)
{
    enum { FACTOR = 64 };
    int64_t from = bound_from(r, s, c);
    return !r->ways && from > 0 && measure(r, c) / FACTOR >= from;
}
