/* ldpath.c: the search order of ld.so: RPATH (only without RUNPATH), LD_LIBRARY_PATH, RUNPATH, the
 * system. The configuration's text is read instead of the linker's binary cache made from it. */
#include "run/ldpath.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 4, MAX_LINE = 4096 };

static void read_conf(sk_strlist *dirs, const char *path, int depth);

static void include(sk_strlist *dirs, const char *pattern, int depth)
{
    glob_t g;
    if (depth >= MAX_DEPTH || glob(pattern, 0, NULL, &g) != 0)
        return;
    for (size_t i = 0; i < g.gl_pathc; i++)
        read_conf(dirs, g.gl_pathv[i], depth + 1);
    globfree(&g);
}

static void read_conf(sk_strlist *dirs, const char *path, int depth)
{
    char line[MAX_LINE];
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "#\n")] = 0;
        sk_strlist words = sk_strlist_new(dirs->arena);
        sk_strlist_split(&words, line, " \t,:");
        if (!words.n)
            continue;
        if (!strcmp(words.v[0], "include")) {
            for (int i = 1; i < words.n; i++) {
                const char *p = words.v[i];
                const char *dir = sk_dirname(dirs->arena, path);
                include(dirs, *p == '/' ? p : sk_format(dirs->arena, "%s/%s", dir, p), depth);
            }
        } else if (words.v[0][0] == '/') {
            for (int i = 0; i < words.n; i++)
                sk_strlist_add(dirs, words.v[i]);
        }
    }
    fclose(f);
}

void sk_ldpath_system(sk_strlist *dirs)
{
    read_conf(dirs, "/etc/ld.so.conf", 0);
    sk_strlist_split(dirs, "/lib64 /usr/lib64 /lib /usr/lib", " ");
}

/* $ORIGIN is the directory of the file that says it; $LIB and $PLATFORM are for the linker alone.
 */
static const char *expand(sk_arena *a, const char *dir, const sk_elf *owner)
{
    static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++) {
        const char *at = strstr(dir, origins[i]);
        if (at)
            dir = sk_format(a, "%.*s%s%s", (int)(at - dir), dir, sk_dirname(a, owner->path),
                            at + strlen(origins[i]));
    }
    return strchr(dir, '$') ? NULL : dir;
}

static void add_path(sk_strlist *places, const char *path, const sk_elf *owner, const char *name)
{
    sk_strlist dirs = sk_strlist_new(places->arena);
    if (!path)
        return;
    sk_strlist_split(&dirs, path, ":;");
    for (int i = 0; i < dirs.n; i++) {
        const char *dir = expand(places->arena, dirs.v[i], owner);
        if (dir)
            sk_strlist_add(places, sk_format(places->arena, "%s/%s", dir, name));
    }
}

void sk_ldpath_places(sk_strlist *places, const sk_elf *program, const sk_elf *from,
                      const sk_strlist *system, const char *name)
{
    if (!from->runpath) {
        add_path(places, from->rpath, from, name);
        if (from != program && !program->runpath)
            add_path(places, program->rpath, program, name);
    }
    add_path(places, getenv("LD_LIBRARY_PATH"), program, name);
    add_path(places, from->runpath, from, name);
    for (int i = 0; i < system->n; i++)
        sk_strlist_add(places, sk_format(places->arena, "%s/%s", system->v[i], name));
}
