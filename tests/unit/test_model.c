#include "unit.h"

#include <string.h>

#include "neighbor/cost/model.h"

static sk_model model(const char *text)
{
    char err[256] = "";
    sk_model m;
    if (sk_model_parse(text, &m, err, sizeof err) != SK_OK)
        fail_msg("%s: %s", text, err);
    return m;
}

static sk_machine *machine(const char *text, int nranks)
{
    char err[256] = "";
    sk_machine *m = NULL;
    if (sk_machine_parse(text, nranks, &m, err, sizeof err) != SK_OK)
        fail_msg("%s: %s", text, err);
    return m;
}

static void near_to(double got, double want)
{
    if (got < want * (1 - 1e-12) || got > want * (1 + 1e-12))
        fail_msg("%.17g is not %.17g", got, want);
}

static void a_text_sets_what_it_names(void **state)
{
    (void)state;
    sk_model m = model("socket:0.3us,10GB node:500ns,8.5MB net:.002ms,12KB stage:1s");
    near_to(m.alpha[SK_SOCKET], 0.3e-6);
    near_to(m.beta[SK_SOCKET], 1e-10);
    near_to(m.alpha[SK_NODE], 0.5e-6);
    near_to(m.beta[SK_NODE], 1 / 8.5e6);
    near_to(m.alpha[SK_NET], 2e-6);
    near_to(m.beta[SK_NET], 1 / 12e3);
    near_to(m.stage, 1);
    near_to(m.message, 2e-6 / 6);
    near_to(model("message:3us net:2us").message, 3e-6);
    m = model("net:3B");
    near_to(m.beta[SK_NET], 1 / 3.0);
}

static void what_a_text_leaves_out_is_the_default(void **state)
{
    (void)state;
    sk_model usual = model(NULL), m = model("");
    assert_memory_equal(&m, &usual, sizeof m);
    for (int l = 0; l < SK_NLEVELS; l++) {
        assert_true(usual.alpha[l] > 0 && usual.beta[l] > 0);
        assert_true(l == 0 || usual.alpha[l] > usual.alpha[l - 1]);
    }
    m = model("node:8GB,7us");
    near_to(m.alpha[SK_NODE], 7e-6);
    m.alpha[SK_NODE] = usual.alpha[SK_NODE];
    m.beta[SK_NODE] = usual.beta[SK_NODE];
    assert_memory_equal(&m, &usual, sizeof m);
}

