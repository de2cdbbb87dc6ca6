/* Settings: what is read, and how wrong names and values are answered. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/numbers.h"
#include "base/settings.h"
#include "base/word.h"

static sk_settings *read_env(const char *entry)
{
    char err[256] = "", copy[128] = "";
    strncpy(copy, entry, sizeof copy - 1);
    char *env[] = {"PATH=/bin", copy, NULL};
    sk_settings *s = NULL;
    assert_int_equal(sk_settings_new(env, NULL, &s, err, sizeof err), SK_OK);
    assert_non_null(s);
    assert_string_equal(err, "");
    return s;
}

static void refuses(const char *entry, const char *message)
{
    static const char *const extra[] = {"SKEIN_ALLREDUCE", NULL};
    char err[256] = "", copy[128] = "";
    strncpy(copy, entry, sizeof copy - 1);
    char *env[] = {copy, NULL};
    sk_settings *s = NULL;
    assert_int_equal(sk_settings_new(env, extra, &s, err, sizeof err), SK_BADARG);
    assert_null(s);
    assert_string_equal(err, message);
}

static void defaults_stand_when_nothing_is_given(void **state)
{
    (void)state;
    sk_settings *s = read_env("HOME=/root");
    assert_true(sk_settings_bool(s, SK_SET_ENABLE));
    assert_int_equal(sk_settings_int(s, SK_SET_BCAST_LONG), 12288);
    assert_int_equal(sk_settings_int(s, SK_SET_MEM), 256 << 20);
    assert_string_equal(sk_settings_text(s, SK_SET_WAIT), "auto");
    for (int i = 0; i < SK_NSETTINGS; i++)
        assert_false(sk_settings_given(s, (sk_setting)i));
    sk_settings_free(s);
}

static void every_default_is_a_valid_value(void **state)
{
    (void)state;
    for (int i = 0; i < SK_NSETTINGS; i++) {
        const sk_setting_info *info = sk_setting_info_get((sk_setting)i);
        char entry[128];
        snprintf(entry, sizeof entry, "%s=%s", info->var, info->deflt);
        sk_settings *given = read_env(entry), *none = read_env("SKEIN_REPORT=");
        assert_int_equal(sk_settings_int(given, (sk_setting)i),
                         sk_settings_int(none, (sk_setting)i));
        sk_settings_free(given);
        sk_settings_free(none);
    }
    assert_null(sk_setting_info_get(SK_NSETTINGS));
}

static void given_values_are_read(void **state)
{
    (void)state;
    sk_settings *s = read_env("SKEIN=off");
    assert_false(sk_settings_bool(s, SK_SET_ENABLE));
    assert_true(sk_settings_given(s, SK_SET_ENABLE));
    sk_settings_free(s);

    s = read_env("SKEIN_MEM=3k");
    assert_int_equal(sk_settings_int(s, SK_SET_MEM), 3072);
    assert_string_equal(sk_settings_text(s, SK_SET_MEM), "3k");
    sk_settings_free(s);

    s = read_env("SKEIN_WAIT=yield");
    assert_string_equal(sk_settings_text(s, SK_SET_WAIT), "yield");
    assert_int_equal(sk_settings_int(s, SK_SET_WAIT), 2);
    sk_settings_free(s);

    s = read_env("SKEIN_REPORT=out.json");
    assert_string_equal(sk_settings_text(s, SK_SET_REPORT), "out.json");
    sk_settings_free(s);
}

static void an_empty_value_is_none(void **state)
{
    (void)state;
    sk_settings *s = read_env("SKEIN_CACHE=");
    assert_int_equal(sk_settings_int(s, SK_SET_CACHE), 128);
    assert_false(sk_settings_given(s, SK_SET_CACHE));
    sk_settings_free(s);
}

static void the_last_of_two_values_stands(void **state)
{
    (void)state;
    char err[256], *env[] = {"SKEIN_CACHE=1", "SKEIN_CACHE=2", NULL};
    sk_settings *s = NULL;
    assert_int_equal(sk_settings_new(env, NULL, &s, err, sizeof err), SK_OK);
    assert_int_equal(sk_settings_int(s, SK_SET_CACHE), 2);
    sk_settings_free(s);
}

static void wrong_names_are_answered_with_the_nearest(void **state)
{
    (void)state;
    refuses("SKEIN_REPROT=1", "unknown setting SKEIN_REPROT; did you mean SKEIN_REPORT?");
    refuses("SKEIN_ALREDUCE=1", "unknown setting SKEIN_ALREDUCE; did you mean SKEIN_ALLREDUCE?");
    refuses("SKEIN_=1", "unknown setting SKEIN_; did you mean SKEIN?");
    refuses("SKEIN_QUXFOO=1", "unknown setting SKEIN_QUXFOO; `skein info` lists them");
}

static void wrong_values_are_answered_with_a_right_one(void **state)
{
    (void)state;
    refuses("SKEIN=of", "SKEIN=of: on or off is wanted; did you mean off?");
    refuses("SKEIN=maybe",
            "SKEIN=maybe: on or off is wanted; yes, no, true, false, 1 and 0 will do too");
    refuses("SKEIN_WAIT=never", "SKEIN_WAIT=never: one of auto|spin|yield|mixed|sleep is wanted");
    refuses("SKEIN_WAIT=yeld",
            "SKEIN_WAIT=yeld: one of auto|spin|yield|mixed|sleep is wanted; did you mean yield?");
    refuses("SKEIN_CACHE=many", "SKEIN_CACHE=many: a whole number is wanted, as in "
                                "SKEIN_CACHE=128");
    refuses("SKEIN_CACHE=12K", "SKEIN_CACHE=12K: a whole number is wanted, as in SKEIN_CACHE=128");
    refuses("SKEIN_MEM=-1", "SKEIN_MEM=-1: a number of bytes (K, M and G may follow) is wanted, as "
                            "in SKEIN_MEM=256M");
}

/* ---- names of before ---- */

