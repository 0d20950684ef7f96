/* SPDX-License-Identifier: Apache-2.0 */
/* The map files of TraceR: on which node each rank runs. */
#include "run/import/tracer.h"

#include "base/array.h"
#include "base/file.h"
#include "base/mem.h"
#include "model/topo/topo.h"
#include "program/trace/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { JOB_ENTRY = 4, GLOBAL_ENTRY = 12 }; /* bytes */

static const uint32_t no_server = UINT32_MAX;

/* The cores of the machine, in TraceR's order. */
struct servers {
    uint64_t n;
    uint32_t per_node;
    uint32_t nodes_per_switch;
};

static uint32_t read_u32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
           (uint32_t)at[3] << 24;
}

/* Reads a file of entries. There must be `n` of them. */
static enum wf_status read_entries(const char *path, size_t entry, size_t n, struct wf_buf *out,
                                   struct wf_err *err)
{
    WF_TRY(wf_file_read(path, (size_t)GLOBAL_ENTRY * WF_RANKS_MAX, out, err));
    if (out->size % entry != 0) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s: %zu bytes are not a map file of TraceR, which has %zu for "
                          "each rank; is it truncated?",
                          path, out->size, entry);
    }
    if (out->size / entry != n) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s: maps %zu rank%s, but the configuration has %zu", path,
                          out->size / entry, out->size / entry == 1 ? "" : "s", n);
    }
    return WF_OK;
}

static enum wf_status check_server(const char *path, size_t number, uint32_t server,
                                   const struct servers *servers, struct wf_err *err)
{
    if (server < servers->n && server != no_server) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINVAL,
                      "%.200s: entry %zu: there is no core %u; the machine has %" PRIu64
                      " nodes with %u rank%s each, so the last one is %" PRIu64,
                      path, number, server, servers->n / servers->per_node, servers->per_node,
                      servers->per_node == 1 ? "" : "s", servers->n - 1);
}

/* ---- the global map ---- */

/* The servers of all ranks, job after job. */
struct global {
    const char *path;
    const struct wf_tracer *tracer;
    uint32_t *server_of;
    size_t *first; /* [jobs + 1]: where each job begins */
};

static enum wf_status take_entry(const struct global *global, const unsigned char *bytes,
                                 size_t number, struct wf_err *err)
{
    uint32_t server = read_u32(bytes), rank = read_u32(bytes + 4), job = read_u32(bytes + 8);
    const struct wf_tracer *tracer = global->tracer;

    if (job >= tracer->n_jobs || rank >= tracer->jobs[job].ranks) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s: entry %zu: there is no rank %u of job %u in '%.200s'",
                          global->path, number, rank, job, tracer->label);
    }
    uint32_t *at = &global->server_of[global->first[job] + rank];
    if (*at != no_server) {
        return wf_err_set(err, WF_EINVAL, "%.200s: entry %zu: rank %u of job %u occurs twice",
                          global->path, number, rank, job);
    }
    *at = server;
    return WF_OK;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* No two ranks share a core. */
static enum wf_status check_distinct(const char *path, const uint32_t *server_of, size_t n,
                                     struct wf_err *err)
{
    uint32_t *sorted = wf_xmalloc(n * sizeof(*sorted)), twice = no_server;

    memcpy(sorted, server_of, n * sizeof(*sorted));
    WF_SORT(sorted, n, by_number);
    for (size_t i = 1; i < n && twice == no_server; i++) {
        twice = sorted[i] == sorted[i - 1] ? sorted[i] : no_server;
    }
    free(sorted);
    return twice == no_server
               ? WF_OK
               : wf_err_set(err, WF_EINVAL, "%.200s: two ranks are on core %u", path, twice);
}

static enum wf_status read_global(const struct global *global, const struct servers *servers,
                                  struct wf_err *err)
{
    struct wf_buf bytes = {.data = NULL};
    size_t n = global->first[global->tracer->n_jobs];
    enum wf_status status = read_entries(global->path, GLOBAL_ENTRY, n, &bytes, err);

    memset(global->server_of, 0xff, n * sizeof(*global->server_of));
    for (size_t i = 0; i < n && status == WF_OK; i++) {
        const unsigned char *at = bytes.data + i * GLOBAL_ENTRY;
        status = check_server(global->path, i, read_u32(at), servers, err);
        WF_THEN(status, take_entry(global, at, i, err));
    }
    wf_buf_fini(&bytes);
    return status == WF_OK ? check_distinct(global->path, global->server_of, n, err) : status;
}

/* ---- jobs ---- */

