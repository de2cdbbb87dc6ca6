/* profile.c: from a schedule to what its price depends on. */
#include "price/profile.h"

#include <stdlib.h>

/* What is the same for all steps of a rank. */
typedef struct profiler {
    const struct sk_sched_view *v;
    const sk_machine *machine;
    const sk_prices *p;
    int rank, nlocal;
    const int *local;        /* the ranks of the node */
    bool shared;             /* ranks share cores */
    uint32_t seen_epoch;     /* of the last flags that were waited for ... */
    int seen_lo, seen_hi;    /* ... and whose they were; seen_hi 0: none yet */
    double copied;           /* bytes so far */
    double all_ns, all_flag; /* to look at the flags of all local ranks */
    sk_profile *t;
    uint32_t cap;
    bool failed;
} profiler;

static void add(profiler *x, sk_act act)
{
    sk_profile *t = x->t;
    sk_act *last = t->nacts > t->rounds[t->nrounds] ? &t->acts[t->nacts - 1] : NULL;
    if (act.kind == SK_ACT_WORK && last && last->kind == SK_ACT_WORK) {
        last->ns += act.ns;
        last->bytes += act.bytes;
        return;
    }
    if (t->nacts == x->cap) {
        uint32_t cap = x->cap ? 2 * x->cap : 32;
        sk_act *acts = realloc(t->acts, cap * sizeof *acts);
        if (!acts) {
            x->failed = true;
            return;
        }
        t->acts = acts;
        x->cap = cap;
    }
    t->acts[t->nacts++] = act;
    t->looks += sk_act_looks(&act);
}

static void copying(profiler *x, double bytes, double ns)
{
    x->copied += bytes;
    add(x, (sk_act){.kind = SK_ACT_WORK, .bytes = bytes, .ns = ns + x->p->step});
}

static void work(profiler *x, double ns)
{
    copying(x, 0, ns);
}

static const sk_level_prices *level_to(const profiler *x, int rank)
{
    return &x->p->level[sk_at_of(x->machine, x->rank, rank)];
}

/* ---- shared memory ---- */

/* The flags of local ranks lo <= i < hi: ns to look at them one after the other, and at the furthest. */
static void flags_of(const profiler *x, int lo, int hi, double *ns, double *flag)
{
    *ns = *flag = 0;
    for (int i = lo; i < hi; i++) {
        if (x->local[i] == x->rank)
            continue;
        double one = level_to(x, x->local[i])->flag;
        *ns += one;
        *flag = one > *flag ? one : *flag;
    }
}

static void await(profiler *x, sk_act_kind kind, uint32_t epoch, int lo, int hi)
{
    sk_act act = {.kind = (uint8_t)kind, .epoch = epoch, .lo = lo, .hi = hi};
    bool posts = kind == SK_ACT_AWAIT;
    if (posts && epoch == x->seen_epoch && lo >= x->seen_lo && hi <= x->seen_hi)
        return; /* a flag that was seen is in the own cache */
    if (posts) {
        x->seen_epoch = epoch;
        x->seen_lo = lo;
        x->seen_hi = hi;
    }
    act.peer = hi - lo == 1 ? x->local[lo] : -1;
    bool all = hi - lo == x->nlocal;
    act.ns = x->all_ns;
    act.flag = x->all_flag;
    if (!all)
        flags_of(x, lo, hi, &act.ns, &act.flag);
    else if (x->shared) /* a counter says that all have posted */
        act.ns = act.flag;
    add(x, act);
}

/* Reduces over the slots of local ranks. */
static double fold_ns(const profiler *x, int lo, int hi, int64_t len)
{
    double ns = (double)len * x->p->reduce * (hi - lo - 1);
    for (int i = lo; i < hi; i++)
        ns += (double)len * level_to(x, x->local[i])->out;
    return ns;
}

/* The price of a byte out of the common slot, to which all local ranks have written. */
static double common_out(const profiler *x)
{
    double most = 0;
    for (int l = SK_AT_CORE; l <= SK_AT_NODE; l++)
        if (x->p->level[l].flag <= x->all_flag)
            most = x->p->level[l].out > most ? x->p->level[l].out : most;
    return most;
}

static void await_one(profiler *x, const sk_step *st)
{
    int i = x->machine->local_rank[st->peer];
    await(x, SK_ACT_AWAIT, st->packet, i, i + 1);
}

