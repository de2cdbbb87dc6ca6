/* core.c: the lane through another libfabric provider: buffers, peers, sending, completions, and
 * probes of peers that accept nothing. core_inner.h describes the lane. */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fabric/lane/core_inner.h"

enum { HOT_POLLS = 1024 }; /* after an event, poll the provider every time for so many polls */

/* ms, never 0 */
static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1;
}

/* --- buffers for packets, registered if the provider requires it --- */

static int buffers_new(sk_core_lane *s, sk_core_buffers *set, uint32_t count, sk_core_op_type type,
                       uint64_t access)
{
    struct fid_mr *mr = NULL;
    sk_core_buffer *all = calloc(count, sizeof *all);
    if (!all)
        return -ENOMEM;
    if (s->info->domain_attr->mr_mode & FI_MR_LOCAL) {
        int err = sk_core_register(s, all, count * sizeof *all, access, &mr);
        if (err) {
            free(all);
            return err;
        }
    }
    *set = (sk_core_buffers){.all = all, .count = count, .mr = mr};
    for (uint32_t i = 0; i < count; i++) {
        all[i].op.type = type;
        all[i].op.next = set->free;
        set->free = &all[i].op;
    }
    return 0;
}

static void buffers_free(sk_core_buffers *set)
{
    if (set->mr)
        fi_close(&set->mr->fid);
    free(set->all);
    *set = (sk_core_buffers){0};
}

static struct fid_mr *recv_mr(const sk_core_lane *s, const sk_core_buffer *buffer)
{
    const sk_core_buffers *first = &s->recv;
    return buffer >= first->all && buffer < first->all + first->count ? first->mr : s->more_recv.mr;
}

/* Post a receive. If the provider has no resources now, post it later. */
static void recv_post(sk_core_lane *s, sk_core_op *op)
{
    sk_core_buffer *buffer = (sk_core_buffer *)op;
    struct fid_mr *mr = recv_mr(s, buffer);
    ssize_t err = fi_recv(s->ep, &buffer->from, SK_CORE_HEADER + sizeof buffer->bytes,
                          mr ? fi_mr_desc(mr) : NULL, FI_ADDR_UNSPEC, &op->context);
    if (err) {
        op->next = s->retry;
        s->retry = op;
    }
}

static void recv_post_all(sk_core_lane *s, sk_core_buffers *set)
{
    while (set->free) {
        sk_core_op *op = set->free;
        set->free = op->next;
        recv_post(s, op);
    }
}

/* The lane is used from now on: post all receives, allocate send buffers. */
static int activate(sk_core_lane *s)
{
    int err = 0;
    if (!s->more_recv.all) {
        err = buffers_new(s, &s->more_recv, SK_CORE_DEPTH - SK_CORE_IDLE_RECVS, SK_CORE_RECV,
                          FI_RECV);
        if (!err)
            recv_post_all(s, &s->more_recv);
    }
    if (!err && !s->send.all)
        err = buffers_new(s, &s->send, SK_CORE_DEPTH, SK_CORE_SEND, FI_SEND);
    return err;
}

/* --- peers --- */

/* A peer has accepted something: it is not stalled. */
static void peer_unstall(sk_core_lane *s, sk_core_peer *p)
{
    if (!p->stalled_at)
        return;
    p->stalled_at = 0;
    s->nstalled--;
    if (p->probe >= 0)
        close(p->probe);
    p->probe = -1;
}

/* A peer accepts nothing now (-FI_EAGAIN). */
static void peer_stall(sk_core_lane *s, sk_core_peer *p)
{
    if (p->stalled_at)
        return;
    p->stalled_at = now_ms();
    p->probed_at = 0;
    s->nstalled++;
}

/* A peer is lost; poll will report it. */
static void peer_lose(sk_core_lane *s, uint32_t peer, int status)
{
    sk_core_peer *p = &s->peers[peer];
    if (p->lost)
        return;
    p->lost = status;
    s->unreported = true;
    peer_unstall(s, p);
}

