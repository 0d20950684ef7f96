/* SPDX-License-Identifier: Apache-2.0 */
/* The lists `iterations` and `regions`: when the ranks passed the marks of their programs. */
#include "run/document/document.h"

#include "base/result/doc.h"
#include "program/ops/source.h"

#include <string.h>

static struct wf_value *add_item(struct wf_value *list, const struct wf_document_jobs *jobs,
                                 uint32_t job)
{
    struct wf_value *item = wf_doc_section(list, NULL);

    if (jobs->n > 1) {
        wf_doc_count(item, "job", job);
    }
    return item;
}

static void add_mark(struct wf_value *list, const struct wf_document_jobs *jobs,
                     const struct wf_iteration_mark *mark)
{
    struct wf_value *item = add_item(list, jobs, mark->job);

    wf_doc_count(item, "number", mark->number);
    wf_doc_text(item, "at", mark->is_end ? "end" : "begin");
    wf_document_spread(item, "time_ps", &mark->time);
}

/* Adds the first iterations of each job, in order, and its last one if it is not among them. */
static void add_iterations(struct wf_value *result, const struct wf_document_jobs *jobs,
                           const struct wf_ranks_tally *tally)
{
    const struct wf_marks *marks = &tally->marks;
    struct wf_value *list = wf_doc_list(result, "iterations");
    uint64_t i = 0;

    for (uint32_t job = 0; job < jobs->n; job++) {
        for (; i < marks->n && marks->list[i].job == job; i++) {
            add_mark(list, jobs, &marks->list[i]);
        }
        for (int is_end = 0; is_end < 2; is_end++) {
            const struct wf_iteration_mark *last =
                &wf_tally_job(tally, job)->marks.last[is_end];
            if (last->time.n > 0 && last->number >= wf_marks_kept(jobs->n)) {
                add_mark(list, jobs, last);
            }
        }
    }
}

static void add_region(struct wf_value *item, const char *name, uint32_t number,
                       const struct wf_region_marks *region)
{
    wf_doc_count(item, "number", number);
    if (name != NULL) {
        wf_doc_text(item, "name", name);
    }
    wf_doc_count(item, "times", region->time.n);
    wf_doc_count(item, "first_entry_ps", (uint64_t)region->first);
    wf_doc_count(item, "last_exit_ps", (uint64_t)region->last);
    wf_doc_count(item, "total_ps",
                 region->time.sum_high == 0 ? region->time.sum_low : UINT64_MAX);
    wf_document_spread(item, "time_ps", &region->time);
}

static const char *region_name(const struct wf_source *source, uint32_t number)
{
    return source != NULL ? wf_source_name_of(source, WF_NAME_REGION, number) : NULL;
}

/* Lists the regions of a job that occurred, in order. A program that runs numbers its regions
 * as threads and processes come across them; such regions are sorted by name instead. */
static uint32_t order_regions(const struct wf_source *source,
                              const struct wf_region_marks *regions, uint32_t *order)
{
    bool by_name = source != NULL && source->live != NULL;
    uint32_t n = 0;

    for (uint32_t i = 0; i < WF_MARKS_REGIONS; i++) {
        if (regions[i].time.n == 0) {
            continue;
        }
        uint32_t at = n++;
        for (; by_name && at > 0 &&
               strcmp(region_name(source, order[at - 1]), region_name(source, i)) > 0;
             at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    return n;
}

static void add_regions(struct wf_value *result, const struct wf_document_jobs *jobs,
                        const struct wf_ranks_tally *tally)
{
    struct wf_value *list = wf_doc_list(result, "regions");
    uint32_t order[WF_MARKS_REGIONS];

    for (uint32_t job = 0; job < jobs->n; job++) {
        const struct wf_source *source = jobs->of[job].source;
        const struct wf_region_marks *regions = wf_tally_job(tally, job)->marks.regions;
        bool live = source != NULL && source->live != NULL;
        uint32_t n = order_regions(source, regions, order);

        for (uint32_t i = 0; i < n; i++) {
            add_region(add_item(list, jobs, job), region_name(source, order[i]),
                       live ? i : order[i], &regions[order[i]]);
        }
    }
}

void wf_document_marks(struct wf_value *result, const struct wf_document_jobs *jobs,
                       const struct wf_ranks_tally *tally)
{
    bool any = false;

    for (uint32_t job = 0; job < jobs->n; job++) {
        any |= wf_marks_any(&wf_tally_job(tally, job)->marks);
    }
    if (any) {
        add_iterations(result, jobs, tally);
        add_regions(result, jobs, tally);
    }
}
