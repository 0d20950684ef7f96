/* SPDX-License-Identifier: Apache-2.0 */
#include "program/gen/kernel_table.h"

#include "base/array.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const size_t bytes_max = (size_t)1 << 30;
enum { SIDE_MAX = 1 << 30, KERNELS_MAX = 1 << 22, PS_PER_US = 1000000 };

static const char *const kind_names[] = {"product", "attention", "attention_backward"};

void wf_gen_kernel_table_fini(struct wf_gen_kernel_table *table)
{
    free(table->kernels);
    *table = (struct wf_gen_kernel_table){.n = 0};
}

void wf_gen_kernel_table_add(struct wf_gen_kernel_table *table,
                             const struct wf_gen_kernel *kernel)
{
    WF_PUSH(table->kernels, table->n, table->capacity, *kernel);
}

double wf_gen_kernel_work(const struct wf_gen_kernel *kernel)
{
    double work = (double)kernel->batch * (double)kernel->rows * (double)kernel->columns *
                  (double)kernel->depth;

    return kernel->kind == WF_GEN_KERNEL_PRODUCT ? work : work * (double)kernel->rows;
}

/* ---- the table of a CSV file ---- */

enum column { OPERATION, BITS, BATCH, ROWS, COLUMNS, DEPTH, MICROS, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = {"operation", "bits",  "batch", "rows",
                                                    "columns",   "depth", "us"};
enum { CELLS_MAX = 32 };

struct csv {
    const char *path;
    unsigned line;
    int at[CELLS_MAX]; /* the column of a cell, or -1 */
    struct wf_err *err;
};

static char *trimmed(char *text)
{
    size_t n = 0;

    while (*text == ' ' || *text == '\t' || *text == '"') {
        text++;
    }
    for (n = strlen(text); n > 0 && strchr(" \t\r\"", text[n - 1]) != NULL; n--) {
        text[n - 1] = '\0';
    }
    return text;
}

static enum wf_status bad(const struct csv *csv, const char *what, char *cell)
{
    return wf_err_set(csv->err, WF_EINVAL, "%.128s:%u: %s, not '%.40s'", csv->path, csv->line,
                      what, wf_text_safe(cell));
}

static enum wf_status read_head(struct csv *csv, char *line)
{
    bool has[N_COLUMNS] = {[BITS] = true, [BATCH] = true};
    char *rest = line;

    for (int i = 0; i < CELLS_MAX; i++) {
        char *cell = rest != NULL ? trimmed(strsep(&rest, ",")) : NULL;
        csv->at[i] = -1;
        for (int c = 0; cell != NULL && c < N_COLUMNS; c++) {
            if (strcasecmp(cell, column_names[c]) == 0) {
                csv->at[i] = c;
                has[c] = true;
            }
        }
    }
    for (int c = 0; c < N_COLUMNS; c++) {
        if (!has[c]) {
            return wf_err_set(
                csv->err, WF_EINVAL,
                "%.128s: the first line has no column '%s'; a table of kernels has operation, "
                "rows, columns, depth, us, and may have bits and batch; a trace of PyTorch's "
                "profiler, unpacked, is read as well",
                csv->path, column_names[c]);
        }
    }
    return WF_OK;
}

static enum wf_status read_cell(struct csv *csv, enum column column, char *cell,
                                struct wf_gen_kernel *out)
{
    char *end = NULL;
    uint64_t *sides[] = {[BATCH] = &out->batch,
                         [ROWS] = &out->rows,
                         [COLUMNS] = &out->columns,
                         [DEPTH] = &out->depth};

    if (column == OPERATION) {
        for (int i = 0; i < WF_GEN_KERNEL_KINDS; i++) {
            if (strcasecmp(cell, kind_names[i]) == 0) {
                out->kind = (uint8_t)i;
                return WF_OK;
            }
        }
        return bad(csv, "operation is product, attention or attention_backward", cell);
    }
    errno = 0;
    if (column == MICROS) {
        double us = strtod(cell, &end);
        if (end == cell || *end != '\0' || !(us > 0) || us > 1e12) {
            return bad(csv, "us is a time above 0 in microseconds", cell);
        }
        out->ps = (int64_t)(us * PS_PER_US + 0.5);
        return WF_OK;
    }
    unsigned long long value = strtoull(cell, &end, 10);
    if (isdigit((unsigned char)*cell) == 0 || *end != '\0' || value == 0 || value > SIDE_MAX ||
        (column == BITS && value != 8 && value != 16)) {
        return bad(csv,
                   column == BITS ? "bits is 8 or 16" : "a side is a number from 1 to 2^30",
                   cell);
    }
    if (column == BITS) {
        out->bits = (uint8_t)value;
    } else {
        *sides[column] = value;
    }
    return WF_OK;
}

static enum wf_status read_row(struct csv *csv, char *line, struct wf_gen_kernel_table *table)
{
    struct wf_gen_kernel kernel = {.bits = 16, .batch = 1};
    bool has[N_COLUMNS] = {false};

