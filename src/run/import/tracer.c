/* SPDX-License-Identifier: Apache-2.0 */
#include "run/import/tracer.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "program/trace/reader.h"
#include "run/scenario/scenario.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const double AMOUNT_MAX = 1e15;

enum { WORDS_MAX = 5, WORD_MAX = 1024, PROBE_MAX = 4096 };

/* ---- lines and words ---- */

/* A line that is not empty, cut into words. */
struct line {
    char *words[WORDS_MAX];
    size_t n; /* at most WORDS_MAX, even if there are more */
};

/* A text, which is changed as it is read. */
struct lines {
    char *left;
    uint32_t number; /* of the line that was read last */
};

/* Reads the next line with words; false at the end of the text. */
static bool next_line(struct lines *lines, struct line *line)
{
    line->n = 0;
    while (line->n == 0 && lines->left != NULL && *lines->left != '\0') {
        char *text = strsep(&lines->left, "\n"), *more = NULL;
        char *word = strtok_r(text, " \t\r", &more);

        for (; word != NULL && line->n < WORDS_MAX; word = strtok_r(NULL, " \t\r", &more)) {
            line->words[line->n++] = word;
        }
        lines->number++;
    }
    return line->n > 0;
}

/* ---- reading ---- */

struct reader {
    struct wf_tracer *tracer;
    struct lines lines;
    struct line line;
    struct wf_err *err;
};

static enum wf_status refuse_line(const struct reader *r, const char *expected)
{
    return wf_err_set(r->err, WF_EINVAL, "%.200s:%u: expected %s", r->tracer->label,
                      r->lines.number, expected);
}

static enum wf_status bad_word(const struct reader *r, size_t i, const char *expected)
{
    char word[65];

    (void)snprintf(word, sizeof(word), "%.64s", r->line.words[i]);
    return wf_err_set(r->err, WF_EINVAL, "%.200s:%u: '%s' is not %s", r->tracer->label,
                      r->lines.number, wf_text_safe(word), expected);
}

/* Reads a word as a whole number up to `most`. */
static enum wf_status read_count(const struct reader *r, size_t i, uint32_t least,
                                 uint32_t most, const char *expected, uint32_t *out)
{
    uint64_t value = 0;

    for (const char *c = r->line.words[i]; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || value > most) {
            return bad_word(r, i, expected);
        }
        value = 10 * value + (uint64_t)(*c - '0');
    }
    *out = (uint32_t)value;
    return value >= least && value <= most ? WF_OK : bad_word(r, i, expected);
}

static enum wf_status read_number(const struct reader *r, size_t i, double *out)
{
    const char *word = r->line.words[i];
    char first = word[0], *end = NULL;

    *out = strtod(word, &end);
    bool good = *end == '\0' && isfinite(*out) &&
                (isdigit((unsigned char)first) != 0 || first == '-' || first == '.');
    return good ? WF_OK : bad_word(r, i, "a number");
}

/* A time or a size. */
static enum wf_status read_amount(const struct reader *r, size_t i, double *out)
{
    WF_TRY(read_number(r, i, out));
    return *out >= 0 && *out < AMOUNT_MAX ? WF_OK : bad_word(r, i, "a number from 0 to 1e15");
}

/* A name of a file; *out is null for NA. */
static enum wf_status read_name(const struct reader *r, size_t i, char **out)
{
    const char *word = r->line.words[i];

    if (strlen(word) > WORD_MAX) {
        return bad_word(r, i, "the name of a file");
    }
    *out = strcmp(word, "NA") == 0 ? NULL : wf_xstrdup(word);
    return WF_OK;
}

static enum wf_status read_head(struct reader *r)
{
    if (!next_line(&r->lines, &r->line) || r->line.n != 1) {
        return refuse_line(r, "the name of the global map file, or NA");
    }
    WF_TRY(read_name(r, 0, &r->tracer->global_map));
    if (!next_line(&r->lines, &r->line) || r->line.n != 1) {
        return refuse_line(r, "the number of jobs");
    }
    char expected[64];
    (void)snprintf(expected, sizeof(expected), "a number of jobs from 1 to %d", WF_JOBS_MAX);
    return read_count(r, 0, 1, WF_JOBS_MAX, expected, &r->tracer->n_jobs);
}

static enum wf_status read_job(struct reader *r, struct wf_tracer_job *job)
{
    if (!next_line(&r->lines, &r->line) || r->line.n < 3 || r->line.n > 4) {
        return refuse_line(r, "a job: trace, map file or NA, number of ranks, iterations");
    }
    job->line = r->lines.number;
    job->iterations = 1;
    WF_TRY(read_name(r, 0, &job->trace));
    WF_TRY(job->trace != NULL ? WF_OK : bad_word(r, 0, "the name of a trace"));
    WF_TRY(read_name(r, 1, &job->map));
    WF_TRY(read_count(r, 2, 1, WF_RANKS_MAX, "a number of ranks", &job->ranks));
    return r->line.n < 4 ? WF_OK
                         : read_count(r, 3, 1, INT32_MAX, "a number of iterations, 1 or more",
                                      &job->iterations);
}

/* The kinds of changes: how many words their lines have, and whether the second is a job. */
static const struct {
    char kind;
    size_t n_words;
    bool has_job, has_event;
    const char *expected;
} change_kinds[] = {
    {'E', 4, true, true, "E <job> <event> <seconds>"},
    {'M', 4, true, false, "M <job> <limit> <bytes>"},
    {'S', 4, true, false, "S <job> <size> <bytes>"},
    {'T', 3, false, false, "T <limit> <seconds>"},
};

