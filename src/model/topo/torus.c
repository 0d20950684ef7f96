/* SPDX-License-Identifier: Apache-2.0 */
/* The k-ary n-dimensional torus, some of whose dimensions may be lines. */
#include "model/topo/grid.h"
#include "model/topo/topo.h"

struct params {
    char *size, *wrap;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, size, TEXT, .doc = "Nodes in each dimension, as in 8x8x8"),
    WF_PARAM_ROW(struct params, wrap, TEXT, .def = "",
                 .doc = "Which dimensions are rings, as in 1,0,1; by default all of them"),
    WF_PARAM_END,
};

static enum wf_status torus_create(const void *params, struct wf_topo **out, struct wf_err *err)
{
    const struct params *given = params;
    struct wf_topo_grid grid;

    WF_TRY(wf_topo_grid_parse(&grid, &wf_topo_torus_ops, given->size, err));
    WF_TRY(wf_topo_grid_parse_wrap(&grid, given->wrap, err));
    *out = wf_topo_grid_finish(&grid);
    return WF_OK;
}

static const char *const examples[] = {
    "torus:1",
    "torus:2",
    "torus:5",
    "torus:4x4",
    "torus:2x3x4",
    "torus:1x6",
    "torus:2x1x2x3x2",
    "torus:4x5,wrap=1,0",
    "torus:3x2x4,wrap=0/1/1",
    NULL,
};

const struct wf_topo_ops wf_topo_torus_ops = {
    .name = "torus",
    .args = "<size>x<size>...[,wrap=<0|1>,...]",
    .summary = "rings in 1 to 8 dimensions, dimension-order routing",
    .shape = WF_TOPO_SHAPE_GRID,
    .vc_class = WF_TOPO_VC_GRID,
    .examples = examples,
    .params = params_table,
    .params_size = sizeof(struct params),
    .create = torus_create,
    WF_TOPO_GRID_OPS,
};
