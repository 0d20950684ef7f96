/* SPDX-License-Identifier: Apache-2.0 */
/* A table of cables, for spreadsheets and scripts. */
#include "base/text.h"
#include "ui/draw/cable.h"
#include "ui/draw/draw.h"

#include <inttypes.h>

static void csv_write(const struct wf_topo *topo, const char *spec, FILE *out)
{
    struct wf_draw_cables cables;
    struct wf_draw_cable cable;

    (void)fputs("from,to,from_port,to_port,from_coords,to_coords\n", out);
    wf_draw_cables_begin(&cables, topo);
    while (wf_draw_cables_next(&cables, &cable)) {
        char from[WF_DRAW_VERTEX_NAME_MAX], to[WF_DRAW_VERTEX_NAME_MAX], to_port[16] = "";
        char from_coords[WF_DRAW_VERTEX_COORDS_MAX], to_coords[WF_DRAW_VERTEX_COORDS_MAX];

        if (cable.to_port != WF_TOPO_NO_PORT) {
            (void)snprintf(to_port, sizeof(to_port), "%" PRIu32, cable.to_port);
        }
        wf_text_csv(out, wf_draw_vertex_name(topo, cable.from, from));
        (void)fputc(',', out);
        wf_text_csv(out, wf_draw_vertex_name(topo, cable.to, to));
        (void)fprintf(out, ",%" PRIu32 ",%s,%s,%s\n", cable.from_port, to_port,
                      wf_draw_vertex_coords(topo, cable.from, ' ', from_coords),
                      wf_draw_vertex_coords(topo, cable.to, ' ', to_coords));
    }
    wf_draw_cables_end(&cables);
}

const struct wf_draw_format wf_draw_csv = {
    .extension = ".csv",
    .summary = "a table of all cables",
    .every_cable = true,
    .write = csv_write,
};
