/* SPDX-License-Identifier: Apache-2.0 */
#include "run/workload/workload.h"

#include "base/array.h"
#include "base/columns.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "run/workload/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)1 << 30)

static const struct wf_workload_reader *const readers[] = {
#define WF_WORKLOAD_READER(name) &wf_workload_##name,
#include "run/workload/readers.def"
};

enum { N_READERS = sizeof(readers) / sizeof(readers[0]) };

/* ---- what readers share ---- */

char *wf_workload_line(struct wf_workload_reading *r)
{
    char *line = strsep(&r->rest, "\n");

    if (line != NULL) {
        r->line++;
        line[strcspn(line, "\r")] = '\0';
    }
    return line;
}

WF_PRINTF(2, 0)
static enum wf_status fault(struct wf_workload_reading *r, const char *fmt, va_list args)
{
    char words[WF_ERR_TEXT_MAX / 2];

    (void)vsnprintf(words, sizeof(words), fmt, args);
    return wf_err_set(r->err, WF_EINVAL, "%.120s:%" PRIu64 ": %s", r->path, r->line, words);
}

enum wf_status wf_workload_bad(struct wf_workload_reading *r, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    enum wf_status status = fault(r, fmt, args);
    va_end(args);
    return status;
}

enum wf_status wf_workload_lacks(struct wf_workload_reading *r, const char *fmt, ...)
{
    enum wf_status status = WF_OK;
    va_list args;

    if (r->options->skip) {
        r->out->n_skipped++;
        return WF_OK;
    }
    va_start(args, fmt);
    status = fault(r, fmt, args);
    va_end(args);
    (void)strncat(r->err->text, "; --skip leaves such jobs out",
                  sizeof(r->err->text) - strlen(r->err->text) - 1);
    return status;
}

void wf_workload_add(struct wf_workload_reading *r, const char *name, struct wf_queue_job job)
{
    struct wf_queue_jobs *jobs = &r->out->jobs;

    r->out->n_unlimited += job.requested == 0 ? 1 : 0;
    r->out->n_cut += job.requested > 0 && job.run > job.requested ? 1 : 0;
    job.requested = job.requested > 0 ? job.requested : job.run > 0 ? job.run : 1;
    job.name = wf_text_safe(wf_text_make("%.64s", name));
    WF_GROW(r->lines, jobs->n, r->lines_capacity);
    r->lines[jobs->n] = r->line;
    WF_PUSH(jobs->items, jobs->n, jobs->capacity, job);
}

bool wf_workload_seconds(const char *text, int64_t *us)
{
    const double most = 1e10, million = 1e6;
    double seconds;

    if (wf_parse_real(text, &seconds, NULL) != WF_OK || seconds < 0 || seconds > most) {
        return false;
    }
    *us = llround(seconds * million);
    return true;
}

/* ---- checks ---- */

/* Leaves out jobs that are larger than the machine, or fails. */
static enum wf_status check_sizes(struct wf_workload_reading *r)
{
    struct wf_queue_jobs *jobs = &r->out->jobs;
    enum wf_status status = WF_OK;
    size_t kept = 0;

    for (size_t i = 0; i < jobs->n; i++) {
        struct wf_queue_job *job = &jobs->items[i];

        r->line = r->lines[i];
        if (job->nodes <= r->out->n_nodes || status != WF_OK) {
            jobs->items[kept++] = *job;
            continue;
        }
        status =
            wf_workload_lacks(r, "job %s needs %" PRIu32 " nodes, but the machine has %" PRIu32,
                              job->name, job->nodes, r->out->n_nodes);
        if (status != WF_OK) {
            jobs->items[kept++] = *job;
        } else {
            free(job->name);
        }
    }
    jobs->n = kept;
    return status;
}

static int by_submission(const void *a, const void *b)
{
    const struct wf_queue_job *x = a, *y = b;

    return WF_ORDER(x->submit, y->submit);
}

/* Times count from the first submission; sums of them must fit in 64 bits. */
static enum wf_status check_times(struct wf_workload_reading *r)
{
    struct wf_queue_jobs *jobs = &r->out->jobs;

    WF_SORT(jobs->items, jobs->n, by_submission);
    int64_t first = jobs->items[0].submit;
    int64_t sum = jobs->items[jobs->n - 1].submit - first;

    for (size_t i = 0; i < jobs->n; i++) {
        struct wf_queue_job *job = &jobs->items[i];

        job->submit -= first;
        if (sum > WF_QUEUE_TIME_MAX - job->requested) {
            return wf_err_set(r->err, WF_ELIMIT,
                              "%.120s: the requested times of all jobs together are more than "
                              "73,000 years",
                              r->path);
        }
        sum += job->requested;
        r->out->has_priorities =
            r->out->has_priorities || job->priority != jobs->items[0].priority;
    }
    return WF_OK;
}

static enum wf_status check(struct wf_workload_reading *r)
{
    if (r->out->n_nodes == 0) {
        return wf_err_set(r->err, WF_EUSAGE,
                          "%.120s does not say how many nodes the machine has; give --machine, "
                          "--topo or --nodes",
                          r->path);
    }
    WF_TRY(check_sizes(r));
    if (r->out->jobs.n == 0) {
        return wf_err_set(r->err, WF_EINVAL, "%.120s: no job in this file can be run", r->path);
    }
    if (r->out->jobs.n > WF_QUEUE_JOBS_MAX) {
        return wf_err_set(r->err, WF_ELIMIT, "%.120s: more than %d jobs", r->path,
                          WF_QUEUE_JOBS_MAX);
    }
    return check_times(r);
}

/* ---- the file ---- */

static enum wf_status read_text(struct wf_workload_reading *r)
{
    size_t i = 0;

    if (strlen(r->text) != r->size) {
        return wf_err_set(
            r->err, WF_EINVAL,
            "%.120s is no text: expected a workload in SWF, the output of sacct -P, "
            "or YAML; a compressed file has to be unpacked first",
            r->path);
    }
    while (i + 1 < N_READERS && !readers[i]->probe(r->path, r->text)) {
        i++;
    }
    r->out->format = readers[i]->name;
    r->rest = r->text;
    WF_TRY(readers[i]->read(r));
    return check(r);
}

enum wf_status wf_workload_read(const char *path, const struct wf_workload_options *options,
                                struct wf_workload *out, struct wf_err *err)
{
    struct wf_buf text = {.data = NULL};
    struct wf_workload_reading r = {.path = path, .options = options, .out = out, .err = err};

    *out = (struct wf_workload){.n_nodes = options->n_nodes, .per_node = options->per_node};
    enum wf_status status = wf_file_read(path, FILE_MAX, &text, err);
    if (status == WF_OK) {
        r.text = (char *)text.data;
        r.size = text.size;
        status = read_text(&r);
    }
    wf_buf_fini(&text);
    free(r.lines);
    if (status != WF_OK) {
        wf_workload_fini(out);
    }
    return status;
}

void wf_workload_fini(struct wf_workload *workload)
{
    wf_queue_jobs_fini(&workload->jobs);
}

void wf_workload_list(FILE *out)
{
    for (size_t i = 0; i < N_READERS; i++) {
        wf_columns_row(out, readers[i]->name, readers[i]->summary);
    }
}
