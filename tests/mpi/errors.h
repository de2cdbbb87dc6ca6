/* errors.h: the parts of errors.c that need more than one call. */
#ifndef ERRORS_H
#define ERRORS_H

#include "coll.h"

void truncation_is_reported(void);
void own_blocks_of_two_lengths(void); /* last: a host may be out of order afterwards */
void errors_are_raised_once(void);    /* likewise */
void intercommunicators_work(void);
void communicators_leave_no_memory_behind(int loops);

#endif
