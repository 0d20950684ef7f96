/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a text report that are lists: jobs, regions, waits. */
#include "ui/report/phrase.h"

#include "base/text.h"
#include "base/units.h"

#include <inttypes.h>

enum { LABEL_WIDTH = 16, REGIONS_MAX = 12, WAITS_MAX = 3 };

static const struct wf_value *find_list(const struct wf_value *doc, const char *path)
{
    const struct wf_value *list = wf_doc_find(doc, path);

    return list != NULL && list->type == WF_VALUE_LIST && list->first != NULL ? list : NULL;
}

/* "rank 3", or "rank 3 of job 1". */
static void add_rank(struct wf_phrase *out, const struct wf_value *item)
{
    const struct wf_value *job = wf_doc_find(item, "job");

    wf_phrase_add(out, "rank %" PRIu64, wf_doc_get_count(item, "rank", 0));
    if (job != NULL) {
        wf_phrase_add(out, " of job %" PRIu64, job->count);
    }
}

/* The iterations of one job: their number and mean time, from first begin to last end. */
static bool add_iterations(const struct wf_value *list, uint64_t job, struct wf_phrase *out)
{
    uint64_t begin = UINT64_MAX, end = 0, n = 0;

    for (const struct wf_value *v = list->first; v != NULL; v = v->next) {
        uint64_t time = wf_doc_get_count(v, "time_ps.mean", 0);
        uint64_t number = wf_doc_get_count(v, "number", 0);

        if (wf_doc_get_count(v, "job", 0) != job) {
            continue;
        }
        begin = time < begin ? time : begin;
        end = time > end ? time : end;
        if (wf_doc_get_text(v, "at", "")[0] == 'e' && number >= n) {
            n = number + 1; /* the document does not list all */
        }
    }
    if (n == 0) {
        return false;
    }
    wf_phrase_count(out, n);
    wf_phrase_add(out, ", ");
    wf_phrase_time(out, (end - begin) / n);
    wf_phrase_add(out, " each on average");
    return true;
}

bool wf_writer_text_iterations(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *list = find_list(doc, "result.iterations");
    uint64_t job = UINT64_MAX;
    bool any = false;

    for (const struct wf_value *v = list != NULL ? list->first : NULL; v != NULL; v = v->next) {
        bool several = wf_doc_find(v, "job") != NULL;

        if (wf_doc_get_count(v, "job", 0) == job) {
            continue;
        }
        job = wf_doc_get_count(v, "job", 0);
        if (several) {
            wf_phrase_add(out, "%sjob %" PRIu64 ": ", any ? "; " : "", job);
        }
        any |= add_iterations(list, job, out);
    }
    return any;
}

bool wf_writer_text_waits(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *list = find_list(doc, "result.top_waits");
    uint64_t min = wf_doc_get_count(doc, "result.ranks.wait_ps.min", 0);
    int n = 0;

    /* If all ranks wait equally long, no rank is worth naming. */
    if (list == NULL || wf_doc_get_count(doc, "result.ranks.wait_ps.max", 0) == min) {
        return false;
    }
    for (const struct wf_value *v = list->first; v != NULL && n < WAITS_MAX; v = v->next, n++) {
        wf_phrase_add(out, "%s", n > 0 ? "; " : "");
        add_rank(out, v);
        wf_phrase_add(out, " (%s) ", wf_doc_get_text(v, "in", "?"));
        wf_phrase_time(out, wf_doc_get_count(v, "time_ps", 0));
    }
    return true;
}

