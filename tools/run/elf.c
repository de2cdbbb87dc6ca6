/* elf.c: see elf.h. Reads DT_NEEDED, DT_RPATH and DT_RUNPATH, in 32 or 64 bits and either byte
 * order.
 *
 * The parts of a file are read where they are needed, not mapped: a file that shrinks meanwhile
 * then gives a short read, not a signal. Libraries are searched in the order of ld.so. Its
 * configuration is read as text, not from the binary cache. */
#include "run/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_DYNAMIC = 1 << 13, /* entries of a dynamic section */
    MAX_NAME = 4096,
    MAX_LINE = 4096,  /* of ld.so.conf */
    MAX_INCLUDES = 4, /* files of ld.so.conf that include each other */
    MAX_LIBRARIES = 1000,
};

typedef struct elf_reader {
    sk_arena *arena;
    int fd;
    bool wide, big;
    const unsigned char *ph; /* all program headers */
    int phnum, phsize;
    const char *bad; /* first thing found wrong */
} elf_reader;

static bool fail(elf_reader *r, const char *what)
{
    if (!r->bad)
        r->bad = what;
    return false;
}

static bool read_at(elf_reader *r, uint64_t off, void *to, size_t n, const char *what)
{
    if (off > INT64_MAX - n)
        return fail(r, what);
    for (size_t got = 0; got < n;) {
        ssize_t k = pread(r->fd, (char *)to + got, n - got, (off_t)(off + got));
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return fail(r, what);
        got += (size_t)k;
    }
    return true;
}

static uint64_t number(const elf_reader *r, const unsigned char *p, size_t size)
{
    uint64_t x = 0;
    for (size_t i = 0; i < size; i++)
        x |= (uint64_t)p[r->big ? size - 1 - i : i] << (8 * i);
    return x;
}

