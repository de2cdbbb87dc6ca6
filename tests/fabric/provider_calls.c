/* provider_calls.c: every call of the provider does what its manual page says. */
#include "provider.h"

static struct fi_context2 ctx[16];

/* Every way to send meets every way to receive. */
static void send_kinds(process *p)
{
    char out[64], a[32], b[32];
    fi_addr_t to = p->addr[1];
    struct iovec iov[2] = {{out, 20}, {out + 20, 44}};
    struct fi_msg_tagged msg = {
        .msg_iov = iov, .iov_count = 2, .addr = to, .tag = 13, .context = &ctx[3], .data = 77};
    fill(out, sizeof out, 5);
    if (p->rank == 0) {
        CHECK_OK(fi_tsend(p->ep, out, 64, NULL, to, 11, &ctx[1]));
        wait_context(p, &ctx[1]);
        CHECK_OK(fi_tsendv(p->ep, iov, NULL, 2, to, 12, &ctx[2]));
        wait_context(p, &ctx[2]);
        CHECK_OK(fi_tsendmsg(p->ep, &msg, FI_COMPLETION | FI_REMOTE_CQ_DATA));
        wait_context(p, &ctx[3]);
        CHECK_TAKEN(p, fi_tinject(p->ep, out, 64, to, 14));
        CHECK_OK(fi_tsenddata(p->ep, out, 64, NULL, 88, to, 15, &ctx[5]));
        wait_context(p, &ctx[5]);
        CHECK_TAKEN(p, fi_tinjectdata(p->ep, out, 64, 99, to, 16));
        memset(out, 0, sizeof out); /* inject: it is ours again */
        CHECK_OK(fi_tsend(p->ep, NULL, 0, NULL, to, 17, &ctx[7]));
        wait_context(p, &ctx[7]);
        spin(p, 5);
    } else {
        char in[64];
        struct fi_cq_tagged_entry e;
        struct iovec parts[2] = {{a, 32}, {b, 32}};
        struct fi_msg_tagged want = {
            .msg_iov = parts, .iov_count = 2, .addr = p->addr[0], .tag = 12, .context = &ctx[8]};
        uint64_t data[] = {0, 0, 77, 0, 88, 99, 0};
        barrier(p); /* all have come before the first receive */
        for (int i = 0; i < 7; i++) {
            memset(in, 0, sizeof in);
            want.tag = (uint64_t)(11 + i);
            if (i % 3 == 0)
                CHECK_OK(fi_trecv(p->ep, in, 64, NULL, p->addr[0], want.tag, 0, &ctx[8]));
            else if (i % 3 == 1)
                CHECK_OK(fi_trecvv(p->ep, parts, NULL, 2, p->addr[0], want.tag, 0, &ctx[8]));
            else
                CHECK_OK(fi_trecvmsg(p->ep, &want, FI_COMPLETION));
            wait_entry(p, &e);
            if (i % 3) {
                memcpy(in, a, 32);
                memcpy(in + 32, b, 32);
            }
            CHECK(e.op_context == &ctx[8] && e.tag == want.tag);
            CHECK(e.len == (i == 6 ? 0 : 64));
            CHECK(i == 6 || filled(in, 64, 5));
            CHECK(e.data == data[i] && !(e.flags & FI_REMOTE_CQ_DATA) == !data[i]);
            CHECK(e.flags & FI_RECV && e.flags & FI_TAGGED && !(e.flags & FI_SEND));
        }
        return;
    }
    barrier(p);
}

static void selective(process *p)
{
    char c = 7;
    struct iovec iov = {&c, 1};
    struct fi_msg_tagged msg = {.msg_iov = &iov, .iov_count = 1, .tag = 1, .context = &ctx[0]};
    if (p->rank == 0) {
        msg.addr = p->addr[1];
        CHECK_OK(fi_tsendmsg(p->ep, &msg, 0));
        spin(p, 5);
        CHECK_OK(fi_tsendmsg(p->ep, &msg, FI_COMPLETION));
        wait_context(p, &ctx[0]);
        CHECK_OK(fi_tsend(p->ep, &c, 1, NULL, msg.addr, 2, &ctx[1])); /* op_flags say so */
        wait_context(p, &ctx[1]);
    } else {
        msg.addr = p->addr[0];
        CHECK_OK(fi_trecvmsg(p->ep, &msg, 0)); /* this one is silent */
        CHECK_OK(fi_trecvmsg(p->ep, &msg, FI_COMPLETION));
        CHECK_OK(fi_trecv(p->ep, &c, 1, NULL, p->addr[0], 2, 0, &ctx[2]));
        wait_context(p, &ctx[0]);
        wait_context(p, &ctx[2]);
        spin(p, 5);
    }
}