static enum wf_status read_change(struct reader *r, struct wf_tracer_change *change)
{
    size_t k = 0, n = sizeof(change_kinds) / sizeof(change_kinds[0]);
    char letter = (char)toupper((unsigned char)r->line.words[0][0]), expected[64];

    while (k < n && (r->line.words[0][1] != '\0' || change_kinds[k].kind != letter)) {
        k++;
    }
    if (k == n) {
        return bad_word(r, 0, "a change; expected E, M, S or T, after one line for each job");
    }
    if (r->line.n != change_kinds[k].n_words) {
        return refuse_line(r, change_kinds[k].expected);
    }
    *change = (struct wf_tracer_change){.kind = letter, .line = r->lines.number};
    if (change_kinds[k].has_job) {
        (void)snprintf(expected, sizeof(expected), "a job; the last one is %u",
                       r->tracer->n_jobs - 1);
        WF_TRY(read_count(r, 1, 0, r->tracer->n_jobs - 1, expected, &change->job));
    }
    if (!change_kinds[k].has_event) {
        WF_TRY(read_amount(r, r->line.n - 2, &change->limit));
    }
    WF_TRY(change_kinds[k].has_event ? read_number(r, r->line.n - 1, &change->number)
                                     : read_amount(r, r->line.n - 1, &change->number));
    change->event = change_kinds[k].has_event ? wf_xstrdup(r->line.words[2]) : NULL;
    return WF_OK;
}

static enum wf_status read_all(struct reader *r)
{
    struct wf_tracer *tracer = r->tracer;

    WF_TRY(read_head(r));
    tracer->jobs = wf_xcalloc(tracer->n_jobs, sizeof(*tracer->jobs));
    for (uint32_t i = 0; i < tracer->n_jobs; i++) {
        WF_TRY(read_job(r, &tracer->jobs[i]));
    }
    while (next_line(&r->lines, &r->line)) {
        if (tracer->n_changes == WF_TRACER_CHANGES_MAX) {
            return refuse_line(r, "fewer changes");
        }
        tracer->changes =
            wf_xrealloc(tracer->changes, tracer->n_changes + 1, sizeof(*tracer->changes));
        WF_TRY(read_change(r, &tracer->changes[tracer->n_changes]));
        tracer->n_changes++;
    }
    return WF_OK;
}

enum wf_status wf_tracer_parse(const char *label, const char *text, size_t size,
                               struct wf_tracer **out, struct wf_err *err)
{
    struct wf_tracer *tracer = wf_xcalloc(1, sizeof(*tracer));
    char *copy = wf_xcalloc(size + 1, 1);
    struct reader reader = {.tracer = tracer, .lines = {.left = copy}, .err = err};

    if (size > 0) {
        memcpy(copy, text, size);
    }
    tracer->label = wf_xstrdup(label);
    enum wf_status status =
        strlen(copy) == size
            ? read_all(&reader)
            : wf_err_set(err, WF_EINVAL, "%.200s: a NUL byte: this is no text file", label);
    free(copy);
    if (status == WF_OK) {
        *out = tracer;
    } else {
        wf_tracer_free(tracer);
    }
    return status;
}

enum wf_status wf_tracer_load(const char *path, struct wf_tracer **out, struct wf_err *err)
{
    struct wf_buf text = {.data = NULL};
    enum wf_status status = wf_file_read(path, WF_TRACER_BYTES_MAX, &text, err);

    WF_THEN(status, wf_tracer_parse(path, (const char *)text.data, text.size, out, err));
    wf_buf_fini(&text);
    return status;
}

void wf_tracer_free(struct wf_tracer *tracer)
{
    if (tracer == NULL) {
        return;
    }
    for (uint32_t i = 0; tracer->jobs != NULL && i < tracer->n_jobs; i++) {
        free(tracer->jobs[i].trace);
        free(tracer->jobs[i].map);
    }
    for (size_t i = 0; i < tracer->n_changes; i++) {
        free(tracer->changes[i].event);
    }
    free(tracer->jobs);
    free(tracer->changes);
    free(tracer->global_map);
    free(tracer->label);
    free(tracer);
}

/* ---- finding ---- */

/* Whether the file begins with a line of one word and a line with a number. */
static bool begins_as_config(const char *path)
{
    char bytes[PROBE_MAX + 1];
    struct line line = {.n = 0};
    size_t n = wf_file_head(path, bytes, PROBE_MAX);
    struct lines lines = {.left = bytes};

    bytes[n] = '\0';
    return strlen(bytes) == n && next_line(&lines, &line) && line.n == 1 &&
           next_line(&lines, &line) && line.n == 1 &&
           line.words[0][strspn(line.words[0], "0123456789")] == '\0';
}

static char *join(const char *directory, size_t len, const char *name)
{
    size_t name_len = strlen(name);
    char *path = wf_xmalloc(len + 1 + name_len + 1);

    memcpy(path, directory, len);
    path[len] = '/';
    memcpy(path + len + 1, name, name_len + 1);
    return path;
}

char *wf_tracer_find(const char *source)
{
    struct stat st;
    char *path = wf_xstrdup(source);

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        free(path);
        path = join(source, strlen(source), "tracer_config");
    }
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && begins_as_config(path)) {
        return path;
    }
    free(path);
    return NULL;
}

char *wf_tracer_path(const struct wf_tracer *tracer, const char *name)
{
    const char *slash = strrchr(tracer->label, '/');
    struct stat st;

    if (name[0] == '/' || slash == NULL) {
        return wf_xstrdup(name);
    }
    char *path = join(tracer->label, (size_t)(slash - tracer->label), name);
    if (stat(path, &st) != 0 && stat(name, &st) == 0) {
        free(path);
        return wf_xstrdup(name);
    }
    return path;
}
