/* Who of many has the token. */
#include "unit.h"

#include "select/token.h"

enum { MANY = 12, ROUNDS = 1000 };

/* All others ask in every round, in which the first is started, too. */
static void who_is_started_keeps_it(void **state)
{
    (void)state;
    sk_token t = {0};
    sk_token_claim w[MANY] = {{0}};
    assert_true(sk_token_take(&t, &w[0]));
    for (int k = 0; k < ROUNDS; k++)
        for (int i = 0; i < MANY; i++)
            assert_int_equal(i ? sk_token_take(&t, &w[i]) : sk_token_keep(&t, &w[0]), i == 0);
    assert_true(sk_token_drop(&t, &w[0]));
    assert_true(sk_token_take(&t, &w[MANY - 1]));
    assert_false(sk_token_take(&t, &w[0]));
}

static void who_is_not_started_any_more_loses_it(void **state)
{
    (void)state;
    sk_token t = {0};
    sk_token_claim w[MANY] = {{0}};
    int k = 0;
    assert_true(sk_token_take(&t, &w[0]));
    while (!sk_token_take(&t, &w[1]))
        k++;
    assert_int_equal(k, 8);
    assert_false(sk_token_keep(&t, &w[0]));
    assert_false(sk_token_drop(&t, &w[0]));
    assert_true(sk_token_keep(&t, &w[1]));
    assert_false(sk_token_take(&t, &w[0]));
    assert_true(sk_token_drop(&t, &w[1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_started_keeps_it),
        cmocka_unit_test(who_is_not_started_any_more_loses_it),
    };
    return RUN(tests);
}
