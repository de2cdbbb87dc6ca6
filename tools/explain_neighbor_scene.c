/* explain_neighbor_scene.c: the graph, the machine and the model from their descriptions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "explain_neighbor.h"
#include "lab/graph/spec.h"

/* Parcels of the largest pattern, a few times over while it grows, per pair of the graph. */
enum { BYTES_PER_PAIR = 256 };

static int fail(int status, const char *why)
{
    fprintf(stderr, "skein explain neighbor: %s\n", why);
    return status;
}

static bool memory_suffices(const sk_whole *g)
{
    double have = 0.8 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    return (double)sk_whole_edges(g) * BYTES_PER_PAIR < have;
}

static sk_status read_graph(const sk_neighbor_args *a, sk_whole **out, char *err, size_t size)
{
    sk_spec *spec = NULL;
    sk_status st = sk_spec_new(a->graph, a->nranks, &spec, err, size);
    if (st != SK_OK)
        return st;
    st = sk_spec_whole(spec, out);
    if (st != SK_OK)
        snprintf(err, size, "%s", sk_status_text(st));
    sk_spec_free(spec);
    return st;
}

static sk_status read_machine(const sk_neighbor_args *a, sk_machine **out, char *err, size_t size)
{
    char one_node[64];
    snprintf(one_node, sizeof one_node, "node:1 core:%d", a->nranks);
    return sk_machine_parse(*a->machine ? a->machine : one_node, a->nranks, out, err, size);
}

/* The sizes that ranks agree on before they plan, and who has no neighbours. */
static sk_status measure(sk_neighbor_scene *s)
{
    const sk_whole *g = s->graph;
    int p = sk_whole_nranks(g);
    int *targets = malloc((size_t)p * sizeof *targets);
    s->idle = calloc((size_t)p, sizeof *s->idle);
    if (!targets || !s->idle) {
        free(targets);
        return SK_NOMEM;
    }
    s->size = (sk_graph_size){.edges = sk_whole_edges(g)};
    for (int r = 0; r < p; r++) {
        int out = sk_whole_degree(g, r, false), in = sk_whole_degree(g, r, true);
        int more = out > in ? out : in;
        s->idle[r] = more == 0;
        if (more > s->size.most)
            s->size.most = more;
        sk_whole_targets(g, r, targets);
        for (int i = 0; i < out; i++)
            s->size.intra[sk_machine_level(s->machine, r, targets[i])]++;
    }
    s->args.opts.idle = s->idle;
    free(targets);
    return SK_OK;
}

int sk_neighbor_scene_set(const sk_neighbor_args *args, sk_neighbor_scene *out)
{
    sk_neighbor_scene s = {.args = *args, .distinct = args->coll >= SK_NEIGHBOR_ALLTOALL};
    char err[512] = "out of memory";
    int status = 2; /* what can be wrong up to here was typed so */
    if (sk_model_parse(args->model, &s.model, err, sizeof err) != SK_OK ||
        read_machine(args, &s.machine, err, sizeof err) != SK_OK ||
        read_graph(args, &s.graph, err, sizeof err) != SK_OK)
        goto fail;
    status = 1;
    if (!memory_suffices(s.graph)) {
        snprintf(err, sizeof err, "%" PRId64 " pairs are more than this machine has memory for",
                 sk_whole_edges(s.graph));
        goto fail;
    }
    if (measure(&s) != SK_OK)
        goto fail;
    *out = s;
    return -1;
fail:
    sk_neighbor_scene_drop(&s);
    return fail(status, err);
}

void sk_neighbor_scene_drop(sk_neighbor_scene *s)
{
    free(s->idle);
    sk_whole_free(s->graph);
    sk_machine_free(s->machine);
}
