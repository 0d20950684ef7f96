/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "ui/draw/bins.h"
#include "ui/draw/cable.h"
#include "ui/draw/draw.h"
#include "ui/draw/layout.h"

#include "harness/wf_test.h"

#include <math.h>

enum { SVG_SIZE_MAX = 500000, DEPTH_MAX = 16 };

/* The output of a format for a spec, for the caller to free; null if the spec is wrong. */
static char *written(const struct wf_draw_format *format, const char *spec)
{
    struct wf_topo *topo = NULL;
    struct wf_err err;
    char *text = NULL;
    size_t size = 0;

    if (wf_topo_create(spec, &topo, &err) != WF_OK) {
        printf("# %s: %s\n", spec, err.text);
        return NULL;
    }
    FILE *out = open_memstream(&text, &size);
    format->write(topo, spec, out);
    (void)fclose(out);
    wf_topo_free(topo);
    return text;
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;

    for (const char *p = strstr(text, what); p != NULL; p = strstr(p + 1, what)) {
        n++;
    }
    return n;
}

/* The elements opened within the group of a class: "nodes", "switches", ... */
static unsigned count_in(const char *svg, const char *class, const char *element)
{
    char open[64];

    (void)snprintf(open, sizeof(open), "<g class=\"%s\"", class);
    const char *begin = strstr(svg, open);
    if (begin == NULL) {
        return 0;
    }
    const char *end = strstr(begin, "</g>");
    char *part = wf_xcalloc((size_t)(end - begin) + 1, 1);
    memcpy(part, begin, (size_t)(end - begin));
    unsigned n = count(part, element);
    free(part);
    return n;
}

/* Enough of an XML parser to find elements that are not closed, and stray marks. */
static bool is_well_formed(const char *text)
{
    char open[DEPTH_MAX][16];
    int depth = 0, roots = 0;

    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '&' && strncmp(p, "&lt;", 4) != 0 && strncmp(p, "&gt;", 4) != 0 &&
            strncmp(p, "&amp;", 5) != 0) {
            return false;
        }
        if (*p != '<') {
            continue;
        }
        const char *end = p + strcspn(p + 1, "<>") + 1;
        if (*end != '>') {
            return false;
        }
        if (p[1] == '/') {
            size_t len = depth > 0 ? strlen(open[depth - 1]) : 0;
            if (depth == 0 || strncmp(p + 2, open[depth - 1], len) != 0 || p[2 + len] != '>') {
                return false;
            }
            depth--;
        } else if (p[1] != '?' && end[-1] != '/') {
            size_t len = strcspn(p + 1, " >\n");
            if (depth == DEPTH_MAX || len >= sizeof(open[0])) {
                return false;
            }
            memcpy(open[depth], p + 1, len);
            open[depth++][len] = '\0';
            roots += depth == 1 ? 1 : 0;
        }
        p = end;
    }
    return depth == 0 && roots == 1;
}

/* A coordinate that is not a number or is off the page was never computed. */
static bool has_only_numbers(const char *svg)
{
    return strstr(svg, "nan") == NULL && strstr(svg, "inf") == NULL &&
           strstr(svg, "=\"-") == NULL;
}

