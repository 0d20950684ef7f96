/* SPDX-License-Identifier: Apache-2.0 */
/* The file of the definitions of all ranks. The format follows OTF2's own sources
 * (OTF2_GlobalDefReader_inc.c and otf2_attic.c of version 2 and 3). */
#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "program/trace/otf2/anchor.h"
#include "program/trace/otf2/file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS_MAX = 10 };

/* What a definition says. */
struct definition {
    uint64_t numbers[NUMBERS_MAX]; /* in their order; those that are absent are NOT_GIVEN */
    struct wf_buf text;            /* ends with a NUL */
    struct wf_buf items;           /* of its list: numbers of 64 bits */
    uint32_t n_items;
};

#define NOT_GIVEN UINT64_MAX

static uint32_t number_at(const struct definition *d, uint32_t i)
{
    return (uint32_t)d->numbers[i];
}

/* Takes the items from a definition, which the caller frees then. */
static uint64_t *take_items(struct definition *d)
{
    uint64_t *items = (uint64_t *)(void *)d->items.data;

    d->items = (struct wf_buf){.data = NULL};
    return items;
}

/* ---- what each definition means ---- */

/* The library's constants, as far as they matter. */
enum {
    CPU_THREAD = 1, /* types of locations */
    ACCELERATOR_STREAM = 2,
    METRIC_LOCATION = 3,
    PARADIGM_MPI = 4,
    ROLE_RMA = 29, /* roles of regions */
    ROLE_DATA_TRANSFER = 30,
    ROLE_ARTIFICIAL = 31,
    ROLE_ALLOCATE = 35,
    ROLE_DEALLOCATE = 36,
    ROLE_REALLOCATE = 37,
    COMM_LOCATIONS = 4, /* types of groups */
    COMM_GROUP = 5,
    COMM_SELF = 6,
    GLOBAL_MEMBERS = 1, /* flag of a group */
    ACCUMULATED_START = 0,
    BASE_BINARY = 0,
};

static void on_clock(struct wf_otf2_defs *defs, struct definition *d)
{
    defs->resolution = d->numbers[0];
}

static void on_string(struct wf_otf2_defs *defs, struct definition *d)
{
    const struct wf_otf2_string string = {number_at(d, 0),
                                          wf_xstrdup((const char *)d->text.data)};

    WF_PUSH(defs->strings, defs->n_strings, defs->strings_capacity, string);
}

static void on_process(struct wf_otf2_defs *defs, struct definition *d)
{
    const struct wf_otf2_process process = {.id = number_at(d, 0), .creator = number_at(d, 4)};

    WF_PUSH(defs->processes, defs->n_processes, defs->processes_capacity, process);
}

static void on_location(struct wf_otf2_defs *defs, struct definition *d)
{
    const struct wf_otf2_location location = {.id = d->numbers[0],
                                              .n_events = d->numbers[3],
                                              .group = number_at(d, 4),
                                              .rank = WF_OTF2_NONE,
                                              .is_thread = d->numbers[2] == CPU_THREAD,
                                              .is_stream = d->numbers[2] == ACCELERATOR_STREAM,
                                              .is_metric = d->numbers[2] == METRIC_LOCATION};

    WF_PUSH(defs->locations, defs->n_locations, defs->locations_capacity, location);
}

/* What an accelerator does in a region of this role. Score-P has artificial regions for the
 * time in which a stream is idle. */
static enum wf_otf2_work work_in(uint64_t role)
{
    bool copies = role == ROLE_DATA_TRANSFER || role == ROLE_RMA;
    bool is_idle = role == ROLE_ARTIFICIAL || role == ROLE_ALLOCATE ||
                   role == ROLE_DEALLOCATE || role == ROLE_REALLOCATE;

    return copies ? WF_OTF2_COPY : is_idle ? WF_OTF2_NO_WORK : WF_OTF2_KERNEL;
}

static void on_region(struct wf_otf2_defs *defs, struct definition *d)
{
    const struct wf_otf2_region region = {.id = number_at(d, 0),
                                          .name = number_at(d, 1),
                                          .is_mpi = d->numbers[9] == PARADIGM_MPI,
                                          .work = work_in(d->numbers[8])};

    WF_PUSH(defs->regions, defs->n_regions, defs->regions_capacity, region);
}

