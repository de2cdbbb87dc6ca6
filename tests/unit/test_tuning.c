/* Tuning files: what is read is written again, wrong lines are named, and what follows for calls that were measured,
 * lie between measured ones, or lie far away. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "select/select.h"
#include "select/tuning_file.h"

#define HEAD "skein-tuning 1\nmachine M\n"

static sk_tuning *read_text(const char *text)
{
    char err[SK_TUNING_ERR] = "";
    sk_tuning *t = sk_tuning_new();
    assert_non_null(t);
    if (sk_tuning_read(t, text, strlen(text), err, sizeof err) != SK_OK)
        fail_msg("%s", err);
    return t;
}

static void refused_bytes(const char *text, size_t len, const char *start, const char *part)
{
    char err[SK_TUNING_ERR] = "", small[8];
    sk_tuning *t = sk_tuning_new();
    assert_int_not_equal(sk_tuning_read(t, text, len, small, sizeof small), SK_OK);
    sk_tuning_free(t);
    t = sk_tuning_new();
    assert_int_not_equal(sk_tuning_read(t, text, len, err, sizeof err), SK_OK);
    if (strncmp(err, start, strlen(start)) != 0 || !strstr(err, part))
        fail_msg("\"%s\" does not begin with \"%s\", or lacks \"%s\"", err, start, part);
    sk_tuning_free(t);
}

static void refused(const char *text, const char *start, const char *part)
{
    refused_bytes(text, strlen(text), start, part);
}

static void wrong_lines_are_named(void **state)
{
    (void)state;
    refused("", "1: ", "empty; run `skein tune`");
    refused("# nothing\n\n", "3: ", "empty");
    refused("hello\n", "1: ", "no tuning file");
    refused("skein-tuning\n", "1: ", "begins with the line skein-tuning 2");
    refused("skein-tuning 3\n", "1: ", "version 3");
    refused("skein-tuning x\n", "1: ", "x is no version");
    refused("skein-tuning 1", "1: ", "cut off");
    refused(HEAD "bcast 2 1 - 8 shm 1.5 1", "3: ", "cut off");
    refused("skein-tuning 1\nbcast 2 1 - 8 shm 1.5 1\n", "2: ", "machine");
    refused("skein-tuning 1\nmachine  \n", "2: ", "a machine is wanted");
    refused(HEAD "bcast 2 1 - 8 shm 1.5\n", "3: ", "8 words are wanted");
    refused(HEAD "bcast 2 1 - 8 shm 1.5 1 1\n", "3: ", "8 words are wanted");
    refused(HEAD "\n#\nbcats 2 1 - 8 shm 1.5 1\n", "5: ", "did you mean bcast?");
    refused(HEAD "ibcats 2 1 - 8 shm 1.5 1\n", "3: ", "did you mean ibcast?");
    refused(HEAD "bcast 2 1 - 8 shn 1.5 1\n", "3: ", "did you mean shm?");
    refused(HEAD "bcast 1 1 - 8 shm 1.5 1\n", "3: ", "1 is no number of ranks");
    refused(HEAD "bcast 2 3 - 8 shm 1.5 1\n", "3: ", "3 is no number of nodes");
    refused(HEAD "bcast 2 1 4 8 shm 1.5 1\n", "3: ", "- is wanted instead of 4");
    refused(HEAD "neighbor_allgather 2 1 - 8 direct 1.5 1\n", "3: ", "number of neighbours");
    refused(HEAD "bcast 2 1 - -8 shm 1.5 1\n", "3: ", "-8 is no number of bytes");
    refused(HEAD "bcast 2 1 - 99999999999999999999 shm 1.5 1\n", "3: ", "is no number of bytes");
    refused(HEAD "bcast 2 1 - 8 shm -1.5 1\n", "3: ", "-1.5 is no time");
    refused(HEAD "bcast 2 1 - 8 shm 0 1\n", "3: ", "0 is no time");
    refused(HEAD "bcast 2 1 - 8 shm nan 1\n", "3: ", "nan is no time");
    refused(HEAD "bcast 2 1 - 8 shm 1e3 1\n", "3: ", "1e3 is no time");
    refused(HEAD "bcast 2 1 - 8 shm 1.5 0\n", "3: ", "0 is no number of calls");
    refused(HEAD "price net.latency 1\n", "3: ", "a price is wanted");
    refused(HEAD "price net.latency x us\n", "3: ", "x is no number");
    refused_bytes("skein-tuning 1\n\0\n", 17, "1: ", "not a text");
    char *big = malloc(SK_TUNING_BYTES + 2);
    memset(big, '\n', SK_TUNING_BYTES + 2);
    refused_bytes(big, SK_TUNING_BYTES + 1, "1: ", "more than 4 MB");
    memset(big, 'x', SK_TUNING_BYTES);
    big[SK_TUNING_BYTES - 1] = '\n';
    refused_bytes(big, SK_TUNING_BYTES, "1: ", "a line of more than");
    free(big);
}

static void what_is_written_is_read_again(void **state)
{
    (void)state;
    sk_tuning *t = read_text("# by hand\nskein-tuning 1\nmachine  Some  MPI; 8 cores # here\n"
                             "price net.latency 1.2 us\nprice net.latency 1.3 us\n"
                             "bcast 4 1 - 8 shm 1.5 10\nbcast 4 1 - 8 host 3 10\r\n"
                             "machine N\nneighbor_allgather 16 4 8 64 halving 7.25 3\n");
    assert_string_equal(sk_tuning_machine(t, 0), "Some MPI; 8 cores");
    assert_string_equal(sk_tuning_machine(t, 1), "N");
    assert_null(sk_tuning_machine(t, 2));
    assert_string_equal(sk_tuning_prices(t, 0), "net.latency 1.3 us\n");
    char *text = sk_tuning_text(t, NULL), *again;
    sk_tuning *u = read_text(text);
    again = sk_tuning_text(u, NULL);
    assert_string_equal(text, again);
    int n;
    const sk_tuned *v = sk_tuning_times(u, 1, &n);
    assert_int_equal(n, 1);
    assert_int_equal(v->coll, SK_NEIGHBOR_ALLGATHER);
    assert_int_equal(v->neighbours, 8);
    assert_true(v->us == 7.25 && v->calls == 3);
    free(again);
    free(text);
    text = sk_tuning_text(u, "N"); /* what the ranks get */
    sk_tuning *one = read_text(text);
    assert_string_equal(sk_tuning_machine(one, 0), "N");
    assert_null(sk_tuning_machine(one, 1));
    free(text);
    sk_tuning_free(one);
    sk_tuning_free(u);
    sk_tuning_free(t);
}

