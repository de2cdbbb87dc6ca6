/* Memory shared with other processes. */
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/segment.h"

enum { BYTES = 3 * 65536, PAGE = 65536 }; /* of any kernel */

static void new_memory_is_zero_but_for_its_key(void **state)
{
    (void)state;
    void *mem;
    sk_segment_handle note;
    assert_int_equal(sk_segment_make(BYTES, &mem, &note), SK_OK);
    assert_memory_equal(mem, note.key, sizeof note.key);
    for (int i = SK_SEGMENT_HEAD; i < BYTES; i++)
        assert_int_equal(((char *)mem)[i], 0);
    sk_segment_close(&note);
    sk_segment_unmap(mem, BYTES);
}

static void only_its_owner_may_read_the_memory(void **state)
{
    (void)state;
    void *mem;
    sk_segment_handle note;
    struct stat is;
    assert_int_equal(sk_segment_make(BYTES, &mem, &note), SK_OK);
    assert_int_equal(fstat(note.fd, &is), 0);
    assert_int_equal(is.st_mode & 07777, 0600);
    assert_int_equal(is.st_uid, geteuid());
    assert_int_equal(is.st_nlink, 0);
    assert_int_equal(fcntl(note.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    sk_segment_close(&note);
    sk_segment_unmap(mem, BYTES);
}

static void two_segments_have_two_keys(void **state)
{
    (void)state;
    void *mem[2];
    sk_segment_handle note[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(sk_segment_make(BYTES, &mem[i], &note[i]), SK_OK);
    assert_memory_not_equal(note[0].key, note[1].key, sizeof note[0].key);
    for (int i = 0; i < 2; i++) {
        sk_segment_close(&note[i]);
        sk_segment_unmap(mem[i], BYTES);
    }
}

static void what_one_mapping_writes_another_reads(void **state)
{
    (void)state;
    void *mem, *again;
    sk_segment_handle note;
    assert_int_equal(sk_segment_make(BYTES, &mem, &note), SK_OK);
    assert_int_equal(sk_segment_map(&note, BYTES, &again), SK_OK);
    sk_segment_close(&note);
    assert_ptr_not_equal(mem, again);
    strcpy((char *)mem + BYTES - 16, "here");
    assert_string_equal((char *)again + BYTES - 16, "here");
    sk_segment_unmap(mem, BYTES);
    assert_string_equal((char *)again + BYTES - 16, "here");
    sk_segment_unmap(again, BYTES);
}

/* Not mapped, and no descriptor more than before. */
static void refused(sk_segment_handle note, size_t bytes)
{
    void *mem = &note;
    int before = open("/dev/null", O_RDONLY);
    close(before);
    assert_int_not_equal(sk_segment_map(&note, bytes, &mem), SK_OK);
    assert_ptr_equal(mem, &note); /* outputs are set on success only */
    int after = open("/dev/null", O_RDONLY);
    close(after);
    assert_int_equal(before, after);
}

static pid_t dead_child(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    return child;
}

static void what_is_not_the_segment_is_not_mapped(void **state)
{
    (void)state;
    void *mem;
    sk_segment_handle note, other;
    assert_int_equal(sk_segment_make(BYTES, &mem, &note), SK_OK);
    for (int i = 0; i < 128; i++) { /* every bit of the key counts */
        other = note;
        other.key[i / 64] ^= (uint64_t)1 << i % 64;
        refused(other, BYTES);
    }
    refused(note, BYTES - PAGE);
    refused(note, BYTES - 1);
    refused(note, BYTES + 1);
    refused(note, (size_t)1 << 50);
    refused(note, 0);
    other = note;
    other.pid = (int32_t)dead_child();
    refused(other, BYTES);
    other.pid = -1;
    refused(other, BYTES);
    other = note;
    other.fd = -1;
    refused(other, BYTES);
    sk_segment_unmap(mem, BYTES);
    sk_segment_close(&note);
    refused(note, BYTES);
}

static void other_files_are_not_mapped(void **state)
{
    (void)state;
    sk_segment_handle note = {.pid = (int32_t)getpid()};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    note.fd = ends[0];
    refused(note, BYTES);
    note.fd = open("/", O_RDONLY | O_DIRECTORY);
    refused(note, BYTES);
    close(note.fd);
    note.fd = open("/dev/zero", O_RDWR);
    refused(note, BYTES);
    close(note.fd);
    note.fd = memfd_create("other", MFD_CLOEXEC);
    assert_true(note.fd >= 0);
    assert_int_equal(ftruncate(note.fd, BYTES), 0);
    note.key[0] = 1;
    refused(note, BYTES); /* right in all but the key */
    close(note.fd);
    close(ends[0]);
    close(ends[1]);
}

static void too_much_memory_is_an_error(void **state)
{
    (void)state;
    void *mem = state;
    sk_segment_handle note;
    assert_int_not_equal(sk_segment_make((size_t)1 << 62, &mem, &note), SK_OK);
    assert_int_not_equal(sk_segment_make(0, &mem, &note), SK_OK);
    assert_ptr_equal(mem, state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_memory_is_zero_but_for_its_key),
        cmocka_unit_test(only_its_owner_may_read_the_memory),
        cmocka_unit_test(two_segments_have_two_keys),
        cmocka_unit_test(what_one_mapping_writes_another_reads),
        cmocka_unit_test(what_is_not_the_segment_is_not_mapped),
        cmocka_unit_test(other_files_are_not_mapped),
        cmocka_unit_test(too_much_memory_is_an_error),
    };
    return RUN(tests);
}
