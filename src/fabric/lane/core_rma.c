/* core_rma.c: memory regions and RMA reads of the core-provider lane. A read goes straight into the
 * user's buffer. A provider may limit the length of one read, so a read is a series of chunks, one
 * after the other. */
#include <stdlib.h>

#include "fabric/lane/core_inner.h"

typedef struct sk_core_read {
    sk_core_op op;
    void *context; /* the endpoint's */
    struct fid_mr *mr;
    uint64_t at, key;
    unsigned char *to;
    size_t left, chunk;
    struct sk_core_read *next, *next_free; /* of all; of those not in use */
} sk_core_read;

int sk_core_register(sk_core_lane *s, const void *data, size_t len, uint64_t access,
                     struct fid_mr **mr)
{
    struct fid_mr *got;
    int err = fi_mr_reg(s->domain, data, len, access, 0, ++s->next_key, 0, &got, NULL);
    if (err)
        return err;
    if (s->info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
        err = fi_mr_bind(got, &s->ep->fid, 0);
        if (!err)
            err = fi_mr_enable(got);
        if (err) {
            fi_close(&got->fid);
            return err;
        }
    }
    *mr = got;
    return 0;
}

int sk_core_export(sk_lane *l, const void *data, size_t len, sk_lane_source *out, void **handle)
{
    sk_core_lane *s = (sk_core_lane *)l;
    struct fid_mr *mr;
    if (!l->can_read)
        return -EPERM;
    int err = sk_core_register(s, data, len, FI_REMOTE_READ, &mr);
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

void sk_core_unexport(sk_lane *l, void *handle)
{
    struct fid_mr *mr = handle;
    (void)l;
    if (mr)
        fi_close(&mr->fid);
}

static sk_core_read *read_new(sk_core_lane *s)
{
    sk_core_read *r = s->free_reads;
    if (r) {
        s->free_reads = r->next_free;
        return r;
    }
    r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->op.type = SK_CORE_READ;
    r->next = s->reads;
    s->reads = r;
    return r;
}

static void read_free(sk_core_lane *s, sk_core_read *r)
{
    if (r->mr)
        fi_close(&r->mr->fid);
    r->mr = NULL;
    r->next_free = s->free_reads;
    s->free_reads = r;
}

void sk_core_reads_unregister(sk_core_lane *s)
{
    for (sk_core_read *r = s->reads; r; r = r->next) {
        if (r->mr)
            fi_close(&r->mr->fid);
        r->mr = NULL;
    }
}

void sk_core_reads_free(sk_core_lane *s)
{
    while (s->reads) {
        sk_core_read *r = s->reads;
        s->reads = r->next;
        free(r);
    }
}

static ssize_t chunk_post(sk_core_lane *s, sk_core_read *r)
{
    size_t most = s->info->ep_attr->max_msg_size;
    r->chunk = r->left < most ? r->left : most;
    return fi_read(s->ep, r->to, r->chunk, r->mr ? fi_mr_desc(r->mr) : NULL,
                   s->peers[r->op.peer].addr, r->at, r->key, &r->op.context);
}

int sk_core_read_start(sk_core_lane *s, uint32_t peer, const sk_lane_source *from, uint64_t skip,
                       void *to, size_t len, void *context)
{
    if (len == 0)
        return 1;
    sk_core_read *r = read_new(s);
    if (!r)
        return -ENOMEM;
    ssize_t err = 0;
    r->op.peer = peer;
    r->context = context;
    r->at = from->at + skip;
    r->key = from->key;
    r->to = to;
    r->left = len;
    if (s->info->domain_attr->mr_mode & FI_MR_LOCAL)
        err = sk_core_register(s, to, len, FI_READ, &r->mr);
    if (!err)
        err = chunk_post(s, r);
    if (err) {
        read_free(s, r);
        return (int)err;
    }
    s->reading++;
    return 0;
}

/* Post the next chunk, now or later. False: it failed (*status). */
static bool read_continue(sk_core_lane *s, sk_core_read *r, int *status)
{
    ssize_t err = chunk_post(s, r);
    if (err == -FI_EAGAIN) {
        r->op.next = s->retry;
        s->retry = &r->op;
        return true;
    }
    *status = (int)err;
    return err == 0;
}

static int read_end(sk_core_lane *s, sk_core_read *r, int status, bool silent)
{
    void *context = r->context;
    s->reading--;
    read_free(s, r);
    if (silent)
        return 0;
    s->config.events.read(s->config.events.self, context, status);
    return 1;
}

int sk_core_read_complete(sk_core_lane *s, sk_core_op *op, int status, bool silent)
{
    sk_core_read *r = (sk_core_read *)op;
    r->to += r->chunk;
    r->at += r->chunk;
    r->left -= r->chunk;
    if (!status && r->left && read_continue(s, r, &status))
        return 0;
    return read_end(s, r, status, silent);
}

int sk_core_read_retry(sk_core_lane *s, sk_core_op *op)
{
    sk_core_read *r = (sk_core_read *)op;
    int status;
    return read_continue(s, r, &status) ? 0 : read_end(s, r, status, false);
}
