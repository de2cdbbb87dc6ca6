#include "mpi/dtype.h"

#include <stdlib.h>

/* ---- are the packed bytes the memory bytes? ---- */

#if SK_HAVE_ENVELOPE
static bool plain(MPI_Datatype t);

static bool is_named(MPI_Datatype t)
{
    int combiner;
#if SK_HAVE_LARGE
    MPI_Count ni, na, nc, nt;
    PMPI_Type_get_envelope_c(t, &ni, &na, &nc, &nt, &combiner);
#else
    int ni, na, nt;
    PMPI_Type_get_envelope(t, &ni, &na, &nt, &combiner);
#endif
    return combiner == MPI_COMBINER_NAMED;
}

/* Blocks that follow each other without holes, each of plain elements. */
static bool plain_struct(int n, const int *len, const MPI_Aint *displ, const MPI_Datatype *types)
{
    MPI_Count at = 0, size;
    for (int i = 0; i < n; i++) {
        if (len[i] == 0)
            continue;
        PMPI_Type_size_x(types[i], &size);
        if (displ[i] != at || !plain(types[i]))
            return false;
        at += len[i] * size;
    }
    return true;
}

static bool plain_derived(MPI_Datatype t, int ni, int na, int nt, int combiner)
{
    int *ints = malloc(sizeof *ints * (size_t)(ni + 1));
    MPI_Aint *addrs = malloc(sizeof *addrs * (size_t)(na + 1));
    MPI_Datatype *types = malloc(sizeof(MPI_Datatype) * (size_t)(nt + 1));
    bool yes = false;
    if (!ints || !addrs || !types ||
        PMPI_Type_get_contents(t, ni, na, nt, ints, addrs, types) != MPI_SUCCESS)
        goto out;
    if (combiner == MPI_COMBINER_STRUCT)
        yes = plain_struct(ints[0], ints + 1, addrs, types);
    else if (combiner == MPI_COMBINER_VECTOR)
        yes = (ints[0] <= 1 || ints[1] == ints[2]) && plain(types[0]);
    else /* dup, contiguous, resized: the caller has compared the extents */
        yes = plain(types[0]);
    for (int i = 0; i < nt; i++)
        if (!is_named(types[i]))
            PMPI_Type_free(&types[i]);
out:
    free(ints);
    free(addrs);
    free(types);
    return yes;
}

static bool plain(MPI_Datatype t)
{
    MPI_Count size, lb, extent, true_lb, true_extent;
    PMPI_Type_size_x(t, &size);
    PMPI_Type_get_extent_x(t, &lb, &extent);
    PMPI_Type_get_true_extent_x(t, &true_lb, &true_extent);
    if (lb || true_lb || size != extent || size != true_extent)
        return false;
    int combiner;
#if SK_HAVE_LARGE
    MPI_Count li, la, lc, lt;
    PMPI_Type_get_envelope_c(t, &li, &la, &lc, &lt, &combiner);
    if (lc > 0)
        return false;
    int ni = (int)li, na = (int)la, nt = (int)lt;
#else
    int ni, na, nt;
    PMPI_Type_get_envelope(t, &ni, &na, &nt, &combiner);
#endif
    switch (combiner) {
    case MPI_COMBINER_NAMED:
        return true;
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_RESIZED:
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_STRUCT:
        return plain_derived(t, ni, na, nt, combiner);
    default:
        return false;
    }
}

#endif

/* ---- classes ---- */

