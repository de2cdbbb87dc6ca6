/* f90types.c: the types of MPI_Type_create_f90_* are predefined: nobody frees them. Types made of them
 * are used in collectives and freed; the F90 types stay what they were. */
#include "testlib.h"

#include <string.h>

enum { BLOCK = 3, MOST = 64 };

/* Broadcasts and gathers elements of a type that is made of `of`. */
static void use(MPI_Datatype made, MPI_Datatype of, const char *how)
{
    char data[MOST * BLOCK * 16], all[MOST * BLOCK * 16];
    int size, before, p = test_size(), me = test_rank(), bad = 0;
    MPI_Type_size(of, &before);
    MPI_Type_commit(&made);
    MPI_Type_size(made, &size);
    for (int call = 0; call < 6; call++) {
        memset(data, me + call, sizeof data);
        MPI_Bcast(data, 1, made, 0, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++)
            bad += data[i] != (char)call;
        memset(data, me + call, sizeof data);
        MPI_Allgather(data, 1, made, all, 1, made, MPI_COMM_WORLD);
        for (int i = 0; i < p * size; i++)
            bad += all[i] != (char)(i / size + call);
    }
    CHECK(bad == 0, "%s of an F90 type of %d bytes: %d wrong bytes", how, before, bad);
    MPI_Type_free(&made);
    int after = -1;
    MPI_Type_size(of, &after);
    CHECK(after == before, "the F90 type has %d bytes, it had %d", after, before);
}

static void all_uses(MPI_Datatype t)
{
    MPI_Datatype made;
    test_watch(30, "types made of F90 types");
    MPI_Type_contiguous(BLOCK, t, &made);
    use(made, t, "a contiguous type");
    MPI_Type_dup(t, &made);
    use(made, t, "a duplicate");
    MPI_Type_vector(BLOCK, 1, 1, t, &made);
    use(made, t, "a vector");
    int size, len[2] = {1, 2};
    MPI_Type_size(t, &size);
    MPI_Aint displ[2] = {0, size};
    MPI_Datatype both[2] = {t, t};
    MPI_Type_create_struct(2, len, displ, both, &made);
    use(made, t, "a struct");
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "f90types");
    MPI_Datatype t;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Type_create_f90_real(6, MPI_UNDEFINED, &t) != MPI_SUCCESS) {
        test_skip("this MPI has no Fortran types");
        return test_end();
    }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    for (int round = 0; round < 3; round++) {
        MPI_Type_create_f90_real(6, MPI_UNDEFINED, &t);
        all_uses(t);
        MPI_Type_create_f90_complex(12, MPI_UNDEFINED, &t);
        all_uses(t);
        MPI_Type_create_f90_integer(6, &t);
        all_uses(t);
    }
    return test_end();
}
