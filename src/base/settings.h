/* settings.h: the environment variables Skein reads, checked. */
#ifndef SK_SETTINGS_H
#define SK_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef enum sk_setting {
#define SETTING(ID, var, type, deflt, help) SK_SET_##ID,
#include "base/settings.def"
#undef SETTING
    SK_NSETTINGS
} sk_setting;

typedef struct sk_setting_info {
    const char *var, *type, *deflt, *help;
} sk_setting_info;
const sk_setting_info *sk_setting_info_get(sk_setting id);

typedef struct sk_settings sk_settings;

/* Read and check. `extra` (NULL-ended, may be NULL) lists further SKEIN_* variables that are valid:
 * their values are for the caller to check. On failure `err` says what is wrong and names the
 * nearest valid name or value. *out is set on success only. `env` is an environ-style array. */
sk_status sk_settings_new(char *const *env, const char *const *extra, sk_settings **out, char *err,
                          size_t size);
void sk_settings_free(sk_settings *s);

bool sk_settings_bool(const sk_settings *s, sk_setting id);
int64_t sk_settings_int(const sk_settings *s, sk_setting id);      /* INT and SIZE */
const char *sk_settings_text(const sk_settings *s, sk_setting id); /* as given: any type */
bool sk_settings_given(const sk_settings *s, sk_setting id);       /* not the default */

/* A whole number >= 0; with `sized`, K, M or G may follow. False when the text is none. */
bool sk_read_number(const char *text, bool sized, int64_t *out);

/* The candidate (NULL-ended list) nearest to a misspelt word, by edit distance. */
const char *sk_nearest(const char *word, const char *const *candidates);

#endif
