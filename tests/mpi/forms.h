/* forms.h: the parts of forms.c about what is the program's own. */
#ifndef FORMS_H
#define FORMS_H

#include <mpi.h>

void handles_may_be_freed_after_the_start(void);
void wildcards_see_no_collective(MPI_Comm c);
void blocks_may_follow_bottom(void);
void generalized_requests_are_left_alone(void);

#endif
