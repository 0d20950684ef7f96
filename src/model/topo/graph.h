/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "model/topo/topo.h"

/* The topology that `size` bytes at `text` describe, as `graph:<file>` does from a file of this
 * content; `name` is what messages call it. Ownership as in ops->create. */
enum wf_status wf_topo_graph_create_text(const char *name, const char *text, size_t size,
                                         struct wf_topo **out, struct wf_err *err);
