/* meeting.h: nonblocking calls on a communicator are compared at the next blocking call on it (guarded.h). Many programs
 * make none there, but on the communicator that it was made of: they exchange halos on a grid and reduce the residual over
 * MPI_COMM_WORLD. So the ranks meet there, now and then, for all communicators with the same ranks.
 *
 * Why that is right. A rank may come to a blocking call on one communicator before or after its calls on another, so
 * the ranks cannot know who has made how many there. They meet at calls that are the same on all ranks by the order of the
 * calls on the communicator where they meet (sk_guarded_naps), whatever they have to say. Each rank tells the state of the
 * first communicator that waits for an agreement: its number and a number for all that says who serves its next calls, in
 * which every call counts that depends on what may be agreed (sk_guard_state). Only if all ranks tell the same the agreement
 * takes place, and each goes on from it with the next call. Else everything stays as it is. Nobody waits for a rank that does
 * not make the same blocking call. Where threads make calls on other communicators at the same time, a rank has nothing to
 * say. */
#ifndef SK_MEETING_H
#define SK_MEETING_H

#include "mpi/state/comm.h"

/* All ranks have made `made` of `comm`. */
void sk_meeting_made(MPI_Comm comm, MPI_Comm made);

/* All ranks are in the same blocking call. True: something was agreed, on all ranks. */
bool sk_meet(sk_comm *c);

/* A blocking call on the communicator itself, in which nonblocking ones are settled. All ranks have made the same calls
 * before it, so all wait for the same set-ups; what goes wrong in there the next neighbourhood collective says. */
void sk_meet_here(sk_comm *c);

#endif
