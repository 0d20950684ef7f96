/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Generators: op sources that compute their ops, so that a program of a million ranks needs
 * no file of a million ranks.
 */

#include "program/ops/source.h"

#define WF_GENERATOR(name) extern const struct wf_source_ops wf_gen_##name##_ops;
#include "program/gen/generators.def"

/* The registered generators in a fixed order, null-terminated. */
const struct wf_source_ops *const *wf_gen_table(void);

/* The generator called `name` ("stencil3d"). An unknown name is WF_EUSAGE and proposes the
 * nearest known one. */
WF_NODISCARD
enum wf_status wf_gen_find(const char *name, const struct wf_source_ops **out,
                           struct wf_err *err);
