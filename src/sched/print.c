/* print.c: a schedule for people to read. */
#include <inttypes.h>

#include "sched/sched.h"

static const char *const buf_name[SK_NBUFS] = {"send", "recv", "scratch"};

static void print_span(sk_span s, FILE *out)
{
    fprintf(out, "%s[%" PRId64 " +%" PRId64 "]", buf_name[s.buf], s.off, s.len);
}

static void print_step(const sk_step *st, FILE *out)
{
    switch ((sk_step_kind)st->kind) {
    case SK_STEP_RECV:
        fprintf(out, "recv   <- %-5d ", st->peer);
        print_span(st->b, out);
        break;
    case SK_STEP_SEND:
        fprintf(out, "send   -> %-5d ", st->peer);
        print_span(st->a, out);
        break;
    case SK_STEP_COPY:
    case SK_STEP_REDUCE:
        fprintf(out, st->kind == SK_STEP_COPY ? "copy            " : "reduce          ");
        print_span(st->a, out);
        fprintf(out, " to ");
        print_span(st->b, out);
        break;
    case SK_STEP_PUT:
        fprintf(out, "put    packet %u key %d from ", st->packet, st->lo);
        print_span(st->a, out);
        break;
    case SK_STEP_PRECV:
        fprintf(out, "recv   <- %-5d packet %u", st->peer, st->packet);
        break;
    case SK_STEP_PSEND:
        fprintf(out, "send   -> %-5d packet %u keys %d..%d", st->peer, st->packet, st->lo,
                st->hi - 1);
        break;
    case SK_STEP_GET:
        fprintf(out, "get    packet %u key %d to ", st->packet, st->lo);
        print_span(st->b, out);
        break;
    case SK_STEP_RELAY:
        fprintf(out, "relay  packet %u key %d to packet %d key %d", st->packet, st->lo, st->hi,
                st->peer);
        break;
    }
    fputc('\n', out);
}

void sk_sched_print(const sk_sched *s, FILE *out)
{
    const struct sk_sched_view *v = sk_sched_view(s);
    for (uint32_t r = 0; r < v->nrounds; r++) {
        const sk_round *rd = &v->rounds[r];
        fprintf(out, "round %u\n", r);
        for (uint32_t i = rd->first; i < rd->first + rd->nrecv + rd->nsend + rd->nlocal; i++) {
            fprintf(out, "  ");
            print_step(&v->steps[i], out);
        }
    }
    fprintf(out, "scratch %" PRId64 " bytes\n", v->scratch);
}
