/* launcher.c: see launcher.h. The tables name the options and the number of words that each takes.
 * An option in none of them is assumed to take none, unless the next word is no program and a later
 * one is. */
#include "run/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/file.h"

typedef struct launcher_options {
    const char *one, *two, *none; /* options followed by one word, by two, by none */
    const char *letters;          /* one-letter options whose word may be attached: -n4 */
} launcher_options;

#define OPENMPI_OPTIONS                                                                            \
    {                                                                                              \
        .one =                                                                                     \
            "am amca app app-prefix arch bind-to bindto c cartofile cf cpu-list cpu-set "          \
            "cpus-per-proc cpus-per-rank debugger default-hostfile display file forward-signals "  \
            "gpu-support H hnp host hostfile initial-errhandler launch-agent machinefile map-by "  \
            "mapby max-restarts max-vm-size memory-alloc-kinds N n np npernode npersocket "        \
            "ompi-server output output-directory output-filename path personality ppr prefix "     \
            "preload-files pset rank-by rankby rankfile report-events report-pid report-uri rf "   \
            "rtos runtime-options spawn-timeout stdin stream-buffering timeout tmpdir tune wd "    \
            "wdir with-ft x xml-file xterm",                                                       \
        .two = "mca gmca omca gomca prtemca pmixmca",                                              \
        .none =                                                                                    \
            "allow-run-as-root bind-to-core bind-to-socket bycore bynode byslot continuous d "     \
            "debug debug-daemons debug-daemons-file debug-devel disable-recovery "                 \
            "display-allocation display-devel-allocation display-devel-map display-diffable-map "  \
            "display-map display-topo do-not-launch do-not-resolve enable-instant-on-support "     \
            "enable-recovery fwd-mpirun-port get-stack-traces index-argv-by-rank "                 \
            "leave-session-attached merge-stderr-to-stdout nolocal nooversubscribe noprefix novm " \
            "output-proctable oversubscribe pernode preload-binary q quiet report-bindings "       \
            "report-child-jobs-separately report-state-on-timeout s set-cwd-to-session-dir "       \
            "show-progress soft tag-output timestamp-output tv use-hwthread-cpus use-regexp v "    \
            "verbose xml",                                                                         \
        .letters = ""                                                                              \
    }

