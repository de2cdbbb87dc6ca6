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
        {"port:3us", "port is bytes per second"},
        {"port:0GB", "nothing would ever arrive"},
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
                             .net_stages = 1,
                             .intra_stages = 2,
                             .messages = {5, 4, 2},
                             .allgather_blocks = {50, 40, 20},
                             .alltoall_blocks = {500, 400, 200},
                             .allgather_copies = 70,
                             .alltoall_copies = 900};

/* Two messages each way, 6 us each: 1 us of software at each end, 4 us under way. The ports take 1 us per byte, and
 * 128 for any message. */
static void ranks_of_a_node_share_its_port(void **state)
{
    (void)state;
    sk_model m = model("socket:1us,1MB node:10us,1MB net:6us,1MB");
    sk_machine *on = machine("node:2 core:4", 7);
    sk_load load = {.stages = 1,
                    .net_stages = 1,
                    .messages = {0, 0, 4},
                    .allgather_blocks = {0, 0, 4},
                    .alltoall_blocks = {0, 0, 4},
                    .most_messages = 4,
                    .all = {.messages = 14, .allgather_blocks = 14, .alltoall_blocks = 14}};
    near_to(sk_price(&m, on, &load, false, 8), (4 + 7 * (8 + 128)) * 1e-6);
    near_to(sk_price(&m, on, &load, true, 8), (4 + 7 * (8 + 128)) * 1e-6);
    /* One rank sends: it has the port for itself. */
    load.all = (sk_volume){.messages = 2, .allgather_blocks = 2};
    near_to(sk_price(&m, on, &load, false, 8), (4 + 2 * (8 + 128)) * 1e-6);
    /* Long messages ask first, and pass two ports one after the other. */
    near_to(sk_price(&m, on, &load, false, 1 << 20), (3 * 4 + 3 * 1048576.0 + 2 * 128) * 1e-6);
    sk_machine_free(on);
}

/* The first arrivals are handled while the last ones are under way: half of the work hides the way. */
static void a_core_works_while_messages_are_under_way(void **state)
{
    (void)state;
    sk_model m = model("net:6us,1000GB");
    sk_machine *on = machine("node:2 core:4", 8);
    sk_load load = {
        .stages = 1, .net_stages = 1, .messages = {0, 0, 4}, .allgather_blocks = {0, 0, 4}};
    near_to(sk_price(&m, on, &load, false, 0), (4 + 4 - 4 / 2) * 1e-6);
    load.messages[SK_NET] = load.allgather_blocks[SK_NET] = 40;
    near_to(sk_price(&m, on, &load, false, 0), 40 * 1e-6);
    sk_machine_free(on);
}

/* Inside the node: 2 us of flags, and copies that take 4. In a stage of its own, or while messages that take 100
 * us are under way. */
static void work_in_stages_with_messages_is_hidden(void **state)
{
    (void)state;
    sk_model m = model("socket:12us,1MB node:2us,1MB net:150us,1000GB");
    sk_machine *on = machine("node:2 core:4", 8);
    sk_load load = {.stages = 2,
                    .net_stages = 1,
                    .intra_stages = 1,
                    .messages = {2, 0, 0},
                    .allgather_blocks = {4, 0, 0},
                    .allgather_copies = 4};
    const double work = 2 + 4 * 12 / 40.0 + 4;
    near_to(sk_price(&m, on, &load, false, 1), (100 + work + 1) * 1e-6);
    load.stages = 1; /* direct messages: 4 us of software each, and two copies */
    near_to(sk_price(&m, on, &load, false, 1), (100 + (4 * 4 + 4) / 2.0) * 1e-6);
    load.stages = 2;
    load.net_stages = 2; /* one of two stages inside the node waits for the network too */
    load.intra_stages = 2;
    near_to(sk_price(&m, on, &load, false, 1), (200 + work / 2) * 1e-6);
    sk_machine_free(on);
}

static void what_is_measured_replaces_the_default(void **state)
{
    (void)state;
    char text[160];
    sk_model m = model(NULL), usual = m;
    const sk_network none = {0},
                     n = {.latency = 30000000, .message = 5000000, .byte = 1000, .stage = 7000000};
    const sk_copy_prices
        unknown = {{0}},
        c = {{[SK_PRICE_IN] = 100000, [SK_PRICE_OUT] = 300000, [SK_PRICE_COPY] = 40000}};
    sk_model_measured(&m, &none, &unknown);
    assert_memory_equal(&m, &usual, sizeof m);
    sk_model_measured(&m, &n, &c);
    near_to(m.beta[SK_SOCKET], 0.2e-9);
    near_to(m.beta[SK_NODE], 0.2e-9 * usual.beta[SK_NODE] / usual.beta[SK_SOCKET]);
    near_to(m.copy, 0.04e-9);
    near_to(m.alpha[SK_NET], 30e-6);
    near_to(m.message, 5e-6);
    near_to(m.beta[SK_NET], 1e-9);
    near_to(m.stage, 7e-6);
    near_to(m.alpha[SK_NODE], usual.alpha[SK_NODE]);
    assert_string_equal(sk_model_text(&m, text, sizeof text), "net:30us,1GB message:5us stage:7us");
    sk_model_measured(&m, &(sk_network){.port = 4000}, &c);
    near_to(m.port, 4e-9);
    assert_string_equal(sk_model_text(&m, text, sizeof text),
                        "net:30us,1GB message:5us stage:7us port:0.25GB");
    near_to(model(text).port, 4e-9);
    sk_model again = model(text);
    near_to(again.alpha[SK_NET], 30e-6);
    near_to(again.message, 5e-6);
}

