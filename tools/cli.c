/* cli.c: see cli.h. argp's own messages are switched off (ARGP_NO_ERRS), because they cannot name
 * the option that was probably meant. When argp fails, it calls the parser with ARGP_KEY_ERROR; the
 * word that it failed on is then found again from its position. */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/numbers.h"
#include "base/word.h"

enum { MAX_OPTIONS = 62 };

typedef struct parse_state {
    const sk_cli *cli;
    void *ctx;
    int status, first;
} parse_state;

bool sk_cli_error(const sk_cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", cli->command);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}

bool sk_cli_unknown(const sk_cli *cli, const char *what, const char *word, const char *const *valid)
{
    char hint[512];
    return sk_cli_error(cli, "no %s %s; %s", what, word,
                        sk_suggest(word, valid, hint, sizeof hint));
}

/* The option that a word --NAME or --NAME=VALUE names; NULL when there is none. */
static const struct argp_option *find_option(const sk_cli *cli, const char *name, size_t len)
{
    for (const struct argp_option *o = cli->options; o->name || o->key || o->doc; o++)
        if (o->name && strlen(o->name) == len && strncmp(o->name, name, len) == 0)
            return o;
    return NULL;
}

static void unknown_option(const sk_cli *cli, const char *word, size_t dashes, size_t len)
{
    const char *names[MAX_OPTIONS + 2] = {"help"};
    int n = 1;
    for (const struct argp_option *o = cli->options; o->name || o->key || o->doc; o++)
        if (o->name && n <= MAX_OPTIONS)
            names[n++] = o->name;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)len, word + dashes);
    const char *near = sk_near(name, names);
    sk_cli_error(cli, "no option %.*s; %s%s%s%s", (int)(dashes + len), word,
                 near ? "did you mean --" : "--help lists them", near ? near : "", near ? "?" : ".",
                 cli->stop_at_word ? " Options of the launcher go after it" : "");
}

/* argp stopped at argv[next - 1], or at argv[next] when that is a group of short options. */
static void explain_error(const sk_cli *cli, char **argv, int argc, int next)
{
    for (int i = next - 1; i <= next && i < argc; i++) {
        const char *word = argv[i];
        size_t dashes = strspn(word, "-"), len = strcspn(word + dashes, "=");
        bool value = word[dashes + len] == '=';
        const struct argp_option *o = find_option(cli, word + dashes, len);
        if (i > 0 && dashes > 0 && !o) {
            unknown_option(cli, word, dashes, len);
            return;
        }
        if (i > 0 && o && (value ? !o->arg : o->arg && next == argc)) {
            sk_cli_error(cli, value ? "--%s takes no value" : "--%s needs a value", o->name);
            return;
        }
    }
    sk_cli_error(cli, "the options are not understood; --help lists them");
}

static error_t take(int key, char *arg, struct argp_state *state)
{
    parse_state *p = state->input;
    if (key == ARGP_KEY_ERROR && p->status == SK_CLI_OK) {
        explain_error(p->cli, state->argv, state->argc, state->next);
        p->status = SK_CLI_WRONG;
    }
    if (key >= ARGP_KEY_END) /* INIT, SUCCESS and the like */
        return ARGP_ERR_UNKNOWN;
    if (key == ARGP_KEY_ARG && p->cli->stop_at_word) {
        p->first = state->next - 1;
        state->next = state->argc;
        return 0;
    }
    if (key == 'h') {
        sk_cli_help(p->cli, stdout);
        p->status = SK_CLI_HELP;
        return ECANCELED;
    }
    if (p->cli->take(p->ctx, key == ARGP_KEY_ARG ? SK_CLI_WORD : key, arg))
        return 0;
    p->status = SK_CLI_WRONG;
    return EINVAL;
}

/* The command's table with --help. argp sorts each group by name; where the table has no headings,
 * every row becomes a group of its own, which keeps the order. */
