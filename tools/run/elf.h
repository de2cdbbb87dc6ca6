/* elf.h: what the dynamic linker would read of an ELF file, and which MPI the file is linked with,
 * by the names of the libraries that it needs. The file is not trusted: every offset is checked,
 * and a broken file gives a message, never a crash. */
#ifndef SK_ELF_H
#define SK_ELF_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/mpi_library.h"
#include "base/status.h"
#include "strlist.h"

typedef struct sk_elf {
    const char *path;
    int bits;     /* 32 or 64 */
    int machine;  /* e_machine */
    bool program; /* executable or shared object, not an object file or a core */
    bool dynamic; /* has a dynamic section */
    bool interp; /* names a dynamic linker: without one a program is static, nothing is preloaded */
    sk_strlist needed;           /* DT_NEEDED */
    const char *rpath, *runpath; /* NULL when absent */
} sk_elf;

/* Whether the file starts like an ELF file. */
bool sk_elf_is(const char *path);

/* *out is set on success only, and lives in the arena. On failure `err` says what is wrong. */
sk_status sk_elf_read(sk_arena *a, const char *path, sk_elf **out, char *err, size_t size);

/* Of an ELF file or, when it names none, of the libraries it needs, searched as the dynamic linker
 * would. *soname gets the name of the MPI library. */
sk_flavour sk_mpi_of(sk_arena *a, const sk_elf *e, const char **soname);

/* The library `name` that the dynamic linker would load for `from`, a library of `program` or
 * itself; NULL when there is none. */
sk_elf *sk_elf_load(sk_arena *a, const sk_elf *program, const sk_elf *from, const char *name);

/* The MPI library (of a flavour that Skein has) that the file needs or, when it needs none, that
 * of the system; NULL when there is none. */
sk_elf *sk_mpi_library(sk_arena *a, const sk_elf *e, sk_flavour mpi);

#endif
