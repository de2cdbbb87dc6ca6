/* streams.c: the table of applications, and how a stream of one is made. */
#include <string.h>

#include "bench/match/script.h"
#include "bench/match/stream.h"

#define STREAM(id) extern const sk_app sk_app_##id;
#include "bench/match/streams.def"
#undef STREAM

static const sk_app *const apps[] = {
#define STREAM(id) &sk_app_##id,
#include "bench/match/streams.def"
#undef STREAM
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
    sk_stream s = {.nranks = nranks};
    if (nranks < SK_APP_RANKS)
        return SK_BADARG;
    sk_script *script = sk_script_new(&s, seed);
    if (!script)
        return SK_NOMEM;
    if (steps == 0)
        steps = app->steps;
    for (int i = 0; i < steps && !s.failed; i++) {
        app->step(script, nranks);
        sk_script_flush(script);
    }
    sk_script_free(script);
    if (s.failed) {
        sk_stream_free(&s);
        return SK_NOMEM;
    }
    *out = s;
    return SK_OK;
}
