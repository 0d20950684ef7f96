/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/trace_info.h"

#include "base/arith.h"
#include "base/result/result.h"
#include "base/text.h"
#include "base/units.h"
#include "program/trace/kit/records.h"
#include "program/trace/weft/graph.h"

#include <weft/weft.h>

#include <inttypes.h>
#include <stdarg.h>

#define INFO_SCHEMA "weft-info-1"

enum { RANKS_LISTED = 4096 };

static bool has_tasks(const struct wf_study_info *info)
{
    return info->trace->graph != NULL;
}

static bool recorded(const struct wf_study_info *info, uint32_t rank, int64_t *wall)
{
    return !has_tasks(info) && wf_source_wall(info->trace->source, rank, wall);
}

static void find_extremes(struct wf_study_info *info)
{
    info->least = info->facts.ranks[0];
    info->most = info->facts.ranks[0];
    info->longest_wall = -1;
    for (uint32_t rank = 0; rank < info->facts.n_ranks; rank++) {
        const struct wf_rank_facts *one = &info->facts.ranks[rank];
        int64_t wall = 0;

        info->least.compute = wf_min_i64(info->least.compute, one->compute);
        info->most.compute = wf_max_i64(info->most.compute, one->compute);
        info->least.n_ops = one->n_ops < info->least.n_ops ? one->n_ops : info->least.n_ops;
        info->most.n_ops = one->n_ops > info->most.n_ops ? one->n_ops : info->most.n_ops;
        if (recorded(info, rank, &wall)) {
            info->longest_wall = wf_max_i64(info->longest_wall, wall);
        }
    }
}

/* ---- text output ---- */

static void print_label(FILE *out, const char *label)
{
    (void)fprintf(out, "%-18s", label);
}

WF_PRINTF(3, 4) static void print_line(FILE *out, const char *label, const char *fmt, ...)
{
    va_list args;

    print_label(out, label);
    va_start(args, fmt);
    wf_text_vprint(out, fmt, args);
    va_end(args);
    (void)fputc('\n', out);
}

static void print_file(FILE *out, const struct wf_study_info *info)
{
    char size[WF_UNITS_TEXT_MAX], raw[WF_UNITS_TEXT_MAX];
    const struct wf_native_facts *native = &info->native;

    if (!info->is_native) {
        return;
    }
    print_label(out, "File");
    (void)fprintf(out, "%s in %" PRIu64 " %s", wf_human_size(native->n_bytes, size),
                  native->n_blocks, native->n_blocks == 1 ? "block" : "blocks");
    if (native->totals_known && native->n_bytes > 0 && native->totals.n_stored > 0) {
        (void)fprintf(out, ", %s before compression",
                      wf_human_size(native->totals.raw_bytes, raw));
    }
    if (native->totals_known && native->totals.n_stored > 0 &&
        native->totals.n_ops > native->totals.n_stored && !has_tasks(info)) {
        (void)fprintf(out, ", loops fold %.1f ops into one",
                      (double)native->totals.n_ops / (double)native->totals.n_stored);
    }
    (void)fputc('\n', out);
    if (native->creator != NULL) {
        print_line(out, "Made by", "%s", native->creator);
    }
}

static int64_t times_in_ps(uint64_t ns)
{
    return ns > INT64_MAX / 1000 ? INT64_MAX : (int64_t)ns * 1000;
}

static void print_times(FILE *out, const struct wf_study_info *info)
{
    char least[WF_UNITS_TEXT_MAX], most[WF_UNITS_TEXT_MAX];

    print_line(out, "Computing", "%s to %s in a %s", wf_human_time(info->least.compute, least),
               wf_human_time(info->most.compute, most), has_tasks(info) ? "PE" : "rank");
    if (info->longest_wall >= 0) {
        print_line(out, "Recorded time", "%s", wf_human_time(info->longest_wall, most));
    }
}

/* Adds up what the accelerators of all ranks did. */
static struct wf_trace_device all_devices(const struct wf_study_info *info)
{
    struct wf_trace_device all = {.n_streams = 0};

