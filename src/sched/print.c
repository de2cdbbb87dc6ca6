/* print.c: a schedule for people to read. */
#include <inttypes.h>

#include "sched/sched.h"

static const char *const buf_name[] = {"send", "recv", "scratch", "bay", "common"};

static void print_span(sk_span s, FILE *out)
{
    fputs(buf_name[s.buf & SK_BUF_MASK], out);
    if (sk_buf_is_slot(s.buf))
        fprintf(out, " %u", sk_buf_epoch(s.buf));
    fprintf(out, "[%" PRId64 " +%" PRId64 "]", s.off, s.len);
}

static void print_way(const sk_step *st, FILE *out)
{
    print_span(st->a, out);
    fprintf(out, " to ");
    print_span(st->b, out);
}

/* Steps of epochs. */
static void print_epoch_step(const sk_step *st, FILE *out)
{
    switch (st->kind) {
    case SK_STEP_OPEN:
        fprintf(out, "open            turn %u", st->packet);
        break;
    case SK_STEP_POST:
        fprintf(out, "publish         turn %u", st->packet);
        break;
    case SK_STEP_EXPORT:
        fprintf(out, "expose          ");
        print_span(st->a, out);
        fprintf(out, " at ");
        print_span(st->b, out);
        break;
    case SK_STEP_TAKE:
        if (st->peer < 0)
            fprintf(out, "take            ");
        else
            fprintf(out, "take   <- %-5d ", st->peer);
        print_way(st, out);
        break;
    case SK_STEP_FOLD:
        fprintf(out, "fold   mates %d..%d ", st->lo, st->hi - 1);
        print_way(st, out);
        break;
    case SK_STEP_JOIN:
        fprintf(out, "join   all mates ");
        print_way(st, out);
        break;
    case SK_STEP_AWAIT:
        fprintf(out, "meet   mates %d..%d turn %u", st->lo, st->hi - 1, st->packet);
        break;
    case SK_STEP_READ:
        fprintf(out, "read   <- %-5d from byte %" PRId64 " of ", st->peer, sk_step_read_at(st));
        print_way(st, out);
        break;
    case SK_STEP_QUIESCE:
        fprintf(out, "settle          turn %u", st->packet);
        break;
    default:
        break;
    }
}

static void print_step(const sk_step *st, FILE *out)
{
    switch (st->kind) {
    case SK_STEP_RECV:
        fprintf(out, st->packet ? "near   <- %-5d " : "recv   <- %-5d ", st->peer);
        print_span(st->b, out);
        break;
    case SK_STEP_SEND:
        fprintf(out, st->packet ? "near   -> %-5d " : "send   -> %-5d ", st->peer);
        print_span(st->a, out);
        break;
    case SK_STEP_COPY:
    case SK_STEP_REDUCE:
        fprintf(out, st->kind == SK_STEP_COPY ? "copy            " : "reduce          ");
        print_way(st, out);
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
    default:
        print_epoch_step(st, out);
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
        for (uint32_t i = rd->first; i < sk_round_end(rd); i++) {
            fprintf(out, "  ");
            print_step(&v->steps[i], out);
        }
    }
    for (uint32_t t = 0; t < v->nepochs; t++)
        if (v->epochs[t].slot_bytes == SK_NO_PART)
            fprintf(out, "turn %u: no part\n", t);
        else
            fprintf(out, "turn %u: bays of %" PRId64 " bytes%s\n", t, v->epochs[t].slot_bytes,
                    v->epochs[t].all ? ", all publish" : "");
    fprintf(out, "scratch %" PRId64 " bytes\n", v->scratch);
}
