/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/path_text.h"

#include "base/lookup.h"
#include "base/result/times.h"

#include <string.h>

enum { PARTS_MAX = 16, PARTS_SAID = 4 };

static double percent_of(const struct wf_value *doc, uint64_t part)
{
    uint64_t whole = wf_doc_get_count(doc, "critical_path.time_ps", 0);

    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

/* The largest shares first. */
static bool add_shares(const struct wf_value *doc, bool sentence, struct wf_phrase *out)
{
    const struct wf_result_path_time *const parts = wf_result_path_times;
    bool said[PARTS_MAX] = {false};
    int n = 0;

    for (; n < PARTS_SAID; n++) {
        const struct wf_result_path_time *most = NULL;
        uint64_t time = 0;
        for (size_t i = 0; parts[i].path != NULL && i < PARTS_MAX; i++) {
            uint64_t here = wf_doc_get_count(doc, parts[i].path, 0);
            if (!said[i] && here > time) {
                time = here;
                most = &parts[i];
            }
        }
        if (most == NULL || (n > 0 && percent_of(doc, time) < 0.05)) {
            break;
        }
        said[most - parts] = true;
        wf_phrase_add(out, "%s%.1f %% %s", n > 0 ? ", " : "", percent_of(doc, time),
                      sentence ? most->words : most->brief);
    }
    return n > 0;
}

static bool is_there(const struct wf_value *doc)
{
    return wf_doc_find(doc, "critical_path.shares") != NULL;
}

bool wf_writer_text_path(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *kept = wf_doc_find(doc, "critical_path.kept");

    if (kept != NULL && !kept->truth) {
        return wf_phrase_fill(out, doc,
                              "not kept; --path-memory {critical_path.memory_bytes} keeps it");
    }
    return is_there(doc) && add_shares(doc, false, out) &&
           wf_phrase_fill(out, doc, "; {critical_path.hops:hop|hops}");
}

static const struct {
    const char *change, *word;
} changes[] = {
    {"latency", "half the latency"},
    {"bandwidth", "twice the bandwidth"},
    {"compute", "processors twice as fast"},
};

static const char *change_text(const struct wf_value *item)
{
    const char *change = wf_doc_get_text(item, "change", "");
    const size_t n = sizeof(changes) / sizeof(changes[0]);
    size_t i = WF_LOOKUP_INDEX(changes, n, change);

    return i < n ? changes[i].word : change;
}

static bool is_run(const struct wf_value *item)
{
    return strcmp(wf_doc_get_text(item, "from", ""), "run") == 0;
}

static double saved(const struct wf_value *item)
{
    return wf_doc_get_real(item, "saved_percent", 0);
}

bool wf_writer_text_what_if(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *list = wf_doc_find(doc, "what_if");

    if (list == NULL || list->first == NULL) {
        return false;
    }
    for (const struct wf_value *v = list->first; v != NULL; v = v->next) {
        wf_phrase_add(out, "%s%s ", v == list->first ? "" : "; ", change_text(v));
        (void)wf_phrase_fill(out, v, "{time_ps}");
        wf_phrase_add(out, is_run(v) ? "" : " at best (path)");
    }
    return true;
}

bool wf_writer_text_recorded(const struct wf_value *doc, struct wf_phrase *out)
{
    uint64_t recorded = wf_doc_get_count(doc, "result.recorded_time_ps", 0);
    uint64_t predicted = wf_doc_get_count(doc, "result.predicted_time_ps", 0);
    const struct wf_value *compute = wf_doc_find(doc, "result.ranks.compute_ps.max");

    if (recorded == 0 || predicted == 0) {
        return false;
    }
    wf_phrase_time(out, recorded);
    wf_phrase_add(out, "; the prediction is %.1f %% of that",
                  100 * (double)predicted / (double)recorded);
    if (compute != NULL && (predicted < recorded / 2 || predicted / 2 > recorded)) {
        (void)wf_phrase_fill(
            out, compute,
            ": ranks compute for at most {:time}; the rest of the recorded time "
            "was spent in calls of MPI, whose times are predicted");
    }
    return true;
}

bool wf_explain_path(const struct wf_value *doc, struct wf_phrase *out)
{
    if (!is_there(doc)) {
        return false;
    }
    wf_phrase_add(out, "Its critical path is ");
    return add_shares(doc, true, out) && wf_phrase_fill(out, doc, ".");
}

/* Adds a sentence about the first item of a list, and its share of the path. */
static void add_first(const struct wf_value *doc, const char *path, const char *words,
                      struct wf_phrase *out)
{
    const struct wf_value *list = wf_doc_find(doc, path);

    if (list != NULL && list->first != NULL) {
        (void)wf_phrase_fill(out, list->first, words);
        wf_phrase_add(out, " (%.1f %%)",
                      percent_of(doc, wf_doc_get_count(list->first, "time_ps", 0)));
    }
}

bool wf_explain_path_places(const struct wf_value *doc, struct wf_phrase *out)
{
    if (!is_there(doc)) {
        return false;
    }
    (void)wf_phrase_fill(out, doc,
                         "The path goes from rank to rank {critical_path.hops:time|times}");
    add_first(doc, "critical_path.ranks", ", is longest on rank {rank:plain}", out);
    add_first(doc, "critical_path.calls", ", in {call|?}", out);
    add_first(doc, "critical_path.pairs", " and from rank {from:plain} to {to:plain}", out);
    wf_phrase_add(out, ".");
    return true;
}

bool wf_explain_what_if(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *list = wf_doc_find(doc, "what_if"), *best = NULL;

    if (list == NULL || list->first == NULL) {
        return false;
    }
    for (const struct wf_value *v = list->first; v != NULL; v = v->next) {
        best = best == NULL || saved(v) > saved(best) ? v : best;
    }
    wf_phrase_add(out,
                  "Of three possible changes, %s would help most: it would save %s%.1f %% (%s)",
                  change_text(best), is_run(best) ? "" : "at most ", saved(best),
                  is_run(best) ? "simulated" : "from the path");
    for (const struct wf_value *v = list->first; v != NULL; v = v->next) {
        if (v != best) {
            wf_phrase_add(out, ", %s %s%.1f %%", change_text(v), is_run(v) ? "" : "at most ",
                          saved(v));
        }
    }
    wf_phrase_add(out, ".");
    return true;
}

bool wf_explain_path_change(const struct wf_value *before, const struct wf_value *after,
                            struct wf_phrase *out)
{
    double growth = (double)wf_doc_get_count(after, "critical_path.time_ps", 0) -
                    (double)wf_doc_get_count(before, "critical_path.time_ps", 0);
    const struct wf_result_path_time *cause = NULL;
    double most = 0;

    if (!is_there(before) || !is_there(after) || growth == 0) {
        return false;
    }
    for (const struct wf_result_path_time *part = wf_result_path_times; part->path != NULL;
         part++) {
        double change = (double)wf_doc_get_count(after, part->path, 0) -
                        (double)wf_doc_get_count(before, part->path, 0);
        if (change / growth > most) {
            most = change / growth;
            cause = part;
        }
    }
    if (cause != NULL) {
        wf_phrase_add(out, "; %.0f %% of the difference of the critical paths is %s",
                      100 * (most < 1 ? most : 1), cause->words);
    }
    return cause != NULL;
}
