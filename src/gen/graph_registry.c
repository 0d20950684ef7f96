/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/graphs.h"

#include "base/lookup.h"

static const struct wf_graph_ops *const graph_table[] = {
#define WF_GRAPH_GENERATOR(name) &wf_gen_##name##_ops,
#include "gen/graphs.def"
    NULL,
};

const struct wf_graph_ops *const *wf_gen_graph_table(void)
{
    return graph_table;
}

const struct wf_graph_ops *wf_gen_graph_find(const char *name)
{
    return wf_lookup("generator", name, graph_table, NULL);
}
