/* program.c: see program.h. */
#include "run/program.h"

#include "run/file.h"

void sk_program_look(sk_arena *a, const char *name, const char *dir, sk_program *out)
{
    sk_elf *e;
    *out = (sk_program){.verdict = SK_PROGRAM_ANY};
    sk_find_result found = sk_find_program(a, name, dir, &out->path);
    if (found != SK_FIND_OK) {
        out->verdict = found == SK_FIND_MISSING ? SK_PROGRAM_MISSING : SK_PROGRAM_NOT_EXECUTABLE;
        return;
    }
    if (!sk_elf_is(out->path))
        return;
    if (sk_elf_read(a, out->path, &e, out->err, sizeof out->err) != SK_OK) {
        out->verdict = SK_PROGRAM_DAMAGED;
        return;
    }
    out->bits = e->bits;
    out->machine = e->machine;
    out->mpi = sk_mpi_of(a, e, &out->soname);
    if (out->mpi != SK_MPI_NONE)
        out->verdict = SK_PROGRAM_MPI;
    else if (!e->interp)
        out->verdict = SK_PROGRAM_STATIC;
}
