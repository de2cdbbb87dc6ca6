/* provider.c: see provider.h. No MPI is started for this. Open MPI reaches libfabric through a
 * component, which is a file of its own or part of a library. MPICH's library names its device.
 * Whether the provider goes with the libfabric of the MPI is tried: a process loads both. */
#include "run/provider.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "run/file.h"

#define FABRIC "libfabric.so.1"

/* The component as a file, in one of the directories of Open MPI; NULL when there is none. */
static const char *component_file(sk_arena *a, const char *lib_dir)
{
    static const char name[] = "mca_mtl_ofi.so";
    sk_strlist dirs = sk_strlist_new(a);
    const char *env = getenv("OMPI_MCA_mca_base_component_path"), *pkg = getenv("OPAL_PKGLIBDIR");
    if (env)
        sk_strlist_split(&dirs, env, ":");
    if (pkg)
        sk_strlist_add(&dirs, pkg);
    sk_strlist_add(&dirs, sk_format(a, "%s/openmpi*", lib_dir));
    sk_strlist_add(&dirs, sk_format(a, "%s/openmpi*/lib/openmpi*", lib_dir));
    const char *found = NULL;
    for (int i = 0; i < dirs.n && !found; i++) {
        glob_t g;
        if (glob(sk_format(a, "%s/%s", dirs.v[i], name), 0, NULL, &g) != 0)
            continue;
        found = sk_format(a, "%s", g.gl_pathv[0]);
        globfree(&g);
    }
    return found;
}

static const char *real_dir(sk_arena *a, const char *path)
{
    char *real = realpath(path, NULL);
    const char *dir = sk_dirname(a, sk_format(a, "%s", real ? real : path));
    free(real);
    return dir;
}

/* The component as part of the MPI library or of a library that it needs; NULL when it is in none. */
static const char *component_inside(sk_arena *a, const sk_elf *mpi)
{
    static const char *const inside[] = {"mca_mtl_ofi_component", NULL};
    const sk_elf *e = mpi;
    for (int i = -1; i < mpi->needed.n; i++) {
        if (i >= 0)
            e = sk_elf_load(a, mpi, mpi, mpi->needed.v[i]);
        if (e && sk_strlist_has(&e->needed, FABRIC) && sk_file_mentions(a, e->path, inside))
            return e->path;
    }
    return NULL;
}

/* Loads libfabric and then the provider, as the MPI does, and writes what the dynamic linker says
 * to `to`, nothing if all is well. */
_Noreturn static void try_load(const char *fabric, const char *library, int to)
{
    const char *said = NULL;
    if (!dlopen(fabric, RTLD_NOW) || !dlopen(library, RTLD_NOW))
        said = dlerror();
    _exit(said && write(to, said, strlen(said)) < 0);
}

/* Whether the provider, built with one libfabric, loads with this one. In a process of its own:
 * libfabric starts threads and handlers of its own when it is loaded. */
static bool loads_with(sk_arena *a, const char *fabric, const char *library, const char **why)
{
    char said[512] = "";
    int ends[2], status = 0;
    size_t have = 0;
    if (pipe(ends) != 0)
        return true;
    pid_t pid = fork();
    if (pid == 0)
        try_load(fabric, library, ends[1]);
    close(ends[1]);
    for (ssize_t n;
         have < sizeof said - 1 && (n = read(ends[0], said + have, sizeof said - 1 - have)) > 0;)
        have += (size_t)n;
    close(ends[0]);
    bool ended = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
    if (ended && !have)
        return true;
    *why = sk_format(a, "%s does not load with the libfabric of this MPI (%s)", library,
                     have ? said : "the trial failed");
    return false;
}

static bool openmpi_can(sk_arena *a, const sk_elf *mpi, sk_match_provider *out, const char **why)
{
    char err[256];
    const char *file = component_file(a, sk_dirname(a, mpi->path));
    if (!file)
        file = component_file(a, real_dir(a, mpi->path));
    if (!file)
        file = component_inside(a, mpi);
    sk_elf *e;
    if (!file) {
        *why = sk_format(
            a, "the Open MPI of %s has no component mtl ofi (it is built without libfabric)",
            mpi->path);
        return false;
    }
    if (sk_elf_read(a, file, &e, err, sizeof err) != SK_OK) {
        *why = sk_format(a, "%s", err);
        return false;
    }
    sk_elf *fabric = sk_elf_load(a, e, e, FABRIC);
    if (!fabric) {
        *why = sk_format(a, FABRIC ", which %s needs, is not installed", file);
        return false;
    }
    if (!loads_with(a, fabric->path, out->library, why))
        return false;
    const char *others = sk_format(a, "%s/libfabric", real_dir(a, fabric->path));
    struct stat st;
    out->how = file;
    out->others = stat(others, &st) == 0 && S_ISDIR(st.st_mode) ? others : NULL;
    return true;
}

/* "ch4:ucx"; NULL: the library names none. */
static const char *mpich_device(sk_arena *a, const sk_elf *mpi)
{
    static const char option[] = "--with-device=";
    static const char *const devices[] = {"--with-device=ch4:ucx", "--with-device=ch4:ofi",
                                          "--with-device=ch3", NULL};
    const char *device = sk_file_mentions(a, mpi->path, devices);
    return device ? device + sizeof option - 1 : NULL;
}

/* Over libfabric MPICH needs RMA and counters, which the provider does not have. */
static const char *mpich_reason(sk_arena *a, const sk_elf *mpi)
{
    const char *device = mpich_device(a, mpi);
    if (device && !strcmp(device, "ch4:ofi"))
        return sk_format(a,
                         "the MPICH of %s asks more of libfabric than the provider has; Open MPI "
                         "can use it",
                         mpi->path);
    return sk_format(a,
                     "the MPICH of %s does not use libfabric (it is built on %s); Open MPI can use "
                     "the provider",
                     mpi->path, device ? device : "something else");
}

static bool provider_find(sk_arena *a, const char *dir, const char **library, const char **why)
{
    char path[4096];
    bool found;
    if (dir) {
        snprintf(path, sizeof path, "%s/libskein-fi.so", dir);
        found = access(path, R_OK) == 0;
    } else {
        found = sk_library_find("fi", path, sizeof path);
    }
    if (found)
        *library = sk_format(a, "%s", path);
    else
        *why = sk_format(a, "no %s; install libfabric's development files and build Skein again",
                         path);
    return found;
}

bool sk_match_provider_find(sk_arena *a, sk_flavour mpi, const char *from, const char *dir,
                            sk_match_provider *out, const char **why)
{
    char err[256];
    sk_elf *e;
    sk_match_provider found = {0};
    if (!provider_find(a, dir, &found.library, why))
        return false;
    if (sk_elf_read(a, from, &e, err, sizeof err) != SK_OK) {
        *why = sk_format(a, "%s", err);
        return false;
    }
    const sk_elf *library = sk_mpi_library(a, e, mpi);
    if (!library) {
        *why = sk_format(a, "the library of %s is not found", sk_flavour_title(mpi));
        return false;
    }
    if (mpi == SK_MPI_MPICH || (mpi == SK_MPI_ABI && mpich_device(a, library))) {
        *why = mpich_reason(a, library);
        return false;
    }
    if (!openmpi_can(a, library, &found, why))
        return false;
    *out = found;
    return true;
}
