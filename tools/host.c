#include "host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT = 16384 }; /* more than the version string of any MPI */

/* ---- in a process of its own ---- */

/* Writes the prefix of the persistent collectives, whether there are large counts, and the version. */
static bool tell(const char *const *libraries, FILE *out)
{
    static char text[TEXT];
    int len = 0;
    void *mpi = NULL;
    while (*libraries && !mpi)
        mpi = dlopen(*libraries++, RTLD_LAZY | RTLD_LOCAL);
    if (!mpi)
        return false;
    int (*version)(char *, int *) = (int (*)(char *, int *))dlsym(mpi, "MPI_Get_library_version");
    if (!version || version(text, &len) != 0)
        return false;
    const char *init = dlsym(mpi, "PMPI_Bcast_init")    ? "MPI_"
                       : dlsym(mpi, "PMPIX_Bcast_init") ? "MPIX_"
                                                        : "-";
    fprintf(out, "%s\n%d\n%s\n", init, dlsym(mpi, "PMPI_Bcast_c") != NULL, text);
    return true;
}

/* What the process wrote; NULL: it could not. */
static char *ask(sk_arena *a, const char *const *libraries)
{
    int ends[2], status = 1;
    char *text = sk_arena_need(a, TEXT);
    if (pipe(ends) != 0)
        return NULL;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        FILE *out = fdopen(ends[1], "w");
        bool told = out && tell(libraries, out) && fflush(out) == 0;
        _exit(told ? 0 : 1);
    }
    close(ends[1]);
    size_t len = 0;
    ssize_t n;
    while (len < TEXT - 1 && (n = read(ends[0], text + len, TEXT - 1 - len)) > 0)
        len += (size_t)n;
    close(ends[0]);
    text[len] = '\0';
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return NULL;
    return text;
}

/* ---- the version ---- */

/* The rest of the line that starts with `label`; NULL: there is none. */
static char *line_of(sk_arena *a, const char *text, const char *label)
{
    const char *at = strstr(text, label);
    if (!at)
        return NULL;
    at += strlen(label);
    at += strspn(at, " \t");
    return sk_format(a, "%.*s", (int)strcspn(at, "\n"), at);
}

bool sk_mpi_host_ask(sk_arena *a, const char *const *libraries, sk_mpi_host *out)
{
    char *text = ask(a, libraries), *version = NULL;
    char *second = text ? strchr(text, '\n') : NULL,
         *third = second ? strchr(second + 1, '\n') : NULL;
    if (!third)
        return false;
    *second = *third++ = '\0';
    *out = (sk_mpi_host){.init = strcmp(text, "-") != 0 ? text : NULL, .large = second[1] == '1'};
    if ((version = line_of(a, third, "MPICH Version:"))) {
        out->name = sk_format(a, "MPICH %s", version);
        out->device = line_of(a, third, "MPICH Device:");
    } else if ((version = line_of(a, third, "Open MPI v")))
        out->name = sk_format(a, "Open MPI %.*s", (int)strcspn(version, ","), version);
    else
        out->name = sk_format(a, "%.*s", (int)strcspn(third, "\n"), third);
    return true;
}
