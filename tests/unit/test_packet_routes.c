/* SPDX-License-Identifier: Apache-2.0 */
/* The packet model with every routing policy: nothing is lost, deadlocked or overtaken,
 * whatever ways packets take, and every scheduler gives the same. */
#include "net/route.h"
#include "packet_traffic.h"
#include "wf_test.h"

enum { PARCELS = 150 };

static const char *const topos[] = {"torus:4x3",  "dragonfly:1",      "fattree:4,2,2",
                                    "hyperx:3x3", "star:3/torus:3x2", "ring:6"};

static int by_time(const void *left, const void *right)
{
    const struct parcel *a = left, *b = right;

    return a->at < b->at ? -1 : a->at > b->at;
}

/* Heavy traffic between a few nodes, so that there is much to overtake. */
static void make_parcels(uint64_t seed, uint32_t n_nodes, struct parcel *parcels)
{
    for (size_t i = 0; i < PARCELS; i++) {
        parcels[i] = (struct parcel){
            .at = (int64_t)(wf_test_rand(seed, 2, i) % 20 * 25600),
            .src = (uint32_t)(wf_test_rand(seed, 3, i) % n_nodes),
            .dst = (uint32_t)(wf_test_rand(seed, 4, i) % 2 == 0
                                  ? n_nodes - 1
                                  : wf_test_rand(seed, 5, i) % n_nodes),
            .bytes = wf_test_rand(seed, 6, i) % 3 == 0 ? 8 : wf_test_rand(seed, 7, i) % 8000,
        };
    }
    qsort(parcels, PARCELS, sizeof(parcels[0]), by_time);
}

/* Messages between two nodes in the order in which they were sent. */
static bool in_order(const struct traffic *traffic, const struct traffic_result *result)
{
    for (size_t i = 0; i < PARCELS; i++) {
        for (size_t j = i + 1; j < PARCELS; j++) {
            const struct parcel *a = &traffic->parcels[i], *b = &traffic->parcels[j];
            if (a->src == b->src && a->dst == b->dst && a->at < b->at &&
                result->order[i] > result->order[j]) {
                return false;
            }
        }
    }
    return result->n_arrived == PARCELS;
}

static bool agree(struct traffic *traffic, const struct traffic_result *expected)
{
    static const enum wf_scheduler schedulers[] = {WF_CHECK_UNDO, WF_CONSERVATIVE, WF_PERTURB};
    bool equal = true;

    for (size_t i = 0; i < 3; i++) {
        traffic->scheduler = schedulers[i];
        traffic->threads = schedulers[i] == WF_CHECK_UNDO ? 1 : 2;
        traffic->perturb_seed = i + 1;
        struct traffic_result found = run_traffic(traffic);
        equal = equal && found.run.digest == expected->run.digest &&
                memcmp(&found.totals, &expected->totals, sizeof(found.totals)) == 0;
        release_traffic(&found);
    }
    return equal;
}

static bool works_on(const struct wf_route_ops *ops, const struct wf_topo *topo)
{
    struct wf_route *route = NULL;
    bool works = ops->create(topo, "", &route, NULL) == WF_OK;

    wf_route_free(works ? route : NULL);
    return works;
}

static bool is_right(const char *spec, const struct wf_route_ops *ops, uint32_t n_nodes,
                     bool credits)
{
    struct parcel parcels[PARCELS];
    struct wf_packet_params params = packet_defaults();
    struct traffic traffic = {
        .topo = spec, .parcels = parcels, .n_parcels = PARCELS, .params = &params};

    make_parcels(n_nodes + (credits ? 100 : 0), n_nodes, parcels);
    packet_set(&params, "routing", ops->name);
    packet_set(&params, "buffers", credits ? "credits" : "unbounded");
    packet_set(&params, "vc_bytes", "1KiB");
    struct traffic_result result = run_traffic(&traffic);
    bool right = result.totals.packets_sent == result.totals.packets_received &&
                 result.totals.bytes_sent == result.totals.bytes_received &&
                 in_order(&traffic, &result) && agree(&traffic, &result);
    if (!right) {
        printf("# %s, %s, %s\n", spec, ops->name, credits ? "credits" : "unbounded");
    }
    release_traffic(&result);
    packet_release(&params);
    return right;
}

static void every_policy_delivers_in_order(void)
{
    for (size_t i = 0; i < sizeof(topos) / sizeof(topos[0]); i++) {
        struct wf_topo *topo = NULL;
        struct wf_err err = {.status = WF_OK};
        must(wf_topo_create(topos[i], &topo, &err), &err);
        for (const struct wf_route_ops *const *ops = wf_route_table(); *ops != NULL; ops++) {
            if (works_on(*ops, topo)) {
                CHECK(is_right(topos[i], *ops, topo->n_nodes, false));
                CHECK(is_right(topos[i], *ops, topo->n_nodes, true));
            }
        }
        wf_topo_free(topo);
    }
}

int main(void)
{
    RUN(every_policy_delivers_in_order);
    return wf_test_done();
}
