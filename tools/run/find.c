/* find.c: see find.h. */
#include "run/find.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool sk_find_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static sk_find try_path(const char *candidate, const char **path)
{
    if (!sk_find_is_file(candidate))
        return SK_FIND_MISSING;
    *path = candidate;
    return access(candidate, X_OK) == 0 ? SK_FIND_OK : SK_FIND_NOT_EXECUTABLE;
}

sk_find sk_find_program(sk_arena *a, const char *name, const char *dir, const char **path)
{
    if (!*name)
        return SK_FIND_MISSING;
    if (*name == '/' || (strchr(name, '/') && !dir))
        return try_path(sk_format(a, "%s", name), path);
    if (strchr(name, '/'))
        return try_path(sk_format(a, "%s/%s", dir, name), path);
    sk_strlist dirs = sk_strlist_new(a);
    const char *env = getenv("PATH");
    sk_strlist_split(&dirs, env ? env : "/usr/local/bin:/usr/bin:/bin", ":");
    sk_strlist_add(&dirs, dir ? dir : ".");
    sk_find best = SK_FIND_MISSING;
    for (int i = 0; i < dirs.n; i++) {
        const char *found = NULL;
        sk_find f = try_path(sk_format(a, "%s/%s", dirs.v[i], name), &found);
        if (f == SK_FIND_OK || (f == SK_FIND_NOT_EXECUTABLE && best == SK_FIND_MISSING)) {
            best = f;
            *path = found;
        }
        if (f == SK_FIND_OK)
            break;
    }
    return best;
}
