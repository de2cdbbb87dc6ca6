/* test_talk.c: parties, their phases and the order of messages. */
#include "neighbor/talk.h"

#include <stdlib.h>

#include "unit.h"

enum { RANKS = 5, PHASES = 6, PER_PHASE = 3 };

/* In every phase each says PER_PHASE numbered things to each, itself too, and goes on when it heard
 * as many. Nobody waits for the slower ones, so messages come phases too early. */
typedef struct chatter {
    sk_party party;
    int heard, last[RANKS];
    int bad_phase, bad_order;
    int speak_to;    /* how many it talks to */
    int extra_phase; /* > 0: one more message, of this phase */
} chatter;

static sk_status speak(chatter *c, sk_talk *t)
{
    for (int k = 0; k < PER_PHASE; k++)
        for (int to = 0; to < c->speak_to; to++) {
            int32_t words[] = {c->party.phase, k};
            sk_status st = t->send(t, to, words, 2);
            if (st != SK_OK)
                return st;
        }
    return SK_OK;
}

static sk_status chatter_start(sk_party *p, sk_talk *t)
{
    chatter *c = (chatter *)p;
    int32_t extra[] = {c->extra_phase, 0};
    sk_status st = c->extra_phase ? t->send(t, 0, extra, 2) : SK_OK;
    return st == SK_OK ? speak(c, t) : st;
}

static sk_status chatter_take(sk_party *p, sk_talk *t, int from, const int32_t *words, size_t n)
{
    chatter *c = (chatter *)p;
    int number = words[0] * PER_PHASE + words[1];
    c->bad_phase += n != 2 || words[0] != p->phase;
    c->bad_order += number <= c->last[from];
    c->last[from] = number;
    if (++c->heard < RANKS * PER_PHASE)
        return SK_OK;
    c->heard = 0;
    p->done = p->phase == PHASES - 1;
    p->phase += !p->done;
    return p->done ? SK_OK : speak(c, t);
}

static void chatter_free(sk_party *p)
{
    free(p);
}

static const sk_party_ops chatter_ops = {chatter_start, chatter_take, chatter_free};

static chatter *chatter_new(int rank)
{
    chatter *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->party = (sk_party){.ops = &chatter_ops, .rank = rank, .nranks = RANKS};
    c->speak_to = RANKS;
    for (int i = 0; i < RANKS; i++)
        c->last[i] = -1;
    return c;
}

static void all_new(sk_party **parties)
{
    for (int i = 0; i < RANKS; i++)
        parties[i] = &chatter_new(i)->party;
}

static void all_free(sk_party **parties)
{
    for (int i = 0; i < RANKS; i++)
        sk_party_free(parties[i]);
}

static void messages_come_in_their_phase_and_those_of_a_pair_in_order(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 300; seed++) {
        sk_party *parties[RANKS];
        sk_talk_count count = {0, 0};
        all_new(parties);
        assert_int_equal(sk_talk_local(parties, RANKS, seed, &count), SK_OK);
        assert_int_equal(count.messages, RANKS * RANKS * PER_PHASE * PHASES);
        assert_int_equal(count.words, 2 * count.messages);
        for (int i = 0; i < RANKS; i++) {
            assert_int_equal(((chatter *)parties[i])->bad_phase, 0);
            assert_int_equal(((chatter *)parties[i])->bad_order, 0);
            assert_true(parties[i]->done);
        }
        all_free(parties);
    }
}

static void a_silent_party_is_a_deadlock(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 4; seed++) {
        sk_party *parties[RANKS];
        sk_talk_count count = {7, 7};
        all_new(parties);
        ((chatter *)parties[2])->speak_to = RANKS - 1;
        assert_int_equal(sk_talk_local(parties, RANKS, seed, &count), SK_DEADLOCK);
        assert_int_equal(count.messages, 7);
        all_free(parties);
    }
}

static void a_message_of_no_phase_is_an_error(void **state)
{
    (void)state;
    static const int odd[] = {-1, PHASES, INT32_MAX};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (unsigned seed = 0; seed < 20; seed++) {
            sk_party *parties[RANKS];
            all_new(parties);
            ((chatter *)parties[2])->extra_phase = odd[i];
            assert_int_equal(sk_talk_local(parties, RANKS, seed, NULL), SK_WIRE);
            all_free(parties);
        }
}

static void a_message_to_nobody_is_an_error(void **state)
{
    (void)state;
    sk_party *parties[RANKS];
    all_new(parties);
    ((chatter *)parties[1])->speak_to = RANKS + 1;
    assert_int_equal(sk_talk_local(parties, RANKS, 0, NULL), SK_BADARG);
    all_free(parties);
}

static sk_status swallow(sk_talk *t, int to, const int32_t *words, size_t n)
{
    (void)t, (void)to, (void)words, (void)n;
    return SK_OK;
}

static void early_messages_wait_and_late_ones_are_errors(void **state)
{
    (void)state;
    sk_talk t = {swallow};
    chatter *c = chatter_new(0);
    assert_int_equal(sk_party_start(&c->party, &t), SK_OK);
    for (int from = 0; from < RANKS; from++) /* everything, the last phase first */
        for (int phase = PHASES - 1; phase >= 0; phase--)
            for (int k = 0; k < PER_PHASE; k++) {
                int32_t words[] = {phase, k};
                assert_false(c->party.done);
                assert_int_equal(sk_party_take(&c->party, &t, from, words, 2), SK_OK);
            }
    assert_true(c->party.done);
    assert_int_equal(c->bad_phase, 0);
    assert_int_equal(c->bad_order, 0);
    int32_t late[] = {0, 0};
    assert_int_equal(sk_party_take(&c->party, &t, 1, late, 2), SK_WIRE);
    assert_int_equal(sk_party_take(&c->party, &t, 1, late, 0), SK_WIRE);
    sk_party_free(&c->party);
}

static void a_party_frees_what_it_kept_and_made(void **state)
{
    (void)state;
    sk_talk t = {swallow};
    chatter *c = chatter_new(0);
    assert_int_equal(sk_party_start(&c->party, &t), SK_OK);
    int32_t words[] = {3, 0};
    assert_int_equal(sk_party_take(&c->party, &t, 1, words, 2), SK_OK);
    assert_non_null(c->party.early);
    c->party.made[7] = sk_pattern_new(RANKS, 0);
    sk_party_free(&c->party); /* a leak fails under the sanitizer */
    sk_party_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_come_in_their_phase_and_those_of_a_pair_in_order),
        cmocka_unit_test(a_silent_party_is_a_deadlock),
        cmocka_unit_test(a_message_of_no_phase_is_an_error),
        cmocka_unit_test(a_message_to_nobody_is_an_error),
        cmocka_unit_test(early_messages_wait_and_late_ones_are_errors),
        cmocka_unit_test(a_party_frees_what_it_kept_and_made),
    };
    return RUN(tests);
}