/* A field of a structure that exists as Elf32_T and Elf64_T. */
#define FIELD(r, p, T, f)                                                                          \
    ((r)->wide ? number(r, (p) + offsetof(Elf64_##T, f), sizeof((Elf64_##T *)0)->f)                \
               : number(r, (p) + offsetof(Elf32_##T, f), sizeof((Elf32_##T *)0)->f))
#define SIZE(r, T) ((r)->wide ? sizeof(Elf64_##T) : sizeof(Elf32_##T))

static bool read_headers(elf_reader *r, sk_elf *e)
{
    unsigned char h[sizeof(Elf64_Ehdr)];
    if (!read_at(r, 0, h, EI_NIDENT, "it is too short"))
        return false;
    if (memcmp(h, ELFMAG, SELFMAG) != 0)
        return fail(r, "it is not an ELF file");
    if (h[EI_CLASS] != ELFCLASS32 && h[EI_CLASS] != ELFCLASS64)
        return fail(r, "its class is neither 32 nor 64 bits");
    if (h[EI_DATA] != ELFDATA2LSB && h[EI_DATA] != ELFDATA2MSB)
        return fail(r, "its byte order is unknown");
    r->wide = h[EI_CLASS] == ELFCLASS64;
    r->big = h[EI_DATA] == ELFDATA2MSB;
    if (!read_at(r, 0, h, SIZE(r, Ehdr), "its header is cut off"))
        return false;
    uint64_t type = FIELD(r, h, Ehdr, e_type);
    e->bits = r->wide ? 64 : 32;
    e->machine = (int)FIELD(r, h, Ehdr, e_machine);
    e->program = type == ET_EXEC || type == ET_DYN;
    r->phnum = (int)FIELD(r, h, Ehdr, e_phnum);
    r->phsize = (int)FIELD(r, h, Ehdr, e_phentsize);
    if (!r->phnum)
        return true;
    if ((size_t)r->phsize < SIZE(r, Phdr))
        return fail(r, "its program headers are too small");
    size_t bytes = (size_t)r->phnum * (size_t)r->phsize;
    unsigned char *ph = sk_arena_need(r->arena, bytes);
    r->ph = ph;
    return read_at(r, FIELD(r, h, Ehdr, e_phoff), ph, bytes, "its program headers are cut off");
}

/* The file offset of an address, by the loadable segment that holds it. */
static bool offset_of(elf_reader *r, uint64_t addr, uint64_t *off)
{
    for (int i = 0; i < r->phnum; i++) {
        const unsigned char *p = r->ph + (size_t)i * (size_t)r->phsize;
        uint64_t start = FIELD(r, p, Phdr, p_vaddr), size = FIELD(r, p, Phdr, p_filesz);
        if (FIELD(r, p, Phdr, p_type) != PT_LOAD || addr < start || addr - start >= size)
            continue;
        uint64_t base = FIELD(r, p, Phdr, p_offset);
        if (base > INT64_MAX || addr - start > INT64_MAX - base)
            return fail(r, "a segment lies outside the file");
        *off = base + (addr - start);
        return true;
    }
    return fail(r, "its string table is in no segment");
}

static const char *string_at(elf_reader *r, uint64_t table, uint64_t size, uint64_t index)
{
    char name[MAX_NAME];
    if (index >= size || table > INT64_MAX - MAX_NAME - index) {
        fail(r, "a name lies outside its string table");
        return NULL;
    }
    size_t most = size - index < sizeof name ? (size_t)(size - index) : sizeof name;
    ssize_t got = pread(r->fd, name, most, (off_t)(table + index));
    if (got <= 0 || !memchr(name, 0, (size_t)got)) {
        fail(r, "a name has no end");
        return NULL;
    }
    return sk_format(r->arena, "%s", name);
}

static bool read_entries(elf_reader *r, sk_elf *e, const unsigned char *dyn, size_t n)
{
    size_t step = SIZE(r, Dyn);
    uint64_t strtab = 0, strsz = 0, off;
    bool has_strtab = false;
    size_t count = n / step;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *d = dyn + i * step;
        uint64_t tag = FIELD(r, d, Dyn, d_tag), val = FIELD(r, d, Dyn, d_un);
        if (tag == DT_NULL)
            count = i;
        else if (tag == DT_STRTAB)
            strtab = val, has_strtab = true;
        else if (tag == DT_STRSZ)
            strsz = val;
    }
    for (size_t i = 0; i < count; i++) {
        const unsigned char *d = dyn + i * step;
        uint64_t tag = FIELD(r, d, Dyn, d_tag), val = FIELD(r, d, Dyn, d_un);
        if (tag != DT_NEEDED && tag != DT_RPATH && tag != DT_RUNPATH)
            continue;
        if (!has_strtab)
            return fail(r, "its dynamic section has no string table");
        if (!offset_of(r, strtab, &off))
            return false;
        const char *text = string_at(r, off, strsz, val);
        if (!text)
            return false;
        if (tag == DT_NEEDED)
            sk_strlist_add(&e->needed, text);
        else if (tag == DT_RPATH)
            e->rpath = text;
        else
            e->runpath = text;
    }
    return true;
}

static bool read_segments(elf_reader *r, sk_elf *e)
{
    for (int i = 0; i < r->phnum; i++) {
        const unsigned char *p = r->ph + (size_t)i * (size_t)r->phsize;
        uint64_t type = FIELD(r, p, Phdr, p_type);
        if (type == PT_INTERP)
            e->interp = true;
        if (type != PT_DYNAMIC || e->dynamic)
            continue;
        uint64_t off = FIELD(r, p, Phdr, p_offset), n = FIELD(r, p, Phdr, p_filesz);
        if (n > MAX_DYNAMIC * SIZE(r, Dyn))
            return fail(r, "its dynamic section is too long");
        unsigned char *dyn = sk_arena_need(r->arena, n ? (size_t)n : 1);
        e->dynamic = true;
        if (!read_at(r, off, dyn, (size_t)n, "its dynamic section is cut off") ||
            !read_entries(r, e, dyn, (size_t)n))
            return false;
    }
    return true;
}

bool sk_elf_is(const char *path)
{
    char magic[SELFMAG];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool is = pread(fd, magic, SELFMAG, 0) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);
    close(fd);
    return is;
}

sk_status sk_elf_read(sk_arena *a, const char *path, sk_elf **out, char *err, size_t size)
{
    elf_reader r = {.arena = a, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (r.fd < 0) {
        snprintf(err, size, "cannot read %s: %s", path, strerror(errno));
        return SK_BADARG;
    }
    sk_elf *e = sk_arena_need(a, sizeof *e);
    e->path = sk_format(a, "%s", path);
    e->needed = sk_strlist_new(a);
    bool ok = read_headers(&r, e) && read_segments(&r, e);
    close(r.fd);
    if (!ok) {
        snprintf(err, size, "%s is a damaged ELF file: %s", path, r.bad);
        return SK_BADARG;
    }
    *out = e;
    return SK_OK;
}

/* Where the dynamic linker looks for a library. */

static void read_conf(sk_strlist *dirs, const char *path, int depth);

static void include(sk_strlist *dirs, const char *pattern, int depth)
{
    glob_t g;
    if (depth >= MAX_INCLUDES || glob(pattern, 0, NULL, &g) != 0)
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

/* The directories of the system: /etc/ld.so.conf and what it includes, then the built-in ones. */
static void system_dirs(sk_strlist *dirs)
{
    read_conf(dirs, "/etc/ld.so.conf", 0);
    sk_strlist_split(dirs, "/lib64 /usr/lib64 /lib /usr/lib", " ");
}

/* Replaces $ORIGIN by the directory of the file. NULL for $LIB and $PLATFORM, which only the linker
 * knows. */
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

static void add_path(sk_strlist *paths, const char *path, const sk_elf *owner, const char *name)
{
    sk_strlist dirs = sk_strlist_new(paths->arena);
    if (!path)
        return;
    sk_strlist_split(&dirs, path, ":;");
    for (int i = 0; i < dirs.n; i++) {
        const char *dir = expand(paths->arena, dirs.v[i], owner);
        if (dir)
            sk_strlist_add(paths, sk_format(paths->arena, "%s/%s", dir, name));
    }
}

/* Every file that could be the library `name` for `from`, which is `program` or one of its
 * libraries, in the order of the dynamic linker: RPATH (only without RUNPATH), LD_LIBRARY_PATH,
 * RUNPATH, the system. */
static void candidates(sk_strlist *paths, const sk_elf *program, const sk_elf *from,
                       const sk_strlist *system, const char *name)
{
    if (!from->runpath) {
        add_path(paths, from->rpath, from, name);
        if (from != program && !program->runpath)
            add_path(paths, program->rpath, program, name);
    }
    add_path(paths, getenv("LD_LIBRARY_PATH"), program, name);
    add_path(paths, from->runpath, from, name);
    for (int i = 0; i < system->n; i++)
        sk_strlist_add(paths, sk_format(paths->arena, "%s/%s", system->v[i], name));
}

/* Which MPI a file is linked with: breadth first through DT_NEEDED, so that what the program itself
 * names comes first. */

static sk_flavour named_by(const sk_elf *e, const char **soname)
{
    for (int i = 0; i < e->needed.n; i++) {
        sk_flavour f = sk_flavour_of_library(e->needed.v[i]);
        if (f != SK_MPI_NONE) {
            if (soname)
                *soname = e->needed.v[i];
            return f;
        }
    }
    return SK_MPI_NONE;
}

/* The library the dynamic linker would load, NULL when there is none or it is unreadable. */
static sk_elf *load(sk_arena *a, const sk_elf *program, const sk_elf *from,
                    const sk_strlist *system, const char *name)
{
    char err[256];
    sk_strlist paths = sk_strlist_new(a);
    if (strchr(name, '/'))
        sk_strlist_add(&paths, name);
    else
        candidates(&paths, program, from, system, name);
    for (int i = 0; i < paths.n; i++) {
        sk_elf *lib;
        if (access(paths.v[i], R_OK) == 0 && sk_elf_is(paths.v[i]) &&
            sk_elf_read(a, paths.v[i], &lib, err, sizeof err) == SK_OK &&
            lib->bits == program->bits && lib->machine == program->machine)
            return lib;
    }
    return NULL;
}

/* *soname gets the name of the MPI library, *by the file that needs it. */
static sk_flavour search(sk_arena *a, const sk_elf *e, const char **soname, const sk_elf **by)
{
    sk_strlist names = sk_strlist_new(a), system = sk_strlist_new(a);
    const sk_elf *queue[MAX_LIBRARIES] = {e};
    int n = 1;
    *by = e;
    sk_flavour f = named_by(e, soname);
    if (f != SK_MPI_NONE || !e->needed.n)
        return f;
    system_dirs(&system);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < queue[i]->needed.n && n < MAX_LIBRARIES; j++) {
            const char *name = queue[i]->needed.v[j];
            if (sk_strlist_has(&names, name))
                continue;
            sk_strlist_add(&names, name);
            sk_elf *lib = load(a, e, queue[i], &system, name);
            if (!lib)
                continue;
            *by = lib;
            f = named_by(lib, soname);
            if (f != SK_MPI_NONE)
                return f;
            queue[n++] = lib;
        }
    }
    return SK_MPI_NONE;
}

sk_flavour sk_mpi_of(sk_arena *a, const sk_elf *e, const char **soname)
{
    const sk_elf *by;
    return search(a, e, soname, &by);
}

sk_elf *sk_elf_load(sk_arena *a, const sk_elf *program, const sk_elf *from, const char *name)
{
    sk_strlist system = sk_strlist_new(a);
    system_dirs(&system);
    return load(a, program, from, &system, name);
}

sk_elf *sk_mpi_library(sk_arena *a, const sk_elf *e, sk_flavour mpi)
{
    static const char *const usual[][3] = {[SK_MPI_OPENMPI] = {"libmpi.so.40"},
                                           [SK_MPI_MPICH] = {"libmpich.so.12", "libmpi.so.12"},
                                           [SK_MPI_ABI] = {"libmpi_abi.so.1"}};
    const char *soname = NULL;
    const sk_elf *by;
    if (search(a, e, &soname, &by) == mpi && soname)
        return sk_elf_load(a, e, by, soname);
    sk_elf *lib = NULL;
    for (int i = 0; !lib && usual[mpi][i]; i++)
        lib = sk_elf_load(a, e, e, usual[mpi][i]);
    return lib;
}
