#include "tuned.h"

#include <stdio.h>
#include <string.h>

void sk_tool_tuning_read(const sk_select *s, sk_tool_tuning *out)
{
    *out = (sk_tool_tuning){.machine = -1};
    sk_tuning_fingerprint("", out->here);
    if (!sk_tuning_find(sk_settings_text(sk_select_settings(s), SK_SET_TUNING), out->path)) {
        out->path[0] = '\0';
        return;
    }
    out->tuning = sk_tuning_new();
    if (out->tuning && sk_tuning_load(out->path, out->tuning, out->err, sizeof out->err) == SK_OK) {
        out->machine = sk_tuning_index(out->tuning, out->here);
        return;
    }
    sk_tuning_free(out->tuning);
    out->tuning = NULL;
}

void sk_tool_tuning_use(sk_select *s, const char *command, sk_tool_tuning *out)
{
    sk_tool_tuning_read(s, out);
    if (out->err[0])
        fprintf(stderr, "%s: %s (until then the tuning file is ignored)\n", command, out->err);
    if (out->machine >= 0)
        sk_select_tune(s, out->tuning, out->machine);
    else
        sk_tuning_free(out->tuning);
    if (out->machine < 0)
        out->tuning = NULL;
}

void sk_tool_tuning_prices(const sk_tool_tuning *t, const char *command, sk_prices *p)
{
    char err[256];
    if (t->tuning &&
        sk_prices_read(sk_tuning_prices(t->tuning, t->machine), p, err, sizeof err) != SK_OK)
        fprintf(stderr, "%s: %s: prices: %s (they are ignored)\n", command, t->path, err);
}