    for (uint32_t rank = 0; rank < info->facts.n_ranks; rank++) {
        const struct wf_trace_device *one = &info->trace->devices[rank];
        all.n_streams += one->n_streams;
        all.n_kernels += one->n_kernels;
        all.n_copies += one->n_copies;
        all.copied_bytes += one->copied_bytes;
        all.kernels += one->kernels;
        all.copies += one->copies;
        all.computing_kernels += one->computing_kernels;
        all.computing_copies += one->computing_copies;
    }
    return all;
}

static void print_devices(FILE *out, const struct wf_study_info *info)
{
    char time[WF_UNITS_TEXT_MAX], computing[WF_UNITS_TEXT_MAX], bytes[WF_UNITS_TEXT_MAX];

    if (info->trace->devices == NULL) {
        return;
    }
    struct wf_trace_device all = all_devices(info);
    print_line(out, "Kernels on GPUs",
               "%" PRIu64 " on %" PRIu32 " streams, %s in all, %s of it in computing",
               all.n_kernels, all.n_streams, wf_human_time(all.kernels, time),
               wf_human_time(all.computing_kernels, computing));
    print_line(out, "Copies of GPUs", "%" PRIu64 " of %s, %s in all, %s of it in computing",
               all.n_copies, wf_human_size(all.copied_bytes, bytes),
               wf_human_time(all.copies, time), wf_human_time(all.computing_copies, computing));
}

/* Prints how far apart the ranks began, if clocks were recorded. */
static void print_starts(FILE *out, const struct wf_study_info *info)
{
    char spread[WF_UNITS_TEXT_MAX], doubt[WF_UNITS_TEXT_MAX];

    if (!info->is_native || info->native.n_starts < 2) {
        return;
    }
    print_line(out, "Started within", "%s, %s%s",
               wf_human_time(times_in_ps(info->native.starts_ns), spread),
               info->native.doubt_ns > 0 ? "give or take " : "by the wall clocks of hosts",
               info->native.doubt_ns > 0
                   ? wf_human_time(times_in_ps(info->native.doubt_ns), doubt)
                   : "");
}

static void print_kinds(FILE *out, const struct wf_study_info *info)
{
    char bytes[WF_UNITS_TEXT_MAX];

    if (has_tasks(info)) {
        return;
    }
    (void)fprintf(out, "\n%-22s %14s %12s\n", "Operation", "Calls", "Bytes");
    for (uint32_t kind = 0; kind < WF_OP_KINDS; kind++) {
        uint64_t n = info->facts.n_by_kind[kind];
        if (n > 0) {
            uint64_t total = info->facts.bytes_by_kind[kind];
            (void)fprintf(out, "%-22s %14" PRIu64 " %12s\n", wf_op_name((enum wf_op_kind)kind),
                          n, total > 0 ? wf_human_size(total, bytes) : "-");
        }
    }
}

/* Prints the operations of reductions, as far as they are known. */
static void print_reductions(FILE *out, const struct wf_study_info *info)
{
    const char *head = "\nReduction\n";

    for (uint32_t i = WF_REDUCE_UNKNOWN + 1; i < WF_REDUCTIONS; i++) {
        if (info->facts.n_by_reduction[i] > 0) {
            (void)fprintf(out, "%s%-22s %14" PRIu64 "\n", head, wf_reduction_name(i),
                          info->facts.n_by_reduction[i]);
            head = "";
        }
    }
}

static void print_records(FILE *out, const struct wf_study_info *info)
{
    const struct wf_records *records = info->trace->records;
    char bytes[WF_UNITS_TEXT_MAX];

    if (records == NULL) {
        return;
    }
    (void)fprintf(out, "\n%-22s %14s %12s\n", "In the files", "Records", "Bytes");
    struct wf_record_count *totals = wf_records_totals(records);
    for (uint32_t i = 0; wf_records_at(records, i) != NULL; i++) {
        const struct wf_record_count *all = &totals[i];
        if (all->n == 0) {
            continue;
        }
        wf_text_print(out, "%-22s %14" PRIu64 " %12s\n", wf_records_at(records, i), all->n,
                      all->bytes > 0 ? wf_human_size(all->bytes, bytes) : "-");
    }
    free(totals);
}

