/* SPDX-License-Identifier: Apache-2.0 */
/* The language of Graphviz. */
#include "ui/draw/cable.h"
#include "ui/draw/draw.h"

#include <inttypes.h>

/* Between double quotes, a quote and a backslash need a backslash. */
static void put_quoted(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (const char *p = text; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\') {
            (void)fputc('\\', out);
        }
        (void)fputc(c < 0x20 || c == 0x7f ? '?' : c, out);
    }
    (void)fputc('"', out);
}

/* Names of the user are quoted. */
static void put_name(FILE *out, const struct wf_topo *topo, const char *name)
{
    if (topo->names != NULL) {
        put_quoted(out, name);
    } else {
        (void)fputs(name, out);
    }
}

static void dot_write(const struct wf_topo *topo, const char *spec, FILE *out)
{
    struct wf_draw_cables cables;
    struct wf_draw_cable cable;

    (void)fputs(topo->oneway ? "digraph " : "graph ", out);
    put_quoted(out, spec);
    (void)fputs(" {\n  node [shape=circle];\n", out);
    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        char name[WF_DRAW_VERTEX_NAME_MAX];

        (void)fputs("  ", out);
        put_name(out, topo, wf_draw_vertex_name(topo, v, name));
        (void)fputs(v >= topo->n_nodes ? " [shape=box];\n" : ";\n", out);
    }
    wf_draw_cables_begin(&cables, topo);
    while (wf_draw_cables_next(&cables, &cable)) {
        char from[WF_DRAW_VERTEX_NAME_MAX], to[WF_DRAW_VERTEX_NAME_MAX];

        (void)fputs("  ", out);
        put_name(out, topo, wf_draw_vertex_name(topo, cable.from, from));
        (void)fputs(topo->oneway ? " -> " : " -- ", out);
        put_name(out, topo, wf_draw_vertex_name(topo, cable.to, to));
        (void)fputs(";\n", out);
    }
    wf_draw_cables_end(&cables);
    (void)fputs("}\n", out);
}

const struct wf_draw_format wf_draw_dot = {
    .extension = ".dot",
    .summary = "the language of Graphviz",
    .every_cable = true,
    .write = dot_write,
};
