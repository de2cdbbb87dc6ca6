/* Prices of copies: their text, their measurement between two processes, and what follows for the
 * choice between slots and single copy. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/copy_prices.h"
#include "select/select.h"
#include "shm/copy_probe.h"
#include "shm/shm.h"

/* Two processors: on the first the kernel's copy is cheap beside the transfers between cores, on the
 * second it is dear. */
static const char kernel_cheap[] =
    "SKEIN_COPY=in:0.2ns out:0.2ns copy:0.02ns read:0.2ns reread:0.06ns call:1us";
static const char kernel_dear[] =
    "SKEIN_COPY=in:0.08ns out:0.08ns copy:0.05ns read:0.4ns reread:0.3ns call:1us";

static void text_is_read_and_written(void **state)
{
    (void)state;
    sk_copy_prices p = {.fs[SK_PRICE_OUT] = 7};
    char err[192], text[160];
    assert_int_equal(sk_copy_prices_parse("in:0.5ns,read:250ps", &p, err, sizeof err), SK_OK);
    assert_int_equal(p.fs[SK_PRICE_IN], 500000);
    assert_int_equal(p.fs[SK_PRICE_OUT], 7);
    assert_int_equal(p.fs[SK_PRICE_READ], 250000);
    assert_false(sk_copy_prices_known(&p));
    assert_int_equal(sk_copy_prices_parse(strchr(kernel_cheap, '=') + 1, &p, err, sizeof err),
                     SK_OK);
    assert_true(sk_copy_prices_known(&p));
    sk_copy_prices again = {0};
    sk_copy_prices_text(&p, text, sizeof text);
    assert_int_equal(sk_copy_prices_parse(text, &again, err, sizeof err), SK_OK);
    assert_memory_equal(&p, &again, sizeof p);
}

static void wrong_text_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"inn:1ns", "in:1",   "in:ns", "in:-1ns",
                                        "in:0ns",  "in:2ms", "1ns"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sk_copy_prices p = {.fs[SK_PRICE_IN] = 3};
        char err[192] = "", entry[64] = "SKEIN_COPY=", *env[] = {entry, NULL};
        assert_int_equal(sk_copy_prices_parse(wrong[i], &p, err, sizeof err), SK_BADARG);
        assert_int_equal(p.fs[SK_PRICE_IN], 3);
        assert_non_null(strstr(err, "as in in:0.2ns") ? err : strstr(err, "did you mean"));
        strcat(entry, wrong[i]);
        sk_select *s = NULL;
        assert_int_equal(sk_select_new(env, &s, err, sizeof err), SK_BADARG);
        assert_memory_equal(err, "SKEIN_COPY: ", 12);
    }
}