static void small_networks_show_every_vertex_and_cable(void)
{
    static const struct {
        const char *spec;
        unsigned nodes, switches, straight, curved;
    } cases[] = {
        {"mesh:1", 1, 0, 0, 0},
        {"mesh:8x8", 64, 0, 112, 0},
        {"torus:8x8", 64, 0, 112, 16},
        {"torus:2x2", 4, 0, 4, 0},
        {"torus:4x4x4", 64, 0, 144, 48},
        {"torus:4x3,wrap=1,0", 12, 0, 17, 3},
        {"mesh:2x2x2x2", 16, 0, 24, 8},
        {"star:12", 12, 1, 12, 0},
        {"ring:16", 16, 0, 16, 0},
        {"full:6", 6, 0, 15, 0},
        {"torus:3x3/star:4", 36, 9, 36 + 12, 6},
        {"star:2/mesh:2/ring:3", 12, 1, 2 + 2 + 12, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *svg = written(&wf_draw_svg, cases[i].spec);
        CHECK(svg != NULL);
        printf("# %s\n", cases[i].spec);
        CHECK_U64(count_in(svg, "nodes", "<circle "), cases[i].nodes);
        CHECK_U64(count_in(svg, "switches", "<rect "), cases[i].switches);
        CHECK_U64(count(svg, "<line "), cases[i].straight);
        CHECK_U64(count(svg, "<path "), cases[i].curved);
        free(svg);
    }
}

static void every_example_is_drawn(void)
{
    for (const struct wf_topo_ops *const *ops = wf_topo_table(); *ops != NULL; ops++) {
        for (const char *const *spec = (*ops)->examples; *spec != NULL; spec++) {
            struct wf_topo *topo = NULL;
            /* An example may need a file that is not here. */
            if (wf_topo_create(*spec, &topo, NULL) != WF_OK) {
                continue;
            }
            char *svg = written(&wf_draw_svg, *spec);
            printf("# %s\n", *spec);
            CHECK(is_well_formed(svg) && has_only_numbers(svg));
            CHECK(strlen(svg) < SVG_SIZE_MAX);
            if (wf_draw_layout_is_small(topo)) {
                CHECK_U64(count_in(svg, "nodes", "<circle "), topo->n_nodes);
                CHECK_U64(count_in(svg, "switches", "<rect "),
                          topo->n_vertices - topo->n_nodes);
                CHECK_U64(count(svg, "<line ") + count(svg, "<path "), topo->n_links);
            }
            free(svg);
            wf_topo_free(topo);
        }
    }
}

/* Marks that hide each other show nothing. */
static void no_two_vertices_are_in_one_place(void)
{
    for (const struct wf_topo_ops *const *ops = wf_topo_table(); *ops != NULL; ops++) {
        for (const char *const *spec = (*ops)->examples; *spec != NULL; spec++) {
            struct wf_topo *topo = NULL;
            struct wf_draw_picture picture = {.n_marks = 0};

            if (wf_topo_create(*spec, &topo, NULL) != WF_OK) {
                continue;
            }
            wf_draw_layout(topo, *spec, &picture);
            printf("# %s\n", *spec);
            for (uint32_t i = 0; i < picture.n_marks; i++) {
                const struct wf_draw_mark *a = &picture.marks[i];
                for (uint32_t j = 0; j < i && a->kind != WF_DRAW_MARK_DISC; j++) {
                    const struct wf_draw_mark *b = &picture.marks[j];
                    CHECK(b->kind == WF_DRAW_MARK_DISC ||
                          hypot(a->x - b->x, a->y - b->y) > fmin(a->r, b->r));
                }
            }
            wf_draw_picture_fini(&picture);
            wf_topo_free(topo);
        }
    }
}

static void large_networks_are_small_pictures(void)
{
    static const char *const specs[] = {
        "torus:64x64x64",
        "mesh:20000x20000",
        "torus:16x16x16x16x16",
        "mesh:4000000",
        "torus:7x601",
        "ring:1000000",
        "star:1000000",
        "full:500",
        "full:5000",
        "torus:25x24",
        "torus:601",
        "torus:40x40x40/star:4/mesh:4x4",
        "mesh:2x2/mesh:2/mesh:2/mesh:2/mesh:2",
    };

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        char *svg = written(&wf_draw_svg, specs[i]);
        CHECK(svg != NULL);
        printf("# %s: %zu bytes\n", specs[i], strlen(svg));
        CHECK(is_well_formed(svg) && has_only_numbers(svg));
        CHECK(strlen(svg) < SVG_SIZE_MAX);
        CHECK(strstr(svg, specs[i]) != NULL);
        free(svg);
    }
}

static void a_coarse_torus_keeps_its_form(void)
{
    char *svg = written(&wf_draw_svg, "torus:64x64x64");

    CHECK(svg != NULL);
    CHECK_U64(count_in(svg, "blocks", "<rect "), 64);
    CHECK_U64(count(svg, "<line "), 144);
    CHECK_U64(count(svg, "<path "), 48);
    CHECK_U64(count(svg, ">4096</text>"), 64);
    CHECK(strstr(svg, "A square stands for 16x16x16 routers") != NULL);
    free(svg);

    svg = written(&wf_draw_svg, "mesh:64x64x64");
    CHECK(svg != NULL);
    CHECK_U64(count(svg, "<line "), 144);
    CHECK_U64(count(svg, "<path "), 0);
    free(svg);
}

/* Bins count their contents: a ring of 1000 nodes in 25 bins has 40 nodes in each, and one
 * cable to each neighbour. */
static uint32_t part_of_forty(const void *arg, const uint32_t coord[WF_TOPO_COORDS_MAX])
{
    return coord[0] / 40;
}

static void bins_count_nodes_and_cables(void)
{
    struct wf_draw_picture picture = {.n_marks = 0};
    struct wf_topo *topo = NULL;
    struct wf_draw_bins bins;

    CHECK(wf_topo_create("torus:1000", &topo, NULL) == WF_OK);
    wf_draw_bins_count(topo, 25, part_of_forty, NULL, &bins);
    CHECK(!bins.sampled);
    for (uint32_t a = 0; a < 25; a++) {
        CHECK_U64(bins.nodes[a] + bins.routers[a], 40);
        for (uint32_t b = a + 1; b < 25; b++) {
            CHECK_U64(bins.links[a * 25 + b], b == a + 1 || (a == 0 && b == 24) ? 1 : 0);
        }
    }
    wf_draw_bins_finish(&bins, &picture, WF_DRAW_LINE_PLAIN);
    CHECK_U64(picture.n_lines, 25);
    CHECK_STR(picture.legend, ", a line for 1 link");
    wf_draw_picture_fini(&picture);
    wf_topo_free(topo);
    CHECK_U64(wf_draw_bins_choose(20, 36), 20);
    CHECK_U64(wf_draw_bins_choose(1000, 36), 25);
    CHECK_U64(wf_draw_bins_choose(1009, 36), 36);
}

