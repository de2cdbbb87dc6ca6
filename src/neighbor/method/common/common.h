/* common.h: what the files of this folder share.
 *
 *   common.c       the method, and the prediction of its load
 *   bit_planes.c   many small counts at once
 *   core.c         the state of one rank: who holds which blocks, the matrix of common neighbours,
 *                  groups of friends, and the search for a friend (Algorithm 2)
 *   plan.c         all ranks at once, from the global graph
 *   negotiation.c  one rank, by messages */
#ifndef SK_COMMON_H
#define SK_COMMON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "neighbor/method.h"

/* The two forms of the method. */
sk_status sk_common_plan(const sk_global_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                         const int *ranks, int n, sk_pattern **out);
sk_negotiator *sk_common_negotiator_new(const sk_graph *g, const sk_machine *m,
                                        const sk_pattern_opts *o);

/* ---- sets as bits, and counts as bit planes ---- */

static inline int sk_bits_words(int n)
{
    return (n + 63) / 64;
}

static inline bool sk_bits_has(const uint64_t *set, int i)
{
    return set[i >> 6] >> (i & 63) & 1;
}

static inline void sk_bits_add(uint64_t *set, int i)
{
    set[i >> 6] |= (uint64_t)1 << (i & 63);
}

static inline void sk_bits_remove(uint64_t *set, int i)
{
    set[i >> 6] &= ~((uint64_t)1 << (i & 63));
}

bool sk_bits_any(const uint64_t *set, int words);
int sk_bits_next(const uint64_t *set, int words, int from); /* first at or after `from`; -1 */

/* Plane k holds bit k of every count. Adding a row of bits to all counts, and finding the largest of a
 * set, then cost a few operations for 64 of them. */
typedef struct sk_bit_planes {
    int n, words; /* planes; words in each */
    uint64_t *at; /* words * n: the planes of a word are adjacent */
} sk_bit_planes;

int sk_bit_planes_for(int most); /* planes that hold counts up to `most` */

/* Sets the counts to the sum of n rows of bits. */
void sk_bit_planes_sum(sk_bit_planes *p, uint64_t *const *rows, int n);
void sk_bit_planes_put(sk_bit_planes *p, int i, unsigned count);
unsigned sk_bit_planes_get(const sk_bit_planes *p, int i);

/* The set of counts that are at least `least` > 0. */
void sk_bit_planes_at_least(const sk_bit_planes *p, unsigned least, uint64_t *set);

/* Of the members of `set` in word w: those with the largest count, and that count. */
uint64_t sk_bit_planes_top(const sk_bit_planes *p, int w, uint64_t set, unsigned *count);

/* ---- holders: who holds which blocks for one target ----
 *
 * At first every source holds its own block. When friends combine, one of them holds the blocks of
 * all. */

enum { SK_MAX_FRIENDS = 64 }; /* members of a group */

typedef struct sk_holder {
    int rank, n;
    const int *src; /* the sources of its n blocks */
} sk_holder;

typedef struct sk_holder_list {
    int n;
    sk_holder *holder; /* by rank, ascending, once sorted */
} sk_holder_list;

/* Each source holds its own block. `sources` is borrowed. */
sk_status sk_holder_list_init(sk_holder_list *h, sk_arena *a, const int *sources, int n);
sk_status sk_holder_list_reserve(sk_holder_list *h, sk_arena *a, int n); /* empty, capacity n */

/* Adds a holder: `holder` gets what the members hold in `from`. */
sk_status sk_holder_list_combine(sk_holder_list *h, sk_arena *a, int holder,
                                 const sk_holder_list *from, const int *member, int n);
void sk_holder_list_sort(sk_holder_list *h);
const sk_holder *sk_holder_list_find(const sk_holder_list *h, int rank); /* NULL: it holds none */

/* The contents of a message. The caller frees the words; `head` is the first of them. */
sk_status sk_holder_list_pack(const sk_holder_list *h, int32_t head, int32_t **words, size_t *n);
sk_status sk_holder_list_unpack(sk_holder_list *h, sk_arena *a, int nranks, const int32_t *words,
                                size_t n);

/* All that a holder has for dst, to or from a peer, into a pattern. */
void sk_holder_send(const sk_holder *b, int stage, int peer, int dst, sk_pattern *p);
void sk_holder_recv(const sk_holder *b, int stage, int peer, int dst, sk_pattern *p);

/* ---- the matrix of common neighbours of one rank: M in the paper ----
 *
 * It has a row for each active target of the rank, with the ranks that are active for this target too,
 * as bits. Ranks that can never become friends, since they began with too few targets in common, have
 * no column. */

/* Values of sk_common_matrix.carrier that are no rank. SK_IN_EXCHANGE: the target is a friend itself,
 * so its block is part of the exchange between friends. */
enum { SK_NOT_COMBINED = -1, SK_IN_EXCHANGE = -2 };

typedef struct sk_common_matrix {
    int rank;
    int nrows;
    int *target;                    /* of each row, ascending */
    const sk_holder_list **holders; /* of each row: who holds what for the target */
    uint64_t **bits;                /* NULL until fill_own or fill_shared is called */
    int *carrier;                   /* of each row: which friend takes it over */
    int *depth;                     /* of each row: which of the nested groups the carrier is in */
    int *selected;                  /* scratch: a list of rows */
    uint64_t **selected_bits;       /* scratch: their bits */

    int ncolumns, words;
    const int *column_rank; /* ascending; NULL: column i is rank i */
    sk_bit_planes counts;   /* common targets with each column */
    uint64_t *friends;      /* columns with at least theta of them */
    uint64_t *eligible;     /* columns that Algorithm 2 may choose */
} sk_common_matrix;

