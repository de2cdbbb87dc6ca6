/* config.h: the settings of the provider, read from the environment and checked. */
#ifndef SK_FABRIC_CONFIG_H
#define SK_FABRIC_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"

typedef struct sk_fabric_config {
    sk_settings *settings;     /* owns the strings below */
    const char *engine;        /* of engines.def; "": the default */
    const char *stats;         /* "": none; "1": standard error; else prefix of a file name */
    const char *trace;         /* "": none; else prefix of a file name */
    const char *core_provider; /* of the core lane; "": the lane picks one */
    uint32_t kc, kp, theta;
    size_t eager;      /* longest eager message */
    size_t unexpected; /* most bytes of eager messages that may wait for a receive */
    bool shm, direct;
    const char *wait; /* how fi_cq_sread waits: sk_wait_mode_of */
} sk_fabric_config;

/* SK_BADARG: `err` says what is wrong and what would be right. */
sk_status sk_fabric_config_read(char *const *env, sk_fabric_config *out, char *err, size_t size);
void sk_fabric_config_free(sk_fabric_config *c);

#endif
