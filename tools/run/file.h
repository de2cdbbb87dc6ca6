/* file.h: the file of a program, as a shell or a launcher would find it, and texts in a file. */
#ifndef SK_RUN_FILE_H
#define SK_RUN_FILE_H

#include "strlist.h"

typedef enum sk_find_result {
    SK_FIND_OK,
    SK_FIND_MISSING,
    SK_FIND_NOT_EXECUTABLE, /* there is such a file, but it may not be run */
} sk_find_result;

/* A name with a slash is a path, relative to `dir` if that is not NULL. Another name is searched in
 * PATH, then (as launchers do) in the current directory. *path is set unless the result is
 * SK_FIND_MISSING. */
sk_find_result sk_find_program(sk_arena *a, const char *name, const char *dir, const char **path);

/* The first of the texts (NULL-ended, up to 64 bytes each) that the file contains; NULL when it has
 * none or cannot be read. */
const char *sk_file_mentions(sk_arena *a, const char *path, const char *const *texts);

#endif
