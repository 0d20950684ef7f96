/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Generators: op sources that compute their ops, so that a program of a million ranks needs
 * no file of a million ranks.
 */

#include "base/registry.h"
#include "program/ops/source.h"

/* For the generators themselves. Each has `struct params` and `params_table`, x_create() and x_next(),
 * and names the other members of its ops after the summary:
 *
 *     WF_GENERATOR_OPS(cg, "conjugate gradients", .group = cg_group);
 */
#define WF_GENERATOR_OPS(id, ...)                    \
    const struct wf_source_ops wf_gen_##id##_ops = { \
        .name = #id,                                 \
        .params = params_table,                      \
        .params_size = sizeof(struct params),        \
        .create = id##_create,                       \
        .next = id##_next,                           \
        .summary = __VA_ARGS__,                      \
    }

/* Makes a source of `size` bytes, zeroed but for its head, which *out becomes. */
WF_PLUGIN_API void *wf_gen_new(size_t size, const struct wf_source_ops *ops, uint32_t n_ranks,
                               struct wf_source **out);

#define WF_GENERATOR(name) extern const struct wf_source_ops wf_gen_##name##_ops;
#include "program/gen/generators.def"
extern struct wf_registry wf_gen_registry; /* for plug-ins */

/* The registered generators in a fixed order, null-terminated. */
const struct wf_source_ops *const *wf_gen_table(void);

/* The generator called `name` ("stencil3d"). An unknown name is WF_EUSAGE and proposes the
 * nearest known one. */
enum wf_status wf_gen_find(const char *name, const struct wf_source_ops **out,
                           struct wf_err *err);
