#include "mpi/state/dtype.h"

#include <stdlib.h>

/* ---- contiguous types: the packed bytes are the bytes in memory ---- */

#if SK_HAVE_ENVELOPE
static bool contig(MPI_Datatype t);

/* How the type was made, and the number of integers, addresses and types that this took. -1: with large
 * counts, which MPI_Type_get_contents does not tell. */
static int envelope(MPI_Datatype t, int *ni, int *na, int *nt)
{
    int combiner;
#if SK_HAVE_LARGE
    if (sk_host.large) {
        MPI_Count li, la, lc, lt;
        sk_host.Type_get_envelope_c(t, &li, &la, &lc, &lt, &combiner);
        *ni = (int)li;
        *na = (int)la;
        *nt = (int)lt;
        return lc > 0 ? -1 : combiner;
    }
#endif
    sk_host.Type_get_envelope(t, ni, na, nt, &combiner);
    return combiner;
}

/* A type that is never freed: named, or made by MPI_Type_create_f90_*, which returns the same one
 * for the same arguments. */
static bool is_predefined(MPI_Datatype t)
{
    int ni, na, nt, combiner = envelope(t, &ni, &na, &nt);
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/* Blocks that follow each other without holes, each of contiguous elements. */
static bool contig_struct(int n, const int *len, const MPI_Aint *displ, const MPI_Datatype *types)
{
    MPI_Count at = 0, size;
    for (int i = 0; i < n; i++) {
        if (len[i] == 0)
            continue;
        sk_host.Type_size_x(types[i], &size);
        if (displ[i] != at || !contig(types[i]))
            return false;
        at += len[i] * size;
    }
    return true;
}

/* What a type was made of. */
typedef struct sk_type_contents {
    int *ints;
    MPI_Aint *addrs;
    MPI_Datatype *types;
    int ntypes; /* 0: the host does not tell */
} sk_type_contents;

static sk_type_contents contents(MPI_Datatype t, int ni, int na, int nt)
{
    sk_type_contents c = {.ints = malloc(sizeof *c.ints * (size_t)(ni + 1)),
                          .addrs = malloc(sizeof *c.addrs * (size_t)(na + 1)),
                          .types = malloc(sizeof(MPI_Datatype) * (size_t)(nt + 1))};
    if (c.ints && c.addrs && c.types &&
        sk_host.Type_get_contents(t, ni, na, nt, c.ints, c.addrs, c.types) == MPI_SUCCESS)
        c.ntypes = nt;
    return c;
}

static void drop_contents(sk_type_contents *c)
{
    for (int i = 0; i < c->ntypes; i++)
        if (!is_predefined(c->types[i]))
            sk_host.Type_free(&c->types[i]);
    free(c->ints);
    free(c->addrs);
    free(c->types);
}

static bool contig_derived(MPI_Datatype t, int ni, int na, int nt, int combiner)
{
    sk_type_contents c = contents(t, ni, na, nt);
    bool yes = false;
    if (!c.ntypes)
        ;
    else if (combiner == MPI_COMBINER_STRUCT)
        yes = contig_struct(c.ints[0], c.ints + 1, c.addrs, c.types);
    else if (combiner == MPI_COMBINER_VECTOR)
        yes = (c.ints[0] <= 1 || c.ints[1] == c.ints[2]) && contig(c.types[0]);
    else /* dup, contiguous, resized: the caller has compared the extents */
        yes = contig(c.types[0]);
    drop_contents(&c);
    return yes;
}

static bool contig(MPI_Datatype t)
{
    MPI_Count size, lb, extent, true_lb, true_extent;
    sk_host.Type_size_x(t, &size);
    sk_host.Type_get_extent_x(t, &lb, &extent);
    sk_host.Type_get_true_extent_x(t, &true_lb, &true_extent);
    if (lb || true_lb || size != extent || size != true_extent)
        return false;
    int ni, na, nt, combiner = envelope(t, &ni, &na, &nt);
    switch (combiner) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
        return true;
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_RESIZED:
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_STRUCT:
        return contig_derived(t, ni, na, nt, combiner);
    default:
        return false;
    }
}

/* One element of a type of the standard and laid out like it: as many bytes in the same place, whatever the type was
 * made by. */
