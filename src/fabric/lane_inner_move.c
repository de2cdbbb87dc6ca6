/* lane_inner_move.c: send packets, take what has completed. */
#include "fabric/lane_inner.h"
#include "fabric/lane_parts.h"

enum { BUSY = 1024 /* polls that a sign of life keeps the lane hot */ };

void sk_inner_lose(sk_inner *s, uint32_t peer, int status)
{
    sk_inner_peer *p = &s->peers[peer];
    if (p->lost)
        return;
    p->lost = status;
    s->news = true;
    sk_inner_moves(s, p);
}

int sk_inner_send(sk_lane *l, uint32_t peer, const struct iovec *part, int nparts)
{
    sk_inner *s = (sk_inner *)l;
    size_t len = sk_parts_len(part, nparts);
    if (peer >= s->npeers)
        return -EINVAL;
    if (len > SK_INNER_PACKET)
        return -EMSGSIZE;
    sk_inner_peer *p = &s->peers[peer];
    if (p->lost)
        return -EPIPE;
    s->heat = BUSY;
    if (!s->send.free)
        return -EAGAIN;
    sk_box *box = s->send.free;
    sk_letter *letter = (sk_letter *)box;
    letter->from = s->config.id;
    sk_parts_copy(letter->bytes, part, nparts);
    box->peer = peer;
    ssize_t err = fi_send(s->ep, &letter->from, SK_LETTER_HEAD + len,
                          s->send.mr ? fi_mr_desc(s->send.mr) : NULL, p->addr, &box->context);
    if (err == -FI_EAGAIN) {
        sk_inner_sticks(s, p);
        return -EAGAIN;
    }
    if (err) {
        sk_inner_lose(s, peer, (int)err);
        return -EPIPE;
    }
    sk_inner_moves(s, p);
    s->send.free = box->next;
    s->sending++;
    return 0;
}

/* A packet has come: whatever it says of itself, it ends where the provider says. */
static int arrive(sk_inner *s, sk_box *box, size_t len, bool mute)
{
    sk_letter *letter = (sk_letter *)box;
    int n = 0;
    if (len >= SK_LETTER_HEAD && len <= SK_LETTER_HEAD + SK_INNER_PACKET && !mute) {
        s->config.events.packet(s->config.events.self, letter->from, letter->bytes,
                                len - SK_LETTER_HEAD);
        n = 1;
    }
    sk_letter_post(s, box);
    return n;
}

/* An operation has ended: 0 or a negative errno. */
static int ended(sk_inner *s, sk_box *box, size_t len, int status, bool mute)
{
    if (box->kind == SK_BOX_READ)
        return sk_inner_read_done(s, box, status, mute);
    if (box->kind == SK_BOX_RECV) {
        if (!status)
            return arrive(s, box, len, mute);
        if (status != -FI_ECANCELED)
            sk_letter_post(s, box);
        return 0;
    }
    box->next = s->send.free;
    s->send.free = box;
    s->sending--;
    if (status)
        sk_inner_lose(s, box->peer, status);
    return 0;
}

static int take_error(sk_inner *s, bool mute)
{
    struct fi_cq_err_entry e = {0};
    if (fi_cq_readerr(s->cq, &e, 0) <= 0 || !e.op_context)
        return 0; /* it concerns nothing of ours */
    return ended(s, e.op_context, 0, e.err ? -e.err : -EIO, mute);
}

int sk_inner_take(sk_inner *s, bool mute)
{
    enum { BATCH = 16, TURNS = 4 };
    struct fi_cq_msg_entry e[BATCH];
    int n = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        ssize_t got = fi_cq_read(s->cq, e, BATCH);
        if (got == -FI_EAVAIL)
            n += take_error(s, mute);
        else if (got <= 0)
            break;
        s->heat = BUSY;
        for (ssize_t i = 0; i < got; i++)
            if (e[i].op_context)
                n += ended(s, e[i].op_context, e[i].len, 0, mute);
    }
    return n;
}

static int tell(sk_inner *s)
{
    int n = 0;
    s->news = false;
    for (uint32_t i = 0; i < s->npeers; i++) {
        sk_inner_peer *p = &s->peers[i];
        if (!p->lost || p->told)
            continue;
        p->told = true;
        s->config.events.gone(s->config.events.self, p->id, p->lost);
        n++;
    }
    return n;
}

/* What the provider had no room for. */
static int retry(sk_inner *s)
{
    int n = 0;
    sk_box *box = s->again, *next;
    s->again = NULL;
    for (; box; box = next) {
        next = box->next;
        if (box->kind == SK_BOX_READ)
            n += sk_inner_read_again(s, box, false);
        else
            sk_letter_post(s, box);
    }
    return n;
}

/* The colder the lane, the rarer it is looked at. */
static bool due(sk_inner *s)
{
    enum { COLD = 8, ASLEEP = 256 };
    s->tick++;
    if (s->heat || s->sending || s->reading) {
        s->heat -= s->heat > 0;
        return true;
    }
    return s->tick % (s->npeers || s->more_recv.all ? COLD : ASLEEP) == 0;
}

int sk_inner_poll(sk_lane *l)
{
    sk_inner *s = (sk_inner *)l;
    if (!s->news && !due(s))
        return 0;
    int n = sk_inner_take(s, false);
    /* Somebody has found us: there may be more of them. If there is no memory, the few must do. */
    if (n && !s->more_recv.all)
        (void)sk_inner_wake(s);
    n += retry(s);
    if (s->nstuck)
        sk_inner_probe(s);
    if (s->news)
        n += tell(s);
    return n;
}
