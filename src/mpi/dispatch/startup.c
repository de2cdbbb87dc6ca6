#include "mpi/dispatch/startup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/dispatch/bsend.h"
#include "mpi/dispatch/ending.h"
#include "mpi/dispatch/learn.h"
#include "mpi/dispatch/request.h"
#include "mpi/state/comm.h"
#include "mpi/state/device.h"
#include "mpi/state/dtype.h"
#include "mpi/state/host_progress.h"
#include "mpi/state/own_graph.h"
#include "mpi/state/world.h"
#include "topo/machine.h"

extern char **environ;

/* ---- start ---- */

static void refuse(const char *why)
{
    int rank = 0;
    sk_host.Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        fprintf(stderr, "skein: %s\n", why);
    sk_host.Abort(MPI_COMM_WORLD, 2);
}

/* Notes on settings that have a new name. All ranks have the same notes; rank 0 prints them. */
static void print_notes(const sk_settings *set)
{
    const char *notes = sk_settings_notes(set);
    int rank = 0;
    if (!*notes)
        return;
    sk_host.Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t len; rank == 0 && *notes; notes += len + 1) {
        len = strcspn(notes, "\n");
        fprintf(stderr, "skein: %.*s\n", (int)len, notes);
    }
}

/* SKEIN_MACHINE describes all ranks of the job, so it can be checked only now. */
static void check_machine(const sk_settings *set)
{
    const char *text = sk_settings_text(set, SK_SET_MACHINE);
    char err[256], why[320];
    int nranks;
    sk_machine *m = NULL;
    sk_host.Comm_size(MPI_COMM_WORLD, &nranks);
    if (*text && sk_machine_parse(text, nranks, &m, err, sizeof err) != SK_OK) {
        snprintf(why, sizeof why, "SKEIN_MACHINE: %s", err);
        refuse(why);
    }
    sk_machine_free(m);
}

/* Has the user set something that choices depend on? */
static bool choices_changed(const sk_settings *set)
{
    for (int id = SK_SET_MEM; id <= SK_SET_REDUCE_SCATTER_PAIRS; id++)
        if (sk_settings_given(set, (sk_setting)id))
            return true;
    return false;
}

static void read_settings(const sk_settings *set)
{
    int level = MPI_THREAD_SINGLE;
    sk_host.Query_thread(&level);
    sk_proc.threads = level == MPI_THREAD_MULTIPLE;
    sk_proc.reporting = *sk_settings_text(set, SK_SET_REPORT) != '\0';
    sk_proc.checking = sk_settings_bool(set, SK_SET_CHECK);
    sk_proc.guard_after = sk_settings_bool(set, SK_SET_GUARD) && !sk_proc.checking
                              ? sk_settings_int(set, SK_SET_GUARD_AFTER)
                              : -1;
    sk_proc.guard_soon = sk_settings_given(set, SK_SET_GUARD_AFTER) || choices_changed(set);
    sk_proc.wait = sk_wait_mode_of(sk_settings_text(set, SK_SET_WAIT));
    sk_proc.leaders = (int)sk_settings_int(set, SK_SET_LEADERS);
    sk_proc.reproducible = sk_settings_bool(set, SK_SET_REPRODUCIBLE);
    sk_proc.find_after =
        sk_settings_given(set, SK_SET_FIND) ? sk_settings_int(set, SK_SET_FIND) : -1;
    if (sk_proc.reproducible)
        sk_proc.find_after = 0;
    if (sk_proc.reporting && strcmp(sk_settings_text(set, SK_SET_REPORT), "1") != 0 &&
        !(sk_proc.shapes = sk_tuning_new()))
        refuse("out of memory");
    if (*sk_settings_text(set, SK_SET_LEARN) && !(sk_proc.learnt = sk_tuning_new()))
        refuse("out of memory");
    sk_proc.plans = strcmp(sk_settings_text(set, SK_SET_PLAN), "off") != 0;
    check_machine(set);
    for (int i = 0; i < SK_NCOLLS; i++)
        sk_proc.enabled[i] = sk_select_enabled(sk_proc.select, (sk_coll)i);
}

static int start_locked(void)
{
    char err[256];
    if (sk_select_new(environ, &sk_proc.select, err, sizeof err) != SK_OK)
        refuse(err);
    const sk_settings *set = sk_select_settings(sk_proc.select);
    if (!sk_settings_bool(set, SK_SET_ENABLE)) {
        sk_ending_off(sk_settings_text(set, SK_SET_REPORT));
        return SK_PROC_OFF;
    }
    print_notes(set);
    if (!sk_ending_start(sk_settings_text(set, SK_SET_REPORT)))
        refuse("out of memory");
    read_settings(set);
    sk_request_start();
    sk_host.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sk_comm_attr_freed, &sk_proc.comm_key, NULL);
    sk_host.Type_create_keyval(MPI_TYPE_NULL_COPY_FN, sk_dtype_attr_freed, &sk_proc.type_key, NULL);
#if !SK_HAVE_GRAPHS
    sk_own_graph_start();
#endif
    sk_host.Comm_dup(MPI_COMM_SELF, &sk_proc.self);
    sk_host.Comm_set_errhandler(sk_proc.self, MPI_ERRORS_RETURN);
    sk_proc.never = MPI_REQUEST_NULL;
    int *most = NULL, found = 0;
    sk_host.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, (void *)&most, &found);
    sk_device_look();
    enum { FEW_TAGS = 512 }; /* of a communicator, where the host has few */
    int64_t tags = (found ? (int64_t)*most : 32767) + 1;
    sk_proc.numbers = (int)(tags / FEW_TAGS < SK_NUMBERS ? tags / FEW_TAGS : SK_NUMBERS);
    sk_proc.tags = tags / sk_proc.numbers / 2;
    return SK_PROC_READY;
}

int sk_process_start(void)
{
    int up = 0, down = 0;
    sk_host.Initialized(&up);
    sk_host.Finalized(&down);
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

void sk_process_end(void)
{
    if (atomic_load(&sk_proc.state) == SK_PROC_NEW)
        sk_process_start(); /* a rank without any collective still takes part in the report */
    if (atomic_exchange(&sk_proc.state, SK_PROC_OFF) != SK_PROC_READY)
        return;
    sk_bsend_flush();
    if (sk_proc.hooked)
        sk_host_hook_remove();
    sk_learn_finish();
    sk_ending_finalize();
    memset(sk_proc.enabled, 0, sizeof sk_proc.enabled);
    for (int i = 0; i < SK_SLOTS; i++) {
        atomic_store(&sk_proc.comm_slot[i], NULL);
        atomic_store(&sk_proc.type_slot[i], NULL);
    }
    sk_comm_forget_all();
    sk_world_end();
    sk_request_end();
    if (sk_proc.never != MPI_REQUEST_NULL) {
        sk_host.Cancel(&sk_proc.never);
        sk_host.Wait(&sk_proc.never, MPI_STATUS_IGNORE);
    }
    sk_host.Comm_free(&sk_proc.self);
    sk_dtype_forget_all();
    sk_report_free(sk_proc.report);
    sk_tuning_free(sk_proc.shapes);
    sk_proc.shapes = NULL;
    sk_select_free(sk_proc.select);
    sk_proc.report = NULL;
    sk_proc.select = NULL;
}
