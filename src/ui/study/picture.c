/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/picture.h"

#include "base/buf.h"
#include "ui/draw/layout.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINKS_MAX = 4000 };

WF_PRINTF(2, 3) static void put(struct wf_buf *buf, const char *fmt, ...)
{
    char text[128];
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    wf_buf_append(buf, text, n > 0 ? (size_t)n : 0);
}

static void add_text(struct wf_value *section, const char *name, struct wf_buf *buf)
{
    wf_buf_append(buf, "", 1);
    wf_doc_text(section, name, (const char *)buf->data);
    buf->size = 0;
}

/* Writes vertices as "x y r kind vertex", and links as "a b x y" with their bend point. */
static void add_picture(struct wf_value *section, const struct wf_topo *topo,
                        const struct wf_draw_picture *picture)
{
    struct wf_draw_box box = wf_draw_picture_bounds(picture);
    struct wf_buf buf = {.data = NULL};

    put(&buf, "%.1f %.1f %.1f %.1f", box.left, box.top, box.right, box.bottom);
    add_text(section, "box", &buf);
    for (uint32_t i = 0; i < picture->n_marks; i++) {
        const struct wf_draw_mark *mark = &picture->marks[i];
        put(&buf, "%s%.1f %.1f %.1f %d %lld", i == 0 ? "" : ";", mark->x, mark->y, mark->r,
            (int)mark->kind,
            mark->vertex == WF_TOPO_NO_VERTEX ? -1LL : (long long)mark->vertex);
    }
    add_text(section, "marks", &buf);
    for (uint32_t i = 0; i < picture->n_lines; i++) {
        const struct wf_draw_line *line = &picture->lines[i];
        double x, y;
        wf_draw_picture_control(picture, line, &x, &y);
        put(&buf, "%s%u %u %.1f %.1f", i == 0 ? "" : ";", line->a, line->b, x, y);
    }
    add_text(section, "lines", &buf);
    wf_doc_count(section, "nodes", topo->n_nodes);
    struct wf_value *names = topo->names != NULL ? wf_doc_list(section, "names") : NULL;
    for (uint32_t i = 0; names != NULL && i < topo->n_vertices; i++) {
        wf_doc_text(names, NULL, topo->names[i]);
    }
    wf_buf_fini(&buf);
}

void wf_study_picture(const struct wf_value *doc, struct wf_value *extra)
{
    const char *spec = wf_doc_get_text(doc, "scenario.topology", NULL);
    struct wf_topo *topo = NULL;
    struct wf_err ignored; /* the report then has no picture */

    if (spec != NULL && wf_topo_create(spec, &topo, &ignored) == WF_OK) {
        struct wf_draw_picture picture = {.n_marks = 0};
        wf_draw_layout(topo, spec, &picture);
        if (picture.n_marks > 0) {
            add_picture(wf_doc_section(extra, "picture"), topo, &picture);
        }
        wf_draw_picture_fini(&picture);
        wf_topo_free(topo);
    }
}

bool wf_study_picture_is_small(const char *topology)
{
    struct wf_topo *topo = NULL;
    struct wf_err ignored; /* the run of the scenario reports the error */
    bool small = false;

    if (wf_topo_create(topology, &topo, &ignored) == WF_OK) {
        small = topo->n_links <= LINKS_MAX;
        wf_topo_free(topo);
    }
    return small;
}
