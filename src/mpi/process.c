#include "mpi/process.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpi/comm.h"
#include "mpi/dtype.h"
#include "mpi/hook.h"
#include "mpi/next.h"
#include "mpi/request.h"
#include "mpi/topo.h"
#include "skein.h"
#include "topo/machine.h"

extern char **environ;

sk_process sk_proc = {.location_lock = PTHREAD_MUTEX_INITIALIZER,
                      .lock = PTHREAD_MUTEX_INITIALIZER};

void sk_relax(void)
{
    if (sk_proc.wait == SK_WAIT_YIELD || sk_proc.wait == SK_WAIT_MIXED)
        sched_yield();
    else if (sk_proc.wait == SK_WAIT_SLEEP)
        nanosleep(&(struct timespec){.tv_nsec = 1}, NULL); /* as short as the kernel makes it */
}

/* ---- how many ranks share this node's cores ---- */

static long ranks_here(void)
{
    static const char *const vars[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                       "PMI_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE"};
    for (size_t i = 0; i < sizeof vars / sizeof *vars; i++) {
        const char *text = getenv(vars[i]);
        if (text && atol(text) > 0)
            return atol(text);
    }
    return 1;
}

/* The kernel may schedule by session first. Where each rank is a session of its own, to yield is to
 * give way to any other, and the more of them share a core, the later comes the epoch of the one
 * that is waited for. */
static bool own_session(void)
{
    int on = 0;
    FILE *f = fopen("/proc/sys/kernel/sched_autogroup_enabled", "r");
    if (f) {
        if (fscanf(f, "%d", &on) != 1)
            on = 0;
        fclose(f);
    }
    return on == 1 && getsid(0) == getpid();
}

static sk_wait wait_sharing(void)
{
    enum { CROWD = 16 }; /* such ranks on a core, up to which yielding is still the faster way */
    if (!own_session())
        return SK_WAIT_YIELD;
    return ranks_here() <= CROWD * sysconf(_SC_NPROCESSORS_ONLN) ? SK_WAIT_MIXED : SK_WAIT_SLEEP;
}

void sk_wait_sharing(void)
{
    const char *wait = sk_settings_text(sk_select_settings(sk_proc.select), SK_SET_WAIT);
    if (sk_proc.wait == SK_WAIT_SPIN && strcmp(wait, "auto") == 0)
        sk_proc.wait = wait_sharing();
}

static sk_wait how_to_wait(const sk_settings *set)
{
    static const char *const names[] = {[SK_WAIT_SPIN] = "spin",
                                        [SK_WAIT_YIELD] = "yield",
                                        [SK_WAIT_MIXED] = "mixed",
                                        [SK_WAIT_SLEEP] = "sleep"};
    const char *wait = sk_settings_text(set, SK_SET_WAIT);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(wait, names[i]) == 0)
            return (sk_wait)i;
    return ranks_here() <= sysconf(_SC_NPROCESSORS_ONLN) ? SK_WAIT_SPIN : wait_sharing();
}

/* ---- start ---- */

static void refuse(const char *why)
{
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        fprintf(stderr, "skein: %s\n", why);
    PMPI_Abort(MPI_COMM_WORLD, 2);
}

/* SKEIN_MACHINE describes all ranks of the job, so only now can it be checked. */
static void check_machine(const sk_settings *set)
{
    const char *text = sk_settings_text(set, SK_SET_MACHINE);
    char err[256], why[320];
    int nranks;
    sk_machine *m = NULL;
    PMPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (*text && sk_machine_parse(text, nranks, &m, err, sizeof err) != SK_OK) {
        snprintf(why, sizeof why, "SKEIN_MACHINE: %s", err);
        refuse(why);
    }
    sk_machine_free(m);
}

static int start_locked(void)
{
    char err[256];
    if (sk_select_new(environ, &sk_proc.select, err, sizeof err) != SK_OK)
        refuse(err);
    const sk_settings *set = sk_select_settings(sk_proc.select);
    if (!sk_settings_bool(set, SK_SET_ENABLE))
        return SK_PROC_OFF;
    sk_proc.report = sk_report_new();
    if (!sk_proc.report)
        refuse("out of memory");
    sk_proc.reporting = *sk_settings_text(set, SK_SET_REPORT) != '\0';
    sk_proc.wait = how_to_wait(set);
    sk_proc.leaders = (int)sk_settings_int(set, SK_SET_LEADERS);
    sk_proc.find_after = sk_settings_int(set, SK_SET_FIND);
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    sk_proc.threads = level == MPI_THREAD_MULTIPLE;
    sk_proc.plans = strcmp(sk_settings_text(set, SK_SET_PLAN), "off") != 0;
    check_machine(set);
    for (int i = 0; i < SK_NCOLLS; i++)
        sk_proc.serves[i] = sk_select_serves(sk_proc.select, (sk_coll)i);
    sk_proc.active_end = &sk_proc.active;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sk_comm_attr_freed, &sk_proc.comm_key, NULL);
    PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, sk_dtype_attr_freed, &sk_proc.type_key, NULL);