static void print_sizes(FILE *out, const struct wf_study_info *info)
{
    char from[WF_UNITS_TEXT_MAX];

    if (info->facts.all.n_messages == 0) {
        return;
    }
    (void)fprintf(out, "\n%-22s %14s\n", "Message size from", "Messages");
    for (uint32_t bin = 0; bin < WF_SIZE_BINS; bin++) {
        if (info->facts.sizes[bin] > 0) {
            uint64_t low = bin == 0 ? 0 : UINT64_C(1) << (bin - 1);
            (void)fprintf(out, "%-22s %14" PRIu64 "\n", wf_format_size(low, from),
                          info->facts.sizes[bin]);
        }
    }
}

static void print_ranks(FILE *out, const struct wf_study_info *info)
{
    char bytes[WF_UNITS_TEXT_MAX], time[WF_UNITS_TEXT_MAX];

    (void)fprintf(out, "\n%10s %14s %14s %12s %12s\n", has_tasks(info) ? "PE" : "Rank",
                  has_tasks(info) ? "Tasks" : "Ops", "Messages", "Sent", "Computing");
    for (uint32_t rank = 0; rank < info->facts.n_ranks; rank++) {
        const struct wf_rank_facts *one = &info->facts.ranks[rank];
        (void)fprintf(out, "%10" PRIu32 " %14" PRIu64 " %14" PRIu64 " %12s %12s\n", rank,
                      one->n_ops, one->n_messages, wf_human_size(one->bytes, bytes),
                      wf_human_time(one->compute, time));
    }
}

static void print_rank_devices(FILE *out, const struct wf_study_info *info)
{
    char kernels[WF_UNITS_TEXT_MAX], copies[WF_UNITS_TEXT_MAX], bytes[WF_UNITS_TEXT_MAX];

    if (info->trace->devices == NULL) {
        return;
    }
    (void)fprintf(out, "\n%10s %10s %12s %12s %12s %12s %12s\n", "Rank", "Streams", "Kernels",
                  "Time", "Copies", "Time", "Copied");
    for (uint32_t rank = 0; rank < info->facts.n_ranks; rank++) {
        const struct wf_trace_device *one = &info->trace->devices[rank];
        (void)fprintf(
            out, "%10" PRIu32 " %10" PRIu32 " %12" PRIu64 " %12s %12" PRIu64 " %12s %12s\n",
            rank, one->n_streams, one->n_kernels, wf_human_time(one->kernels, kernels),
            one->n_copies, wf_human_time(one->copies, copies),
            wf_human_size(one->copied_bytes, bytes));
    }
}

static void print_notes(FILE *out, const struct wf_study_info *info)
{
    for (size_t i = 0; i < info->trace->n_notes; i++) {
        print_line(out, "Note", "%s", info->trace->notes[i]);
    }
}

static void print_needs(FILE *out, const struct wf_study_info *info)
{
    if (has_tasks(info)) {
        print_line(out, "Needs of tasks", "%" PRIu64 " tasks, %" PRIu64 " messages",
                   info->facts.n_task_needs, info->facts.n_message_needs);
    } else {
        print_line(out, "Communicators", "%" PRIu32 "", info->facts.n_groups + 1);
    }
}

/* Prints how far each rank of an incomplete trace can be read. */
static void print_ends(FILE *out, const struct wf_study_info *info)
{
    if (!info->is_native || info->native.damage == NULL) {
        return;
    }
    (void)fprintf(out, "\n%10s %14s %14s  %s\n", "Rank", "Ops", "To byte", "Of");
    for (uint32_t rank = 0; rank < info->facts.n_ranks; rank++) {
        struct wf_native_end end;
        if (!wf_native_end(info->trace->source, rank, &end)) {
            (void)fprintf(out, "%10" PRIu32 " %14d %14s  nothing is recorded\n", rank, 0, "-");
        } else {
            wf_text_print(out, "%10" PRIu32 " %14" PRIu64 " %14" PRIu64 "  %s%s\n", rank,
                          end.n_ops, end.offset, end.path,
                          end.is_whole ? "" : ", which is cut off there");
        }
    }
}

