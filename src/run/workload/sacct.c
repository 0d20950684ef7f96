/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slurm's accounting, as "sacct -P" prints it: a line with the names of the columns, then a line
 * for each job and each of its steps, with '|' between the fields. Times are local ones; they are
 * taken as they are, so that an hour is lost or gained where the clocks change.
 */
#include "run/workload/reader.h"

#include "base/lookup.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum column {
    ID,
    SUBMIT,
    START,
    END,
    ELAPSED,
    ELAPSED_RAW,
    LIMIT,
    LIMIT_RAW,
    NODES,
    NODES_ASKED,
    PRIORITY,
    STATE,
    COLUMNS
};

static const char *const names[COLUMNS] = {
    [ID] = "JobID",          [SUBMIT] = "Submit",
    [START] = "Start",       [END] = "End",
    [ELAPSED] = "Elapsed",   [ELAPSED_RAW] = "ElapsedRaw",
    [LIMIT] = "Timelimit",   [LIMIT_RAW] = "TimelimitRaw",
    [NODES] = "NNodes",      [NODES_ASKED] = "ReqNodes",
    [PRIORITY] = "Priority", [STATE] = "State",
};

enum { FIELDS_MAX = 256 };

struct table {
    int at[COLUMNS]; /* field of each column; -1: there is none */
    int n;
};

/* ---- values ---- */

/* "2024-05-01T12:00:00", or seconds since 1970 (SLURM_TIME_FORMAT=%s). */
static bool read_instant(const char *text, int64_t *us)
{
    struct tm parts = {.tm_year = 0};

    if (wf_workload_seconds(text, us)) {
        return true;
    }
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
    *us = (int64_t)timegm(&parts) * 1000000;
    return end != NULL && *end == '\0' && *us >= 0;
}

/* "[days-]hours:minutes:seconds", "minutes:seconds" with a fraction or without. */
static bool read_elapsed(const char *text, int64_t *us)
{
    const char *dash = strchr(text, '-');
    int64_t days = 0, sum = 0, part = 0;
    char *end;

    if (dash != NULL) {
        days = strtoll(text, &end, 10);
        if (end != dash || text[0] == '-' || days > 1000000) {
            return false;
        }
        text = dash + 1;
    }
    for (int i = 0; i < 3; i++) {
        char word[24];
        size_t length = strcspn(text, ":");

        (void)snprintf(word, sizeof(word), "%.*s", length < 20 ? (int)length : 20, text);
        if (!wf_workload_seconds(word, &part)) {
            return false;
        }
        if (__builtin_mul_overflow(sum, 60, &sum) || __builtin_add_overflow(sum, part, &sum)) {
            return false;
        }
        text += length;
        if (*text == '\0') {
            return i > 0 && !__builtin_add_overflow(days * 86400 * 1000000, sum, us);
        }
        text++;
    }
    return false;
}

/* ---- jobs ---- */

struct row {
    struct wf_workload_reading *r;
    const struct table *table;
    char *const *fields;
};

/* The field of a column; "" if the file has no such column. */
static const char *cell(const struct row *row, enum column column)
{
    int at = row->table->at[column];

    return at >= 0 ? row->fields[at] : "";
}

static enum wf_status take_run(const struct row *row, int64_t *run)
{
    int64_t start, end;

    if (*cell(row, ELAPSED_RAW) != '\0' ? wf_workload_seconds(cell(row, ELAPSED_RAW), run)
                                        : read_elapsed(cell(row, ELAPSED), run)) {
        return WF_OK;
    }
    if (*cell(row, ELAPSED) == '\0' && *cell(row, ELAPSED_RAW) == '\0' &&
        read_instant(cell(row, START), &start) && read_instant(cell(row, END), &end) &&
        end >= start) {
        *run = end - start;
        return WF_OK;
    }
    return wf_workload_bad(
        row->r, "job %.32s: Elapsed '%.32s' is no time; expected [days-]hours:minutes:seconds",
        cell(row, ID), cell(row, ELAPSED));
}

/* The limit in seconds; texts that are no time ("UNLIMITED", "Partition_Limit", "") mean no limit. */
static int64_t limit_of(const struct row *row)
{
    int64_t limit = 0;

    if (wf_workload_seconds(cell(row, LIMIT_RAW), &limit)) {
        return limit * 60; /* minutes */
    }
    return read_elapsed(cell(row, LIMIT), &limit) ? limit : 0;
}

/* Steps are "123.0" and "123.batch"; parts of a heterogeneous job "123+1" are jobs. */
static bool is_step(const char *id)
{
    return strchr(id, '.') != NULL;
}