static int core_connect(sk_lane *l, uint64_t id, const void *name, size_t len, uint32_t *peer)
{
    sk_core_lane *s = (sk_core_lane *)l;
    if (len <= SK_CORE_PROVIDER_ID || len > sizeof s->name)
        return -EINVAL;
    for (uint32_t i = 0; i < s->npeers; i++)
        if (s->peers[i].id == id) {
            *peer = i;
            return 0;
        }
    /* Names of the same provider have the same length. */
    if (memcmp(name, s->name, SK_CORE_PROVIDER_ID) != 0 || len != s->name_len)
        return -ENETUNREACH;
    sk_core_peer *peers = sk_items_grow(s->peers, s->npeers, &s->capacity, sizeof *peers);
    if (!peers)
        return -ENOMEM;
    s->peers = peers;
    sk_core_peer *p = &peers[s->npeers];
    int err = activate(s);
    if (err)
        return err;
    *p = (sk_core_peer){.id = id, .probe = -1};
    memcpy(p->name, (const uint8_t *)name + SK_CORE_PROVIDER_ID, len - SK_CORE_PROVIDER_ID);
    if (fi_av_insert(s->av, p->name, 1, &p->addr, 0, NULL) != 1)
        return -ENETUNREACH;
    *peer = s->npeers++;
    return 0;
}

/* --- probes ---
 *
 * ofi_rxm connects on the first send. If the connection is refused, it tries again on the next
 * send, for ever: a dead process looks like a busy one. So we open a TCP connection to the port of
 * a peer that has accepted nothing for a while: the kernel of a live process accepts it, however
 * busy the process is. This works only for names that are IP addresses over TCP; other providers
 * have means of their own. */

enum { STALL_MS = 300, PROBE_EVERY_MS = 1000 };

