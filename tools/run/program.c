/* program.c: see program.h. Looks at the file of the first word. If that links no MPI, looks for a
 * file that does among what it would start: the words of a script, and the words that follow on the
 * command line. No table of wrappers and their options is needed: a word counts when it names an
 * executable that links an MPI, and options, numbers and input files do not.
 *
 * A Python program reaches MPI through mpi4py, whose extension module links it. It is searched in
 * PYTHONPATH; then the interpreter is asked where it would import it from. Only when the
 * interpreter does not run here are its usual directories searched: they may belong to another
 * interpreter. */
#include "run/program.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/file.h"
#include "run/launcher.h"

enum { MAX_DEPTH = 4, MAX_SCRIPT = 1 << 16 };

/* The MPI of DIR/mpi4py/MPI*.so, for every DIR that the pattern matches; SK_MPI_OTHER when they
 * differ. */
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

/* The directory that this interpreter would import mpi4py from, "" when it would not find it; NULL
 * when the interpreter could not be asked. */
static const char *ask_python(sk_arena *a, const char *interpreter)
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
        close(STDERR_FILENO); /* its messages appear in the real run */
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
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0 || got == sizeof answer)
        return NULL;
    return sk_format(a, "%.*s", (int)got, answer);
}

/* The MPI of the mpi4py that this interpreter would import; SK_MPI_NONE when it cannot be told. */
static sk_flavour python_mpi(sk_arena *a, const char *interpreter, sk_elf **file,
                             const char **soname)
{
    sk_strlist dirs = sk_strlist_new(a);
    const char *path = getenv("PYTHONPATH"), *home = getenv("HOME");
    if (path)
        sk_strlist_split(&dirs, path, ":");
    int in_path = dirs.n;
    sk_strlist_add(&dirs,
                   sk_format(a, "%s/../lib/python3*/site-packages", sk_dirname(a, interpreter)));
    if (home)
        sk_strlist_add(&dirs, sk_format(a, "%s/.local/lib/python3*/site-packages", home));
    sk_strlist_split(&dirs, "/usr/local/lib/python3*/dist-packages /usr/lib/python3/dist-packages",
                     " ");
    for (int i = 0; i < dirs.n; i++) {
        const char *asked = i == in_path ? ask_python(a, interpreter) : NULL;
        sk_flavour f = modules_mpi(a, asked ? asked : dirs.v[i], file, soname);
        if (asked || f != SK_MPI_NONE)
            return f == SK_MPI_OTHER ? SK_MPI_NONE : f;
    }
    return SK_MPI_NONE;
}

typedef struct program_look {
    sk_arena *arena;
    const char *dir;
    sk_program *out;
    sk_strlist seen; /* files looked at: scripts may call each other */
    bool indirect;   /* a script or Python was seen */
    bool shell;      /* the command is a shell: its scripts need no execute permission */
} program_look;

static bool look_file(program_look *l, const char *path, int depth);

static bool decide(program_look *l, sk_flavour mpi, const sk_elf *e, const char *soname)
{
    if (mpi == SK_MPI_NONE)
        return false;
    if (l->out->verdict == SK_PROGRAM_MPI)
        return true; /* the first one decides */
    l->out->verdict = SK_PROGRAM_MPI;
    l->out->mpi = mpi;
    l->out->file = e->path;
    l->out->soname = soname;
    l->out->bits = e->bits;
    l->out->machine = e->machine;
    return true;
}

static bool is_shell(const char *path)
{
    return sk_listed("sh bash dash ash ksh zsh csh tcsh", sk_basename(path));
}

static bool is_python(const char *path)
{
    return sk_starts_with(sk_basename(path), "python") || sk_starts_with(sk_basename(path), "pypy");
}

/* The value in an assignment VAR=VALUE: APP=./app names a program too. */
static const char *value_of(const char *word)
{
    size_t n = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
    return n && word[n] == '=' ? word + n + 1 : word;
}

