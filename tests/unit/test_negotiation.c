/* test_talk.c: negotiators, their phases and the order of messages. */
#include "lab/neighbor/negotiate.h"

#include <stdlib.h>

#include "unit.h"

enum { RANKS = 5, PHASES = 6, PER_PHASE = 3 };

/* In every phase each says PER_PHASE numbered things to each, itself too, and goes on when it heard
 * as many. Nobody waits for the slower ones, so messages come phases too early. */
typedef struct chatter {
    sk_negotiator negotiator;
    int heard, last[RANKS];
    int bad_phase, bad_order;
    int speak_to;    /* how many it talks to */
    int extra_phase; /* > 0: one more message, of this phase */
} chatter;

static sk_status speak(chatter *c, sk_channel *t)
{
    for (int k = 0; k < PER_PHASE; k++)
        for (int to = 0; to < c->speak_to; to++) {
            int32_t words[] = {c->negotiator.phase, k};
            sk_status st = t->send(t, to, words, 2);
            if (st != SK_OK)
                return st;
        }
    return SK_OK;
}

static sk_status chatter_start(sk_negotiator *p, sk_channel *t)
{
    chatter *c = (chatter *)p;
    int32_t extra[] = {c->extra_phase, 0};
    sk_status st = c->extra_phase ? t->send(t, 0, extra, 2) : SK_OK;
    return st == SK_OK ? speak(c, t) : st;
}

static sk_status chatter_take(sk_negotiator *p, sk_channel *t, int from, const int32_t *words,
                              size_t n)
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

static void chatter_free(sk_negotiator *p)
{
    free(p);
}

static const sk_negotiator_ops chatter_ops = {chatter_start, chatter_take, chatter_free};

static chatter *chatter_new(int rank)
{
    chatter *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->negotiator = (sk_negotiator){.ops = &chatter_ops, .rank = rank, .nranks = RANKS};
    c->speak_to = RANKS;
    for (int i = 0; i < RANKS; i++)
        c->last[i] = -1;
    return c;
}

static void all_new(sk_negotiator **negotiators)
{
    for (int i = 0; i < RANKS; i++)
        negotiators[i] = &chatter_new(i)->negotiator;
}

static void all_free(sk_negotiator **negotiators)
{
    for (int i = 0; i < RANKS; i++)
        sk_negotiator_free(negotiators[i]);
}

static void messages_come_in_their_phase_and_those_of_a_pair_in_order(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 300; seed++) {
        sk_negotiator *negotiators[RANKS];
        sk_channel_count count = {0, 0};
        all_new(negotiators);
        assert_int_equal(sk_negotiate_inproc(negotiators, RANKS, seed, &count), SK_OK);
        assert_int_equal(count.messages, RANKS * RANKS * PER_PHASE * PHASES);
        assert_int_equal(count.words, 2 * count.messages);
        for (int i = 0; i < RANKS; i++) {
            assert_int_equal(((chatter *)negotiators[i])->bad_phase, 0);
            assert_int_equal(((chatter *)negotiators[i])->bad_order, 0);
            assert_true(negotiators[i]->done);
        }
        all_free(negotiators);
    }
}

static void a_silent_party_is_a_deadlock(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 4; seed++) {
        sk_negotiator *negotiators[RANKS];
        sk_channel_count count = {7, 7};
        all_new(negotiators);
        ((chatter *)negotiators[2])->speak_to = RANKS - 1;
        assert_int_equal(sk_negotiate_inproc(negotiators, RANKS, seed, &count), SK_DEADLOCK);
        assert_int_equal(count.messages, 7);
        all_free(negotiators);
    }
}

static void a_message_of_no_phase_is_an_error(void **state)
{
    (void)state;
    static const int odd[] = {-1, PHASES, INT32_MAX};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (unsigned seed = 0; seed < 20; seed++) {
            sk_negotiator *negotiators[RANKS];
            all_new(negotiators);
            ((chatter *)negotiators[2])->extra_phase = odd[i];
            assert_int_equal(sk_negotiate_inproc(negotiators, RANKS, seed, NULL), SK_WIRE);
            all_free(negotiators);
        }
}

static void a_message_to_nobody_is_an_error(void **state)
{
    (void)state;
    sk_negotiator *negotiators[RANKS];
    all_new(negotiators);
    ((chatter *)negotiators[1])->speak_to = RANKS + 1;
    assert_int_equal(sk_negotiate_inproc(negotiators, RANKS, 0, NULL), SK_BADARG);
    all_free(negotiators);
}

static sk_status swallow(sk_channel *t, int to, const int32_t *words, size_t n)
{
    (void)t, (void)to, (void)words, (void)n;
    return SK_OK;
}

static void early_messages_wait_and_late_ones_are_errors(void **state)
{
    (void)state;
    sk_channel t = {swallow};
    chatter *c = chatter_new(0);
    assert_int_equal(sk_negotiator_start(&c->negotiator, &t), SK_OK);
    for (int from = 0; from < RANKS; from++) /* everything, the last phase first */
        for (int phase = PHASES - 1; phase >= 0; phase--)
            for (int k = 0; k < PER_PHASE; k++) {
                int32_t words[] = {phase, k};
                assert_false(c->negotiator.done);
                assert_int_equal(sk_negotiator_receive(&c->negotiator, &t, from, words, 2), SK_OK);
            }
    assert_true(c->negotiator.done);
    assert_int_equal(c->bad_phase, 0);
    assert_int_equal(c->bad_order, 0);
    int32_t late[] = {0, 0};
    assert_int_equal(sk_negotiator_receive(&c->negotiator, &t, 1, late, 2), SK_WIRE);
    assert_int_equal(sk_negotiator_receive(&c->negotiator, &t, 1, late, 0), SK_WIRE);
    sk_negotiator_free(&c->negotiator);
}

static void a_party_frees_what_it_kept_and_made(void **state)
{
    (void)state;
    sk_channel t = {swallow};
    chatter *c = chatter_new(0);
    assert_int_equal(sk_negotiator_start(&c->negotiator, &t), SK_OK);
    int32_t words[] = {3, 0};
    assert_int_equal(sk_negotiator_receive(&c->negotiator, &t, 1, words, 2), SK_OK);
    assert_non_null(c->negotiator.early);
    c->negotiator.made[7] = sk_pattern_new(RANKS, 0);
    sk_negotiator_free(&c->negotiator); /* a leak fails under the sanitizer */
    sk_negotiator_free(NULL);
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
