/* SPDX-License-Identifier: Apache-2.0 */
/* A picture as SVG 1.1: self-contained, with colours for light and dark surroundings. */
#include "base/text.h"
#include "ui/draw/draw.h"
#include "ui/draw/layout.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { SIDE_MAX = 1100, MARGIN = 28, CAPTION_LINE = 20, SPEC_SHOWN_MAX = 72 };

static const char style_sheet[] =
    "text{font-family:system-ui,'Segoe UI','DejaVu Sans',sans-serif;text-anchor:middle;"
    "fill:#1b2530}\n"
    ".paper{fill:#fff}\n"
    ".lines{fill:none;stroke-width:1.3}\n"
    ".plain{stroke:#6b7a8c}\n"
    ".far{stroke:#d08a2e;stroke-opacity:.75}\n"
    ".hint{stroke:#6b7a8c;stroke-dasharray:2 5}\n"
    ".discs{fill:#e8f0f8;stroke:#b9c9da}\n"
    ".nodes{fill:#2f6fb3}\n"
    ".switches{fill:#2c8a63}\n"
    ".blocks,.groups{fill:#cfe0f2;stroke:#2f6fb3}\n"
    ".numbers text{fill:#fff}\n"
    ".numbers .name{fill:#1b2530}\n"
    ".arrow{fill:#6b7a8c}\n"
    ".quiet{fill:#566472}\n"
    "@media (prefers-color-scheme:dark){\n"
    "text{fill:#e6ebf0}\n"
    ".paper{fill:#14191f}\n"
    ".plain,.hint{stroke:#8494a6}\n"
    ".far{stroke:#e0a24c}\n"
    ".discs{fill:#1f2a36;stroke:#3c4f63}\n"
    ".nodes{fill:#5b9bdc}\n"
    ".switches{fill:#4fb489}\n"
    ".blocks,.groups{fill:#27405c;stroke:#5b9bdc}\n"
    ".numbers text{fill:#10151a}\n"
    ".numbers .name{fill:#e6ebf0}\n"
    ".arrow{fill:#8494a6}\n"
    ".quiet{fill:#a4b0bc}\n"
    "}\n";

/* Names that do not fit into their marks are written below them. */
#define NAME_SIZE   11.0
#define NAMED_SCALE 1.7 /* more space between the marks for them */

/* The page that is written, and the mapping from coordinates of the picture to the page. */
struct page {
    FILE *out;
    const struct wf_draw_picture *picture;
    double scale, x, y;
    bool is_named; /* vertices have names of the user, which may be longer than their marks */
};

/* Writes a number with at most one decimal, without a trailing zero. */
static void put_number(FILE *out, double value)
{
    long tenths = lround(value * 10);

    if (tenths % 10 == 0) {
        (void)fprintf(out, "%ld", tenths / 10);
    } else {
        (void)fprintf(out, "%.1f", (double)tenths / 10);
    }
}

/* Writes a text in which each @ is replaced by the next argument, a double. */
static void put(FILE *out, const char *text, ...)
{
    va_list numbers;

    va_start(numbers, text);
    for (; *text != '\0'; text++) {
        if (*text == '@') {
            put_number(out, va_arg(numbers, double));
        } else {
            (void)fputc(*text, out);
        }
    }
    va_end(numbers);
}

/* Texts may come from users: bytes that are not printable ASCII become question marks. */
static void put_text(FILE *out, const char *text, size_t most)
{
    for (size_t i = 0; i < most && text[i] != '\0'; i++) {
        unsigned char c = (unsigned char)text[i];
        const char *entity = c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : NULL;

        if (entity != NULL) {
            (void)fputs(entity, out);
        } else {
            (void)fputc(c < 0x20 || c > 0x7e ? '?' : c, out);
        }
    }
}

static double page_x(const struct page *page, double x)
{
    return page->x + x * page->scale;
}

static double page_y(const struct page *page, double y)
{
    return page->y + y * page->scale;
}

/* ---- lines ---- */

static void put_line_end(const struct page *page, const struct wf_draw_line *line)
{
    if (line->oneway) {
        (void)fputs(" marker-end=\"url(#arrow)\"", page->out);
    }
    if (line->links > 0 && page->picture->n_lines <= 2000) {
        (void)fprintf(page->out, "><title>%" PRIu64 " link%s</title></%s>\n", line->links,
                      line->links == 1 ? "" : "s", line->bow != 0 ? "path" : "line");
    } else {
        (void)fputs("/>\n", page->out);
    }
}

/* Moves (*x, *y) from the start of a line to its end. An arrow ends at the edge of its mark. */
static void go_to_end(const struct page *page, const struct wf_draw_line *line, double *x,
                      double *y)
{
    const struct wf_draw_mark *mark = &page->picture->marks[line->b];
    double dx = mark->x - *x, dy = mark->y - *y, length = hypot(dx, dy);
    double keep = line->oneway && length > mark->r ? 1 - mark->r / length : 1;

    *x = page_x(page, *x + dx * keep);
    *y = page_y(page, *y + dy * keep);
}

