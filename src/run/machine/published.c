/* SPDX-License-Identifier: Apache-2.0 */
#include "run/machine/published.h"

#include "base/array.h"
#include "base/units.h"
#include "run/machine/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const between_names[] = {"near", "far", "domain", "socket", "node", NULL};

const char *const wf_machine_what_names[] = {
    [WF_MACHINE_LATENCY] = "latency",
    [WF_MACHINE_BANDWIDTH] = "bandwidth",
    [WF_MACHINE_MESSAGE_RATE] = "message_rate",
    [WF_MACHINE_ALLTOALL] = "alltoall",
    [WF_MACHINE_BISECTION] = "bisection",
    [WF_MACHINE_BARRIER] = "barrier",
    [WF_MACHINE_ALLREDUCE] = "allreduce",
    [WF_MACHINE_BUS] = "bus_bandwidth",
    [WF_MACHINE_N_WHAT] = NULL,
};

enum wf_machine_unit wf_machine_unit_of(enum wf_machine_what what)
{
    static const enum wf_machine_unit units[WF_MACHINE_N_WHAT] = {
        [WF_MACHINE_LATENCY] = WF_MACHINE_TIME,
        [WF_MACHINE_BANDWIDTH] = WF_MACHINE_RATE,
        [WF_MACHINE_MESSAGE_RATE] = WF_MACHINE_PER_SECOND,
        [WF_MACHINE_ALLTOALL] = WF_MACHINE_RATE,
        [WF_MACHINE_BISECTION] = WF_MACHINE_RATE,
        [WF_MACHINE_BARRIER] = WF_MACHINE_TIME,
        [WF_MACHINE_ALLREDUCE] = WF_MACHINE_TIME,
        [WF_MACHINE_BUS] = WF_MACHINE_RATE,
    };

    return units[what];
}

#define ROW(member, kind, ...) \
    WF_PARAM_ROW(struct wf_machine_published, member, kind, __VA_ARGS__)

const struct wf_param wf_machine_published_params[] = {
    ROW(what, ENUM, .choices = wf_machine_what_names, .doc = "What was measured"),
    ROW(value, TEXT,
        .doc = "The measured value: a time, a rate, or for message_rate messages per second"),
    ROW(source, TEXT, .doc = "Where the value was published, and what it says there"),
    ROW(tolerance_percent, REAL, .def = "20", .min = "0", .max = "1000",
        .doc = "How far a prediction may be off before a test of weft fails"),
    ROW(bytes, SIZE, .def = "8", .max = "64GiB",
        .doc = "Size of a message, or of the data of an allreduce"),
    ROW(between, ENUM, .def = "near", .choices = between_names,
        .doc = "The two ends of latency, bandwidth and message_rate: the nearest or the "
               "farthest two nodes; two cores of a memory domain, of two domains of a socket, "
               "of two sockets of a node"),
    ROW(nodes, COUNT, .def = "0", .max = "1000000",
        .doc = "Nodes that take part in alltoall, bisection and collectives; 0: all"),
    ROW(ranks_per_node, COUNT, .def = "1", .min = "1", .max = "1024",
        .doc = "Ranks on each of these nodes"),
    ROW(window, COUNT, .def = "0", .max = "1024",
        .doc = "Messages that a rank sends before it waits; 0: 1 for latency and bandwidth, 64 "
               "for message_rate, 16 for alltoall, 4 for bisection"),
    ROW(both, BOOL, .def = "false",
        .doc = "With bandwidth: in both directions at once; the value is their sum"),
    ROW(peers, COUNT, .def = "32", .max = "1000000",
        .doc = "With alltoall: to how many others a rank sends in the simulation, as a sample; "
               "0: to all"),
    ROW(topology, TEXT, .def = "",
        .doc = "The topology on which it was measured, if it was not that of the file"),
    ROW(set, TEXT, .def = "",
        .doc = "Parameters that were different, as in net.routing=adaptive,mpi.alltoall=ring"),
    WF_PARAM_END,
};

/* Between what it was measured: "near", "512 nodes". */
static const char *ends_of(const struct wf_machine_published *entry, char *buf, size_t size)
{
    static const char *const ends[] = {
        [WF_MACHINE_NEAR] = "near",          [WF_MACHINE_FAR] = "far",
        [WF_MACHINE_DOMAIN] = "in a domain", [WF_MACHINE_SOCKET] = "in a socket",
        [WF_MACHINE_NODE] = "in a node",
    };

    if (entry->what <= WF_MACHINE_MESSAGE_RATE) {
        return ends[entry->between];
    }
    if (entry->nodes == 0) {
        return "all nodes";
    }
    (void)snprintf(buf, size, "%" PRIu64 " node%s", entry->nodes, entry->nodes == 1 ? "" : "s");
    return buf;
}

