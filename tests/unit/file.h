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

/* For cmocka's tests with setup and teardown: the state is the file. */
static inline int unit_file_setup(void **state)
{
    static unit_file f;
    unit_file_make(&f);
    *state = &f;
    return 0;
}

static inline int unit_file_teardown(void **state)
{
    unit_file_remove(*state);
    return 0;
}

#endif
