/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Writes networks to files, as a picture or cable by cable.
 *
 * To add a format: one .c file that defines a const struct wf_draw_format, and one line in
 * ui/draw/formats.def. Drawing reads a topology through model/topo/topo.h alone,
 * so that a new topology is drawn without a change here.
 */

#include "base/status.h"
#include "model/topo/topo.h"

#include <stdbool.h>
#include <stdio.h>

/* All members are required. */
struct wf_draw_format {
    const char *extension; /* of files in this format, including the dot */
    const char *summary;   /* one line, for help */
    bool every_cable;      /* the file grows with the network */

    /* Writes `topo`, whose spec the user gave as `spec`. The caller checks `out` for errors
     * (ferror). */
    void (*write)(const struct wf_topo *topo, const char *spec, FILE *out);
};

#define WF_DRAW_FORMAT(name) extern const struct wf_draw_format wf_draw_##name;
#include "ui/draw/formats.def"

/* The extensions of all formats (base/extension.h). */
const char *wf_draw_extension(size_t i);

/* The format for a file called `path`, by its extension; WF_EUSAGE if there is none. */
enum wf_status wf_draw_for_path(const char *path, const struct wf_draw_format **out,
                                struct wf_err *err);

/* The name of a vertex in output for users: nodes have their number, switches are "s0", "s1"
 * and so on, unless the user's graph file names them. Returns `buf`, which has WF_DRAW_VERTEX_NAME_MAX bytes. */
enum { WF_DRAW_VERTEX_NAME_MAX = 64 };
char *wf_draw_vertex_name(const struct wf_topo *topo, uint32_t vertex, char *buf);

/* The coordinates of a vertex, separated by `between`; "-" for a hub, which has no
 * coordinates. Returns `buf`, which has WF_DRAW_VERTEX_COORDS_MAX bytes. */
enum { WF_DRAW_VERTEX_COORDS_MAX = 96 };
char *wf_draw_vertex_coords(const struct wf_topo *topo, uint32_t vertex, char between,
                            char *buf);

/* The number of vertices that forward messages. If the innermost network of a hierarchy is
 * direct, these are all nodes and the switches of the outer networks. */
uint32_t wf_draw_network_routers(const struct wf_topo *topo);