#if !SK_HAVE_GRAPHS
    sk_own_topo_start();
#endif
    PMPI_Comm_dup(MPI_COMM_SELF, &sk_proc.self);
    PMPI_Comm_set_errhandler(sk_proc.self, MPI_ERRORS_RETURN);
    sk_proc.never = MPI_REQUEST_NULL;
    int *most = NULL, found = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, (void *)&most, &found);
    sk_proc.tags = ((found ? (int64_t)*most : 32767) + 1) / 2;
    return SK_PROC_READY;
}

/* Also for programs that come without MPI_Init, through a session or a wrapper: on first use. */
int sk_process_start(void)
{
    int up = 0, down = 0;
    PMPI_Initialized(&up);
    PMPI_Finalized(&down);
    if (!up || down)
        return SK_PROC_OFF;
    pthread_mutex_lock(&sk_proc.lock);
    int state = atomic_load(&sk_proc.state);
    if (state == SK_PROC_NEW) {
        state = start_locked();
        atomic_store_explicit(&sk_proc.state, state, memory_order_release);
    }
    pthread_mutex_unlock(&sk_proc.lock);
    return state;
}

/* ---- end ---- */

static void print_report(void)
{
    int rank, nranks, n;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &nranks);
    n = sk_report_ncells(sk_proc.report);
    int64_t *cells = malloc((size_t)n * sizeof *cells);
    if (!cells)
        refuse("out of memory");
    sk_report_read(sk_proc.report, cells);
    PMPI_Reduce(rank == 0 ? MPI_IN_PLACE : cells, cells, n, MPI_INT64_T, MPI_MAX, 0,
                MPI_COMM_WORLD);
    sk_report_write(sk_proc.report, cells);
    free(cells);
    if (rank != 0)
        return;
    const char *where = sk_settings_text(sk_select_settings(sk_proc.select), SK_SET_REPORT);
    if (strcmp(where, "1") == 0) {
        sk_report_table(sk_proc.report, nranks, stderr);
        return;
    }
    FILE *out = fopen(where, "w");
    if (!out) {
        fprintf(stderr, "skein: cannot write the report to %s; here it is\n", where);
        sk_report_table(sk_proc.report, nranks, stderr);
        return;
    }
    sk_report_json(sk_proc.report, nranks, out);
    fclose(out);
}

void sk_process_end(void)
{
    if (atomic_load(&sk_proc.state) == SK_PROC_NEW)
        sk_process_start(); /* a rank that made no collective still takes part in the report */
    if (atomic_exchange(&sk_proc.state, SK_PROC_OFF) != SK_PROC_READY)
        return;
    sk_wait_buffered();
    if (sk_proc.hooked)
        sk_hook_out();
    if (sk_proc.reporting)
        print_report();
    memset(sk_proc.serves, 0, sizeof sk_proc.serves);
    for (int i = 0; i < SK_SLOTS; i++) {
        atomic_store(&sk_proc.comm_slot[i], NULL);
        atomic_store(&sk_proc.type_slot[i], NULL);
    }
    sk_comm_forget_all();
    if (sk_proc.never != MPI_REQUEST_NULL) {
        PMPI_Cancel(&sk_proc.never);
        PMPI_Wait(&sk_proc.never, MPI_STATUS_IGNORE);
    }
    PMPI_Comm_free(&sk_proc.self);
    sk_dtype_forget_all();
    sk_report_free(sk_proc.report);
    sk_select_free(sk_proc.select);
    sk_proc.report = NULL;
    sk_proc.select = NULL;
}

/* ---- entry points ---- */

static void begin(void)
{
    sk_process_start();
    sk_comm_wire_ahead(MPI_COMM_WORLD);
}

SK_EXPORT int MPI_Init(int *argc, char ***argv)
{
    int rc = SK_NEXT(MPI_Init)(argc, argv);
    if (rc == MPI_SUCCESS)
        begin();
    return rc;
}

SK_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = SK_NEXT(MPI_Init_thread)(argc, argv, required, provided);
    if (rc == MPI_SUCCESS)
        begin();
    return rc;
}

SK_EXPORT int MPI_Finalize(void)
{
    sk_process_end();
    return SK_NEXT(MPI_Finalize)();
}

/* For tests and tools, found by name: a total of the report. 0, or -1 when there is no such name.
 */
SK_EXPORT int skein_counter(const char *name, long long *value)
{
    return sk_proc.report && sk_report_total(sk_proc.report, name, value) ? 0 : -1;
}
