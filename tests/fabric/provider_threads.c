/* provider_threads.c: FI_THREAD_SAFE: threads send, receive, cancel and read completions at once.
 */
#include "provider.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { THREADS = 4, ROUNDS = 400, BATCH = 16 };

/* One operation: who waits for it, and whether it is over. */
typedef struct op {
    struct fi_context2 context; /* first */
    _Atomic int done, err;
} op;

typedef struct worker {
    process *p;
    int me;
    op sends[BATCH], recvs[BATCH], cancelled;
    unsigned char out[BATCH][3000], in[BATCH][3000];
} worker;

/* Whoever reads a completion marks it for its owner. */
static void read_some(process *p)
{
    struct fi_cq_tagged_entry e[4];
    struct fi_cq_err_entry err = {0};
    ssize_t n = fi_cq_read(p->cq, e, 4);
    for (ssize_t i = 0; i < n; i++)
        atomic_store(&((op *)e[i].op_context)->done, 1);
    if (n == -FI_EAVAIL && fi_cq_readerr(p->cq, &err, 0) == 1) {
        op *o = err.op_context;
        atomic_store(&o->err, err.err);
        atomic_store(&o->done, 1);
    } else if (n == -FI_EAGAIN) {
        sched_yield();
    }
}

static void wait_op(process *p, op *o, int err)
{
    while (!atomic_load(&o->done))
        read_some(p);
    CHECK(atomic_load(&o->err) == err);
    atomic_store(&o->done, 0);
    atomic_store(&o->err, 0);
}

/* Threads with the same number exchange messages; lengths go both ways. */
static void *work(void *arg)
{
    worker *w = arg;
    process *p = w->p;
    fi_addr_t other = p->addr[1 - p->rank];
    uint64_t tag = (uint64_t)w->me << 32;
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_OK(fi_trecv(p->ep, NULL, 0, NULL, other, tag | 99999, 0, &w->cancelled.context));
        for (int i = 0; i < BATCH; i++) {
            size_t len = (size_t)(round * 37 + i * 181) % sizeof w->out[i];
            fill(w->out[i], len, (unsigned)(round + i + w->me));
            CHECK_OK(fi_trecv(p->ep, w->in[i], sizeof w->in[i], NULL,
                              i % 2 ? other : FI_ADDR_UNSPEC, tag | (uint64_t)i, 0,
                              &w->recvs[i].context));
            CHECK_OK(fi_tsend(p->ep, w->out[i], len, NULL, other, tag | (uint64_t)i,
                              &w->sends[i].context));
        }
        CHECK_OK(fi_cancel(&p->ep->fid, &w->cancelled.context));
        wait_op(p, &w->cancelled, FI_ECANCELED);
        for (int i = 0; i < BATCH; i++) {
            size_t len = (size_t)(round * 37 + i * 181) % sizeof w->out[i];
            wait_op(p, &w->recvs[i], 0);
            wait_op(p, &w->sends[i], 0);
            CHECK(filled(w->in[i], len, (unsigned)(round + i + w->me)));
        }
    }
    return NULL;
}

static void threads(process *p)
{
    static worker w[THREADS];
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) {
        w[i] = (worker){.p = p, .me = i};
        CHECK_OK(pthread_create(&t[i], NULL, work, &w[i]));
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(pthread_join(t[i], NULL));
}

int main(void)
{
    static const char *const small[] = {"SKEIN_EAGER=1000", "SKEIN_UNEXPECTED=1", NULL};
    static const ep_options safe = {.threading = FI_THREAD_SAFE};
    static const ep_options plain = {.threading = FI_THREAD_SAFE, .no_context = true};
    run_test("threads_share_an_endpoint", 2, &safe, threads, NULL);
    run_test("threads_share_an_endpoint_and_little_room", 2, &safe, threads, small);
    run_test("threads_share_an_endpoint_without_contexts", 2, &plain, threads, NULL);
    return tap_end();
}
