/* count.h: calls that the host serves, in the report: by reason, with their sizes and times.
 *
 * Without a report only the number of calls is counted. With one, a call is timed from where Skein
 * leaves it to the host until the host returns; of a nonblocking call that is its start. */
#ifndef SK_COUNT_H
#define SK_COUNT_H

#include "base/attr.h"
#include "mpi/dispatch/args.h"
#include "mpi/transport/hint.h"

/* With a report: the call goes to the host now. `c` may be NULL: the communicator is none. */
void sk_count_host_call(const sk_args *a, sk_comm *c, sk_host_reason why);

/* With a report: the host has returned. Nothing happens if the last call was not left to it. */
void sk_count_host_return(void);

/* Without a report. */
static inline void sk_count_pass(sk_coll coll, sk_host_reason why)
{
    sk_report_counter *counter =
        &sk_proc.host_counters[((int)coll * SK_NHOST_REASONS + (int)why) * SK_NSIZES];
    if (sk_proc.threads)
        sk_report_counter_add(counter, 0);
    else
        sk_report_counter_add_alone(counter, 0);
}

static inline void sk_count_host(const sk_args *a, sk_comm *c, sk_host_reason why)
{
    if (SK_UNLIKELY(sk_proc.reporting))
        sk_count_host_call(a, c, why);
    else
        sk_count_pass(a->coll, why);
}

/* `rc` is what the host returned. */
static inline int sk_count_over(int rc)
{
    if (SK_UNLIKELY(sk_proc.reporting))
        sk_count_host_return();
    return sk_hint_over(rc);
}

#endif
