/* lanes.h: tests of a lane. Each test forks its processes. They publish their lane names in shared
 * memory, connect to each other, exchange packets and check them. */
#ifndef TEST_LANES_H
#define TEST_LANES_H

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "fabric/lane/lane.h"
#include "fabric/proto/address.h"
#include "tap.h"

enum { MAX_RANKS = 20, STEPS = 16 };

typedef struct shared_area {
    struct {
        uint64_t id;
        uint8_t name[SK_ADDRESS_NAMES];
        size_t len;
        pid_t pid;
    } proc[MAX_RANKS];
    _Atomic int arrived[STEPS]; /* at each step */
    _Atomic uint64_t sent[MAX_RANKS][MAX_RANKS];
    _Atomic int value[STEPS]; /* free for use by a test */
} shared_area;

enum { MAX_ANNOUNCED = 3 };

typedef struct process {
    const sk_lane_ops *ops;
    sk_lane *lane;
    shared_area *shared;
    int rank, n;
    uint32_t peer[MAX_RANKS];
    /* Events so far. `packet` is called for every packet, if set. */
    void (*packet)(struct process *me, int from, const unsigned char *data, size_t len);
    uint64_t packets, bytes, next[MAX_RANKS];
    const void
        *announced[MAX_RANKS][MAX_ANNOUNCED]; /* packets announced by a prefetch event, in order */
    int nannounced[MAX_RANKS];
    int gone[MAX_RANKS], why[MAX_RANKS];
    int reads, read_status;
} process;

typedef struct test {
    const char *name;
    int n;
    void (*body)(process *me);
    int victim;     /* process that is killed, 1..; 0: none */
    bool no_direct; /* reading of other processes' memory is off */
} test;

#define CHECK(cond) check_(!!(cond), #cond, __FILE__, __LINE__)
void check_(bool ok, const char *what, const char *file, int line);

/* Runs the test in processes of its own and prints one line of TAP. */
void test_run(const test *t, const sk_lane_ops *ops);

/* Barriers over all processes of the test: the first polls the lane meanwhile, the second does not. */
void lane_barrier(process *me, int step);
void lane_barrier_no_poll(process *me, int step);
/* Poll until the condition holds. */
#define UNTIL(me, cond)                                                                            \
    do {                                                                                           \
        while (!(cond))                                                                            \
            yield_if_idle((me)->lane->ops->poll((me)->lane));                                      \
    } while (0)
void yield_if_idle(int events); /* yield the core if there were no events */

/* One packet in two parts. send_all polls until the lane accepts it. */
int send_one(process *me, int to, const void *data, size_t len);
void send_all(process *me, int to, const void *data, size_t len);

/* Bytes that depend on who sends which packet. */
void pattern_fill(unsigned char *at, size_t len, int from, uint64_t number);
bool pattern_is(const unsigned char *at, size_t len, int from, uint64_t number);
/* For process.packet: packets carry patterns with rising numbers. */
void expect_pattern(process *me, int from, const unsigned char *data, size_t len);
void send_pattern(process *me, int to, size_t len, uint64_t number);
int try_pattern(process *me, int to, size_t len, uint64_t number);

/* Entries of a directory, with "." and ".."; resident pages of this process. */
long entries_of(const char *path);
long resident_pages(void);

#endif
