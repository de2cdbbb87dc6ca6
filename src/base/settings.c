/* settings.c: read the environment once, refuse what is not in the table. */
#include "base/settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/word.h"

static const sk_setting_info table[] = {
#define SETTING(ID, var, type, deflt, help) {#var, #type, deflt, help},
#include "base/settings.def"
#undef SETTING
};

/* Names that settings had before. */
static const struct {
    const char *old;
    sk_setting now;
} renamed[] = {
#define SETTING(ID, var, type, deflt, help)
#define OLD_SETTING(var, ID) {#var, SK_SET_##ID},
#include "base/settings.def"
#undef SETTING
};

typedef struct setting_value {
    char *text; /* as given; NULL: the default stands */
    int64_t number;
} setting_value;

struct sk_settings {
    setting_value v[SK_NSETTINGS];
    char notes[1024];
};

const sk_setting_info *sk_setting_info_get(sk_setting id)
{
    return (unsigned)id < SK_NSETTINGS ? &table[id] : NULL;
}

static bool is_name(const char *entry, const char *name)
{
    size_t len = strlen(name);
    return strncmp(entry, name, len) == 0 && (entry[len] == '=' || !entry[len]);
}

sk_setting sk_setting_find(const char *entry)
{
    for (size_t i = 0; i < SK_NSETTINGS; i++)
        if (is_name(entry, table[i].var))
            return (sk_setting)i;
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (is_name(entry, renamed[i].old))
            return renamed[i].now;
    return SK_NSETTINGS;
}

static bool is(const sk_setting_info *info, const char *type)
{
    return strcmp(info->type, type) == 0;
}

static const char *const bool_words[] = {"off", "on", "no", "yes", "false", "true", "0", "1", NULL};

/* The words at the start of a CHOICE's help: the index of `text` among them, or -1 and in `hint` the
 * one that is near, if any. */
static int64_t read_choice(const char *help, const char *text, char *hint, size_t size)
{
    char words[128];
    const char *list[16] = {0};
    size_t n = 0, len = strcspn(help, ":");
    snprintf(words, sizeof words, "%.*s", (int)len, help);
    char *save = NULL;
    for (char *w = strtok_r(words, "|", &save); w && n < 15; w = strtok_r(NULL, "|", &save)) {
        if (strcmp(w, text) == 0)
            return (int64_t)n;
        list[n++] = w;
    }
    const char *near = sk_near(text, list);
    snprintf(hint, size, "%s", near ? near : "");
    return -1;
}

/* Check `text`; on failure say in `why` what would be right. */
static bool read_value(const sk_setting_info *info, const char *text, int64_t *out, char *why,
                       size_t size)
{
    char hint[64];
    if (is(info, "BOOL")) {
        for (int i = 0; bool_words[i]; i++)
            if (strcmp(bool_words[i], text) == 0) {
                *out = i % 2;
                return true;
            }
        const char *near = sk_near(text, bool_words);
        if (near)
            snprintf(why, size, "on or off is wanted; did you mean %s?", near);
        else
            snprintf(why, size, "on or off is wanted; yes, no, true, false, 1 and 0 will do too");
        return false;
    }
    if (is(info, "INT") || is(info, "SIZE")) {
        bool sized = is(info, "SIZE");
        snprintf(why, size, "%s is wanted, as in %s=%s",
                 sized ? "a number of bytes (K, M and G may follow)" : "a whole number", info->var,
                 info->deflt);
        return sk_read_number(text, sized, out);
    }
    if (is(info, "CHOICE")) {
        *out = read_choice(info->help, text, hint, sizeof hint);
        if (*out >= 0)
            return true;
        snprintf(why, size, "one of %.*s is wanted%s%s%s", (int)strcspn(info->help, ":"),
                 info->help, *hint ? "; did you mean " : "", hint, *hint ? "?" : "");
        return false;
    }
    *out = 0; /* TEXT */
    return true;
}

bool sk_setting_on(sk_setting id)
{
    char why[128];
    int64_t value = 0;
    const char *text = getenv(table[id].var);
    if (!text || !read_value(&table[id], text, &value, why, sizeof why))
        read_value(&table[id], table[id].deflt, &value, why, sizeof why);
    return value != 0;
}