static void put_line(const struct page *page, const struct wf_draw_line *line)
{
    const struct wf_draw_mark *a = &page->picture->marks[line->a];
    FILE *out = page->out;
    double x = a->x, y = a->y;

    if (line->bow != 0) {
        wf_draw_picture_control(page->picture, line, &x, &y);
    }
    double end_x = x, end_y = y;
    go_to_end(page, line, &end_x, &end_y);
    if (line->bow == 0) {
        put(out, "<line x1=\"@\" y1=\"@\" x2=\"@\" y2=\"@\"", page_x(page, a->x),
            page_y(page, a->y), end_x, end_y);
    } else {
        put(out, "<path d=\"M@ @Q@ @ @ @\"", page_x(page, a->x), page_y(page, a->y),
            page_x(page, x), page_y(page, y), end_x, end_y);
    }
    put_line_end(page, line);
}

static void put_lines(const struct page *page)
{
    static const char *const classes[] = {[WF_DRAW_LINE_FAR] = "far",
                                          [WF_DRAW_LINE_PLAIN] = "plain",
                                          [WF_DRAW_LINE_HINT] = "hint"};
    /* The more lines there are, the thinner they are. */
    uint32_t n = page->picture->n_lines;
    double width = n > 2000 ? 0.4 : n > 600 ? 0.7 : n > 250 ? 1 : 1.3;

    for (int style = 0; style < WF_DRAW_LINE_STYLES; style++) {
        (void)fprintf(page->out, "<g class=\"lines %s\" style=\"stroke-width:%.1f\">\n",
                      classes[style], width);
        for (uint32_t i = 0; i < n; i++) {
            if ((int)page->picture->lines[i].style == style) {
                put_line(page, &page->picture->lines[i]);
            }
        }
        (void)fputs("</g>\n", page->out);
    }
}

/* ---- marks ---- */

static void put_mark(const struct page *page, const struct wf_draw_mark *mark)
{
    bool square = mark->kind == WF_DRAW_MARK_SWITCH || mark->kind == WF_DRAW_MARK_BLOCK;
    double x = page_x(page, mark->x), y = page_y(page, mark->y), r = mark->r * page->scale;
    FILE *out = page->out;

    r = fmax(r, 0.8);
    if (square) {
        double half = mark->kind == WF_DRAW_MARK_BLOCK ? 0.72 * r : 0.9 * r;
        double wide = mark->kind == WF_DRAW_MARK_BLOCK ? r : half;

        put(out, "<rect x=\"@\" y=\"@\" width=\"@\" height=\"@\" rx=\"@\"", x - wide, y - half,
            2 * wide, 2 * half, fmin(3, 0.3 * r));
    } else {
        put(out, "<circle cx=\"@\" cy=\"@\" r=\"@\"", x, y, r);
    }
    if (mark->title[0] == '\0') {
        (void)fputs("/>\n", out);
        return;
    }
    (void)fputs("><title>", out);
    wf_text_markup(out, mark->title);
    (void)fprintf(out, "</title></%s>\n", square ? "rect" : "circle");
}

static void put_label(const struct page *page, const struct wf_draw_mark *mark)
{
    double most =
        mark->kind == WF_DRAW_MARK_BLOCK || mark->kind == WF_DRAW_MARK_GROUP ? 13 : 11;
    double room = 2 * mark->r * page->scale - 2;
    double size = fmin(most, room / (0.6 * (double)strlen(mark->label)));

    bool is_below = page->is_named && size < NAME_SIZE && mark->vertex != WF_TOPO_NO_VERTEX;

    if (mark->label[0] == '\0' || (size < 4 && !is_below)) {
        return;
    }
    size = is_below ? NAME_SIZE : size;
    put(page->out,
        is_below ? "<text class=\"name\" x=\"@\" y=\"@\" font-size=\"@\">"
                 : "<text x=\"@\" y=\"@\" font-size=\"@\">",
        page_x(page, mark->x),
        page_y(page, mark->y) + (is_below ? mark->r * page->scale + size : 0.36 * size), size);
    wf_text_markup(page->out, mark->label);
    (void)fputs("</text>\n", page->out);
}

static void put_marks(const struct page *page, enum wf_draw_mark_kind kind)
{
    static const char *const classes[] = {
        [WF_DRAW_MARK_DISC] = "discs",      [WF_DRAW_MARK_NODE] = "nodes",
        [WF_DRAW_MARK_SWITCH] = "switches", [WF_DRAW_MARK_BLOCK] = "blocks",
        [WF_DRAW_MARK_GROUP] = "groups",
    };
    bool on_color = kind == WF_DRAW_MARK_NODE || kind == WF_DRAW_MARK_SWITCH;

    (void)fprintf(page->out, "<g class=\"%s\">\n", classes[kind]);
    for (uint32_t i = 0; i < page->picture->n_marks; i++) {
        const struct wf_draw_mark *mark = &page->picture->marks[i];
        if (mark->kind == kind && mark->r > 0) {
            put_mark(page, mark);
        }
    }
    (void)fprintf(page->out, "</g>\n<g%s>\n", on_color ? " class=\"numbers\"" : "");
    for (uint32_t i = 0; i < page->picture->n_marks; i++) {
        if (page->picture->marks[i].kind == kind) {
            put_label(page, &page->picture->marks[i]);
        }
    }
    (void)fputs("</g>\n", page->out);
}

