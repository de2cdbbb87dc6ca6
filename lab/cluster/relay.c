/* relay.c: the switch of a cluster whose packets take time: relay HOSTS MICROSECONDS READY
 *
 * For kernels without netem. Host i gets the TAP device h<i>, to be moved into its namespace, and the
 * address 02:00:00:00:00:<i>, so that the last byte of a frame's destination says where it goes. A
 * frame waits its time in a ring and is then written to its host, or to all for a broadcast. The
 * time is the same for all frames, so they leave in the order in which they came. A full ring drops
 * frames, as a switch does. Frames may be as long as the kernel's largest segment (virtio header):
 * nothing is cut into packets here. Creates the file READY when the devices are there. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { MAX_HOSTS = 254, MAX_FRAME = (1 << 16) + 64, RING = 4096 };

typedef struct frame {
    int64_t leaves_at; /* ns */
    int from;
    ssize_t length;
    unsigned char bytes[MAX_FRAME]; /* virtio header, frame */
} frame;

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int open_tap(int host)
{
    struct ifreq r = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
    snprintf(r.ifr_name, sizeof r.ifr_name, "h%d", host);
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &r) != 0 ||
        ioctl(fd, TUNSETOFFLOAD, (unsigned long)(TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6)) != 0) {
        perror("relay: /dev/net/tun");
        exit(1);
    }
    return fd;
}

/* Writes a frame to its host or, if it is for many, to all but its own. */
static void deliver(const struct pollfd *taps, int n, const frame *f)
{
    const unsigned char *to = f->bytes + sizeof(struct virtio_net_hdr);
    for (int i = 0; i < n; i++)
        if (i != f->from && (to[0] & 1 || to[5] == i + 1) &&
            write(taps[i].fd, f->bytes, (size_t)f->length) < 0)
            continue; /* the host is down, or slow: the frame is lost */
}

int main(int argc, char **argv)
{
    static struct pollfd taps[MAX_HOSTS];
    int n = argc == 4 ? atoi(argv[1]) : 0;
    int64_t delay = argc == 4 ? atoll(argv[2]) * 1000 : 0;
    frame *ring = calloc(RING, sizeof *ring);
    if (n < 1 || n > MAX_HOSTS || !ring)
        return 2;
    for (int i = 0; i < n; i++)
        taps[i] = (struct pollfd){.fd = open_tap(i + 1), .events = POLLIN};
    prctl(PR_SET_TIMERSLACK, 1UL); /* else a wait of 30 us takes 80 */
    close(creat(argv[3], 0600));
    for (uint64_t head = 0, tail = 0;;) { /* ring[tail..head) wait */
        int64_t left = tail < head ? ring[tail % RING].leaves_at - now() : INT64_C(1000000000);
        struct timespec most = {left / 1000000000, left > 0 ? left % 1000000000 : 0};
        if (left > 0 && ppoll(taps, (nfds_t)n, &most, NULL) < 0 && errno != EINTR)
            return 1;
        for (bool any = true; any && head - tail < RING;) {
            any = false;
            for (int i = 0; i < n && head - tail < RING; i++) {
                frame *f = &ring[head % RING];
                f->length = read(taps[i].fd, f->bytes, sizeof f->bytes);
                if (f->length < (ssize_t)sizeof(struct virtio_net_hdr) + 6)
                    continue;
                f->leaves_at = now() + delay;
                f->from = i;
                head++;
                any = true;
            }
        }
        for (; tail < head && ring[tail % RING].leaves_at <= now(); tail++)
            deliver(taps, n, &ring[tail % RING]);
    }
}
