/* elf.c: read DT_NEEDED, DT_RPATH and DT_RUNPATH, in 32 or 64 bits and either byte order.
 *
 * Pieces are read where they are needed instead of mapping the file: a file that shrinks meanwhile
 * then gives a short read, not a signal. */
#include "run/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DYNAMIC = 1 << 13, MAX_NAME = 4096 };

typedef struct reader {
    sk_arena *arena;
    int fd;
    bool wide, big;
    const unsigned char *ph; /* all program headers */
    int phnum, phsize;
    const char *bad; /* first thing found wrong */
} reader;

static bool fail(reader *r, const char *what)
{
    if (!r->bad)
        r->bad = what;
    return false;
}

static bool read_at(reader *r, uint64_t off, void *to, size_t n, const char *what)
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

static uint64_t number(const reader *r, const unsigned char *p, size_t size)
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

static bool read_headers(reader *r, sk_elf *e)
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
static bool offset_of(reader *r, uint64_t addr, uint64_t *off)
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

static const char *string_at(reader *r, uint64_t table, uint64_t size, uint64_t index)
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

static bool read_entries(reader *r, sk_elf *e, const unsigned char *dyn, size_t n)
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

static bool read_segments(reader *r, sk_elf *e)
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
    reader r = {.arena = a, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
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
