/* conditions.c: see conditions.h. */
#include "bench/conditions.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *const sk_form_names[] = {"blocking", "nonblocking", "persistent", NULL};
const char *const sk_phase_names[] = {"warm", "cold", "life", "overlap", NULL};
const char *const sk_buffer_names[] = {"reused", "written", "fresh", NULL};

int sk_name_index(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

const char *sk_time_title(const sk_conditions *c, int i, char *buf, size_t size)
{
    static const char *const titles[SK_NPHASES][SK_TIMES] = {
        [SK_WARM] = {"one call", "back to back"},
        [SK_COLD] = {"calls 1 and 2", "calls 3 to "},
        [SK_LIFE] = {"made and freed", "with calls: "},
        [SK_OVERLAP] = {"start, wait", "start, compute, wait"},
    };
    bool fresh = c->phase == SK_COLD || c->phase == SK_LIFE;
    snprintf(buf, size, "%s", titles[c->phase][i]);
    if (i == 1 && fresh)
        snprintf(buf, size, "%s%d", titles[c->phase][i], c->calls);
    if (i == 1 && c->phase == SK_WARM && c->gap_us > 0)
        snprintf(buf, size, "%d us apart", c->gap_us);
    return buf;
}
