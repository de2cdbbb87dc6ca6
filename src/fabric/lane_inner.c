#include "fabric/lane_inner.h"

#include <stdlib.h>
#include <string.h>

static void fid_close(struct fid *fid)
{
    if (fid)
        fi_close(fid);
}

#define CLOSE(object) fid_close((object) ? &(object)->fid : NULL)

/* Endpoints first: nothing is under way any more when its memory goes. */
static void objects_close(sk_inner *s)
{
    CLOSE(s->ep);
    sk_inner_reads_conceal(s);
    sk_letters_free(&s->recv);
    sk_letters_free(&s->more_recv);
    sk_letters_free(&s->send);
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

static int name_get(sk_inner *s)
{
    uint16_t kind = sk_inner_kind(s->info);
    size_t len = SK_INNER_NAME;
    int err = fi_getname(&s->ep->fid, s->name + SK_INNER_KIND, &len);
    if (err)
        return err;
    memcpy(s->name, &kind, SK_INNER_KIND);
    s->name_len = SK_INNER_KIND + len;
    return 0;
}

static int objects_open(sk_inner *s)
{
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .size = 4 * (size_t)SK_INNER_MANY};
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
        err = name_get(s);
    if (!err)
        err = sk_letters_new(s, &s->recv, SK_INNER_FEW, SK_BOX_RECV, FI_RECV);
    if (err) {
        objects_close(s);
        return err;
    }
    sk_letters_post(s, &s->recv);
    return 0;
}

static int open_as(sk_inner *s, const struct fi_info *info)
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

/* The first of the list that can be opened and has a name that fits. */
static int open_any(sk_inner *s, const struct fi_info *all, bool forced)
{
    int err = -ENODATA;
    for (const struct fi_info *info = all; info && err; info = info->next) {
        const struct fi_info *lean = sk_inner_lean(all, info);
        if (lean)
            err = open_as(s, lean);
        if (err && sk_inner_fits(info, forced))
            err = open_as(s, info);
    }
    return err;
}

static int inner_open(sk_lane **out, const sk_lane_config *config)
{
    const char *name = config->inner ? config->inner : "";
    struct fi_info *all;
    int err = sk_inner_pick(name, &all);
    if (err)
        return err;
    err = -ENOMEM;
    sk_inner *s = calloc(1, sizeof *s);
    if (!s)
        goto out;
    s->config = *config;
    err = open_any(s, all, name[0] != 0);
    if (err)
        goto out;
    const struct fi_info *info = s->info;
    s->lane = (sk_lane){.ops = &sk_lane_inner, .packet = SK_INNER_PACKET};
    s->lane.reads = (info->caps & FI_RMA) && info->domain_attr->mr_key_size <= sizeof(uint64_t) &&
                    !(info->domain_attr->mr_mode & FI_MR_RAW);
    *out = &s->lane;
out:
    fi_freeinfo(all);
    if (err)
        free(s);
    return err;
}

/* What was sent and is still here gets a second to leave. */
static void flush(sk_inner *s)
{
    enum { LONGEST_MS = 1000 };
    int64_t end = sk_inner_now() + LONGEST_MS;
    while (s->sending && sk_inner_now() < end)
        sk_inner_take(s, true);
}

static void inner_close(sk_lane *l)
{
    sk_inner *s = (sk_inner *)l;
    flush(s);
    for (uint32_t i = 0; i < s->npeers; i++)
        sk_inner_moves(s, &s->peers[i]);
    objects_close(s);
    sk_inner_reads_free(s);
    fi_freeinfo(s->info);
    free(s->peers);
    free(s);
}

static int inner_name_of(sk_lane *l, void *name, size_t *len)
{
    sk_inner *s = (sk_inner *)l;
    if (*len < s->name_len)
        return -ENOSPC;
    memcpy(name, s->name, s->name_len);
    *len = s->name_len;
    return 0;
}

const sk_lane_ops sk_lane_inner = {
    .name = "inner",
    .open = inner_open,
    .close = inner_close,
    .name_of = inner_name_of,
    .reach = sk_inner_reach,
    .send = sk_inner_send,
    .poll = sk_inner_poll,
    .expose = sk_inner_expose,
    .conceal = sk_inner_conceal,
    .read = sk_inner_read,
};