static void runs_are_merged_by_their_calls(void **state)
{
    (void)state;
    int n;
    sk_tuning *t = read_text(HEAD "bcast 4 1 - 8 shm 1 30\nbcast 4 1 - 8 host 5 1\n");
    char err[SK_TUNING_ERR];
    static const char more[] = HEAD "bcast 4 1 - 8 shm 2 10\n";
    assert_int_equal(sk_tuning_read(t, more, strlen(more), err, sizeof err), SK_OK);
    const sk_tuned *v = sk_tuning_times(t, 0, &n);
    assert_int_equal(n, 2);
    assert_null(v[0].algo);
    assert_true(v[1].us == 1.25 && v[1].calls == 40);
    sk_tuned e = v[1];
    e.us = 5.25;
    assert_int_equal(sk_tuning_add(t, "M", &e), SK_OK);
    assert_int_equal(sk_tuning_add(t, "another", &e), SK_OK);
    assert_true(sk_tuning_times(t, 0, &n)[1].us == 3.25);
    assert_int_equal(sk_tuning_add_price(t, "another", "wake", "2 us"), SK_OK);
    assert_string_equal(sk_tuning_prices(t, 1), "wake 2 us\n");
    sk_tuning_free(t);
}

static bool any(const void *ctx, const sk_algo *a)
{
    return !ctx || strcmp(ctx, a->name) != 0; /* that one cannot */
}

/* "algorithm", "host" or "none". */
static const char *advised_without(sk_tuning *t, sk_tuned call, const char *without)
{
    sk_advice x;
    if (!sk_tuning_advise(t, 0, &call, any, without, &x))
        return "none";
    return x.host ? "host" : x.algo->name;
}

static const char *advised(sk_tuning *t, int ranks, int nodes, int64_t bytes)
{
    sk_tuned call = {.coll = SK_BCAST, .ranks = ranks, .nodes = nodes, .bytes = bytes};
    return advised_without(t, call, NULL);
}

