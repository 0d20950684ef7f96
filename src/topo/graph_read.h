/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TOPO_GRAPH_READ_H
#define WF_TOPO_GRAPH_READ_H

/*
 * Reads a network from a file: an edge list, a subset of DOT or of GraphML, told apart by how
 * the text begins. docs/reference/graph-files.md describes what is understood.
 *
 * Whatever the bytes are, the outcome is a sound network or an error: all vertices reach all
 * others, no link leads back to where it begins, no two vertices are linked twice.
 */

#include "base/status.h"
#include "topo/csr.h"
#include "topo/topo.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Files are refused beyond this size. Since a link takes four bytes of text at least, numbers
 * of links stay far below WF_TOPO_LINK_MAX. */
#define WF_GRAPH_TEXT_MAX (UINT32_C(256) << 20)

/* Vertices are numbered as in struct wf_topo, the ports of a vertex in the order in which the
 * file names its links. */
struct wf_graph_net {
    uint32_t n_nodes;
    uint32_t gate;
    bool oneway;
    struct wf_csr links;
    struct wf_link_props *props; /* one a link; null if the file says nothing of any */
};

void wf_graph_net_release(struct wf_graph_net *net);

/* Both set *net, which the caller releases, or leave it alone. What is wrong with the text is
 * WF_EINVAL and begins with `name:line:column:`; a file that cannot be read is WF_EIO. */
WF_NODISCARD
enum wf_status wf_graph_read_file(const char *path, struct wf_graph_net *net,
                                  struct wf_err *err);
/* Reads `size` bytes at `text`; `name` is what messages call them. */
WF_NODISCARD
enum wf_status wf_graph_read_text(const char *name, const char *text, size_t size,
                                  struct wf_graph_net *net, struct wf_err *err);

#endif
