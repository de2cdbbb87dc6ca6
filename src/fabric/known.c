/* known.c: numbers for ids. They are dense and stay for the life of the address vector, whatever is
 * inserted or removed; with Open MPI, which inserts all processes in order, they are ranks. */
#include <stdlib.h>

#include "fabric/endpoint.h"

/* Ids are random: any bits will do. */
static uint32_t known_place(const sk_av *av, uint64_t id)
{
    uint32_t mask = av->table_size - 1, at = (uint32_t)id & mask;
    while (av->table[at] != SK_NOBODY && av->known[av->table[at]].id != id)
        at = (at + 1) & mask;
    return at;
}

static bool known_table_grow(sk_av *av)
{
    uint32_t size = av->table_size ? 2 * av->table_size : 256;
    uint32_t *table = malloc(size * sizeof *table);
    if (!table)
        return false;
    for (uint32_t i = 0; i < size; i++)
        table[i] = SK_NOBODY;
    free(av->table);
    av->table = table;
    av->table_size = size;
    for (uint32_t i = 0; i < av->nknown; i++)
        table[known_place(av, av->known[i].id)] = i;
    return true;
}

static bool known_grow(sk_av *av)
{
    uint32_t room = av->known_room ? 2 * av->known_room : 128;
    sk_known *known = realloc(av->known, room * sizeof *known);
    if (!known)
        return false;
    av->known = known;
    av->known_room = room;
    return true;
}

uint32_t sk_av_number(sk_av *av, uint64_t id)
{
    if (2 * (av->nknown + 1) > av->table_size && !known_table_grow(av))
        return SK_NOBODY;
    uint32_t at = known_place(av, id);
    if (av->table[at] != SK_NOBODY)
        return av->table[at];
    if (av->nknown == av->known_room && !known_grow(av))
        return SK_NOBODY;
    av->known[av->nknown] = (sk_known){.id = id, .addr = FI_ADDR_NOTAVAIL};
    av->table[at] = av->nknown;
    return av->nknown++;
}
