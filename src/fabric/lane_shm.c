#include <stdlib.h>
#include <unistd.h>

#include "fabric/lane_shm_name.h"

static void inbox_setup(sk_shm_lane *s)
{
    s->inbox->start = s->self.start;
    s->inbox->probe = (uint64_t)(uintptr_t)&s->config.id;
    s->inbox->layout = SK_INBOX_LAYOUT;
    sk_shm_lane_key(s->config.id, s->note.key);
    memcpy(s->inbox->segment, s->note.key, sizeof s->note.key);
}

static int shm_open_lane(sk_lane **out, const sk_lane_config *config)
{
    void *mem;
    sk_shm_lane *s = calloc(1, sizeof *s);
    sk_shm_lane_sender *senders = calloc(SK_SEATS, sizeof *senders);
    if (!s || !senders)
        goto out;
    *s = (sk_shm_lane){.config = *config, .senders = senders, .self = sk_process_self()};
    s->lane = (sk_lane){.ops = &sk_lane_shm, .packet = SK_RING_PACKET, .reads = config->direct};
    if (sk_segment_make(sizeof(sk_inbox), &mem, &s->note) != SK_OK)
        goto out;
    s->inbox = mem;
    inbox_setup(s);
    *out = &s->lane;
    return 0;
out:
    free(senders);
    free(s);
    return -ENOMEM;
}

/* First leave the seats at peers, then close the inbox: who finds it closed has all we have sent.
 */
static void shm_close_lane(sk_lane *l)
{
    sk_shm_lane *s = (sk_shm_lane *)l;
    for (uint32_t i = 0; i < s->nmates; i++)
        sk_shm_lane_leave(&s->mates[i]);
    atomic_store(&s->inbox->closed, 1);
    for (uint32_t i = 0; i < sk_inbox_high(s->inbox); i++)
        atomic_store(&s->inbox->seats[i].mood, SK_MOOD_CLOSED);
    sk_segment_unmap(s->inbox, sizeof(sk_inbox));
    sk_segment_close(&s->note);
    free(s->mates);
    free(s->senders);
    free(s);
}

static int shm_name_of(sk_lane *l, void *name, size_t *len)
{
    sk_shm_lane *s = (sk_shm_lane *)l;
    sk_shm_lane_name mine = {.pid = s->note.pid, .fd = s->note.fd};
    if (*len < sizeof mine)
        return -ENOSPC;
    memcpy(name, &mine, sizeof mine);
    *len = sizeof mine;
    return 0;
}

const sk_lane_ops sk_lane_shm = {
    .name = "shm",
    .open = shm_open_lane,
    .close = shm_close_lane,
    .name_of = shm_name_of,
    .reach = sk_shm_lane_reach,
    .send = sk_shm_lane_send,
    .poll = sk_shm_lane_poll,
    .expose = sk_shm_lane_expose,
    .conceal = sk_shm_lane_conceal,
    .read = sk_shm_lane_read,
};
