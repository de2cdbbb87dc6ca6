/* deferred.h: types and operations that the user frees while a collective still needs them. */
#ifndef SK_DEFERRED_H
#define SK_DEFERRED_H

#include "mpi/state/host.h"

/* The user frees a type or an operation. True: a collective still needs it, and it is freed later.
 */
bool sk_defer_type_free(MPI_Datatype type);
bool sk_defer_op_free(MPI_Op op);

/* After the end of a collective: free what nobody needs any more. */
void sk_free_deferred(void);

#endif
