/* profile.c: from a schedule to what its price depends on. */
#include "price/profile.h"

#include <stdlib.h>

/* What is the same for all steps of a rank. */
typedef struct profiler {
    const struct sk_sched_view *v;
    const sk_machine *machine;
    const sk_prices *p;
    int rank, nlocal;
    const int *local;     /* the ranks of the node */
    bool shared;          /* ranks share cores */
    uint32_t seen_epoch;  /* of the last flags that were waited for ... */
    int seen_lo, seen_hi; /* ... and whose they were; seen_hi 0: none yet */
    double copied, read;  /* bytes so far; those that were read in place */
    double *shared_part;  /* of each epoch: how much of the own slot other cores have read before */
    bool exports_fresh;   /* the last exported memory had been written in this call */
    bool one_source;      /* all that is read in place is of one rank */
    int64_t lo[SK_NBUFS], hi[SK_NBUFS]; /* of each buffer: what earlier rounds have written */
    double all_ns, all_flag;            /* to look at the flags of all local ranks */
    sk_profile *t;
    uint32_t cap;
    bool failed;
} profiler;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void add(profiler *x, sk_act act)
{
    sk_profile *t = x->t;
    sk_act *last = t->nacts > t->rounds[t->nrounds] ? &t->acts[t->nacts - 1] : NULL;
    if (act.kind == SK_ACT_WORK && last && last->kind == SK_ACT_WORK) {
        last->ns += act.ns;
        last->bytes += act.bytes;
        last->far += act.far;
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

/* Half a byte for each that is read from or written to memory other than slots, which stay in caches. */
static double far_bytes(const sk_span *a, const sk_span *b)
{
    double from = !a || !sk_buf_is_slot(a->buf), to = !sk_buf_is_slot(b->buf);
    return (double)b->len * (from + to) / 2;
}

/* `from` NULL: the memory of another rank. */
static void copying(profiler *x, double bytes, double ns, const sk_span *from, const sk_span *to)
{
    x->copied += bytes;
    add(x, (sk_act){.kind = SK_ACT_WORK,
                    .bytes = bytes,
                    .far = far_bytes(from, to),
                    .ns = ns + x->p->step});
}

static void work(profiler *x, double ns)
{
    add(x, (sk_act){.kind = SK_ACT_WORK, .ns = ns + x->p->step});
}

static const sk_level_prices *level_to(const profiler *x, int rank)
{
    return &x->p->level[sk_at_of(x->machine, x->rank, rank)];
}

/* ---- what is in the caches of this core only ---- */

static bool is_fresh(const profiler *x, const sk_span *s)
{
    return s->buf < SK_NBUFS && s->off < x->hi[s->buf] && s->off + s->len > x->lo[s->buf];
}

static void include(int64_t lo[SK_NBUFS], int64_t hi[SK_NBUFS], const sk_span *s)
{
    if (s->buf >= SK_NBUFS || s->len == 0)
        return;
    int64_t end = s->off + s->len;
    lo[s->buf] = lo[s->buf] < hi[s->buf] && lo[s->buf] < s->off ? lo[s->buf] : s->off;
    hi[s->buf] = hi[s->buf] > end ? hi[s->buf] : end;
}

/* Does a rank only read the memory of one other, a root? */
static bool has_one_source(const struct sk_sched_view *v)
{
    int peer = -1;
    for (const sk_step *st = v->steps; st < v->steps + v->nsteps; st++) {
        if (st->kind == SK_STEP_EXPORT ||
            (st->kind == SK_STEP_READ && peer >= 0 && st->peer != peer))
            return false;
        peer = st->kind == SK_STEP_READ ? st->peer : peer;
    }
    return peer >= 0;
}

/* Memory of another rank that is read in place. The others are taken to export what this rank does: a result, or
 * what the user has given. Those who read from a root read the same, unless they begin at different places. */
static double read_ns(const profiler *x, const sk_step *st)
{
    double byte = x->p->read;
    int cores = x->shared ? x->machine->cores : x->nlocal - 1;
    bool near = sk_at_of(x->machine, x->rank, st->peer) == SK_AT_CORE;
    if (st->peer == x->rank)
        return (double)st->b.len * x->p->copy;
    if (x->exports_fresh && !near)
        byte += x->p->fresh;
    if (x->one_source && st->lo == 0 && st->hi == 0)
        byte += x->p->same * (cores - 1);
    return x->p->call + (double)st->b.len * byte;
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

/* Reduces over the slots of local ranks. The first reduction reads two operands; those of other cores take longer. */
static double fold_ns(const profiler *x, int lo, int hi, int64_t len)
{
    double each = hi - lo > 1 ? x->p->reduce * (hi - lo - 1) : x->p->copy;
    for (int i = lo; i < hi; i++) {
        double far = level_to(x, x->local[i])->out - x->p->copy;
        each += far > 0 ? far : 0;
    }
    return (double)len * each;
}

/* A byte out of a slot of that level. Ranks that share cores copy one after the other, and seldom from each other. */
static double slot_out(const profiler *x, const sk_level_prices *l)
{
    return l->out + (x->shared ? 0 : x->p->together);
}

/* The price of a byte out of the common slot, to which all local ranks have written. */
static double common_out(const profiler *x)
{
    double most = 0;
    for (int l = SK_AT_CORE; l <= SK_AT_NODE; l++)
        if (x->p->level[l].flag <= x->all_flag)
            most = larger(most, slot_out(x, &x->p->level[l]));
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
        copying(x, len, len * (st->peer < 0 ? common_out(x) : slot_out(x, level_to(x, st->peer))),
                &st->a, &st->b);
        break;
    case SK_STEP_READ:
        await_one(x, st);
        x->read += len;
        copying(x, len, read_ns(x, st), NULL, &st->b);
        break;
    case SK_STEP_FOLD:
        await(x, SK_ACT_AWAIT, st->packet, st->lo, st->hi);
        copying(x, len * (st->hi - st->lo), fold_ns(x, st->lo, st->hi, st->b.len), &st->a, &st->b);
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

/* How much of a rank's slot ranks on other cores read, where ranks share cores: each is taken to read as much of
 * it as this rank reads of theirs. One that reads nothing is read by all. */
static bool find_shared_parts(profiler *x)
{
    uint32_t n = x->v->nepochs;
    double *written = calloc(2 * (size_t)n + 1, sizeof *written), *read = written + n;
    double apart = x->nlocal * (1 - 1.0 / x->machine->cores);
    if (!written)
        return false;
    for (const sk_step *st = x->v->steps; st < x->v->steps + x->v->nsteps; st++) {
        bool slot = (st->b.buf & SK_BUF_MASK) == SK_SLOT;
        if (st->kind == SK_STEP_COPY && slot)
            written[sk_buf_epoch(st->b.buf)] += (double)st->a.len;
        if ((st->kind == SK_STEP_TAKE && st->peer >= 0) || st->kind == SK_STEP_FOLD)
            read[st->packet] = larger(read[st->packet], (double)st->b.len);
    }
    for (uint32_t i = 0; i < n; i++) {
        double part = read[i] > 0 && written[i] > 0 ? apart * read[i] / written[i] : 1;
        written[i] = part < 1 ? part : 1;
    }
    x->shared_part = written;
    return true;
}

/* A byte into a slot. */
static double slot_in(const profiler *x, uint32_t buf)
{
    double in = x->p->level[SK_AT_SOCKET].in, copy = x->p->copy;
    if (!x->shared)
        return in + x->p->together;
    return x->shared_part && in > copy ? copy + (in - copy) * x->shared_part[sk_buf_epoch(buf)]
                                       : in;
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
                    .fresh = send && level != SK_AT_CORE && is_fresh(x, &st->a),
                    .peer = st->peer,
                    .len = len,
                    .bytes = copied,
                    .far = send || level == SK_AT_NET ? 0 : far_bytes(NULL, &st->b)});
}

static void local_step(profiler *x, const sk_step *st)
{
    double len = (double)(st->kind == SK_STEP_GET ? st->b.len : st->a.len);
    switch (st->kind) {
    case SK_STEP_REDUCE:
        copying(x, len, len * x->p->reduce, &st->a, &st->b);
        break;
    case SK_STEP_EXPORT:
        x->exports_fresh = is_fresh(x, &st->a);
        work(x, 0);
        break;
    default: /* into a slot, which others have read, it costs more */
        copying(x, len, len * (sk_buf_is_slot(st->b.buf) ? slot_in(x, st->b.buf) : x->p->copy),
                &st->a, &st->b);
        break;
    }
}

static void profile_round(profiler *x, const sk_round *rd, uint32_t released)
{
    const sk_step *st = &x->v->steps[rd->first], *end = &x->v->steps[sk_round_end(rd)];
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
    for (st = &x->v->steps[rd->first]; st < end; st++)
        if (st->kind != SK_STEP_SEND)
            include(x->lo, x->hi, &st->b);
}

/* The bytes of all buffers that a rank uses, and those of others that it reads in place. */
static double used_bytes(const profiler *x)
{
    double bytes = x->read;
    int64_t lo[SK_NBUFS] = {0}, hi[SK_NBUFS] = {0};
    for (const sk_step *st = x->v->steps; st < x->v->steps + x->v->nsteps; st++) {
        include(lo, hi, &st->a);
        include(lo, hi, &st->b);
    }
    for (int i = 0; i < SK_NBUFS; i++)
        bytes += (double)(hi[i] - lo[i]);
    return bytes;
}

/* The part of what the ranks of a core use that is no longer in its cache when it is used again. Up to half a cache
 * all of it is, from twice the cache on nothing. */
static double missing_part(const profiler *x)
{
    int sharing = x->shared ? (x->nlocal - 1) / x->machine->cores + 1 : 1;
    double part = x->p->cache > 0 ? used_bytes(x) * sharing / x->p->cache : 2;
    return part < 0.5 ? 0 : part < 2 ? (part - 0.5) / 1.5 : 1;
}

static void price_memory(const profiler *x)
{
    double far = x->p->far > 0 ? x->p->far * missing_part(x) : 0;
    for (uint32_t i = 0; i < x->t->nacts; i++) {
        if (x->copied <= x->p->cache || x->p->memory <= 0)
            x->t->acts[i].bytes = 0;
        x->t->acts[i].ns += x->t->acts[i].far * far;
    }
}

sk_status sk_profile_new(const sk_sched *s, int rank, const sk_machine *machine, const sk_prices *p,
                         sk_profile *out)
{
    const struct sk_sched_view *v = sk_sched_view(s);
    sk_profile t = {.nepochs = v->nepochs, .steps = v->nsteps, .sizes_known = true};
    profiler x = {
        .v = v, .machine = machine, .p = p, .rank = rank, .t = &t, .one_source = has_one_source(v)};
    if (v->nepochs && !machine)
        return SK_BADARG;
    if (machine) {
        x.local = sk_machine_local_ranks(machine, rank, &x.nlocal);
        x.shared = sk_machine_oversubscribed(machine);
        if (v->nepochs)
            flags_of(&x, 0, x.nlocal, &x.all_ns, &x.all_flag);
    }
    t.rounds = calloc(v->nrounds + 1, sizeof *t.rounds);
    x.failed = !t.rounds || (x.shared && v->nepochs && !find_shared_parts(&x));
    uint32_t released = 0;
    for (uint32_t r = 0; r < v->nrounds && !x.failed; r++) {
        profile_round(&x, &v->rounds[r], released);
        released = v->rounds[r].released > released ? v->rounds[r].released : released;
        t.rounds[++t.nrounds] = t.nacts;
    }
    price_memory(&x);
    free(x.shared_part);
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
