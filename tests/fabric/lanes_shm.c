/* lanes_shm.c: what holds for the shared-memory lane alone: broken peers, full inboxes, processes
 * that cannot be read, nothing left behind. One line per test. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fabric/lane/shm_inner.h"
#include "lanes.h"

/* Sanitizers keep freed memory for a while. */
#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static sk_shm_lane *lane_of(const process *me)
{
    return (sk_shm_lane *)me->lane;
}

/* The writer's end at process 0. */
static sk_ring_writer *writer(const process *me)
{
    return &lane_of(me)->peers[me->peer[0]].ring;
}

static void announce(const process *me)
{
    sk_shm_peer *m = &lane_of(me)->peers[me->peer[0]];
    atomic_fetch_or(m->doorbell, m->bit);
}

/* Each sender breaks the ring in its own way; the last one follows the protocol. */
static void break_ring(const process *me)
{
    sk_ring_writer *w = writer(me);
    uint64_t at = w->at;
    uint64_t bad[] = {
        UINT64_MAX,
        1,
        sk_ring_mark(at, SK_RING_PACKET + 1, SK_RECORD_PACKET),
        sk_ring_mark(at, (1 << 29) - 1, SK_RECORD_PACKET),
        sk_ring_mark(at + SK_RING_LINE, 8, SK_RECORD_PACKET),
        sk_ring_mark(at, 8, 3),
        sk_ring_mark(at, 8, SK_RECORD_GAP),
        sk_ring_mark(at, 0, SK_RECORD_GAP), /* nothing follows at the start */
    };
    atomic_store(sk_ring_word(w->bytes, at), bad[me->rank - 1]);
    announce(me);
}

static void garbage_is_refused_and_others_go_on(process *me)
{
    int good = me->n - 1;
    me->packet = expect_pattern;
    if (me->rank) {
        for (uint64_t i = 0; i < 50; i++)
            send_pattern(me, 0, 60, i);
        if (me->rank != good)
            break_ring(me);
    } else {
        for (int i = 1; i < good; i++) {
            UNTIL(me, me->gone[i]);
            CHECK(me->gone[i] == 1 && me->why[i] == -EPROTO && me->next[i] == 50);
            CHECK(try_pattern(me, i, 1, 0) == -EPIPE);
        }
    }
    lane_barrier(me, 2);
    if (me->rank == good)
        for (uint64_t i = 50; i < 3000; i++)
            send_pattern(me, 0, 60, i);
    else if (me->rank)
        CHECK(try_pattern(me, 0, 1, 0) == -EPIPE);
    else
        UNTIL(me, me->next[good] == 3000);
    lane_barrier(me, 3);
    for (int i = 1; i < good && !me->rank; i++)
        CHECK(me->gone[i] == 1 && me->next[i] == 50);
}

/* The ring may hold any bytes: the reader must stay lane_of it. */
static void random_bytes_do_no_harm(process *me)
{
    unsigned seed = 12345;
    if (me->rank) {
        sk_ring_writer *w = writer(me);
        for (int i = 0; i < SK_RING_BYTES; i++)
            w->bytes[i] = (unsigned char)rand_r(&seed);
        announce(me);
    } else {
        UNTIL(me, me->gone[1] == 1);
        CHECK(me->why[1] == -EPROTO);
    }
    lane_barrier(me, 2);
}

static void a_full_inbox_refuses_connections(process *me)
{
    sk_shm_lane *s = lane_of(me);
    sk_lane *other;
    uint32_t peer;
    sk_lane_config config = {.id = 4711, .events = s->config.events};
    for (int i = 1; i < SK_INBOX_SLOTS; i++)
        atomic_store(&s->inbox->slots[i].state, SK_SLOT_CLAIMED | (uint64_t)getpid() << 32);
    CHECK(sk_lane_shm.open(&other, &config) == 0);
    CHECK(sk_lane_shm.connect(other, s->config.id, me->shared->proc[0].name,
                              me->shared->proc[0].len, &peer) == -ENETUNREACH);
    atomic_store(&s->inbox->slots[700].state, SK_SLOT_FREE);
    CHECK(sk_lane_shm.connect(other, s->config.id, me->shared->proc[0].name,
                              me->shared->proc[0].len, &peer) == 0);
    sk_lane_shm.close(other);
}

