/* request.c: sends, receives and messages as objects: creation, completion, release. */
#include <stdlib.h>
#include <string.h>

#include "fabric/proto/endpoint.h"

/* --- sends --- */

/* Is there room for another injected copy?
 *
 * Copies are bounded. But a blocking send that is injected must not wait for nonblocking ones that
 * were injected before it: they may be received last. Open MPI tries a nonblocking send once and then
 * sends it without a copy; a blocking one it tries until it is accepted. So who is refused again and
 * again, without sends in between that replace what was refused, gets one of a few reserved copies.
 * These are held by blocking sends only, which a correct program receives in the order of its calls. */
static bool copy_fits(sk_endpoint *ep, sk_send_req *s, size_t size)
{
    enum { PATIENCE = 32, RESERVED = 64 };
    if (ep->copied + size <= ep->config->unexpected + SK_FIRST_CREDIT)
        return true;
    if (ep->refused < PATIENCE || ep->reserved == RESERVED) {
        ep->refused++;
        return false;
    }
    ep->refused = 0;
    ep->reserved++;
    s->reserved = true;
    return true;
}

/* Keep the data of an injected message that must wait. */
static int send_copy(sk_endpoint *ep, sk_send_req *s, const sk_endpoint_call *c)
{
    size_t size = sk_buffer_size(c->len);
    if (!copy_fits(ep, s, size))
        return -FI_EAGAIN;
    char *copy = sk_buffer_cache_get(&ep->buffers, c->len);
    if (!copy) {
        ep->reserved -= s->reserved;
        return -FI_ENOMEM;
    }
    size_t at = 0;
    for (size_t i = 0; i < c->niov; at += c->iov[i++].iov_len)
        memcpy(copy + at, c->iov[i].iov_base, c->iov[i].iov_len);
    s->copy = copy;
    s->iov[0] = (struct iovec){copy, c->len};
    s->niov = 1;
    ep->copied += size;
    return 0;
}

int sk_send_new(sk_endpoint *ep, sk_peer *p, const sk_endpoint_call *c, const sk_packet *head,
                sk_send_req **out)
{
    int rc = 0;
    sk_send_req *s = sk_object_pool_get(&ep->send_pool);
    if (!s)
        return -FI_ENOMEM;
    *s = (sk_send_req){.peer = p,
                       .context = c->context,
                       .flags = c->flags,
                       .niov = (uint8_t)c->niov,
                       .len = c->len,
                       .head = *head};
    for (size_t i = 0; i < c->niov; i++)
        s->iov[i] = c->iov[i];
    if (c->flags & FI_INJECT && c->len)
        rc = send_copy(ep, s, c);
    else if (ep->refused)
        ep->refused--;
    if (rc == 0)
        *out = s;
    else
        sk_object_pool_put(&ep->send_pool, s);
    return rc;
}

void sk_send_free(sk_endpoint *ep, sk_send_req *s)
{
    if (sk_list_linked(&s->node))
        sk_list_remove(&s->node);
    if (s->head.send_handle)
        sk_handle_remove(&ep->sends, s->head.send_handle);
    if (s->exported)
        s->peer->lane->ops->unexport(s->peer->lane, s->export_handle);
    if (s->copy) {
        sk_buffer_cache_put(&ep->buffers, s->copy, s->len);
        ep->copied -= sk_buffer_size(s->len);
        ep->reserved -= s->reserved;
    }
    sk_object_pool_put(&ep->send_pool, s);
}

/* A caller that gave no context and wants no completion could not use an error. */
static void send_error(sk_endpoint *ep, const sk_send_req *s, int err)
{
    FI_WARN(&sk_provider, FI_LOG_EP_DATA,
            "a message of %llu bytes to endpoint %016llx failed: %s\n", (unsigned long long)s->len,
            (unsigned long long)s->peer->id, fi_strerror(err));
    if (!s->context && !(s->flags & FI_COMPLETION)) {
        sk_completion_unreserve(ep->tx);
        return;
    }
    struct fi_cq_err_entry entry = {.op_context = s->context,
                                    .flags = sk_completion_type(s->flags) | FI_SEND,
                                    .tag = s->head.tag,
                                    .err = err,
                                    .prov_errno = err};
    sk_completion_push_error(ep->tx, &entry);
}