/* Steps that wait for local ranks. */
static void wait_step(profiler *x, const sk_step *st)
{
    double len = (double)st->b.len;
    switch (st->kind) {
    case SK_STEP_TAKE:
        if (st->peer < 0)
            await(x, SK_ACT_AWAIT, st->packet, 0, x->nlocal);
        else
            await_one(x, st);
        copying(x, len, len * (st->peer < 0 ? common_out(x) : level_to(x, st->peer)->out));
        break;
    case SK_STEP_READ:
        await_one(x, st);
        copying(x, len, st->peer == x->rank ? len * x->p->copy : x->p->call + len * x->p->read);
        break;
    case SK_STEP_FOLD:
        await(x, SK_ACT_AWAIT, st->packet, st->lo, st->hi);
        copying(x, len * (st->hi - st->lo), fold_ns(x, st->lo, st->hi, st->b.len));
        break;
    case SK_STEP_JOIN:
        await(x, SK_ACT_AWAIT, st->packet, 0, x->nlocal);
        /* Where ranks share cores, the last of them does it for all. */
        work(x, x->shared ? fold_ns(x, 0, x->nlocal, st->b.len) / x->nlocal + len * common_out(x)
                          : fold_ns(x, 0, x->nlocal, st->b.len));
        break;
    case SK_STEP_AWAIT:
        await(x, SK_ACT_AWAIT, st->packet, st->lo, st->hi);
        break;
    default:
        await(x, SK_ACT_QUIESCE, st->packet, 0, x->nlocal);
        break;
    }
}

/* ---- messages and local steps ---- */

static void transfer(profiler *x, const sk_step *st)
{
    bool send = st->kind == SK_STEP_SEND || st->kind == SK_STEP_PSEND;
    bool packet = st->kind == SK_STEP_PSEND || st->kind == SK_STEP_PRECV;
    int64_t len = send ? st->a.len : st->b.len;
    sk_at level = sk_at_of(x->machine, x->rank, st->peer);
    double copied = send || level == SK_AT_NET ? 0 : (double)len;
    x->t->sizes_known &= !packet;
    x->copied += copied;
    add(x, (sk_act){.kind = send ? SK_ACT_SEND : SK_ACT_RECV,
                    .level = (uint8_t)level,
                    .fifo = !packet && st->packet,
                    .peer = st->peer,
                    .len = len,
                    .bytes = copied});
}

static void local_step(profiler *x, const sk_step *st)
{
    double len = (double)(st->kind == SK_STEP_GET ? st->b.len : st->a.len);
    switch (st->kind) {
    case SK_STEP_REDUCE:
        copying(x, len, len * x->p->reduce);
        break;
    case SK_STEP_EXPORT:
        work(x, 0);
        break;
    default: /* into a slot, which others have read, it costs more */
        copying(x, len,
                len * (sk_buf_is_slot(st->b.buf) ? x->p->level[SK_AT_SOCKET].in : x->p->copy));
        break;
    }
}

static void profile_round(profiler *x, const sk_round *rd, uint32_t released)
{
    const sk_step *st = &x->v->steps[rd->first];
    if (rd->released > released)
        add(x, (sk_act){.kind = SK_ACT_RELEASE, .epoch = rd->released});
    for (uint32_t i = 0; i < rd->nhead; i++, st++) {
        work(x, 0);
        if (st->kind == SK_STEP_POST)
            add(x, (sk_act){.kind = SK_ACT_POST, .epoch = st->packet});
    }
    for (uint32_t i = 0; i < rd->nrecv + rd->nsend; i++, st++)
        transfer(x, st);
    for (uint32_t i = 0; i < rd->nlocal; i++, st++)
        local_step(x, st);
    for (uint32_t i = 0; i < rd->nwait; i++, st++)
        wait_step(x, st);
    if (rd->nrecv + rd->nsend)
        add(x, (sk_act){.kind = SK_ACT_FINISH, .peer = (int32_t)(rd->nrecv + rd->nsend)});
}

/* What a rank copies stays in caches, if that is little. */
static void forget_copies(const profiler *x)
{
    for (uint32_t i = 0; i < x->t->nacts && (x->copied <= x->p->cache || x->p->memory <= 0); i++)
        x->t->acts[i].bytes = 0;
}

sk_status sk_profile_new(const sk_sched *s, int rank, const sk_machine *machine, const sk_prices *p,
                         sk_profile *out)
{
    const struct sk_sched_view *v = sk_sched_view(s);
    sk_profile t = {.nepochs = v->nepochs, .steps = v->nsteps, .sizes_known = true};
    profiler x = {.v = v, .machine = machine, .p = p, .rank = rank, .t = &t};
    if (v->nepochs && !machine)
        return SK_BADARG;
    if (machine) {
        x.local = sk_machine_local_ranks(machine, rank, &x.nlocal);
        x.shared = sk_machine_oversubscribed(machine);
        if (v->nepochs)
            flags_of(&x, 0, x.nlocal, &x.all_ns, &x.all_flag);
    }
    t.rounds = calloc(v->nrounds + 1, sizeof *t.rounds);
    x.failed = !t.rounds;
    uint32_t released = 0;
    for (uint32_t r = 0; r < v->nrounds && !x.failed; r++) {
        profile_round(&x, &v->rounds[r], released);
        released = v->rounds[r].released > released ? v->rounds[r].released : released;
        t.rounds[++t.nrounds] = t.nacts;
    }
    forget_copies(&x);
    if (x.failed) {
        sk_profile_free(&t);
        return SK_NOMEM;
    }
    *out = t;
    return SK_OK;
}

void sk_profile_free(sk_profile *t)
{
    free(t->acts);
    free(t->rounds);
    *t = (sk_profile){0};
}