static void the_fastest_is_advised(void **state)
{
    (void)state;
    sk_tuning *t = read_text(HEAD "bcast 4 1 - 8 shm 1 1\nbcast 4 1 - 8 binomial 2 1\n"
                                  "bcast 4 1 - 8 host 0.96 1\n"
                                  "bcast 4 1 - 65536 binomial 20 1\nbcast 4 1 - 65536 shm 40 1\n"
                                  "bcast 4 1 - 65536 host 18 1\n"
                                  "reduce 4 1 - 8 host 1 1\n");
    sk_tuned call = {.coll = SK_BCAST, .ranks = 4, .nodes = 1, .bytes = 8};
    assert_string_equal(advised(t, 4, 1, 8), "shm"); /* the host is not clearly faster */
    assert_string_equal(advised_without(t, call, "shm"), "host");
    assert_string_equal(advised(t, 4, 1, 65536), "host");
    call.coll = SK_REDUCE; /* with nothing to compare it with */
    assert_string_equal(advised_without(t, call, NULL), "none");
    call.coll = SK_SCAN;
    assert_string_equal(advised_without(t, call, NULL), "none");
    sk_tuning_free(t);
}

static void between_measured_calls_times_are_interpolated(void **state)
{
    (void)state;
    sk_tuning *t =
        read_text(HEAD "bcast 4 1 - 1023 shm 1 1\nbcast 4 1 - 1023 binomial 4 1\n"
                       "bcast 4 1 - 65535 shm 64 1\nbcast 4 1 - 65535 binomial 16 1\n"
                       "bcast 16 1 - 1023 shm 4 1\nbcast 16 1 - 1023 binomial 16 1\n"
                       "bcast 16 1 - 65535 shm 256 1\nbcast 16 1 - 65535 binomial 64 1\n");
    sk_advice x;
    sk_tuned call = {.coll = SK_BCAST, .ranks = 4, .nodes = 1, .bytes = 8191};
    assert_true(sk_tuning_advise(t, 0, &call, any, NULL, &x)); /* half way, both at 8 us */
    assert_true(x.us > 7.9 && x.us < 8.1 && !x.measured);
    assert_string_equal(advised(t, 4, 1, 4095), "shm");
    assert_string_equal(advised(t, 4, 1, 16383), "binomial");
    for (int p = 2; p <= 32; p++) {
        assert_string_equal(advised(t, p, 1, 4095), "shm");
        assert_string_equal(advised(t, p, 1, 16383), "binomial");
    }
    assert_string_equal(advised(t, 33, 1, 4095), "none");
    assert_string_equal(advised(t, 4, 1, 511), "none"); /* 1023 > 2 * 511 */
    assert_string_equal(advised(t, 4, 1, 512), "shm");
    assert_string_equal(advised(t, 4, 1, 131070), "binomial");
    assert_string_equal(advised(t, 4, 1, 131071), "none");
    assert_string_equal(advised(t, 4, 2, 4095), "none"); /* another kind of machine */
    sk_tuning_free(t);
}

static void the_nearest_counts_where_none_was_measured_everywhere(void **state)
{
    (void)state;
    sk_tuning *t = read_text(HEAD "bcast 4 1 - 64 shm 1 1\nbcast 4 1 - 64 host 2 1\n"
                                  "bcast 4 1 - 4096 binomial 9 1\nbcast 4 1 - 4096 host 8 1\n");
    assert_string_equal(advised(t, 4, 1, 128), "shm");
    assert_string_equal(advised(t, 4, 1, 2048), "host");
    assert_string_equal(advised(t, 4, 1, 0), "shm"); /* up to a cache line */
    sk_tuning_free(t);
}

