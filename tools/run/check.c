/* check.c: see check.h. */
#include "run/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"

int sk_refuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("skein run: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return SK_RUN_REFUSED;
}

/* A script or an interpreter that shows no MPI: most likely it uses the one that starts it. */
static int guess(const char *name, sk_flavour launcher, sk_flavour *mpi)
{
    if (*mpi == SK_MPI_NONE)
        *mpi = launcher;
    if (*mpi == SK_MPI_NONE)
        return sk_refuse("cannot tell which MPI %s uses; say it with --mpi=openmpi or --mpi=mpich",
                         name);
    fprintf(stderr,
            "skein run: note: cannot see which MPI %s uses, taking %s (--mpi changes that)\n", name,
            sk_flavour_title(*mpi));
    return SK_RUN_OK;
}

static int check_mpi(const sk_program *p, sk_flavour launcher, sk_flavour *mpi)
{
    if (p->mpi == SK_MPI_OTHER && sk_starts_with(p->soname, "libsimgrid"))
        return sk_refuse("%s is built for simulation (%s) and cannot be preloaded; link it with "
                         "libskein-smpi.a instead",
                         p->file, p->soname);
    if (p->mpi == SK_MPI_OTHER)
        return sk_refuse("%s links %s, an MPI that Skein has no library for; it serves Open MPI "
                         "(libmpi.so.40) and MPICH (libmpich.so.12, libmpi.so.12)",
                         p->file, p->soname);
    if (launcher != SK_MPI_NONE && launcher != p->mpi)
        return sk_refuse(
            "%s links %s (%s), but the launcher is that of %s; use the launcher of %s or "
            "compile the program for %s",
            p->file, sk_flavour_title(p->mpi), p->soname, sk_flavour_title(launcher),
            sk_flavour_title(p->mpi), sk_flavour_title(launcher));
    if (*mpi != SK_MPI_NONE && *mpi != p->mpi)
        return sk_refuse("%s links %s (%s), but a program before it %s; one job needs one MPI",
                         p->file, sk_flavour_title(p->mpi), p->soname, sk_flavour_title(*mpi));
    *mpi = p->mpi;
    return SK_RUN_OK;
}

int sk_check_program(const sk_program *p, const char *name, sk_flavour launcher, sk_flavour *mpi)
{
    switch (p->verdict) {
    case SK_PROGRAM_MPI:
        return check_mpi(p, launcher, mpi);
    case SK_PROGRAM_UNKNOWN:
        return guess(name, launcher, mpi);
    case SK_PROGRAM_MISSING:
        return sk_refuse("program %s not found; if it is only on other nodes, say --mpi=openmpi or "
                         "--mpi=mpich",
                         name);
    case SK_PROGRAM_NOT_EXECUTABLE:
        return sk_refuse("%s is not executable; chmod +x it", p->path);
    case SK_PROGRAM_DAMAGED:
        return sk_refuse("%s", p->err);
    case SK_PROGRAM_STATIC:
        return sk_refuse("%s is linked statically, so no library can be preloaded; link its MPI "
                         "dynamically (leave out -static)",
                         p->path);
    case SK_PROGRAM_NOT_MPI:
        break;
    }
    return sk_refuse(
        "%s is not an MPI program: it links no MPI library; if it loads one while it runs, "
        "say which with --mpi=openmpi or --mpi=mpich",
        p->path);
}

static int not_found(sk_flavour mpi, const char *path)
{
    char other[4096];
    sk_flavour not = mpi == SK_MPI_OPENMPI ? SK_MPI_MPICH : SK_MPI_OPENMPI;
    if (sk_library_find(sk_flavour_name(not ), other, sizeof other))
        return sk_refuse(
            "library not found: looked for %s; this Skein was built without %s: install "
            "its development files and build again, or say --lib DIR",
            path, sk_flavour_title(mpi));
    return sk_refuse("library not found: looked for %s; build or install Skein, or say --lib DIR",
                     path);
}

/* Whether the library loads into the program at all. */
static int check_fit(sk_arena *a, sk_flavour mpi, const sk_program *p, const char *path)
{
    char err[512];
    sk_elf *e;
    const char *soname = NULL;
    if (strpbrk(path, " :"))
        return sk_refuse(
            "the dynamic linker cannot preload from a path with a space or a colon: %s", path);
    if (sk_elf_read(a, path, &e, err, sizeof err) != SK_OK)
        return sk_refuse("%s", err);
    if (p && p->bits && (p->bits != e->bits || p->machine != e->machine))
        return sk_refuse("%s is for another kind of machine than %s", p->file, path);
    sk_flavour f = sk_mpi_of(a, e, &soname);
    bool fits = f == SK_MPI_NONE || f == mpi;
    if (fits && soname && p && p->soname && mpi == SK_MPI_OPENMPI)
        fits = !strcmp(soname, p->soname);
    if (!fits)
        return sk_refuse(
            "%s was built for %s, not for the MPI of the program%s%s; build Skein again "
            "with that MPI",
            path, soname, p && p->soname ? ", " : "", p && p->soname ? p->soname : "");
    return SK_RUN_OK;
}

int sk_check_library(sk_arena *a, sk_flavour mpi, const char *dir, const sk_program *p,
                     const char **library)
{
    char path[4096];
    const char *name = sk_flavour_name(mpi);
    bool found;
    if (dir) {
        snprintf(path, sizeof path, "%s/libskein-%s.so", dir, name);
        found = access(path, R_OK) == 0;
    } else {
        found = sk_library_find(name, path, sizeof path);
    }
    if (!found)
        return dir ? sk_refuse("library not found: looked for %s", path) : not_found(mpi, path);
    if (check_fit(a, mpi, p, path) != SK_RUN_OK)
        return SK_RUN_REFUSED;
    *library = sk_format(a, "%s", path);
    return SK_RUN_OK;
}