static struct argp make_argp(const sk_cli *cli, struct argp_option rows[MAX_OPTIONS + 2])
{
    bool headings = false;
    int n = 0;
    for (const struct argp_option *o = cli->options; (o->name || o->doc) && n < MAX_OPTIONS; o++) {
        headings = headings || !o->name;
        rows[n++] = *o;
    }
    rows[n] = (struct argp_option){
        .name = "help", .key = 'h', .doc = "print this text", .group = headings ? -1 : 0};
    rows[n + 1] = (struct argp_option){0};
    for (int i = 0; !headings && i <= n; i++)
        rows[i].group = i + 1;
    return (struct argp){.options = rows, .parser = take, .args_doc = cli->args, .doc = cli->about};
}

void sk_cli_help(const sk_cli *cli, FILE *out)
{
    struct argp_option rows[MAX_OPTIONS + 2];
    struct argp argp = make_argp(cli, rows);
    argp_help(&argp, out, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC,
              (char *)cli->command);
}

int sk_cli_parse(const sk_cli *cli, void *ctx, int argc, char **argv, int *first)
{
    struct argp_option rows[MAX_OPTIONS + 2];
    struct argp argp = make_argp(cli, rows);
    parse_state p = {.cli = cli, .ctx = ctx, .status = SK_CLI_OK, .first = argc};
    unsigned flags = ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_NO_EXIT | ARGP_IN_ORDER;
    error_t err = argp_parse(&argp, argc, argv, flags, NULL, &p);
    if (err && p.status == SK_CLI_OK) {
        sk_cli_error(cli, "%s", strerror(err));
        p.status = SK_CLI_WRONG;
    }
    if (first)
        *first = p.first;
    return p.status;
}

static const char *option_name(const sk_cli *cli, int key)
{
    for (const struct argp_option *o = cli->options; o->name || o->doc; o++)
        if (o->name && o->key == key)
            return o->name;
    return "";
}

bool sk_cli_number(const sk_cli *cli, int key, const char *value, int64_t lo, int64_t hi,
                   int64_t *out)
{
    int64_t n;
    if (!sk_read_number(value, true, &n) || n < lo || n > hi)
        return sk_cli_error(cli, "--%s takes a number from %" PRId64 " to %" PRId64 ", not %s",
                            option_name(cli, key), lo, hi, value);
    *out = n;
    return true;
}

bool sk_cli_numbers(const sk_cli *cli, int key, const char *value, int64_t lo, int64_t hi,
                    sk_numbers *out)
{
    char word[32];
    out->n = 0;
    while (*value) {
        value += strspn(value, ",");
        size_t len = strcspn(value, ",");
        if (len == 0)
            break;
        if (out->n == SK_CLI_LIST) {
            out->n = 0;
            break;
        }
        snprintf(word, sizeof word, "%.*s", (int)len, value);
        if (!sk_cli_number(cli, key, word, lo, hi, &out->v[out->n]))
            return false;
        out->n++;
        value += len;
    }
    return out->n > 0 || sk_cli_error(cli, "--%s takes 1 to %d numbers, separated by commas",
                                      option_name(cli, key), SK_CLI_LIST);
}

bool sk_cli_choose(const sk_cli *cli, const char *what, const char *value, const sk_strlist *valid,
                   sk_strlist *out)
{
    sk_strlist given = sk_strlist_new(valid->arena);
    sk_strlist_split(&given, value, ",");
    *out = sk_strlist_new(valid->arena);
    for (int i = 0; i < given.n; i++) {
        bool all = strcmp(given.v[i], "all") == 0;
        if (!all && !sk_strlist_has(valid, given.v[i]))
            return sk_cli_unknown(cli, what, given.v[i], (const char *const *)valid->v);
        for (int k = 0; k < valid->n; k++)
            if (all || strcmp(valid->v[k], given.v[i]) == 0)
                sk_strlist_add(out, valid->v[k]);
    }
    return out->n > 0 || sk_cli_error(cli, "no %s is given", what);
}
