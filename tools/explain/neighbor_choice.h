/* neighbor_choice.h: which method serves a neighbourhood collective, and why. */
#ifndef SK_EXPLAIN_NEIGHBOR_CHOICE_H
#define SK_EXPLAIN_NEIGHBOR_CHOICE_H

#include "tuned.h"

/* Prints it: forced, by the tuning file where `may_tune`, or `cheapest`, that of the model. */
void sk_explain_neighbor_choice(const sk_select *select, const sk_tool_tuning *tuning,
                                const sk_tuned *call, bool may_tune, const char *cheapest);

#endif
