/* machine_parse.c: machines from a description such as "node:60 socket:2 core:18 map:rr". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/random.h"
#include "base/word.h"
#include "topo/machine.h"

static const char example[] = "\"node:60 socket:2 core:18 map:rr\"";

enum { NODE, SOCKET, CORE, NCOUNTS, MAP = NCOUNTS };
static const char *const names[] = {"node", "socket", "core", "map", NULL};
static const int64_t largest[NCOUNTS] = {1 << 24, 1 << 10, 1 << 16}; /* products fit their types */

enum { SEQ, RR, RR_SOCKET, SHUFFLE };
static const char *const maps[] = {"seq", "rr", "rr-socket", "shuffle", NULL};

enum { ANY = -1 }; /* node:* */
typedef struct machine_spec {
    int64_t count[NCOUNTS];
    bool given[NCOUNTS + 1];
    int map;
    uint64_t seed;
} machine_spec;

/* ---- words ---- */

static sk_status read_map(const sk_word *w, machine_spec *l, char *err, size_t size)
{
    char name[sizeof w->value];
    snprintf(name, sizeof name, "%s", w->value);
    char *seed = strchr(name, ':');
    if (seed)
        *seed++ = '\0';
    l->map = sk_word_find(name, maps);
    if (l->map < 0) {
        snprintf(err, size,
                 "map:%s is no map; did you mean map:%s? Maps are seq, rr, rr-socket, "
                 "shuffle and shuffle:SEED",
                 name, sk_nearest(name, maps));
        return SK_BADARG;
    }
    int64_t number = 1;
    if (seed && (l->map != SHUFFLE || !sk_read_number(seed, false, &number))) {
        snprintf(err, size, "\"%s\": only shuffle has a seed, a whole number as in map:shuffle:7",
                 w->text);
        return SK_BADARG;
    }
    l->seed = (uint64_t)number;
    return SK_OK;
}

static sk_status read_count(const sk_word *w, int level, machine_spec *l, char *err, size_t size)
{
    int64_t n = ANY;
    bool any = level == NODE && !strcmp(w->value, "*");
    if (!any && (!sk_read_number(w->value, false, &n) || n < 1 || n > largest[level])) {
        snprintf(err, size, "\"%s\": %s needs a number from 1 to %lld%s, as in %s", w->text,
                 names[level], (long long)largest[level], level == NODE ? " or *" : "", example);
        return SK_BADARG;
    }
    l->count[level] = n;
    return SK_OK;
}

static sk_status read_word(const sk_word *w, machine_spec *l, char *err, size_t size)
{
    const char *name = w->name[0] ? w->name : w->value;
    int k = sk_word_find(name, names);
    if (k < 0) {
        snprintf(err, size, "unknown word \"%s\"; did you mean %s? A machine is written like %s",
                 w->text, sk_nearest(name, names), example);
        return SK_BADARG;
    }
    if (!w->name[0] || !w->value[0]) {
        snprintf(err, size, "\"%s\" needs a %s behind it, as in %s", w->text,
                 k == MAP ? "map" : "number", example);
        return SK_BADARG;
    }
    if (l->given[k]) {
        snprintf(err, size, "\"%s\": %s is given twice; a machine is written like %s", w->text,
                 names[k], example);
        return SK_BADARG;
    }
    l->given[k] = true;
    return k == MAP ? read_map(w, l, err, size) : read_count(w, k, l, err, size);
}

static sk_status read_words(const char *text, machine_spec *l, char *err, size_t size)
{
    const char *left = text ? text : "";
    sk_word w;
    if (!sk_word_next(&left, &w)) {
        snprintf(err, size, "an empty description; a machine is written like %s", example);
        return SK_BADARG;
    }
    sk_status st;
    do
        st = read_word(&w, l, err, size);
    while (st == SK_OK && sk_word_next(&left, &w));
    return st;
}

static sk_status find_nodes(machine_spec *l, int nranks, char *err, size_t size)
{
    int64_t on_node = l->count[SOCKET] * l->count[CORE], need = (nranks + on_node - 1) / on_node;
    if (l->count[NODE] == ANY)
        l->count[NODE] = need;
    if (l->count[NODE] >= need)
        return SK_OK;
    char said[128] = "this machine ";
    for (int k = 0, at = 0; k < NCOUNTS; k++)
        if (l->given[k])
            at += snprintf(said + at, sizeof said - (size_t)at, "%s:%lld ", names[k],
                           (long long)l->count[k]);
    long long places = l->count[NODE] * on_node;
    snprintf(err, size, "%shas %lld place%s for %d ranks; use node:%lld, or node:*", said, places,
             places == 1 ? "" : "s", nranks, (long long)need);
    return SK_BADARG;
}

/* ---- locations ---- */

static void shuffle(sk_location *locations, int n, uint64_t seed)
{
    for (int i = n - 1; i > 0; i--) {
        int k = (int)(sk_random_next(&seed) % ((uint64_t)i + 1));
        sk_location swap = locations[i];
        locations[i] = locations[k];
        locations[k] = swap;
    }
}

/* The core of a rank, numbered over the whole machine: core / cores of a node is the node. */
static int64_t core_of(const machine_spec *l, int64_t rank)
{
    int64_t nodes = l->count[NODE], per_socket = l->count[CORE];
    int64_t sockets = nodes * l->count[SOCKET], on_node = l->count[SOCKET] * per_socket;
    switch (l->map) {
    case RR:
        return rank % nodes * on_node + rank / nodes;
    case RR_SOCKET:
        return rank % sockets * per_socket + rank / sockets;
    default:
        return rank;
    }
}

sk_status sk_machine_parse(const char *text, int nranks, sk_machine **out, char *err, size_t size)
{
    machine_spec l = {.count = {1, 1, 1}};
    if (nranks < 1) {
        snprintf(err, size, "a machine needs at least 1 rank, not %d", nranks);
        return SK_BADARG;
    }
    sk_status st = read_words(text, &l, err, size);
    if (st == SK_OK)
        st = find_nodes(&l, nranks, err, size);
    if (st != SK_OK)
        return st;

    sk_location *locations = calloc((size_t)nranks, sizeof *locations);
    int64_t cores = l.count[SOCKET] * l.count[CORE];
    for (int r = 0; locations && r < nranks; r++) {
        int64_t place = core_of(&l, r), core = place % cores;
        locations[r] = (sk_location){place / cores, (int32_t)(core / l.count[CORE]), (int32_t)core};
    }
    if (locations && l.map == SHUFFLE)
        shuffle(locations, nranks, l.seed);
    st = locations ? sk_machine_new(nranks, locations, (int)cores, out) : SK_NOMEM;
    free(locations);
    if (st != SK_OK)
        snprintf(err, size, "%s", sk_status_text(st));
    return st;
}
