/* copy_prices.h: what copies between two processes cost on this machine, measured as MPI_Init does. */
#ifndef SK_TOOL_COPY_PRICES_H
#define SK_TOOL_COPY_PRICES_H

#include "select/select.h"

/* Those of SKEIN_COPY; the others are measured. False: they could not be. */
bool sk_tool_copy_prices(const sk_select *s, sk_copy_prices *out);

#endif
