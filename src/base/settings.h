/* settings.h: the environment variables that Skein reads, checked against the table in
 * settings.def. */
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
const sk_setting_info *sk_setting_info_get(sk_setting id); /* NULL: no such setting */

/* The setting of a NAME=VALUE, by its name or by a name that it had before; SK_NSETTINGS: none. */
sk_setting sk_setting_find(const char *entry);

/* A BOOL setting straight from the environment, for what must be known before the settings are read;
 * a wrong value is refused when they are. */
bool sk_setting_on(sk_setting id);

typedef struct sk_settings sk_settings;

/* Read and check an environ-style array. `extra` (NULL-ended, may be NULL) lists further SKEIN_*
 * variables that are valid: the caller checks their values. On failure `err` says what is wrong and
 * names the nearest valid name or value. *out is set on success only. */
sk_status sk_settings_new(char *const *env, const char *const *extra, sk_settings **out, char *err,
                          size_t size);
void sk_settings_free(sk_settings *s);

bool sk_settings_bool(const sk_settings *s, sk_setting id);
int64_t sk_settings_int(const sk_settings *s, sk_setting id);      /* INT and SIZE */
const char *sk_settings_text(const sk_settings *s, sk_setting id); /* as given: any type */
bool sk_settings_given(const sk_settings *s, sk_setting id);       /* not the default */

/* Notes for the user: what was accepted but has a new name. One line per note, each ended by a
 * newline; "": none. All ranks have the same notes, so one of them prints them, once, at its start.
 * A note that does not fit is dropped. */
const char *sk_settings_notes(const sk_settings *s);
void sk_settings_add_note(sk_settings *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
