/* SPDX-License-Identifier: Apache-2.0 */
/* What every registered topology promises, whoever wrote it. */
#include "topo/topo.h"

#include "wf_test.h"

/* Small instances of each kind; a kind without one fails the test. */
static const char *const specs[] = {
    "torus:1", "torus:2", "torus:5", "torus:4x4", "torus:2x3x4", "torus:1x6", "torus:2x1x2x3x2",
};

enum { N_SPECS = sizeof(specs) / sizeof(specs[0]) };

static struct wf_topo *make(const char *spec)
{
    struct wf_topo *topo = NULL;

    if (wf_topo_create(spec, &topo, NULL) != WF_OK) {
        abort();
    }
    return topo;
}

/* Distances from `src` to every node by breadth-first search over neighbor(): the oracle. */
static void search(const struct wf_topo *topo, uint32_t src, uint32_t *dist, uint32_t *queue)
{
    uint32_t head = 0, tail = 0;

    memset(dist, 0xff, topo->n_nodes * sizeof(*dist));
    dist[src] = 0;
    queue[tail++] = src;
    while (head < tail) {
        uint32_t at = queue[head++];
        for (uint32_t p = 0; p < topo->n_ports; p++) {
            uint32_t to = topo->ops->neighbor(topo, at, p);
            if (dist[to] == UINT32_MAX) {
                dist[to] = dist[at] + 1;
                queue[tail++] = to;
            }
        }
    }
}

static void every_kind_has_an_instance_and_a_description(void)
{
    for (const struct wf_topo_ops *const *ops = wf_topo_table(); *ops != NULL; ops++) {
        size_t len = strlen((*ops)->name);
        int found = 0;
        for (size_t i = 0; i < N_SPECS; i++) {
            found |= strncmp(specs[i], (*ops)->name, len) == 0 && specs[i][len] == ':';
        }
        CHECK(found);
        CHECK((*ops)->args != NULL && (*ops)->summary != NULL);
    }
}

static void neighbors_are_mutual(void)
{
    for (size_t i = 0; i < N_SPECS; i++) {
        struct wf_topo *topo = make(specs[i]);
        for (uint32_t node = 0; node < topo->n_nodes; node++) {
            for (uint32_t port = 0; port < topo->n_ports; port++) {
                uint32_t to = topo->ops->neighbor(topo, node, port);
                uint32_t back = 0;
                CHECK(to < topo->n_nodes);
                while (back < topo->n_ports && topo->ops->neighbor(topo, to, back) != node) {
                    back++;
                }
                CHECK(back < topo->n_ports);
            }
        }
        wf_topo_free(topo);
    }
}

static void routes_are_shortest_paths(void)
{
    for (size_t i = 0; i < N_SPECS; i++) {
        struct wf_topo *topo = make(specs[i]);
        uint32_t *dist = malloc(topo->n_nodes * sizeof(*dist));
        uint32_t *queue = malloc(topo->n_nodes * sizeof(*queue));
        for (uint32_t src = 0; src < topo->n_nodes; src++) {
            search(topo, src, dist, queue);
            for (uint32_t dst = 0; dst < topo->n_nodes; dst++) {
                CHECK_U64(topo->ops->distance(topo, src, dst), dist[dst]);
            }
        }
        free(dist);
        free(queue);
        wf_topo_free(topo);
    }
}

static void routes_arrive_within_the_promised_hops(void)
{
    for (size_t i = 0; i < N_SPECS; i++) {
        struct wf_topo *topo = make(specs[i]);
        for (uint32_t src = 0; src < topo->n_nodes; src++) {
            for (uint32_t dst = 0; dst < topo->n_nodes; dst++) {
                uint32_t at = src;
                uint32_t left = topo->ops->distance(topo, src, dst);
                for (; left > 0; left--) {
                    uint32_t port = topo->ops->next_port(topo, at, dst);
                    CHECK(port < topo->n_ports);
                    CHECK_U64(topo->ops->distance(topo, at, dst), left);
                    at = topo->ops->neighbor(topo, at, port);
                }
                CHECK_U64(at, dst);
                CHECK_U64(topo->ops->next_port(topo, at, dst), WF_TOPO_NO_PORT);
            }
        }
        wf_topo_free(topo);
    }
}

int main(void)
{
    RUN(every_kind_has_an_instance_and_a_description);
    RUN(neighbors_are_mutual);
    RUN(routes_are_shortest_paths);
    RUN(routes_arrive_within_the_promised_hops);
    return wf_test_done();
}