void sk_send_end(sk_endpoint *ep, sk_send_req *s, int err)
{
    if (err)
        send_error(ep, s, err);
    else
        sk_send_complete(ep, s->context, s->flags);
    sk_send_free(ep, s);
}

/* --- receives by context: a hash table with chains, doubled when it is full --- */

static sk_recv_req **context_bucket(const sk_context_table *t, const void *context)
{
    uint64_t h = (uint64_t)(uintptr_t)context * UINT64_C(0x9e3779b97f4a7c15);
    return &t->bucket[(h >> 32) & (t->size - 1)];
}

static bool contexts_grow(sk_context_table *t)
{
    sk_context_table big = {.size = t->size ? 2 * t->size : 256, .count = t->count};
    big.bucket = calloc(big.size, sizeof(sk_recv_req *));
    if (!big.bucket)
        return false;
    for (size_t i = 0; i < t->size; i++)
        for (sk_recv_req *r = t->bucket[i], *next; r; r = next) {
            sk_recv_req **at = context_bucket(&big, r->context);
            next = r->next_context;
            r->next_context = *at;
            *at = r;
        }
    free(t->bucket);
    *t = big;
    return true;
}

bool sk_context_add(sk_endpoint *ep, sk_recv_req *r)
{
    sk_context_table *t = &ep->contexts;
    if (t->count == t->size && !contexts_grow(t))
        return false;
    sk_recv_req **at = context_bucket(t, r->context);
    r->next_context = *at;
    *at = r;
    r->in_table = true;
    t->count++;
    return true;
}

static void context_remove(sk_endpoint *ep, sk_recv_req *r)
{
    if (!r->in_table)
        return;
    sk_recv_req **at = context_bucket(&ep->contexts, r->context);
    while (*at != r)
        at = &(*at)->next_context;
    *at = r->next_context;
    r->in_table = false;
    ep->contexts.count--;
}

sk_recv_req *sk_context_find(const sk_endpoint *ep, const void *context)
{
    sk_recv_req *r = ep->contexts.size ? *context_bucket(&ep->contexts, context) : NULL;
    while (r && (r->context != context || r->item.side != SK_POSTED))
        r = r->next_context;
    return r;
}

/* --- receives --- */

sk_recv_req *sk_recv_new(sk_endpoint *ep, const sk_endpoint_call *c)
{
    if (SK_UNLIKELY(!sk_completion_reserve(ep->rx)))
        return NULL;
    sk_recv_req *r = sk_object_pool_get(&ep->recv_pool);
    if (SK_UNLIKELY(!r)) {
        sk_completion_unreserve(ep->rx);
        return NULL;
    }
    r->context = c->context;
    r->capacity = c->len;
    r->flags = c->flags;
    r->niov = (uint8_t)c->niov;
    for (size_t i = 0; i < c->niov; i++)
        r->iov[i] = c->iov[i];
    r->in_table = false;
    r->recv_handle = 0;
    r->peer = NULL;
    r->node.next = r->retry.next = NULL;
    r->reading = false;
    return r;
}

void sk_recv_drop(sk_endpoint *ep, sk_recv_req *r)
{
    sk_completion_unreserve(ep->rx);
    sk_object_pool_put(&ep->recv_pool, r);
}

void sk_recv_store(const sk_recv_req *r, uint64_t at, const void *from, size_t len)
{
    const char *bytes = from;
    for (size_t i = 0; i < r->niov && len; i++) {
        size_t here = r->iov[i].iov_len;
        if (at >= here) {
            at -= here;
            continue;
        }
        size_t part = here - at < len ? here - at : len;
        memcpy((char *)r->iov[i].iov_base + at, bytes, part);
        bytes += part;
        len -= part;
        at = 0;
    }
}

