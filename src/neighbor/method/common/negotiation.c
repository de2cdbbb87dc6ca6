/* negotiation.c: one rank's part in the distributed protocol.
 *
 * An iteration of Algorithm 1 consists of steps. In each step a rank sends messages to some ranks, and
 * waits for one message from each rank that has something to tell it in this step:
 *
 *   lists      targets to their holders: who else holds blocks for me; in later iterations: who left
 *   groups     (second round on) to friends: the group that I lead, empty if I do not lead
 *   choice     to friends: Algorithm 2, line 23; repeated with `state`
 *   state      to friends: Algorithm 2, line 27
 *   joined     (second round on) leaders to their group: who joined
 *   decisions  holders to their targets: what becomes of the blocks that I hold for you
 *
 * A rank without friends takes part only as a target. Phases are numbered by level, iteration, round
 * and step, so ranks that skip some still agree on the numbers. */
#include <stdlib.h>
#include <string.h>

#include "neighbor/method/common/common.h"

typedef enum common_step {
    STEP_LISTS,
    STEP_GROUPS,
    STEP_CHOICE,
    STEP_STATE,
    STEP_JOINED,
    STEP_DECISIONS,
    NSTEPS
} common_step;

typedef struct common_negotiator {
    sk_negotiator base;
    const sk_graph *graph;
    sk_friend_rules rules;
    sk_pattern *pattern;

    int level, iteration, round, attempt;
    common_step step;
    int waiting; /* messages to come in this step */
    int32_t *words;

    sk_arena *arena; /* memory of this level */
    /* As a source. */
    sk_common_matrix *m;
    sk_holder_list *heard; /* of each row: the list that the target sent */
    sk_friend_search search;
    sk_friend_group group;
    int *friend_groups,
        *friend_group_size; /* by column: the group that the friend leads, K ranks */
    bool retired, retiring; /* it has no friends any more; since this iteration */
    /* As a target. */
    sk_holder_list mine; /* who holds blocks for this rank */
    uint8_t *state;      /* of each of them */
    int nactive;
    int *left; /* holders that left in this iteration */
    int nleft;

    sk_arena *next_arena; /* memory of the next level */
    int *onload;          /* targets for which this rank will hold combined blocks */
    int nonloads;
    sk_holder_list kept; /* what this rank will hold, by target */
    sk_holder_list next; /* what others will hold for it */
} common_negotiator;

/* State of a holder: undecided; it will deliver its blocks itself; it handed them to another. */
enum { HOLDER_ACTIVE, HOLDER_DELIVERS, HOLDER_LEFT };

/* Sends words[1 ... n] with the phase as words[0]. */
static sk_status send_words(common_negotiator *s, sk_channel *ch, int to, int n)
{
    s->words[0] = s->base.phase;
    return ch->send(ch, to, s->words, 1 + (size_t)n);
}

static sk_status begin_level(common_negotiator *s, int *target, int n)
{
    size_t many = (size_t)n, in = (size_t)s->mine.n;
    size_t longest = (in > SK_MAX_FRIENDS ? in : SK_MAX_FRIENDS) + 2;
    s->iteration = 0;
    s->retired = s->retiring = false;
    s->nactive = s->mine.n;
    s->nleft = s->nonloads = 0;
    s->next_arena = sk_arena_new();
    if (!s->next_arena)
        return SK_NOMEM;
    s->m = sk_common_matrix_new(s->arena, s->base.rank, target, n, NULL);
    s->heard = sk_arena_get(s->arena, many * sizeof *s->heard);
    s->state = sk_arena_get(s->arena, in);
    s->left = sk_arena_get(s->arena, in * sizeof *s->left);
    s->words = sk_arena_get(s->arena, longest * sizeof *s->words);
    s->onload = sk_arena_get(s->next_arena, many * sizeof *s->onload);
    if (!s->m || !s->heard || !s->state || !s->left || !s->words || !s->onload)
        return SK_NOMEM;
    sk_status st = sk_friend_group_init(&s->group, s->arena, &s->rules, s->base.rank);
    if (st == SK_OK)
        st = sk_holder_list_reserve(&s->kept, s->next_arena, n);
    return st == SK_OK ? sk_holder_list_reserve(&s->next, s->next_arena, s->mine.n) : st;
}

