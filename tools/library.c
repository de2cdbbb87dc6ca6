/* library.c: finds the libraries of this installation of Skein. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"

static bool library_in(const char *dir, const char *flavour, char *path, size_t size)
{
    const char *end = strcmp(flavour, "smpi") == 0 ? "a" : "so";
    int n = snprintf(path, size, "%s/libskein%s%s.%s", dir, *flavour ? "-" : "", flavour, end);
    return n > 0 && (size_t)n < size && access(path, R_OK) == 0;
}

bool sk_library_find(const char *flavour, char *path, size_t size)
{
    char dir[4096], beside[4096 + 8];
    ssize_t n = readlink("/proc/self/exe", dir, sizeof dir - 1);
    if (n > 0) {
        /* The command is PREFIX/bin/skein, the libraries are in PREFIX/lib. PREFIX may have been
         * moved. */
        dir[n] = '\0';
        for (int up = 0; up < 2 && strrchr(dir, '/'); up++)
            *strrchr(dir, '/') = '\0';
        snprintf(beside, sizeof beside, "%s/lib", dir);
        if (library_in(beside, flavour, path, size) || library_in(SK_LIBDIR, flavour, path, size))
            return true;
        library_in(beside, flavour, path, size);
        return false;
    }
    return library_in(SK_LIBDIR, flavour, path, size);
}
