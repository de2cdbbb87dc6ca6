/* testlib.c: see testlib.h. The watchdog's text is a global because a signal handler reads it. */
#include "testlib.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const int failures_shown = 10;

static struct {
    const char *name;
    int rank, size;
    atomic_int failures;
    char step[200];
} test;

rng rng_seed(uint64_t a, uint64_t b, uint64_t c)
{
    rng r = {a};
    r.state = rng_next(&r) ^ b;
    r.state = rng_next(&r) ^ c;
    return r;
}

uint64_t rng_next(rng *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int rng_below(rng *r, int n)
{
    return (int)(rng_next(r) % (uint64_t)n);
}

bool rng_chance(rng *r, int in100)
{
    return rng_below(r, 100) < in100;
}

void rng_fill(rng *r, void *to, size_t bytes)
{
    unsigned char *p = to;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = rng_next(r);
        memcpy(p + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
}

void rng_shuffle(rng *r, int *v, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = rng_below(r, i + 1), keep = v[i];
        v[i] = v[j];
        v[j] = keep;
    }
}

static void hung(int sig)
{
    (void)sig;
    /* only write() is safe here */
    ssize_t n = write(STDERR_FILENO, test.step, strlen(test.step));
    _exit(n < 0 ? 3 : 2);
}

/* Seconds are those of a free machine. A loaded one gets more: this only ends what hangs. */
enum { PATIENCE = 5 };

void test_watch(int seconds, const char *format, ...)
{
    alarm(0);
    int n = snprintf(test.step, sizeof test.step, "%s: rank %d of %d hangs in: ", test.name,
                     test.rank, test.size);
    va_list args;
    va_start(args, format);
    vsnprintf(test.step + n, sizeof test.step - (size_t)n - 1, format, args);
    va_end(args);
    strcat(test.step, "\n");
    alarm(PATIENCE * (unsigned)seconds);
}

static void begun(const char *name)
{
    test.name = name;
    PMPI_Comm_rank(MPI_COMM_WORLD, &test.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &test.size);
    signal(SIGALRM, hung);
}

void test_begin(int *argc, char ***argv, const char *name)
{
    test.name = name;
    MPI_Init(argc, argv);
    begun(name);
}

void test_begin_thread(int *argc, char ***argv, const char *name, int wanted, int *provided)
{
    MPI_Init_thread(argc, argv, wanted, provided);
    begun(name);
}

/* On several hosts MPI_Finalize of MPICH does not flush its connections, see yield.c: this does. */
static void settle(void)
{
#ifdef MPICH
    double until = PMPI_Wtime() + 0.3;
    int found;
    while (getenv("CLUSTER_HOSTS") && PMPI_Wtime() < until)
        PMPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
#endif
}

int test_end(void)
{
    test_watch(60, "the end");
    int mine = atomic_load(&test.failures), all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (test.rank == 0 && all > 0)
        fprintf(stderr, "%s: %d failures on %d ranks\n", test.name, all, test.size);
    settle();
    MPI_Finalize();
    alarm(0);
    return all > 0;
}

int test_rank(void)
{
    return test.rank;
}

int test_size(void)
{
    return test.size;
}

static void say(const char *what, const char *format, va_list args)
{
    char text[600];
    vsnprintf(text, sizeof text, format, args);
    fprintf(stderr, "%s: rank %d of %d: %s%s\n", test.name, test.rank, test.size, what, text);
}

void test_fail(const char *format, ...)
{
    if (atomic_fetch_add(&test.failures, 1) >= failures_shown)
        return;
    va_list args;
    va_start(args, format);
    say("", format, args);
    va_end(args);
}

void test_skip(const char *format, ...)
{
    if (test.rank != 0)
        return;
    va_list args;
    va_start(args, format);
    say("left out: ", format, args);
    va_end(args);
}

void *must_alloc(size_t bytes)
{
    void *p = calloc(1, bytes > 0 ? bytes : 1);
    if (p == NULL) {
        fprintf(stderr, "%s: out of memory\n", test.name);
        abort();
    }
    return p;
}

bool test_counter(const char *name, long long *value)
{
    int (*get)(const char *, long long *);
    /* the POSIX way to turn dlsym's object pointer into a function pointer */
    *(void **)&get = dlsym(RTLD_DEFAULT, "skein_counter");
    return get != NULL && get(name, value) == 0;
}

bool test_on_host(void)
{
    const char *libs = getenv("LD_PRELOAD"), *on = getenv("SKEIN");
    bool loaded = libs != NULL && strstr(libs, "libskein") != NULL;
    return !loaded || (on != NULL && strcmp(on, "off") == 0) || getenv("SKEIN_MEM") != NULL;
}

bool read_options(options *o, int argc, char **argv, int all, int (*find)(const char *name),
                  int cases)
{
    *o = (options){.only = all, .seed = (unsigned long long)time(NULL), .cases = cases};
    for (int c; (c = getopt(argc, argv, "c:f:v")) != -1;) {
        if (c == 'c')
            o->only = find(optarg);
        else if (c == 'f')
            o->first = atoi(optarg);
        else if (c == 'v')
            o->verbose = true;
        if (c == '?' || (c == 'c' && o->only == all))
            return false;
    }
    if (optind < argc)
        o->seed = strtoull(argv[optind++], NULL, 10);
    if (optind < argc)
        o->cases = atoi(argv[optind]);
    PMPI_Bcast(&o->seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    return true;
}

void test_adopt(MPI_Comm comm)
{
    double one = 1, sum;
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
}
