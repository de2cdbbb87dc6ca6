/* python.c: a Python program reaches MPI through mpi4py, whose extension module links it. Look
 * where the interpreter would look; ask the interpreter itself only when that finds nothing, or
 * copies that disagree. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/program.h"

/* The MPI of DIR/mpi4py/MPI*.so, for every DIR the pattern matches. Disagreement is SK_MPI_OTHER.
 */
static sk_flavour modules_mpi(sk_arena *a, const char *dirs, sk_elf **file, const char **soname)
{
    sk_flavour all = SK_MPI_NONE;
    char err[256];
    glob_t g;
    if (glob(sk_format(a, "%s/mpi4py/MPI*.so", dirs), 0, NULL, &g) != 0)
        return SK_MPI_NONE;
    for (size_t i = 0; i < g.gl_pathc; i++) {
        sk_elf *e;
        const char *name = NULL;
        if (sk_elf_read(a, g.gl_pathv[i], &e, err, sizeof err) != SK_OK)
            continue;
        sk_flavour f = sk_mpi_of(a, e, &name);
        if (f == SK_MPI_NONE)
            continue;
        all = all == SK_MPI_NONE || all == f ? f : SK_MPI_OTHER;
        *file = e;
        *soname = name;
    }
    globfree(&g);
    return all;
}

/* The directory mpi4py would be imported from, NULL when it would not be found. */
static const char *ask(sk_arena *a, const char *interpreter)
{
    static const char question[] =
        "import importlib.util as u, os\n"
        "s = u.find_spec('mpi4py')\n"
        "print(os.path.dirname(list(s.submodule_search_locations)[0]) if s else '', end='')\n";
    char answer[4096];
    size_t got = 0;
    ssize_t k;
    int fd[2], status;
    if (pipe(fd) != 0)
        return NULL;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fd[1], STDOUT_FILENO);
        close(STDERR_FILENO); /* its complaints are for the real run */
        close(fd[0]);
        close(fd[1]);
        execl(interpreter, interpreter, "-c", question, (char *)NULL);
        _exit(127);
    }
    close(fd[1]);
    while (pid > 0 && got < sizeof answer &&
           (k = read(fd[0], answer + got, sizeof answer - got)) > 0)
        got += (size_t)k;
    close(fd[0]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0 || !got || got == sizeof answer)
        return NULL;
    return sk_format(a, "%.*s", (int)got, answer);
}

sk_flavour sk_python_mpi(sk_arena *a, const char *interpreter, sk_elf **file, const char **soname)
{
    sk_strlist dirs = sk_strlist_new(a);
    const char *env = getenv("PYTHONPATH"), *home = getenv("HOME");
    if (env)
        sk_strlist_split(&dirs, env, ":");
    sk_strlist_add(&dirs,
                   sk_format(a, "%s/../lib/python3*/site-packages", sk_dirname(a, interpreter)));
    if (home)
        sk_strlist_add(&dirs, sk_format(a, "%s/.local/lib/python3*/site-packages", home));
    sk_strlist_split(&dirs, "/usr/local/lib/python3*/dist-packages /usr/lib/python3/dist-packages",
                     " ");
    for (int i = 0; i < dirs.n; i++) {
        sk_flavour f = modules_mpi(a, dirs.v[i], file, soname);
        if (f == SK_MPI_OPENMPI || f == SK_MPI_MPICH)
            return f;
        if (f == SK_MPI_OTHER)
            break;
    }
    const char *dir = ask(a, interpreter);
    sk_flavour f = dir ? modules_mpi(a, dir, file, soname) : SK_MPI_NONE;
    return f == SK_MPI_OTHER ? SK_MPI_NONE : f;
}
