/* prov.c: the entry of the provider and the fabric object. libfabric loads every library in
 * FI_PROVIDER_PATH whose name ends in fi.so and calls fi_prov_ini. */
#include <stdlib.h>

#include "fabric/api/objects.h"

static int fabric_close(struct fid *fid)
{
    sk_fabric *f = SK_CONTAINER_OF(fid, sk_fabric, fid.fid);
    if (f->users)
        return -FI_EBUSY;
    free(f);
    return 0;
}

static int no_passive_ep(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep,
                         void *context)
{
    (void)fabric, (void)info, (void)pep, (void)context;
    return -FI_ENOSYS;
}

static int no_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq,
                      void *context)
{
    (void)fabric, (void)attr, (void)eq, (void)context;
    return -FI_ENOSYS;
}

static int no_wait_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
                        struct fid_wait **waitset)
{
    (void)fabric, (void)attr, (void)waitset;
    return -FI_ENOSYS;
}

static int no_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
    (void)fabric, (void)fids, (void)count;
    return -FI_ENOSYS;
}

static struct fi_ops fabric_fid_ops = {
    .size = sizeof(struct fi_ops),
    .close = fabric_close,
    .bind = sk_no_bind,
    .control = sk_no_control,
    .ops_open = sk_no_ops_open,
};

static struct fi_ops_fabric fabric_ops = {
    .size = sizeof(struct fi_ops_fabric),
    .domain = sk_domain_open,
    .passive_ep = no_passive_ep,
    .eq_open = no_eq_open,
    .wait_open = no_wait_open,
    .trywait = no_trywait,
};

static int fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    sk_fabric *f = calloc(1, sizeof *f);
    if (!f)
        return -FI_ENOMEM;
    f->fid.fid = (struct fid){FI_CLASS_FABRIC, context, &fabric_fid_ops};
    f->fid.ops = &fabric_ops;
    f->fid.api_version = attr->api_version;
    *fabric = &f->fid;
    return 0;
}

static void provider_cleanup(void) {}

/* libfabric skips a provider whose fi_version is below what the application asks for. The one that
 * runs counts, not the headers: nothing that newer versions have added is offered (info.c). */
FI_EXT_INI
{
    sk_provider.fi_version = fi_version();
    sk_provider.getinfo = sk_getinfo;
    sk_provider.fabric = fabric_open;
    sk_provider.cleanup = provider_cleanup;
    return &sk_provider;
}
