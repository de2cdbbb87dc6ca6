/* id_table.h: small numbers for endpoint ids, and fi_addr_t to number.
 *
 * An id gets its number when its name is inserted or when a packet from it arrives. Numbers are
 * dense and stay for the life of the table, whatever is inserted or removed later. Open MPI inserts
 * all processes in order, so there the number is the rank. The table is the lower half of an
 * address vector (api/av.c); the endpoints that share the vector share the table. */
#ifndef SK_ID_TABLE_H
#define SK_ID_TABLE_H

#include <rdma/fabric.h>

#include "fabric/proto/address.h"

enum { SK_NO_ID = UINT32_MAX }; /* no number */

typedef struct sk_id_entry {
    uint64_t id;
    fi_addr_t addr; /* FI_ADDR_NOTAVAIL: not inserted, only heard of */
    sk_address name;
} sk_id_entry;

typedef struct sk_id_table {
    sk_id_entry *entry; /* by number */
    uint32_t count, capacity;
    uint32_t *number; /* by fi_addr_t; SK_NO_ID: removed */
    size_t naddrs, addrs_capacity;
    uint32_t *bucket; /* id to number: open addressing; nbuckets is a power of two */
    uint32_t nbuckets;
    size_t expected; /* endpoints that the application has announced; 0: not known */
} sk_id_table;

/* The number of an id; a new id gets a new number. SK_NO_ID: out of memory. */
uint32_t sk_id_number(sk_id_table *t, uint64_t id);

/* Take the next fi_addr_t, without a number yet. False: out of memory. */
bool sk_id_new_addr(sk_id_table *t, fi_addr_t *out);

/* The number behind an address; SK_NO_ID: there is none. */
static inline uint32_t sk_id_at(const sk_id_table *t, fi_addr_t addr)
{
    return addr < t->naddrs ? t->number[addr] : SK_NO_ID;
}

/* Endpoints to expect: what the application has announced, or more if more are known. */
static inline size_t sk_id_expected(const sk_id_table *t)
{
    return t->expected > t->count ? t->expected : t->count;
}

void sk_id_table_free(sk_id_table *t);

#endif
