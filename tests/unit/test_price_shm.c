/* The price of a call in shared memory: flags, copies, reads in place, caches, and ranks that share cores. */
#include "price_scene.h"

static void take_twice(sk_sched *s, const scene *x, int rank)
{
    int epoch = sk_epoch(s, x->bytes, false);
    if (rank == 0) {
        sk_copy(s, sent(x), sk_slot(epoch, 0, x->bytes));
        sk_fence(s);
        sk_post(s, epoch);
    } else {
        for (int64_t at = 0; at < x->bytes; at += x->bytes / 2)
            sk_take(s, 0, sk_slot(epoch, at, x->bytes / 2), bytes_of(SK_RECV, at, x->bytes / 2));
    }
}

/* Its line is in the reader's cache when it is read again. */
static void a_flag_is_fetched_once(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.machine = "node:1 core:2", .nranks = 2, .bytes = 100, .build = take_twice};
    assert_ns(price(&x, &p).ns, 100 + 7 + 200);
}

static void flat_bcast(sk_sched *s, const scene *x, int rank)
{
    int epoch = sk_epoch(s, x->bytes, false);
    if (rank == 0) {
        sk_copy(s, sent(x), sk_slot(epoch, 0, x->bytes));
        sk_fence(s);
        sk_post(s, epoch);
    } else {
        sk_take(s, 0, sk_slot(epoch, 0, x->bytes), received(x));
    }
}

static void flat_shared_memory_bcast(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.machine = "node:1 core:6", .nranks = 6, .bytes = 100, .build = flat_bcast};
    assert_ns(price(&x, &p).ns, 100 + 7 + 200);
    x.machine = "node:1 socket:2 core:3"; /* three of them read from the other socket */
    assert_ns(price(&x, &p).ns, 100 + 9 + 300);
}

static void flat_barrier(sk_sched *s, const scene *x, int rank)
{
    int epoch = sk_epoch(s, 0, true);
    if (rank == 2)
        sk_copy(s, sent(x), received(x));
    sk_fence(s);
    sk_post(s, epoch);
    sk_fence(s);
    sk_await_local(s, epoch, 0, x->nranks);
}

static void barrier_waits_for_the_last(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.machine = "node:1 core:5", .nranks = 5, .bytes = 1000, .build = flat_barrier};
    /* The last one is rank 2; the others see its flag, it has to look at four. */
    assert_ns(price(&x, &p).ns, 500 + 4 * 7);
    x.bytes = 2; /* nobody is late: four flags */
    assert_ns(price(&x, &p).ns, 1 + 4 * 7);
}

static void quiesces(sk_sched *s, const scene *x, int rank)
{
    int epoch = sk_epoch(s, 64, false);
    if (rank == 0) {
        sk_export(s, sent(x), sk_slot(epoch, 0, SK_EXPORT_BYTES));
        sk_fence(s);
        sk_post(s, epoch);
        sk_fence(s);
        sk_quiesce(s, epoch);
    } else {
        sk_read(s, 0, sk_slot(epoch, 0, SK_EXPORT_BYTES), 0, received(x));
    }
}

static void single_copy_waits_for_its_readers(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.machine = "node:1 core:3", .nranks = 3, .bytes = 100, .build = quiesces};
    /* flag, call and read, and the flag that they are done */
    assert_ns(price(&x, &p).ns, 7 + 5000 + 200 + 7);
}

static void ranks_on_one_core_run_one_after_the_other(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {
        .machine = "node:1 core:4", .nranks = 4, .bytes = 1000, .build = local_work, .cores = 1};
    assert_ns(price(&x, &p).ns, 4 * 750 + 3 * 10000);
    x.cores = 2;
    assert_ns(price(&x, &p).ns, 2 * 750 + 10000);
    x.build = flat_bcast; /* comes to an end, and each rank is woken at least once */
    assert_true(price(&x, &p).ns > 10000);
}

static sk_priced price_row(const scene *x, const sk_prices *p, int calls)
{
    sk_priced out = {0};
    sk_machine *m = NULL;
    assert_int_equal(sk_machine_even(x->nranks, 1, x->cores ? x->cores : x->nranks, &m), SK_OK);
    sk_price_case c = {.prices = p,
                       .machine = m,
                       .nranks = x->nranks,
                       .build = build_scene,
                       .ctx = x,
                       .calls = calls};
    assert_int_equal(sk_price_call(&c, &out), SK_OK);
    sk_machine_free(m);
    return out;
}

/* Who only posts runs ahead; who waits for all does not. */
static void calls_in_a_row_overlap(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.nranks = 2, .bytes = 100, .build = flat_bcast};
    sk_priced many = price_row(&x, &p, 10);
    assert_ns(many.ns, 100 + 7 + 200);
    assert_ns(many.each, (100 + 10 * (7 + 200)) / 10.0);
    assert_true(price_row(&x, &p, 1).each <= 0);
    x.build = flat_barrier;
    x.bytes = 0;
    assert_ns(price_row(&x, &p, 10).each, price_row(&x, &p, 10).ns);
    /* On one core a rank makes all calls that it can before another gets the core. */
    x = (scene){.nranks = 2, .bytes = 100, .build = flat_bcast, .cores = 1};
    many = price_row(&x, &p, 10);
    assert_true(many.each >= 100 && many.each < many.ns / 4);
    /* A message that is not waited for, ten times, and the last one received. */
    x = (scene){.nranks = 2, .bytes = 100, .build = one_message};
    assert_ns(price_row(&x, &p, 10).each, (20 + 100 + 50 + 10 * (30 + 200)) / 10.0);
}