static bool is_single(MPI_Datatype t, const sk_type *layout)
{
    int ni, na, nt, combiner = envelope(t, &ni, &na, &nt);
    if (is_predefined(t)) {
        MPI_Count size, lb, extent, true_lb, true_extent;
        sk_host.Type_size_x(t, &size);
        sk_host.Type_get_extent_x(t, &lb, &extent);
        sk_host.Type_get_true_extent_x(t, &true_lb, &true_extent);
        return size == layout->size && extent == layout->extent && true_lb == layout->true_lb &&
               true_extent == layout->true_extent;
    }
    if (combiner < 0 || nt != 1)
        return false;
    sk_type_contents c = contents(t, ni, na, nt);
    bool yes = c.ntypes == 1 && is_single(c.types[0], layout);
    drop_contents(&c);
    return yes;
}

#endif

/* ---- reductions ---- */

/* Families of types that share their kernels. */
typedef enum sk_type_family {
    FAMILY_SIGNED,
    FAMILY_UNSIGNED,
    FAMILY_REAL,
    FAMILY_EXTENDED,
    FAMILY_COMPLEX,
    FAMILY_BOOLEAN,
    FAMILY_BITS,
    NFAMILIES,
    FAMILY_NONE = NFAMILIES
} sk_type_family;

static sk_kind kind_of(sk_type_family family, MPI_Count size)
{
    enum { SIZES = 5 }; /* 1, 2, 4, 8, 16 bytes */
    static const sk_kind kinds[NFAMILIES][SIZES] = {
        [FAMILY_SIGNED] = {SK_KIND_INT8, SK_KIND_INT16, SK_KIND_INT32, SK_KIND_INT64},
        [FAMILY_UNSIGNED] = {SK_KIND_UINT8, SK_KIND_UINT16, SK_KIND_UINT32, SK_KIND_UINT64},
        [FAMILY_REAL] = {[2] = SK_KIND_FLOAT, [3] = SK_KIND_DOUBLE},
        [FAMILY_EXTENDED] = {[3] = SK_KIND_LONG_DOUBLE, [4] = SK_KIND_LONG_DOUBLE},
        [FAMILY_COMPLEX] = {[3] = SK_KIND_FLOAT_COMPLEX, [4] = SK_KIND_DOUBLE_COMPLEX},
        [FAMILY_BOOLEAN] = {SK_KIND_BOOL},
        [FAMILY_BITS] = {SK_KIND_BYTE},
    };
    for (int i = 0; family != FAMILY_NONE && i < SIZES; i++)
        if (size == 1 << i)
            return kinds[family][i];
    return SK_KIND_NONE;
}

/* Handles are addresses on some hosts and numbers on others, so they are looked up in a table, once
 * per sk_dtype. */
typedef struct sk_type_row {
    MPI_Datatype type;
    sk_type_class class;
    sk_type_family family;
} sk_type_row;

static sk_type_row row_of(MPI_Datatype t)
{
    static const sk_type_row rows[] = {
#define TYPE(handle, CLASS, FAMILY) {handle, SK_CLASS_##CLASS, FAMILY_##FAMILY},
#include "mpi/state/types.def"
#undef TYPE
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == t)
            return rows[i];
    return (sk_type_row){t, SK_CLASS_OTHER, FAMILY_NONE};
}

bool sk_reducible(MPI_Op op, const sk_dtype *d, sk_reduction *out)
{
    enum {
        INT = 1 << SK_CLASS_INTEGER,
        FLT = 1 << SK_CLASS_FLOAT,
        CPX = 1 << SK_CLASS_COMPLEX,
        LOG = 1 << SK_CLASS_LOGICAL,
        BYT = 1 << SK_CLASS_BYTE,
        PAI = 1 << SK_CLASS_PAIR,
        CHR = 1 << SK_CLASS_CHARACTER,
    };
    static const struct {
        MPI_Op op;
        int classes; /* on which the standard allows it; on characters where the sign does not matter */
        sk_op_id id;
    } rows[] = {
        {MPI_SUM, INT | FLT | CPX | CHR, SK_OP_SUM},
        {MPI_MAX, INT | FLT, SK_OP_MAX},
        {MPI_MIN, INT | FLT, SK_OP_MIN},
        {MPI_PROD, INT | FLT | CPX | CHR, SK_OP_PROD},
        {MPI_LAND, INT | LOG | CHR, SK_OP_LAND},
        {MPI_BAND, INT | BYT | CHR, SK_OP_BAND},
        {MPI_LOR, INT | LOG | CHR, SK_OP_LOR},
        {MPI_BOR, INT | BYT | CHR, SK_OP_BOR},
        {MPI_LXOR, INT | LOG | CHR, SK_OP_LXOR},
        {MPI_BXOR, INT | BYT | CHR, SK_OP_BXOR},
        {MPI_MINLOC, PAI, SK_OP_NONE},
        {MPI_MAXLOC, PAI, SK_OP_NONE},
    };
    *out = (sk_reduction){.predefined = true};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].op == op) {
            out->kernel = sk_kernel_find(rows[i].id, d->kind);
            return rows[i].classes >> d->class & 1;
        }
    if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP)
        return false;
    int commutes = 0;
    if (sk_host.Op_commutative(op, &commutes) != MPI_SUCCESS)
        return false;
    *out = (sk_reduction){.ordered = !commutes};
    return true;
}