void sk_sort_ranks(int *list, int n);

/* `target` is ascending and borrowed; holders[d] are those of target d. NULL: they come later. */
sk_common_matrix *sk_common_matrix_new(sk_arena *a, int rank, int *target, int n,
                                       const sk_holder_list *holders);

/* Bits of its own. `count`: one per rank, all zero before and after. */
sk_status sk_common_matrix_fill_own(sk_common_matrix *m, sk_arena *a, int theta, int *count);
/* Bits shared by all matrices: columns[d * words] for target d. */
sk_status sk_common_matrix_fill_shared(sk_common_matrix *m, sk_arena *a, int nranks,
                                       uint64_t *columns);

static inline int sk_common_matrix_rank(const sk_common_matrix *m, int column)
{
    return m->column_rank ? m->column_rank[column] : column;
}
int sk_common_matrix_column(const sk_common_matrix *m, int rank); /* -1: has none */
int sk_common_matrix_row(const sk_common_matrix *m, int target);  /* -1: not active */

/* Counts the common targets. Friends become eligible; true when there are any. */
bool sk_common_matrix_count(sk_common_matrix *m, int theta);

void sk_common_matrix_drop(sk_common_matrix *m, int target, int rank); /* no longer active for it */
void sk_common_matrix_compact(sk_common_matrix *m); /* only rows without a carrier remain */

/* The rows that remain are sent directly to their targets. */
void sk_common_matrix_deliver(const sk_common_matrix *m, int stage, sk_pattern *p);

/* ---- groups of friends ----
 *
 * Two friends are a group. Two groups join if they have enough targets in common, up to K members. So
 * the groups of a rank are nested. Targets that all members have in common are divided among all
 * members; of the rest, those common to the group before the last join are divided among that group,
 * and so on inwards: the members of an inner group exchange their blocks in any case. */

enum { SK_MAX_ROUNDS = 6, SK_MAX_LEVELS = 4 };

typedef struct sk_friend_rules {
    int theta;
    int group_max; /* ranks in a group, K */
    int rounds;    /* of joining in an iteration: log2 K, rounded up */
    int levels;    /* how often combined blocks are combined again */
} sk_friend_rules;

sk_friend_rules sk_friend_rules_of(const sk_pattern_opts *o);

typedef struct sk_friend_group {
    int *member; /* this rank first; capacity K */
    int leader;  /* the lowest rank of the group */
    int depth;
    int size[SK_MAX_ROUNDS + 1]; /* nested group d is the first size[d] members; size[0] is 1 */
} sk_friend_group;

sk_status sk_friend_group_init(sk_friend_group *c, sk_arena *a, const sk_friend_rules *r, int rank);
void sk_friend_group_reset(sk_friend_group *c); /* this rank alone */
void sk_friend_group_join(sk_friend_group *c, const int *member, int n);
static inline int sk_friend_group_size(const sk_friend_group *c)
{
    return c->size[c->depth];
}

/* Which columns are eligible: in the first round the friends that do not sit out. In later rounds the
 * leaders of groups that fit: first count_common, which returns the number of targets common to this
 * group, then offer for each leader of another group. */
void sk_friend_group_offer_first(const sk_friend_rules *r, sk_common_matrix *m, int iteration);
int sk_friend_group_count_common(const sk_friend_group *c, sk_common_matrix *m);
void sk_friend_group_offer(const sk_friend_rules *r, const sk_friend_group *c, sk_common_matrix *m,
                           int common, int column, const int *member, int n);

/* Sets carrier and depth of every row. */
void sk_friend_group_divide(const sk_friend_group *c, sk_common_matrix *m);

/* What the rank exchanges with its group, into its pattern. */
void sk_friend_group_exchange(const sk_friend_group *c, const sk_common_matrix *m, int stage,
                              sk_pattern *p);

/* ---- the search of one rank for a friend: Algorithm 2 ----
 *
 * It does not know how the rank hears from the others. Columns of the matrix stand for ranks. One try:
 * all ranks choose; each hears who chose it; those who chose each other are paired; paired and terminal
 * ranks tell their friends, and stop. (Line 14 of the paper is read as "if no friends are left", as its
 * text has it.) The number of tries is bounded. A rank that has found nobody by then waits for the next
 * iteration of Algorithm 1, in which there is less competition. */

enum { SK_MAX_TRIES = 32 };

typedef struct sk_friend_search {
    const sk_common_matrix *m;
    uint64_t
        *searching; /* friends that are neither paired nor terminal: they are told of choices */
    uint64_t *candidates; /* F in the paper: those of them not given up */
    int choice;           /* p' in the paper, a column */
    int proposer;         /* the best lower rank in F that chose this one in the last try; -1 */
    bool paired, terminal;
} sk_friend_search;

sk_status sk_friend_search_init(sk_friend_search *s, sk_arena *a, const sk_common_matrix *m);
void sk_friend_search_begin(sk_friend_search *s);  /* among the eligible columns */
void sk_friend_search_choose(sk_friend_search *s); /* lines 3 to 22: sets choice, or terminal */
void sk_friend_search_chosen_by(sk_friend_search *s,
                                int column); /* lines 24 and 11: after all chose */
void sk_friend_search_remove(sk_friend_search *s,
                             int column); /* line 28: it is paired or terminal */
void sk_friend_search_remove_all(sk_friend_search *s, const uint64_t *removed); /* a set of ranks */

#endif
