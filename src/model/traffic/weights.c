/* SPDX-License-Identifier: Apache-2.0 */
#include "model/traffic/weights.h"

#include "base/array.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest weight, so that the sum of any file stays below 2^64. */
#define WEIGHT_MAX UINT64_C(0xffffffff)
enum { NUMBERS_MAX = 3 };
#define TEXT_MAX_BYTES ((size_t)1 << 30)

struct reader {
    const char *path;
    struct wf_buf text;
    char *rest; /* of the text, or null */
    unsigned line;
};

/* The caller calls reader_close(), also after an error. */
static enum wf_status reader_open(struct reader *reader, const char *path, struct wf_err *err)
{
    *reader = (struct reader){.path = path};
    WF_TRY(wf_file_read(path, TEXT_MAX_BYTES, &reader->text, err));
    reader->rest = wf_unconst(wf_text_past_mark((const char *)reader->text.data));
    if (memchr(reader->text.data, '\0', reader->text.size) != NULL) {
        return wf_err_set(err, WF_EINVAL, "%.200s: a NUL byte: this is no text file", path);
    }
    return WF_OK;
}

static void reader_close(struct reader *reader)
{
    wf_buf_fini(&reader->text);
}

static enum wf_status wrong_line(const struct reader *reader, const char *expected,
                                 struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL, "%.200s:%u: expected %s", reader->path, reader->line,
                      expected);
}

/* Reads the whole numbers of a line; -1 if there is anything else. */
static int parse_numbers(char *line, uint64_t *numbers)
{
    int n = 0;

    line[strcspn(line, "#")] = '\0';
    for (char *p = line + strspn(line, " \t\r"); *p != '\0'; p += strspn(p, " \t\r")) {
        char *end;
        errno = 0;
        if (n == NUMBERS_MAX || *p < '0' || *p > '9') {
            return -1;
        }
        numbers[n++] = strtoull(p, &end, 10);
        if (errno != 0 || strchr(" \t\r", *end) == NULL) {
            return -1;
        }
        p = end;
    }
    return n;
}

/* The next line with numbers; false at the end of the file, or on an error in *status. */
static bool reader_next(struct reader *reader, int wanted, const char *expected,
                        uint64_t *numbers, enum wf_status *status, struct wf_err *err)
{
    while (reader->rest != NULL && *reader->rest != '\0') {
        reader->line++;
        int n = parse_numbers(strsep(&reader->rest, "\n"), numbers);
        if (n == 0) {
            continue;
        }
        if (n != wanted || numbers[wanted - 1] > WEIGHT_MAX) {
            *status = wrong_line(reader, expected, err);
            return false;
        }
        return true;
    }
    return false;
}

/* ---- matrices ---- */

/* The destination `to` of a node. */
struct entry {
    uint32_t from, to;
    uint64_t weight; /* the sum of the node's weights up to this one */
};

struct wf_traffic_matrix {
    struct entry *entries; /* by node */
    size_t n;
    size_t *first; /* index of each node's first entry, n_nodes + 1 */
};

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->from != y->from) {
        return x->from < y->from ? -1 : 1;
    }
    return x->to < y->to ? -1 : x->to > y->to;
}

static enum wf_status read_entries(struct reader *reader, uint32_t n_nodes,
                                   struct wf_traffic_matrix *matrix, struct wf_err *err)
{
    enum wf_status status = WF_OK;
    uint64_t numbers[NUMBERS_MAX];
    size_t capacity = 0;

    while (reader_next(reader, 3, "'from to weight', weights below 4294967296", numbers,
                       &status, err)) {
        if (numbers[0] >= n_nodes || numbers[1] >= n_nodes) {
            char words[64];
            (void)snprintf(words, sizeof(words), "nodes from 0 to %" PRIu32, n_nodes - 1);
            return wrong_line(reader, words, err);
        }
        WF_PUSH(matrix->entries, matrix->n, capacity,
                (struct entry){(uint32_t)numbers[0], (uint32_t)numbers[1], numbers[2]});
    }
    return status;
}