/* Since version 1.2 groups have a type, a paradigm and flags after their members. Before, groups
 * of MPI had types of their own. */
static enum wf_otf2_group_type type_of(const struct definition *d)
{
    static const enum wf_otf2_group_type before[] = {
        [4] = WF_OTF2_RANKS, [5] = WF_OTF2_SELF, [6] = WF_OTF2_LOCATIONS};
    uint64_t old = d->numbers[2], type = d->numbers[4];

    if (type == NOT_GIVEN) {
        return old < sizeof(before) / sizeof(before[0]) ? before[old] : WF_OTF2_OTHER_GROUP;
    }
    if (d->numbers[5] != PARADIGM_MPI) {
        return WF_OTF2_OTHER_GROUP;
    }
    bool has_places = (d->numbers[6] & GLOBAL_MEMBERS) != 0;
    return type == COMM_LOCATIONS ? WF_OTF2_LOCATIONS
           : type == COMM_SELF    ? WF_OTF2_SELF
           : type == COMM_GROUP   ? (has_places ? WF_OTF2_PLACES : WF_OTF2_RANKS)
                                  : WF_OTF2_OTHER_GROUP;
}

static void on_group(struct wf_otf2_defs *defs, struct definition *d)
{
    struct wf_otf2_group group = {.id = number_at(d, 0), .type = type_of(d), .n = d->n_items};

    group.members = group.type != WF_OTF2_OTHER_GROUP ? take_items(d) : NULL;
    WF_PUSH(defs->groups, defs->n_groups, defs->groups_capacity, group);
}

static void on_metric(struct wf_otf2_defs *defs, struct definition *d)
{
    struct wf_otf2_metrics *metrics = &defs->metrics;
    double base = d->numbers[6] == BASE_BINARY ? 2 : 10;
    const struct wf_otf2_metric metric = {.id = number_at(d, 0),
                                          .name = number_at(d, 1),
                                          .unit = number_at(d, 8),
                                          .grows = d->numbers[4] == ACCUMULATED_START,
                                          .factor = pow(base, (double)(int64_t)d->numbers[7])};

    WF_PUSH(metrics->metrics, metrics->n_metrics, metrics->metrics_capacity, metric);
}

static void on_metric_class(struct wf_otf2_defs *defs, struct definition *d)
{
    struct wf_otf2_metrics *metrics = &defs->metrics;
    const struct wf_otf2_metric_class class = {
        .id = number_at(d, 0), .n = d->n_items, .members = take_items(d)};

    WF_PUSH(metrics->classes, metrics->n_classes, metrics->classes_capacity, class);
}

static void add_comm(struct wf_otf2_defs *defs, const struct definition *d, bool is_inter)
{
    const struct wf_otf2_comm comm = {
        .id = number_at(d, 0), .group = number_at(d, 2), .is_inter = is_inter};

    WF_PUSH(defs->comms, defs->n_comms, defs->comms_capacity, comm);
}

static void on_comm(struct wf_otf2_defs *defs, struct definition *d)
{
    add_comm(defs, d, false);
}

static void on_intercomm(struct wf_otf2_defs *defs, struct definition *d)
{
    add_comm(defs, d, true);
}

/* ---- records ---- */

/* Types of records and their fields: 1 is a byte, 4 and 8 are compressed numbers of up to so many
 * bytes, s is a text, and * a list of numbers, as many as the number before it says. Archives of
 * older versions end before a bar. All other types are passed over. */
