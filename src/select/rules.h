/* rules.h: whether a rule of an algorithm holds for a call, and the words for it. The rules are in
 * the files of the algorithms; their order is that of coll/algos.def. */
#ifndef SK_RULES_H
#define SK_RULES_H

#include "coll/algo.h"

typedef enum sk_rule_result {
    SK_RULE_HOLDS,
    SK_RULE_WRONG_SIZE,    /* too few bytes or ranks, or too many bytes */
    SK_RULE_WRONG_KIND,    /* another kind of call */
    SK_RULE_WRONG_MACHINE, /* another machine, or no rule at all: not worth a word */
} sk_rule_result;

/* `why` gets all conditions if the rule holds, otherwise the first one that fails. It is empty
 * where there is nothing to say. `size` 0: no words. */
sk_rule_result sk_rule_check(const sk_rule *r, const sk_settings *s, const sk_call *c, char *why,
                             size_t size);

/* The rule does not hold, but for another size it would: is the call's within a factor of four, or its time by
 * single copy within a factor of two? */
bool sk_rule_nearly_holds(const sk_rule *r, const sk_settings *s, const sk_call *c);

/* The rule holds from some size on, and the call is much longer: nothing for shorter ones is near. */
bool sk_rule_holds_by_far(const sk_rule *r, const sk_settings *s, const sk_call *c);

#endif