/* All ranks find the same, whatever each of them knows. */
static void unknown_sizes_are_chosen_over_all_sizes(void **state)
{
    (void)state;
    sk_advice x;
    sk_tuning *t = read_text(
        HEAD
        "gatherv 4 1 - 8 shm 2 1\ngatherv 4 1 - 8 linear 1 1\ngatherv 4 1 - 8 host 0.5 1\n"
        "gatherv 4 1 - 65536 shm 16 1\ngatherv 4 1 - 65536 linear 64 1\n"
        "gatherv 4 1 - 65536 host 15.9 1\ngatherv 4 1 - 65536 binomial 1 1\n"
        "gatherv 16 1 - 64 shm 64 1\ngatherv 16 1 - 64 linear 65 1\ngatherv 16 1 - 64 host 8 1\n");
    sk_tuned call = {.coll = SK_GATHERV, .ranks = 4, .nodes = 1, .bytes = SK_TUNED_ANY_SIZE};
    assert_true(sk_tuning_advise(t, 0, &call, any, NULL, &x));
    assert_string_equal(x.algo->name,
                        "shm"); /* about sqrt(2 * 16); linear 8, binomial not known at 8 bytes */
    assert_true(x.us > 5.5 && x.us < 6.1 && x.host_us > 2.7 && x.host_us < 3.1);
    assert_false(x.host); /* not at 64 KB */
    assert_string_equal(advised_without(t, call, "shm"), "host");
    call.ranks = 8;
    assert_string_equal(advised_without(t, call, NULL), "shm");
    call.ranks = 16;
    assert_string_equal(advised_without(t, call, NULL), "host");
    sk_tuning_free(t);
}

static void nodes_and_neighbours_are_kept_apart(void **state)
{
    (void)state;
    sk_tuning *t = read_text(HEAD "bcast 8 2 - 64 leaders 1 1\nbcast 16 4 - 64 leaders 1 1\n"
                                  "neighbor_allgather 16 4 8 64 halving 1 1\n"
                                  "neighbor_allgather 16 4 3 64 common 1 1\n");
    assert_string_equal(advised(t, 12, 3, 64), "leaders");
    assert_string_equal(advised(t, 8, 4, 64), "none");
    assert_string_equal(advised(t, 8, 1, 64), "none");
    sk_tuned call = {
        .coll = SK_NEIGHBOR_ALLGATHER, .ranks = 16, .nodes = 4, .neighbours = 15, .bytes = 64};
    assert_string_equal(advised_without(t, call, NULL), "halving");
    call.neighbours = 2;
    assert_string_equal(advised_without(t, call, NULL), "common");
    call.neighbours = 16;
    assert_string_equal(advised_without(t, call, NULL), "none");
    sk_tuning_free(t);
}

static void forms_are_kept_apart(void **state)
{
    (void)state;
    sk_advice x;
    sk_tuning *t = read_text(HEAD "bcast 4 1 - 64 shm 2 1\nbcast 4 1 - 64 host 1 1\n"
                                  "ibcast 4 1 - 64 binomial 3 1\nibcast 4 1 - 64 host 4 1\n"
                                  "ibcast 4 1 - 64 host 4 1\n");
    sk_tuned call = {.coll = SK_BCAST, .ranks = 4, .nodes = 1, .bytes = 64};
    assert_true(sk_tuning_advise(t, 0, &call, any, NULL, &x));
    assert_string_equal(x.algo->name, "shm");
    assert_true(x.host);
    call.form = SK_NONBLOCKING;
    assert_true(sk_tuning_advise(t, 0, &call, any, NULL, &x));
    assert_string_equal(x.algo->name, "binomial");
    assert_false(x.host);
    call.form = SK_PERSISTENT; /* nothing is known but the blocking ones */
    assert_true(sk_tuning_advise(t, 0, &call, any, NULL, &x));
    assert_string_equal(x.algo->name, "shm");
    assert_false(x.host);
    char *text = sk_tuning_text(t, NULL);
    assert_non_null(strstr(text, "\nibcast "));
    assert_null(strstr(text, "bcast_init"));
    free(text);
    sk_tuning_free(t);
}

/* ---- the choice ---- */

static const char *chosen(const char *setting, const char *text, bool *host)
{
    char err[256], copy[64];
    snprintf(copy, sizeof copy, "%s", setting);
    char *env[] = {copy, NULL};
    sk_select *s = NULL;
    sk_machine *m = NULL;
    sk_choice choice;
    assert_int_equal(sk_select_new(env, &s, err, sizeof err), SK_OK);
    sk_select_tune(s, read_text(text), 0);
    assert_int_equal(sk_machine_parse("node:4 core:1", 4, &m, err, sizeof err), SK_OK);
    sk_call c = {.coll = SK_ALLREDUCE, .nranks = 4, .types = unit_types, .ntypes = 1, .machine = m};
    c.send = c.recv = (sk_side){.count = 64};
    sk_select_explain(s, &c, &choice);
    const char *name = choice.algo->name;
    *host = choice.host;
    assert_int_equal(choice.us > 0, strncmp(choice.why, "tuning file: ", 13) == 0);
    sk_machine_free(m);
    sk_select_free(s);
    return name;
}

