/* select.c: the one place where an algorithm is chosen: the forced one, the first of which a rule
 * holds, or any that fits. Also for the parts of algorithms with leaders. */
#include "select/select.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/word.h"
#include "neighbor/neighborhood.h"
#include "select/rules.h"

static const char *const coll_vars[] = {
#define COLL(ID, name, bytes) "SKEIN_" #ID,
#include "coll/colls.def"
#undef COLL
    NULL};

enum { CANDIDATES = 15 };

/* The algorithms of a collective, in the order of the table, and NULL; and their places there. */
typedef struct candidates {
    const sk_algo *algo[CANDIDATES + 1];
    int index[CANDIDATES];
} candidates;

struct sk_select {
    sk_chooser chooser; /* first: see choose_part */
    sk_settings *settings;
    sk_model model;
    sk_copy_prices prices; /* that the user gives; 0: none */
    candidates of[SK_NCOLLS];
    bool off[SK_NCOLLS];
    bool trial; /* forced algorithms serve, or none */
    const sk_algo *forced[SK_NCOLLS];
    sk_tuning *tuning; /* may be NULL */
    int machine;       /* of it */
};

static sk_status bad_algo(sk_coll coll, const char *name, char *err, size_t size)
{
    const char *words[64] = {"auto", "off"};
    size_t n = 2;
    for (const sk_algo *const *a = sk_algos(); *a && n < 63; a++)
        if ((*a)->coll == coll)
            words[n++] = (*a)->name;
    char hint[160];
    snprintf(err, size, "%s=%s: no such algorithm; %s", coll_vars[coll], name,
             sk_suggest(name, words, hint, sizeof hint));
    return SK_BADARG;
}

/* The variable of one collective; `entry` is NAME=VALUE. */
static sk_status take(sk_select *s, const char *entry, char *err, size_t size)
{
    size_t len = strcspn(entry, "=");
    const char *text = entry + len + (entry[len] == '=');
    if (!*text)
        return SK_OK;
    for (int i = 0; i < SK_NCOLLS; i++) {
        if (strlen(coll_vars[i]) != len || strncmp(coll_vars[i], entry, len) != 0)
            continue;
        s->off[i] = strcmp(text, "off") == 0;
        s->forced[i] = sk_algo_find((sk_coll)i, text);
        if (!s->off[i] && !s->forced[i] && strcmp(text, "auto") != 0)
            return bad_algo((sk_coll)i, text, err, size);
        if (s->forced[i] && strcmp(s->forced[i]->name, text) != 0)
            sk_settings_add_note(s->settings, "%s=%s: this algorithm is now called %s",
                                 coll_vars[i], text, s->forced[i]->name);
    }
    return SK_OK;
}

static const sk_algo *choose_part(const sk_chooser *x, const sk_call *c);

static void find_candidates(sk_select *s)
{
    int n[SK_NCOLLS] = {0};
    for (int i = 0; sk_algos()[i]; i++) {
        const sk_algo *a = sk_algos()[i];
        candidates *x = &s->of[a->coll];
        SK_ASSERT(n[a->coll] < CANDIDATES);
        x->algo[n[a->coll]] = a;
        x->index[n[a->coll]++] = i;
    }
}

int sk_select_algo_index(const sk_select *s, const sk_algo *a)
{
    const candidates *x = &s->of[a->coll];
    int i = 0;
    while (x->algo[i] != a)
        i++;
    return x->index[i];
}

