/* transports.h: ways on which Open MPI's messages can go, and how to ask for each. */
#ifndef SK_TRANSPORTS_H
#define SK_TRANSPORTS_H

#include "strlist.h"

typedef struct sk_transport {
    const char *name, *title;
    const char *arguments; /* of mpirun, separated by blanks */
    const char *variables; /* NAME=VALUE of the ranks' environment, separated by blanks */
    bool provider;         /* needs libskein-fi.so, and matches by an engine */
} sk_transport;

const sk_transport *sk_transport_get(int i); /* NULL past the end */
const sk_transport *sk_transport_find(const char *name);

/* mpirun's options. `library`: libskein-fi.so; `engine`: NULL: the default. */
void sk_transport_add(sk_strlist *command, const sk_transport *t, const char *library,
                      const char *engine);

#endif
