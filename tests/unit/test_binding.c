/* Where this process is bound, on machines that are described by folders like the kernel's. */
#include "unit.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "topo/binding.h"

enum { CPUS = 2 };
typedef struct machine {
    char folder[64];
    const char *core, *socket; /* the names of the files */
} machine;

static void say(const machine *m, int cpu, const char *name, const char *list)
{
    char path[160];
    snprintf(path, sizeof path, "%s/cpu%d", m->folder, cpu);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/cpu%d/topology", m->folder, cpu);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/cpu%d/topology/%s", m->folder, cpu, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(list, f);
    assert_int_equal(fclose(f), 0);
}

static machine make(const char *core, const char *socket)
{
    machine m = {"/tmp/skein-unit-XXXXXX", core, socket};
    assert_non_null(mkdtemp(m.folder));
    return m;
}

static void describe(const machine *m, const char *const core[CPUS], const char *const socket[CPUS])
{
    for (int i = 0; i < CPUS; i++) {
        say(m, i, m->core, core[i]);
        say(m, i, m->socket, socket[i]);
    }
}

static void forget(const machine *m)
{
    char path[160];
    for (int i = 0; i < CPUS; i++) {
        const char *const parts[] = {m->core, m->socket, ""};
        for (int k = 0; k < 3; k++) {
            snprintf(path, sizeof path, "%s/cpu%d/topology/%s", m->folder, i, parts[k]);
            remove(path);
        }
        snprintf(path, sizeof path, "%s/cpu%d", m->folder, i);
        remove(path);
    }
    assert_int_equal(rmdir(m->folder), 0);
}

/* As one that may run on these cpus only. False: this machine does not have them. */
static bool read_bound(const machine *m, int from, int to, sk_binding *out)
{
    cpu_set_t before, set;
    CPU_ZERO(&set);
    for (int i = from; i <= to; i++)
        CPU_SET((size_t)i, &set);
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    if (sched_setaffinity(0, sizeof set, &set) != 0 ||
        sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != to - from + 1) {
        sched_setaffinity(0, sizeof before, &before);
        return false;
    }
    *out = sk_binding_read(m->folder);
    sched_setaffinity(0, sizeof before, &before);
    return true;
}

/* Skips the test where it cannot be bound to the first two cpus. */
static void need_cpus(void)
{
    const machine none = {"/none", "", ""};
    sk_binding b;
    if (!read_bound(&none, 0, CPUS - 1, &b)) {
        print_message("this process may not run on cpus 0 and 1\n");
        skip();
    }
}

static void expect(const machine *m, int from, int to, int core, int socket)
{
    sk_binding b;
    assert_true(read_bound(m, from, to, &b));
    assert_int_equal(b.cpus, to - from + 1);
    assert_int_equal(b.core, core);
    assert_int_equal(b.socket, socket);
}

static const char *const apart[CPUS] = {"0\n", "1\n"}, *const both[CPUS] = {"0-1\n", "0-1\n"};

static void cores_and_sockets_have_the_number_of_their_first_cpu(void **state)
{
    (void)state;
    need_cpus();
    machine m = make("core_cpus_list", "package_cpus_list");
    describe(&m, apart, both);
    expect(&m, 0, 0, 0, 0);
    expect(&m, 1, 1, 1, 0);
    expect(&m, 0, 1, -1, 0); /* it may leave the core */
    describe(&m, both, both);
    expect(&m, 1, 1, 0, 0); /* two threads of a core */
    expect(&m, 0, 1, 0, 0);
    describe(&m, apart, apart);
    expect(&m, 1, 1, 1, 1);
    expect(&m, 0, 1, -1, -1);
    forget(&m);
}

static void groups_may_have_gaps(void **state)
{
    (void)state;
    need_cpus();
    static const char *const core[CPUS] = {"0,64\n", "1,65\n"}, *const socket[CPUS] = {
                                                                    "0-31,64-95\n", "0-31,64-95\n"};
    machine m = make("core_cpus_list", "package_cpus_list");
    describe(&m, core, socket);
    expect(&m, 1, 1, 1, 0);
    expect(&m, 0, 1, -1, 0);
    static const char *const late[CPUS] = {"0,64\n", "64-95,0-31\n"};
    describe(&m, core, late);
    expect(&m, 1, 1, 1, 64);
    forget(&m);
}

static void older_kernels_have_other_names(void **state)
{
    (void)state;
    need_cpus();
    machine m = make("thread_siblings_list", "core_siblings_list");
    describe(&m, apart, both);
    expect(&m, 1, 1, 1, 0);
    forget(&m);
}

static void a_kernel_may_say_nothing(void **state)
{
    (void)state;
    need_cpus();
    machine m = make("other", "others");
    expect(&m, 0, 0, -1, -1);
    describe(&m, apart, both);
    expect(&m, 0, 0, -1, -1);
    m.core = "core_cpus_list";
    static const char *const nonsense[CPUS] = {"", "all of them\n"};
    describe(&m, nonsense, both);
    expect(&m, 0, 0, -1, -1);
    expect(&m, 1, 1, -1, -1);
    m.core = "other";
    char path[160];
    for (int i = 0; i < CPUS; i++) {
        snprintf(path, sizeof path, "%s/cpu%d/topology/core_cpus_list", m.folder, i);
        remove(path);
    }
    forget(&m);
}

static void sets_of_cpus_differ(void **state)
{
    (void)state;
    need_cpus();
    sk_binding one, other, again;
    machine m = make("core", "socket");
    assert_true(read_bound(&m, 0, 0, &one) && read_bound(&m, 1, 1, &other) &&
                read_bound(&m, 0, 0, &again));
    assert_true(one.which != other.which);
    assert_true(one.which == again.which);
    forget(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores_and_sockets_have_the_number_of_their_first_cpu),
        cmocka_unit_test(groups_may_have_gaps),
        cmocka_unit_test(older_kernels_have_other_names),
        cmocka_unit_test(a_kernel_may_say_nothing),
        cmocka_unit_test(sets_of_cpus_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
