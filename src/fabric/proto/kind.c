#include "fabric/proto/kind.h"

#include <dlfcn.h>
#include <string.h>

/* Open MPI puts the MPI tag of a message in the low word. Its collectives use these values,
 * negated. */
enum { TAG_FIRST = 10, TAG_NONBLOCKING = 27, TAG_NEIGHBOR = INT32_MAX / 2 };
enum { OTHER = 0, FIRST = 1, KINDS = SK_HINT_KINDS };
#define NEGATIVE (UINT64_C(1) << 31)
#define LOW_WORD UINT64_C(0xffffffff)

static const char *const tag_names[] = {
    "other collective",
    "allgather",
    "allgatherv",
    "allreduce",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "barrier",
    "bcast",
    "exscan",
    "gather",
    "gatherv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "scatter",
    "scatterv",
    "nonblocking collective",
    "neighborhood collective",
};
enum {
    NTAGS = sizeof tag_names / sizeof tag_names[0],
    NEIGHBOR = NTAGS - 1,
    NONBLOCKING = NTAGS - 2
};

_Static_assert(FIRST + TAG_NONBLOCKING - TAG_FIRST == NONBLOCKING, "a name for each tag");
_Static_assert(KINDS + NTAGS <= SK_MAX_KINDS, "kinds are few");

static const sk_hint_table *hints_find(void)
{
    union {
        void *object;
        sk_hint_fn *function;
    } symbol = {.object = dlsym(RTLD_DEFAULT, SK_HINT_SYMBOL)};
    const sk_hint_table *t = symbol.object ? symbol.function() : NULL;
    return t && t->version == SK_HINT_VERSION ? t : NULL;
}

void sk_kinds_init(sk_kinds *k)
{
    k->hints = hints_find();
}

static uint16_t kind_of_tag(uint64_t tag)
{
    if (!(tag & NEGATIVE))
        return SK_P2P;
    uint32_t n = -(uint32_t)tag;
    if (n < TAG_FIRST)
        return KINDS + OTHER;
    if (n < TAG_NONBLOCKING)
        return (uint16_t)(KINDS + FIRST + n - TAG_FIRST);
    return n < TAG_NEIGHBOR ? KINDS + NONBLOCKING : KINDS + NEIGHBOR;
}

static uint8_t size_class(uint64_t len)
{
    return (uint8_t)(len ? 64 - __builtin_clzll((unsigned long long)len) : 0);
}

static sk_hint *hint_now(const sk_kinds *k)
{
    sk_hint *h = k->hints ? k->hints->now() : NULL;
    return h && h->kind > 0 && h->kind < KINDS ? h : NULL;
}

void sk_kind_send(const sk_kinds *k, uint64_t len, sk_packet *head)
{
    const sk_hint *h = hint_now(k);
    head->kind = kind_of_tag(head->tag);
    head->size_class = size_class(len);
    head->nranks = head->call = 0;
    if (!h)
        return;
    if (sk_hint_is_own(h, (uint32_t)head->tag)) {
        head->kind = h->kind;
        head->flags |= SK_PACKET_OWN_KIND;
    }
    if (head->kind != SK_P2P) {
        head->size_class = h->size <= 64 ? h->size : 64;
        head->nranks = h->nranks;
        head->call = h->call;
    }
}

static uint16_t kind_of_recv(const sk_match_item *recv)
{
    if (recv->ignore & NEGATIVE)
        return SK_ANY_KIND;
    if (recv->tag & NEGATIVE && recv->ignore & LOW_WORD)
        return SK_ANY_KIND;
    return kind_of_tag(recv->tag);
}

bool sk_kind_recv(const sk_kinds *k, uint64_t len, sk_match_item *recv)
{
    const sk_hint *h = hint_now(k);
    bool own = false;
    recv->kind = kind_of_recv(recv);
    recv->size = size_class(len);
    recv->nranks = recv->call = 0;
    if (!h)
        return false;
    if (sk_hint_is_own(h, (uint32_t)recv->tag)) {
        recv->kind = h->kind;
        own = true;
    }
    if (recv->kind != SK_P2P) {
        recv->size = h->size;
        recv->nranks = h->nranks;
        recv->call = h->call;
    }
    return own;
}

void sk_kind_accept(const sk_kinds *k)
{
    sk_hint_consume(hint_now(k));
}

uint16_t sk_kind_of_packet(const sk_packet *head)
{
    if (head->flags & SK_PACKET_OWN_KIND)
        return head->kind;
    return kind_of_tag(head->tag);
}

const char *sk_kind_name(unsigned kind)
{
    if (kind == SK_P2P)
        return "point-to-point";
    if (kind >= KINDS)
        return kind - KINDS < NTAGS ? tag_names[kind - KINDS] : NULL;
    const sk_hint_table *t = hints_find();
    return t ? t->kind_name(kind) : NULL;
}