sk_status sk_select_new(char *const *env, sk_select **out, char *err, size_t size)
{
    sk_status st = SK_NOMEM;
    sk_select *s = calloc(1, sizeof *s);
    if (!s) {
        snprintf(err, size, "%s", sk_status_text(st));
        goto out;
    }
    s->chooser.choose = choose_part;
    find_candidates(s);
    st = sk_settings_new(env, coll_vars, &s->settings, err, size);
    for (; st == SK_OK && env && *env; env++)
        st = take(s, *env, err, size);
    if (st == SK_OK) {
        const char *model = sk_settings_text(s->settings, SK_SET_MODEL);
        st = sk_model_parse(model, &s->model, err, size);
        if (strstr(model, "turn:"))
            sk_settings_add_note(s->settings, "SKEIN_MODEL: turn: is now called stage:");
    }
    char why[192];
    if (st == SK_OK && (st = sk_copy_prices_parse(sk_settings_text(s->settings, SK_SET_COPY),
                                                  &s->prices, why, sizeof why)) != SK_OK)
        snprintf(err, size, "SKEIN_COPY: %s", why);
out:
    if (st == SK_OK)
        *out = s;
    else
        sk_select_free(s);
    return st;
}

sk_status sk_select_trial(char *const *env, const char *entry, sk_select **out, char *err,
                          size_t size)
{
    size_t n = 0;
    while (env[n])
        n++;
    const char **more = calloc(n + 2, sizeof *more);
    if (!more) {
        snprintf(err, size, "%s", sk_status_text(SK_NOMEM));
        return SK_NOMEM;
    }
    memcpy(more, env, n * sizeof *more);
    more[n] = entry;
    sk_status st = sk_select_new((char *const *)more, out, err, size);
    free(more);
    if (st == SK_OK)
        (*out)->trial = true;
    return st;
}

void sk_select_free(sk_select *s)
{
    if (s) {
        sk_settings_free(s->settings);
        sk_tuning_free(s->tuning);
    }
    free(s);
}

const sk_settings *sk_select_settings(const sk_select *s)
{
    return s->settings;
}

const sk_model *sk_select_model(const sk_select *s)
{
    return &s->model;
}

void sk_select_measured(sk_select *s, const sk_network *n, const sk_copy_prices *p)
{
    if (sk_settings_given(s->settings, SK_SET_MODEL))
        return;
    sk_model_measured(&s->model, n, p);
}

void sk_select_prices(const sk_select *s, sk_copy_prices *p)
{
    for (int i = 0; i < SK_NPRICES; i++)
        if (s->prices.fs[i])
            p->fs[i] = s->prices.fs[i];
}

bool sk_select_enabled(const sk_select *s, sk_coll coll)
{
    return sk_settings_bool(s->settings, SK_SET_ENABLE) && !s->off[coll];
}

const sk_algo *sk_select_forced(const sk_select *s, sk_coll coll)
{
    return s->forced[coll];
}

/* NULL when the algorithm can serve the call, else why not. */
static const char *refusal(const sk_select *s, const sk_algo *a, const sk_call *c)
{
    if (a->fits && !a->fits(c))
        return "does not fit this call";
    /* The scratch of a part is counted in that of the whole call. */
    if (!c->sub && a->scratch && a->scratch(c) > sk_settings_int(s->settings, SK_SET_MEM))
        return "needs more scratch than SKEIN_MEM";
    return NULL;
}

/* The reason of a choice, put together while the rules are tried. */
typedef struct choice_reason {
    bool wanted;      /* the words; else all texts stay empty */
    char refused[64]; /* the first algorithm that could not serve, and why not */
    char size[160];   /* the last rule that failed for its size or number of ranks */
    char kind[160];   /* the last rule that failed for the kind of call */
} choice_reason;

static void note_refused(choice_reason *r, const sk_algo *a, const char *why)
{
    if (r->wanted && !r->refused[0])
        snprintf(r->refused, sizeof r->refused, "%s %s", a->name, why);
}

static void explain(const choice_reason *r, const sk_rule *rule, const char *holds, sk_choice *out)
{
    const char *part[4];
    int n = 0;
    size_t at = 0;
    if (!r->wanted)
        return;
    if (r->refused[0])
        part[n++] = r->refused;
    if (r->size[0] && !(rule && (rule->from || rule->ranks)))
        part[n++] = r->size;
    if (holds[0])
        part[n++] = holds;
    if (r->kind[0])
        part[n++] = r->kind;
    if (n == 0)
        part[n++] = "best for every size and number of ranks";
    for (int i = 0; i < n && at < sizeof out->why; i++)
        at += (size_t)snprintf(out->why + at, sizeof out->why - at, "%s%s", i ? ", " : "", part[i]);
}

