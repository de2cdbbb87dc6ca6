#include "base/mpi_library.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lookup.h"

static const struct {
    const char *name, *title;
} flavours[] = {[SK_MPI_NONE] = {"none", "no MPI"},
                [SK_MPI_OPENMPI] = {"openmpi", "Open MPI"},
                [SK_MPI_MPICH] = {"mpich", "MPICH"},
                [SK_MPI_ABI] = {"abi", "the standard ABI of MPI"},
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

/* ---- names ---- */

/* How the names of files start, and the number of the ABI that Skein knows. MPICH's common ABI has the
 * number 12, that of Open MPI since 4.0 the number 40. */
static const struct {
    const char *start;
    long number;
    sk_flavour flavour;
} libraries[] = {
    {"libmpi.so.", 40, SK_MPI_OPENMPI}, {"libmpi.so.", 12, SK_MPI_MPICH},
    {"libmpich.so.", 12, SK_MPI_MPICH}, {"libmpi_cray.so.", 12, SK_MPI_MPICH},
    {"libmpi_gnu", 12, SK_MPI_MPICH},   {"libmpi_intel", 12, SK_MPI_MPICH},
    {"libmpi_abi.so.", 1, SK_MPI_ABI},  {"libsimgrid.so", 0, SK_MPI_OTHER},
};

sk_flavour sk_flavour_of_library(const char *soname)
{
    const char *so = strstr(soname, ".so");
    bool numbered = so && so[strlen(".so")] == '.', named = false;
    long number = numbered ? strtol(so + strlen(".so."), NULL, 10) : -1;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        if (strncmp(soname, libraries[i].start, strlen(libraries[i].start)) != 0)
            continue;
        if (number == libraries[i].number)
            return libraries[i].flavour;
        named = true;
    }
    return named || strcmp(soname, "libmpi.so") == 0 ? SK_MPI_OTHER : SK_MPI_NONE;
}

/* ---- in this process ---- */

typedef struct mpi_search {
    const void *base; /* of the library that is wanted; NULL: the first one that is an MPI */
    char path[4096];
    sk_loaded_mpi *out;
} mpi_search;

/* DT_SONAME; NULL: it has none. Some dynamic linkers leave addresses as they are in the file. */
static const char *soname_of(const struct dl_phdr_info *info)
{
    const ElfW(Dyn) *dyn = NULL;
    const char *strings = NULL;
    const ElfW(Dyn) *name = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dyn = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; dyn && dyn->d_tag != DT_NULL; dyn++) {
        ElfW(Addr) at = dyn->d_un.d_ptr;
        if (dyn->d_tag == DT_SONAME)
            name = dyn;
        if (dyn->d_tag == DT_STRTAB)
            strings = (const char *)(at < info->dlpi_addr ? at + info->dlpi_addr : at);
    }
    return name && strings ? strings + name->d_un.d_val : NULL;
}

static int match(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    mpi_search *s = data;
    const char *slash = strrchr(info->dlpi_name, '/'), *file = slash ? slash + 1 : info->dlpi_name;
    const char *soname = soname_of(info), *name = soname ? soname : file;
    sk_flavour f = sk_flavour_of_library(name);
    if (s->base ? s->base != (const void *)info->dlpi_addr : f == SK_MPI_NONE)
        return 0;
    s->out->flavour = f == SK_MPI_NONE ? SK_MPI_OTHER : f;
    if (*name)
        snprintf(s->out->soname, sizeof s->out->soname, "%s", name);
    snprintf(s->path, sizeof s->path, "%s", info->dlpi_name);
    return 1;
}

bool sk_loaded_mpi_find(const void *fn, sk_loaded_mpi *out)
{
    mpi_search s = {.base = sk_library_of(fn), .out = out};
    *out = (sk_loaded_mpi){.flavour = SK_MPI_OTHER, .soname = "the program itself"};
    if (!dl_iterate_phdr(match, &s) && !fn)
        return false;
    out->handle = sk_dlopen_real()(*s.path ? s.path : NULL, RTLD_LAZY | RTLD_NOLOAD);
    return out->handle != NULL;
}

bool sk_loaded_first_rank(void)
{
    static const char *const vars[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",    "PMI_RANK",
                                       "PALS_RANKID",          "SLURM_PROCID", "FLUX_TASK_RANK"};
    for (size_t i = 0; i < sizeof vars / sizeof *vars; i++) {
        const char *rank = getenv(vars[i]);
        if (rank)
            return strcmp(rank, "0") == 0;
    }
    return true;
}
