/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in with a topology and a generator of its own: docs/howto/write-a-plugin.md.
 *
 *     cc -shared -fPIC $(weft --plugin-cflags) chordal.c -o chordal.so
 *     weft --plugin ./chordal.so replay gen:pulse -n 16 --net packet --topo chordal:16,chord=4
 */
#include <weft/plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a ring with chords: node i has links to i + 1, i + c, i - c and i - 1 ---- */

struct chordal_params {
    uint64_t size, chord;
};

static const struct wf_param chordal_table[] = {
    WF_PARAM_ROW(struct chordal_params, size, COUNT, .min = "5", .max = "65536",
                 .doc = "Nodes on the ring"),
    WF_PARAM_ROW(struct chordal_params, chord, COUNT, .def = "2", .min = "2", .max = "32767",
                 .doc = "How far a chord leads"),
    WF_PARAM_END,
};

/* All nodes see the same network, so that distances from node 0 are enough. */
struct chordal {
    struct wf_topo topo;
    uint32_t chord, diameter;
    uint32_t distance[];
};

static const struct chordal *chordal_of(const struct wf_topo *topo)
{
    return (const struct chordal *)topo;
}

static uint32_t chordal_neighbor(const struct wf_topo *topo, uint32_t node, uint32_t port)
{
    uint32_t n = topo->n_nodes, chord = chordal_of(topo)->chord;
    const uint32_t steps[] = {1, chord, n - chord, n - 1};

    return (node + steps[port]) % n;
}

static uint32_t chordal_distance(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    return chordal_of(topo)->distance[(dst + topo->n_nodes - at) % topo->n_nodes];
}

static uint32_t chordal_next_port(const struct wf_topo *topo, uint32_t at, uint32_t dst)
{
    for (uint32_t port = 0; port < topo->n_ports; port++) {
        uint32_t to = chordal_neighbor(topo, at, port);
        if (chordal_distance(topo, to, dst) + 1 == chordal_distance(topo, at, dst)) {
            return port;
        }
    }
    return WF_TOPO_NO_PORT; /* at the destination */
}

static uint32_t chordal_diameter(const struct wf_topo *topo)
{
    return chordal_of(topo)->diameter;
}

static void chordal_histogram(const struct wf_topo *topo, uint64_t *counts)
{
    memset(counts, 0, (chordal_of(topo)->diameter + 1) * sizeof(*counts));
    for (uint32_t i = 0; i < topo->n_nodes; i++) {
        counts[chordal_of(topo)->distance[i]] += topo->n_nodes;
    }
}

static uint32_t chordal_coords(const struct wf_topo *topo, uint32_t vertex,
                               uint32_t coord[WF_TOPO_COORDS_MAX])
{
    coord[0] = vertex;
    return 1;
}

/* Breadth-first search from node 0. */
static void find_distances(struct chordal *net)
{
    uint32_t n = net->topo.n_nodes, first = 0, last = 0;
    uint32_t *queue = malloc(n * sizeof(*queue));

    if (queue == NULL) {
        abort();
    }
    memset(net->distance, 0xff, n * sizeof(net->distance[0]));
    net->distance[0] = 0;
    queue[last++] = 0;
    while (first < last) {
        uint32_t at = queue[first++];
        net->diameter = net->distance[at];
        for (uint32_t port = 0; port < net->topo.n_ports; port++) {
            uint32_t to = chordal_neighbor(&net->topo, at, port);
            if (net->distance[to] == UINT32_MAX) {
                net->distance[to] = net->distance[at] + 1;
                queue[last++] = to;
            }
        }
    }
    free(queue);
}

static enum wf_status chordal_create(const void *params, struct wf_topo **out,
                                     struct wf_err *err);

static const char *const chordal_examples[] = {"chordal:5", "chordal:16,chord=4",
                                               "chordal:31,chord=7", NULL};

static const struct wf_topo_ops chordal_ops = {
    .name = "chordal",
    .args = "<size>,chord=<n>",
    .summary = "a ring with chords of one length",
    .shape = WF_TOPO_SHAPE_CIRCLE,
    .vc_class = WF_TOPO_VC_ANY,
    .examples = chordal_examples,
    .params = chordal_table,
    .params_size = sizeof(struct chordal_params),
    .create = chordal_create,
    .neighbor = chordal_neighbor,
    .distance = chordal_distance,
    .next_port = chordal_next_port,
    .diameter = chordal_diameter,
    .histogram = chordal_histogram,
    .coords = chordal_coords,
};

static enum wf_status chordal_create(const void *params, struct wf_topo **out,
                                     struct wf_err *err)
{
    const struct chordal_params *given = params;
    uint32_t n = (uint32_t)given->size;
    struct chordal *net;

    if (2 * given->chord >= given->size) {
        return wf_err_set(err, WF_EINVAL,
                          "chordal: a chord of %u is no shorter than half of the ring of %u",
                          (unsigned)given->chord, n);
    }
    net = calloc(1, sizeof(*net) + n * sizeof(net->distance[0]));
    if (net == NULL) {
        return wf_err_set(err, WF_ELIMIT, "chordal: no memory for %u nodes", n);
    }
    net->topo = (struct wf_topo){.ops = &chordal_ops,
                                 .n_nodes = n,
                                 .n_vertices = n,
                                 .n_ports = 4,
                                 .n_links = 2 * (uint64_t)n};
    net->chord = (uint32_t)given->chord;
    find_distances(net);
    *out = &net->topo;
    return WF_OK;
}

/* ---- a program: compute, then an allreduce, again and again ---- */

struct pulse_params {
    uint64_t rounds, bytes;
    int64_t compute;
};

static const struct wf_param pulse_table[] = {
    WF_PARAM_ROW(struct pulse_params, rounds, COUNT, .def = "10", .doc = "Rounds"),
    WF_PARAM_ROW(struct pulse_params, bytes, SIZE, .def = "1KiB",
                 .doc = "Data that is combined"),
    WF_PARAM_ROW(struct pulse_params, compute, TIME, .def = "100us", .min = "0s",
                 .doc = "Computing of a round"),
    WF_PARAM_END,
};

struct pulse {
    struct wf_source source;
    struct pulse_params params;
};

static enum wf_status pulse_create(const void *params, uint32_t n_ranks, struct wf_source **out,
                                   struct wf_err *err);

static bool pulse_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                       struct wf_op *op)
{
    const struct pulse *pulse = (const struct pulse *)source;
    uint64_t at = cursor->word[0];

    if (at == 2 * pulse->params.rounds) {
        return false;
    }
    if (at % 2 == 0) {
        wf_gen_make_compute(op, pulse->params.compute);
    } else {
        wf_gen_make_collective(op, WF_OP_ALLREDUCE, pulse->params.bytes);
    }
    cursor->word[0]++;
    return true;
}

static const struct wf_source_ops pulse_ops = {
    .name = "pulse",
    .summary = "computing and an allreduce, in turn",
    .params = pulse_table,
    .params_size = sizeof(struct pulse_params),
    .create = pulse_create,
    .next = pulse_next,
};

static enum wf_status pulse_create(const void *params, uint32_t n_ranks, struct wf_source **out,
                                   struct wf_err *err)
{
    struct pulse *pulse = wf_gen_new(sizeof(*pulse), &pulse_ops, n_ranks, out);

    memcpy(&pulse->params, params, sizeof(pulse->params));
    return WF_OK;
}

WEFT_PLUGIN(WEFT_PLUGIN_TOPOLOGY(chordal_ops), WEFT_PLUGIN_GENERATOR(pulse_ops));
