/* SPDX-License-Identifier: Apache-2.0 */
#include "run/import/tracer.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/ranks/tally.h"
#include "program/trace/reader.h"

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
    const char *words[WORDS_MAX];
    size_t lengths[WORDS_MAX];
    size_t n; /* at most WORDS_MAX, even if there are more */
};

struct lines {
    const char *at, *end;
    uint32_t number; /* of the line that was read last */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Reads the next line with words; false at the end of the text. */
static bool next_line(struct lines *lines, struct line *line)
{
    line->n = 0;
    while (line->n == 0 && lines->at < lines->end) {
        const char *newline = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
        const char *end = newline != NULL ? newline : lines->end;

        for (const char *at = lines->at; at < end && line->n < WORDS_MAX;) {
            const char *word = at;
            while (at < end && !is_blank(*at)) {
                at++;
            }
            if (at > word) {
                line->words[line->n] = word;
                line->lengths[line->n++] = (size_t)(at - word);
            }
            at += at < end ? 1 : 0;
        }
        lines->at = newline != NULL ? newline + 1 : lines->end;
        lines->number++;
    }
    return line->n > 0;
}

static char *copy_word(const struct line *line, size_t i)
{
    char *word = wf_xcalloc(line->lengths[i] + 1, 1);

    memcpy(word, line->words[i], line->lengths[i]);
    return word;
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
    size_t len = r->line.lengths[i];

    (void)snprintf(word, sizeof(word), "%.*s", (int)(len < 64 ? len : 64), r->line.words[i]);
    return wf_err_set(r->err, WF_EINVAL, "%.200s:%u: '%s' is not %s", r->tracer->label,
                      r->lines.number, wf_text_safe(word), expected);
}

/* Reads a word as a whole number up to `most`. */
static enum wf_status read_count(const struct reader *r, size_t i, uint32_t least,
                                 uint32_t most, const char *expected, uint32_t *out)
{
    uint64_t value = 0;

    for (size_t k = 0; k < r->line.lengths[i]; k++) {
        char c = r->line.words[i][k];
        if (c < '0' || c > '9' || value > most) {
            return bad_word(r, i, expected);
        }
        value = 10 * value + (uint64_t)(c - '0');
    }
    *out = (uint32_t)value;
    return value >= least && value <= most ? WF_OK : bad_word(r, i, expected);
}

static enum wf_status read_number(const struct reader *r, size_t i, double *out)
{
    char *word = copy_word(&r->line, i), *end = NULL;
    char first = word[0];

    *out = strtod(word, &end);
    bool good = *end == '\0' && isfinite(*out) &&
                (isdigit((unsigned char)first) != 0 || first == '-' || first == '.');
    free(word);
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
    size_t len = r->line.lengths[i];

    if (len > WORD_MAX || memchr(r->line.words[i], '\0', len) != NULL) {
        return bad_word(r, i, "the name of a file");
    }
    *out = len == 2 && memcmp(r->line.words[i], "NA", 2) == 0 ? NULL : copy_word(&r->line, i);
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
    (void)snprintf(expected, sizeof(expected), "a number of jobs from 1 to %d", WF_TALLY_JOBS);
    return read_count(r, 0, 1, WF_TALLY_JOBS, expected, &r->tracer->n_jobs);
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

    while (k < n && (r->line.lengths[0] != 1 || change_kinds[k].kind != letter)) {
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
    change->event = change_kinds[k].has_event ? copy_word(&r->line, 2) : NULL;
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
    struct reader reader = {
        .tracer = tracer, .lines = {.at = text, .end = text + size}, .err = err};

    tracer->label = wf_xstrdup(label);
    enum wf_status status = read_all(&reader);
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

    if (status == WF_OK) {
        status = wf_tracer_parse(path, (const char *)text.data, text.size, out, err);
    }
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
    char bytes[PROBE_MAX];
    struct line line = {.n = 0};
    size_t n = wf_file_head(path, bytes, sizeof(bytes));
    struct lines lines = {.at = bytes, .end = bytes + n};

    if (memchr(bytes, '\0', n) != NULL || !next_line(&lines, &line) || line.n != 1 ||
        !next_line(&lines, &line) || line.n != 1) {
        return false;
    }
    for (size_t i = 0; i < line.lengths[0]; i++) {
        if (line.words[0][i] < '0' || line.words[0][i] > '9') {
            return false;
        }
    }
    return true;
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