void wf_study_info_print(const struct wf_study_info *info, bool per_rank, FILE *out)
{
    char bytes[WF_UNITS_TEXT_MAX];

    print_line(out, "Trace", "%s", info->name);
    if (info->trace->reader != NULL) {
        print_line(out, "Format", "%s", info->trace->reader->name);
    }
    print_line(out, has_tasks(info) ? "PEs" : "Ranks", "%" PRIu32 "", info->facts.n_ranks);
    print_file(out, info);
    print_line(out, has_tasks(info) ? "Tasks" : "Ops",
               "%" PRIu64 ", %" PRIu64 " to %" PRIu64 " in a %s", info->facts.all.n_ops,
               info->least.n_ops, info->most.n_ops, has_tasks(info) ? "PE" : "rank");
    print_line(out, "Messages", "%" PRIu64 " of %s in all", info->facts.all.n_messages,
               wf_human_size(info->facts.all.bytes, bytes));
    print_needs(out, info);
    print_times(out, info);
    print_devices(out, info);
    print_starts(out, info);
    print_notes(out, info);
    print_kinds(out, info);
    print_reductions(out, info);
    print_records(out, info);
    print_sizes(out, info);
    if (per_rank) {
        print_ranks(out, info);
        print_rank_devices(out, info);
    }
    print_ends(out, info);
}

/* ---- JSON output ---- */

static void add_file(struct wf_value *doc, const struct wf_study_info *info)
{
    const struct wf_native_facts *native = &info->native;

    if (!info->is_native) {
        return;
    }
    struct wf_value *file = wf_doc_section(doc, "file");
    wf_doc_count(file, "bytes", native->n_bytes);
    wf_doc_count(file, "files", native->n_files);
    wf_doc_count(file, "blocks", native->n_blocks);
    if (native->creator != NULL) {
        wf_doc_text(file, "creator", native->creator);
    }
    if (native->totals_known) {
        wf_doc_count(file, "raw_bytes", native->totals.raw_bytes);
        wf_doc_count(file, has_tasks(info) ? "stored_tasks" : "stored_ops",
                     native->totals.n_stored);
    }
    if (native->n_starts > 1) {
        wf_doc_count(file, "starts_spread_ns", native->starts_ns);
        wf_doc_count(file, "starts_doubt_ns", native->doubt_ns);
    }
    if (native->damage != NULL) {
        wf_doc_text(file, "damage", native->damage->text);
    }
}

static void add_kinds(struct wf_value *doc, const struct wf_study_info *info)
{
    struct wf_value *kinds = wf_doc_section(doc, "ops_by_kind");

    for (uint32_t kind = 0; kind < WF_OP_KINDS; kind++) {
        if (info->facts.n_by_kind[kind] > 0) {
            struct wf_value *one = wf_doc_section(kinds, wf_op_name((enum wf_op_kind)kind));
            wf_doc_count(one, "calls", info->facts.n_by_kind[kind]);
            wf_doc_count(one, "bytes", info->facts.bytes_by_kind[kind]);
        }
    }
}

static void add_reductions(struct wf_value *doc, const struct wf_study_info *info)
{
    struct wf_value *reductions = wf_doc_section(doc, "reductions");

    for (uint32_t i = 0; i < WF_REDUCTIONS; i++) {
        if (info->facts.n_by_reduction[i] > 0) {
            wf_doc_count(reductions, wf_reduction_name(i), info->facts.n_by_reduction[i]);
        }
    }
}

