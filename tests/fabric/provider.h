/* provider.h: tests of the provider through libfabric's calls. A test is a function that a few
 * processes run, each with its own endpoint. A CHECK that fails ends its process and prints file and
 * line. */
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

/* How the endpoints of a test are opened. Zero is right for most tests. */
typedef struct ep_options {
    enum fi_threading threading;
    enum fi_cq_format format;
    enum fi_av_type av;
    bool no_context; /* contexts are not struct fi_context */
    bool selective;
    bool late;     /* addresses are not exchanged: the test does it */
    uint64_t caps; /* more than the usual */
} ep_options;

typedef struct process {
    int rank, n;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_ep *ep;
    struct fid_cq *cq;
    struct fid_av *av;
    fi_addr_t addr[MOST];
} process;

typedef void test_fn(process *p);

/* Run a test in `n` processes of its own; prints one line of TAP. `env`: NAME=VALUE
 * strings, NULL-terminated. */
void run_test(const char *name, int n, const ep_options *how, test_fn *fn, const char *const *env);

void barrier(process *p);
void barrier_without_progress(void);
void exchange_addresses(process *p); /* publish, barrier, insert, barrier */
void publish_address(process *p);
void insert_addresses(process *p);
void leave_barriers(process *p); /* later barriers do not wait for this process */
struct fi_info *hints_for(const ep_options *how);

/* Completions: wait for one; `want` 0: success, else the error expected. */
void wait_entry(process *p, struct fi_cq_tagged_entry *out);
void wait_error(process *p, int want, struct fi_cq_err_entry *out);
void wait_context(process *p, void *context); /* the next one must have this context */
void progress(process *p);
void spin(process *p, int ms); /* progress for a while; nothing may complete */

/* A message of `len` bytes that depends on `seed`. */
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

/* An injected send: it may have to wait for the connection. */
#define CHECK_TAKEN(p, call)                                                                       \
    do {                                                                                           \
        long taken_;                                                                               \
        while ((taken_ = (long)(call)) == -FI_EAGAIN)                                              \
            progress(p);                                                                           \
        if (taken_ != 0)                                                                           \
            check_failed(__FILE__, __LINE__, #call, taken_);                                       \
    } while (0)

#endif
