/* setup.h: set-ups: the ranks of a communicator with a topology agree on patterns (see topo.h). */
#ifndef SK_SETUP_H
#define SK_SETUP_H

#include "mpi/state/topo.h"

enum {
    SK_SETUP_OWN_TAGS = 4,                              /* of its own collectives */
    SK_SETUP_TAGS = SK_SETUP_OWN_TAGS + 2 * SK_NMETHODS /* consecutive tags that a set-up uses */
};

/* Progress set-up `number` without waiting, or with `block` also by waiting inside the host:
 * SK_AGAIN, SK_OK when it is done, or an error. The process lock is held. */
sk_status sk_setup_poll(sk_topo *t, sk_comm *c, int number, bool block);

/* Wait until all requested set-ups are done and the calls that waited for them have their plans.
 * The process lock is not held. */
sk_status sk_setup_wait(sk_topo *t, sk_comm *c);

#endif
