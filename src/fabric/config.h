/* config.h: the settings of the provider, read from the environment and checked. */
#ifndef SK_FABRIC_CONFIG_H
#define SK_FABRIC_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"

typedef struct sk_config {
    sk_settings *settings; /* texts below live here */
    const char *engine;    /* of engines.def; "": the default */
    const char *stats;     /* "": none; "1": standard error; else the start of a file name */
    const char *trace;     /* "": none; else the start of a file name */
    const char *inner;     /* provider of the inner lane; "": it picks one */
    uint32_t kc, kp, theta;
    size_t eager;      /* longest message that is sent without being asked for */
    size_t unexpected; /* most bytes of such messages that wait for a receive */
    bool shm, direct;
} sk_config;

/* SK_BADARG: `err` says what is wrong and what would be right. */
sk_status sk_config_read(char *const *env, sk_config *out, char *err, size_t size);
void sk_config_drop(sk_config *c);

#endif
