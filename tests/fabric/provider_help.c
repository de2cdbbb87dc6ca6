/* provider_help.c: see provider.h. */
#include "provider.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

enum { TIME_LIMIT = 600 };

/* Memory shared by the processes of a test. */
static struct shm {
    _Atomic int arrived, generation, members; /* the barrier */
    char name[MOST][NAME];
} * shm;

void check_failed(const char *file, int line, const char *what, long value)
{
    const char *base = strrchr(file, '/');
    printf("# %s:%d: %s", base ? base + 1 : file, line, what);
    if (value)
        printf(" = %ld (%s)", value, fi_strerror((int)(value < 0 ? -value : value)));
    printf("\n");
    fflush(stdout);
    _exit(1);
}

void progress(process *p)
{
    (void)!fi_cq_read(p->cq, NULL, 0);
    sched_yield();
}

static int arrive(void)
{
    int generation = atomic_load(&shm->generation);
    if (atomic_fetch_add(&shm->arrived, 1) + 1 >= atomic_load(&shm->members)) {
        atomic_store(&shm->arrived, 0);
        atomic_fetch_add(&shm->generation, 1);
    }
    return generation;
}

void barrier(process *p)
{
    int generation = arrive();
    while (atomic_load(&shm->generation) == generation)
        progress(p);
}

void barrier_without_progress(void)
{
    int generation = arrive();
    while (atomic_load(&shm->generation) == generation)
        sched_yield();
}

void leave_barriers(process *p)
{
    (void)p;
    atomic_fetch_sub(&shm->members, 1);
}

void publish_address(process *p)
{
    size_t len = NAME;
    CHECK_OK(fi_getname(&p->ep->fid, shm->name[p->rank], &len));
    CHECK(len == NAME);
}

void insert_addresses(process *p)
{
    CHECK(fi_av_insert(p->av, shm->name, (size_t)p->n, p->addr, 0, NULL) == p->n);
}

void exchange_addresses(process *p)
{
    publish_address(p);
    barrier(p);
    insert_addresses(p);
    barrier(p);
}

struct fi_info *hints_for(const ep_options *how)
{
    struct fi_info *hints = fi_allocinfo();
    CHECK(hints);
    hints->caps = FI_TAGGED | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_DIRECTED_RECV | how->caps;
    hints->mode = how->no_context ? 0 : FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->tx_attr->op_flags = hints->rx_attr->op_flags = FI_COMPLETION;
    hints->domain_attr->threading = how->threading ? how->threading : FI_THREAD_DOMAIN;
    hints->domain_attr->av_type = how->av ? how->av : FI_AV_MAP;
    hints->domain_attr->cq_data_size = 4;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->fabric_attr->prov_name = strdup("skein");
    return hints;
}

static void process_open(process *p, const ep_options *how)
{
    struct fi_info *hints = hints_for(how);
    struct fi_cq_attr cq = {.format = how->format ? how->format : FI_CQ_FORMAT_TAGGED,
                            .wait_obj = FI_WAIT_UNSPEC};
    struct fi_av_attr av = {.type = how->av ? how->av : FI_AV_MAP, .count = (size_t)p->n};
    uint64_t bind = FI_TRANSMIT | FI_RECV | (how->selective ? FI_SELECTIVE_COMPLETION : 0);
    CHECK_OK(fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, &p->info));
    CHECK(strcmp(p->info->fabric_attr->prov_name, "skein") == 0);
    CHECK_OK(fi_fabric(p->info->fabric_attr, &p->fabric, NULL));
    CHECK_OK(fi_domain(p->fabric, p->info, &p->domain, NULL));
    CHECK_OK(fi_cq_open(p->domain, &cq, &p->cq, NULL));
    CHECK_OK(fi_av_open(p->domain, &av, &p->av, NULL));
    CHECK_OK(fi_endpoint(p->domain, p->info, &p->ep, NULL));
    CHECK_OK(fi_ep_bind(p->ep, &p->av->fid, 0));
    CHECK_OK(fi_ep_bind(p->ep, &p->cq->fid, bind));
    CHECK_OK(fi_enable(p->ep));
    fi_freeinfo(hints);
}