static bool has_not_run(const char *state)
{
    static const char *const states[] = {"PENDING", "RUNNING", "REQUEUED", "SUSPENDED"};

    return WF_LOOKUP_AMONG(states, sizeof(states) / sizeof(states[0]), state) != NULL;
}

static enum wf_status take_job(const struct row *row)
{
    const char *id = cell(row, ID), *nodes = cell(row, NODES), *priority = cell(row, PRIORITY);
    struct wf_queue_job job = {.requested = limit_of(row)};
    uint64_t count = 0;

    if (is_step(id)) {
        return WF_OK;
    }
    if (has_not_run(cell(row, STATE))) {
        row->r->out->n_not_run++;
        return WF_OK;
    }
    WF_TRY(take_run(row, &job.run));
    if (strncmp(cell(row, STATE), "CANCELLED", strlen("CANCELLED")) == 0 && job.run == 0) {
        row->r->out->n_not_run++;
        return WF_OK;
    }
    if (!read_instant(cell(row, SUBMIT), &job.submit)) {
        return wf_workload_lacks(row->r, "job %.32s: Submit '%.32s' is no time", id,
                                 cell(row, SUBMIT));
    }
    if (wf_parse_count(nodes, &count, NULL) != WF_OK || count == 0) {
        nodes = cell(row, NODES_ASKED);
    }
    if (wf_parse_count(nodes, &count, NULL) != WF_OK || count == 0 || count > UINT32_MAX) {
        return wf_workload_lacks(row->r, "job %.32s: '%.32s' is no number of nodes", id, nodes);
    }
    job.nodes = (uint32_t)count;
    if (wf_parse_count(priority, &count, NULL) == WF_OK) {
        job.priority = count < INT32_MAX ? (int32_t)count : INT32_MAX;
    }
    wf_workload_add(row->r, id, job);
    return WF_OK;
}

/* ---- lines ---- */

/* Splits a line; the number of fields, or FIELDS_MAX + 1 if there are more. */
static int split(char *line, char *fields[FIELDS_MAX])
{
    char *rest = line, *field;
    int n = 0;

    while ((field = strsep(&rest, "|")) != NULL) {
        if (n == FIELDS_MAX) {
            return FIELDS_MAX + 1;
        }
        fields[n++] = field;
    }
    return n;
}

static enum wf_status take_names(struct wf_workload_reading *r, struct table *table, char *line)
{
    char *fields[FIELDS_MAX];

    table->n = split(line, fields);
    if (table->n > FIELDS_MAX) {
        return wf_workload_bad(r, "more than %d columns", FIELDS_MAX);
    }
    for (int c = 0; c < COLUMNS; c++) {
        table->at[c] = -1;
        for (int i = 0; i < table->n; i++) {
            table->at[c] = strcmp(fields[i], names[c]) == 0 ? i : table->at[c];
        }
    }
    bool has_run = table->at[ELAPSED] >= 0 || table->at[ELAPSED_RAW] >= 0 ||
                   (table->at[START] >= 0 && table->at[END] >= 0);
    if (table->at[ID] < 0 || table->at[SUBMIT] < 0 || !has_run ||
        (table->at[NODES] < 0 && table->at[NODES_ASKED] < 0)) {
        return wf_workload_bad(
            r, "JobID, Submit, Elapsed or Start and End, and NNodes are needed: sacct -a -X -P "
               "-o JobID,Submit,Start,End,Elapsed,Timelimit,NNodes,State,Priority");
    }
    return WF_OK;
}

static enum wf_status read(struct wf_workload_reading *r)
{
    char *line, *fields[FIELDS_MAX];
    struct table table;

    r->out->per_node = 1;
    WF_TRY(take_names(r, &table, wf_workload_line(r)));
    while ((line = wf_workload_line(r)) != NULL) {
        const struct row row = {.r = r, .table = &table, .fields = fields};

        if (*line == '\0') {
            continue;
        }
        int n = split(line, fields);
        if (n != table.n) {
            return wf_workload_bad(r, "%d fields, but the first line has %d names", n, table.n);
        }
        WF_TRY(take_job(&row));
    }
    return WF_OK;
}

static bool probe(const char *path, const char *text)
{
    size_t length = strcspn(text, "|\n");

    return text[length] == '|';
}

const struct wf_workload_reader wf_workload_sacct = {
    .name = "sacct",
    .summary = "Slurm's accounting: the output of sacct -a -X -P",
    .probe = probe,
    .read = read,
};
