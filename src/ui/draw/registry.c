/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/draw/draw.h"

#include "base/extension.h"
#include "model/topo/nested.h"

#include <inttypes.h>

static const struct wf_draw_format *const format_table[] = {
#define WF_DRAW_FORMAT(name) &wf_draw_##name,
#include "ui/draw/formats.def"
    NULL,
};

const char *wf_draw_extension(size_t i)
{
    return format_table[i] != NULL ? format_table[i]->extension : NULL;
}

enum wf_status wf_draw_for_path(const char *path, const struct wf_draw_format **out,
                                struct wf_err *err)
{
    size_t i;

    WF_TRY(wf_extension_find(wf_draw_extension, "output", path, &i, err));
    *out = format_table[i];
    return WF_OK;
}

char *wf_draw_vertex_name(const struct wf_topo *topo, uint32_t vertex, char *buf)
{
    bool is_switch = vertex >= topo->n_nodes;

    if (topo->names != NULL) {
        (void)snprintf(buf, WF_DRAW_VERTEX_NAME_MAX, "%s", topo->names[vertex]);
        return buf;
    }
    (void)snprintf(buf, WF_DRAW_VERTEX_NAME_MAX, "%s%" PRIu32, is_switch ? "s" : "",
                   is_switch ? vertex - topo->n_nodes : vertex);
    return buf;
}

char *wf_draw_vertex_coords(const struct wf_topo *topo, uint32_t vertex, char between,
                            char *buf)
{
    uint32_t coord[WF_TOPO_COORDS_MAX];
    uint32_t n = topo->ops->coords(topo, vertex, coord);
    size_t used = 0;

    buf[0] = '\0';
    for (uint32_t i = 0; i < n; i++) {
        char gap[2] = "";
        char number[16] = "-";

        if (i > 0) {
            gap[0] = between;
        }
        if (coord[i] != WF_TOPO_NO_VERTEX) {
            (void)snprintf(number, sizeof(number), "%" PRIu32, coord[i]);
        }
        int len = snprintf(buf + used, WF_DRAW_VERTEX_COORDS_MAX - used, "%s%s", gap, number);
        used += (size_t)len;
    }
    return buf;
}

uint32_t wf_draw_network_routers(const struct wf_topo *topo)
{
    const struct wf_topo *innermost = wf_topo_level(topo, wf_topo_n_levels(topo) - 1);

    return wf_topo_is_direct(innermost) ? topo->n_vertices : wf_topo_n_routers(topo);
}
