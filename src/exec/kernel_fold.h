/* kernel_fold.h: the loops of kernel.c for one type of elements. Before each inclusion define T, the
 * type, and FN(name), the name of a function for it. Everything is inlined into one function per
 * operation, where `op` is a constant.
 *
 * Up to eight operands are combined in registers. More than eight are folded block by block into
 * `kept`, which stays in the L1 cache while the operands stream past. Only the last pass over a block
 * writes to `out`, and it reads an element of all its operands before it writes that element: so
 * `out` may be an operand. */

typedef T (*FN(op))(T a, T b);

static SK_INLINED void FN(two)(T *out, const T *const *in, int64_t n, FN(op) op)
{
    const T *a = in[0], *b = in[1];
    SK_NO_CARRY
    for (int64_t i = 0; i < n; i++)
        out[i] = op(a[i], b[i]);
}

static SK_INLINED void FN(four)(T *out, const T *const *in, int64_t n, FN(op) op)
{
    const T *a = in[0], *b = in[1], *c = in[2], *d = in[3];
    SK_NO_CARRY
    for (int64_t i = 0; i < n; i++)
        out[i] = op(op(op(a[i], b[i]), c[i]), d[i]);
}

static SK_INLINED void FN(eight)(T *out, const T *const *in, int64_t n, FN(op) op)
{
    const T *a = in[0], *b = in[1], *c = in[2], *d = in[3];
    const T *e = in[4], *f = in[5], *g = in[6], *h = in[7];
    SK_NO_CARRY
    for (int64_t i = 0; i < n; i++) {
        T left = op(op(op(a[i], b[i]), c[i]), d[i]);
        out[i] = op(op(op(op(left, e[i]), f[i]), g[i]), h[i]);
    }
}

/* Elements at .. at+n-1, in passes over 8, 4 or 2 operands, the first of which is `kept`. */
static SK_INLINED void FN(block)(T *out, const void *const *in, int n_in, int64_t at, int64_t n,
                                 FN(op) op)
{
    _Alignas(SK_LINE) T kept[SK_BLOCK / sizeof(T)];
    const T *operand[8] = {(const T *)in[0] + at};
    for (int next = 1; next < n_in;) {
        int left = n_in - next;
        int width = left >= 7 ? 8 : left >= 3 ? 4 : 2;
        for (int k = 1; k < width; k++)
            operand[k] = (const T *)in[next++] + at;
        T *to = next == n_in ? out + at : kept;
        if (width == 8)
            FN(eight)(to, operand, n, op);
        else if (width == 4)
            FN(four)(to, operand, n, op);
        else
            FN(two)(to, operand, n, op);
        operand[0] = kept;
    }
}

static SK_INLINED void FN(fold_few)(T *out, const void *const *in, int n_in, int64_t count,
                                    FN(op) op)
{
    for (int64_t i = 0; i < count; i++) {
        T left = ((const T *)in[0])[i];
        for (int k = 1; k < n_in; k++)
            left = op(left, ((const T *)in[k])[i]);
        out[i] = left;
    }
}

static SK_INLINED void FN(fold_many)(T *out, const void *const *in, int n_in, int64_t count,
                                     FN(op) op)
{
    const int64_t most = SK_BLOCK / sizeof(T);
    for (int64_t at = 0; at < count; at += most)
        FN(block)(out, in, n_in, at, count - at < most ? count - at : most, op);
}

#undef T
#undef FN
