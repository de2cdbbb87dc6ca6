/* provider.h: a few processes that talk through the provider, straight through libfabric's calls. A
 * test is a function that every process of a party runs; a CHECK that fails ends its process and
 * names the place. */
#ifndef TESTS_PROVIDER_H
#define TESTS_PROVIDER_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

enum { MOST = 8, NAME = 64 };

/* How the endpoints of a test are opened; zero is what most tests want. */
typedef struct terms {
    enum fi_threading threading;
    enum fi_cq_format format;
    enum fi_av_type av;
    bool no_context; /* contexts are not struct fi_context */
    bool selective;
    bool late;     /* addresses are not inserted: the test does it */
    uint64_t caps; /* more than the usual */
} terms;

typedef struct party {
    int rank, n;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_ep *ep;
    struct fid_cq *cq;
    struct fid_av *av;
    fi_addr_t addr[MOST];
} party;

typedef void test_fn(party *p);

/* Run a test in `n` processes of its own; prints ok or FAIL. `env`: NAME=VALUE words, NULL-ended.
 */
void run_test(const char *name, int n, const terms *how, test_fn *fn, const char *const *env);

void barrier(party *p);
void meet(party *p); /* exchange and insert addresses: publish, barrier, insert, barrier */
void post(party *p);
void insert(party *p);
void leave(party *p); /* this process says goodbye to barriers: others do not wait for it */
struct fi_info *hints_for(const terms *how);

/* Completions: wait for one; `want` 0: success, else the error expected. */
void wait_entry(party *p, struct fi_cq_tagged_entry *out);
void wait_error(party *p, int want, struct fi_cq_err_entry *out);
void wait_context(party *p, void *context); /* the next one must have this context */
void spin(party *p, int ms);                /* progress for a while; nothing may complete */

/* A message of `len` bytes that tells `seed`. */
void fill(void *buf, size_t len, unsigned seed);
bool filled(const void *buf, size_t len, unsigned seed);

void check_failed(const char *file, int line, const char *what, long value);
#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond))                                                                               \
            check_failed(__FILE__, __LINE__, #cond, 0);                                            \
    } while (0)
#define CHECK_OK(call)                                                                             \
    do {                                                                                           \
        long rc_ = (long)(call);                                                                   \
        if (rc_ != 0)                                                                              \
            check_failed(__FILE__, __LINE__, #call, rc_);                                          \
    } while (0)

#endif
