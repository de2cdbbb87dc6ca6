/* app.c: see app.h. */
#include "lab/match/app.h"

#include <string.h>

#define APP(id) extern const sk_app sk_app_##id;
#include "lab/match/apps.def"
#undef APP

static const sk_app *const apps[] = {
#define APP(id) &sk_app_##id,
#include "lab/match/apps.def"
#undef APP
    NULL,
};

const sk_app *sk_app_get(int i)
{
    return apps[i];
}

const sk_app *sk_app_find(const char *name)
{
    for (int i = 0; apps[i]; i++)
        if (strcmp(apps[i]->name, name) == 0)
            return apps[i];
    return NULL;
}

sk_status sk_stream_app(const sk_app *app, uint32_t nranks, int steps, uint64_t seed,
                        sk_stream *out)
{
    if (nranks < SK_APP_MIN_RANKS)
        return SK_BADARG;
    sk_stream s = {.nranks = nranks};
    sk_timeline *t = sk_timeline_new(&s, seed);
    if (!t)
        return SK_NOMEM;
    if (steps == 0)
        steps = app->steps;
    for (int i = 0; i < steps && !s.failed; i++) {
        app->step(t, nranks);
        sk_timeline_flush(t);
    }
    sk_timeline_free(t);
    if (s.failed) {
        sk_stream_free(&s);
        return SK_NOMEM;
    }
    *out = s;
    return SK_OK;
}