static sk_type_class class_of(MPI_Datatype t)
{
    static const struct {
        MPI_Datatype type;
        sk_type_class class;
    } row[] = {
#define INTEGER(t) {t, SK_CLASS_INTEGER},
#define FLOAT(t)   {t, SK_CLASS_FLOAT},
#define COMPLEX(t) {t, SK_CLASS_COMPLEX},
#define LOGICAL(t) {t, SK_CLASS_LOGICAL},
#define BYTE(t)    {t, SK_CLASS_BYTE},
#define PAIR(t)    {t, SK_CLASS_PAIR},
#include "mpi/types.def"
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (row[i].type == t)
            return row[i].class;
    return SK_CLASS_OTHER;
}

bool sk_reducible(MPI_Op op, const sk_dtype *d, bool *ordered, bool *predefined)
{
    enum {
        INT = 1 << SK_CLASS_INTEGER,
        FLT = 1 << SK_CLASS_FLOAT,
        CPX = 1 << SK_CLASS_COMPLEX,
        LOG = 1 << SK_CLASS_LOGICAL,
        BYT = 1 << SK_CLASS_BYTE,
        PAI = 1 << SK_CLASS_PAIR,
    };
    static const struct {
        MPI_Op op;
        int classes;
    } row[] = {
        {MPI_SUM, INT | FLT | CPX},  {MPI_MAX, INT | FLT},  {MPI_MIN, INT | FLT},
        {MPI_PROD, INT | FLT | CPX}, {MPI_LAND, INT | LOG}, {MPI_BAND, INT | BYT},
        {MPI_LOR, INT | LOG},        {MPI_BOR, INT | BYT},  {MPI_LXOR, INT | LOG},
        {MPI_BXOR, INT | BYT},       {MPI_MINLOC, PAI},     {MPI_MAXLOC, PAI},
    };
    *ordered = false;
    *predefined = true;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (row[i].op == op)
            return row[i].classes >> d->class & 1;
    if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP)
        return false;
    int commutes = 0;
    if (PMPI_Op_commutative(op, &commutes) != MPI_SUCCESS)
        return false;
    *ordered = !commutes;
    *predefined = false;
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
    atomic_compare_exchange_strong(&sk_proc.type_slot[SK_SLOT(type)], &expected, NULL);
    atomic_store(&d->handle, 0);
    return MPI_SUCCESS;
}

static bool describe(sk_dtype *d, MPI_Datatype type)
{
    MPI_Count size, lb, extent, true_lb, true_extent;
    PMPI_Type_size_x(type, &size);
    PMPI_Type_get_extent_x(type, &lb, &extent);
    PMPI_Type_get_true_extent_x(type, &true_lb, &true_extent);
    if (size < 0 || true_extent < 0)
        return false; /* MPI_UNDEFINED: beyond what the host can count */
    d->layout =
        (sk_type){.size = size, .extent = extent, .true_lb = true_lb, .true_extent = true_extent};
#if SK_HAVE_ENVELOPE
    d->layout.contig = plain(type);
#else
    d->layout.contig = d->named && size == extent && true_lb == 0;
#endif
    d->class = d->named ? class_of(type) : SK_CLASS_OTHER;
    return true;
}

sk_dtype *sk_dtype_find(MPI_Datatype type)
{
    if (type == MPI_DATATYPE_NULL)
        return NULL;
    sk_dtype *d = NULL;
    int found = 0;
#if SK_HAVE_ENVELOPE
    bool named = is_named(type);
#else
    bool named = class_of(type) != SK_CLASS_OTHER;
#endif
    if (!named && PMPI_Type_get_attr(type, sk_proc.type_key, (void *)&d, &found) != MPI_SUCCESS)
        return NULL;
    if (!found) {
        d = take_from_pool(type, named);
        if (!d)
            return NULL;
        d->named = named;
        if (!describe(d, type) ||
            (!named && PMPI_Type_set_attr(type, sk_proc.type_key, d) != MPI_SUCCESS)) {
            atomic_store(&d->handle, 0);
            return NULL;
        }
        atomic_store_explicit(&d->handle, (uintptr_t)type, memory_order_release);
    }
    atomic_store_explicit(&sk_proc.type_slot[SK_SLOT(type)], d, memory_order_release);
    return d;
}

void sk_dtype_forget_all(void)
{
    for (sk_dtype *d = sk_proc.types, *next; d; d = next) {
        next = d->next;
        uintptr_t handle = atomic_load(&d->handle);
        if (handle && !d->named)
            PMPI_Type_delete_attr((MPI_Datatype)handle, sk_proc.type_key);
        free(d);
    }
    sk_proc.types = NULL;
    PMPI_Type_free_keyval(&sk_proc.type_key);
}
