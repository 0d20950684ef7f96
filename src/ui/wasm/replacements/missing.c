/* SPDX-License-Identifier: Apache-2.0 */
/* What pages do not have: running programs, and formats that need libraries. Where a scenario
 * asks for them, the answer says so. */
#include "base/host_noise.h"
#include "base/mem.h"
#include "model/topo/graph_format.h"
#include "mpi/vrank/program_source.h"
#include "mpi/vrank/recorder.h"
#include "program/trace/weft/frame.h"
#include "run/execute/orders.h"
#include "run/program/program.h"
#include "ui/wasm/unzstd.h"

#include <stdlib.h>
#include <string.h>

/* ---- programs ---- */

enum wf_status wf_vrank_source_new(const struct wf_vrank_config *config, struct wf_source **out,
                                   struct wf_err *err)
{
    return wf_err_set(err, WF_EUSAGE,
                      "programs do not run in a browser; use a trace of the program "
                      "(weft emulate writes one)");
}

enum wf_status wf_orders_prepare(const struct wf_scenario *scenario,
                                 const struct wf_sim_host *host, wf_orders_run *run,
                                 struct wf_orders *orders, struct wf_scenario **out,
                                 struct wf_err *err)
{
    *out = NULL;
    return WF_OK;
}

struct wf_source *wf_vrank_recorder_new(const struct wf_vrank_recorder_config *config)
{
    wf_panic("a page records no programs");
}

enum wf_status wf_vrank_recorder_finish(struct wf_source *source, struct wf_err *err)
{
    return WF_OK;
}

bool wf_vrank_recorder_keeps(const struct wf_source *recorder, uint32_t record,
                             struct wf_err *err)
{
    return true;
}

uint64_t wf_vrank_recorder_n_ops(const struct wf_source *recorder)
{
    return 0;
}

uint64_t wf_vrank_recorder_n_unmatched(const struct wf_source *recorder)
{
    return 0;
}

struct wf_host_noise wf_host_noise_measure(void)
{
    return (struct wf_host_noise){.median_ns = 0};
}

bool wf_host_noise_warning(const struct wf_host_noise *noise, bool cpu, char *text)
{
    return false;
}

void wf_sim_places(const char *program, const uint64_t *instructions, size_t n,
                   struct wf_sim_place *out)
{
    memset(out, 0, n * sizeof(*out));
}

/* ---- formats ---- */

enum wf_status wf_topo_graph_read_graphml(struct wf_topo_graph_reader *reader)
{
    return wf_err_set(reader->err, WF_EINVAL,
                      "GraphML is not read in a browser; use an edge list or DOT");
}

struct wf_native_packer {
    char none;
};

struct wf_native_packer *wf_native_packer_new(void)
{
    return wf_xcalloc(1, sizeof(struct wf_native_packer));
}

void wf_native_packer_free(struct wf_native_packer *packer)
{
    free(packer);
}

void wf_native_frame_pack(struct wf_native_packer *packer, struct wf_native_frame *frame,
                          const void *raw, size_t size, const void **stored)
{
    wf_native_frame_store(frame, raw, size);
    *stored = raw;
}

bool wf_native_frame_unpack(struct wf_native_packer *packer,
                            const struct wf_native_frame *frame, const void *stored, void *raw)
{
    if (frame->compressed) {
        if (!wf_wasm_unzstd(stored, frame->stored_size, raw, frame->raw_size)) {
            return false;
        }
    } else if (frame->raw_size > 0) {
        memcpy(raw, stored, frame->raw_size);
    }
    return wf_native_checksum(raw, frame->raw_size) == frame->checksum;
}