static void cables_have_both_their_ends(void)
{
    static const char *const specs[] = {"torus:3x4", "mesh:2x2x2",    "star:5",
                                        "full:9",    "ring:7,oneway", "torus:2x2/star:3"};

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct wf_topo *topo = NULL;
        struct wf_draw_cables cables;
        struct wf_draw_cable cable;
        uint64_t n = 0;

        CHECK(wf_topo_create(specs[i], &topo, NULL) == WF_OK);
        wf_draw_cables_begin(&cables, topo);
        while (wf_draw_cables_next(&cables, &cable)) {
            n++;
            CHECK_U64(topo->ops->neighbor(topo, cable.from, cable.from_port), cable.to);
            CHECK(topo->oneway == (cable.to_port == WF_TOPO_NO_PORT));
            if (!topo->oneway) {
                CHECK(cable.from < cable.to);
                CHECK_U64(topo->ops->neighbor(topo, cable.to, cable.to_port), cable.from);
            }
        }
        wf_draw_cables_end(&cables);
        CHECK_U64(n, topo->n_links);
        wf_topo_free(topo);
    }
}

static void tables_have_a_line_for_each_cable(void)
{
    char *csv = written(&wf_draw_csv, "torus:4x4");
    CHECK(csv != NULL);
    CHECK_U64(count(csv, "\n"), 1 + 32);
    CHECK(strstr(csv, "\n0,1,0,1,0 0,1 0\n") != NULL);
    free(csv);

    char *dot = written(&wf_draw_dot, "star:3");
    CHECK(dot != NULL);
    CHECK_STR(dot, "graph \"star:3\" {\n  node [shape=circle];\n  0;\n  1;\n  2;\n"
                   "  s0 [shape=box];\n  0 -- s0;\n  1 -- s0;\n  2 -- s0;\n}\n");
    free(dot);

    dot = written(&wf_draw_dot, "ring:3,oneway");
    CHECK(dot != NULL);
    CHECK(strncmp(dot, "digraph ", 8) == 0 && count(dot, " -> ") == 3);
    free(dot);
}

/* A spec may be the name of a file, with anything in it. */
static void texts_of_users_cannot_break_a_file(void)
{
    const char *spec = "a\"<&>\\\x01\xff";
    struct wf_topo *topo = NULL;
    char *text = NULL;
    size_t size = 0;

    CHECK(wf_topo_create("mesh:2", &topo, NULL) == WF_OK);
    FILE *out = open_memstream(&text, &size);
    wf_draw_svg.write(topo, spec, out);
    (void)fclose(out);
    CHECK(is_well_formed(text));
    CHECK(strstr(text, "a\"&lt;&amp;&gt;\\??") != NULL);
    free(text);

    out = open_memstream(&text, &size);
    wf_draw_dot.write(topo, spec, out);
    (void)fclose(out);
    CHECK(strstr(text, "\"a\\\"<&>\\\\?") != NULL);
    free(text);
    wf_topo_free(topo);
}

static void names_of_files_choose_the_format(void)
{
    const struct wf_draw_format *format = NULL;
    struct wf_err err;

    CHECK(wf_draw_for_path("a.svg", &format, &err) == WF_OK && format == &wf_draw_svg);
    CHECK(wf_draw_for_path("a.b.csv", &format, &err) == WF_OK && format == &wf_draw_csv);
    CHECK(wf_draw_for_path("a.dot", &format, &err) == WF_OK && format == &wf_draw_dot);
    CHECK(wf_draw_for_path("a.png", &format, &err) == WF_EUSAGE);
    CHECK_STR(err.text, "output 'a.png': the name must end in .svg, .dot or .csv");
    CHECK(wf_draw_for_path(".svg", &format, &err) == WF_EUSAGE);
}

int main(void)
{
    RUN(small_networks_show_every_vertex_and_cable);
    RUN(every_example_is_drawn);
    RUN(no_two_vertices_are_in_one_place);
    RUN(large_networks_are_small_pictures);
    RUN(a_coarse_torus_keeps_its_form);
    RUN(bins_count_nodes_and_cables);
    RUN(cables_have_both_their_ends);
    RUN(tables_have_a_line_for_each_cable);
    RUN(texts_of_users_cannot_break_a_file);
    RUN(names_of_files_choose_the_format);
    return wf_test_done();
}
