/* common_circle.h: a rank's group of friends, how it grows, how it divides its common neighbours,
 * and what that means for the rank's pattern. Only for the files common*.c.
 *
 * Two friends are a group; two groups join if they have enough targets in common, up to K members.
 * So a rank's groups are nested. What all members have in common is divided among all, the rest of
 * what the group had before the last joining among that group, and so on inwards: the members of
 * the inner group exchange their blocks anyway. */
#ifndef SK_COMMON_CIRCLE_H
#define SK_COMMON_CIRCLE_H

#include "neighbor/common_matrix.h"
#include "neighbor/method.h"

enum { SK_MOST_ROUNDS = 6, SK_MOST_LEVELS = 4 };

typedef struct sk_rules {
    int theta;
    int most;   /* ranks in a group, K */
    int rounds; /* of joining in an iteration: log2 K, rounded up */
    int levels; /* how often bundles are combined */
} sk_rules;

sk_rules sk_rules_of(const sk_pattern_opts *o);

/* When K is no power of two, some ranks are left alone in the first round, so that there are
 * groups of different sizes that add up to K. Another choice in each iteration. */
bool sk_rules_rest(const sk_rules *r, int rank, int iteration);

typedef struct sk_circle {
    int *member; /* this rank first; room for K */
    int leader;  /* the lowest rank of the group */
    int depth;
    int size[SK_MOST_ROUNDS + 1]; /* group d is the first size[d] members; size[0] is 1 */
} sk_circle;

sk_status sk_circle_room(sk_circle *c, sk_arena *a, const sk_rules *r, int rank);
void sk_circle_begin(sk_circle *c); /* alone again */
void sk_circle_join(sk_circle *c, const int *member, int n);
static inline int sk_circle_size(const sk_circle *c)
{
    return c->size[c->depth];
}

/* Whom the matrix offers: in the first round the friends that do not rest; later the leaders of
 * groups that would fit. First close, then open for each leader of a group. */
void sk_circle_offer_first(const sk_rules *r, sk_matrix *m, int iteration);
int sk_circle_close(const sk_circle *c, sk_matrix *m); /* the group's own common targets */
void sk_circle_open(const sk_rules *r, const sk_circle *c, sk_matrix *m, int common, int column,
                    const int *member, int n);

/* Sets fate and depth of every row. */
void sk_circle_divide(const sk_circle *c, sk_matrix *m);

/* The pattern of the rank: what it exchanges with its group, all that a bundle holds to or from a
 * peer. */
void sk_circle_exchange(const sk_circle *c, const sk_matrix *m, int stage, sk_pattern *p);
void sk_holder_send(const sk_holder *b, int stage, int peer, int dst, sk_pattern *p);
void sk_holder_recv(const sk_holder *b, int stage, int peer, int dst, sk_pattern *p);
/* What remains goes straight to its target. */
void sk_matrix_deliver(const sk_matrix *m, int stage, sk_pattern *p);

#endif
