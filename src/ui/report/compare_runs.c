/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/compare_runs.h"

#include "base/mem.h"
#include "base/quantile.h"
#include "ui/report/phrase.h"

#include <stdlib.h>
#include <string.h>

#define TIMES "result.uncertainty.times_ps"
#define NONE  "result.uncertainty.none"

enum { LOW = 5, HIGH = 95, TIMES_MAX = 1000 };

/* The predicted times of the first runs of a result in their order; -1 for those that did not end. A
 * result without uncertainty has its prediction alone. */
struct times {
    int64_t *values;
    size_t n;
    bool certain;
};

static struct times read_times(const struct wf_value *doc)
{
    const struct wf_value *list = wf_doc_find(doc, TIMES);
    struct times times = {.values = wf_xcalloc(TIMES_MAX, sizeof(*times.values)),
                          .certain = wf_doc_find(doc, NONE) != NULL};
    const struct wf_value *v = list != NULL && list->type == WF_VALUE_LIST ? list->first : NULL;

    for (; v != NULL && times.n < TIMES_MAX; v = v->next) {
        bool ended = v->type == WF_VALUE_COUNT && v->count <= INT64_MAX;
        times.values[times.n++] = ended ? (int64_t)v->count : -1;
    }
    if (times.certain) {
        times.values[0] = (int64_t)wf_doc_get_count(doc, "result.predicted_time_ps", 0);
        times.n = 1;
    }
    return times;
}

static bool same_text(const struct wf_value *a, const struct wf_value *b, const char *path)
{
    return strcmp(wf_doc_get_text(a, path, ""), wf_doc_get_text(b, path, "")) == 0;
}

static bool same_count(const struct wf_value *a, const struct wf_value *b, const char *path)
{
    return wf_doc_get_count(a, path, 0) == wf_doc_get_count(b, path, 0);
}

/* Whether the same settings are uncertain by the same percentages. */
static bool same_settings(const struct wf_value *a, const struct wf_value *b)
{
    const struct wf_value *x = wf_doc_find(a, "scenario.uncertainty");
    const struct wf_value *y = wf_doc_find(b, "scenario.uncertainty");

    x = x != NULL && x->type == WF_VALUE_SECTION ? x->first : NULL;
    y = y != NULL && y->type == WF_VALUE_SECTION ? y->first : NULL;
    for (; x != NULL && y != NULL; x = x->next, y = y->next) {
        if (strcmp(x->name, y->name) != 0 || x->type != y->type ||
            (x->type == WF_VALUE_REAL && (x->real < y->real || x->real > y->real)) ||
            (x->type == WF_VALUE_COUNT && x->count != y->count)) {
            return false;
        }
    }
    return x == NULL && y == NULL;
}

static bool are_paired(const struct wf_value *a, const struct wf_value *b)
{
    return same_text(a, b, "scenario.source") && same_count(a, b, "scenario.ranks") &&
           same_count(a, b, "scenario.seed") && same_count(a, b, "scenario.runs") &&
           same_settings(a, b);
}

/* The differences of runs, sorted; *n of them. The caller frees them. */
static int64_t *differences(const struct times *a, const struct times *b, bool paired,
                            size_t *n)
{
    int64_t *all = wf_xcalloc(paired ? a->n : a->n * b->n, sizeof(*all));

    *n = 0;
    for (size_t i = 0; i < a->n; i++) {
        for (size_t k = paired ? i : 0; k < (paired ? i + 1 : b->n); k++) {
            if (a->values[i] >= 0 && b->values[k] >= 0) {
                all[(*n)++] = b->values[k] - a->values[i];
            }
        }
    }
    wf_quantile_sort(all, *n);
    return all;
}

static void add_signed(struct wf_phrase *out, int64_t ps)
{
    wf_phrase_add(out, ps < 0 ? "-" : "+");
    wf_phrase_time(out, ps < 0 ? (uint64_t)-ps : (uint64_t)ps);
}

static void add_verdict(struct wf_phrase *out, const struct times *a, const struct times *b,
                        bool paired)
{
    size_t n = 0;
    int64_t *sorted = differences(a, b, paired, &n);

    int64_t low = n > 0 ? wf_quantile(sorted, n, LOW) : 0;
    int64_t high = n > 0 ? wf_quantile(sorted, n, HIGH) : 0;
    if (low != 0 || high != 0) {
        wf_phrase_add(out, "%s the uncertainty: the difference is ",
                      low > 0 || high < 0 ? "larger than" : "within");
        add_signed(out, low);
        wf_phrase_add(out, " .. ");
        add_signed(out, high);
        wf_phrase_add(out, " in 90 %% of %s of runs", paired ? "the pairs" : "all pairs");
        wf_phrase_add(out,
                      paired ? ", which drew the same numbers" : ", which are independent");
    }
    free(sorted);
}

void wf_compare_runs(const struct wf_value *base, const struct wf_value *other, FILE *out)
{
    struct times a = read_times(base), b = read_times(other);
    struct wf_phrase line = {.used = 0};

    if (a.n > 0 && b.n > 0 && a.certain && b.certain) {
        wf_phrase_add(&line, "no uncertainty is known of either");
    } else if (a.n > 0 && b.n > 0) {
        bool paired = !a.certain && !b.certain && a.n == b.n && are_paired(base, other);
        add_verdict(&line, &a, &b, paired);
    } else if (a.n > 0 || b.n > 0) {
        wf_phrase_add(&line, "the uncertainty of %s is not known; --runs finds it",
                      a.n > 0 ? "this result" : "the first result");
    }
    if (line.used > 0) {
        (void)fprintf(out, "  %s\n", line.text);
    }
    free(a.values);
    free(b.values);
}
