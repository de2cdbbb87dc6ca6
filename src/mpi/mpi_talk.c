#include "mpi/mpi_talk.h"

#include <stdlib.h>
#include <string.h>

typedef struct sk_letter {
    struct sk_letter *next;
    MPI_Request request;
    int32_t words[];
} sk_letter;

static sk_status talk_send(sk_talk *base, int to, const int32_t *words, size_t n)
{
    sk_mpi_talk *t = (sk_mpi_talk *)base;
    if (n > INT32_MAX)
        return SK_TOOBIG;
    sk_letter *l = malloc(sizeof *l + n * sizeof *words);
    if (!l)
        return SK_NOMEM;
    memcpy(l->words, words, n * sizeof *words);
    if (PMPI_Isend(l->words, (int)n, MPI_INT32_T, to, t->tag, t->comm, &l->request) !=
        MPI_SUCCESS) {
        free(l);
        return SK_WIRE;
    }
    l->next = t->sent;
    t->sent = l;
    t->messages++;
    return SK_OK;
}

void sk_mpi_talk_init(sk_mpi_talk *t, MPI_Comm comm, int tag)
{
    *t = (sk_mpi_talk){.base.send = talk_send, .comm = comm, .tag = tag};
}

static sk_status sweep(sk_mpi_talk *t, bool block)
{
    for (sk_letter **at = &t->sent, *l; (l = *at);) {
        int gone = 1;
        int rc = block ? PMPI_Wait(&l->request, MPI_STATUS_IGNORE)
                       : PMPI_Test(&l->request, &gone, MPI_STATUS_IGNORE);
        if (rc != MPI_SUCCESS)
            return SK_WIRE;
        if (gone) {
            *at = l->next;
            free(l);
        } else
            at = &l->next;
    }
    return SK_OK;
}

static sk_status take_one(sk_mpi_talk *t, sk_party *p, MPI_Status *status)
{
    int n = 0;
    PMPI_Get_count(status, MPI_INT32_T, &n);
    if (n < 0)
        return SK_WIRE;
    if ((size_t)n > t->room) {
        int32_t *words = realloc(t->words, (size_t)n * sizeof *words);
        if (!words)
            return SK_NOMEM;
        t->words = words;
        t->room = (size_t)n;
    }
    int from = status->MPI_SOURCE;
    if (PMPI_Recv(t->words, n, MPI_INT32_T, from, t->tag, t->comm, MPI_STATUS_IGNORE) !=
        MPI_SUCCESS)
        return SK_WIRE;
    return sk_party_take(p, &t->base, from, t->words, (size_t)n);
}

sk_status sk_mpi_talk_poll(sk_mpi_talk *t, sk_party *p, bool block)
{
    while (!p->done) {
        int come = 1;
        MPI_Status status;
        int rc = block ? PMPI_Probe(MPI_ANY_SOURCE, t->tag, t->comm, &status)
                       : PMPI_Iprobe(MPI_ANY_SOURCE, t->tag, t->comm, &come, &status);
        if (rc != MPI_SUCCESS)
            return SK_WIRE;
        if (!come)
            break;
        sk_status st = take_one(t, p, &status);
        if (st != SK_OK)
            return st;
    }
    sk_status st = sweep(t, block && p->done);
    if (st != SK_OK)
        return st;
    return p->done && !t->sent ? SK_OK : SK_AGAIN;
}

/* After an error letters may still be under way: their memory is not ours to free. */
void sk_mpi_talk_end(sk_mpi_talk *t)
{
    free(t->words);
    t->words = NULL;
}