static void add_groups(struct wf_value *doc, const struct wf_study_info *info)
{
    struct wf_value *list = wf_doc_list(doc, "communicators");
    struct wf_value *world = wf_doc_section(list, NULL);
    struct wf_group group;
    uint32_t comm = 0;

    wf_doc_count(world, "number", WF_COMM_WORLD);
    wf_doc_count(world, "size", info->facts.n_ranks);
    for (uint32_t i = 0; wf_groups_at(info->facts.groups, i, &comm, &group); i++) {
        struct wf_value *one = wf_doc_section(list, NULL);
        wf_doc_count(one, "number", comm);
        wf_doc_count(one, "size", group.size);
        wf_doc_count(one, "first_member", wf_group_rank(&group, 0));
    }
}

static void add_notes(struct wf_value *doc, const struct wf_study_info *info)
{
    struct wf_value *list = wf_doc_list(doc, "notes");

    for (size_t i = 0; i < info->trace->n_notes; i++) {
        wf_doc_text(list, NULL, info->trace->notes[i]);
    }
}

/* Adds the records of the files. Ranks are listed unless there are very many. */
static void add_records(struct wf_value *doc, const struct wf_study_info *info, bool per_rank)
{
    const struct wf_records *records = info->trace->records;
    struct wf_value *section = records != NULL ? wf_doc_section(doc, "records") : NULL;
    struct wf_record_count *totals = records != NULL ? wf_records_totals(records) : NULL;

    for (uint32_t i = 0; records != NULL && wf_records_at(records, i) != NULL; i++) {
        if (totals[i].n == 0) {
            continue;
        }
        struct wf_value *one = wf_doc_section(section, wf_records_at(records, i));
        wf_doc_count(one, "count", totals[i].n);
        wf_doc_count(one, "bytes", totals[i].bytes);
        if (!per_rank && info->facts.n_ranks > RANKS_LISTED) {
            continue;
        }
        struct wf_value *list = wf_doc_list(one, "per_rank");
        for (uint32_t rank = 0; rank < info->facts.n_ranks; rank++) {
            struct wf_record_count count = wf_records_of(records, rank, i);
            if (count.n > 0) {
                struct wf_value *entry = wf_doc_section(list, NULL);
                wf_doc_count(entry, "rank", rank);
                wf_doc_count(entry, "count", count.n);
                wf_doc_count(entry, "bytes", count.bytes);
            }
        }
    }
    free(totals);
}

static void add_device(struct wf_value *section, const struct wf_trace_device *device)
{
    wf_doc_count(section, "streams", device->n_streams);
    wf_doc_count(section, "kernels", device->n_kernels);
    wf_doc_count(section, "kernels_ps", (uint64_t)device->kernels);
    wf_doc_count(section, "kernels_in_computing_ps", (uint64_t)device->computing_kernels);
    wf_doc_count(section, "copies", device->n_copies);
    wf_doc_count(section, "copied_bytes", device->copied_bytes);
    wf_doc_count(section, "copies_ps", (uint64_t)device->copies);
    wf_doc_count(section, "copies_in_computing_ps", (uint64_t)device->computing_copies);
}

/* Adds what accelerators did. Ranks are listed unless there are very many. */
static void add_devices(struct wf_value *doc, const struct wf_study_info *info, bool per_rank)
{
    if (info->trace->devices == NULL) {
        return;
    }
    struct wf_trace_device all = all_devices(info);
    struct wf_value *section = wf_doc_section(doc, "devices");
    add_device(section, &all);
    if (per_rank || info->facts.n_ranks <= RANKS_LISTED) {
        struct wf_value *list = wf_doc_list(section, "per_rank");
        for (uint32_t rank = 0; rank < info->facts.n_ranks; rank++) {
            add_device(wf_doc_section(list, NULL), &info->trace->devices[rank]);
        }
    }
}

static void add_sizes(struct wf_value *doc, const struct wf_study_info *info)
{
    struct wf_value *sizes = wf_doc_section(doc, "message_sizes");

    for (uint32_t bin = 0; bin < WF_SIZE_BINS; bin++) {
        char from[WF_UNITS_TEXT_MAX];
        if (info->facts.sizes[bin] > 0) {
            (void)snprintf(from, sizeof(from), "%" PRIu64,
                           bin == 0 ? 0 : UINT64_C(1) << (bin - 1));
            wf_doc_count(sizes, from, info->facts.sizes[bin]);
        }
    }
}

