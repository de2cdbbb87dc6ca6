/* lane_inner_read.c: long messages by RMA, straight into the user's buffer. A provider may not read
 * as much at once as we are asked for, so a read is a series of pieces, one after the other. */
#include <stdlib.h>

#include "fabric/lane_inner.h"

typedef struct sk_read {
    sk_box box;
    void *context; /* the endpoint's */
    struct fid_mr *mr;
    uint64_t at, key;
    unsigned char *to;
    size_t left, piece;
    struct sk_read *all, *spare; /* the next of all, and of those not in use */
} sk_read;

int sk_inner_expose(sk_lane *l, const void *data, size_t len, sk_lane_source *out, void **handle)
{
    sk_inner *s = (sk_inner *)l;
    struct fid_mr *mr;
    if (!l->reads)
        return -EPERM;
    int err = sk_inner_register(s, data, len, FI_REMOTE_READ, &mr);
    if (err)
        return err;
    uint64_t key = fi_mr_key(mr);
    if (key == FI_KEY_NOTAVAIL) {
        fi_close(&mr->fid);
        return -EPERM;
    }
    bool by_address = s->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    *out =
        (sk_lane_source){.at = by_address ? (uint64_t)(uintptr_t)data : 0, .key = key, .len = len};
    *handle = mr;
    return 0;
}

void sk_inner_conceal(sk_lane *l, void *handle)
{
    struct fid_mr *mr = handle;
    (void)l;
    if (mr)
        fi_close(&mr->fid);
}

static sk_read *read_new(sk_inner *s)
{
    sk_read *r = s->spare;
    if (r) {
        s->spare = r->spare;
        return r;
    }
    r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->box.kind = SK_BOX_READ;
    r->all = s->reads;
    s->reads = r;
    return r;
}

static void read_free(sk_inner *s, sk_read *r)
{
    if (r->mr)
        fi_close(&r->mr->fid);
    r->mr = NULL;
    r->spare = s->spare;
    s->spare = r;
}

void sk_inner_reads_conceal(sk_inner *s)
{
    for (sk_read *r = s->reads; r; r = r->all) {
        if (r->mr)
            fi_close(&r->mr->fid);
        r->mr = NULL;
    }
}

void sk_inner_reads_free(sk_inner *s)
{
    while (s->reads) {
        sk_read *r = s->reads;
        s->reads = r->all;
        free(r);
    }
}

static ssize_t piece_post(sk_inner *s, sk_read *r)
{
    size_t most = s->info->ep_attr->max_msg_size;
    r->piece = r->left < most ? r->left : most;
    return fi_read(s->ep, r->to, r->piece, r->mr ? fi_mr_desc(r->mr) : NULL,
                   s->peers[r->box.peer].addr, r->at, r->key, &r->box.context);
}

int sk_inner_read(sk_lane *l, uint32_t peer, const sk_lane_source *from, uint64_t skip, void *to,
                  size_t len, void *context)
{
    sk_inner *s = (sk_inner *)l;
    if (peer >= s->npeers || skip > from->len || len > from->len - skip)
        return -EINVAL;
    if (!l->reads)
        return -EPERM;
    sk_inner_peer *p = &s->peers[peer];
    if (p->lost)
        return -EPIPE;
    if (len == 0)
        return 1;
    sk_read *r = read_new(s);
    if (!r)
        return -ENOMEM;
    ssize_t err = 0;
    r->box.peer = peer;
    r->context = context;
    r->at = from->at + skip;
    r->key = from->key;
    r->to = to;
    r->left = len;
    if (s->info->domain_attr->mr_mode & FI_MR_LOCAL)
        err = sk_inner_register(s, to, len, FI_READ, &r->mr);
    if (!err)
        err = piece_post(s, r);
    if (err) {
        read_free(s, r);
        if (err == -FI_EAGAIN)
            sk_inner_sticks(s, p);
        return (int)err;
    }
    sk_inner_moves(s, p);
    s->reading++;
    return 0;
}

/* Post the next piece, now or later. False: it did not work (*status). */
static bool read_on(sk_inner *s, sk_read *r, int *status)
{
    ssize_t err = piece_post(s, r);
    if (err == -FI_EAGAIN) {
        r->box.next = s->again;
        s->again = &r->box;
        return true;
    }
    *status = (int)err;
    return err == 0;
}

static int read_end(sk_inner *s, sk_read *r, int status, bool mute)
{
    void *context = r->context;
    s->reading--;
    read_free(s, r);
    if (mute)
        return 0;
    s->config.events.read(s->config.events.self, context, status);
    return 1;
}

int sk_inner_read_done(sk_inner *s, sk_box *box, int status, bool mute)
{
    sk_read *r = (sk_read *)box;
    r->to += r->piece;
    r->at += r->piece;
    r->left -= r->piece;
    if (!status && r->left && read_on(s, r, &status))
        return 0;
    return read_end(s, r, status, mute);
}

int sk_inner_read_again(sk_inner *s, sk_box *box, bool mute)
{
    int status;
    return read_on(s, (sk_read *)box, &status) ? 0 : read_end(s, (sk_read *)box, status, mute);
}