static const launcher_options tables[SK_NLAUNCHERS] = {
    [SK_LAUNCHER_OPENMPI] = OPENMPI_OPTIONS,
    [SK_LAUNCHER_PRUN] = OPENMPI_OPTIONS,
    [SK_LAUNCHER_HYDRA] =
        {.one =
             "arch bind-to binding bootstrap bootstrap-exec configfile demux envlist errfile "
             "errfile-pattern f g genvlist gpath gpu-subdevs-per-proc gpus-per-proc gumask gwdir "
             "host hostfile hostlist hosts iface launcher launcher-exec localhost machine "
             "machinefile machinelist machines map-by membind memory-alloc-kinds n nameserver np "
             "order-nodes outfile outfile-pattern output-from path perhost ppn prepend-pattern "
             "rankmap rmk topolib umask usize wdir",
         .two = "env genv",
         .none = "debug disable-auto-cleanup disable-hostname-propagation disable-x "
                 "enable-auto-cleanup enable-hostname-propagation enable-x envall envnone genvall "
                 "genvnone hybrid-hosts info l pmi-port prepend-rank print-all-exitcodes profile "
                 "report-bindings skip-launch-node v verbose",
         .letters = ""},
    [SK_LAUNCHER_SRUN] =
        {.one =
             "account acctg-freq bb bbf begin cluster-constraint clusters comment constraint "
             "container context core-spec cores-per-socket cpu-bind cpu-freq cpus-per-gpu "
             "cpus-per-task deadline delay-boot dependency chdir distribution epilog error exclude "
             "export extra extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node "
             "gpus-per-socket gpus-per-task gres gres-flags het-group hint input job-name jobid "
             "licenses mail-type mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus "
             "mpi msg-timeout network nodefile nodelist nodes ntasks ntasks-per-core "
             "ntasks-per-gpu ntasks-per-node ntasks-per-socket open-mode output partition power "
             "priority profile prolog qos relative reservation signal slurmd-debug "
             "sockets-per-node switches task-epilog task-prolog thread-spec threads "
             "threads-per-core time time-min tmp tres-bind tres-per-task uid wait wckey",
         .two = "",
         .none =
             "contiguous disable-status E exact exclusive H hold l label K k multi-prog no-kill O "
             "overcommit overlap oversubscribe preserve-env pty Q quiet quit-on-interrupt s "
             "spread-job test-only u unbuffered use-min-nodes v verbose X Z no-allocate",
         .letters = "ABCDFGJLMNPSTWcdeimnopqrtwx"},
    [SK_LAUNCHER_JSRUN] =
        {.one = "bind chdir cpu_per_rs env env_eval env_no_propagate erf_input exit_on_error "
                "gpu_per_rs "
                "latency_priority launch_distribution launch_node_task memory_per_rs np nrs "
                "rs_per_host rs_per_socket save_resources smpiargs stdio_input stdio_mode "
                "stdio_stderr stdio_stdout tasks_per_rs use_resources",
         .two = "",
         .none = "allocate_only i immediate progress v",
         .letters = "CDEFJKLMPSTUXZabcdeghklmnoprtx"},
    [SK_LAUNCHER_APRUN] =
        {.one = "architecture bypass-app-transfer cc cpu-binding cpus-per-cu cpus-per-pe debug "
                "environment-override exclude-node-list memory-per-pe node-list pes pes-per-node "
                "pes-per-numa-node sl sn specialized-cpus strict-memory-containment",
         .two = "",
         .none = "B T b batch-args quiet relaunch ss sync-output v",
         .letters = "CDEFLMNPRSadejlmnprtwy"},
    [SK_LAUNCHER_FLUX] =
        {.one = "B N S a bank begin-time bcc c cc conf cores-per-task cwd dependency env env-file "
                "env-remove error flags g gpus-per-node gpus-per-task input job-name n nodes "
                "nslots ntasks o output q queue requires rlimit setattr setopt signal t "
                "tasks-per-core tasks-per-node taskmap time-limit urgency",
         .two = "",
         .none = "debug exclusive label-io l progress u unbuffered v verbose wait-event x",
         .letters = "BNSacgnoqt"},
};

bool sk_launcher_named(const char *word)
{
    static const char *const names[] = {"mpirun", "mpiexec", "orterun", "prterun", "srun",
                                        "jsrun",  "aprun",   "flux",    "prun"};
    const char *base = sk_basename(word);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (!strncmp(base, names[i], n) && (!base[n] || base[n] == '.' || base[n] == '-'))
            return true;
    }
    return false;
}

const char *sk_launcher_unsupported(const char *word)
{
    const char *base = sk_basename(word);
    if (!strcmp(base, "smpirun"))
        return "a simulated rank cannot be preloaded; link the program with libskein-smpi.a";
    if (sk_listed("mpirun_rsh lrun ibrun poe", base))
        return "put the preload in front of the program yourself: env LD_PRELOAD=LIBRARY PROGRAM";
    return NULL;
}

bool sk_launcher_kind_of(sk_arena *a, const char *path, sk_launcher_kind *kind)
{
    static const char *const openmpi[] = {"libopen-rte", "libopen-pal", "libprrte", "orterun",
                                          "prterun",     "openmpi",     NULL};
    static const char *const hydra[] = {"HYDRA", "hydra", "mpich", NULL};
    static const struct {
        const char *name;
        sk_launcher_kind kind;
    } any_mpi[] = {{"srun", SK_LAUNCHER_SRUN},
                   {"jsrun", SK_LAUNCHER_JSRUN},
                   {"aprun", SK_LAUNCHER_APRUN},
                   {"flux", SK_LAUNCHER_FLUX},
                   {"prun", SK_LAUNCHER_PRUN}};
    char *real = realpath(path, NULL);
    const char *base = sk_format(a, "%s", sk_basename(real ? real : path));
    free(real);
    bool o = strstr(base, "openmpi") || sk_starts_with(base, "orterun") ||
             sk_starts_with(base, "prterun");
    bool h = strstr(base, "hydra") || strstr(base, "mpich");
    for (size_t i = 0; i < sizeof any_mpi / sizeof *any_mpi; i++)
        if (sk_starts_with(sk_basename(path), any_mpi[i].name)) {
            *kind = any_mpi[i].kind;
            return true;
        }
    if (o == h) { /* the name does not tell, but a script or a renamed program has it inside */
        o = sk_file_mentions(a, path, openmpi);
        h = sk_file_mentions(a, path, hydra);
    }
    *kind = o ? SK_LAUNCHER_OPENMPI : SK_LAUNCHER_HYDRA;
    return o != h;
}