static void index_entries(struct wf_traffic_matrix *matrix, uint32_t n_nodes)
{
    size_t at = 0;

    if (matrix->n > 0) {
        qsort(matrix->entries, matrix->n, sizeof(struct entry), compare);
    }
    matrix->first = wf_xcalloc((size_t)n_nodes + 1, sizeof(size_t));
    for (uint32_t node = 0; node < n_nodes; node++) {
        uint64_t sum = 0;
        matrix->first[node] = at;
        for (; at < matrix->n && matrix->entries[at].from == node; at++) {
            sum += matrix->entries[at].weight;
            matrix->entries[at].weight = sum;
        }
    }
    matrix->first[n_nodes] = at;
}

enum wf_status wf_traffic_matrix_read(const char *path, uint32_t n,
                                      struct wf_traffic_matrix **out, struct wf_err *err)
{
    struct reader reader;
    struct wf_traffic_matrix *matrix = wf_xcalloc(1, sizeof(*matrix));
    enum wf_status status = reader_open(&reader, path, err);

    WF_THEN(status, read_entries(&reader, n, matrix, err));
    reader_close(&reader);
    if (status == WF_OK && matrix->n == 0) {
        status =
            wf_err_set(err, WF_EINVAL, "%.200s: there are no lines 'from to weight'", path);
    }
    if (status != WF_OK) {
        wf_traffic_matrix_free(matrix);
        return status;
    }
    index_entries(matrix, n);
    *out = matrix;
    return WF_OK;
}

void wf_traffic_matrix_free(struct wf_traffic_matrix *matrix)
{
    if (matrix != NULL) {
        free(matrix->entries);
        free(matrix->first);
        free(matrix);
    }
}

int64_t wf_traffic_matrix_choose(const struct wf_traffic_matrix *matrix, uint32_t node,
                                 uint64_t random)
{
    size_t low = matrix->first[node], high = matrix->first[node + 1];

    if (low == high || matrix->entries[high - 1].weight == 0) {
        return -1;
    }
    uint64_t lot = wf_rng_below(random, matrix->entries[high - 1].weight);
    while (low + 1 < high) { /* find the first entry whose sum is above the lot */
        size_t middle = low + (high - low - 1) / 2;
        if (matrix->entries[middle].weight > lot) {
            high = middle + 1;
        } else {
            low = middle + 1;
        }
    }
    return matrix->entries[low].to;
}

/* ---- values ---- */

enum wf_status wf_traffic_weights_read(const char *path, struct wf_traffic_weights *out,
                                       struct wf_err *err)
{
    struct reader reader;
    uint64_t numbers[NUMBERS_MAX], sum = 0;
    struct wf_traffic_weights weights = {.n = 0};
    size_t n_values = 0, n_sums = 0; /* capacities */
    enum wf_status status = reader_open(&reader, path, err);

    while (status == WF_OK &&
           reader_next(&reader, 2, "'value weight', weights below 4294967296", numbers, &status,
                       err)) {
        WF_GROW(weights.values, weights.n, n_values);
        WF_GROW(weights.up_to, weights.n, n_sums);
        sum += numbers[1];
        weights.values[weights.n] = numbers[0];
        weights.up_to[weights.n++] = sum;
    }
    reader_close(&reader);
    if (status == WF_OK && weights.n == 0) {
        status = wf_err_set(err, WF_EINVAL, "%.200s: there are no lines 'value weight'", path);
    }
    if (status == WF_OK) {
        *out = weights;
    } else {
        wf_traffic_weights_free(&weights);
    }
    return status;
}

void wf_traffic_weights_free(struct wf_traffic_weights *weights)
{
    free(weights->values);
    free(weights->up_to);
    *weights = (struct wf_traffic_weights){.n = 0};
}

uint64_t wf_traffic_weights_choose(const struct wf_traffic_weights *weights, uint64_t random)
{
    uint64_t lot = wf_rng_below(random, weights->up_to[weights->n - 1]);
    size_t i = 0;

    while (weights->up_to[i] <= lot) {
        i++;
    }
    return weights->values[i];
}

double wf_traffic_weights_mean(const struct wf_traffic_weights *weights)
{
    double sum = 0;
    uint64_t before = 0;

    for (size_t i = 0; i < weights->n; i++) {
        sum += (double)weights->values[i] * (double)(weights->up_to[i] - before);
        before = weights->up_to[i];
    }
    return sum / (double)before;
}