/* ---- the objects ---- */

static sk_dtype *take_from_pool(MPI_Datatype type, bool named)
{
    pthread_mutex_lock(&sk_proc.lock);
    sk_dtype *d = sk_proc.types, *empty = NULL;
    for (; d; d = d->next) {
        uintptr_t handle = atomic_load(&d->handle);
        if (named && handle == (uintptr_t)type)
            break;
        if (!handle)
            empty = d;
    }
    if (!d)
        d = empty;
    if (!d && (d = calloc(1, sizeof *d))) {
        d->next = sk_proc.types;
        sk_proc.types = d;
    }
    if (d && !atomic_load(&d->handle))
        atomic_store(&d->handle, (uintptr_t)-1); /* taken, and equal to no handle */
    pthread_mutex_unlock(&sk_proc.lock);
    return d;
}

int sk_dtype_attr_freed(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)key, (void)extra;
    sk_dtype *d = value, *expected = d;
    atomic_compare_exchange_strong(&sk_proc.type_slot[SK_HANDLE_INDEX(type)], &expected, NULL);
    atomic_store(&d->handle, 0);
    atomic_fetch_add(&sk_proc.types_freed, 1);
    return MPI_SUCCESS;
}

static bool describe(sk_dtype *d, MPI_Datatype type)
{
    MPI_Count size, lb, extent, true_lb, true_extent;
    sk_host.Type_size_x(type, &size);
    sk_host.Type_get_extent_x(type, &lb, &extent);
    sk_host.Type_get_true_extent_x(type, &true_lb, &true_extent);
    if (size < 0 || true_extent < 0)
        return false; /* MPI_UNDEFINED: too large for the host to count */
    d->layout =
        (sk_type){.size = size, .extent = extent, .true_lb = true_lb, .true_extent = true_extent};
#if SK_HAVE_ENVELOPE
    d->single = d->named || (size > 0 && is_single(type, &d->layout));
    d->layout.contig =
        d->single ? size == extent && !lb && !true_lb && size == true_extent : contig(type);
#else
    d->layout.contig = d->named && size == extent && true_lb == 0;
    d->single = d->named;
#endif
    sk_type_row row = d->named ? row_of(type) : (sk_type_row){type, SK_CLASS_OTHER, FAMILY_NONE};
    d->class = row.class;
    d->kind = kind_of(row.family, size);
    return true;
}

sk_dtype *sk_dtype_find(MPI_Datatype type)
{
    if (type == MPI_DATATYPE_NULL)
        return NULL;
    sk_dtype *d = NULL;
    int found = 0;
#if SK_HAVE_ENVELOPE
    bool named = is_predefined(type);
#else
    bool named = row_of(type).class != SK_CLASS_OTHER;
#endif
    if (!named && sk_host.Type_get_attr(type, sk_proc.type_key, (void *)&d, &found) != MPI_SUCCESS)
        return NULL;
    if (!found) {
        d = take_from_pool(type, named);
        if (!d)
            return NULL;
        d->named = named;
        if (!describe(d, type) ||
            (!named && sk_host.Type_set_attr(type, sk_proc.type_key, d) != MPI_SUCCESS)) {
            atomic_store(&d->handle, 0);
            return NULL;
        }
        atomic_store_explicit(&d->handle, (uintptr_t)type, memory_order_release);
    }
    atomic_store_explicit(&sk_proc.type_slot[SK_HANDLE_INDEX(type)], d, memory_order_release);
    return d;
}

void sk_dtype_forget_all(void)
{
    for (sk_dtype *d = sk_proc.types, *next; d; d = next) {
        next = d->next;
        uintptr_t handle = atomic_load(&d->handle);
        if (handle && !d->named)
            sk_host.Type_delete_attr((MPI_Datatype)handle, sk_proc.type_key);
        free(d);
    }
    sk_proc.types = NULL;
    sk_host.Type_free_keyval(&sk_proc.type_key);
}
