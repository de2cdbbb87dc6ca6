#include "mpi/kernel_of.h"

#include <stddef.h>

typedef struct sk_op_row {
    MPI_Op op;
    sk_op_id id;
} sk_op_row;

static const sk_op_row *op_row(MPI_Op op)
{
    static const sk_op_row rows[] = {
        {MPI_SUM, SK_OP_SUM},   {MPI_MAX, SK_OP_MAX},     {MPI_MIN, SK_OP_MIN},
        {MPI_PROD, SK_OP_PROD}, {MPI_LAND, SK_OP_LAND},   {MPI_LOR, SK_OP_LOR},
        {MPI_LXOR, SK_OP_LXOR}, {MPI_BAND, SK_OP_BAND},   {MPI_BOR, SK_OP_BOR},
        {MPI_BXOR, SK_OP_BXOR}, {MPI_MINLOC, SK_OP_NONE}, {MPI_MAXLOC, SK_OP_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].op == op)
            return &rows[i];
    return NULL;
}

sk_op_id sk_op_of(MPI_Op op)
{
    const sk_op_row *row = op_row(op);
    return row ? row->id : SK_OP_NONE;
}

/* Families of types; the size, which is the host's and for Fortran the compiler's choice, tells
 * the kind. */
typedef enum { SIGNED, UNSIGNED, REAL, EXTENDED, COMPLEX, BOOLEAN, BITS, NFAMILIES } family;

/* The types likely in programs first. Optional ones may be missing, or be MPI_DATATYPE_NULL. */
static family family_of(MPI_Datatype type)
{
    static const struct {
        MPI_Datatype type;
        family family;
    } rows[] = {
        {MPI_DOUBLE, REAL},
        {MPI_FLOAT, REAL},
        {MPI_INT, SIGNED},
        {MPI_LONG, SIGNED},
        {MPI_LONG_LONG_INT, SIGNED},
        {MPI_UNSIGNED, UNSIGNED},
        {MPI_UNSIGNED_LONG, UNSIGNED},
        {MPI_UNSIGNED_LONG_LONG, UNSIGNED},
        {MPI_INT64_T, SIGNED},
        {MPI_INT32_T, SIGNED},
        {MPI_UINT64_T, UNSIGNED},
        {MPI_UINT32_T, UNSIGNED},
        {MPI_DOUBLE_PRECISION, REAL},
        {MPI_REAL, REAL},
        {MPI_INTEGER, SIGNED},
        {MPI_C_DOUBLE_COMPLEX, COMPLEX},
        {MPI_C_FLOAT_COMPLEX, COMPLEX},
        {MPI_DOUBLE_COMPLEX, COMPLEX},
        {MPI_COMPLEX, COMPLEX},
        {MPI_BYTE, BITS},
        {MPI_C_BOOL, BOOLEAN},
        {MPI_SHORT, SIGNED},
        {MPI_UNSIGNED_SHORT, UNSIGNED},
        {MPI_SIGNED_CHAR, SIGNED},
        {MPI_UNSIGNED_CHAR, UNSIGNED},
        {MPI_INT8_T, SIGNED},
        {MPI_INT16_T, SIGNED},
        {MPI_UINT8_T, UNSIGNED},
        {MPI_UINT16_T, UNSIGNED},
        {MPI_AINT, SIGNED},
        {MPI_OFFSET, SIGNED},
        {MPI_COUNT, SIGNED},
        {MPI_LONG_DOUBLE, EXTENDED},
#ifdef MPI_CXX_BOOL
        {MPI_CXX_BOOL, BOOLEAN},
#endif
#ifdef MPI_INTEGER1
        {MPI_INTEGER1, SIGNED},
#endif
#ifdef MPI_INTEGER2
        {MPI_INTEGER2, SIGNED},
#endif
#ifdef MPI_INTEGER4
        {MPI_INTEGER4, SIGNED},
#endif
#ifdef MPI_INTEGER8
        {MPI_INTEGER8, SIGNED},
#endif
#ifdef MPI_REAL4
        {MPI_REAL4, REAL},
#endif
#ifdef MPI_REAL8
        {MPI_REAL8, REAL},
#endif
#ifdef MPI_COMPLEX8
        {MPI_COMPLEX8, COMPLEX},
#endif
#ifdef MPI_COMPLEX16
        {MPI_COMPLEX16, COMPLEX},
#endif
    };
    if (type == MPI_DATATYPE_NULL)
        return NFAMILIES;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == type)
            return rows[i].family;
    return NFAMILIES;
}

sk_kind sk_kind_of(MPI_Datatype type)
{
    enum { SIZES = 5 }; /* 1, 2, 4, 8, 16 bytes */
    static const sk_kind kinds[NFAMILIES][SIZES] = {
        [SIGNED] = {SK_KIND_INT8, SK_KIND_INT16, SK_KIND_INT32, SK_KIND_INT64},
        [UNSIGNED] = {SK_KIND_UINT8, SK_KIND_UINT16, SK_KIND_UINT32, SK_KIND_UINT64},
        [REAL] = {[2] = SK_KIND_FLOAT, [3] = SK_KIND_DOUBLE},
        [EXTENDED] = {[3] = SK_KIND_LONG_DOUBLE, [4] = SK_KIND_LONG_DOUBLE},
        [COMPLEX] = {[3] = SK_KIND_FLOAT_COMPLEX, [4] = SK_KIND_DOUBLE_COMPLEX},
        [BOOLEAN] = {SK_KIND_BOOL},
        [BITS] = {SK_KIND_BYTE},
    };
    family f = family_of(type);
    int size = 0;
    if (f == NFAMILIES || PMPI_Type_size(type, &size) != MPI_SUCCESS)
        return SK_KIND_NONE;
    for (int i = 0; i < SIZES; i++)
        if (size == 1 << i)
            return kinds[f][i];
    return SK_KIND_NONE;
}
