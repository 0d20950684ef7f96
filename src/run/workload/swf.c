/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Standard Workload Format of the Parallel Workloads Archive (Chapin et al., "Benchmarks and
 * standards for the evaluation of parallel job schedulers", JSSPP 1999): 18 numbers a line, -1 for
 * what is not known; comments begin with ';' and may have a header "; MaxNodes: 128".
 */
#include "run/workload/reader.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

enum {
    NUMBER,
    SUBMIT,
    WAIT,
    RUN,
    PROCS,
    CPU,
    MEMORY,
    ASKED_PROCS,
    ASKED_TIME,
    ASKED_MEMORY,
    STATUS,
    FIELDS = 18
};

/* Values of the field STATUS. */
enum { STATUS_PARTIAL_FIRST = 2, STATUS_PARTIAL_LAST = 4, STATUS_CANCELLED = 5 };

struct header {
    uint64_t nodes, procs;
};

/* The number after a word of the header; `before` if there is no sensible one. */
static uint64_t header_of(const char *line, const char *word, uint64_t before)
{
    const char *at = strstr(line, word);
    unsigned long long value = at != NULL ? strtoull(at + strlen(word), NULL, 10) : 0;

    return value > 0 && value <= WF_QUEUE_NODES_MAX ? value : before;
}

/* What the options leave open. */
static void take_header(struct wf_workload *out, const struct header *header)
{
    bool divides = header->nodes > 0 && header->procs % header->nodes == 0;

    if (out->per_node == 0) {
        out->per_node =
            divides && header->procs > 0 ? (uint32_t)(header->procs / header->nodes) : 1;
    }
    if (out->n_nodes == 0) {
        out->n_nodes = header->nodes > 0
                           ? (uint32_t)header->nodes
                           : (uint32_t)((header->procs + out->per_node - 1) / out->per_node);
    }
}

static enum wf_status take_job(struct wf_workload_reading *r, const double field[FIELDS],
                               char *const words[FIELDS])
{
    struct wf_workload *out = r->out;
    double procs = field[PROCS] > 0 ? field[PROCS] : field[ASKED_PROCS];
    struct wf_queue_job job = {.submit = 0};

    if (field[STATUS] >= STATUS_PARTIAL_FIRST && field[STATUS] <= STATUS_PARTIAL_LAST) {
        return WF_OK; /* parts of a job, which has a line of its own */
    }
    if (field[STATUS] == STATUS_CANCELLED && (field[RUN] <= 0 || procs <= 0)) {
        out->n_not_run++;
        return WF_OK;
    }
    if (!wf_workload_seconds(words[SUBMIT], &job.submit)) {
        return wf_workload_lacks(r, "field 2: job %.24s has no time of submission",
                                 words[NUMBER]);
    }
    if (!wf_workload_seconds(words[RUN], &job.run)) {
        return wf_workload_lacks(r, "field 4: job %.24s has no run time", words[NUMBER]);
    }
    if (procs < 1) {
        return wf_workload_lacks(r, "fields 5 and 8: job %.24s has no processors",
                                 words[NUMBER]);
    }
    if (procs > UINT32_MAX) {
        return wf_workload_bad(r, "job %.24s has more than 2^32 processors", words[NUMBER]);
    }
    job.nodes = (uint32_t)(((uint64_t)procs + out->per_node - 1) / out->per_node);
    if (field[ASKED_TIME] > 0 && !wf_workload_seconds(words[ASKED_TIME], &job.requested)) {
        return wf_workload_bad(r, "field 9: %.24s s are too long", words[ASKED_TIME]);
    }
    wf_workload_add(r, words[NUMBER], job);
    return WF_OK;
}

static enum wf_status take_line(struct wf_workload_reading *r, char *line)
{
    char *words[FIELDS], *rest = line, *word;
    double field[FIELDS];
    int n = 0;

    while ((word = strsep(&rest, " \t")) != NULL) {
        if (*word == '\0') {
            continue;
        }
        if (n == FIELDS) {
            return wf_workload_bad(
                r, "more than %d fields: this is not the Standard Workload Format", FIELDS);
        }
        if (wf_parse_real(word, &field[n], NULL) != WF_OK) {
            return wf_workload_bad(r, "field %d: '%.32s' is not a number", n + 1, word);
        }
        if (field[n] < 0 && field[n] != -1) {
            return wf_workload_bad(
                r, "field %d: %.32s is negative; -1 stands for what is not known", n + 1, word);
        }
        words[n++] = word;
    }
    if (n > 0 && n < FIELDS) {
        return wf_workload_bad(r, "%d fields, but a job of the Standard Workload Format has %d",
                               n, FIELDS);
    }
    return n > 0 ? take_job(r, field, words) : WF_OK;
}

static enum wf_status read(struct wf_workload_reading *r)
{
    struct header header = {.nodes = 0};
    bool in_header = true;
    char *line;

    while ((line = wf_workload_line(r)) != NULL) {
        line += strspn(line, " \t");
        if (*line == ';') {
            header.nodes = header_of(line, "MaxNodes:", header.nodes);
            header.procs = header_of(line, "MaxProcs:", header.procs);
            continue;
        }
        if (in_header && *line != '\0') {
            in_header = false;
            take_header(r->out, &header);
        }
        WF_TRY(take_line(r, line));
    }
    return WF_OK;
}

static bool probe(const char *path, const char *text)
{
    return true;
}

const struct wf_workload_reader wf_workload_swf = {
    .name = "swf",
    .summary =
        "Standard Workload Format of the Parallel Workloads Archive; any other text file",
    .probe = probe,
    .read = read,
};