/* The slots of closed peers are reused: many more lanes connect than there are slots. */
static void slots_are_reused(process *me)
{
    sk_lane_config config = {.id = 0, .events = lane_of(me)->config.events};
    struct iovec part = {"hello", 5};
    for (int i = 0; i < 3 * SK_INBOX_SLOTS; i++) {
        sk_lane *other;
        uint32_t peer;
        config.id = me->shared->proc[1].id = (uint64_t)i + 2;
        me->n = 2;
        CHECK(sk_lane_shm.open(&other, &config) == 0);
        CHECK(sk_lane_shm.connect(other, me->shared->proc[0].id, me->shared->proc[0].name,
                                  me->shared->proc[0].len, &peer) == 0);
        CHECK(sk_lane_shm.send(other, peer, &part, 1) == 0);
        sk_lane_shm.close(other);
        me->packets = 0;
        me->gone[1] = 0;
        UNTIL(me, me->gone[1] == 1);
        CHECK(me->packets == 1);
    }
    CHECK(sk_inbox_high(lane_of(me)->inbox) < 8);
}

/* A process dies after it has claimed a slot and before it is connected. */
static void a_half_claimed_slot_becomes_free(process *me)
{
    sk_inbox *b = lane_of(me)->inbox;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    atomic_store(&b->slots[3].state, SK_SLOT_CLAIMED | (uint64_t)pid << 32);
    atomic_store(&b->high, 4);
    CHECK(waitpid(pid, NULL, 0) == pid);
    UNTIL(me, atomic_load(&b->slots[3].state) == SK_SLOT_FREE);
}

/* As containers do it. */
static void forbid_reading(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, code};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static int try_read(process *me, int to, uint64_t at)
{
    char byte;
    sk_lane_source source = {.at = at, .len = 1};
    return me->ops->read(me->lane, me->peer[to], &source, 0, &byte, 1, me);
}

static void peers_that_cannot_be_read_say_so(process *me)
{
    static char byte;
    if (me->rank == 0) {
        CHECK(try_read(me, 1, (uint64_t)(uintptr_t)&byte) == 1);
        CHECK(try_read(me, 1, 8) == -EFAULT);
        /* Another process than the one meant: what is found there is not its id. */
        lane_of(me)->peers[me->peer[1]].readable = SK_READ_UNTRIED;
        lane_of(me)->peers[me->peer[1]].inbox->probe = (uint64_t)(uintptr_t)&byte;
        CHECK(try_read(me, 1, (uint64_t)(uintptr_t)&byte) == -EPERM);
        forbid_reading();
        CHECK(try_read(me, 0, (uint64_t)(uintptr_t)&byte) == -EPERM);
        CHECK(try_read(me, 0, (uint64_t)(uintptr_t)&byte) == -EPERM);
    }
    lane_barrier(me, 2);
}

static void reading_can_be_turned_off(process *me)
{
    sk_lane_source source;
    void *handle;
    CHECK(!me->lane->can_read);
    CHECK(me->ops->export(me->lane, &source, 1, &source, &handle) == -EPERM);
    CHECK(try_read(me, 0, (uint64_t)(uintptr_t)&source) == -EPERM);
}

static long lines_of(const char *path, const char *word)
{
    long n = 0;
    char line[512];
    FILE *f = fopen(path, "r");
    CHECK(f);
    while (fgets(line, sizeof line, f))
        n += strstr(line, word) != NULL;
    fclose(f);
    return n;
}