static void a_wrong_text_is_explained(void **state)
{
    (void)state;
    const char *cases[][2] = {
        {"nett:1us", "\"nett:1us\": unknown; did you mean net?"},
        {"sockett", "did you mean socket?"},
        {"10GB", "\"10GB\": unknown"},
        {"net:1", "wanted is a time in s, ms, us or ns"},
        {"net:", "wanted is a time"},
        {"net:us", "wanted is a time"},
        {"net:.us", "wanted is a time"},
        {"net:-1us", "wanted is a time"},
        {"net:1.2.3us", "wanted is a time"},
        {"net:1us,5parsec", "\"5parsec\": wanted is a time"},
        {"net:0GB", "nothing would ever arrive"},
        {"stage:3GB", "stage is a time"},
        {"turn:3GB", "stage is a time"},
        {"message:3GB", "message is a time"},
        {"net:1us,2us", "\"2us\": given twice"},
        {"net:1GB node:1us net:2GB", "\"net:2GB\": given twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char err[256] = "";
        sk_model m, before;
        memset(&m, 0x55, sizeof m);
        before = m;
        assert_int_equal(sk_model_parse(cases[i][0], &m, err, sizeof err), SK_BADARG);
        assert_memory_equal(&m, &before, sizeof m);
        if (!strstr(err, cases[i][1]) || !strstr(err, "\"socket:0.3us,10GB"))
            fail_msg("\"%s\" does not say \"%s\" and what would be right", err, cases[i][1]);
    }
}

static const sk_load some = {.stages = 3,
                             .net_stages = 2,
                             .messages = {5, 4, 2},
                             .allgather_blocks = {50, 40, 20},
                             .alltoall_blocks = {500, 400, 200}};

static void ranks_of_a_node_share_its_port(void **state)
{
    (void)state;
    sk_model m = model("socket:1us,1MB node:10us,1MB net:100us,1MB");
    sk_machine *on = machine("node:2 core:4", 7); /* at most 4 on a node, each with a core */
    /* Three stages, one of them on the node; the software of a message is a part of its alpha, or a flag on the node; what is combined is
     * also copied; a message is 128 bytes for the port, and more. */
    const double messages = 2 * 100 + 1 + (5 + 40) / 8.0 + 200 / 6.0, port = 4 * 2 * 128;
    near_to(sk_price(&m, on, &some, false, 8),
            (messages + port + 8 * (50 + 40 + 4 * 20) + 8 * (50 + 40 + 20)) * 1e-6);
    near_to(sk_price(&m, on, &some, true, 8),
            (messages + port + 8 * (500 + 400 + 4 * 200) + 8 * (500 + 400 + 200)) * 1e-6);
    /* Long blocks are not packed. */
    near_to(sk_price(&m, on, &some, false, 8192),
            (messages + port + 8192 * (50 + 40 + 4 * 20)) * 1e-6);
    sk_load straight = some;
    straight.stages = straight.net_stages = 1;
    near_to(sk_price(&m, on, &straight, false, 8),
            (100 + (5 + 40) / 3.0 + 200 / 6.0 + port + 8 * (50 + 40 + 4 * 20)) * 1e-6);
    sk_machine_free(on);
}

static void what_is_measured_replaces_the_default(void **state)
{
    (void)state;
    char text[160];
    sk_model m = model(NULL), usual = m;
    const sk_network none = {0},
                     n = {.latency = 30000000, .message = 5000000, .byte = 1000, .stage = 7000000};
    sk_model_measured(&m, &none);
    assert_memory_equal(&m, &usual, sizeof m);
    sk_model_measured(&m, &n);
    near_to(m.alpha[SK_NET], 30e-6);
    near_to(m.message, 5e-6);
    near_to(m.beta[SK_NET], 1e-9);
    near_to(m.stage, 7e-6);
    near_to(m.alpha[SK_NODE], usual.alpha[SK_NODE]);
    assert_string_equal(sk_model_text(&m, text, sizeof text), "net:30us,1GB message:5us stage:7us");
    sk_model again = model(text);
    near_to(again.alpha[SK_NET], 30e-6);
    near_to(again.message, 5e-6);
}

/* A machine of `nranks` on one node with so many cores. */
static sk_machine *node_of(int nranks, int cores)
{
    sk_location locations[64] = {{0}};
    for (int i = 0; i < nranks; i++)
        locations[i].core = -1;
    sk_machine *on = NULL;
    assert_int_equal(sk_machine_new(nranks, locations, cores, &on), SK_OK);
    return on;
}

static void ranks_that_share_cores_pay_for_stages(void **state)
{
    (void)state;
    sk_model m = model("socket:1us,1MB node:10us,1MB net:100us,1MB stage:1000us");
    const sk_load in = {.stages = 3, .messages = {5, 4, 0}, .allgather_blocks = {50, 40, 0}};
    sk_machine *on = node_of(6, 4), *own = node_of(6, 6), *unknown = node_of(6, 0);
    const double each = (5 + 40) / 8.0 + 2 * 2 * 90;
    near_to(sk_price(&m, on, &in, false, 2), (3 + 1.5 * (each + 3 * 1000)) * 1e-6);
    near_to(sk_price(&m, own, &in, false, 2), (3 + each) * 1e-6);
    near_to(sk_price(&m, unknown, &in, false, 2), (3 + each) * 1e-6);
    sk_machine_free(on);
    sk_machine_free(own);
    sk_machine_free(unknown);
}

static void more_of_anything_never_costs_less(void **state)
{
    (void)state;
    sk_model m = model(NULL);
    for (int cores = 0; cores <= 8; cores += 2) {
        sk_machine *on = node_of(8, cores);
        double base = sk_price(&m, on, &some, false, 100), less = base;
        for (int64_t bytes = 0; bytes <= 1 << 20; bytes = 2 * bytes + 1) {
            double price = sk_price(&m, on, &some, false, bytes);
            assert_true(bytes == 0 || price > less);
            less = price;
        }
        sk_load load = some;
        load.stages++;
        double price = sk_price(&m, on, &load, false, 100);
        assert_true(price > base);
        for (int l = 0; l < SK_NLEVELS; l++) {
            load = some;
            load.messages[l]++;
            assert_true(sk_price(&m, on, &load, false, 100) > base);
            load = some;
            load.allgather_blocks[l]++;
            assert_true(sk_price(&m, on, &load, false, 100) > base);
            load.alltoall_blocks[l]++;
            assert_true(sk_price(&m, on, &load, true, 100) > sk_price(&m, on, &some, true, 100));
        }
        sk_machine_free(on);
    }
}

/* 16 ranks copy 4 MB each: memory is as fast as 8 cores. */
static void cores_share_memory(void **state)
{
    (void)state;
    sk_model m = model("socket:1us,1MB");
    sk_machine *few = node_of(8, 8), *many = node_of(16, 16);
    const sk_load in = {.stages = 1, .messages = {3, 0, 0}, .allgather_blocks = {4, 0, 0}};
    near_to(sk_price(&m, few, &in, false, 1 << 20), (2 + 4 * 1048576.0) * 1e-6);
    near_to(sk_price(&m, many, &in, false, 1 << 20), (2 + 2 * 4 * 1048576.0) * 1e-6);
    near_to(sk_price(&m, many, &in, false, 1 << 18), (2 + 4 * 262144.0) * 1e-6);
    sk_machine_free(few);
    sk_machine_free(many);
}

static void nothing_costs_nothing(void **state)
{
    (void)state;
    sk_model m = model(NULL);
    sk_machine *on = node_of(8, 2);
    const sk_load none = {0};
    assert_true(sk_price(&m, on, &none, false, 1000) == 0);
    sk_machine_free(on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_sets_what_it_names),
        cmocka_unit_test(what_a_text_leaves_out_is_the_default),
        cmocka_unit_test(a_wrong_text_is_explained),
        cmocka_unit_test(what_is_measured_replaces_the_default),
        cmocka_unit_test(ranks_of_a_node_share_its_port),
        cmocka_unit_test(ranks_that_share_cores_pay_for_stages),
        cmocka_unit_test(more_of_anything_never_costs_less),
        cmocka_unit_test(cores_share_memory),
        cmocka_unit_test(nothing_costs_nothing),
    };
    return RUN(tests);
}
