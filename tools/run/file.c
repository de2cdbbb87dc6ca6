/* file.c: see file.h. */
#include "run/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static sk_find_result try_path(const char *candidate, const char **path)
{
    if (!is_file(candidate))
        return SK_FIND_MISSING;
    *path = candidate;
    return access(candidate, X_OK) == 0 ? SK_FIND_OK : SK_FIND_NOT_EXECUTABLE;
}

sk_find_result sk_find_program(sk_arena *a, const char *name, const char *dir, const char **path)
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
    sk_find_result best = SK_FIND_MISSING;
    for (int i = 0; i < dirs.n; i++) {
        const char *found = NULL;
        sk_find_result f = try_path(sk_format(a, "%s/%s", dirs.v[i], name), &found);
        if (f == SK_FIND_OK || (f == SK_FIND_NOT_EXECUTABLE && best == SK_FIND_MISSING)) {
            best = f;
            *path = found;
        }
        if (f == SK_FIND_OK)
            break;
    }
    return best;
}

/* The file is read in chunks that overlap, so that no text is cut. */
const char *sk_file_mentions(sk_arena *a, const char *path, const char *const *texts)
{
    enum { CHUNK = 1 << 20, OVERLAP = 64 };
    FILE *f = fopen(path, "re");
    if (!f)
        return NULL;
    char *data = sk_arena_need(a, CHUNK);
    const char *found = NULL;
    size_t have = 0, n;
    while (!found && (n = fread(data + have, 1, CHUNK - have, f)) > 0) {
        have += n;
        for (int i = 0; texts[i] && !found; i++)
            if (memmem(data, have, texts[i], strlen(texts[i])))
                found = texts[i];
        size_t keep = have < OVERLAP ? have : OVERLAP;
        memmove(data, data + have - keep, keep);
        have = keep;
    }
    fclose(f);
    return found;
}
