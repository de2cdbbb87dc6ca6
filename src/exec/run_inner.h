/* run_steps.h: what the files of the executor have in common. */
#ifndef SK_RUN_STEPS_H
#define SK_RUN_STEPS_H

#include "base/attr.h"
#include "exec/run.h"

static inline void sk_run_note(sk_run *r, sk_status st)
{
    if (st != SK_OK && r->status == SK_OK)
        r->status = st;
}

/* Integer arithmetic: MPI_BOTTOM is a null pointer with real offsets. */
static inline sk_part sk_run_part_at(const void *buf, const sk_span *s)
{
    return (sk_part){(void *)((uintptr_t)buf + (uintptr_t)s->off), s->len, s->type};
}

/* In a slot, my own for the owner -1. A wire that knows no such slot gets no bytes. */
static inline sk_part sk_run_part_in_slot(sk_run *r, const sk_wire_ops *ops, const sk_span *s,
                                          int owner)
{
    const void *slot = ops->slot(r->wire, s->buf, owner);
    if (slot)
        return sk_run_part_at(slot, s);
    sk_run_note(r, SK_WIRE);
    return (sk_part){0};
}

/* `epochs` is a constant where this is inlined: without epochs no span asks for a slot. */
static inline sk_part sk_run_part(sk_run *r, const sk_wire_ops *ops, const sk_span *s, bool epochs)
{
    if (epochs && sk_buf_is_slot(s->buf))
        return sk_run_part_in_slot(r, ops, s, -1);
    return sk_run_part_at(r->buf[s->buf], s);
}

/* Packets: run_packet.c. */
void sk_run_put(sk_run *r, uint32_t packet, int64_t key, sk_part data);
void sk_run_get(sk_run *r, const sk_step *st, sk_part to);
void sk_run_relay(sk_run *r, const sk_step *st);
sk_part sk_run_packet_part(const sk_run *r, const sk_step *st); /* what a PSEND sends */
sk_part sk_run_packet_room(const sk_run *r, uint32_t packet);   /* what a PRECV may fill */

/* Epochs: run_epochs.c. The heads or the waiting steps of a round, from where the last try left off:
 * SK_OK, or SK_AGAIN, never when `block` is set. Errors are noted. */
SK_HOT sk_status sk_run_wait_steps(sk_run *r, uint32_t first, uint32_t n, bool block);

/* Near messages: run_epochs.c. */
void sk_run_post_intra(sk_run *r, const sk_step *st);
void sk_run_end_intra(sk_run *r);

#endif