/* The map of a job says the same as the global one. */
static enum wf_status check_job_map(const struct wf_tracer *tracer, uint32_t number,
                                    const uint32_t *server_of, struct wf_err *err)
{
    const struct wf_tracer_job *job = &tracer->jobs[number];
    struct wf_buf bytes = {.data = NULL};

    if (job->map == NULL) {
        return WF_OK;
    }
    char *path = wf_tracer_path(tracer, job->map);
    enum wf_status status = read_entries(path, JOB_ENTRY, job->ranks, &bytes, err);
    for (uint32_t r = 0; r < job->ranks && status == WF_OK; r++) {
        uint32_t server = read_u32(bytes.data + (size_t)r * JOB_ENTRY);
        if (server != server_of[r]) {
            status = wf_err_set(
                err, WF_EINVAL,
                "%.200s: rank %u is on core %u, but '%.200s' has it on core %u; make "
                "both files anew",
                path, r, server, tracer->global_map, server_of[r]);
        }
    }
    wf_buf_fini(&bytes);
    free(path);
    return status;
}

/* Finds the servers of all ranks; the caller frees *server_of and *first. */
static enum wf_status map_ranks(const struct wf_tracer *tracer, const struct servers *servers,
                                struct global *global, struct wf_err *err)
{
    size_t n = 0;

    global->first = wf_xcalloc(tracer->n_jobs + 1, sizeof(*global->first));
    for (uint32_t i = 0; i < tracer->n_jobs; i++) {
        n += tracer->jobs[i].ranks;
        global->first[i + 1] = n;
    }
    if (n > servers->n) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s: %zu ranks do not fit on the machine, which has %" PRIu64
                          " nodes with %u rank%s each",
                          tracer->label, n, servers->n / servers->per_node, servers->per_node,
                          servers->per_node == 1 ? "" : "s");
    }
    global->server_of = wf_xmalloc(n * sizeof(*global->server_of));
    for (size_t i = 0; i < n && tracer->global_map == NULL; i++) {
        global->server_of[i] = (uint32_t)i;
    }
    if (tracer->global_map == NULL) {
        return WF_OK;
    }
    char *path = wf_tracer_path(tracer, tracer->global_map);
    global->path = path;
    enum wf_status status = read_global(global, servers, err);
    for (uint32_t i = 0; i < tracer->n_jobs && status == WF_OK; i++) {
        status = check_job_map(tracer, i, global->server_of + global->first[i], err);
    }
    free(path);
    return status;
}

/* ---- nodes ---- */

/* The switch that a node is attached to, the first one if it has several rails;
 * WF_TOPO_NO_VERTEX if there is none. */
static uint32_t switch_of(const struct wf_topo *topo, uint32_t node)
{
    uint32_t at =
        wf_topo_ports(topo, node) > 0 ? topo->ops->neighbor(topo, node, 0) : WF_TOPO_NO_VERTEX;

    return at != WF_TOPO_NO_VERTEX && at >= topo->n_nodes ? at : WF_TOPO_NO_VERTEX;
}

/* The number of nodes at each switch; 1 if nodes are their own routers. */
static uint32_t nodes_per_switch(const struct wf_topo *topo)
{
    uint32_t first = topo != NULL ? switch_of(topo, 0) : WF_TOPO_NO_VERTEX, n = 1;

    if (first == WF_TOPO_NO_VERTEX) {
        return 1;
    }
    while (n < topo->n_nodes && switch_of(topo, n) == first) {
        n++;
    }
    return topo->n_nodes % n == 0 ? n : 1;
}

static uint32_t node_of_server(const struct servers *servers, uint32_t server)
{
    uint32_t nodes = servers->nodes_per_switch;
    uint64_t each = (uint64_t)nodes * servers->per_node;

    return (uint32_t)(server / each * nodes + server % each % nodes);
}

static enum wf_status check_job(const struct wf_tracer *tracer,
                                const struct wf_tracer_placing *placing, struct wf_err *err)
{
    if (placing->job >= tracer->n_jobs) {
        return wf_err_set(err, WF_EINVAL, "%.200s: has no job %u; the last one is %u",
                          tracer->label, placing->job, tracer->n_jobs - 1);
    }
    uint32_t ranks = tracer->jobs[placing->job].ranks;
    return ranks == placing->n_ranks
               ? WF_OK
               : wf_err_set(err, WF_EINVAL, "%.200s:%u: job %u has %u rank%s, the program %u",
                            tracer->label, tracer->jobs[placing->job].line, placing->job, ranks,
                            ranks == 1 ? "" : "s", placing->n_ranks);
}

enum wf_status wf_tracer_place(const struct wf_tracer_placing *placing, uint32_t *node_of,
                               struct wf_err *err)
{
    struct servers servers = {
        .n = (uint64_t)placing->n_nodes * placing->ranks_per_node,
        .per_node = placing->ranks_per_node,
        .nodes_per_switch = nodes_per_switch(placing->topo),
    };
    struct wf_tracer *tracer = NULL;

    WF_TRY(wf_tracer_load(placing->path, &tracer, err));
    struct global global = {.tracer = tracer};
    enum wf_status status = check_job(tracer, placing, err);
    WF_THEN(status, map_ranks(tracer, &servers, &global, err));
    for (uint32_t r = 0; r < placing->n_ranks && status == WF_OK; r++) {
        node_of[r] = node_of_server(&servers, global.server_of[global.first[placing->job] + r]);
    }
    free(global.server_of);
    free(global.first);
    wf_tracer_free(tracer);
    return status;
}