/* Start to connect. */
static void probe_start(sk_core_peer *p, const struct fi_info *info)
{
    bool six = info->addr_format == FI_SOCKADDR_IN6;
    int fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    struct sockaddr_in6 to; /* the larger of the two */
    memcpy(&to, p->name, sizeof to);
    p->probe = fd;
    /* The result, even an immediate one, is read from the socket later. */
    (void)connect(fd, (struct sockaddr *)&to,
                  six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
}

/* 0: no result yet, or the peer lives; or a negative errno: it is dead. */
static int probe_result(sk_core_peer *p)
{
    int err = 0;
    socklen_t len = sizeof err;
    struct pollfd fd = {.fd = p->probe, .events = POLLOUT};
    if (poll(&fd, 1, 0) <= 0)
        return 0;
    if (getsockopt(p->probe, SOL_SOCKET, SO_ERROR, &err, &len) != 0)
        err = 0;
    close(p->probe);
    p->probe = -1;
    return err == ECONNREFUSED || err == ETIMEDOUT ? -err : 0;
}

static bool over_tcp(const struct fi_info *info)
{
    const char *name = info->fabric_attr->prov_name;
    return (info->addr_format == FI_SOCKADDR_IN || info->addr_format == FI_SOCKADDR_IN6) &&
           (strncmp(name, "tcp", 3) == 0 || strncmp(name, "net", 3) == 0);
}

static void probe_stalled(sk_core_lane *s)
{
    const struct fi_info *info = s->info;
    if (!over_tcp(info))
        return;
    int64_t now = now_ms();
    if (now == s->probed_at)
        return;
    s->probed_at = now;
    for (uint32_t i = 0; i < s->npeers; i++) {
        sk_core_peer *p = &s->peers[i];
        if (!p->stalled_at || now - p->stalled_at < STALL_MS)
            continue;
        if (p->probe < 0 && (!p->probed_at || now - p->probed_at > PROBE_EVERY_MS)) {
            p->probed_at = now;
            probe_start(p, info);
        }
        int err = p->probe < 0 ? 0 : probe_result(p);
        if (err)
            peer_lose(s, i, err);
    }
}

/* --- sending and reading --- */

static int core_send(sk_lane *l, uint32_t peer, const struct iovec *part, int nparts)
{
    sk_core_lane *s = (sk_core_lane *)l;
    size_t len = sk_parts_len(part, nparts);
    if (peer >= s->npeers)
        return -EINVAL;
    if (len > SK_CORE_PACKET)
        return -EMSGSIZE;
    sk_core_peer *p = &s->peers[peer];
    if (p->lost)
        return -EPIPE;
    s->hot_polls = HOT_POLLS;
    if (!s->send.free)
        return -EAGAIN;
    sk_core_op *op = s->send.free;
    sk_core_buffer *buffer = (sk_core_buffer *)op;
    buffer->from = s->config.id;
    sk_parts_copy(buffer->bytes, part, nparts);
    op->peer = peer;
    ssize_t err = fi_send(s->ep, &buffer->from, SK_CORE_HEADER + len,
                          s->send.mr ? fi_mr_desc(s->send.mr) : NULL, p->addr, &op->context);
    if (err == -FI_EAGAIN) {
        peer_stall(s, p);
        return -EAGAIN;
    }
    if (err) {
        peer_lose(s, peer, (int)err);
        return -EPIPE;
    }
    peer_unstall(s, p);
    s->send.free = op->next;
    s->sending++;
    return 0;
}

static int core_read(sk_lane *l, uint32_t peer, const sk_lane_source *from, uint64_t skip, void *to,
                     size_t len, void *context)
{
    sk_core_lane *s = (sk_core_lane *)l;
    if (peer >= s->npeers || skip > from->len || len > from->len - skip)
        return -EINVAL;
    if (!l->can_read)
        return -EPERM;
    sk_core_peer *p = &s->peers[peer];
    if (p->lost)
        return -EPIPE;
    int rc = sk_core_read_start(s, peer, from, skip, to, len, context);
    if (rc == 0)
        peer_unstall(s, p);
    else if (rc == -FI_EAGAIN)
        peer_stall(s, p);
    return rc;
}

/* --- completions --- */

/* A packet has arrived. Its length is the provider's, whatever the packet says. */
static int recv_complete(sk_core_lane *s, sk_core_op *op, size_t len, bool silent)
{
    sk_core_buffer *buffer = (sk_core_buffer *)op;
    int n = 0;
    if (len >= SK_CORE_HEADER && len <= SK_CORE_HEADER + SK_CORE_PACKET && !silent) {
        s->config.events.packet(s->config.events.self, buffer->from, buffer->bytes,
                                len - SK_CORE_HEADER);
        n = 1;
    }
    recv_post(s, op);
    return n;
}

/* An operation has completed: status is 0 or a negative errno. Returns the number of events. */
static int op_complete(sk_core_lane *s, sk_core_op *op, size_t len, int status, bool silent)
{
    if (op->type == SK_CORE_READ)
        return sk_core_read_complete(s, op, status, silent);
    if (op->type == SK_CORE_RECV) {
        if (!status)
            return recv_complete(s, op, len, silent);
        if (status != -FI_ECANCELED)
            recv_post(s, op);
        return 0;
    }
    op->next = s->send.free;
    s->send.free = op;
    s->sending--;
    if (status)
        peer_lose(s, op->peer, status);
    return 0;
}

static int reap_error(sk_core_lane *s, bool silent)
{
    struct fi_cq_err_entry e = {0};
    if (fi_cq_readerr(s->cq, &e, 0) <= 0 || !e.op_context)
        return 0; /* not an operation of ours */
    return op_complete(s, e.op_context, 0, e.err ? -e.err : -EIO, silent);
}

/* Read completions; report no events if `silent`. Returns the number of events. */
static int reap_completions(sk_core_lane *s, bool silent)
{
    enum { BATCH = 16, BATCHES = 4 };
    struct fi_cq_msg_entry e[BATCH];
    int n = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        ssize_t got = fi_cq_read(s->cq, e, BATCH);
        if (got == -FI_EAVAIL)
            n += reap_error(s, silent);
        else if (got <= 0)
            break;
        s->hot_polls = HOT_POLLS;
        for (ssize_t i = 0; i < got; i++)
            if (e[i].op_context)
                n += op_complete(s, e[i].op_context, e[i].len, 0, silent);
    }
    return n;
}

