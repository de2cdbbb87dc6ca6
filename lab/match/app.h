/* app.h: models of the applications of the message-matching paper (apps.def), as one of their ranks
 * sees them. */
#ifndef SK_APP_H
#define SK_APP_H

#include "lab/match/timeline.h"

typedef struct sk_app {
    const char *name, *help;
    int steps; /* default number of steps */
    void (*step)(sk_timeline *t, uint32_t nranks);
} sk_app;

enum { SK_APP_MIN_RANKS = 8 };

const sk_app *sk_app_get(int i); /* NULL past the end */
const sk_app *sk_app_find(const char *name);

/* `steps` 0: the default of the application. SK_BADARG: too few ranks. */
sk_status sk_stream_app(const sk_app *app, uint32_t nranks, int steps, uint64_t seed,
                        sk_stream *out);

#endif
