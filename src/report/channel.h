/* channel.h: how the ranks of a job tell `skein run` what they see.
 *
 * `skein run` listens on a datagram socket in the abstract name space, whose name it puts into the
 * environment. So nothing is left behind, and only processes of its node reach it: for ranks on other
 * nodes nobody listens. A rank whose calls are reported sends the memory of its counts along (a memfd):
 * `skein run` can read them even if the rank is killed. */
#ifndef SK_CHANNEL_H
#define SK_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Not a setting, and therefore no SKEIN_ name: those are checked. */
#define SK_CHANNEL_VAR "_SKEIN_RUN"

typedef enum sk_news_kind {
    SK_NEWS_START, /* MPI was initialised; the counts may come along */
    SK_NEWS_OFF,   /* the same, but SKEIN=off */
    SK_NEWS_ABORT, /* MPI_Abort */
    SK_NEWS_END,   /* MPI_Finalize; the report is written */
    SK_NNEWS
} sk_news_kind;

typedef struct sk_news {
    uint32_t kind;
    int32_t rank, nranks; /* in MPI_COMM_WORLD; 0 where they are not known */
    int32_t collectives;  /* END: 1 if the rank made any */
    uint64_t layout;      /* START: sk_report_layout of the counts */
} sk_news;

/* Tell `skein run`. `fd` goes along unless it is -1. False: nobody listens. */
bool sk_channel_send(const sk_news *n, int fd);

/* The address of a channel, and its length. */
static inline socklen_t sk_channel_address(const char *name, struct sockaddr_un *to)
{
    size_t n = 0;
    *to = (struct sockaddr_un){.sun_family = AF_UNIX};
    while (name[n] && n + 1 < sizeof to->sun_path) {
        to->sun_path[n + 1] = name[n]; /* the first byte is 0: abstract */
        n++;
    }
    return (socklen_t)(sizeof to->sun_family + 1 + n);
}

#endif
