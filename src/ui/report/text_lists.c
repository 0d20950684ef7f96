/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a text report that are lists: jobs, regions, waits. */
#include "ui/report/phrase.h"

#include "base/text.h"

#include <inttypes.h>

enum { LABEL_WIDTH = 16, REGIONS_MAX = 12, WAITS_MAX = 3 };

static const struct wf_value *find_list(const struct wf_value *doc, const char *path)
{
    const struct wf_value *list = wf_doc_find(doc, path);

    return list != NULL && list->type == WF_VALUE_LIST && list->first != NULL ? list : NULL;
}

/* "rank 3", or "rank 3 of job 1". */
#define RANK "rank {rank:plain}[ of job {job:.0}]"

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
        (void)wf_phrase_fill(out, v, RANK " ({in|?}) {time_ps}");
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

        (void)wf_phrase_fill(&name, v, "number {number:plain}");
        (void)wf_phrase_fill(&phrase, v,
                             "[job {job:.0}: ]{first_entry_ps} to {last_exit_ps}, "
                             "{times:time|times}, {time_ps:spread}");
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
        struct wf_phrase phrase = {.used = 0};

        (void)wf_phrase_fill(&phrase, a, "{source|?} on {ranks:rank|ranks}: ");
        (void)wf_phrase_fill(&phrase, v,
                             "[{time_ps}, ]{messages:message|messages}, {bytes}"
                             "[; {slowdown:.2} times its time alone, {bytes_per_second:size}/s "
                             "instead of {alone_bytes_per_second:size}/s]");
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

        (void)wf_phrase_fill(&phrase, v, RANK);
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