static sk_status finish(common_negotiator *s)
{
    for (int i = 0; i < s->kept.n; i++) {
        int dst = s->kept.holder[i].rank;
        sk_holder_send(&s->kept.holder[i], s->level, dst, dst, s->pattern);
    }
    for (int i = 0; i < s->next.n; i++)
        sk_holder_recv(&s->next.holder[i], s->level, s->next.holder[i].rank, s->base.rank,
                       s->pattern);
    sk_status st = sk_pattern_freeze(s->pattern);
    if (st != SK_OK)
        return st;
    s->base.made[SK_METHOD_COMMON] = s->pattern;
    s->pattern = NULL;
    s->base.done = true;
    return SK_OK;
}

static sk_status end_level(common_negotiator *s)
{
    for (int i = 0; i < s->mine.n; i++)
        if (s->state[i] == HOLDER_DELIVERS)
            sk_holder_recv(&s->mine.holder[i], s->level, s->mine.holder[i].rank, s->base.rank,
                           s->pattern);
    s->level++;
    if (s->level == s->rules.levels || (s->nonloads == 0 && s->next.n == 0))
        return finish(s);
    sk_arena_free(s->arena);
    s->arena = s->next_arena;
    s->next_arena = NULL;
    s->mine = s->next;
    sk_holder_list_sort(&s->mine);
    sk_sort_ranks(s->onload, s->nonloads);
    return begin_level(s, s->onload, s->nonloads);
}

/* ---- lists ---- */

static sk_status send_lists(common_negotiator *s, sk_channel *ch)
{
    sk_status st = SK_OK;
    s->waiting = s->retired ? 0 : s->m->nrows;
    if (s->iteration == 0) {
        int32_t *words;
        size_t n;
        st = sk_holder_list_pack(&s->mine, s->base.phase, &words, &n);
        if (st != SK_OK)
            return st;
        for (int i = 0; i < s->mine.n && st == SK_OK; i++)
            st = ch->send(ch, s->mine.holder[i].rank, words, n);
        free(words);
        return st;
    }
    for (int i = 0; i < s->nleft; i++)
        s->words[1 + i] = s->left[i];
    for (int i = 0; i < s->mine.n && st == SK_OK; i++)
        if (s->state[i] == HOLDER_ACTIVE)
            st = send_words(s, ch, s->mine.holder[i].rank, s->nleft);
    s->nleft = 0;
    return st;
}

static sk_status receive_list(common_negotiator *s, int from, const int32_t *words, size_t n)
{
    int row = sk_common_matrix_row(s->m, from);
    if (row < 0)
        return SK_WIRE;
    for (size_t i = 0; i < n && s->iteration > 0; i++)
        sk_common_matrix_drop(s->m, from, words[i]);
    if (s->iteration > 0)
        return SK_OK;
    s->m->holders[row] = &s->heard[row];
    sk_status st = sk_holder_list_unpack(&s->heard[row], s->arena, s->base.nranks, words, n);
    return st == SK_OK && !sk_holder_list_find(&s->heard[row], s->base.rank) ? SK_WIRE : st;
}

/* All lists of the level have arrived: fill the matrix. */
static sk_status make_matrix(common_negotiator *s)
{
    int *count = calloc((size_t)s->base.nranks, sizeof *count);
    sk_status st =
        count ? sk_common_matrix_fill_own(s->m, s->arena, s->rules.theta, count) : SK_NOMEM;
    free(count);
    if (st == SK_OK)
        st = sk_friend_search_init(&s->search, s->arena, s->m);
    if (st != SK_OK || s->rules.rounds == 1)
        return st;
    size_t columns = (size_t)s->m->ncolumns;
    s->friend_groups =
        sk_arena_get(s->arena, columns * (size_t)s->rules.group_max * sizeof *s->friend_groups);
    s->friend_group_size = sk_arena_get(s->arena, columns * sizeof *s->friend_group_size);
    return s->friend_groups && s->friend_group_size ? SK_OK : SK_NOMEM;
}

static sk_status after_lists(common_negotiator *s)
{
    sk_status st = s->iteration == 0 ? make_matrix(s) : SK_OK;
    if (st != SK_OK || s->retired)
        return st;
    sk_friend_group_reset(&s->group);
    s->round = 1;
    s->attempt = 0;
    s->retired = s->retiring = !sk_common_matrix_count(s->m, s->rules.theta);
    if (s->retired)
        return SK_OK;
    sk_friend_group_offer_first(&s->rules, s->m, s->iteration);
    sk_friend_search_begin(&s->search);
    return SK_OK;
}

/* Sends words[1 ... n] to all friends of a set; *many is their number. */
static sk_status send_to_set(common_negotiator *s, sk_channel *ch, const uint64_t *set, int n,
                             int *many)
{
    sk_status st = SK_OK;
    int words = s->m->words;
    *many = 0;
    for (int i = sk_bits_next(set, words, 0); i >= 0 && st == SK_OK;
         i = sk_bits_next(set, words, i + 1)) {
        st = send_words(s, ch, sk_common_matrix_rank(s->m, i), n);
        ++*many;
    }
    return st;
}

