/* neighbor_errors.h: wrong calls of neighbourhood collectives. */
#ifndef NEIGHBOR_ERRORS_H
#define NEIGHBOR_ERRORS_H

void neighbor_errors(void);

#endif
