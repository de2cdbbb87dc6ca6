#include "neighbor_choice.h"

#include <stdio.h>

void sk_explain_neighbor_choice(const sk_select *select, const sk_tool_tuning *tuning,
                                const sk_tuned *call, bool may_tune, const char *cheapest)
{
    const sk_algo *forced = sk_select_forced(select, call->coll);
    sk_choice c;
    if (!sk_select_enabled(select, call->coll))
        printf("chosen   the host MPI\nbecause  Skein is switched off for it\n");
    else if (forced)
        printf("chosen   %s\nbecause  it is forced\n", forced->name);
    else if (may_tune && sk_select_tuned_choice(select, call, &c))
        printf("chosen   %s%s\nbecause  %s\ntuning   %s: %s\n",
               c.host ? "the host MPI for blocking calls, for others " : "", c.algo->name, c.why,
               tuning->path, sk_tuning_machine(tuning->tuning, tuning->machine));
    else
        printf("chosen   %s\nbecause  it is the cheapest by the model\n", cheapest);
}