/* ---- choice and state: lines 23 and 27 ---- */

static sk_status send_choice(common_negotiator *s, sk_channel *ch)
{
    sk_friend_search_choose(&s->search);
    s->words[1] = s->search.terminal ? SK_PROC_NULL : sk_common_matrix_rank(s->m, s->search.choice);
    return send_to_set(s, ch, s->search.searching, 1, &s->waiting);
}

static sk_status receive_choice(common_negotiator *s, int from, const int32_t *words, size_t n)
{
    int column = sk_common_matrix_column(s->m, from);
    if (n != 1 || column < 0)
        return SK_WIRE;
    if (words[0] == SK_PROC_NULL)
        sk_friend_search_remove(&s->search, column);
    else if (words[0] == s->base.rank)
        sk_friend_search_chosen_by(&s->search, column);
    return SK_OK;
}

static sk_status send_state(common_negotiator *s, sk_channel *ch)
{
    s->words[1] = s->search.paired;
    return send_to_set(s, ch, s->search.searching, 1, &s->waiting);
}

static sk_status receive_state(common_negotiator *s, int from, const int32_t *words, size_t n)
{
    int column = sk_common_matrix_column(s->m, from);
    if (n != 1 || column < 0)
        return SK_WIRE;
    if (words[0])
        sk_friend_search_remove(&s->search, column);
    return SK_OK;
}

/* ---- groups ---- */

/* Lists of ranks are copied from messages as they are. */
_Static_assert(sizeof(int32_t) == sizeof(int), "a word of a message holds a rank");

static sk_status send_groups(common_negotiator *s, sk_channel *ch)
{
    int n = s->group.leader == s->base.rank ? sk_friend_group_size(&s->group) : 0;
    memcpy(s->words + 1, s->group.member, (size_t)n * sizeof *s->words);
    return send_to_set(s, ch, s->m->friends, n, &s->waiting);
}

static sk_status receive_group(common_negotiator *s, int from, const int32_t *words, size_t n)
{
    int column = sk_common_matrix_column(s->m, from);
    if (column < 0 || n > (size_t)s->rules.group_max)
        return SK_WIRE;
    s->friend_group_size[column] = (int)n;
    memcpy(s->friend_groups + (size_t)column * (size_t)s->rules.group_max, words,
           n * sizeof *words);
    return SK_OK;
}

static void after_groups(common_negotiator *s)
{
    sk_common_matrix *m = s->m;
    if (s->group.leader != s->base.rank)
        return;
    int common = sk_friend_group_count_common(&s->group, m);
    for (int i = sk_bits_next(m->friends, m->words, 0); i >= 0;
         i = sk_bits_next(m->friends, m->words, i + 1))
        if (s->friend_group_size[i])
            sk_friend_group_offer(&s->rules, &s->group, m, common, i,
                                  s->friend_groups + (size_t)i * (size_t)s->rules.group_max,
                                  s->friend_group_size[i]);
    sk_friend_search_begin(&s->search);
}

/* The leader of a group knows which group joined; the other members wait for its message. */
static sk_status send_joined(common_negotiator *s, sk_channel *ch)
{
    sk_status st = SK_OK;
    int size = sk_friend_group_size(&s->group), n = 0;
    s->waiting = s->group.leader != s->base.rank;
    if (s->waiting)
        return SK_OK;
    if (s->search.paired) {
        size_t column = (size_t)s->search.choice;
        n = s->friend_group_size[column];
        memcpy(s->words + 1, s->friend_groups + column * (size_t)s->rules.group_max,
               (size_t)n * sizeof *s->words);
        sk_friend_group_join(&s->group, s->words + 1, n);
    }
    for (int i = 1; i < size && st == SK_OK; i++)
        st = send_words(s, ch, s->group.member[i], n);
    return st;
}

static sk_status receive_joined(common_negotiator *s, int from, const int32_t *words, size_t n)
{
    if (from != s->group.leader ||
        n > (size_t)(s->rules.group_max - sk_friend_group_size(&s->group)))
        return SK_WIRE;
    if (n)
        sk_friend_group_join(&s->group, words, (int)n);
    return SK_OK;
}

/* ---- decisions ---- */

/* What a holder decides about its blocks for a target. UNCHANGED: not yet. HANDED_OVER: a friend carries
 * them, or the target is a friend and gets them in the exchange. */
enum { UNCHANGED, DELIVERS, CARRIES, HANDED_OVER };

