/* watch.h: what `skein run` learns from the ranks on its node (report/channel.h), and what it makes of
 * it when the job has ended: the report that no rank could write, and a note if Skein saw nothing. */
#ifndef SK_RUN_WATCH_H
#define SK_RUN_WATCH_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct sk_watch sk_watch;

/* How the job ended. */
typedef struct sk_job_end {
    int status; /* of waitpid */
    int signal; /* that this process got first; 0: none */
} sk_job_end;

/* Starts to listen, and puts the channel into the environment. NULL: it cannot, and nothing will be
 * known. */
sk_watch *sk_watch_new(sk_arena *a);

/* The job starts: removes an old report, which must not pass for the new one. */
void sk_watch_start(const sk_watch *w);
int sk_watch_fd(const sk_watch *w); /* readable: call sk_watch_read */
void sk_watch_read(sk_watch *w);

/* Writes the report if it is missing, and says so if Skein saw nothing. `words` is the command as the
 * user gave it. `others`: other watches may have seen what this one has not. */
void sk_watch_end(sk_watch *w, char *const *words, const sk_job_end *end, bool others);

#endif