static bool look_word(program_look *l, const char *word, const char *script_dir, int depth)
{
    const char *path = NULL;
    word = value_of(word);
    sk_find_result found = sk_find_program(l->arena, word, l->dir, &path);
    if (found == SK_FIND_OK && sk_launcher_named(word)) {
        if (!l->out->launcher)
            l->out->launcher = sk_format(l->arena, "%s", word);
        return false;
    }
    if (found == SK_FIND_OK || (found == SK_FIND_NOT_EXECUTABLE && l->shell && !sk_elf_is(path)))
        return look_file(l, path, depth + 1);
    /* "$HERE/app" and "$(dirname $0)/app" mostly mean the script's own directory. */
    const char *slash = strchr(word, '/');
    if (!script_dir || !slash)
        return false;
    path = sk_format(l->arena, "%s%s", script_dir, slash);
    return sk_find_is_file(path) && access(path, X_OK) == 0 && look_file(l, path, depth + 1);
}

/* Looks at the whole text, also after a program was found: a launcher may follow. */
static bool look_text(program_look *l, const char *text, const char *script_dir, int depth)
{
    static const char separators[] = " \t\r\n;&|()<>`\"'{}";
    bool hit = false;
    while (*text) {
        text += strspn(text, separators);
        size_t n = *text == '#' ? strcspn(text, "\n") : strcspn(text, separators);
        if (n && *text != '#' && *text != '-')
            hit |= look_word(l, sk_format(l->arena, "%.*s", (int)n, text), script_dir, depth);
        text += n;
    }
    return hit;
}

static bool look_script(program_look *l, const char *path, int depth)
{
    char *text = sk_arena_need(l->arena, MAX_SCRIPT + 1);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    size_t n = fread(text, 1, MAX_SCRIPT, f);
    fclose(f);
    if (memchr(text, 0, n))
        return false; /* an unknown kind of binary */
    l->indirect = true;
    if (sk_starts_with(text, "#!")) {
        char *line = text + 2;
        size_t end = strcspn(line, "\n");
        bool last = !line[end];
        line[end] = 0;
        sk_strlist words = sk_strlist_new(l->arena);
        sk_strlist_split(&words, line, " \t\r");
        for (int i = 0; i < words.n; i++)
            if (is_python(words.v[i]))
                return look_word(l, words.v[i], NULL, depth);
        text = line + end + !last;
    }
    return look_text(l, text, sk_dirname(l->arena, path), depth);
}

static bool look_file(program_look *l, const char *path, int depth)
{
    const char *soname = NULL;
    char err[sizeof l->out->err];
    sk_elf *e;
    if (depth > MAX_DEPTH || sk_strlist_has(&l->seen, path))
        return false;
    sk_strlist_add(&l->seen, path);
    if (is_python(path)) {
        l->indirect = true;
        sk_flavour mpi = python_mpi(l->arena, path, &e, &soname);
        if (mpi != SK_MPI_NONE)
            return decide(l, mpi, e, soname);
    }
    if (!sk_elf_is(path))
        return look_script(l, path, depth);
    sk_status st = sk_elf_read(l->arena, path, &e, err, sizeof err);
    if (st == SK_OK) {
        sk_flavour mpi = sk_mpi_of(l->arena, e, &soname); /* before soname is read */
        if (decide(l, mpi, e, soname))
            return true;
    }
    if (depth == 0 && st != SK_OK) {
        l->out->verdict = SK_PROGRAM_DAMAGED;
        memcpy(l->out->err, err, sizeof err);
    } else if (depth == 0) {
        l->out->verdict = e->interp ? SK_PROGRAM_NOT_MPI : SK_PROGRAM_STATIC;
    }
    return false;
}

void sk_program_look(sk_arena *a, char *const *words, int n, const char *dir, sk_program *out)
{
    program_look l = {.arena = a, .dir = dir, .out = out, .seen = sk_strlist_new(a)};
    *out = (sk_program){.verdict = SK_PROGRAM_NOT_MPI};
    sk_find_result found = sk_find_program(a, words[0], dir, &out->path);
    if (found != SK_FIND_OK) {
        out->verdict = found == SK_FIND_MISSING ? SK_PROGRAM_MISSING : SK_PROGRAM_NOT_EXECUTABLE;
        return;
    }
    l.shell = is_shell(out->path);
    l.indirect = l.shell && n > 1;
    if (look_file(&l, out->path, 0) || out->verdict == SK_PROGRAM_DAMAGED)
        return;
    for (int i = 1; i < n; i++) {
        bool text = strpbrk(words[i], " \t\n;") != NULL;
        if (text ? look_text(&l, words[i], NULL, 0)
                 : words[i][0] != '-' && look_word(&l, words[i], NULL, 0))
            return;
    }
    if (l.indirect)
        out->verdict = SK_PROGRAM_UNKNOWN;
}