static sk_status send_retirement(common_negotiator *s, sk_channel *ch)
{
    sk_status st = SK_OK;
    sk_common_matrix_deliver(s->m, s->level, s->pattern);
    s->words[1] = DELIVERS;
    for (int i = 0; i < s->m->nrows && st == SK_OK; i++)
        st = send_words(s, ch, s->m->target[i], 1);
    s->retiring = false;
    return st;
}

static sk_status carry(common_negotiator *s, sk_channel *ch, int row)
{
    int target = s->m->target[row], n = s->group.size[s->m->depth[row]];
    s->onload[s->nonloads++] = target;
    sk_status st = sk_holder_list_combine(&s->kept, s->next_arena, target, s->m->holders[row],
                                          s->group.member, n);
    s->words[1] = CARRIES;
    for (int i = 0; i < n; i++)
        s->words[2 + i] = s->group.member[i];
    return st == SK_OK ? send_words(s, ch, target, 1 + n) : st;
}

static void exchange(common_negotiator *s)
{
    sk_friend_group_exchange(&s->group, s->m, s->level, s->pattern);
    for (int k = 1; k < sk_friend_group_size(&s->group); k++) {
        int from = s->group.member[k];
        const sk_holder *b = sk_holder_list_find(&s->mine, from);
        if (b && s->state[b - s->mine.holder] == HOLDER_ACTIVE)
            sk_holder_recv(b, s->level, from, s->base.rank, s->pattern);
    }
}

static sk_status send_decisions(common_negotiator *s, sk_channel *ch)
{
    sk_status st = SK_OK;
    s->waiting = s->nactive;
    if (s->retired)
        return s->retiring ? send_retirement(s, ch) : SK_OK;
    sk_friend_group_divide(&s->group, s->m);
    exchange(s);
    for (int i = 0; i < s->m->nrows && st == SK_OK; i++) {
        s->words[1] = s->m->carrier[i] == SK_NOT_COMBINED ? UNCHANGED : HANDED_OVER;
        st = s->m->carrier[i] == s->base.rank ? carry(s, ch, i)
                                              : send_words(s, ch, s->m->target[i], 1);
    }
    sk_common_matrix_compact(s->m);
    return st;
}

static sk_status receive_decision(common_negotiator *s, int from, const int32_t *words, size_t n)
{
    const sk_holder *b = sk_holder_list_find(&s->mine, from);
    uint8_t *state = b ? &s->state[b - s->mine.holder] : NULL;
    if (n == 0 || n - 1 > (size_t)s->rules.group_max || !state || *state != HOLDER_ACTIVE)
        return SK_WIRE;
    if (words[0] == UNCHANGED)
        return SK_OK;
    s->nactive--;
    *state = words[0] == DELIVERS ? HOLDER_DELIVERS : HOLDER_LEFT;
    if (words[0] != DELIVERS)
        s->left[s->nleft++] = from;
    return words[0] == CARRIES ? sk_holder_list_combine(&s->next, s->next_arena, from, &s->mine,
                                                        words + 1, (int)n - 1)
                               : SK_OK;
}

/* ---- phases ---- */

enum { ROUNDS = 8, STEPS = 128, ITERATIONS = 1 << 19 };
_Static_assert(SK_MAX_ROUNDS + 1 < ROUNDS && 2 * SK_MAX_TRIES + 2 < STEPS, "phases are distinct");
_Static_assert((int64_t)SK_MAX_LEVELS *ITERATIONS *ROUNDS *STEPS - 1 <= INT32_MAX,
               "phases fit a word");

static int phase_of(const common_negotiator *s)
{
    int round = s->round, step = 0;
    switch (s->step) {
    case STEP_LISTS:
        round = 0;
        break;
    case STEP_GROUPS:
        break;
    case STEP_CHOICE:
        step = 1 + 2 * s->attempt;
        break;
    case STEP_STATE:
        step = 2 + 2 * s->attempt;
        break;
    case STEP_JOINED:
        step = STEPS - 1;
        break;
    default:
        round = ROUNDS - 1;
    }
    return ((s->level * ITERATIONS + s->iteration) * ROUNDS + round) * STEPS + step;
}

/* ---- the order of the steps ---- */

static common_step next_round(common_negotiator *s)
{
    if (s->round == s->rules.rounds)
        return STEP_DECISIONS;
    s->round++;
    s->attempt = 0;
    return STEP_GROUPS;
}

/* This rank has stopped searching. In the first round both friends know of each other. In later rounds
 * their groups have to be told. */
