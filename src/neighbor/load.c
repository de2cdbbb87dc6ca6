#include "neighbor/load.h"

sk_load sk_load_of(const sk_pattern *p, const sk_machine *m)
{
    const sk_pattern_view *v = sk_pattern_view_get(p);
    sk_load load = {.stages = v->nstages};
    for (size_t i = 0; i < v->nhauls; i++) {
        const sk_haul *h = &v->hauls[i];
        const sk_parcel *parcel = &v->parcels[h->first];
        sk_level level = sk_machine_level(m, v->rank, h->peer);
        load.messages[level]++;
        int64_t blocks = 0;
        for (uint32_t k = 0; k < h->n; k++)
            blocks += k == 0 || parcel[k].src != parcel[k - 1].src;
        load.blocks[level] += blocks;
        load.parcels[level] += h->n;
        if (level == SK_NET)
            continue;
        load.near_blocks = blocks > load.near_blocks ? blocks : load.near_blocks;
        load.near_parcels = h->n > load.near_parcels ? h->n : load.near_parcels;
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
