/* Reading what another process has. */
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/cma.h"

enum { PAGE = 65536 }; /* of any kernel */

typedef struct other { /* a process that waits until the pipe to it is closed */
    pid_t pid;
    int until;
} other;

static other other_new(void)
{
    int ends[2];
    char none;
    assert_int_equal(pipe(ends), 0);
    other o = {.pid = fork(), .until = ends[1]};
    assert_true(o.pid >= 0);
    if (o.pid == 0) {
        close(ends[1]);
        _exit(read(ends[0], &none, 1) != 0);
    }
    close(ends[0]);
    return o;
}

static void other_free(other o)
{
    int status;
    close(o.until);
    assert_int_equal(waitpid(o.pid, &status, 0), o.pid);
    assert_int_equal(status, 0);
}

/* What the other process has as this one had it. */
static sk_export_handle at_other(other o, const void *at)
{
    sk_export_handle handle = sk_cma_export(at);
    assert_int_equal(handle.pid, getpid());
    handle.pid = (int32_t)o.pid;
    return handle;
}

static bool may_cma(other o)
{
    char byte, *here = &byte;
    struct iovec from = {&here, 1}, to = {&byte, 1};
    return process_vm_readv(o.pid, &to, 1, &from, 1, 0) == 1 || (errno != EPERM && errno != ENOSYS);
}

static void what_another_process_has_can_be_read(void **state)
{
    (void)state;
    static unsigned char theirs[100000];
    static unsigned char mine[100000];
    for (unsigned i = 0; i < sizeof theirs; i++)
        theirs[i] = (unsigned char)(i * 7 + i / 256);
    other o = other_new();
    if (!may_cma(o)) {
        other_free(o);
        skip();
    }
    unsigned char kept[1000];
    memcpy(kept, theirs + 500, sizeof kept);
    memset(theirs, 0, sizeof theirs); /* what is read is not what is here */
    sk_export_handle handle = at_other(o, theirs);
    assert_int_equal(sk_cma_read(handle, 0, mine, sizeof mine), SK_OK);
    for (unsigned i = 0; i < sizeof mine; i++)
        assert_int_equal(mine[i], (unsigned char)(i * 7 + i / 256));
    memset(mine, 0, sizeof mine);
    assert_int_equal(sk_cma_read(handle, 500, mine, sizeof kept), SK_OK);
    assert_memory_equal(mine, kept, sizeof kept);
    assert_int_equal(mine[sizeof kept], 0);
    assert_int_equal(sk_cma_read(at_other(o, theirs + 600), -100, mine, sizeof kept), SK_OK);
    assert_memory_equal(mine, kept, sizeof kept);
    assert_int_equal(sk_cma_read(at_other(o, NULL), 0, mine, 0), SK_OK);
    other_free(o);
}

static void what_is_not_there_cannot_be_read(void **state)
{
    (void)state;
    char mine[2 * 64];
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(munmap(pages + PAGE, PAGE), 0);
    other o = other_new();
    assert_int_equal(sk_cma_read(at_other(o, NULL), 0, mine, 8), SK_WIRE);
    assert_int_equal(sk_cma_read(at_other(o, (void *)UINTPTR_MAX), 0, mine, 8), SK_WIRE);
    if (may_cma(o)) /* up to the end is there; across it is not, though the first half is */
        assert_int_equal(sk_cma_read(at_other(o, pages), PAGE - 64, mine, 64), SK_OK);
    assert_int_equal(sk_cma_read(at_other(o, pages), PAGE - 64, mine, sizeof mine), SK_WIRE);
    munmap(pages, PAGE);
    sk_export_handle gone = at_other(o, mine);
    other_free(o);
    assert_int_equal(sk_cma_read(gone, 0, mine, 8), SK_WIRE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_another_process_has_can_be_read),
        cmocka_unit_test(what_is_not_there_cannot_be_read),
    };
    return RUN(tests);
}