static common_step after_search(common_negotiator *s)
{
    if (s->round > 1)
        return STEP_JOINED;
    int found = s->search.paired ? sk_common_matrix_rank(s->m, s->search.choice) : SK_PROC_NULL;
    if (found != SK_PROC_NULL)
        sk_friend_group_join(&s->group, &found, 1);
    return next_round(s);
}

static common_step after_state(common_negotiator *s)
{
    if (s->search.paired || s->attempt + 1 == SK_MAX_TRIES)
        return after_search(s);
    s->attempt++;
    return STEP_CHOICE;
}

static sk_status after_decisions(common_negotiator *s, common_step *next)
{
    *next = STEP_LISTS;
    if (s->retired && s->nactive == 0)
        return end_level(s);
    return ++s->iteration < ITERATIONS ? SK_OK : SK_TOOBIG;
}

static sk_status go_on(common_negotiator *s)
{
    sk_status st = SK_OK;
    common_step next = STEP_DECISIONS;
    switch (s->step) {
    case STEP_LISTS:
        st = after_lists(s);
        next = s->retired ? STEP_DECISIONS : STEP_CHOICE;
        break;
    case STEP_GROUPS:
        after_groups(s);
        next = s->group.leader == s->base.rank ? STEP_CHOICE : STEP_JOINED;
        break;
    case STEP_CHOICE:
        next = s->search.terminal ? after_search(s) : STEP_STATE;
        break;
    case STEP_STATE:
        next = after_state(s);
        break;
    case STEP_JOINED:
        next = next_round(s);
        break;
    default:
        st = after_decisions(s, &next);
    }
    s->step = next;
    if (!s->base.done)
        s->base.phase = phase_of(s);
    return st;
}

/* What a step sends, and what it does with a message. */
static const struct {
    sk_status (*send)(common_negotiator *s, sk_channel *ch);
    sk_status (*receive)(common_negotiator *s, int from, const int32_t *words, size_t n);
} steps[NSTEPS] = {
    [STEP_LISTS] = {send_lists, receive_list},
    [STEP_GROUPS] = {send_groups, receive_group},
    [STEP_CHOICE] = {send_choice, receive_choice},
    [STEP_STATE] = {send_state, receive_state},
    [STEP_JOINED] = {send_joined, receive_joined},
    [STEP_DECISIONS] = {send_decisions, receive_decision},
};

/* Goes from step to step as long as there is nothing to wait for. */
static sk_status run(common_negotiator *s, sk_channel *ch)
{
    sk_status st = SK_OK;
    while (st == SK_OK && s->waiting == 0 && !s->base.done) {
        st = go_on(s);
        if (st == SK_OK && !s->base.done)
            st = steps[s->step].send(s, ch);
    }
    return st;
}

/* ---- the negotiator ---- */

static sk_status start(sk_negotiator *p, sk_channel *ch)
{
    common_negotiator *s = (common_negotiator *)p;
    const sk_graph *g = s->graph;
    s->arena = sk_arena_new();
    s->pattern = sk_pattern_new(g->nranks, g->rank);
    if (!s->arena || !s->pattern)
        return SK_NOMEM;
    int *target = sk_arena_copy(s->arena, g->targets, (size_t)g->ntargets * sizeof *target);
    sk_status st =
        target ? sk_holder_list_init(&s->mine, s->arena, g->sources, g->nsources) : SK_NOMEM;
    if (st == SK_OK)
        st = begin_level(s, target, g->ntargets);
    if (st == SK_OK)
        st = send_lists(s, ch);
    return st == SK_OK ? run(s, ch) : st;
}

static sk_status receive(sk_negotiator *p, sk_channel *ch, int from, const int32_t *words, size_t n)
{
    common_negotiator *s = (common_negotiator *)p;
    if (s->waiting == 0)
        return SK_WIRE;
    sk_status st = steps[s->step].receive(s, from, words + 1, n - 1);
    s->waiting--;
    return st == SK_OK ? run(s, ch) : st;
}

static void destroy(sk_negotiator *p)
{
    common_negotiator *s = (common_negotiator *)p;
    sk_arena_free(s->arena);
    sk_arena_free(s->next_arena);
    sk_pattern_free(s->pattern);
    free(s);
}

static const sk_negotiator_ops ops = {start, receive, destroy};

sk_negotiator *sk_common_negotiator_new(const sk_graph *g, const sk_machine *m,
                                        const sk_pattern_opts *o)
{
    (void)m;
    common_negotiator *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->base = (sk_negotiator){.ops = &ops, .rank = g->rank, .nranks = g->nranks};
    s->graph = g;
    s->rules = sk_friend_rules_of(o);
    return &s->base;
}