/* A message of 16 KB in one stage between two nodes. */
static void a_long_message_waits_as_long_as_measured(void **state)
{
    (void)state;
    sk_machine *on = machine("node:2 core:1", 2);
    sk_load load = {.stages = 1, .net_stages = 1, .most_messages = 1};
    load.messages[SK_NET] = load.allgather_blocks[SK_NET] = 1;
    sk_model m = model("net:30us,1GB message:5us");
    double there_and_back = sk_price(&m, on, &load, false, 16 << 10);
    const sk_copy_prices unknown = {{0}};
    sk_model_measured(&m, &(sk_network){.handshake = 1}, &unknown); /* sent at once */
    near_to(there_and_back - sk_price(&m, on, &load, false, 16 << 10), 2 * 20e-6 - 1e-12);
    double short_one = sk_price(&m, on, &load, false, 4 << 10);
    sk_model_measured(&m, &(sk_network){.handshake = 7000000}, &unknown);
    near_to(there_and_back - sk_price(&m, on, &load, false, 16 << 10), 2 * 20e-6 - 7e-6);
    near_to(sk_price(&m, on, &load, false, 4 << 10), short_one);
    sk_machine_free(on);
}

/* 4 ranks of each of two nodes send 16 KB to the other node. */
static void ranks_share_a_port_with_the_rate_of_all(void **state)
{
    (void)state;
    sk_machine *on = machine("node:2 core:4", 8);
    sk_load load = {.stages = 1, .net_stages = 1, .most_messages = 2};
    load.messages[SK_NET] = load.allgather_blocks[SK_NET] = 2;
    load.all.messages = load.all.allgather_blocks = 8;
    sk_model alone = model("net:30us,1GB message:5us"),
             all = model("net:30us,1GB message:5us port:0.5GB");
    near_to(sk_price(&all, on, &load, false, 16 << 10) -
                sk_price(&alone, on, &load, false, 16 << 10),
            1e-9 * 4 * ((16 << 10) + 128));
    sk_machine_free(on);
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
    const sk_load in = {.stages = 3,
                        .intra_stages = 3,
                        .messages = {5, 4, 0},
                        .allgather_blocks = {50, 40, 0},
                        .allgather_copies = 90};
    sk_machine *on = node_of(6, 4), *own = node_of(6, 6), *unknown = node_of(6, 0);
    const double each = 9 * 5 / 12.0 + 90 * (1 / 40.0 + 2); /* flags, of 5 us on average; copies */
    near_to(sk_price(&m, on, &in, false, 2), (15 + 1.5 * (each + 3 * 1000)) * 1e-6);
    near_to(sk_price(&m, own, &in, false, 2), (15 + each) * 1e-6);
    near_to(sk_price(&m, unknown, &in, false, 2), (15 + each) * 1e-6);
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
            load.allgather_copies += l != SK_NET;
            load.alltoall_copies += l != SK_NET;
            assert_true(sk_price(&m, on, &load, false, 100) > base);
            load.alltoall_blocks[l]++;
            assert_true(sk_price(&m, on, &load, true, 100) > sk_price(&m, on, &some, true, 100));
        }
        sk_machine_free(on);
    }
}

/* Ranks copy 2 MB each: memory is as fast as 8 cores. Software: 4/3 us; a stage in the node: 0.3 us. */
static void cores_share_memory(void **state)
{
    (void)state;
    sk_model m = model("socket:1us,1MB");
    sk_machine *few = node_of(8, 8), *many = node_of(16, 16);
    sk_load in = {.stages = 1,
                  .intra_stages = 1,
                  .messages = {4, 0, 0},
                  .allgather_blocks = {4, 0, 0},
                  .allgather_copies = 2,
                  .all.allgather_copies = 16};
    const double more = 4 / 3.0 + 0.3;
    near_to(sk_price(&m, few, &in, false, 1 << 20), (2 * 1048576.0 + more) * 1e-6);
    in.all.allgather_copies = 32;
    near_to(sk_price(&m, many, &in, false, 1 << 20), 4 * 1048576.0 * 1e-6);
    near_to(sk_price(&m, many, &in, false, 1 << 18), (2 * 262144.0 + more) * 1e-6);
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
        cmocka_unit_test(a_long_message_waits_as_long_as_measured),
        cmocka_unit_test(ranks_share_a_port_with_the_rate_of_all),
        cmocka_unit_test(ranks_of_a_node_share_its_port),
        cmocka_unit_test(a_core_works_while_messages_are_under_way),
        cmocka_unit_test(work_in_stages_with_messages_is_hidden),
        cmocka_unit_test(ranks_that_share_cores_pay_for_stages),
        cmocka_unit_test(more_of_anything_never_costs_less),
        cmocka_unit_test(cores_share_memory),
        cmocka_unit_test(nothing_costs_nothing),
    };
    return RUN(tests);
}