/* Without times of blocking calls those of another form tune no other. */
static void times_of_one_form_tune_that_form(void **state)
{
    (void)state;
    char err[256], *env[] = {NULL};
    for (int blocking = 0; blocking < 2; blocking++) {
        sk_select *s = NULL;
        assert_int_equal(sk_select_new(env, &s, err, sizeof err), SK_OK);
        sk_select_tune(s,
                       read_text(blocking ? HEAD "allreduce 4 1 - 64 ring 2 1\n"
                                          : HEAD "iallreduce 4 1 - 64 ring 2 1\n"),
                       0);
        assert_true(sk_select_tuned(s, SK_ALLREDUCE, SK_NONBLOCKING));
        assert_int_equal(sk_select_tuned(s, SK_ALLREDUCE, SK_BLOCKING), blocking);
        assert_int_equal(sk_select_tuned(s, SK_ALLREDUCE, SK_PERSISTENT), blocking);
        assert_false(sk_select_tuned(s, SK_BCAST, SK_NONBLOCKING));
        sk_select_free(s);
    }
}

static void settings_are_stronger_than_the_file(void **state)
{
    (void)state;
    bool host;
    static const char ring[] = HEAD "allreduce 4 4 - 64 ring 2 1\nallreduce 4 4 - 64 host 1 1\n";
    static const char none[] = HEAD "allreduce 4 4 - 64 shm 2 1\n"; /* cannot serve this call */
    assert_string_equal(chosen("SKEIN_X", ring, &host), "ring");
    assert_true(host);
    assert_string_equal(chosen("SKEIN_ALLREDUCE=auto", ring, &host), "ring");
    assert_string_equal(chosen("SKEIN_ALLREDUCE=rabenseifner", ring, &host), "rabenseifner");
    assert_false(host);
    assert_string_equal(chosen("SKEIN_ALLREDUCE_LONG=2K", ring, &host), "doubling");
    assert_false(host);
    assert_string_equal(chosen("SKEIN_BCAST_LONG=2K", ring, &host), "ring");
    assert_string_equal(chosen("SKEIN_REPRODUCIBLE=on", ring, &host), "doubling");
    assert_string_equal(chosen("SKEIN_X", none, &host), "doubling");
    assert_false(host);
}

/* A forced algorithm serves, or none. */
static void a_trial_has_no_second_choice(void **state)
{
    (void)state;
    char err[256];
    char *env[] = {"SKEIN_ALLREDUCE_LONG=1", NULL};
    sk_select *s = NULL;
    sk_choice choice;
    sk_call c = {.coll = SK_ALLREDUCE, .nranks = 4, .types = unit_types, .ntypes = 1};
    c.send = c.recv = (sk_side){.count = 64};
    assert_int_equal(sk_select_trial(env, "SKEIN_ALLREDUCE=shm", &s, err, sizeof err), SK_OK);
    sk_select_explain(s, &c, &choice); /* there is no shared memory */
    assert_null(choice.algo);
    sk_call bcast = c;
    bcast.coll = SK_BCAST;
    sk_select_explain(s, &bcast, &choice);
    assert_non_null(choice.algo);
    sk_select_free(s);
    assert_int_equal(sk_select_trial(env, "SKEIN_ALLREDUCE=ring", &s, err, sizeof err), SK_OK);
    sk_select_explain(s, &c, &choice);
    assert_string_equal(choice.algo->name, "ring");
    sk_select_free(s);
    assert_int_equal(sk_select_trial(env, "SKEIN_ALLREDUCE=rign", &s, err, sizeof err), SK_BADARG);
}

/* ---- files ---- */

