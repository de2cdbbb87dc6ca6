/* ldpath.h: where the dynamic linker looks for a library. */
#ifndef SK_LDPATH_H
#define SK_LDPATH_H

#include "run/elf.h"

/* The system's own directories: /etc/ld.so.conf and what it includes, then the built-in ones. */
void sk_ldpath_system(sk_strlist *dirs);

/* Every file that could be the library `name` for `from`, a library of `program` or itself, in the
 * linker's order. */
void sk_ldpath_places(sk_strlist *places, const sk_elf *program, const sk_elf *from,
                      const sk_strlist *system, const char *name);

#endif
