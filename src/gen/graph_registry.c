/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/graphs.h"
#include "gen/leanmd.h"

#include <string.h>

static const struct wf_graph_ops *const graph_table[] = {
#define WF_GRAPH_GENERATOR(name) &wf_gen_##name##_ops,
#include "gen/graphs.def"
    NULL,
};

const struct wf_graph_ops *const *wf_graph_table(void)
{
    return graph_table;
}

const struct wf_graph_ops *wf_graph_find(const char *name)
{
    for (const struct wf_graph_ops *const *ops = graph_table; *ops != NULL; ops++) {
        if (strcmp((*ops)->name, name) == 0) {
            return *ops;
        }
    }
    return NULL;
}
