/* SPDX-License-Identifier: Apache-2.0 */
/* BigSim: the logs of its emulator, the task graphs that TraceR reads. */
#include "base/mem.h"
#include "trace/bigsim/graph.h"
#include "trace/reader.h"

#include <stdlib.h>
#include <string.h>

static const char *const rules_names[] = {"recorded", "tracer", NULL};

static const struct wf_param params_table[] = {
    {.name = "rules",
     .type = WF_PARAM_ENUM,
     .offset = offsetof(struct wf_bigsim_params, rules),
     .def = "recorded",
     .choices = rules_names,
     .doc = "recorded: all logs, as long as they took; tracer: as TraceR replays them, from "
            "the start event on, without the time of the runtime system"},
    {.name = "soft_delay",
     .type = WF_PARAM_TIME,
     .offset = offsetof(struct wf_bigsim_params, soft_delay),
     .def = "100ns",
     .doc = "By the rules tracer: what a call of MPI takes"},
    WF_PARAM_END,
};

#define SUMMARY "bgTrace"

static bool has_magic(const unsigned char *bytes, size_t n)
{
    return n >= WF_BIGSIM_MAGIC_BYTES &&
           memcmp(bytes, wf_bigsim_magic, WF_BIGSIM_MAGIC_BYTES) == 0;
}

static bool detect(const struct wf_reader_probe *probe)
{
    unsigned char bytes[WF_BIGSIM_MAGIC_BYTES];

    if (!probe->is_directory) {
        return has_magic(probe->bytes, probe->n);
    }
    /* Logs without their summary are worth words of their own. */
    return has_magic(bytes, wf_probe_read(probe, SUMMARY, bytes, sizeof(bytes))) ||
           has_magic(bytes, wf_probe_read(probe, SUMMARY "0", bytes, sizeof(bytes)));
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    char *path = probe->is_directory ? wf_probe_path(probe, SUMMARY) : wf_xstrdup(probe->path);
    struct wf_bigsim_trace trace;

    enum wf_status status = wf_bigsim_open(&trace, path, err);
    if (status == WF_OK) {
        status = wf_bigsim_graph(&trace, params, out, err);
        wf_bigsim_close(&trace);
    }
    free(path);
    return status;
}

const struct wf_reader_ops wf_bigsim_reader_ops = {
    .name = "bigsim",
    .summary = "BigSim's logs: a directory, or its file bgTrace; tasks",
    .params = params_table,
    .params_size = sizeof(struct wf_bigsim_params),
    .detect = detect,
    .open = open_trace,
};