/* The first rule of the algorithm that holds, or NULL. */
static const sk_rule *find_rule(const sk_select *s, const sk_algo *a, const sk_call *c,
                                choice_reason *r, char *why, size_t size)
{
    size = r->wanted ? size : 0;
    why[0] = '\0';
    for (int i = 0; i < SK_RULES_MAX; i++) {
        switch (sk_rule_check(&a->rule[i], s->settings, c, why, size)) {
        case SK_RULE_HOLDS:
            return &a->rule[i];
        case SK_RULE_WRONG_SIZE:
            if (r->wanted)
                snprintf(r->size, sizeof r->size, "%s", why);
            break;
        case SK_RULE_WRONG_KIND:
            if (r->wanted)
                snprintf(r->kind, sizeof r->kind, "%s", why);
            break;
        case SK_RULE_WRONG_MACHINE:
            break;
        }
    }
    return NULL;
}

/* False: no rule holds for an algorithm that can serve the call. */
static bool choose_by_rules(const sk_select *s, const sk_call *c, choice_reason *r, sk_choice *out)
{
    char why[sizeof out->why];
    for (const sk_algo *const *a = s->of[c->coll].algo; *a; a++) {
        const sk_rule *rule = find_rule(s, *a, c, r, why, sizeof why);
        const char *no = rule ? refusal(s, *a, c) : NULL;
        if (no)
            note_refused(r, *a, no);
        if (!rule || no)
            continue;
        out->algo = *a;
        explain(r, rule, why, out);
        return true;
    }
    return false;
}

/* The next best is any algorithm that can serve the call. */
static void choose_any(const sk_select *s, const sk_call *c, choice_reason *r, sk_choice *out)
{
    for (const sk_algo *const *a = s->of[c->coll].algo; *a; a++) {
        const char *no = refusal(s, *a, c);
        if (!no) {
            out->algo = *a;
            explain(r, NULL, "", out);
            return;
        }
        note_refused(r, *a, no);
    }
    if (r->wanted)
        snprintf(out->why, sizeof out->why, "no algorithm can serve this call%s%s",
                 r->refused[0] ? ": " : "", r->refused);
}

/* Neighbourhood collectives: the cheapest of the patterns that were made, if it is worthwhile. */
static void choose_by_price(const sk_select *s, const sk_call *c, choice_reason *r, sk_choice *out)
{
    bool distinct = c->coll != SK_NEIGHBOR_ALLGATHER && c->coll != SK_NEIGHBOR_ALLGATHERV;
    double best = 0, direct = 0;
    for (int i = 0; i < SK_NMETHODS; i++) {
        const sk_algo *a = sk_algo_find(c->coll, sk_method_get((sk_method_id)i)->name);
        const char *no = a ? refusal(s, a, c) : "is unknown";
        if (no)
            continue;
        double price = i == SK_METHOD_DIRECT && !sk_neighborhood_of(c)->machine
                           ? 0 /* nothing is known yet: it is the only one */
                           : sk_price(&s->model, sk_neighborhood_of(c)->machine,
                                      &sk_neighborhood_of(c)->load[i], distinct, sk_call_bytes(c));
        if (i == SK_METHOD_DIRECT)
            direct = price;
        bool instead = out->algo && best == direct; /* of direct, which comes first */
        if (!out->algo || price < (instead ? SK_WORTHWHILE * best : best)) {
            out->algo = a;
            best = price;
        }
    }
    const char *sep = r->refused[0] ? ", " : "";
    if (!r->wanted)
        return;
    if (!out->algo)
        snprintf(out->why, sizeof out->why, "no pattern can serve this call%s%s", sep, r->refused);
    else if (direct > best)
        snprintf(out->why, sizeof out->why, "%s%spriced at %.1f us, direct at %.1f us", r->refused,
                 sep, best * 1e6, direct * 1e6);
    else
        snprintf(out->why, sizeof out->why, "%s%sno pattern made is cheaper", r->refused, sep);
}

