/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lookup.h"
#include "base/mem.h"
#include "program/gen/gen.h"
#include "program/gen/graphs.h"

void *wf_gen_new(size_t size, const struct wf_source_ops *ops, uint32_t n_ranks,
                 struct wf_source **out)
{
    *out = wf_xcalloc(1, size);
    **out = (struct wf_source){.ops = ops, .n_ranks = n_ranks};
    return *out;
}

static const struct wf_source_ops *const gen_table[] = {
#define WF_GENERATOR(name) &wf_gen_##name##_ops,
#include "program/gen/generators.def"
    NULL,
};

struct wf_registry wf_gen_registry = WF_REGISTRY("generator", gen_table, .with = NULL);

const struct wf_source_ops *const *wf_gen_table(void)
{
    return (const struct wf_source_ops *const *)wf_registry_entries(&wf_gen_registry);
}

enum wf_status wf_gen_find(const char *name, const struct wf_source_ops **out,
                           struct wf_err *err)
{
    *out = wf_lookup("generator", name, wf_gen_table(), err);
    return *out != NULL ? WF_OK : WF_EUSAGE;
}

static const struct wf_graph_ops *const graph_table[] = {
#define WF_GRAPH_GENERATOR(name) &wf_gen_##name##_ops,
#include "program/gen/graphs.def"
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