static int report_lost(sk_core_lane *s)
{
    int n = 0;
    s->unreported = false;
    for (uint32_t i = 0; i < s->npeers; i++) {
        sk_core_peer *p = &s->peers[i];
        if (!p->lost || p->reported)
            continue;
        p->reported = true;
        s->config.events.gone(s->config.events.self, p->id, p->lost);
        n++;
    }
    return n;
}

/* Post again what the provider had no resources for. */
static int retry_ops(sk_core_lane *s)
{
    int n = 0;
    sk_core_op *op = s->retry, *next;
    s->retry = NULL;
    for (; op; op = next) {
        next = op->next;
        if (op->type == SK_CORE_READ)
            n += sk_core_read_retry(s, op);
        else
            recv_post(s, op);
    }
    return n;
}

/* The longer the lane was idle, the more rarely the provider is polled. */
static bool should_poll(sk_core_lane *s)
{
    enum { IDLE_EVERY = 8, UNUSED_EVERY = 256 };
    s->tick++;
    if (s->hot_polls || s->sending || s->reading) {
        s->hot_polls -= s->hot_polls > 0;
        return true;
    }
    return s->tick % (s->npeers || s->more_recv.all ? IDLE_EVERY : UNUSED_EVERY) == 0;
}

static int core_poll(sk_lane *l)
{
    sk_core_lane *s = (sk_core_lane *)l;
    if (!s->unreported && !should_poll(s))
        return 0;
    int n = reap_completions(s, false);
    /* A peer has found us; more may follow. If there is no memory, the few receives must do. */
    if (n && !s->more_recv.all)
        (void)activate(s);
    n += retry_ops(s);
    if (s->nstalled)
        probe_stalled(s);
    if (s->unreported)
        n += report_lost(s);
    return n;
}

/* --- open and close --- */

static void fid_close(struct fid *fid)
{
    if (fid)
        fi_close(fid);
}

#define CLOSE(object) fid_close((object) ? &(object)->fid : NULL)

/* The endpoint goes first: after that, no operation uses the memory. */
static void objects_close(sk_core_lane *s)
{
    CLOSE(s->ep);
    sk_core_reads_unregister(s);
    buffers_free(&s->recv);
    buffers_free(&s->more_recv);
    buffers_free(&s->send);
    CLOSE(s->av);
    CLOSE(s->cq);
    CLOSE(s->domain);
    CLOSE(s->fabric);
    s->ep = NULL;
    s->av = NULL;
    s->cq = NULL;
    s->domain = NULL;
    s->fabric = NULL;
}

static int name_init(sk_core_lane *s)
{
    uint16_t provider = sk_core_provider_id(s->info);
    size_t len = SK_CORE_NAME;
    int err = fi_getname(&s->ep->fid, s->name + SK_CORE_PROVIDER_ID, &len);
    if (err)
        return err;
    memcpy(s->name, &provider, SK_CORE_PROVIDER_ID);
    s->name_len = SK_CORE_PROVIDER_ID + len;
    return 0;
}

