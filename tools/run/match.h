/* match.h: `--match`: may the job use Skein's provider? */
#ifndef SK_RUN_MATCH_H
#define SK_RUN_MATCH_H

#include "run/plan.h"
#include "run/preload.h"

/* *with: yes, by *f. When the MPI cannot, says so and leaves it at that, or refuses if a
 * trace is wanted; when the user's own settings contradict, refuses. `from`: a file that loads the
 * MPI; `l`: NULL without a launcher. Returns 0, or the exit status after a refusal. */
int sk_match_decide(sk_arena *a, const sk_run_options *o, sk_flavour mpi, const char *from,
                    const sk_launch *l, sk_fabric *f, bool *with);

/* Whether there is an engine of that name; an empty one is the default's. */
int sk_match_check_engine(const char *name);

#endif
