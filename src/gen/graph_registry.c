/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/graphs.h"
#include "gen/leanmd.h"

#include <string.h>

/* The one place that lists generators of task graphs. */
static const struct wf_graph_ops *const graph_table[] = {
    &wf_gen_leanmd_ops,
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
