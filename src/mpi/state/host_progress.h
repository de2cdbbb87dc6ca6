/* host_progress.h: make the host's progress engine progress Skein's collectives as well, where that
 * is possible. */
#ifndef SK_HOST_PROGRESS_H
#define SK_HOST_PROGRESS_H

#include <stdbool.h>

void sk_host_hook_install(void); /* from the first collective on that outlives its call */
void sk_host_hook_remove(void);

/* Do Skein's collectives progress inside the host's blocking calls? */
bool sk_host_hook_available(void);

#endif
