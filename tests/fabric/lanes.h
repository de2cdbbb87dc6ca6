/* lanes.h: processes that talk over a lane, for tests. Each test forks its processes; they leave
 * their names on a desk that all see, reach each other, and check. */
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

typedef struct desk {
    struct {
        uint64_t id;
        uint8_t name[SK_ADDRESS_NAMES];
        size_t len;
        pid_t pid;
    } at[MAX_RANKS];
    _Atomic int arrived[STEPS]; /* at each step */
    _Atomic uint64_t sent[MAX_RANKS][MAX_RANKS];
    _Atomic int word[STEPS]; /* for what a test has to say */
} desk;

enum { LOOKED_AHEAD = 3 };

typedef struct self {
    const sk_lane_ops *ops;
    sk_lane *lane;
    desk *desk;
    int rank, n;
    uint32_t peer[MAX_RANKS];
    /* what came; `packet` is the test's own */
    void (*packet)(struct self *me, int from, const unsigned char *data, size_t len);
    uint64_t packets, bytes, next[MAX_RANKS];
    const void *soon[MAX_RANKS][LOOKED_AHEAD]; /* packets that were told of, in order */
    int nsoon[MAX_RANKS];
    int gone[MAX_RANKS], why[MAX_RANKS];
    int reads, read_status;
} self;

typedef struct test {
    const char *name;
    int n;
    void (*body)(self *me);
    int victim;     /* process that is killed, 1..; 0: none */
    bool no_direct; /* reading of other processes' memory is off */
} test;

#define CHECK(cond) check_(!!(cond), #cond, __FILE__, __LINE__)
void check_(bool ok, const char *what, const char *file, int line);

/* 0 or 1 failures, and a line of output. */
void test_run(const test *t, const sk_lane_ops *ops);

/* Everybody has come here; polls meanwhile, unless quietly. */
void meet(self *me, int step);
void meet_quietly(self *me, int step);
/* Poll until the condition holds. */
#define UNTIL(me, cond)                                                                            \
    do {                                                                                           \
        while (!(cond))                                                                            \
            rest((me)->lane->ops->poll((me)->lane));                                               \
    } while (0)
void rest(int events); /* gives the core away when nothing happens */

/* One part, two parts; send_all polls until there is room. */
int send_one(self *me, int to, const void *data, size_t len);
void send_all(self *me, int to, const void *data, size_t len);

/* Bytes that depend on who sends which packet. */
void pattern_fill(unsigned char *at, size_t len, int from, uint64_t number);
bool pattern_is(const unsigned char *at, size_t len, int from, uint64_t number);
/* Packets that carry a pattern, in order: for self.packet. The number is where the pattern starts.
 */
void expect_pattern(self *me, int from, const unsigned char *data, size_t len);
void send_pattern(self *me, int to, size_t len, uint64_t number);
int try_pattern(self *me, int to, size_t len, uint64_t number);

/* Entries of a directory, "." and ".." too; pages of memory this process has. */
long entries_of(const char *path);
long resident_pages(void);

#endif