static void write_regions(const struct wf_value *doc, FILE *out)
{
    const struct wf_value *list = find_list(doc, "result.regions");
    int n = 0;

    if (list == NULL) {
        return;
    }
    (void)fputs("\nRegions:\n", out);
    for (const struct wf_value *v = list->first; v != NULL && n < REGIONS_MAX;
         v = v->next, n++) {
        struct wf_phrase phrase = {.used = 0}, name = {.used = 0};
        const struct wf_value *job = wf_doc_find(v, "job");

        wf_phrase_add(&name, "number %" PRIu64, wf_doc_get_count(v, "number", 0));
        if (job != NULL) {
            wf_phrase_add(&phrase, "job %" PRIu64 ": ", job->count);
        }
        wf_phrase_time(&phrase, wf_doc_get_count(v, "first_entry_ps", 0));
        wf_phrase_add(&phrase, " to ");
        wf_phrase_time(&phrase, wf_doc_get_count(v, "last_exit_ps", 0));
        wf_phrase_add(&phrase, ", ");
        wf_phrase_number_of(&phrase, wf_doc_get_count(v, "times", 0), "time", "times");
        wf_phrase_add(&phrase, ", ");
        wf_phrase_spread(&phrase, wf_doc_find(v, "time_ps"));
        wf_text_print(out, "  %-*s  %s\n", LABEL_WIDTH - 2,
                      wf_doc_get_text(v, "name", name.text), phrase.text);
    }
}

static void write_jobs(const struct wf_value *doc, FILE *out)
{
    const struct wf_value *asked = find_list(doc, "scenario.jobs");
    const struct wf_value *list = find_list(doc, "result.jobs");
    uint64_t number = 0;

    if (asked == NULL || list == NULL) {
        return;
    }
    (void)fputs("\nJobs:\n", out);
    const struct wf_value *a = asked->first;
    for (const struct wf_value *v = list->first; v != NULL && a != NULL;
         v = v->next, a = a->next, number++) {
        const struct wf_value *time = wf_doc_find(v, "time_ps");
        struct wf_phrase phrase = {.used = 0};

        wf_phrase_add(&phrase, "%s on ", wf_doc_get_text(a, "source", "?"));
        wf_phrase_number_of(&phrase, wf_doc_get_count(a, "ranks", 0), "rank", "ranks");
        wf_phrase_add(&phrase, ": ");
        if (time != NULL) {
            wf_phrase_time(&phrase, time->count);
            wf_phrase_add(&phrase, ", ");
        }
        wf_phrase_number_of(&phrase, wf_doc_get_count(v, "messages", 0), "message", "messages");
        wf_phrase_add(&phrase, ", ");
        wf_phrase_size(&phrase, wf_doc_get_count(v, "bytes", 0));
        if (wf_doc_find(v, "slowdown") != NULL) {
            char beside[WF_UNITS_TEXT_MAX], alone[WF_UNITS_TEXT_MAX];
            wf_phrase_add(
                &phrase, "; %.2f times its time alone, %s/s instead of %s/s",
                wf_doc_get_real(v, "slowdown", 1),
                wf_human_size((uint64_t)wf_doc_get_real(v, "bytes_per_second", 0), beside),
                wf_human_size((uint64_t)wf_doc_get_real(v, "alone_bytes_per_second", 0),
                              alone));
        }
        (void)fprintf(out, "  %2" PRIu64 "  %s\n", number, phrase.text);
    }
}

/* What the ranks of a deadlocked program wait for. */
static void write_waiting(const struct wf_value *doc, FILE *out)
{
    const struct wf_value *list = find_list(doc, "result.waiting_tasks");
    uint64_t total = wf_doc_get_count(doc, "result.waiting.count", 0);
    uint64_t shown = 0;

    if (list == NULL) {
        list = find_list(doc, "result.waiting.ranks");
    }
    if (list == NULL) {
        return;
    }
    (void)fprintf(out, "\n%" PRIu64 " %s not finished:\n", total,
                  total == 1 ? "rank has" : "ranks have");
    for (const struct wf_value *v = list->first; v != NULL; v = v->next) {
        struct wf_phrase phrase = {.used = 0};

        add_rank(&phrase, v);
        wf_text_print(out, "  %s %s\n", phrase.text, wf_doc_get_text(v, "waits", "waits"));
        shown++;
    }
    if (shown < total) {
        (void)fprintf(out, "  and %" PRIu64 " more\n", total - shown);
    }
}

void wf_writer_text_lists(const struct wf_value *doc, FILE *out)
{
    write_jobs(doc, out);
    write_regions(doc, out);
    write_waiting(doc, out);
}