    for (int i = 0; i < CELLS_MAX && line != NULL; i++) {
        char *cell = trimmed(strsep(&line, ","));
        bool is_optional = csv->at[i] == BITS || csv->at[i] == BATCH;
        if (csv->at[i] >= 0 && (*cell != '\0' || !is_optional)) {
            has[csv->at[i]] = true;
            WF_TRY(read_cell(csv, (enum column)csv->at[i], cell, &kernel));
        }
    }
    if (!has[OPERATION] || !has[ROWS] || !has[COLUMNS] || !has[DEPTH] || !has[MICROS]) {
        return wf_err_set(csv->err, WF_EINVAL, "%.128s:%u: the line has too few columns",
                          csv->path, csv->line);
    }
    if (table->n == KERNELS_MAX) {
        return wf_err_set(csv->err, WF_ELIMIT, "%.128s: more than %d lines", csv->path,
                          KERNELS_MAX);
    }
    wf_gen_kernel_table_add(table, &kernel);
    return WF_OK;
}

static enum wf_status read_csv(const char *path, char *text, struct wf_gen_kernel_table *table,
                               struct wf_err *err)
{
    struct csv csv = {.path = path, .err = err};
    bool has_head = false;

    while (text != NULL) {
        char *line = trimmed(strsep(&text, "\n"));
        csv.line++;
        if (*line == '\0' || *line == '#') {
            continue;
        }
        WF_TRY(has_head ? read_row(&csv, line, table) : read_head(&csv, line));
        has_head = true;
    }
    return WF_OK;
}

/* ---- shapes ---- */

static int by_shape(const void *a, const void *b)
{
    const struct wf_gen_kernel *x = a, *y = b;

    return 64 * WF_ORDER(x->kind, y->kind) + 32 * WF_ORDER(x->bits, y->bits) +
           16 * WF_ORDER(x->rows, y->rows) + 8 * WF_ORDER(x->columns, y->columns) +
           4 * WF_ORDER(x->depth, y->depth) + 2 * WF_ORDER(x->batch, y->batch);
}

static int by_shape_and_time(const void *a, const void *b)
{
    const struct wf_gen_kernel *x = a, *y = b;

    return 2 * by_shape(a, b) + WF_ORDER(x->ps, y->ps);
}

/* Leaves the median of the times of each shape. */
static void keep_medians(struct wf_gen_kernel_table *table)
{
    uint32_t kept = 0;

    WF_SORT(table->kernels, table->n, by_shape_and_time);
    for (uint32_t begin = 0, end = 0; begin < table->n; begin = end) {
        while (end < table->n && by_shape(&table->kernels[begin], &table->kernels[end]) == 0) {
            end++;
        }
        table->kernels[kept++] = table->kernels[begin + (end - begin) / 2];
    }
    table->n = kept;
}

enum wf_status wf_gen_kernel_table_read(const char *path, struct wf_gen_kernel_table *out,
                                        struct wf_err *err)
{
    struct wf_buf text = {.data = NULL};
    enum wf_status status = wf_file_read(path, bytes_max, &text, err);

    *out = (struct wf_gen_kernel_table){.n = 0};
    if (status == WF_OK) {
        char *begin = (char *)text.data + strspn((const char *)text.data, " \t\r\n");
        bool is_packed = text.size > 2 && text.data[0] == 0x1f && text.data[1] == 0x8b;
        status =
            is_packed
                ? wf_err_set(err, WF_EINVAL, "%.128s is packed; unpack it with gunzip", path)
            : *begin == '{' || *begin == '[' ? wf_gen_kernel_table_kineto(path, &text, out, err)
                                             : read_csv(path, (char *)text.data, out, err);
    }
    wf_buf_fini(&text);
    if (status == WF_OK && out->n == 0) {
        status =
            wf_err_set(err, WF_EINVAL,
                       "%.128s: no products or attention with their shapes; record a trace "
                       "with record_shapes=True, of GPU and CPU",
                       path);
    }
    keep_medians(out);
    return status;
}

static double distance(const struct wf_gen_kernel *a, const struct wf_gen_kernel *b)
{
    return fabs(log2((double)a->batch / (double)b->batch)) +
           fabs(log2((double)a->rows / (double)b->rows)) +
           fabs(log2((double)a->columns / (double)b->columns)) +
           fabs(log2((double)a->depth / (double)b->depth));
}

enum wf_gen_kernel_found wf_gen_kernel_table_find(const struct wf_gen_kernel_table *table,
                                                  struct wf_gen_kernel *wanted)
{
    const double near = 2; /* doublings of all sides */
    const struct wf_gen_kernel *best = NULL;
    double least = near;

    for (uint32_t i = 0; i < table->n; i++) {
        const struct wf_gen_kernel *kernel = &table->kernels[i];
        if (kernel->kind != wanted->kind || kernel->bits != wanted->bits) {
            continue;
        }
        double away = distance(kernel, wanted);
        if (away <= 0) {
            wanted->ps = kernel->ps;
            return WF_GEN_KERNEL_MEASURED;
        }
        if (best == NULL ? away <= least : away < least) {
            best = kernel;
            least = away;
        }
    }
    if (best == NULL) {
        return WF_GEN_KERNEL_MISSING;
    }
    double ps = (double)best->ps * (wf_gen_kernel_work(wanted) / wf_gen_kernel_work(best));
    wanted->ps = ps < (double)WF_TIME_MAX / 4 ? (int64_t)(ps + 0.5) : WF_TIME_MAX / 4;
    return WF_GEN_KERNEL_SCALED;
}
