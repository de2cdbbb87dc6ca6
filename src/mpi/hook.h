/* hook.h: let the host's progress engine progress Skein's collectives as well, where it can. */
#ifndef SK_HOOK_H
#define SK_HOOK_H

#include <stdbool.h>

void sk_hook_in(void); /* from the first collective that outlives its call on */
void sk_hook_out(void);

/* Does Skein's progress go on inside the host's blocking calls? */
bool sk_hook_works(void);

#endif
