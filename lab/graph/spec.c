/* spec.c: from the word to the kind of graph, and from its lists to graphs. */
#include "lab/graph/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/word.h"
#include "lab/graph/spec_kind.h"

struct sk_spec {
    int nranks;
    const sk_spec_kind *kind;
    void *state;
};

enum { NKINDS = 3 };
static const sk_spec_kind *const kinds[NKINDS] = {&sk_spec_random, &sk_spec_moore, &sk_spec_matrix};

static const sk_spec_kind *find(const char *name, size_t len, char *err, size_t size)
{
    const char *names[NKINDS + 1] = {NULL};
    for (int i = 0; i < NKINDS; i++) {
        names[i] = kinds[i]->name;
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
            return kinds[i];
    }
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)len, name);
    const char *nearest = sk_nearest(word, names);
    for (int i = 0; i < NKINDS; i++)
        if (names[i] == nearest)
            snprintf(err, size, "there is no graph '%s': did you mean %s?", word, kinds[i]->form);
    return NULL;
}

sk_status sk_spec_new(const char *text, int nranks, sk_spec **out, char *err, size_t size)
{
    if (nranks < 1) {
        snprintf(err, size, "a graph needs at least one rank, not %d", nranks);
        return SK_BADARG;
    }
    size_t len = strcspn(text, ":");
    const sk_spec_kind *kind = find(text, len, err, size);
    if (!kind)
        return SK_BADARG;
    if (!text[len] || !text[len + 1]) {
        snprintf(err, size, "'%s' says too little: %s", text, kind->form);
        return SK_BADARG;
    }

    sk_spec *s = calloc(1, sizeof *s);
    sk_status st = SK_NOMEM;
    if (s) {
        *s = (sk_spec){.nranks = nranks, .kind = kind};
        st = kind->make(text + len + 1, nranks, &s->state, err, size);
    }
    if (st == SK_NOMEM)
        snprintf(err, size, "%s", sk_status_text(st));
    if (st == SK_OK)
        *out = s;
    else
        free(s);
    return st;
}

void sk_spec_free(sk_spec *s)
{
    if (!s)
        return;
    s->kind->drop(s->state);
    free(s);
}

static int *room(const sk_spec *s)
{
    return calloc((size_t)s->nranks, sizeof(int));
}

sk_status sk_spec_graph(const sk_spec *s, int rank, sk_graph **out)
{
    if (rank < 0 || rank >= s->nranks)
        return SK_BADARG;
    int *in = room(s), *to = room(s);
    sk_status st = SK_NOMEM;
    if (in && to) {
        int nin = s->kind->list(s->state, rank, true, in);
        int nto = s->kind->list(s->state, rank, false, to);
        st = sk_graph_new(s->nranks, rank, nin, in, nto, to, false, out);
    }
    free(in);
    free(to);
    return st;
}

/* The lists are made twice: first to know how many edges there are. */
sk_status sk_spec_whole(const sk_spec *s, sk_global_graph **out)
{
    int *to = room(s);
    sk_global_graph *w = NULL;
    int64_t edges = 0;
    sk_status st = SK_NOMEM;
    if (!to)
        goto out;
    for (int rank = 0; rank < s->nranks; rank++)
        edges += s->kind->list(s->state, rank, false, to);
    w = sk_global_graph_new(s->nranks, edges);
    if (!w)
        goto out;
    st = SK_OK;
    for (int rank = 0; rank < s->nranks && st == SK_OK; rank++)
        st = sk_global_graph_add(w, rank, to, s->kind->list(s->state, rank, false, to));
    if (st == SK_OK)
        st = sk_global_graph_freeze(w);
    if (st == SK_OK) {
        *out = w;
        w = NULL;
    }
out:
    free(to);
    sk_global_graph_free(w);
    return st;
}