static int objects_open(sk_core_lane *s)
{
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .size = 4 * (size_t)SK_CORE_DEPTH};
    struct fi_av_attr av = {.type = s->info->domain_attr->av_type};
    int err = fi_fabric(s->info->fabric_attr, &s->fabric, NULL);
    if (!err)
        err = fi_domain(s->fabric, s->info, &s->domain, NULL);
    if (!err)
        err = fi_cq_open(s->domain, &cq, &s->cq, NULL);
    if (!err)
        err = fi_av_open(s->domain, &av, &s->av, NULL);
    if (!err)
        err = fi_endpoint(s->domain, s->info, &s->ep, NULL);
    if (!err)
        err = fi_ep_bind(s->ep, &s->av->fid, 0);
    if (!err)
        err = fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV);
    if (!err)
        err = fi_enable(s->ep);
    if (!err)
        err = name_init(s);
    if (!err)
        err = buffers_new(s, &s->recv, SK_CORE_IDLE_RECVS, SK_CORE_RECV, FI_RECV);
    if (err) {
        objects_close(s);
        return err;
    }
    recv_post_all(s, &s->recv);
    return 0;
}

static int open_info(sk_core_lane *s, const struct fi_info *info)
{
    s->info = fi_dupinfo(info);
    if (!s->info)
        return -ENOMEM;
    int err = objects_open(s);
    if (err) {
        fi_freeinfo(s->info);
        s->info = NULL;
    }
    return err;
}

/* Open the first of the list that opens and has a name that fits. */
static int open_first(sk_core_lane *s, const struct fi_info *all, bool forced)
{
    int err = -ENODATA;
    for (const struct fi_info *info = all; info && err; info = info->next) {
        const struct fi_info *cheaper = sk_core_cheaper(all, info);
        if (cheaper)
            err = open_info(s, cheaper);
        if (err && sk_core_usable(info, forced))
            err = open_info(s, info);
    }
    return err;
}

static int core_open(sk_lane **out, const sk_lane_config *config)
{
    const char *name = config->core_provider ? config->core_provider : "";
    struct fi_info *all;
    int err = sk_core_list(name, &all);
    if (err)
        return err;
    err = -ENOMEM;
    sk_core_lane *s = calloc(1, sizeof *s);
    if (!s)
        goto out;
    s->config = *config;
    err = open_first(s, all, name[0] != 0);
    if (err)
        goto out;
    const struct fi_info *info = s->info;
    s->lane = (sk_lane){.ops = &sk_lane_core, .max_packet = SK_CORE_PACKET};
    s->lane.can_read = (info->caps & FI_RMA) &&
                       info->domain_attr->mr_key_size <= sizeof(uint64_t) &&
                       !(info->domain_attr->mr_mode & FI_MR_RAW);
    *out = &s->lane;
out:
    fi_freeinfo(all);
    if (err)
        free(s);
    return err;
}

/* Packets in flight get a second to leave. */
static void flush_sends(sk_core_lane *s)
{
    enum { LONGEST_MS = 1000 };
    int64_t end = now_ms() + LONGEST_MS;
    while (s->sending && now_ms() < end)
        reap_completions(s, true);
}

static void core_close(sk_lane *l)
{
    sk_core_lane *s = (sk_core_lane *)l;
    flush_sends(s);
    for (uint32_t i = 0; i < s->npeers; i++)
        peer_unstall(s, &s->peers[i]);
    objects_close(s);
    sk_core_reads_free(s);
    fi_freeinfo(s->info);
    free(s->peers);
    free(s);
}

static int core_get_name(sk_lane *l, void *name, size_t *len)
{
    sk_core_lane *s = (sk_core_lane *)l;
    if (*len < s->name_len)
        return -ENOSPC;
    memcpy(name, s->name, s->name_len);
    *len = s->name_len;
    return 0;
}

const sk_lane_ops sk_lane_core = {
    .name = "core",
    .open = core_open,
    .close = core_close,
    .get_name = core_get_name,
    .connect = core_connect,
    .send = core_send,
    .poll = core_poll,
    .export = sk_core_export,
    .unexport = sk_core_unexport,
    .read = core_read,
};
