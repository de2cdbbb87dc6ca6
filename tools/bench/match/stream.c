#include "bench/match/stream.h"

#include <stdlib.h>
#include <string.h>

void sk_stream_free(sk_stream *s)
{
    free(s->ops);
    *s = (sk_stream){0};
}

static void append(sk_stream *s, sk_trace_record r, sk_trace_op op)
{
    if (s->n == s->room) {
        size_t room = s->room ? 2 * s->room : 1024;
        sk_trace_record *ops = s->failed ? NULL : realloc(s->ops, room * sizeof *ops);
        if (!ops) {
            s->failed = true;
            return;
        }
        s->ops = ops;
        s->room = room;
    }
    r.op = (uint8_t)op;
    r.id = s->items++;
    s->ops[s->n++] = r;
}

void sk_stream_post(sk_stream *s, sk_trace_record r)
{
    append(s, r, SK_TRACE_POST);
}

void sk_stream_deliver(sk_stream *s, sk_trace_record r)
{
    append(s, r, SK_TRACE_DELIVER);
}

sk_status sk_stream_read(const char *path, sk_stream *out, char *err, size_t size)
{
    sk_stream s = {0};
    sk_status st = sk_trace_read(path, &s.nranks, &s.ops, &s.n, err, size);
    if (st != SK_OK)
        return st;
    s.room = s.n;
    for (size_t i = 0; i < s.n; i++)
        s.items += s.ops[i].op == SK_TRACE_POST || s.ops[i].op == SK_TRACE_DELIVER;
    *out = s;
    return SK_OK;
}