static void opening_and_closing_leaves_nothing(process *me)
{
    enum { ALLOWED_PAGES = 64 };
    long fds = 0, maps = 0, pages = 0;
    sk_lane_config config = {.id = 99, .events = lane_of(me)->config.events};
    for (int i = 0; i < 2000; i++) {
        sk_lane *other;
        uint32_t peer;
        CHECK(sk_lane_shm.open(&other, &config) == 0);
        CHECK(sk_lane_shm.connect(other, me->shared->proc[0].id, me->shared->proc[0].name,
                                  me->shared->proc[0].len, &peer) == 0);
        sk_lane_shm.close(other);
        me->shared->proc[1].id = config.id;
        me->n = 2;
        me->ops->poll(me->lane);
        if (i == 100) {
            fds = entries_of("/proc/self/fd");
            maps = lines_of("/proc/self/maps", "memfd:skein");
            pages = resident_pages();
        }
    }
    CHECK(entries_of("/proc/self/fd") == fds);
    CHECK(resident_pages() - pages < ALLOWED_PAGES || SANITIZED);
    CHECK(lines_of("/proc/self/maps", "memfd:skein") == maps);
}

/* A sender is killed again and again in the middle of its work: every packet that came is whole and
 * in order, and each sender is reported once. */
static void senders_killed_at_any_moment_do_no_harm(process *me)
{
    unsigned seed = (unsigned)getpid();
    me->packet = expect_pattern;
    me->n = 2;
    for (int round = 0; round < 40; round++) {
        me->shared->proc[1].id = sk_address_id();
        me->next[1] = 0;
        me->gone[1] = 0;
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            process child = {.ops = me->ops, .shared = me->shared, .rank = 1, .n = 2};
            sk_lane_config config = {.id = me->shared->proc[1].id};
            CHECK(sk_lane_shm.open(&child.lane, &config) == 0);
            CHECK(sk_lane_shm.connect(child.lane, me->shared->proc[0].id, me->shared->proc[0].name,
                                      me->shared->proc[0].len, &child.peer[0]) == 0);
            for (uint64_t i = 0;; i += try_pattern(&child, 0, i * 61 % 9000, i) == 0)
                ;
        }
        uint64_t goal = (uint64_t)(rand_r(&seed) % 200) + 1;
        UNTIL(me, me->next[1] >= goal);
        kill(pid, SIGKILL); /* a zombie until waitpid: it must count as gone */
        UNTIL(me, me->gone[1] == 1);
        CHECK(me->why[1] == -EPIPE);
        CHECK(waitpid(pid, NULL, 0) == pid);
    }
}

static const test tests[] = {
    {.name = "garbage_is_refused_and_others_go_on",
     .n = 10,
     .body = garbage_is_refused_and_others_go_on},
    {.name = "random_bytes_do_no_harm", .n = 2, .body = random_bytes_do_no_harm},
    {.name = "a_full_inbox_refuses_connections", .n = 1, .body = a_full_inbox_refuses_connections},
    {.name = "slots_are_reused", .n = 1, .body = slots_are_reused},
    {.name = "a_half_claimed_slot_becomes_free", .n = 1, .body = a_half_claimed_slot_becomes_free},
    {.name = "peers_that_cannot_be_read_say_so", .n = 2, .body = peers_that_cannot_be_read_say_so},
    {.name = "reading_can_be_turned_off",
     .n = 1,
     .body = reading_can_be_turned_off,
     .no_direct = true},
    {.name = "opening_and_closing_leaves_nothing",
     .n = 1,
     .body = opening_and_closing_leaves_nothing},
    {.name = "senders_killed_at_any_moment_do_no_harm",
     .n = 1,
     .body = senders_killed_at_any_moment_do_no_harm},
};

int main(int argc, char **argv)
{
    /* A /dev/shm of our own, so that what others leave there is not taken for ours. */
    bool own = unshare(CLONE_NEWNS) == 0 &&
               mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
               mount("none", "/dev/shm", "tmpfs", 0, NULL) == 0;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (argc < 2 || strcmp(argv[1], tests[i].name) == 0)
            test_run(&tests[i], &sk_lane_shm);
    if (!own) {
        tap_skip("shm_nothing_is_left", "may not mount a /dev/shm to look at");
    } else {
        tap_ok(entries_of("/dev/shm") <= 2, "shm_nothing_is_left");
    }
    return tap_end();
}
