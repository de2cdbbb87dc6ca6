#include "kernel_reference.h"

static void kernels_are_those_of_the_standard(void **state)
{
    (void)state;
    for (int op = 0; op < SK_NOPS; op++)
        for (int kind = 0; kind < SK_NKINDS; kind++)
            assert_int_equal(sk_kernel_find(op, kind) != NULL,
                             (allowed[op] & kinds[kind].class) != 0);
}

enum { MOST = 5000, OPERANDS = 32, EDGE = 64 };

/* A vector with a margin on both sides. */
typedef struct {
    _Alignas(64) unsigned char bytes[EDGE + 32 + MOST * 16 + EDGE];
} vector;

typedef struct {
    sk_kernel_fn *fn;
    sk_op_id op;
    struct kind kind;
    vector operand[OPERANDS], out, expected, saved;
    const void *in[OPERANDS];
} bench;

/* Aligned as the type asks, and no better: the operands differ in it. */
static unsigned char *start(vector *v, size_t size, int shift)
{
    return v->bytes + EDGE + size * (size_t)(shift % (int)(1 + 32 / size));
}

static void set_up(bench *b, sk_op_id op, sk_kind kind)
{
    b->fn = sk_kernel_find(op, kind);
    b->op = op;
    b->kind = kinds[kind];
    size_t size = b->kind.size;
    for (int k = 0; k < OPERANDS; k++) {
        unsigned char *at = start(&b->operand[k], size, k + 1);
        for (size_t i = 0; i < MOST; i++)
            b->kind.fill(at + i * size, op == SK_OP_MAX || op == SK_OP_MIN);
        b->in[k] = at;
    }
    memcpy(b->expected.bytes, b->in[0], MOST * size);
}

/* Take operand k into what is expected. */
static void expect(bench *b, int k)
{
    size_t size = b->kind.size;
    for (size_t i = 0; i < MOST; i++)
        b->kind.apply(b->op, b->expected.bytes + i * size,
                      (const unsigned char *)b->in[k] + i * size);
}

static void assert_result(const bench *b, const unsigned char *got, int64_t count)
{
    size_t size = b->kind.size;
    if (b->kind.used == size) {
        assert_memory_equal(got, b->expected.bytes, (size_t)count * size);
        return;
    }
    for (size_t i = 0; i < (size_t)count; i++)
        assert_memory_equal(got + i * size, b->expected.bytes + i * size, b->kind.used);
}

static void fold_apart(bench *b, int n, int64_t count)
{
    enum { UNTOUCHED = 0xA5 };
    memset(b->out.bytes, UNTOUCHED, sizeof b->out.bytes);
    unsigned char *out = start(&b->out, b->kind.size, 5), *end = out + (size_t)count * b->kind.size;
    b->fn(out, b->in, n, count);
    assert_result(b, out, count);
    for (int i = 0; i < EDGE; i++) {
        assert_int_equal(out[-1 - i], UNTOUCHED);
        assert_int_equal(end[i], UNTOUCHED);
    }
}

static void fold_into_each_operand(bench *b, int n, int64_t count)
{
    for (int k = 0; k < n; k++) {
        unsigned char *at = start(&b->operand[k], b->kind.size, k + 1);
        memcpy(b->saved.bytes, at, (size_t)count * b->kind.size);
        b->fn(at, b->in, n, count);
        assert_result(b, at, count);
        memcpy(at, b->saved.bytes, (size_t)count * b->kind.size);
    }
}

static void for_each_kernel(void (*check)(bench *b, int n, int64_t count))
{
    static const int64_t counts[] = {0, 1, 2, 3, 17, 1000, MOST};
    bench *b = aligned_alloc(64, sizeof *b);
    assert_non_null(b);
    for (int op = 0; op < SK_NOPS; op++)
        for (int kind = 0; kind < SK_NKINDS; kind++) {
            if (!(allowed[op] & kinds[kind].class))
                continue;
            set_up(b, op, kind);
            for (int n = 1; n <= OPERANDS; n++) {
                if (n > 1)
                    expect(b, n - 1);
                for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
                    if (n <= 9 || n == OPERANDS)
                        check(b, n, counts[i]);
            }
        }
    free(b);
}

static void kernels_fold_from_left_to_right(void **state)
{
    (void)state;
    for_each_kernel(fold_apart);
}

static void result_may_be_any_operand(void **state)
{
    (void)state;
    for_each_kernel(fold_into_each_operand);
}

/* Both of two that are equal or do not compare, and the same the other way round. */
static void max_and_min_keep_the_earlier(void **state)
{
    (void)state;
    static const double pairs[][2] = {{0.0, -0.0}, {-0.0, 0.0}, {NAN, 1}, {1, NAN}, {NAN, -NAN}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (sk_op_id op = SK_OP_MAX; op <= SK_OP_MIN; op++) {
            double got, first[20], second[20], many[20];
            sk_kernel_find(op, SK_KIND_DOUBLE)(&got, (const void *[]){&pairs[i][0], &pairs[i][1]},
                                               2, 1);
            assert_memory_equal(&got, &pairs[i][0], sizeof got);
            for (int j = 0; j < 20; j++) {
                first[j] = pairs[i][0];
                second[j] = pairs[i][1];
            }
            sk_kernel_find(op, SK_KIND_DOUBLE)(many, (const void *[]){first, second}, 2, 20);
            assert_memory_equal(many, first, sizeof many);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_those_of_the_standard),
        cmocka_unit_test(kernels_fold_from_left_to_right),
        cmocka_unit_test(result_may_be_any_operand),
        cmocka_unit_test(max_and_min_keep_the_earlier),
    };
    return RUN(tests);
}
