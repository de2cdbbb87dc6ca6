/* forms.h: a case as a call: MPI_X, MPI_Ix or MPI_X_init (Skein when it is loaded), and the same of
 * the host MPI by their PMPI_ names, requests included. */
#ifndef SK_BENCH_FORMS_H
#define SK_BENCH_FORMS_H

#include "bench/mpi/calls.h"

/* Whether the host has the form. */
bool sk_form_exists(sk_form form);

/* A side calls on this communicator from now on. Collective; persistent: makes the request. */
void sk_case_bind(sk_case *c, bool host, MPI_Comm comm);
void sk_case_unbind(sk_case *c, bool host);

/* A new communicator of all ranks, with the topology that the case needs. Collective. */
MPI_Comm sk_case_new_comm(const sk_case *c, bool host);
void sk_case_free_comm(MPI_Comm comm, bool host);

/* Programs that start collectives also make blocking ones, in which the ranks agree who serves the others: one on Skein's
 * communicator, if the form is nonblocking. */
void sk_case_agree(const sk_case *c);

/* The host's call if `host`, else Skein's. A blocking one is over after the start. */
void sk_case_start(sk_case *c, bool host);
void sk_case_wait(sk_case *c, bool host);
void sk_case_run(sk_case *c, bool host); /* both */

/* The host's blocking call, whatever the form of the case; global collectives only. */
void sk_case_run_blocking_host(sk_case *c);

#endif
