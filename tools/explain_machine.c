#include "explain_machine.h"

#include <inttypes.h>
#include <stdio.h>

#include "coll/traffic.h"

/* All ranks are counted, and most algorithms have O(p) steps on each. */
enum { MOST_RANKS = 4096 };

static sk_status count(const sk_algo *a, const sk_shape_room *room, const sk_machine *m,
                       const sk_rename *r, sk_traffic *t, bool *sizes_known)
{
    sk_status st = SK_OK;
    for (int i = 0; i < m->nranks && st == SK_OK; i++) {
        sk_sched *s = NULL;
        sk_call c = sk_shape_call(room, i);
        if (r)
            c = sk_call_renamed(&c, r);
        st = sk_algo_build(a, &c, &s);
        if (st == SK_OK) {
            *sizes_known &= sk_sched_view(s)->npackets == 0;
            st = sk_traffic_add(t, s, m, i);
        }
        sk_sched_free(s);
    }
    return st;
}

static void print_bytes(int64_t bytes, bool known, int width)
{
    if (known)
        printf(" %*" PRId64, width, bytes);
    else
        printf(" %*s", width, "?");
}

static sk_status print_row(const char *name, const sk_algo *a, const sk_shape_room *room,
                           const sk_machine *m, const sk_rename *r)
{
    sk_traffic t = {0};
    bool known = true;
    sk_status st = count(a, room, m, r, &t, &known);
    if (st == SK_OK) {
        sk_off_node most = sk_traffic_busiest(&t);
        printf("  %-26s %12" PRId64, name, t.sum.messages);
        print_bytes(t.sum.bytes, known, 16);
        printf(" %14" PRId64, most.messages);
        print_bytes(most.bytes, known, 16);
        printf("\n");
    }
    sk_traffic_free(&t);
    return st;
}

sk_status sk_explain_machine(const sk_algo *a, const sk_shape_room *room, const sk_machine *m,
                             const sk_rename *r)
{
    sk_status st = SK_OK;
    printf("\nmachine  %d node%s, most ranks on one: %d, mapping: %s\n", m->nnodes,
           m->nnodes == 1 ? "" : "s", m->most_on_node, sk_mapping_name(sk_mapping_of(m)));
    if (m->nranks > MOST_RANKS) {
        printf("  (what leaves the nodes is counted for up to %d ranks)\n", MOST_RANKS);
        return SK_OK;
    }
    printf("  %-26s %12s %16s %14s %16s\n", "sent from node to node", "messages", "bytes",
           "busiest stage", "bytes");
    st = print_row(r ? "ranks as they are" : "ranks keep their names", a, room, m, NULL);
    if (st == SK_OK && r) {
        char name[48];
        snprintf(name, sizeof name, "renamed: %s", sk_wants_name(r->order));
        st = print_row(name, a, room, m, r);
    }
    return st;
}
