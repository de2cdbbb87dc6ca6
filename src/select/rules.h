/* rules.h: which algorithm is best for which size and number of ranks, as a table. */
#ifndef SK_RULES_H
#define SK_RULES_H

#include "base/settings.h"
#include "coll/call.h"

typedef enum sk_rule_need {
    SK_ANY,
    SK_POWER_OF_TWO,
    SK_EVEN,
    SK_COMMUTES,
    SK_SHARED, /* all ranks share the memory of one node */
    SK_NODES,  /* several nodes, one of them with several ranks */
} sk_rule_need;

/* What of the call is compared with the cutoff: its bytes (see colls.def), all blocks of a rank, or
 * all blocks of all ranks. */
typedef enum sk_rule_measure { SK_PLAIN, SK_BLOCKS, SK_MATRIX } sk_rule_measure;

/* A row holds when all its conditions do. SK_SET_ENABLE, the zero, stands for no condition. */
typedef struct sk_rule {
    sk_coll coll;
    const char *algo;
    sk_setting bytes; /* from this cutoff on */
    sk_setting under; /* below this one only */
    sk_rule_measure measure;
    sk_setting ranks; /* from this number on */
    sk_rule_need need;
} sk_rule;

/* For each collective, the first row that holds names the algorithm, or the host MPI
 * (SK_RULE_HOST). Ended by a NULL name. */
#define SK_RULE_HOST "host"
const sk_rule *sk_rules(void);

typedef enum sk_rule_result {
    SK_HOLDS,
    SK_WRONG_SIZE,
    SK_WRONG_KIND,
    SK_WRONG_PLACE, /* for another machine: not worth a word */
} sk_rule_result;

/* Do the conditions of a row hold? `why` gets all of them, or the first that fails (its size and
 * ranks, or its need). Empty when the row has none. */
sk_rule_result sk_rule_check(const sk_rule *r, const sk_settings *s, const sk_call *c, char *why,
                             size_t size);

/* Bytes from which reduce-scatter no longer sends whole vectors, on p ranks. */
int64_t sk_reduce_scatter_cutoff(int p);

#endif
