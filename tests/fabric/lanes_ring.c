/* lanes_ring.c: the ring alone, between two threads, so that the thread sanitizer can watch. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "fabric/lane/shm_ring.h"
#include "tap.h"

enum { PACKETS = 60000 };

static _Alignas(SK_RING_LINE) unsigned char bytes[SK_RING_BYTES];
static _Atomic uint64_t done;

static size_t len_of(unsigned i)
{
    return i % 37 == 0 ? i * 7919U % (SK_RING_PACKET + 1) : i * 31U % 200;
}

static void *write_all(void *arg)
{
    sk_ring_writer w = {.bytes = bytes, .done = &done};
    static unsigned char packet[SK_RING_PACKET];
    for (unsigned i = 0; i < PACKETS; i++) {
        struct iovec part = {packet, len_of(i)};
        memset(packet, (int)(i % 251), part.iov_len);
        while (!sk_ring_push(&w, &part, 1, part.iov_len))
            sched_yield();
    }
    return arg;
}

static const char *read_all(void)
{
    sk_ring_reader r = {.bytes = bytes, .done = &done};
    for (unsigned i = 0; i < PACKETS;) {
        const unsigned char *data;
        size_t len;
        int got = sk_ring_front(&r, (const void **)&data, &len);
        if (got < 0)
            return "a record is broken";
        if (got == 0) {
            sched_yield();
            continue;
        }
        if (len != len_of(i))
            return "a packet has the wrong length";
        for (size_t k = 0; k < len; k++)
            if (data[k] != i % 251)
                return "a packet has the wrong bytes";
        sk_ring_pop(&r, len);
        i++;
    }
    return NULL;
}

int main(void)
{
    pthread_t writer;
    if (pthread_create(&writer, NULL, write_all, NULL) != 0)
        return 2;
    const char *wrong = read_all();
    if (wrong)
        printf("# %s\n", wrong);
    else
        pthread_join(writer, NULL);
    tap_ok(!wrong, "ring_keeps_order_between_threads");
    return tap_end();
}
