/* lane_inner_probe.c: find out that a peer is dead when the provider does not say. ofi_rxm connects
 * on the first send and, when that is refused, again on the next, for ever: to us a dead process
 * looks like a busy one, which takes nothing now. So a peer that has taken nothing for a while is
 * called on its own port: a process that is there, however busy, has a kernel that answers. Only
 * for names that are addresses of IP over TCP; other providers have means of their own. */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fabric/lane_inner.h"

enum { PATIENCE_MS = 300, PAUSE_MS = 1000 };

int64_t sk_inner_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1;
}

void sk_inner_moves(sk_inner *s, sk_inner_peer *p)
{
    if (!p->stuck)
        return;
    p->stuck = 0;
    s->nstuck--;
    if (p->probe >= 0)
        close(p->probe);
    p->probe = -1;
}

void sk_inner_sticks(sk_inner *s, sk_inner_peer *p)
{
    if (p->stuck)
        return;
    p->stuck = sk_inner_now();
    p->asked = 0;
    s->nstuck++;
}

/* Start to connect. */
static void probe_start(sk_inner_peer *p, const struct fi_info *info)
{
    bool six = info->addr_format == FI_SOCKADDR_IN6;
    int fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    struct sockaddr_in6 to; /* the larger of the two */
    memcpy(&to, p->name, sizeof to);
    p->probe = fd;
    /* The answer, also one that is there at once, is read from the socket. */
    (void)connect(fd, (struct sockaddr *)&to,
                  six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
}

/* The answer: 0: none yet, or it lives; or a negative errno. */
static int probe_answer(sk_inner_peer *p)
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

void sk_inner_probe(sk_inner *s)
{
    const struct fi_info *info = s->info;
    if (!over_tcp(info))
        return;
    int64_t now = sk_inner_now();
    if (now == s->probed)
        return;
    s->probed = now;
    for (uint32_t i = 0; i < s->npeers; i++) {
        sk_inner_peer *p = &s->peers[i];
        if (!p->stuck || now - p->stuck < PATIENCE_MS)
            continue;
        if (p->probe < 0 && (!p->asked || now - p->asked > PAUSE_MS)) {
            p->asked = now;
            probe_start(p, info);
        }
        int err = p->probe < 0 ? 0 : probe_answer(p);
        if (err)
            sk_inner_lose(s, i, err);
    }
}
