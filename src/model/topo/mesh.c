/* SPDX-License-Identifier: Apache-2.0 */
/* Lines in each dimension: a torus without its wrap-around links. */
#include "model/topo/grid.h"
#include "model/topo/topo.h"

struct params {
    char *size;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, size, TEXT, .doc = "Nodes in each dimension, as in 8x8x8"),
    WF_PARAM_END,
};

static enum wf_status mesh_create(const void *params, struct wf_topo **out, struct wf_err *err)
{
    const struct params *given = params;
    struct wf_topo_grid grid;

    WF_TRY(wf_topo_grid_parse(&grid, &wf_topo_mesh_ops, given->size, err));
    *out = wf_topo_grid_finish(&grid);
    return WF_OK;
}

static const char *const examples[] = {
    "mesh:1", "mesh:2", "mesh:7", "mesh:4x3", "mesh:2x3x4", "mesh:2x1x2x3x2", NULL,
};

const struct wf_topo_ops wf_topo_mesh_ops = {
    .name = "mesh",
    .args = "<size>x<size>...",
    .summary = "lines in 1 to 8 dimensions, dimension-order routing",
    .shape = WF_TOPO_SHAPE_GRID,
    .vc_class = WF_TOPO_VC_GRID,
    .examples = examples,
    .params = params_table,
    .params_size = sizeof(struct params),
    .create = mesh_create,
    WF_TOPO_GRID_OPS,
};