/* Formats are of different sizes; readfrom tells who sent. */
static void formats(process *p)
{
    char c = 3, in = 0;
    if (p->rank == 1) {
        CHECK_TAKEN(p, fi_tinjectdata(p->ep, &c, 1, 42, p->addr[0], 9));
        return;
    }
    union {
        struct fi_cq_entry c;
        struct fi_cq_msg_entry m;
        struct fi_cq_data_entry d;
        char raw[256];
    } e;
    fi_addr_t from = 0;
    ssize_t n;
    memset(&e, 0xee, sizeof e);
    CHECK_OK(fi_trecv(p->ep, &in, 1, NULL, FI_ADDR_UNSPEC, 9, 0, &ctx[4]));
    while ((n = fi_cq_readfrom(p->cq, &e, 1, &from)) == -FI_EAGAIN)
        ;
    CHECK(n == 1 && e.c.op_context == &ctx[4]);
    CHECK(from == p->addr[1]);
    const char *format = getenv("TEST_FORMAT");
    size_t size = *format == 'c' ? sizeof e.c : *format == 'm' ? sizeof e.m : sizeof e.d;
    CHECK((unsigned char)e.raw[size] == 0xee && (unsigned char)e.raw[size - 1] != 0xee);
    CHECK(*format == 'c' || e.m.len == 1);
    CHECK(*format != 'd' || (e.d.data == 42 && e.d.buf == &in));
    CHECK(fi_cq_sread(p->cq, &e, 1, NULL, 10) == -FI_EAGAIN);
    CHECK_OK(fi_cq_signal(p->cq));
    CHECK(fi_cq_sread(p->cq, &e, 1, NULL, -1) == -FI_EAGAIN);
}

static void vectors(process *p)
{
    char name[NAME], other[NAME], text[128];
    size_t len = sizeof name;
    int errors[2];
    fi_addr_t two[2];
    CHECK_OK(fi_getname(&p->ep->fid, name, &len));
    CHECK(len == NAME);
    len = 10;
    CHECK(fi_getname(&p->ep->fid, other, &len) == -FI_ETOOSMALL && len == NAME);
    for (int i = 0; i < p->n; i++)
        CHECK(p->addr[i] == (fi_addr_t)i);
    len = sizeof other;
    CHECK_OK(fi_av_lookup(p->av, p->addr[p->rank], other, &len));
    CHECK(len == NAME && memcmp(name, other, NAME) == 0);
    len = sizeof text;
    CHECK(strncmp(fi_av_straddr(p->av, name, text, &len), "fi_skein://", 11) == 0);
    char bad[2 * NAME] = {0};
    memcpy(bad + NAME, name, NAME);
    CHECK(fi_av_insert(p->av, bad, 2, two, FI_SYNC_ERR, errors) == 1);
    CHECK(errors[0] == FI_EINVAL && errors[1] == 0);
    CHECK(two[0] == FI_ADDR_NOTAVAIL && two[1] == (fi_addr_t)p->n + 1);
    CHECK_OK(fi_av_remove(p->av, &two[1], 1, 0));
    CHECK(fi_av_remove(p->av, &two[1], 1, 0) == -FI_EINVAL);
    CHECK(fi_tsend(p->ep, name, 1, NULL, two[1], 1, &ctx[0]) == -FI_EINVAL);
    CHECK(fi_trecv(p->ep, name, 1, NULL, two[1], 1, 0, &ctx[0]) == -FI_EINVAL);
}

