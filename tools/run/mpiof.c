/* mpiof.c: breadth first through DT_NEEDED, so that what the program itself names comes first. */
#include "run/mpiof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/ldpath.h"

enum { MAX_LIBRARIES = 1000 };

static const struct {
    const char *name, *title;
} flavours[] = {[SK_MPI_NONE] = {"none", "no MPI"},
                [SK_MPI_OPENMPI] = {"openmpi", "Open MPI"},
                [SK_MPI_MPICH] = {"mpich", "MPICH"},
                [SK_MPI_OTHER] = {"other", "another MPI"}};

const char *sk_flavour_name(sk_flavour f)
{
    return flavours[f].name;
}

const char *sk_flavour_title(sk_flavour f)
{
    return flavours[f].title;
}

sk_flavour sk_flavour_of_name(const char *name)
{
    for (int f = SK_MPI_OPENMPI; f <= SK_MPI_MPICH; f++)
        if (!strcmp(name, flavours[f].name))
            return (sk_flavour)f;
    return SK_MPI_NONE;
}

/* MPICH's common ABI fixed the number 12; Open MPI has counted in tens since 2.0 and its current
 * ABI began with 40. */
sk_flavour sk_flavour_of_library(const char *soname)
{
    static const char *const mpich[] = {"libmpich.so.", "libmpi_cray.so.", "libmpi_gnu",
                                        "libmpi_intel"};
    for (size_t i = 0; i < sizeof mpich / sizeof *mpich; i++)
        if (sk_starts_with(soname, mpich[i]))
            return strstr(soname, ".so.12") ? SK_MPI_MPICH : SK_MPI_OTHER;
    if (sk_starts_with(soname, "libmpi.so.")) {
        long version = strtol(soname + strlen("libmpi.so."), NULL, 10);
        return version == 12 ? SK_MPI_MPICH : version >= 40 ? SK_MPI_OPENMPI : SK_MPI_OTHER;
    }
    if (!strcmp(soname, "libmpi.so") || sk_starts_with(soname, "libmpi_abi.so") ||
        sk_starts_with(soname, "libsimgrid.so"))
        return SK_MPI_OTHER;
    return SK_MPI_NONE;
}

static sk_flavour named_by(const sk_elf *e, const char **soname)
{
    for (int i = 0; i < e->needed.n; i++) {
        sk_flavour f = sk_flavour_of_library(e->needed.v[i]);
        if (f != SK_MPI_NONE) {
            if (soname)
                *soname = e->needed.v[i];
            return f;
        }
    }
    return SK_MPI_NONE;
}

/* The library the dynamic linker would load, NULL when there is none or it is unreadable. */
static sk_elf *load(sk_arena *a, const sk_elf *program, const sk_elf *from,
                    const sk_strlist *system, const char *name)
{
    char err[256];
    sk_strlist places = sk_strlist_new(a);
    if (strchr(name, '/'))
        sk_strlist_add(&places, name);
    else
        sk_ldpath_places(&places, program, from, system, name);
    for (int i = 0; i < places.n; i++) {
        sk_elf *lib;
        if (access(places.v[i], R_OK) == 0 && sk_elf_is(places.v[i]) &&
            sk_elf_read(a, places.v[i], &lib, err, sizeof err) == SK_OK &&
            lib->bits == program->bits && lib->machine == program->machine)
            return lib;
    }
    return NULL;
}

/* *soname gets the name that decided, *by the file that has it. */
static sk_flavour search(sk_arena *a, const sk_elf *e, const char **soname, const sk_elf **by)
{
    sk_strlist names = sk_strlist_new(a), system = sk_strlist_new(a);
    const sk_elf *queue[MAX_LIBRARIES] = {e};
    int n = 1;
    *by = e;
    sk_flavour f = named_by(e, soname);
    if (f != SK_MPI_NONE || !e->needed.n)
        return f;
    sk_ldpath_system(&system);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < queue[i]->needed.n && n < MAX_LIBRARIES; j++) {
            const char *name = queue[i]->needed.v[j];
            if (sk_strlist_has(&names, name))
                continue;
            sk_strlist_add(&names, name);
            sk_elf *lib = load(a, e, queue[i], &system, name);
            if (!lib)
                continue;
            *by = lib;
            f = named_by(lib, soname);
            if (f != SK_MPI_NONE)
                return f;
            queue[n++] = lib;
        }
    }
    return SK_MPI_NONE;
}

sk_flavour sk_mpi_of(sk_arena *a, const sk_elf *e, const char **soname)
{
    const sk_elf *by;
    return search(a, e, soname, &by);
}

sk_elf *sk_elf_load(sk_arena *a, const sk_elf *program, const sk_elf *from, const char *name)
{
    sk_strlist system = sk_strlist_new(a);
    sk_ldpath_system(&system);
    return load(a, program, from, &system, name);
}

sk_elf *sk_mpi_library(sk_arena *a, const sk_elf *e, sk_flavour mpi)
{
    static const char *const usual[][3] = {
        [SK_MPI_OPENMPI] = {"libmpi.so.40"}, [SK_MPI_MPICH] = {"libmpich.so.12", "libmpi.so.12"}};
    const char *soname = NULL;
    const sk_elf *by;
    if (search(a, e, &soname, &by) == mpi && soname)
        return sk_elf_load(a, e, by, soname);
    sk_elf *lib = NULL;
    for (int i = 0; !lib && usual[mpi][i]; i++)
        lib = sk_elf_load(a, e, e, usual[mpi][i]);
    return lib;
}
