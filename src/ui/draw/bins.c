/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/draw/bins.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

/* The largest number of vertices and directed links to visit: a fraction of a second. */
#define LOOKS_MAX UINT64_C(8000000)

enum { ENDS = 4096 };

uint32_t wf_draw_bins_choose(uint32_t n, uint32_t most)
{
    if (n <= most) {
        return n;
    }
    for (uint32_t bins = most; bins >= most / 2; bins--) {
        if (n % bins == 0) {
            return bins;
        }
    }
    return most;
}

void wf_draw_sample_begin(struct wf_draw_sample *sample, const struct wf_topo *topo,
                          bool cables)
{
    uint64_t work = topo->n_vertices;

    if (cables) {
        work += wf_topo_first_link(topo, topo->n_vertices);
    }
    *sample = (struct wf_draw_sample){
        .n = topo->n_vertices,
        /* The step is odd, so that it reaches all positions of the regular patterns in
         * networks. */
        .step = work <= LOOKS_MAX ? 1 : (work / LOOKS_MAX + 1) | 1,
    };
}

bool wf_draw_sample_next(struct wf_draw_sample *sample, uint32_t *vertex)
{
    if (sample->next >= sample->n) {
        return false;
    }
    *vertex = (uint32_t)sample->next;
    sample->next += sample->next < ENDS || sample->next + ENDS >= sample->n ? 1 : sample->step;
    return true;
}

/* The input of a count. */
struct census {
    const struct wf_topo *topo;
    wf_draw_bin_fn *bin;
    const void *arg;
    struct wf_draw_bins *bins;
};

static uint32_t bin_of(const struct census *census, uint32_t vertex)
{
    uint32_t coord[WF_TOPO_COORDS_MAX] = {0};

    (void)census->topo->ops->coords(census->topo, vertex, coord);
    return census->bin(census->arg, coord);
}

/* Counts the links of a vertex in the bin `own` to other bins. */
static void count_links(const struct census *census, uint32_t vertex, uint32_t own)
{
    const struct wf_topo *topo = census->topo;
    struct wf_draw_bins *bins = census->bins;
    uint32_t n_ports = wf_topo_ports(topo, vertex);

    for (uint32_t port = 0; port < n_ports; port++) {
        uint32_t to = topo->ops->neighbor(topo, vertex, port);

        /* A cable is counted at one of its ends, unless the other end may not be visited. */
        if (to == WF_TOPO_NO_VERTEX || (to < vertex && !topo->oneway && !bins->sampled)) {
            continue;
        }
        uint32_t other = bin_of(census, to);
        if (other != WF_DRAW_NO_BIN && other != own) {
            uint32_t low = own < other ? own : other, high = own < other ? other : own;
            bins->links[(size_t)low * bins->n + high]++;
        }
    }
}

void wf_draw_bins_count(const struct wf_topo *topo, uint32_t n, wf_draw_bin_fn *bin,
                        const void *arg, struct wf_draw_bins *out)
{
    struct wf_draw_sample sample;
    uint32_t vertex;

    wf_draw_sample_begin(&sample, topo, true);
    *out = (struct wf_draw_bins){
        .n = n,
        .nodes = wf_xcalloc(n, sizeof(*out->nodes)),
        .routers = wf_xcalloc(n, sizeof(*out->routers)),
        .links = wf_xcalloc((size_t)n * n, sizeof(*out->links)),
        .sampled = sample.step > 1,
    };

    const struct census census = {topo, bin, arg, out};
    while (wf_draw_sample_next(&sample, &vertex)) {
        uint32_t own = bin_of(&census, vertex);
        if (own != WF_DRAW_NO_BIN) {
            (vertex < topo->n_nodes ? out->nodes : out->routers)[own]++;
            count_links(&census, vertex, own);
        }
    }
}

static void add_lines(const struct wf_draw_bins *bins, struct wf_draw_picture *picture,
                      enum wf_draw_line_style style)
{
    for (uint32_t a = 0; a < bins->n; a++) {
        for (uint32_t b = a + 1; b < bins->n; b++) {
            uint64_t links = bins->links[(size_t)a * bins->n + b];
            struct wf_draw_line line = {
                .a = a, .b = b, .style = style, .links = bins->sampled ? 0 : links};

            if (links > 0) {
                (void)wf_draw_picture_line(picture, &line);
            }
        }
    }
}

static void add_legend(const struct wf_draw_bins *bins, struct wf_draw_picture *picture)
{
    uint64_t least = UINT64_MAX, most = 0;

    for (size_t i = 0; i < (size_t)bins->n * bins->n; i++) {
        uint64_t links = bins->links[i];
        if (links > 0) {
            least = links < least ? links : least;
            most = links > most ? links : most;
        }
    }
    if (most == 0 || bins->sampled) {
        return;
    }
    if (least == most) {
        wf_draw_picture_legend(picture, ", a line for %" PRIu64 " link%s", most,
                               most == 1 ? "" : "s");
    } else {
        wf_draw_picture_legend(picture, ", a line for %" PRIu64 " to %" PRIu64 " links", least,
                               most);
    }
}

void wf_draw_bins_finish(struct wf_draw_bins *bins, struct wf_draw_picture *picture,
                         enum wf_draw_line_style style)
{
    add_lines(bins, picture, style);
    add_legend(bins, picture);
    free(bins->nodes);
    free(bins->routers);
    free(bins->links);
}
