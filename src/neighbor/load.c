#include "neighbor/load.h"

sk_load sk_load_of(const sk_pattern *p, const sk_machine *m)
{
    const sk_pattern_view *v = sk_pattern_view_get(p);
    sk_load load = {.stages = v->nstages};
    for (size_t i = 0; i < v->nbundles; i++) {
        const sk_bundle *h = &v->bundles[i];
        const sk_block *block = &v->blocks[h->first];
        sk_level level = sk_machine_level(m, v->rank, h->peer);
        load.messages[level]++;
        int64_t blocks = 0;
        for (uint32_t k = 0; k < h->n; k++)
            blocks += k == 0 || block[k].src != block[k - 1].src;
        load.allgather_blocks[level] += blocks;
        load.alltoall_blocks[level] += h->n;
        if (level == SK_NET)
            continue;
        load.max_intra_allgather_blocks =
            blocks > load.max_intra_allgather_blocks ? blocks : load.max_intra_allgather_blocks;
        load.max_intra_alltoall_blocks =
            h->n > load.max_intra_alltoall_blocks ? h->n : load.max_intra_alltoall_blocks;
    }
    return load;
}

void sk_load_max(sk_load *into, const sk_load *with)
{
    int64_t *a = (int64_t *)into;
    const int64_t *b = (const int64_t *)with;
    for (size_t i = 0; i < sizeof *into / sizeof *a; i++)
        a[i] = a[i] > b[i] ? a[i] : b[i];
}
