/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/draw/draw.h"

#include "model/topo/nested.h"

#include <inttypes.h>
#include <string.h>

static const struct wf_draw_format *const format_table[] = {
#define WF_DRAW_FORMAT(name) &wf_draw_##name,
#include "ui/draw/formats.def"
    NULL,
};

static enum wf_status unknown_extension(const char *path, struct wf_err *err)
{
    char known[128] = "";
    size_t used = 0;

    for (const struct wf_draw_format *const *f = format_table; *f != NULL; f++) {
        const char *between = used == 0 ? "" : f[1] == NULL ? " or " : ", ";
        int n = snprintf(known + used, sizeof(known) - used, "%s%s", between, (*f)->extension);
        used += (size_t)n < sizeof(known) - used ? (size_t)n : 0;
    }
    return wf_err_set(err, WF_EUSAGE, "output '%.200s': the name must end in %s", path, known);
}

enum wf_status wf_draw_for_path(const char *path, const struct wf_draw_format **out,
                                struct wf_err *err)
{
    size_t len = strlen(path);

    for (const struct wf_draw_format *const *f = format_table; *f != NULL; f++) {
        size_t ext = strlen((*f)->extension);
        if (len > ext && strcmp(path + len - ext, (*f)->extension) == 0) {
            *out = *f;
            return WF_OK;
        }
    }
    return unknown_extension(path, err);
}

char *wf_draw_vertex_name(const struct wf_topo *topo, uint32_t vertex, char *buf)
{
    bool is_switch = vertex >= topo->n_nodes;

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
