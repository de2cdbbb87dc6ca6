#include "fabric/proto/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/word.h"
#include "match/matcher.h"

/* The settings of the provider. The preload library checks all others. */
static const sk_setting ours[] = {SK_SET_MATCH,         SK_SET_MATCH_KC,    SK_SET_MATCH_KP,
                                  SK_SET_MATCH_THETA,   SK_SET_MATCH_STATS, SK_SET_TRACE,
                                  SK_SET_CORE_PROVIDER, SK_SET_EAGER,       SK_SET_UNEXPECTED,
                                  SK_SET_SHM,           SK_SET_WAIT,        SK_SET_DIRECT};
enum { NOURS = sizeof ours / sizeof ours[0], MOST = INT32_MAX };

/* Keep those NAME=VALUE of the environment that are ours; `out` holds NOURS + 1 pointers. */
static void config_filter(char *const *env, char **out)
{
    int n = 0;
    for (; env && *env && n < NOURS; env++)
        for (int i = 0; i < NOURS; i++)
            if (strchr(*env, '=') && sk_setting_find(*env) == ours[i]) {
                out[n++] = *env;
                break;
            }
    out[n] = NULL;
}

static sk_status config_engine(const char *name, char *err, size_t size)
{
    const char *names[32] = {NULL};
    char list[256] = "";
    if (!*name)
        return SK_OK;
    for (int i = 0; i < 31 && sk_engine_name(i); i++) {
        names[i] = sk_engine_name(i);
        if (strcmp(names[i], name) == 0)
            return SK_OK;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    snprintf(err, size, "%s=%s: there is no such matching engine; did you mean %s? There are %s",
             sk_setting_info_get(SK_SET_MATCH)->var, name, sk_nearest(name, names), list);
    return SK_BADARG;
}

static uint32_t config_number(const sk_settings *s, sk_setting id)
{
    int64_t n = sk_settings_int(s, id);
    return (uint32_t)(n < MOST ? n : MOST);
}

sk_status sk_fabric_config_read(char *const *env, sk_fabric_config *out, char *err, size_t size)
{
    char *mine[NOURS + 1];
    sk_settings *s = NULL;
    config_filter(env, mine);
    sk_status st = sk_settings_new(mine, NULL, &s, err, size);
    if (st == SK_OK)
        st = config_engine(sk_settings_text(s, SK_SET_MATCH), err, size);
    if (st != SK_OK) {
        sk_settings_free(s);
        return st;
    }
    *out = (sk_fabric_config){
        .settings = s,
        .engine = sk_settings_text(s, SK_SET_MATCH),
        .stats = sk_settings_text(s, SK_SET_MATCH_STATS),
        .trace = sk_settings_text(s, SK_SET_TRACE),
        .core_provider = sk_settings_text(s, SK_SET_CORE_PROVIDER),
        .kc = config_number(s, SK_SET_MATCH_KC),
        .kp = config_number(s, SK_SET_MATCH_KP),
        .theta = config_number(s, SK_SET_MATCH_THETA),
        .eager = (size_t)sk_settings_int(s, SK_SET_EAGER),
        .unexpected = (size_t)sk_settings_int(s, SK_SET_UNEXPECTED),
        .shm = sk_settings_int(s, SK_SET_SHM) != 0,
        .direct = sk_settings_bool(s, SK_SET_DIRECT),
        .wait = sk_settings_text(s, SK_SET_WAIT),
    };
    return SK_OK;
}

void sk_fabric_config_free(sk_fabric_config *c)
{
    sk_settings_free(c->settings);
    *c = (sk_fabric_config){0};
}