/* ---- by measured times ---- */

void sk_select_tune(sk_select *s, sk_tuning *t, int machine)
{
    sk_tuning_free(s->tuning);
    s->tuning = t;
    s->machine = machine;
    int n;
    sk_tuning_times(t, machine, &n); /* in order from now on: threads only read it */
}

/* Has the user set a bound that a rule of the collective names? Then the rules decide. */
static bool bounds_given(const sk_settings *set, sk_coll coll)
{
    for (const sk_algo *const *a = sk_algos(); *a; a++)
        for (int i = 0; (*a)->coll == coll && i < SK_RULES_MAX; i++) {
            const sk_rule *r = &(*a)->rule[i];
            const sk_setting bound[] = {r->from, r->below, r->otherwise, r->ranks, r->nodes};
            for (size_t k = 0; k < sizeof bound / sizeof *bound; k++)
                if (bound[k] && sk_settings_given(set, bound[k]))
                    return true;
        }
    return false;
}

bool sk_select_tuned(const sk_select *s, sk_coll coll, sk_form form)
{
    if (!s->tuning || s->forced[coll] || bounds_given(s->settings, coll))
        return false;
    if (sk_coll_reduces(coll) && sk_settings_bool(s->settings, SK_SET_REPRODUCIBLE))
        return false; /* another file would make other bits */
    return sk_tuning_has(s->tuning, s->machine, coll, form);
}

bool sk_select_tuned_call(const sk_call *c, sk_tuned *out)
{
    const sk_neighborhood *n = sk_neighborhood_of(c);
    const sk_machine *m = n ? n->machine : c->machine;
    if (c->sub || !m || (n && (n->some_idle || n->most < 1)))
        return false;
    *out = (sk_tuned){.coll = c->coll,
                      .form = n ? SK_BLOCKING : c->form, /* neighbourhoods have one plan */
                      .ranks = c->nranks,
                      .nodes = m->nnodes,
                      .neighbours = n ? n->most : 0,
                      .bytes = sk_coll_sized(c->coll) ? sk_call_bytes(c) : SK_TUNED_ANY_SIZE};
    return true;
}

typedef struct tuned_case {
    const sk_select *select;
    const sk_call *call; /* NULL: any will do */
} tuned_case;

static bool able(const void *ctx, const sk_algo *a)
{
    const tuned_case *k = ctx;
    return !k->call || !refusal(k->select, a, k->call);
}

/* `c` NULL: any algorithm of the collective will do. */
static bool advise(const sk_select *s, const sk_tuned *call, const sk_call *c, bool words,
                   sk_choice *out)
{
    sk_advice x;
    tuned_case k = {s, c};
    char host[48] = "";
    if (!sk_select_tuned(s, call->coll, call->form) ||
        !sk_tuning_advise(s->tuning, s->machine, call, able, &k, &x))
        return false;
    *out = (sk_choice){.algo = x.algo, .host = x.host, .us = x.us};
    if (!words)
        return true;
    if (x.host_us > 0)
        snprintf(host, sizeof host, ", the host %.4g us", x.host_us);
    snprintf(out->why, sizeof out->why, "tuning file: %s %.4g us%s%s", x.algo->name, x.us, host,
             x.measured                         ? ""
             : call->bytes == SK_TUNED_ANY_SIZE ? ", over all sizes"
                                                : ", interpolated");
    return true;
}

bool sk_select_tuned_choice(const sk_select *s, const sk_tuned *call, sk_choice *out)
{
    return advise(s, call, NULL, true, out);
}

static bool choose_tuned(const sk_select *s, const sk_call *c, bool words, sk_choice *out)
{
    sk_tuned call;
    return sk_select_tuned_call(c, &call) && advise(s, &call, c, words, out);
}

