/* lane_inner_box.c: buffers for packets, registered where the provider asks for it. */
#include <stdlib.h>

#include "fabric/lane_inner.h"

int sk_inner_register(sk_inner *s, const void *data, size_t len, uint64_t access,
                      struct fid_mr **mr)
{
    struct fid_mr *got;
    int err = fi_mr_reg(s->domain, data, len, access, 0, ++s->keys, 0, &got, NULL);
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

int sk_letters_new(sk_inner *s, sk_letters *ls, uint32_t count, sk_box_kind kind, uint64_t access)
{
    sk_letters made = {.all = calloc(count, sizeof *made.all), .count = count};
    if (!made.all)
        return -ENOMEM;
    if (s->info->domain_attr->mr_mode & FI_MR_LOCAL) {
        int err = sk_inner_register(s, made.all, count * sizeof *made.all, access, &made.mr);
        if (err) {
            free(made.all);
            return err;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        made.all[i].box.kind = kind;
        made.all[i].box.next = made.free;
        made.free = &made.all[i].box;
    }
    *ls = made;
    return 0;
}

void sk_letters_free(sk_letters *ls)
{
    if (ls->mr)
        fi_close(&ls->mr->fid);
    free(ls->all);
    *ls = (sk_letters){0};
}

static struct fid_mr *mr_of(const sk_inner *s, const sk_letter *letter)
{
    const sk_letters *first = &s->recv;
    return letter >= first->all && letter < first->all + first->count ? first->mr : s->more_recv.mr;
}

void sk_letter_post(sk_inner *s, sk_box *box)
{
    sk_letter *letter = (sk_letter *)box;
    struct fid_mr *mr = mr_of(s, letter);
    ssize_t err = fi_recv(s->ep, &letter->from, SK_LETTER_HEAD + sizeof letter->bytes,
                          mr ? fi_mr_desc(mr) : NULL, FI_ADDR_UNSPEC, &box->context);
    if (err) {
        box->next = s->again;
        s->again = box;
    }
}

void sk_letters_post(sk_inner *s, sk_letters *ls)
{
    while (ls->free) {
        sk_box *box = ls->free;
        ls->free = box->next;
        sk_letter_post(s, box);
    }
}

int sk_inner_wake(sk_inner *s)
{
    int err = 0;
    if (!s->more_recv.all) {
        err = sk_letters_new(s, &s->more_recv, SK_INNER_MANY - SK_INNER_FEW, SK_BOX_RECV, FI_RECV);
        if (!err)
            sk_letters_post(s, &s->more_recv);
    }
    if (!err && !s->send.all)
        err = sk_letters_new(s, &s->send, SK_INNER_MANY, SK_BOX_SEND, FI_SEND);
    return err;
}
