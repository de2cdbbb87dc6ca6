/* find.h: from the name of a program to its file, as a shell or a launcher would find it. */
#ifndef SK_FIND_H
#define SK_FIND_H

#include "strlist.h"

typedef enum sk_find {
    SK_FIND_OK,
    SK_FIND_MISSING,
    SK_FIND_NOT_EXECUTABLE, /* there is such a file, but it may not be run */
} sk_find;

/* A name with a slash is a path, below `dir` when it is relative and dir is not NULL; another one
 * is searched in PATH, then (as launchers do) in the current directory. *path is set for the first
 * and the last result. */
sk_find sk_find_program(sk_arena *a, const char *name, const char *dir, const char **path);

bool sk_find_is_file(const char *path);

#endif