static void process_close(process *p)
{
    CHECK_OK(fi_close(&p->ep->fid));
    CHECK_OK(fi_close(&p->cq->fid));
    CHECK_OK(fi_close(&p->av->fid));
    CHECK_OK(fi_close(&p->domain->fid));
    CHECK_OK(fi_close(&p->fabric->fid));
    fi_freeinfo(p->info);
}

static void child(int rank, int n, const ep_options *how, test_fn *fn, const char *const *env)
{
    process p = {.rank = rank, .n = n};
    for (; env && *env; env++)
        putenv((char *)*env);
    alarm(TIME_LIMIT);
    process_open(&p, how);
    if (!how->late)
        exchange_addresses(&p);
    fn(&p);
    barrier(&p);
    process_close(&p);
    exit(0);
}

void run_test(const char *name, int n, const ep_options *how, test_fn *fn, const char *const *env)
{
    static const ep_options usual;
    int bad = 0, status;
    shm = mmap(NULL, sizeof *shm, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shm != MAP_FAILED);
    shm->members = n;
    fflush(stdout);
    pid_t pid[MOST];
    for (int i = 0; i < n; i++) {
        pid[i] = fork();
        if (pid[i] == 0)
            child(i, n, how ? how : &usual, fn, env);
    }
    for (int i = 0; i < n; i++) {
        pid_t ended = wait(&status);
        bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; /* by the test */
        if (!(killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) && !bad++) {
            if (WIFSIGNALED(status))
                printf("# a process ended by signal %d\n", WTERMSIG(status));
            for (int k = 0; k < n; k++)
                if (pid[k] != ended)
                    kill(pid[k], SIGTERM);
        }
    }
    munmap(shm, sizeof *shm);
    tap_ok(!bad, "%s", name);
}

void wait_entry(process *p, struct fi_cq_tagged_entry *out)
{
    ssize_t n;
    while ((n = fi_cq_read(p->cq, out, 1)) == -FI_EAGAIN)
        sched_yield();
    if (n == -FI_EAVAIL) {
        struct fi_cq_err_entry err = {0};
        CHECK(fi_cq_readerr(p->cq, &err, 0) == 1);
        check_failed(__FILE__, __LINE__, "a completion in error", err.err);
    }
    CHECK(n == 1);
}

void wait_error(process *p, int want, struct fi_cq_err_entry *out)
{
    struct fi_cq_tagged_entry e;
    struct fi_cq_err_entry err = {0};
    ssize_t n;
    while ((n = fi_cq_read(p->cq, &e, 1)) == -FI_EAGAIN)
        sched_yield();
    CHECK(n == -FI_EAVAIL);
    CHECK(fi_cq_readerr(p->cq, &err, 0) == 1);
    if (err.err != want)
        check_failed(__FILE__, __LINE__, "another error than expected", err.err);
    if (out)
        *out = err;
}

void wait_context(process *p, void *context)
{
    struct fi_cq_tagged_entry e;
    wait_entry(p, &e);
    CHECK(e.op_context == context);
}

void spin(process *p, int ms)
{
    struct timespec a, b;
    struct fi_cq_tagged_entry e;
    clock_gettime(CLOCK_MONOTONIC, &a);
    do {
        CHECK(fi_cq_read(p->cq, &e, 1) == -FI_EAGAIN);
        sched_yield();
        clock_gettime(CLOCK_MONOTONIC, &b);
    } while ((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 < ms);
}

static unsigned char byte_at(size_t i, unsigned seed)
{
    return (unsigned char)(i * 31 + i / 251 + seed * 7 + 1);
}

void fill(void *buf, size_t len, unsigned seed)
{
    unsigned char *b = buf;
    for (size_t i = 0; i < len; i++)
        b[i] = byte_at(i, seed);
}

bool filled(const void *buf, size_t len, unsigned seed)
{
    const unsigned char *b = buf;
    for (size_t i = 0; i < len; i++)
        if (b[i] != byte_at(i, seed))
            return false;
    return true;
}
