/* select.h: which algorithm serves a call, and why. Reads only what is equal on every rank. */
#ifndef SK_SELECT_H
#define SK_SELECT_H

#include "base/settings.h"
#include "coll/algo.h"
#include "neighbor/cost/model.h"
#include "select/tuning.h"

typedef struct sk_select sk_select; /* immutable once made, and tuned */

/* Settings and the collectives' variables (SKEIN_ALLREDUCE=auto|off|<algorithm>), checked against
 * the table. Errors as sk_settings_new. */
sk_status sk_select_new(char *const *env, sk_select **out, char *err, size_t size);
/* The same with one more entry, which forces an algorithm: calls that it cannot serve are the host's. */
sk_status sk_select_trial(char *const *env, const char *entry, sk_select **out, char *err,
                          size_t size);
void sk_select_free(sk_select *s);
const sk_settings *sk_select_settings(const sk_select *s);

const sk_model *sk_select_model(const sk_select *s); /* SKEIN_MODEL, or what was measured: */
void sk_select_measured(sk_select *s, const sk_network *n, const sk_copy_prices *p);

/* Replace the prices of copies that the user gives (SKEIN_COPY). */
void sk_select_prices(const sk_select *s, sk_copy_prices *p);

/* From now on calls are chosen by the measured times of one of its machines, where there are any: before the rules,
 * but after what the user sets for the collective. `t` belongs to the selection then. */
void sk_select_tune(sk_select *s, sk_tuning *t, int machine);

/* Are such calls tuned? Those of a form of which nothing was measured are by the times of blocking ones. */
bool sk_select_tuned(const sk_select *s, sk_coll coll, sk_form form);

/* The call as a tuning file has it, without a time; its size may be SK_TUNED_ANY_SIZE. False: not all ranks know its
 * neighbours. */
bool sk_select_tuned_call(const sk_call *c, sk_tuned *out);

/* Whether calls of this collective may be served at all (SKEIN, SKEIN_<COLLECTIVE>). */
bool sk_select_enabled(const sk_select *s, sk_coll coll);

/* The algorithm forced by SKEIN_<COLLECTIVE>, or NULL. */
const sk_algo *sk_select_forced(const sk_select *s, sk_coll coll);

/* The same choice for parts of a call: for sk_call.chooser. Lives as long as `s`. */
const sk_chooser *sk_select_chooser(const sk_select *s);

typedef struct sk_choice {
    const sk_algo *algo; /* NULL: the host MPI serves the call */
    bool host;           /* it serves the call, because it is faster; */
    double us;           /* the algorithm takes so long */
    char why[160];       /* in words, from sk_select_explain */
} sk_choice;

/* sk_algo_index, of an algorithm that may be chosen. */
int sk_select_algo_index(const sk_select *s, const sk_algo *a);

/* What the times advise for a neighbourhood that has no plan yet; false: nothing. */
bool sk_select_tuned_choice(const sk_select *s, const sk_tuned *call, sk_choice *out);

/* As if the one chosen could not: an algorithm of the same kind, on one node or between ranks, whose rule holds
 * or nearly holds. NULL: there is none. Of such a one sk_select_explain says so, if the call asks for it. */
const sk_algo *sk_select_other(const sk_select *s, const sk_call *c);

/* Sets the chooser for the time of the choice, where the call has none. */
void sk_select_choose(const sk_select *s, const sk_call *c, sk_choice *out);
void sk_select_explain(const sk_select *s, const sk_call *c, sk_choice *out);

#endif
