/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/marks.h"

#include <string.h>

static void add_region(struct wf_region_marks *region, const struct wf_region_marks *cold)
{
    if (cold->time.n == 0) {
        return;
    }
    if (region->time.n == 0 || cold->first < region->first) {
        region->first = cold->first;
    }
    if (region->time.n == 0 || cold->last > region->last) {
        region->last = cold->last;
    }
    wf_stat_merge(&region->time, &cold->time);
}

void wf_marks_region(struct wf_job_marks *job, uint32_t number, int64_t left, int64_t time)
{
    struct wf_region_marks once = {.first = left - time, .last = left};

    if (number < WF_MARKS_REGIONS) {
        wf_stat_add(&once.time, time);
        add_region(&job->regions[number], &once);
    }
}

/* Less than 0 if a comes before b. */
static int compare(const struct wf_iteration_mark *a, const struct wf_iteration_mark *b)
{
    if (a->job != b->job) {
        return a->job < b->job ? -1 : 1;
    }
    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    return (int)a->is_end - (int)b->is_end;
}

/* Adds the times of a mark that is kept. */
static void add_mark(struct wf_marks *marks, const struct wf_iteration_mark *mark)
{
    uint64_t low = 0, high = marks->n;

    while (low < high) {
        uint64_t middle = (low + high) / 2;

        if (compare(&marks->list[middle], mark) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < marks->n && compare(&marks->list[low], mark) == 0) {
        wf_stat_merge(&marks->list[low].time, &mark->time);
        return;
    }
    if (marks->n == WF_MARKS_MAX) {
        return;
    }
    memmove(&marks->list[low + 1], &marks->list[low],
            (marks->n - low) * sizeof(marks->list[0]));
    marks->list[low] = *mark;
    marks->n++;
}

/* Only the last iteration counts. */
static void add_last(struct wf_iteration_mark *last, const struct wf_iteration_mark *mark)
{
    if (mark->time.n == 0 || (last->time.n > 0 && mark->number < last->number)) {
        return;
    }
    if (last->time.n == 0 || mark->number > last->number) {
        *last = *mark;
    } else {
        wf_stat_merge(&last->time, &mark->time);
    }
}

void wf_marks_pass(struct wf_marks *marks, struct wf_job_marks *job,
                   const struct wf_iteration_mark *mark, uint32_t kept, int64_t time)
{
    struct wf_iteration_mark once = {
        .job = mark->job, .number = mark->number, .is_end = mark->is_end};

    wf_stat_add(&once.time, time);
    if (once.number < kept) {
        add_mark(marks, &once);
    }
    add_last(&job->last[once.is_end], &once);
}

void wf_marks_renumber(struct wf_job_marks *job, const uint32_t numbers[WF_MARKS_REGIONS])
{
    struct wf_region_marks *regions = job->regions, before[WF_MARKS_REGIONS];

    memcpy(before, regions, sizeof(before));
    memset(regions, 0, sizeof(before));
    for (uint32_t i = 0; i < WF_MARKS_REGIONS; i++) {
        if (numbers[i] < WF_MARKS_REGIONS) {
            add_region(&regions[numbers[i]], &before[i]);
        }
    }
}

void wf_marks_merge(struct wf_marks *into, const struct wf_marks *from)
{
    for (uint64_t i = 0; i < from->n; i++) {
        add_mark(into, &from->list[i]);
    }
}

void wf_marks_merge_job(struct wf_job_marks *into, const struct wf_job_marks *from)
{
    for (uint32_t i = 0; i < WF_MARKS_REGIONS; i++) {
        add_region(&into->regions[i], &from->regions[i]);
    }
    add_last(&into->last[0], &from->last[0]);
    add_last(&into->last[1], &from->last[1]);
}

bool wf_marks_any(const struct wf_job_marks *job)
{
    bool any = job->last[0].time.n + job->last[1].time.n > 0;

    for (uint32_t i = 0; i < WF_MARKS_REGIONS; i++) {
        any |= job->regions[i].time.n > 0;
    }
    return any;
}