void wf_machine_published_describe(const struct wf_machine_published *entry, char *buf,
                                   size_t size)
{
    char bytes[WF_UNITS_TEXT_MAX], ends[32], ranks[40] = "", sizes[48] = "";

    if (entry->ranks_per_node > 1) {
        (void)snprintf(ranks, sizeof(ranks), ", %" PRIu64 " ranks each", entry->ranks_per_node);
    }
    if (entry->what != WF_MACHINE_BARRIER) {
        wf_format_size(entry->bytes, bytes);
        bool has_unit = strchr(bytes, 'B') != NULL;
        (void)snprintf(sizes, sizeof(sizes), " of %s%s", bytes, has_unit ? "" : " B");
    }
    (void)snprintf(buf, size, "%s%s, %s%s%s", wf_machine_what_names[entry->what], sizes,
                   ends_of(entry, ends, sizeof(ends)), ranks, entry->both ? ", both ways" : "");
}

/* The value as a number: picoseconds, bytes per second, or messages per second. */
static enum wf_status parse_value(struct wf_machine_published *entry, struct wf_err *err)
{
    enum wf_status status = WF_OK;
    uint64_t rate = 0;
    int64_t time = 0;

    switch (wf_machine_unit_of((enum wf_machine_what)entry->what)) {
    case WF_MACHINE_TIME:
        status = wf_parse_time(entry->value, &time, err);
        entry->number = (double)time;
        break;
    case WF_MACHINE_RATE:
        status = wf_parse_rate(entry->value, &rate, err);
        entry->number = (double)rate / (double)WF_RATE_BYTE;
        break;
    case WF_MACHINE_PER_SECOND:
        status = wf_parse_real(entry->value, &entry->number, err);
        break;
    }
    if (status == WF_OK && !(entry->number > 0)) {
        return wf_err_set(err, WF_EINVAL, "'%.64s' is not above 0", entry->value);
    }
    return status;
}

static enum wf_status read_entry(struct wf_machine_reader *reader, const struct wf_yaml *node,
                                 struct wf_machine_published *entry, struct wf_err *err)
{
    WF_TRY(wf_machine_read_entry(reader, node, "published.", wf_machine_published_params, entry,
                                 err));
    if (parse_value(entry, err) != WF_OK) {
        wf_err_prefix(err, "published.value: ");
        return wf_machine_blame(reader, wf_yaml_get(node, "value")->at, err);
    }
    return WF_OK;
}

enum wf_status wf_machine_read_published(struct wf_machine_reader *reader,
                                         const struct wf_yaml *node, struct wf_err *err)
{
    struct wf_machine *machine = reader->machine;

    WF_TRY(wf_machine_expect(reader, node, WF_YAML_LIST, err));
    for (const struct wf_yaml *at = node->first; at != NULL; at = at->next) {
        struct wf_machine_published entry = {.what = 0};

        enum wf_status status = read_entry(reader, at, &entry, err);
        if (status != WF_OK || reader->included) {
            wf_machine_published_fini(&entry);
            WF_TRY(status);
            continue;
        }
        entry.place = wf_machine_place(reader, at->at);
        WF_PUSH(machine->published, machine->n_published, machine->published_capacity, entry);
    }
    return WF_OK;
}

void wf_machine_published_fini(struct wf_machine_published *entry)
{
    wf_param_release(wf_machine_published_params, entry);
    free(entry->place);
    entry->place = NULL;
}

/* ---- residuals ---- */

#undef ROW
#define ROW(member, kind, ...) \
    WF_PARAM_ROW(struct wf_machine_residual, member, kind, __VA_ARGS__)

const struct wf_param wf_machine_residual_params[] = {
    ROW(model, TEXT, .doc = "The network model"),
    ROW(pattern, TEXT, .doc = "The pattern of messages, as in gen.pattern"),
    ROW(mean_percent, REAL, .min = "0", .max = "1000000",
        .doc = "Mean error of the model over the sizes that were measured"),
    ROW(worst_percent, REAL, .min = "0", .max = "1000000", .doc = "Largest error"),
    WF_PARAM_END,
};

enum wf_status wf_machine_read_residuals(struct wf_machine_reader *reader,
                                         const struct wf_yaml *node, struct wf_err *err)
{
    struct wf_machine *machine = reader->machine;

    WF_TRY(wf_machine_expect(reader, node, WF_YAML_LIST, err));
    for (const struct wf_yaml *at = node->first; at != NULL; at = at->next) {
        struct wf_machine_residual entry = {.model = NULL};
        enum wf_status status = wf_machine_read_entry(reader, at, "residuals.",
                                                      wf_machine_residual_params, &entry, err);

        if (status != WF_OK || reader->included) {
            wf_param_release(wf_machine_residual_params, &entry);
            WF_TRY(status);
            continue;
        }
        WF_PUSH(machine->residuals, machine->n_residuals, machine->residuals_capacity, entry);
    }
    return WF_OK;
}
