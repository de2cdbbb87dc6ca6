/* elf.h: what the dynamic linker would read of an ELF file: the libraries it asks for. The file is
 * not trusted: every offset is checked, and a broken file gives a message, never a crash. */
#ifndef SK_ELF_H
#define SK_ELF_H

#include <stdbool.h>

#include "base/arena.h"
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

#endif
