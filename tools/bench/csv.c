/* csv.c: see csv.h. */
#include "bench/csv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"

enum { FIELDS = 30, MAX_LINE = 8192 };

/* The fields of a line, which is taken apart; -1: it has too many, or a quote is missing. */
static int split(char *line, char *field[FIELDS])
{
    int n = 0;
    for (char *from = line;; n++) {
        if (n == FIELDS)
            return -1;
        field[n] = from;
        char *to = from;
        bool quoted = *from == '"';
        from += quoted;
        while (*from && (quoted || *from != ',')) {
            if (quoted && *from == '"' && *++from != '"')
                quoted = false; /* the closing one */
            else
                *to++ = *from++;
        }
        bool more = *from == ',';
        if (quoted)
            return -1;
        *to = '\0';
        if (!more)
            return n + 1;
        from++;
    }
}

static int index_of(const char *const *names, const char *name, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static bool number(const char *text, double *v)
{
    char *end;
    *v = strtod(text, &end);
    return end != text && !*end && isfinite(*v);
}

static bool integer(const char *text, int64_t least, int64_t most, int64_t *v)
{
    return sk_read_integer(text, false, least, most, v) == SK_OK;
}

static bool timing(char *const *field, sk_timing *t)
{
    double *to[] = {&t->skein_us, &t->host_us, &t->ratio.mid, &t->ratio.lo, &t->ratio.hi};
    for (int i = 0; i < 5; i++)
        if (!number(field[i], to[i]))
            return false;
    return true;
}

/* One row; the name of the field that is wrong, or NULL. */
static const char *read_row(sk_bench_options *o, char **f, int n, sk_result *r)
{
    int64_t ranks, rounds, singles, train, calls, gap, busy;
    int equal = index_of(sk_equality_names, f[6], SK_NEQUALITIES);
    int form = index_of(sk_form_names, f[21], SK_NFORMS);
    int phase = index_of(sk_phase_names, f[22], SK_NPHASES);
    int buffers = index_of(sk_buffer_names, f[25], SK_NBUFFERS);
    r->mpi = strcmp(f[0], sk_flavour_name(SK_MPI_OPENMPI)) == 0 ? SK_MPI_OPENMPI
             : strcmp(f[0], sk_flavour_name(SK_MPI_MPICH)) == 0 ? SK_MPI_MPICH
                                                                : SK_MPI_OTHER;
    r->point.coll = sk_coll_find(f[2]);
    if (r->mpi == SK_MPI_OTHER)
        return "mpi";
    if (r->point.coll == SK_NCOLLS)
        return "collective";
    if (!integer(f[1], 1, 1 << 20, &ranks) || !integer(f[3], 0, INT64_MAX, &r->point.bytes))
        return "ranks or bytes";
    if (equal < 0 || form < 0 || phase < 0 || buffers < 0)
        return "equal, form, phase or buffers";
    if (!integer(f[7], 0, 1 << 20, &rounds) || !integer(f[8], 0, 1 << 30, &singles) ||
        !integer(f[9], 0, 1 << 30, &train) || !integer(f[23], 0, 1 << 30, &calls) ||
        !integer(f[24], 0, 1 << 30, &gap) || !integer(f[26], 0, 1 << 20, &busy))
        return "rounds, singles, train, calls, gap_us or busy";
    if (!timing(f + 10, &r->point.time[0]) || !timing(f + 15, &r->point.time[1]) ||
        !number(f[20], &r->point.empty_us))
        return "times";
    r->nranks = (int)ranks;
    r->form = (sk_form)form;
    r->point.equal = (sk_equality)equal;
    r->point.rounds = (int)rounds;
    r->point.singles = (int)singles;
    r->point.train = (int)train;
    r->algorithm = sk_format(o->arena, "%s", f[4]);
    r->host = sk_format(o->arena, "%s", f[5]);
    r->graph = n == FIELDS ? sk_format(o->arena, "%s", f[29]) : NULL;
    o->conditions.phase = (sk_phase)phase;
    o->conditions.calls = (int)calls;
    o->conditions.gap_us = (int)gap;
    o->conditions.buffers = (sk_buffer_use)buffers;
    o->busy = busy;
    return NULL;
}

static bool wanted(const sk_bench_options *o, const sk_result *r)
{
    bool coll = false, ranks = !o->ranks_given;
    for (int i = 0; i < o->ncolls; i++)
        coll = coll || o->colls[i] == r->point.coll;
    for (int i = 0; i < o->ranks.n; i++)
        ranks = ranks || o->ranks.v[i] == r->nranks;
    return coll && ranks && o->mpi[r->mpi];
}

sk_result *sk_csv_read(sk_bench_options *o, const char *file, int *n, char *err, size_t size)
{
    static char line[MAX_LINE];
    char *field[FIELDS];
    int capacity = 64, at = 0;
    FILE *f = fopen(file, "r");
    if (!f) {
        snprintf(err, size, "%s: %s", file, strerror(errno));
        return NULL;
    }
    sk_result *all = sk_arena_need(o->arena, (size_t)capacity * sizeof *all);
    const char *wrong = NULL;
    for (*n = 0; !wrong && fgets(line, sizeof line, f);) {
        at++;
        line[strcspn(line, "\r\n")] = '\0';
        int fields = split(line, field);
        if (fields < FIELDS - 1) {
            wrong = "number of fields";
            break;
        }
        if (at == 1) {
            wrong = strcmp(field[0], "mpi") == 0 ? NULL : "heading";
            continue;
        }
        if (*n == capacity) {
            sk_result *more = sk_arena_need(o->arena, 2 * (size_t)capacity * sizeof *more);
            memcpy(more, all, (size_t)capacity * sizeof *all);
            all = more;
            capacity *= 2;
        }
        memset(&all[*n], 0, sizeof all[*n]);
        wrong = read_row(o, field, fields, &all[*n]);
        *n += !wrong && wanted(o, &all[*n]);
    }
    fclose(f);
    if (wrong)
        snprintf(err, size, "%s:%d: wrong %s; --csv writes such files", file, at, wrong);
    else if (*n == 0)
        snprintf(err, size, "%s: none of its points is asked for", file);
    return wrong || *n == 0 ? NULL : all;
}