static const struct kind {
    uint8_t type;
    const char *name, *fields;
    void (*add)(struct wf_otf2_defs *defs, struct definition *d);
} kinds[] = {
    {5, "clock", "8", on_clock},
    {10, "string", "4s", on_string},
    {13, "location group", "4414|4", on_process},
    {14, "location", "84184", on_location},
    {15, "region", "4441444|411", on_region},
    {18, "group", "4414*|114", on_group},
    {19, "metric", "444111184", on_metric},
    {20, "metric class", "41*", on_metric_class},
    {22, "communicator", "444", on_comm},
    {43, "intercommunicator", "444", on_intercomm},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Takes a compressed number of at most `width` bytes. */
static bool take_number(struct wf_otf2_file *file, uint64_t end, unsigned width,
                        uint64_t *number)
{
    if (!wf_otf2_file_number(file, end, number)) {
        return false;
    }
    bool is_given = *number != UINT64_MAX;
    *number = !is_given && width == 4 ? UINT32_MAX : *number;
    return width == 8 || *number <= UINT32_MAX;
}

static bool take_text(struct wf_otf2_file *file, uint64_t end, struct wf_buf *text)
{
    uint8_t byte = 0;

    text->size = 0;
    do {
        if (!wf_otf2_file_byte(file, end, &byte)) {
            return false;
        }
        wf_buf_append(text, &byte, 1);
    } while (byte != '\0');
    return true;
}

static bool take_list(struct wf_otf2_file *file, uint64_t end, uint64_t n, struct definition *d)
{
    d->items.size = 0;
    d->n_items = (uint32_t)n;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t item = 0;
        if (!take_number(file, end, 8, &item)) {
            return false;
        }
        wf_buf_append(&d->items, &item, sizeof(item));
    }
    return true;
}

/* Takes the fields of a record; false if it is too short for them. */
static bool take_fields(struct wf_otf2_file *file, uint64_t end, const char *fields,
                        struct definition *d)
{
    uint32_t n = 0;
    bool ok = true;

    memset(d->numbers, 0xff, sizeof(d->numbers));
    for (; ok && *fields != '\0'; fields++) {
        uint8_t byte = 0;
        if (*fields == '|') {
            if (wf_infile_at(&file->in) >= end) {
                return true;
            }
        } else if (*fields == '1') {
            ok = wf_otf2_file_byte(file, end, &byte);
            d->numbers[n++] = byte;
        } else if (*fields == 's') {
            ok = take_text(file, end, &d->text);
        } else if (*fields == '*') {
            ok = take_list(file, end, d->numbers[n - 1], d);
        } else {
            ok = take_number(file, end, (unsigned)(*fields - '0'), &d->numbers[n++]);
        }
    }
    return ok;
}

static void read_definition(struct wf_otf2_file *file, uint8_t type, uint64_t end,
                            struct wf_otf2_defs *defs, struct definition *d)
{
    char what[80];

    for (uint32_t i = 0; i < KINDS; i++) {
        if (kinds[i].type != type) {
            continue;
        }
        if (take_fields(file, end, kinds[i].fields, d)) {
            kinds[i].add(defs, d);
            return;
        }
        bool is_list = strchr(kinds[i].fields, '*') != NULL;
        (void)snprintf(what, sizeof(what),
                       is_list ? "a %s has more items than there is room for"
                               : "a %s is too short for its fields",
                       kinds[i].name);
        wf_otf2_file_damaged(file, file->record, what);
    }
}

void wf_otf2_defs_read(const char *anchor, const struct wf_otf2_layout *layout,
                       struct wf_otf2_defs *defs, struct wf_err *err)
{
    struct wf_otf2_file file = {.whose = ""};
    struct definition d = {.n_items = 0};
    uint64_t end = 0, n = 0;
    uint8_t type = 0;

    if (wf_trace_failed(err)) {
        return;
    }
    char *path = wf_otf2_file_path(anchor, ".def");
    if (wf_otf2_file_open(&file, path, layout->definition_chunk, -1, err) == WF_OK) {
        file.whose = "in the definitions of all ranks ";
        for (; wf_otf2_file_next(&file, &type, &end); n++) {
            read_definition(&file, type, end, defs, &d);
            wf_infile_seek(&file.in, end);
        }
    }
    wf_otf2_file_close(&file);
    free(path);
    wf_buf_fini(&d.text);
    wf_buf_fini(&d.items);
    if (!wf_trace_failed(err) && n < layout->n_definitions) {
        (void)wf_err_set(err, WF_EINVAL,
                         "%.200s: the definitions of all ranks end after %" PRIu64
                         " of %" PRIu64 "; truncated or damaged",
                         anchor, n, layout->n_definitions);
    }
    if (!wf_trace_failed(err)) {
        wf_otf2_defs_finish(defs, anchor, err);
    }
}
