/* status.h: the codes functions return. Zero is success; one table holds codes and texts. */
#ifndef SK_STATUS_H
#define SK_STATUS_H

#define SK_STATUS_TABLE(X)                                                                         \
    X(SK_OK, "success")                                                                            \
    X(SK_AGAIN, "not finished yet")                                                                \
    X(SK_NOMEM, "out of memory")                                                                   \
    X(SK_BADARG, "invalid argument")                                                               \
    X(SK_TOOBIG, "a size does not fit its field")                                                  \
    X(SK_DEADLOCK, "ranks wait for each other for ever")                                           \
    X(SK_TRUNCATE, "a message is longer than its receive")                                         \
    X(SK_WIRE, "the transport reported an error")

typedef enum sk_status {
#define X(code, text) code,
    SK_STATUS_TABLE(X)
#undef X
} sk_status;

const char *sk_status_text(sk_status st);

#endif