/* What the completion of a receive tells of the message. */
typedef struct sk_msg_info {
    uint64_t tag, len;
    uint32_t data, source;
    uint8_t flags; /* of sk_packet */
} sk_msg_info;

static void recv_error(sk_endpoint *ep, const sk_recv_req *r, const sk_msg_info *m, uint64_t flags,
                       int err)
{
    struct fi_cq_err_entry entry = {
        .op_context = r->context,
        .flags = flags,
        .len = m->len < r->capacity ? m->len : r->capacity,
        .buf = r->niov ? r->iov[0].iov_base : NULL,
        .data = m->data,
        .tag = m->tag,
        .olen = m->len > r->capacity ? m->len - r->capacity : 0,
        .err = err,
        .prov_errno = err,
    };
    sk_completion_push_error(ep->rx, &entry);
}

static void recv_complete(sk_endpoint *ep, sk_recv_req *r, const sk_msg_info *m, int err)
{
    uint64_t flags = sk_completion_type(r->flags) | FI_RECV;
    if (m->flags & SK_PACKET_HAS_DATA)
        flags |= FI_REMOTE_CQ_DATA;
    if (ep->own_contexts) {
        if (r->context)
            ((struct fi_context *)r->context)->internal[0] = NULL;
    } else {
        context_remove(ep, r);
    }
    if (SK_UNLIKELY(!err && m->len > r->capacity))
        err = FI_ETRUNC;
    if (SK_UNLIKELY(err)) {
        recv_error(ep, r, m, flags, err);
    } else if (r->flags & FI_COMPLETION) {
        sk_completion *at = sk_completion_push(ep->rx);
        at->e = (struct fi_cq_tagged_entry){.op_context = r->context,
                                            .flags = flags,
                                            .len = m->len,
                                            .buf = r->niov ? r->iov[0].iov_base : NULL,
                                            .data = m->data,
                                            .tag = m->tag};
        at->from = ep->sources ? ep->ids->entry[m->source].addr : FI_ADDR_NOTAVAIL;
        at->err = NULL;
    } else {
        sk_completion_unreserve(ep->rx);
    }
    sk_object_pool_put(&ep->recv_pool, r);
}

void sk_recv_deliver(sk_endpoint *ep, sk_recv_req *r, const sk_msg *m, const void *payload)
{
    sk_msg_info info = {.tag = m->item.tag,
                        .len = m->len,
                        .data = m->data,
                        .source = m->item.source,
                        .flags = m->flags};
    size_t len = m->len < r->capacity ? m->len : r->capacity;
    if (r->niov == 1 && len && !m->lost)
        memcpy(r->iov[0].iov_base, payload, len);
    else if (!m->lost)
        sk_recv_store(r, 0, payload, len);
    recv_complete(ep, r, &info, m->lost ? FI_ENOMEM : 0);
}

void sk_recv_end(sk_endpoint *ep, sk_recv_req *r, int err)
{
    sk_msg_info info = {.tag = r->tag,
                        .len = r->len,
                        .data = r->data,
                        .source = r->peer ? r->peer->number : 0,
                        .flags = r->msg_flags};
    if (r->recv_handle)
        sk_handle_remove(&ep->recvs, r->recv_handle);
    if (sk_list_linked(&r->node))
        sk_list_remove(&r->node);
    if (sk_list_linked(&r->retry))
        sk_list_remove(&r->retry);
    recv_complete(ep, r, &info, err);
}

void sk_recv_fail(sk_endpoint *ep, sk_recv_req *r, int err)
{
    sk_msg_info info = {.tag = r->item.tag};
    recv_complete(ep, r, &info, err);
}

/* --- messages --- */

void sk_msg_free(sk_endpoint *ep, sk_msg *m)
{
    if (!m->rendezvous && m->buffer)
        sk_buffer_cache_put(&ep->buffers, m->buffer, m->len);
    sk_object_pool_put(&ep->msg_pool, m);
}
