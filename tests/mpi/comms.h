/* comms.h: communicators of several kinds, made from one parent. */
#ifndef COMMS_H
#define COMMS_H

#include "testlib.h"

enum { NCOMMS = 9 };
const char *comms_name(int kind);

/* MPI_COMM_NULL where this rank is in none of that kind. */
typedef struct comms {
    MPI_Comm of[NCOMMS];
} comms;

void comms_make(comms *c, MPI_Comm parent);
void comms_free(comms *c);

#endif