static void old_names_still_work_with_a_note(void **state)
{
    (void)state;
    static const struct {
        const char *entry, *notes;
        sk_setting id;
    } cases[] = {
        {"SKEIN_EXPOSED=2M",
         "SKEIN_EXPOSED is now called SKEIN_SINGLE_COPY; the old name still works\n",
         SK_SET_SINGLE_COPY},
        {"SKEIN_SCATTER_EXPOSED=2M",
         "SKEIN_SCATTER_EXPOSED is now called SKEIN_SCATTER_SINGLE_COPY; the old name still "
         "works\n",
         SK_SET_SCATTER_SINGLE_COPY},
        {"SKEIN_ALLTOALL_EXPOSED=2M",
         "SKEIN_ALLTOALL_EXPOSED is now called SKEIN_ALLTOALL_SINGLE_COPY; the old name still "
         "works\n",
         SK_SET_ALLTOALL_SINGLE_COPY},
        {"SKEIN_INNER=2M",
         "SKEIN_INNER is now called SKEIN_CORE_PROVIDER; the old name still works\n",
         SK_SET_CORE_PROVIDER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_settings *s = read_env(cases[i].entry);
        assert_string_equal(sk_settings_notes(s), cases[i].notes);
        assert_string_equal(sk_settings_text(s, cases[i].id), "2M");
        assert_int_equal(sk_setting_find(cases[i].entry), cases[i].id);
        sk_settings_free(s);
    }
    refuses("SKEIN_EXPOSED=many",
            "SKEIN_EXPOSED=many: a number of bytes (K, M and G may follow) is "
            "wanted, as in SKEIN_SINGLE_COPY=0");
}

static void the_new_name_counts_when_both_are_given(void **state)
{
    (void)state;
    char err[256], *env[] = {"SKEIN_SINGLE_COPY=1K", "SKEIN_EXPOSED=2K", NULL};
    char *turned[] = {env[1], env[0], NULL};
    for (int i = 0; i < 2; i++) {
        sk_settings *s = NULL;
        assert_int_equal(sk_settings_new(i ? turned : env, NULL, &s, err, sizeof err), SK_OK);
        assert_int_equal(sk_settings_int(s, SK_SET_SINGLE_COPY), 1024);
        assert_string_equal(sk_settings_notes(s), "SKEIN_EXPOSED is now called SKEIN_SINGLE_COPY; "
                                                  "the old name is ignored, as both are set\n");
        sk_settings_free(s);
    }
}

static void present_names_make_no_note(void **state)
{
    (void)state;
    sk_settings *s = read_env("SKEIN_SINGLE_COPY=1K");
    assert_string_equal(sk_settings_notes(s), "");
    for (int i = 0; i < 100; i++) /* more than fit: the last are dropped, each note stays whole */
        sk_settings_add_note(s, "a note of some length, number %d", i);
    const char *notes = sk_settings_notes(s);
    assert_true(strlen(notes) >= 900 && strlen(notes) <= 1023);
    assert_int_equal(notes[strlen(notes) - 1], '\n');
    sk_settings_free(s);
}

static void names_that_only_start_alike_are_ignored(void **state)
{
    (void)state;
    sk_settings_free(read_env("SKEINS=1"));
    sk_settings_free(read_env("SKEIN_REPORT"));
    sk_settings_free(read_env("SKEIN_ROOT=/opt/skein")); /* set by module files of sites */
    sk_settings_free(read_env("SKEIN_VERSION=0.2.0"));
}

static void numbers_are_read_to_their_end(void **state)
{
    (void)state;
    int64_t n = 7;
    assert_true(sk_read_number("2G", true, &n));
    assert_int_equal(n, (int64_t)2 << 30);
    assert_true(sk_read_number("0", false, &n));
    assert_int_equal(n, 0);
    n = 7;
    assert_false(sk_read_number("2KB", true, &n));
    assert_false(sk_read_number("2 ", true, &n)); /* a blank is no unit */
    assert_false(sk_read_number("2K", false, &n));
    assert_false(sk_read_number("", true, &n));
    assert_false(sk_read_number("K", true, &n));
    assert_false(sk_read_number("9223372036854775807K", true, &n));
    assert_false(sk_read_number("99999999999999999999", true, &n));
    assert_int_equal(n, 7);

    assert_int_equal(sk_read_integer("-3", false, -4, 4, &n), SK_OK);
    assert_int_equal(n, -3);
    assert_int_equal(sk_read_integer("-3k", true, INT64_MIN, 0, &n), SK_OK);
    assert_int_equal(n, -3072);
    assert_int_equal(sk_read_integer("5", false, -4, 4, &n), SK_TOOBIG);
    assert_int_equal(sk_read_integer("5x", false, -4, 4, &n), SK_BADARG);
    assert_int_equal(sk_read_integer("", false, -4, 4, &n), SK_BADARG);
    assert_int_equal(n, -3072);
}

static void nearest_counts_a_swap_as_one_slip(void **state)
{
    (void)state;
    static const char *const words[] = {"form", "from", "four", NULL}, *const none[] = {NULL};
    assert_string_equal(sk_nearest("frmo", words), "from");
    assert_string_equal(sk_nearest("FOUR", words), "four");
    assert_null(sk_nearest("x", none));
}

static void suggestions_are_near_or_all(void **state)
{
    (void)state;
    static const char *const words[] = {"from", "four", NULL};
    char out[64];
    assert_string_equal(sk_near("frmo", words), "from");
    assert_null(sk_near("maybe", words));
    assert_string_equal(sk_suggest("fuor", words, out, sizeof out), "did you mean four?");
    assert_string_equal(sk_suggest("maybe", words, out, sizeof out), "there are from, four");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_stand_when_nothing_is_given),
        cmocka_unit_test(every_default_is_a_valid_value),
        cmocka_unit_test(given_values_are_read),
        cmocka_unit_test(an_empty_value_is_none),
        cmocka_unit_test(the_last_of_two_values_stands),
        cmocka_unit_test(wrong_names_are_answered_with_the_nearest),
        cmocka_unit_test(wrong_values_are_answered_with_a_right_one),
        cmocka_unit_test(old_names_still_work_with_a_note),
        cmocka_unit_test(the_new_name_counts_when_both_are_given),
        cmocka_unit_test(present_names_make_no_note),
        cmocka_unit_test(names_that_only_start_alike_are_ignored),
        cmocka_unit_test(numbers_are_read_to_their_end),
        cmocka_unit_test(nearest_counts_a_swap_as_one_slip),
        cmocka_unit_test(suggestions_are_near_or_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
