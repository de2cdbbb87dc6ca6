/* lanes_help.c: see lanes.h. */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "lanes.h"

void check_(bool ok, const char *what, const char *file, int line)
{
    if (ok)
        return;
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    fflush(stderr);
    _exit(1);
}

void yield_if_idle(int events)
{
    if (!events)
        sched_yield();
}

static int rank_of(const process *me, uint64_t id)
{
    for (int i = 0; i < me->n; i++)
        if (me->shared->proc[i].id == id)
            return i;
    return -1;
}

/* Announced packets arrive in the order in which they were announced. */
static void check_announced(process *me, int rank, const void *data)
{
    const void **announced = me->announced[rank];
    int *n = &me->nannounced[rank];
    for (int i = 1; i < *n; i++)
        CHECK(announced[i] != data);
    if (*n && *announced == data) {
        *n -= 1;
        memmove(announced, announced + 1, (size_t)*n * sizeof *announced);
    }
}

static void on_packet(void *arg, uint64_t from, const void *data, size_t len)
{
    process *me = arg;
    int rank = rank_of(me, from);
    CHECK(rank >= 0);
    CHECK(((uintptr_t)data & 7) == 0);
    me->packets++;
    me->bytes += len;
    check_announced(me, rank, data);
    if (me->packet)
        me->packet(me, rank, data, len);
}

static void on_prefetch(void *arg, uint64_t from, const void *data, size_t len)
{
    process *me = arg;
    int rank = rank_of(me, from);
    (void)len;
    CHECK(rank >= 0);
    int *n = &me->nannounced[rank];
    for (int i = 0; i < *n; i++)
        if (me->announced[rank][i] == data)
            return; /* announced again: it was not handled the last time */
    CHECK(*n < MAX_ANNOUNCED);
    me->announced[rank][(*n)++] = data;
}

static void on_read(void *arg, void *context, int status)
{
    process *me = arg;
    CHECK(context == me);
    me->reads++;
    me->read_status = status;
}

static void on_gone(void *arg, uint64_t id, int status)
{
    process *me = arg;
    int rank = rank_of(me, id);
    CHECK(rank >= 0);
    me->gone[rank]++;
    me->why[rank] = status;
}

void lane_barrier_no_poll(process *me, int step)
{
    atomic_fetch_add(&me->shared->arrived[step], 1);
    while (atomic_load(&me->shared->arrived[step]) < me->n)
        sched_yield();
}

void lane_barrier(process *me, int step)
{
    atomic_fetch_add(&me->shared->arrived[step], 1);
    UNTIL(me, atomic_load(&me->shared->arrived[step]) >= me->n);
}

static void open_and_connect(process *me, bool direct)
{
    uint64_t id = sk_address_id();
    CHECK(id != 0);
    sk_lane_config config = {.id = id,
                             .events = {me, on_packet, on_read, on_gone, on_prefetch},
                             .max_packet = 8192,
                             .cma = direct};
    config.core_provider = getenv("LANES_CORE") ? getenv("LANES_CORE") : "tcp;ofi_rxm";
    CHECK(me->ops->open(&me->lane, &config) == 0);
    CHECK(me->lane->ops == me->ops);
    me->shared->proc[me->rank].id = id;
    me->shared->proc[me->rank].pid = getpid();
    me->shared->proc[me->rank].len = SK_ADDRESS_NAMES;
    CHECK(me->ops->get_name(me->lane, me->shared->proc[me->rank].name,
                            &me->shared->proc[me->rank].len) == 0);
    lane_barrier_no_poll(me, 0);
    for (int i = 0; i < me->n; i++)
        CHECK(me->ops->connect(me->lane, me->shared->proc[i].id, me->shared->proc[i].name,
                               me->shared->proc[i].len, &me->peer[i]) == 0);
    lane_barrier_no_poll(me, 1);
}

static void child(const test *t, const sk_lane_ops *ops, shared_area *d, int rank)
{
    process me = {.ops = ops, .shared = d, .rank = rank, .n = t->n};
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that is killed leaves no process behind */
    alarm(600);
    open_and_connect(&me, !t->no_direct);
    t->body(&me);
    me.ops->close(me.lane);
    exit(0);
}

/* Kills the process some time after it has started its work. */
static void kill_victim(const test *t, shared_area *d, pid_t pid)
{
    while (atomic_load(&d->arrived[1]) < t->n && waitpid(pid, NULL, WNOHANG) == 0)
        sched_yield();
    struct timespec some = {0, (rand() % 40 + 1) * 1000000L};
    nanosleep(&some, NULL);
    kill(pid, SIGKILL);
}

void test_run(const test *t, const sk_lane_ops *ops)
{
    pid_t pid[MAX_RANKS];
    int bad = 0;
    shared_area *d =
        mmap(NULL, sizeof *d, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(d != MAP_FAILED);
    fflush(NULL);
    for (int i = 0; i < t->n; i++) {
        pid[i] = fork();
        CHECK(pid[i] >= 0);
        if (pid[i] == 0)
            child(t, ops, d, i);
    }
    if (t->victim)
        kill_victim(t, d, pid[t->victim]);
    for (int i = 0; i < t->n; i++) {
        int status;
        CHECK(waitpid(pid[i], &status, 0) == pid[i]);
        bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        if (!(t->victim && i == t->victim && killed) && status != 0) {
            printf("# %s: process %d ended with status %#x\n", t->name, i, (unsigned)status);
            bad = 1;
        }
    }
    munmap(d, sizeof *d);
    tap_ok(!bad, "%s_%s", ops->name, t->name);
}

int send_one(process *me, int to, const void *data, size_t len)
{
    struct iovec part[2] = {{(void *)(uintptr_t)data, len / 3},
                            {(char *)(uintptr_t)data + len / 3, len - len / 3}};
    return me->ops->send(me->lane, me->peer[to], part, 2);
}

void send_all(process *me, int to, const void *data, size_t len)
{
    int err;
    while ((err = send_one(me, to, data, len)) == -EAGAIN)
        yield_if_idle(me->ops->poll(me->lane));
    CHECK(err == 0);
}

static unsigned char byte_at(size_t i, int from, uint64_t number)
{
    return (unsigned char)(i * 7 + (i >> 8) + (unsigned)from * 31 + number * 13);
}

void pattern_fill(unsigned char *at, size_t len, int from, uint64_t number)
{
    for (size_t i = 0; i < len; i++)
        at[i] = byte_at(i, from, number);
}

bool pattern_is(const unsigned char *at, size_t len, int from, uint64_t number)
{
    for (size_t i = 0; i < len; i++)
        if (at[i] != byte_at(i, from, number))
            return false;
    return true;
}

void expect_pattern(process *me, int from, const unsigned char *data, size_t len)
{
    CHECK(pattern_is(data, len, from, me->next[from]));
    me->next[from]++;
}

int try_pattern(process *me, int to, size_t len, uint64_t number)
{
    static unsigned char bytes[1 << 16];
    CHECK(len <= sizeof bytes);
    pattern_fill(bytes, len, me->rank, number);
    return send_one(me, to, bytes, len);
}

void send_pattern(process *me, int to, size_t len, uint64_t number)
{
    int err;
    while ((err = try_pattern(me, to, len, number)) == -EAGAIN)
        yield_if_idle(me->ops->poll(me->lane));
    CHECK(err == 0);
}

long entries_of(const char *path)
{
    long n = 0;
    DIR *d = opendir(path);
    CHECK(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

long resident_pages(void)
{
    long pages = 0, ignored;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld %ld", &ignored, &pages) == 2);
    fclose(f);
    return pages;
}