const char *sk_launcher_option_name(sk_arena *a, const char *word)
{
    if (word[0] != '-' || !word[1])
        return "";
    word += word[1] == '-' ? 2 : 1;
    return sk_format(a, "%.*s", (int)strcspn(word, "="), word);
}

int sk_launcher_option(sk_launcher_kind kind, char *const *v, int n, bool *known)
{
    const launcher_options *t = &tables[kind];
    char name[64];
    const char *word = v[0];
    if (word[0] != '-' || !word[1])
        return 0;
    bool short_name = word[1] != '-';
    word += short_name ? 1 : 2;
    bool attached = strchr(word, '=') != NULL;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    int args = 0;
    bool listed = true;
    if (short_name && *t->letters) {
        args = strchr(t->letters, *word) && !word[1];
        listed = args || strchr(t->letters, *word) || sk_listed(t->none, name);
    } else if (sk_listed(t->two, name)) {
        bool joined = kind == SK_LAUNCHER_HYDRA && n > 1 && strchr(v[1], '=');
        args = 2 - attached - joined;
    } else if (sk_listed(t->one, name)) {
        args = !attached;
    } else {
        listed = attached || sk_listed(t->none, name);
    }
    if (known)
        *known = listed;
    return args < n ? 1 + args : n;
}

/* The position of the program between first and end; `end` when there is none. */
static int find_program(sk_arena *a, sk_launcher_kind kind, char *const *words, sk_section *s)
{
    bool known = true;
    int guess = s->end;
    for (int i = s->first; i < s->end;) {
        if (!strcmp(words[i], "--"))
            return i + 1;
        bool doubt = !known;
        int n = sk_launcher_option(kind, words + i, s->end - i, &known);
        if (!n) {
            /* After an unknown option, a word that is no program is taken for its value. */
            const char *path;
            if (!doubt || sk_find_program(a, words[i], s->dir, &path) == SK_FIND_OK)
                return i;
            if (guess == s->end)
                guess = i;
            known = true;
            n = 1;
        } else if (n > 1 && sk_listed("wdir wd chdir D", sk_launcher_option_name(a, words[i]))) {
            s->dir = words[i + 1];
        }
        i += n;
    }
    return guess;
}

int sk_launcher_words(sk_launcher_kind kind, char *const *words, int n)
{
    if (kind != SK_LAUNCHER_FLUX)
        return 1;
    int at = n > 2 && !strcmp(words[1], "mini") ? 2 : 1;
    return n > at && sk_listed("run submit", words[at]) ? at + 1 : 0;
}

int sk_launcher_sections(sk_arena *a, sk_launcher_kind kind, char *const *words, int n,
                         sk_section **sections)
{
    int count = 1;
    for (int i = 1; i < n; i++)
        count += !strcmp(words[i], ":");
    *sections = sk_arena_need(a, (size_t)count * sizeof **sections);
    int first = sk_launcher_words(kind, words, n);
    first = first ? first : 1;
    for (int k = 0; k < count; k++) {
        sk_section *s = &(*sections)[k];
        s->first = s->end = first;
        while (s->end < n && strcmp(words[s->end], ":") != 0)
            s->end++;
        s->program = find_program(a, kind, words, s);
        first = s->end + 1;
    }
    return count;
}