static void exchanges_a_result(sk_sched *s, const scene *x, int rank)
{
    int epoch = sk_epoch(s, 64, true);
    if (x->odd)
        sk_copy(s, sent(x), received(x));
    sk_fence(s);
    sk_export(s, x->odd ? received(x) : sent(x), sk_slot(epoch, 0, SK_EXPORT_BYTES));
    sk_fence(s);
    sk_post(s, epoch);
    sk_read(s, 1 - rank, sk_slot(epoch, 0, SK_EXPORT_BYTES), 0,
            bytes_of(SK_RECV, x->bytes, x->bytes));
    sk_fence(s);
    sk_quiesce(s, epoch);
}

/* What its owner has just written, and what several cores read at once, takes longer to be read in place. */
static void reads_in_place_depend_on_who_has_the_lines(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    p.fresh = 3;
    scene x = {.nranks = 2, .bytes = 100, .build = exchanges_a_result};
    assert_ns(price_row(&x, &p, 1).ns, 7 + 5000 + 100 * 2 + 7);
    x.odd = 1; /* it is copied, and that is exported */
    assert_ns(price_row(&x, &p, 1).ns, 50 + 7 + 5000 + 100 * (2 + 3) + 7);
    p.same = 4;
    x = (scene){.nranks = 4, .bytes = 100, .build = quiesces};
    assert_ns(price_row(&x, &p, 1).ns, 7 + 5000 + 100 * (2 + 2 * 4) + 7);
    /* So are long messages that pass on what has come. */
    p.same = 0;
    x = (scene){.nranks = 3, .bytes = 5000, .build = chain};
    assert_ns(price_row(&x, &p, 1).ns, (20 + 50 + 30 + 5000 + 5000 * 2 + 20) +
                                           (20 + 50 + 30 + 5000 + 5000 * 5 + 20) + 50 + 30);
}

static void folds_parts(sk_sched *s, const scene *x, int rank)
{
    int epoch = sk_epoch(s, x->bytes, true);
    int64_t part = x->bytes / x->nranks;
    sk_copy(s, sent(x), sk_slot(epoch, 0, x->bytes));
    sk_fence(s);
    sk_post(s, epoch);
    sk_fold_local(s, 0, x->nranks, sk_slot(epoch, rank * part, part), bytes_of(SK_RECV, 0, part));
}

static void operands_of_other_cores_cost_more(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.nranks = 4, .bytes = 400, .build = folds_parts};
    p.level[SK_AT_CORE].out = 0.5;
    /* in, flags, three reductions, and three operands that are far: 2 instead of 0.5 */
    assert_ns(price_row(&x, &p, 1).ns, 400 + 3 * 7 + 100 * (3 * 0.25 + 3 * 1.5));
    p.together = 1; /* all write at the same time */
    assert_ns(price_row(&x, &p, 1).ns, 800 + 3 * 7 + 100 * (3 * 0.25 + 3 * 1.5));
    /* Two on each core: of a slot that each reads a quarter of, the other core has read half. */
    x.cores = 2;
    p.wake = 0;
    p.level[SK_AT_SOCKET].flag = p.level[SK_AT_CORE].flag = 0;
    assert_ns(price_row(&x, &p, 1).ns, 2 * 400 * 0.75 + 2 * 100 * (3 * 0.25 + 2 * 1.5));
}

/* 200 bytes are used by each rank, 400 on a core. */
static void ranks_of_a_core_share_its_cache(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.nranks = 2, .bytes = 100, .build = copy_alone};
    p.far = 2;
    p.cache = 400; /* twice as much: all is still there */
    assert_ns(price_row(&x, &p, 1).ns, 50);
    p.cache = 160; /* (1.25 - 0.5) / 1.5: half is not */
    assert_ns(price_row(&x, &p, 1).ns, 50 + 100);
    p.cache = 100;
    assert_ns(price_row(&x, &p, 1).ns, 50 + 200);
    x.cores = 1;
    p.wake = 0;
    p.cache = 320;
    assert_ns(price_row(&x, &p, 1).ns, 2 * (50 + 100));
    p.cache = 800;
    assert_ns(price_row(&x, &p, 1).ns, 2 * 50);
}

static void waits_for_ever(sk_sched *s, const scene *x, int rank)
{
    sk_recv(s, received(x), 1 - rank);
    sk_fence(s);
    sk_send(s, sent(x), 1 - rank);
}

static void packets(sk_sched *s, const scene *x, int rank)
{
    int packet = sk_packet(s, 1, x->bytes);
    if (rank == 0) {
        sk_put(s, packet, 0, sent(x));
        sk_fence(s);
        sk_packet_send(s, packet, 0, 1, 1);
    } else {
        sk_packet_recv(s, packet, 0);
    }
}

static void what_has_no_price_says_so(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    sk_priced out;
    scene x = {.nranks = 2, .bytes = 8, .build = waits_for_ever};
    assert_int_equal(try_price(&x, &p, &out), SK_DEADLOCK);
    x.build = packets;
    assert_int_equal(try_price(&x, &p, &out), SK_TOOBIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flag_is_fetched_once),
        cmocka_unit_test(flat_shared_memory_bcast),
        cmocka_unit_test(barrier_waits_for_the_last),
        cmocka_unit_test(single_copy_waits_for_its_readers),
        cmocka_unit_test(calls_in_a_row_overlap),
        cmocka_unit_test(reads_in_place_depend_on_who_has_the_lines),
        cmocka_unit_test(operands_of_other_cores_cost_more),
        cmocka_unit_test(ranks_of_a_core_share_its_cache),
        cmocka_unit_test(ranks_on_one_core_run_one_after_the_other),
        cmocka_unit_test(what_has_no_price_says_so),
    };
    return RUN(tests);
}
