/* The parameters of the model: their text form, what replaces them, and levels of a machine. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "price/prices.h"

static void refused(const char *text, const char *why)
{
    sk_prices p = sk_prices_usual(), before = p;
    char err[256] = "";
    assert_int_equal(sk_prices_read(text, &p, err, sizeof err), SK_BADARG);
    if (!strstr(err, why))
        fail_msg("\"%s\": \"%s\" does not say \"%s\"", text, err, why);
    assert_memory_equal(&p, &before, sizeof p);
}

static void usual_prices_make_sense(void **state)
{
    (void)state;
    sk_prices p = sk_prices_usual();
    for (int l = 0; l + 1 < SK_NAT; l++) {
        const sk_level_prices *near = &p.level[l], *far = near + 1;
        assert_true(near->latency + near->send + near->recv <=
                    far->latency + far->send + far->recv);
        assert_true(l + 1 == SK_AT_NET || (near->in <= far->in && near->flag <= far->flag));
    }
    assert_true(p.port_byte > 0 && p.copy > 0 && p.reduce > 0 && p.wake > 0);
}

static void text_replaces_what_it_names(void **state)
{
    (void)state;
    sk_prices p = sk_prices_usual(), usual = p;
    char err[256];
    const char *text = "# a cluster\n"
                       "net.latency 1.5 us\n"
                       "\n"
                       "  port.byte\t25 GB/s # two ports\n"
                       "net.eager 16 KB\n"
                       "socket.in 80 ps/B\n"
                       "wake 0.003 ms";
    assert_int_equal(sk_prices_read(text, &p, err, sizeof err), SK_OK);
    assert_between(p.level[SK_AT_NET].latency, 1500, 1500);
    assert_between(p.port_byte * 1e6 + 0.5, 40000, 40000);
    assert_between(p.level[SK_AT_NET].eager, 16384, 16384);
    assert_between(p.level[SK_AT_SOCKET].in * 1e6 + 0.5, 80000, 80000);
    assert_between(p.wake + 0.5, 3000, 3000);
    assert_memory_equal(&p.level[SK_AT_NODE], &usual.level[SK_AT_NODE], sizeof p.level[0]);
}

static void wrong_text_is_refused_with_its_line(void **state)
{
    (void)state;
    refused("net.latency 1 us\nnet.latncy 2 us\n",
            "line 2: net.latncy: no such price; did you mean net.latency?");
    refused("net.latency 1\n", "line 1: net.latency: a line has a name, a value and a unit");
    refused("\n\nnet.latency 1 us now\n", "line 3: net.latency: a line has");
    refused("net.latency 1 GB/s\n", "a time in s, ms, us, ns or ps");
    refused("port.byte 1 us\n", "ns/B, ps/B");
    refused("port.byte 0 GB/s\n", "nothing would ever arrive");
    refused("net.eager 1 us\n", "bytes in B, KB or MB");
    refused("net.latency -1 us\n", "no number");
    refused("net.latency 1,5 us\n", "no number");
    refused("net.latency 1e3 us\n", "no number");
    refused("net.latency 99999999999999 s\n", "too large");
    char text[1024];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    refused(text, "line 1: : too long");
}

static void what_is_printed_can_be_read(void **state)
{
    (void)state;
    sk_prices p = sk_prices_usual(), q;
    char *text = NULL, err[256];
    size_t size = 0;
    memset(&q, 0, sizeof q);
    p.level[SK_AT_NODE].out = 0.123456;
    p.call = 1234567.25;
    FILE *f = open_memstream(&text, &size);
    sk_prices_print(&p, f);
    fclose(f);
    assert_non_null(strstr(text, "node.out"));
    assert_int_equal(sk_prices_read(text, &q, err, sizeof err), SK_OK);
    const double *a = (const double *)&p, *b = (const double *)&q;
    for (size_t i = 0; i < sizeof p / sizeof *a; i++)
        assert_between(b[i] * 1e6 + 0.5, (uintmax_t)(a[i] * 1e6 + 0.5),
                       (uintmax_t)(a[i] * 1e6 + 1.5));
    free(text);
}

static void measured_prices_are_taken_over(void **state)
{
    (void)state;
    sk_prices p = sk_prices_usual(), usual = p;
    sk_copy_prices none = {{0}}, measured = {{0}};
    sk_prices_measured(&p, &none);
    assert_memory_equal(&p, &usual, sizeof p);
    measured.fs[SK_PRICE_OUT] = 300000;
    measured.fs[SK_PRICE_CALL] = 700 * (int64_t)1000000;
    sk_prices_measured(&p, &measured);
    assert_between(p.level[SK_AT_SOCKET].out * 1e6 + 0.5, 300000, 300000);
    double ratio = usual.level[SK_AT_NODE].out / usual.level[SK_AT_SOCKET].out;
    assert_between(p.level[SK_AT_NODE].out * 1e6 + 0.5, ratio * 300000, ratio * 300000 + 1);
    assert_between(p.call + 0.5, 700, 700);
    assert_between(p.copy * 1e6 + 0.5, usual.copy * 1e6, usual.copy * 1e6 + 1);
    assert_between(p.level[SK_AT_NET].latency, usual.level[SK_AT_NET].latency,
                   usual.level[SK_AT_NET].latency);
}

static void levels_of_a_machine(void **state)
{
    (void)state;
    char err[256];
    sk_machine *m = NULL;
    assert_int_equal(sk_machine_parse("node:2 socket:2 core:2", 8, &m, err, sizeof err), SK_OK);
    assert_int_equal(sk_at_of(m, 0, 1), SK_AT_SOCKET);
    assert_int_equal(sk_at_of(m, 0, 2), SK_AT_NODE);
    assert_int_equal(sk_at_of(m, 0, 4), SK_AT_NET);
    assert_int_equal(sk_at_of(m, 5, 5), SK_AT_CORE);
    assert_int_equal(sk_at_of(NULL, 0, 1), SK_AT_NET);
    assert_int_equal(sk_core_of(m, 3), -1);
    m->cores = 2; /* nothing is bound: four ranks on two cores */
    for (int i = 0; i < 8; i++)
        m->core[i] = -1;
    assert_int_equal(sk_core_of(m, 1), 1);
    assert_int_equal(sk_core_of(m, 2), 0);
    assert_int_equal(sk_at_of(m, 0, 1), SK_AT_SOCKET);
    sk_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_prices_make_sense),
        cmocka_unit_test(text_replaces_what_it_names),
        cmocka_unit_test(wrong_text_is_refused_with_its_line),
        cmocka_unit_test(what_is_printed_can_be_read),
        cmocka_unit_test(measured_prices_are_taken_over),
        cmocka_unit_test(levels_of_a_machine),
    };
    return RUN(tests);
}
