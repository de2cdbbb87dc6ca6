/* file.h: files for tests that read some: written to a directory of their own, which goes away with
 * them. Include unit.h before. */
#ifndef FILE_H
#define FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct unit_file {
    char dir[64], path[96];
} unit_file;

static inline void unit_file_write(const unit_file *f, const void *bytes, size_t n)
{
    unlink(f->path); /* some file systems write out at once what replaces a file's contents */
    FILE *stream = fopen(f->path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, n, stream), n);
    assert_int_equal(fclose(stream), 0);
}

static inline void unit_file_make(unit_file *f)
{
    snprintf(f->dir, sizeof f->dir, "/tmp/skein-unit-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->path, sizeof f->path, "%s/a.mtx", f->dir);
}

static inline void unit_file_remove(const unit_file *f)
{
    unlink(f->path);
    rmdir(f->dir);
}

#endif