static void two_processes_measure_all_prices(void **state)
{
    (void)state;
    char *shared = mmap(NULL, SK_PROBE_BYTES + 4096, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    sk_copy_prices *p = (sk_copy_prices *)(shared + SK_PROBE_BYTES);
    sk_copy_probe probe;
    sk_copy_probe_fill(&probe, shared);
    pid_t child = fork();
    if (child == 0) {
        sk_copy_probe_take(shared, &probe.note, p);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    sk_copy_prices all = *p;
    sk_copy_probe_refill(&probe, &all);
    if (all.fs[SK_PRICE_CALL]) /* else the kernel allows no reads */
        assert_true(sk_copy_prices_known(&all));
    for (int i = 0; i < SK_PROBE_BYTES; i++)
        assert_int_equal(shared[i], 0); /* as it was */
    munmap(shared, SK_PROBE_BYTES + 4096);
}

static void nothing_is_measured_without_memory(void **state)
{
    (void)state;
    sk_copy_probe_note none = {.cpu = -1};
    sk_copy_prices p = {0};
    sk_copy_probe_take(NULL, &none, &p);
    assert_false(sk_copy_prices_known(&p));
    assert_int_equal(sk_copy_message_cutoff(&p), INT64_MAX);
}

/* ---- the choice ---- */

static const sk_type types[] = {
    {.size = 1, .extent = 1, .true_extent = 1, .contig = true},
    {.size = 8, .extent = 8, .true_extent = 8, .contig = true},
};

/* On one node; `cores` 0: one for each rank. */
static const char *choice(const char *entry, sk_coll coll, int nranks, int cores, int64_t bytes)
{
    char err[256], copy[160] = "";
    strncpy(copy, entry, sizeof copy - 1);
    char *env[] = {copy, NULL};
    sk_select *s = NULL;
    assert_int_equal(sk_select_new(env, &s, err, sizeof err), SK_OK);
    sk_machine *m = NULL;
    sk_location at[64] = {0};
    assert_int_equal(sk_machine_new(nranks, at, cores, &m), SK_OK);
    sk_select_prices(s, &m->copy);
    sk_call c = {.coll = coll,
                 .nranks = nranks,
                 .types = types,
                 .ntypes = 2,
                 .machine = m,
                 .direct = true,
                 .builtin = true};
    sk_shm_bytes(nranks, INT64_MAX, &c.slot_bytes);
    c.send = c.recv = (sk_side){.count = bytes / 8, .type = 1};
    if (coll == SK_ALLGATHERV || coll == SK_REDUCE_SCATTER || coll == SK_REDUCE_SCATTER_BLOCK)
        c.recv.count /= nranks;
    sk_choice out;
    sk_select_choose(s, &c, &out);
    const char *name = out.algo->name;
    sk_machine_free(m);
    sk_select_free(s);
    return name;
}

/* Collectives that have both ways, but for neighbourhoods. */
static bool has_both(sk_coll coll)
{
    return sk_algo_find(coll, "single-copy") && sk_algo_find(coll, "shm") &&
           !sk_coll_neighbor(coll);
}

static void the_choice_follows_the_prices(void **state)
{
    (void)state;
    int both = 0;
    for (int i = 0; i < SK_NCOLLS; i++)
        for (int nranks = 2; has_both((sk_coll)i) && nranks <= 16; nranks *= 2) {
            sk_coll coll = (sk_coll)i;
            both++;
            for (int64_t bytes = 64; bytes <= 1 << 20; bytes *= 4) {
                assert_string_equal(choice("", coll, nranks, 0, bytes), "shm"); /* not known */
                if (coll != SK_SCATTER || nranks == 2) /* there all can read at once */
                    assert_string_equal(choice(kernel_dear, coll, nranks, 0, bytes), "shm");
            }
            assert_string_equal(choice(kernel_cheap, coll, nranks, 0, 64), "shm");
            assert_string_equal(choice(kernel_cheap, coll, nranks, 0, 1 << 22), "single-copy");
        }
    assert_true(both >= 6 * 4);
}

/* Once single copy is faster, it stays so for longer messages, where each rank has a core. */
static void there_is_one_cutoff(void **state)
{
    (void)state;
    for (int i = 0; i < SK_NCOLLS; i++)
        for (int nranks = 2; has_both((sk_coll)i) && nranks <= 32; nranks *= 2)
            for (int64_t bytes = 8 * nranks, single = 0; bytes <= 1 << 22; bytes *= 2) {
                bool now =
                    strcmp(choice(kernel_cheap, (sk_coll)i, nranks, 0, bytes), "single-copy") == 0;
                assert_true(now || !single);
                single = now;
            }
}

/* Ranks that share cores find in the caches what others have read before. */
static void shared_cores_count(void **state)
{
    (void)state;
    assert_string_equal(choice(kernel_cheap, SK_BCAST, 16, 0, 1 << 20), "single-copy");
    assert_string_equal(choice(kernel_cheap, SK_BCAST, 16, 2, 1 << 20), "shm");
    assert_string_equal(choice(kernel_cheap, SK_ALLTOALL, 16, 2, 1 << 20), "single-copy");
    assert_string_equal(choice(kernel_cheap, SK_SCATTER, 16, 2, 1 << 20), "single-copy");
}

/* There single copy has to save a third of the predicted time, as it holds all ranks to the end. */
static void near_times_go_through_slots_on_shared_cores(void **state)
{
    (void)state;
    for (int64_t bytes = 64 << 10; bytes <= 512 << 10; bytes *= 2)
        assert_string_equal(choice(kernel_cheap, SK_GATHER, 4, 2, bytes), "shm");
    assert_string_equal(choice(kernel_cheap, SK_ALLTOALL, 4, 2, 256 << 10), "single-copy");
    assert_string_equal(choice(kernel_cheap, SK_GATHER, 4, 0, 256 << 10), "single-copy");
}

static void settings_override_the_prices(void **state)
{
    (void)state;
    assert_string_equal(choice("SKEIN_SINGLE_COPY=4K", SK_BCAST, 4, 0, 4096), "single-copy");
    assert_string_equal(choice("SKEIN_SINGLE_COPY=4K", SK_BCAST, 4, 0, 4088), "shm");
    assert_string_equal(choice("SKEIN_SINGLE_COPY=4K", SK_ALLTOALL, 4, 0, 4096), "single-copy");
    assert_string_equal(choice("SKEIN_ALLTOALL_SINGLE_COPY=64K", SK_ALLTOALL, 4, 0, 4096),
                        "single-copy");
    assert_string_equal(choice("SKEIN_ALLTOALL_SINGLE_COPY=64K", SK_ALLTOALL, 4, 0, 4088), "shm");
    assert_string_equal(choice("SKEIN_SCATTER_SINGLE_COPY=64K", SK_SCATTER, 4, 0, 16384),
                        "single-copy");
    assert_string_equal(choice("SKEIN_SCATTER_SINGLE_COPY=64K", SK_SCATTER, 4, 0, 16376), "shm");
}

/* An alltoall copies every byte in and out, or reads it: 0.4 against 0.13 ns, a call, and one more wait for a
 * flag, in whose time 2 KB are copied into a slot. */
static void the_cutoff_is_where_both_ways_take_as_long(void **state)
{
    (void)state;
    assert_string_equal(choice(kernel_cheap, SK_ALLTOALL, 2, 0, 5216), "shm");
    assert_string_equal(choice(kernel_cheap, SK_ALLTOALL, 2, 0, 5224), "single-copy");
    sk_copy_prices p = {0};
    char err[192];
    sk_copy_prices_parse(strchr(kernel_cheap, '=') + 1, &p, err, sizeof err);
    assert_int_equal(sk_copy_message_cutoff(&p), 7408);
    sk_copy_prices_parse(strchr(kernel_dear, '=') + 1, &p, err, sizeof err);
    assert_int_equal(sk_copy_message_cutoff(&p), INT64_MAX);
}

/* Prices of two processors on one core are not believed, others are. */
static void prices_are_those_of_two_cores(void **state)
{
    (void)state;
    char text[160], err[192];
    const char *one = "in:0.02ns out:0.03ns copy:0.02ns read:0.05ns reread:0.04ns call:0.6us",
               *made = "in:0.08ns out:0.08ns copy:0.02ns read:0.1ns reread:0.04ns call:0.6us",
               *two = "in:0.1ns out:0.09ns copy:0.02ns read:0.2ns reread:0.04ns call:0.6us";
    sk_copy_prices p = {0};
    assert_int_equal(sk_copy_prices_parse(one, &p, err, sizeof err), SK_OK);
    sk_copy_prices_of_two_cores(&p);
    assert_string_equal(sk_copy_prices_text(&p, text, sizeof text), made);
    assert_int_equal(sk_copy_prices_parse(two, &p, err, sizeof err), SK_OK);
    sk_copy_prices_of_two_cores(&p);
    assert_string_equal(sk_copy_prices_text(&p, text, sizeof text), two);
    p = (sk_copy_prices){0};
    sk_copy_prices_of_two_cores(&p);
    assert_false(sk_copy_prices_known(&p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_read_and_written),
        cmocka_unit_test(wrong_text_is_refused),
        cmocka_unit_test(two_processes_measure_all_prices),
        cmocka_unit_test(nothing_is_measured_without_memory),
        cmocka_unit_test(prices_are_those_of_two_cores),
        cmocka_unit_test(the_choice_follows_the_prices),
        cmocka_unit_test(there_is_one_cutoff),
        cmocka_unit_test(shared_cores_count),
        cmocka_unit_test(near_times_go_through_slots_on_shared_cores),
        cmocka_unit_test(settings_override_the_prices),
        cmocka_unit_test(the_cutoff_is_where_both_ways_take_as_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