static void put_notes(const struct page *page)
{
    for (uint32_t i = 0; i < page->picture->n_notes; i++) {
        const struct wf_draw_note *note = &page->picture->notes[i];

        put(page->out, "<text class=\"quiet\" x=\"@\" y=\"@\" font-size=\"@\">",
            page_x(page, note->x), page_y(page, note->y), fmax(9, note->size * page->scale));
        put_text(page->out, note->text, sizeof(note->text));
        (void)fputs("</text>\n", page->out);
    }
}

/* ---- the page ---- */

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Writes three lines centred at `x`, the first base line at `y`. */
static void put_caption(const struct page *page, const struct wf_topo *topo, const char *spec,
                        double x, double y)
{
    FILE *out = page->out;
    size_t length = strlen(spec);
    uint32_t routers = wf_draw_network_routers(topo);

    put(out, "<text font-size=\"17\" font-weight=\"600\" x=\"@\" y=\"@\">", x, y);
    put_text(out, spec, SPEC_SHOWN_MAX);
    (void)fprintf(out, "%s</text>\n", length > SPEC_SHOWN_MAX ? "..." : "");

    put(out, "<text font-size=\"13\" x=\"@\" y=\"@\"", x, y + CAPTION_LINE);
    (void)fprintf(out,
                  ">%" PRIu32 " node%s, %" PRIu32 " router%s, %" PRIu64
                  " link%s, diameter %" PRIu32 "</text>\n",
                  topo->n_nodes, plural(topo->n_nodes), routers, plural(routers), topo->n_links,
                  plural(topo->n_links), topo->ops->diameter(topo));

    put(out, "<text font-size=\"13\" class=\"quiet\" x=\"@\" y=\"@\">", x,
        y + 2 * CAPTION_LINE);
    put_text(out, page->picture->legend, sizeof(page->picture->legend));
    (void)fputs("</text>\n", out);
}

/* The width of the longest line of the caption. */
static double caption_width(const struct wf_draw_picture *picture, const char *spec)
{
    double title = 10.0 * fmin((double)strlen(spec), SPEC_SHOWN_MAX + 3);

    return fmax(fmax(title, 7.4 * (double)strlen(picture->legend)), 420);
}

static void put_head(FILE *out, double width, double height)
{
    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<svg xmlns=\"http://www.w3.org/2000/svg\"",
                out);
    put(out, " width=\"@\" height=\"@\"", width, height);
    (void)fprintf(out,
                  " viewBox=\"0 0 %.0f %.0f\">\n<style>\n%s</style>\n"
                  "<defs><marker id=\"arrow\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" "
                  "markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\">"
                  "<polygon class=\"arrow\" points=\"0,0 6,3 0,6\"/></marker></defs>\n"
                  "<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n",
                  width, height, style_sheet);
}

static void svg_write(const struct wf_topo *topo, const char *spec, FILE *out)
{
    struct wf_draw_picture picture = {.n_marks = 0};

    wf_draw_layout(topo, spec, &picture);

    struct wf_draw_box box = wf_draw_picture_bounds(&picture);
    double wide = box.right - box.left, high = box.bottom - box.top;
    bool is_named = topo->names != NULL;
    double scale = fmin(is_named ? NAMED_SCALE : 1, SIDE_MAX / fmax(1, fmax(wide, high)));
    double width = ceil(fmax(wide * scale, caption_width(&picture, spec)) + 2 * MARGIN);
    double height = ceil(high * scale + 2.5 * MARGIN + 3 * CAPTION_LINE);
    struct page page = {
        .out = out,
        .picture = &picture,
        .scale = scale,
        .x = width / 2 - (box.left + box.right) / 2 * scale,
        .y = MARGIN - box.top * scale,
        .is_named = is_named,
    };

    put_head(out, width, height);
    put_marks(&page, WF_DRAW_MARK_DISC);
    put_lines(&page);
    for (int kind = WF_DRAW_MARK_NODE; kind < WF_DRAW_MARK_KINDS; kind++) {
        put_marks(&page, (enum wf_draw_mark_kind)kind);
    }
    put_notes(&page);
    put_caption(&page, topo, spec, width / 2, MARGIN + high * scale + 1.5 * MARGIN);
    (void)fputs("</svg>\n", out);
    wf_draw_picture_fini(&picture);
}

const struct wf_draw_format wf_draw_svg = {
    .extension = ".svg",
    .summary = "a picture",
    .every_cable = false,
    .write = svg_write,
};
