#include "report/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 100 };

bool sk_channel_send(const sk_news *n, int fd)
{
    const char *name = getenv(SK_CHANNEL_VAR);
    if (!name || !*name)
        return false;
    int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (s < 0)
        return false;
    struct sockaddr_un to;
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec data = {.iov_base = (void *)n, .iov_len = sizeof *n};
    struct msghdr m = {.msg_name = &to, .msg_iov = &data, .msg_iovlen = 1};
    m.msg_namelen = sk_channel_address(name, &to);
    if (fd >= 0) {
        m.msg_control = &control;
        m.msg_controllen = sizeof control;
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    }
    /* The reader empties its queue all the time, unless it is stopped. */
    bool sent = false, again = true;
    for (int i = 0; i < TRIES && !sent && again; i++) {
        sent = sendmsg(s, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof *n;
        again = errno == EAGAIN || errno == EINTR;
        if (!sent && again)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    close(s);
    return sent;
}