static void refusals(process *p)
{
    struct fid_mr *mr;
    struct fid_cntr *cntr;
    struct fid_ep *sep;
    char c = 0, big[8192] = {0};
    struct iovec iov[5] = {{&c, 1}, {&c, 1}, {&c, 1}, {&c, 1}, {&c, 1}};
    struct fi_msg_tagged msg = {.msg_iov = iov, .iov_count = 1, .addr = p->addr[0], .tag = 1};
    CHECK_OK(fi_mr_reg(p->domain, &c, 1, FI_SEND, 0, 7, 0, &mr, NULL));
    CHECK(fi_mr_key(mr) == 7);
    CHECK(fi_close(&p->domain->fid) == -FI_EBUSY);
    CHECK_OK(fi_close(&mr->fid));
    CHECK(fi_cntr_open(p->domain, NULL, &cntr, NULL) == -FI_ENOSYS);
    CHECK(fi_scalable_ep(p->domain, p->info, &sep, NULL) == -FI_ENOSYS);
    CHECK(fi_tsendv(p->ep, iov, NULL, 5, p->addr[0], 1, &ctx[0]) == -FI_EINVAL);
    CHECK(fi_trecvv(p->ep, iov, NULL, 5, p->addr[0], 1, 0, &ctx[0]) == -FI_EINVAL);
    CHECK(fi_tinject(p->ep, big, p->info->tx_attr->inject_size + 1, p->addr[0], 1) == -FI_EINVAL);
    CHECK(fi_tsendmsg(p->ep, &msg, FI_FENCE) == -FI_EBADFLAGS);
    CHECK(fi_trecvmsg(p->ep, &msg, FI_DISCARD) == -FI_EINVAL);
    CHECK(fi_trecvmsg(p->ep, &msg, FI_CLAIM) == -FI_EINVAL);
    CHECK(fi_tsend(p->ep, &c, 1, NULL, 99, 1, &ctx[0]) == -FI_EINVAL);
    CHECK(fi_ep_bind(p->ep, &p->av->fid, 0) == -FI_EOPBADSTATE);
    size_t len = 8;
    CHECK(fi_getopt(&p->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &c, &len) ==
          -FI_ENOPROTOOPT);
    uint64_t flags = FI_TRANSMIT;
    CHECK_OK(fi_control(&p->ep->fid, FI_GETOPSFLAG, &flags));
    CHECK(flags == FI_COMPLETION);
    spin(p, 2);
}

/* A queue may be read while an endpoint that is bound to it is not enabled. */
static void not_enabled(process *p)
{
    char c = 1, in = 0;
    struct fi_cq_tagged_entry e;
    struct fid_ep *ep;
    CHECK_OK(fi_endpoint(p->domain, p->info, &ep, NULL));
    CHECK_OK(fi_ep_bind(ep, &p->cq->fid, FI_TRANSMIT | FI_RECV));
    CHECK(fi_cq_read(p->cq, NULL, 0) == -FI_EAGAIN);
    CHECK(fi_enable(ep) == -FI_ENOAV);
    CHECK(fi_tsend(ep, &c, 1, NULL, p->addr[0], 1, &ctx[0]) == -FI_EOPBADSTATE);
    CHECK(fi_trecv(ep, &in, 1, NULL, p->addr[0], 1, 0, &ctx[0]) == -FI_EOPBADSTATE);
    CHECK(fi_cancel(&ep->fid, &ctx[0]) == -FI_ENOENT);
    CHECK_OK(fi_trecv(p->ep, &in, 1, NULL, p->addr[0], 1, 0, &ctx[1]));
    CHECK_TAKEN(p, fi_tinject(p->ep, &c, 1, p->addr[0], 1));
    wait_entry(p, &e);
    CHECK(e.op_context == &ctx[1] && in == c);
    CHECK(fi_close(&p->cq->fid) == -FI_EBUSY);
    CHECK_OK(fi_close(&ep->fid));
    spin(p, 2);
}

static int offered(const struct fi_info *hints)
{
    struct fi_info *info = NULL;
    int rc = fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, &info);
    fi_freeinfo(info);
    return rc;
}

#define REFUSED(change)                                                                            \
    do {                                                                                           \
        struct fi_info *h = hints_for(&(ep_options){0});                                           \
        change;                                                                                    \
        CHECK(offered(h) == -FI_ENODATA);                                                          \
        fi_freeinfo(h);                                                                            \
    } while (0)