static void files_are_found_read_and_replaced(void **state)
{
    (void)state;
    char dir[] = "/tmp/test_tuning.XXXXXX", path[SK_TUNING_PATH], want[64],
         err[SK_TUNING_PATH + SK_TUNING_ERR];
    assert_non_null(mkdtemp(dir));
    setenv("XDG_CONFIG_HOME", dir, 1);
    assert_true(sk_tuning_default(path));
    snprintf(want, sizeof want, "%s/skein/tuning", dir);
    assert_string_equal(path, want);
    sk_tuning *t = read_text(HEAD "bcast 4 1 - 64 shm 1 1\n"), *u = sk_tuning_new();
    assert_int_not_equal(sk_tuning_load(path, u, err, sizeof err), SK_OK);
    assert_non_null(strstr(err, "No such file"));
    assert_int_equal(sk_tuning_save(path, t, err, sizeof err), SK_OK);
    assert_int_equal(sk_tuning_save(path, t, err, sizeof err), SK_OK);
    assert_true(sk_tuning_find("", path));
    assert_string_equal(path, want);
    assert_false(sk_tuning_find("off", path));
    assert_int_equal(sk_tuning_load(want, u, err, sizeof err), SK_OK);
    assert_int_equal(sk_tuning_index(u, "M"), 0);
    assert_int_equal(sk_tuning_index(u, "N"), -1);
    assert_int_not_equal(sk_tuning_load(dir, u, err, sizeof err), SK_OK);
    assert_non_null(strstr(err, "not a file"));
    assert_int_not_equal(sk_tuning_save("/dev/null/x", t, err, sizeof err), SK_OK);
    FILE *f = fopen(want, "w");
    fputs(HEAD "x\n", f);
    fclose(f);
    assert_int_not_equal(sk_tuning_load(want, u, err, sizeof err), SK_OK);
    assert_non_null(strstr(err, "/skein/tuning:3: "));
    unlink(want);
    *strrchr(want, '/') = '\0';
    rmdir(want);
    rmdir(dir);
    sk_tuning_free(u);
    sk_tuning_free(t);
}

static void a_fingerprint_names_the_machine_and_no_host(void **state)
{
    (void)state;
    char name[SK_TUNING_NAME], text[SK_TUNING_NAME + 64], host[256] = "";
    sk_tuning_fingerprint("Open MPI v4.1.4, package: Debian x@somehost", name);
    assert_int_equal(strncmp(name, "Open MPI v4.1.4; ", 17), 0);
    assert_null(strstr(name, "somehost"));
    gethostname(host, sizeof host - 1);
    assert_true(strlen(host) < 4 || !strstr(name, host));
    snprintf(text, sizeof text, "skein-tuning 1\nmachine *\nmachine %s\n", name);
    sk_tuning *t = read_text(text);
    assert_int_equal(sk_tuning_index(t, name), 1);
    assert_int_equal(sk_tuning_index(t, strchr(name, ';')), 1);
    assert_int_equal(sk_tuning_index(t, "another"), 0);
    sk_tuning_free(t);
    assert_int_equal(sk_tuning_cores(name), sysconf(_SC_NPROCESSORS_ONLN));
    assert_int_equal(sk_tuning_cores("*"), 0);
    assert_int_equal(sk_tuning_cores("Some MPI; -3 cores; x"), 0);
    sk_tuning_fingerprint("MPICH Version:      4.0.2\nMPICH Release date: x", name);
    assert_int_equal(strncmp(name, "MPICH Version: 4.0.2; ", 22), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_lines_are_named),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(runs_are_merged_by_their_calls),
        cmocka_unit_test(the_fastest_is_advised),
        cmocka_unit_test(between_measured_calls_times_are_interpolated),
        cmocka_unit_test(the_nearest_counts_where_none_was_measured_everywhere),
        cmocka_unit_test(unknown_sizes_are_chosen_over_all_sizes),
        cmocka_unit_test(nodes_and_neighbours_are_kept_apart),
        cmocka_unit_test(forms_are_kept_apart),
        cmocka_unit_test(times_of_one_form_tune_that_form),
        cmocka_unit_test(settings_are_stronger_than_the_file),
        cmocka_unit_test(a_trial_has_no_second_choice),
        cmocka_unit_test(files_are_found_read_and_replaced),
        cmocka_unit_test(a_fingerprint_names_the_machine_and_no_host),
    };
    return RUN(tests);
}