static void add_ranks(struct wf_value *doc, const struct wf_study_info *info)
{
    struct wf_value *list = wf_doc_list(doc, "per_rank");

    for (uint32_t rank = 0; rank < info->facts.n_ranks; rank++) {
        const struct wf_rank_facts *one = &info->facts.ranks[rank];
        struct wf_value *entry = wf_doc_section(list, NULL);
        int64_t wall = 0;

        wf_doc_count(entry, has_tasks(info) ? "tasks" : "ops", one->n_ops);
        wf_doc_count(entry, "messages", one->n_messages);
        wf_doc_count(entry, "bytes", one->bytes);
        wf_doc_count(entry, "compute_ps", (uint64_t)one->compute);
        if (recorded(info, rank, &wall)) {
            wf_doc_count(entry, "recorded_ps", (uint64_t)wall);
        }
        if (!has_tasks(info) && wf_source_cost(info->trace->source, rank, &wall)) {
            wf_doc_count(entry, "recording_cost_ps", (uint64_t)wall);
        }
        struct wf_native_end end;
        if (wf_native_end(info->trace->source, rank, &end)) {
            wf_doc_bool(entry, "whole", end.is_whole);
            wf_doc_count(entry, "end_byte", end.offset);
        }
    }
}

struct wf_value *wf_study_info_document(const struct wf_study_info *info, bool per_rank)
{
    struct wf_value *doc = wf_result_new_as(INFO_SCHEMA, weft_version());

    wf_doc_text(doc, "trace", info->name);
    wf_doc_count(doc, "ranks", info->facts.n_ranks);
    if (info->trace->reader != NULL) {
        wf_doc_text(doc, "format", info->trace->reader->name);
    }
    wf_doc_count(doc, has_tasks(info) ? "tasks" : "ops", info->facts.all.n_ops);
    wf_doc_count(doc, "messages", info->facts.all.n_messages);
    wf_doc_count(doc, "message_bytes", info->facts.all.bytes);
    wf_doc_count(doc, "compute_min_ps", (uint64_t)info->least.compute);
    wf_doc_count(doc, "compute_max_ps", (uint64_t)info->most.compute);
    if (info->longest_wall >= 0) {
        wf_doc_count(doc, "recorded_ps", (uint64_t)info->longest_wall);
    }
    add_notes(doc, info);
    add_file(doc, info);
    add_records(doc, info, per_rank);
    add_devices(doc, info, per_rank);
    add_sizes(doc, info);
    if (has_tasks(info)) {
        wf_doc_count(doc, "task_needs", info->facts.n_task_needs);
        wf_doc_count(doc, "message_needs", info->facts.n_message_needs);
    } else {
        add_kinds(doc, info);
        add_reductions(doc, info);
        add_groups(doc, info);
    }
    if (per_rank) {
        add_ranks(doc, info);
    }
    return doc;
}

/* ---- counting ---- */

enum wf_status wf_study_info_init(struct wf_study_info *info, const char *name,
                                  struct wf_trace *trace, const struct wf_pass *pass,
                                  struct wf_err *err)
{
    *info = (struct wf_study_info){.name = name, .trace = trace};
    if (trace->graph != NULL) {
        info->is_native = wf_native_graph_facts(trace->graph, &info->native);
        wf_trace_graph_facts_init(&info->facts, trace->graph);
    } else {
        info->is_native = wf_native_facts(trace->source, &info->native);
        wf_trace_facts_init(&info->facts, trace->source, pass);
    }
    find_extremes(info);
    enum wf_status status = trace->graph != NULL ? wf_graph_check(trace->graph, err)
                                                 : wf_source_check(trace->source, err);
    wf_trace_review(trace);
    return status;
}

void wf_study_info_fini(struct wf_study_info *info)
{
    wf_trace_facts_fini(&info->facts);
}
