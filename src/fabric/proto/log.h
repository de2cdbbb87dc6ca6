/* log.h: the provider object, which libfabric's log macros (FI_WARN, FI_INFO) need, and messages to
 * the user. api/prov.c fills in the functions of the object when libfabric loads the provider. */
#ifndef SK_FABRIC_LOG_H
#define SK_FABRIC_LOG_H

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

extern struct fi_provider sk_provider;

/* Log a message. The first one of the process also goes to standard error. */
void sk_provider_message(const char *what);

#endif
