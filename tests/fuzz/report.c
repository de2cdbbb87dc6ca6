/* report.c: libFuzzer target: whatever bytes a report has, it is refused with a message, or its page, its comparison, its
 * text and its advice hold no markup but Skein's own. Each input lies in memory of exactly its length. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/page.h"
#include "report/text.h"

#define MUST(cond)                                                                                 \
    do {                                                                                           \
        if (!(cond))                                                                               \
            abort();                                                                               \
    } while (0)

static const char tags[] =
    " !DOCTYPE html head meta title style body header h1 h2 h3 p br nav a main dl dt dd div "
    "section "
    "ol ul li strong bdi figure figcaption svg path rect g i span details summary table caption "
    "thead tbody tr th td footer ";

/* Every < of a page begins a tag that Skein writes, and no attribute begins with "on". */
static void holds_own_tags(const char *page)
{
    char word[16];
    for (const char *c = strchr(page, '<'); c; c = strchr(c + 1, '<')) {
        size_t n = 0;
        const char *name = c[1] == '/' ? c + 2 : c + 1;
        while (n < sizeof word - 3 && strchr("!abcdefghijklmnopqrstuvwxyzDOCTYPE123", name[n]) &&
               name[n])
            n++;
        snprintf(word, sizeof word, " %.*s ", (int)n, name);
        MUST(n > 0 && strstr(tags, word));
        const char *end = strchr(c, '>'), *on = strstr(c, " on");
        MUST(end);
        MUST(!on || on > end || memchr(on, '"', (size_t)(end - on))); /* else it is in no quotes */
    }
    MUST(!strchr(page, '\x1b') && strstr(page, "</html>\n"));
}

static char *page_of(sk_arena *a, const sk_run_data *was, const sk_run_data *now)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    MUST(out);
    if (was)
        sk_page_compare(out, a, was, now);
    else
        sk_page_run(out, a, now);
    fclose(out);
    return text;
}

static void show(sk_arena *a, const sk_run_data *d)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    MUST(out);
    sk_text_run(out, a, d);
    sk_text_compare(out, a, d, d);
    sk_text_tips(out, a, d, &(sk_traced){.operations = 1});
    fclose(out);
    MUST(size > 0 && !strchr(text, '\x1b'));
    free(text);
    holds_own_tags(text = page_of(a, NULL, d));
    free(text);
    holds_own_tags(text = page_of(a, d, d));
    free(text);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len)
{
    char err[SK_RUN_ERR] = "", *exact = malloc(len ? len : 1);
    sk_arena *a = sk_arena_new();
    MUST(exact && a);
    memcpy(exact, data, len);
    sk_run_data *d = sk_run_data_parse(a, "run.json", exact, len, err);
    free(exact);
    if (d)
        show(a, d);
    else
        MUST(strstr(err, "; `skein run --report=FILE` writes one"));
    sk_arena_free(a);
    return 0;
}