/* Forced, by measured times, by rules, by price, or any. */
static void choose_first(const sk_select *s, const sk_call *c, bool words, sk_choice *out)
{
    choice_reason r;
    r.wanted = words;
    r.refused[0] = r.size[0] = r.kind[0] = '\0';
    const sk_algo *forced = s->forced[c->coll];
    const char *no = forced ? refusal(s, forced, c) : NULL;
    *out = (sk_choice){0};
    if (forced && !no) {
        out->algo = forced;
        snprintf(out->why, sizeof out->why, "%s=%s", coll_vars[c->coll], forced->name);
        return;
    }
    if (forced)
        snprintf(r.refused, sizeof r.refused, "forced %s %s", forced->name, no);
    if (forced && s->trial && !c->sub) {
        snprintf(out->why, sizeof out->why, "%s", r.refused);
        return;
    }
    if (choose_tuned(s, c, words, out) || choose_by_rules(s, c, &r, out))
        return;
    if (sk_coll_neighbor(c->coll))
        choose_by_price(s, c, &r, out);
    else
        choose_any(s, c, &r, out);
}

static bool on_one_node(const sk_algo *a)
{
    return a->rule[0].when == SK_WHEN_ONE_NODE;
}

/* The last one before the one chosen that nearly would have been, else the next one. */
const sk_algo *sk_select_other(const sk_select *s, const sk_call *c)
{
    sk_choice first;
    sk_call call = *c;
    choice_reason r = {.wanted = false};
    char why[1];
    const sk_algo *nearly = NULL;
    bool before = true;
    if (!call.chooser)
        call.chooser = &s->chooser;
    choose_first(s, &call, false, &first);
    if (!first.algo || s->forced[c->coll])
        return NULL;
    const sk_rule *rule = find_rule(s, first.algo, &call, &r, why, sizeof why);
    bool far = rule && sk_rule_holds_by_far(rule, s->settings, &call);
    for (const sk_algo *const *a = s->of[c->coll].algo; *a; a++) {
        before = before && *a != first.algo;
        if (*a == first.algo || refusal(s, *a, &call) || on_one_node(*a) != on_one_node(first.algo))
            continue;
        if (before && sk_rule_nearly_holds(&(*a)->rule[0], s->settings, &call))
            nearly = *a;
        if (!before && !far && !nearly && find_rule(s, *a, &call, &r, why, sizeof why))
            return *a;
    }
    return nearly;
}

static void choose(const sk_select *s, const sk_call *c, bool words, sk_choice *out)
{
    choose_first(s, c, words, out);
    const sk_algo *other = c->other && !c->sub ? sk_select_other(s, c) : NULL;
    if (!other)
        return;
    if (words)
        snprintf(out->why, sizeof out->why, "faster here than %s, which was tried",
                 out->algo->name);
    out->algo = other;
    out->host = false;
    out->us = 0;
}

const sk_chooser *sk_select_chooser(const sk_select *s)
{
    return &s->chooser;
}

static void choose_whole(const sk_select *s, const sk_call *c, bool words, sk_choice *out)
{
    /* SKEIN_GATHER=off does not concern the gather inside of an alltoall that Skein serves. */
    if (!c->sub && !sk_select_enabled(s, c->coll)) {
        bool all = !sk_settings_bool(s->settings, SK_SET_ENABLE);
        *out = (sk_choice){0};
        snprintf(out->why, sizeof out->why, "%s=off", all ? "SKEIN" : coll_vars[c->coll]);
        return;
    }
    sk_call with_parts = *c;
    if (!c->chooser)
        with_parts.chooser = &s->chooser;
    choose(s, &with_parts, words, out);
}

void sk_select_choose(const sk_select *s, const sk_call *c, sk_choice *out)
{
    choose_whole(s, c, false, out);
}

void sk_select_explain(const sk_select *s, const sk_call *c, sk_choice *out)
{
    choose_whole(s, c, true, out);
}

static const sk_algo *choose_part(const sk_chooser *x, const sk_call *c)
{
    sk_choice choice;
    sk_select_choose((const sk_select *)x, c, &choice);
    return choice.algo;
}