static void infos(process *p)
{
    struct fi_info *h = hints_for(&(ep_options){0});
    struct fi_info *info = NULL;
    CHECK(p->info->caps & FI_DIRECTED_RECV && !(p->info->caps & FI_SOURCE));
    CHECK(p->info->mode == FI_CONTEXT && p->info->domain_attr->mr_mode == 0);
    CHECK(p->info->domain_attr->threading == FI_THREAD_DOMAIN);
    CHECK_OK(offered(h));
    CHECK_OK(fi_getinfo(fi_version(), NULL, NULL, 0, h, &info)); /* the newest that there is */
    fi_freeinfo(info);
    h->domain_attr->control_progress =
        (enum fi_progress)(FI_PROGRESS_MANUAL + 1); /* of libfabric 2 */
    CHECK_OK(offered(h));
    h->mode = 0;
    h->domain_attr->threading = FI_THREAD_UNSPEC;
    h->caps = 0;
    CHECK_OK(fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, h, &info));
    CHECK(info->mode == 0 && info->domain_attr->threading == FI_THREAD_SAFE);
    CHECK(info->caps & FI_TAGGED && info->caps & FI_MSG && info->caps & FI_SOURCE &&
          info->caps & FI_SEND);
    fi_freeinfo(info);
    fi_freeinfo(h);
    REFUSED(h->caps |= FI_RMA);
    REFUSED(h->caps |= FI_ATOMIC);
    REFUSED(h->caps |= FI_MULTI_RECV);
    REFUSED(h->ep_attr->type = FI_EP_MSG);
    REFUSED(h->ep_attr->type = FI_EP_DGRAM);
    REFUSED(h->ep_attr->protocol = FI_PROTO_RXM);
    REFUSED(h->ep_attr->tx_ctx_cnt = 2);
    REFUSED(h->tx_attr->inject_size = 1 << 20);
    REFUSED(h->tx_attr->msg_order = FI_ORDER_RAR);
    REFUSED(h->tx_attr->comp_order = FI_ORDER_SAS);
    REFUSED(h->tx_attr->iov_limit = 5);
    REFUSED(h->rx_attr->op_flags = FI_MULTI_RECV);
    REFUSED(h->tx_attr->op_flags = FI_COMMIT_COMPLETE);
    REFUSED(h->domain_attr->data_progress = FI_PROGRESS_AUTO);
    REFUSED(h->domain_attr->cq_data_size = 8);
    REFUSED(h->domain_attr->name = strdup("eth0"));
    REFUSED(h->domain_attr->cntr_cnt = 1);
    REFUSED(h->addr_format = FI_SOCKADDR_IN);
    h = hints_for(&(ep_options){0});
    CHECK(fi_getinfo(FI_VERSION(1, 9), "localhost", "1", 0, h, &info) == -FI_ENODATA);
    fi_freeinfo(h);
}

static void bad_settings(process *p)
{
    struct fi_info *h = hints_for(&(ep_options){0});
    struct fid_domain *d;
    (void)p;
    (void)!freopen("/dev/null", "w", stderr); /* it says so there */
    setenv("SKEIN_MATCH", "flot", 1);
    CHECK(offered(h) == -FI_ENODATA);
    CHECK(fi_domain(p->fabric, p->info, &d, NULL) == -FI_EINVAL);
    setenv("SKEIN_MATCH", "list", 1);
    CHECK_OK(offered(h));
    setenv("SKEIN_EAGER", "much", 1);
    CHECK(offered(h) == -FI_ENODATA);
    setenv("SKEIN_EAGER", "1K", 1);
    setenv("SKEIN_ALLREDUCE", "nonsense", 1); /* another library's */
    CHECK_OK(offered(h));
    fi_freeinfo(h);
}

int main(void)
{
    static const char *const c[] = {"TEST_FORMAT=c", NULL}, *const m[] = {"TEST_FORMAT=m", NULL},
                             *const d[] = {"TEST_FORMAT=d", NULL};
    run_test("fi_getinfo_offers_what_is_there_and_nothing_else", 1, NULL, infos, NULL);
    run_test("settings_that_are_wrong_are_refused", 1, NULL, bad_settings, NULL);
    run_test("every_send_meets_every_receive", 2, NULL, send_kinds, NULL);
    run_test("selective_completion_is_silent", 2, &(ep_options){.selective = true}, selective,
             NULL);
    run_test("format_context", 2, &(ep_options){.format = FI_CQ_FORMAT_CONTEXT, .caps = FI_SOURCE},
             formats, c);
    run_test("format_msg", 2, &(ep_options){.format = FI_CQ_FORMAT_MSG, .caps = FI_SOURCE}, formats,
             m);
    run_test("format_data", 2, &(ep_options){.format = FI_CQ_FORMAT_DATA, .caps = FI_SOURCE},
             formats, d);
    run_test("addresses_are_looked_up_and_removed", 2, &(ep_options){.av = FI_AV_TABLE}, vectors,
             NULL);
    run_test("what_is_not_served_is_refused", 1, NULL, refusals, NULL);
    run_test("an_endpoint_that_is_not_enabled_stops_nobody", 1, NULL, not_enabled, NULL);
    return tap_end();
}