static sk_status unknown(const char *name, const char *const *extra, char *err, size_t size)
{
    size_t n = 0;
    while (extra && extra[n])
        n++;
    const char **all = calloc(SK_NSETTINGS + n + 1, sizeof *all);
    if (!all)
        return SK_NOMEM;
    for (size_t i = 0; i < SK_NSETTINGS; i++)
        all[i] = table[i].var;
    for (size_t i = 0; i < n; i++)
        all[SK_NSETTINGS + i] = extra[i];
    const char *near = sk_near(name, all);
    if (near)
        snprintf(err, size, "unknown setting %s; did you mean %s?", name, near);
    else
        snprintf(err, size, "unknown setting %s; `skein info` lists them", name);
    free(all);
    return SK_BADARG;
}

static bool listed(const char *name, const char *const *list)
{
    while (list && *list)
        if (strcmp(name, *list++) == 0)
            return true;
    return false;
}

/* Names by which module systems and sites say where a package is (`module load skein`): no settings. */
static const char *const site_names[] = {"SKEIN_ROOT", "SKEIN_HOME", "SKEIN_DIR",     "SKEIN_BASE",
                                         "SKEIN_LIB",  "SKEIN_INC",  "SKEIN_VERSION", NULL};

/* Does another entry give the setting by its present name? Then that one counts. */
static bool given_by_name(char *const *env, const char *name)
{
    size_t len = strlen(name);
    for (; *env; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=' && (*env)[len + 1])
            return true;
    return false;
}

/* One NAME=VALUE of the environment. */
static sk_status read_entry(sk_settings *s, char *const *env, const char *entry,
                            const char *const *extra, char *err, size_t size)
{
    char name[64], why[160];
    size_t len = strcspn(entry, "=");
    if (entry[len] != '=' || strncmp(entry, "SKEIN", 5) != 0 || (len > 5 && entry[5] != '_'))
        return SK_OK;
    if (!entry[len + 1]) /* VARIABLE= is how scripts unset */
        return SK_OK;
    snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name - 1), entry);
    sk_setting id = sk_setting_find(name);
    if (id == SK_NSETTINGS)
        return listed(name, extra) || listed(name, site_names) ? SK_OK
                                                               : unknown(name, extra, err, size);
    const char *text = entry + len + 1;
    if (strcmp(name, table[id].var) != 0) {
        bool both = given_by_name(env, table[id].var);
        sk_settings_add_note(s, "%s is now called %s; the old name %s", name, table[id].var,
                             both ? "is ignored, as both are set" : "still works");
        if (both)
            return SK_OK;
    }
    if (!read_value(&table[id], text, &s->v[id].number, why, sizeof why)) {
        snprintf(err, size, "%s=%s: %s", name, text, why);
        return SK_BADARG;
    }
    free(s->v[id].text);
    s->v[id].text = strdup(text);
    return s->v[id].text ? SK_OK : SK_NOMEM;
}

sk_status sk_settings_new(char *const *env, const char *const *extra, sk_settings **out, char *err,
                          size_t size)
{
    sk_status st = SK_OK;
    char why[160];
    sk_settings *s = calloc(1, sizeof *s);
    if (!s) {
        st = SK_NOMEM;
        goto out;
    }
    for (size_t i = 0; i < SK_NSETTINGS; i++)
        read_value(&table[i], table[i].deflt, &s->v[i].number, why, sizeof why);
    for (char *const *e = env; e && *e && st == SK_OK; e++)
        st = read_entry(s, env, *e, extra, err, size);
out:
    if (st == SK_NOMEM)
        snprintf(err, size, "%s", sk_status_text(st));
    if (st == SK_OK)
        *out = s;
    else
        sk_settings_free(s);
    return st;
}

void sk_settings_free(sk_settings *s)
{
    for (size_t i = 0; s && i < SK_NSETTINGS; i++)
        free(s->v[i].text);
    free(s);
}

bool sk_settings_bool(const sk_settings *s, sk_setting id)
{
    return s->v[id].number != 0;
}

int64_t sk_settings_int(const sk_settings *s, sk_setting id)
{
    return s->v[id].number;
}

const char *sk_settings_text(const sk_settings *s, sk_setting id)
{
    return s->v[id].text ? s->v[id].text : table[id].deflt;
}

bool sk_settings_given(const sk_settings *s, sk_setting id)
{
    return s->v[id].text != NULL;
}

const char *sk_settings_notes(const sk_settings *s)
{
    return s->notes;
}

void sk_settings_add_note(sk_settings *s, const char *format, ...)
{
    size_t used = strlen(s->notes), size = sizeof s->notes - used;
    va_list args;
    va_start(args, format);
    int len = vsnprintf(s->notes + used, size, format, args);
    va_end(args);
    bool fits = len >= 0 && (size_t)len + 1 < size;
    snprintf(s->notes + used + (fits ? len : 0), 2, "%s", fits ? "\n" : "");
}
