/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/fields.h"
#include "program/trace/spool/writer.h"

#include <inttypes.h>

/* Writes one line per op, for spreadsheets and scripts. Columns that a kind of op does not use
 * are empty. */

/* The columns after rank and kind, and the member of the op that each shows. */
static const struct {
    const char *name;
    size_t offset;
    enum { UNSIGNED, SIGNED, WIDE, TIME, TRUTH, REDUCTION } type;
} columns[] = {
    {"peer", offsetof(struct wf_op, peer), UNSIGNED},
    {"tag", offsetof(struct wf_op, tag), SIGNED},
    {"comm", offsetof(struct wf_op, comm), UNSIGNED},
    {"bytes", offsetof(struct wf_op, bytes), WIDE},
    {"duration_ps", offsetof(struct wf_op, duration), TIME},
    {"request", offsetof(struct wf_op, request), UNSIGNED},
    {"count", offsetof(struct wf_op, count), UNSIGNED},
    {"root", offsetof(struct wf_op, root), UNSIGNED},
    {"reduction", offsetof(struct wf_op, reduction), REDUCTION},
    {"new_comm", offsetof(struct wf_op, new_comm), UNSIGNED},
    {"recv_peer", offsetof(struct wf_op, recv_peer), UNSIGNED},
    {"recv_tag", offsetof(struct wf_op, recv_tag), SIGNED},
    {"recv_bytes", offsetof(struct wf_op, recv_bytes), WIDE},
    {"recorded", offsetof(struct wf_op, recorded), TRUTH},
    {"matched_peer", offsetof(struct wf_op, matched_peer), UNSIGNED},
    {"matched_tag", offsetof(struct wf_op, matched_tag), SIGNED},
    {"outcome", offsetof(struct wf_op, outcome), UNSIGNED},
    {"counter0", offsetof(struct wf_op, counters[0]), WIDE},
    {"counter1", offsetof(struct wf_op, counters[1]), WIDE},
    {"counter2", offsetof(struct wf_op, counters[2]), WIDE},
    {"counter3", offsetof(struct wf_op, counters[3]), WIDE},
};

static const struct {
    const char *name;
    size_t offset;
} lists[] = {
    {"requests", offsetof(struct wf_op, requests)},
    {"outcomes", offsetof(struct wf_op, outcomes)},
    {"counts", offsetof(struct wf_op, counts)},
    {"recv_counts", offsetof(struct wf_op, recv_counts)},
    {"sources", offsetof(struct wf_op, sources)},
    {"destinations", offsetof(struct wf_op, destinations)},
};

enum {
    N_COLUMNS = sizeof(columns) / sizeof(columns[0]),
    N_LISTS = sizeof(lists) / sizeof(lists[0])
};

static void put_column(FILE *out, size_t column, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;

    switch (columns[column].type) {
    case UNSIGNED:
        if (narrow == WF_ANY_SOURCE) {
            (void)fputs("any", out);
        } else if (narrow == WF_PROC_NULL) {
            (void)fputs("none", out);
        } else {
            (void)fprintf(out, "%" PRIu32, narrow);
        }
        break;
    case SIGNED:
        (void)fprintf(out, "%" PRId32, (int32_t)narrow);
        break;
    case REDUCTION:
        (void)fputs(narrow == WF_REDUCE_UNKNOWN ? "" : wf_reduction_name(narrow), out);
        break;
    case TIME:
        (void)fprintf(out, "%" PRId64, (int64_t)value);
        break;
    case WIDE:
    case TRUTH:
        (void)fprintf(out, "%" PRIu64, value);
        break;
    }
}

static void put_list(FILE *out, const struct wf_op_array *array, const void *data, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t value = array->width == WF_FIELD_64 ? ((const uint64_t *)data)[i]
                                                     : ((const uint32_t *)data)[i];
        (void)fprintf(out, "%s%" PRIu64, i > 0 ? " " : "", value);
    }
}

static void put_op(FILE *out, const struct wf_op_parts *parts)
{
    const struct wf_op_layout *layout = parts->layout;

    for (size_t column = 0; column < N_COLUMNS; column++) {
        (void)fputc(',', out);
        for (uint32_t i = 0; i < layout->n_fields; i++) {
            if (layout->fields[i].offset == columns[column].offset) {
                put_column(out, column, parts->values[i]);
            }
        }
    }
    for (size_t list = 0; list < N_LISTS; list++) {
        (void)fputc(',', out);
        for (uint32_t i = 0; i < layout->n_arrays; i++) {
            if (layout->arrays[i].offset == lists[list].offset && parts->arrays[i] != NULL) {
                put_list(out, &layout->arrays[i], parts->arrays[i], parts->lengths[i]);
            }
        }
    }
}

static void put_rank(FILE *out, const struct wf_source *source, uint32_t rank)
{
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op_parts parts;
    struct wf_op op;

    while (ferror(out) == 0 && wf_source_next(source, rank, &cursor, &op)) {
        struct wf_group group = {.size = 0}; /* the length of its lists */
        if (!wf_source_group(source, rank, op.comm, &group)) {
            group.size = 0;
        }
        wf_op_take_apart(&op, group.size, &parts);
        (void)fprintf(out, "%" PRIu32 ",%s", rank, wf_op_name(op.kind));
        put_op(out, &parts);
        (void)fputc('\n', out);
    }
}

static enum wf_status write_ops(const struct wf_sheet *sheet, const struct wf_source *source,
                                struct wf_err *err)
{
    FILE *out = sheet->file;

    (void)fputs("rank,kind", out);
    for (size_t i = 0; i < N_COLUMNS; i++) {
        (void)fprintf(out, ",%s", columns[i].name);
    }
    for (size_t i = 0; i < N_LISTS; i++) {
        (void)fprintf(out, ",%s", lists[i].name);
    }
    (void)fputc('\n', out);
    for (uint32_t rank = 0; rank < source->n_ranks; rank++) {
        put_rank(out, source, rank);
    }
    return wf_source_check(source, err);
}

static const struct wf_spooled_format format = {
    .ops = &wf_csv_writer_ops, .sheet = WF_SHEET_FILE, .write = write_ops};

static enum wf_status create(const char *path, const struct wf_trace_writer_options *options,
                             struct wf_trace_writer **out, struct wf_err *err)
{
    return wf_spooled_create(&format, path, options, out, err);
}

const struct wf_trace_writer_ops wf_csv_writer_ops = {
    .name = "csv",
    .extension = ".csv",
    .summary = "a line per op, for spreadsheets",
    .lacks = "names of regions, calls and counters, members of communicators, recorded times, "
             "call sites and disturbances of compute times",
    .create = create,
    WF_SPOOLED_MEMBERS,
};
