/* SPDX-License-Identifier: Apache-2.0 */
#include "model/traffic/traffic.h"

static const char *const arrivals[] = {"bernoulli", "poisson", NULL};
static const char *const levels[] = {"90", "95", "99", NULL};

#define ROW(name_, type_, member_)             \
    .name = (name_), .type = WF_PARAM_##type_, \
    .offset = offsetof(struct wf_traffic_params, member_)

const struct wf_param wf_traffic_params[] = {
    {ROW("load", REAL, load), .def = "0.1", .min = "0",
     .doc = "Offered load: phits per node and cycle, at most 1"},
    {ROW("size", SIZE, size), .def = "0B", .max = "1GiB",
     .doc = "Size of a message; 0 is a packet of the network model"},
    {ROW("long_size", SIZE, long_size), .def = "0B", .max = "1GiB",
     .doc = "Size of long messages, for traffic of two sizes"},
    {ROW("long_share", REAL, long_share), .def = "0", .min = "0", .max = "1",
     .doc = "Share of the messages that are long"},
    {ROW("sizes", TEXT, sizes), .def = "",
     .doc = "File with a line 'bytes weight' for each size of message"},
    {ROW("arrivals", ENUM, arrivals), .def = "bernoulli", .choices = arrivals,
     .doc = "When messages are generated: with equal probability in each cycle, or as a "
            "Poisson process"},
    {ROW("burst", COUNT, burst), .def = "1", .min = "1", .max = "100000",
     .doc = "Messages that a node generates together"},
    {ROW("sources", TEXT, sources), .def = "",
     .doc = "File with a line 'node percent' for each node that does not offer 100 percent "
            "of the load"},
    {ROW("drop", BOOL, drop), .def = "yes",
     .doc = "Messages that find the injection queue full are dropped; otherwise they wait"},
    {ROW("cycles", COUNT, cycles), .def = "32000", .min = "64", .max = "1000000000000",
     .doc = "Cycles to simulate at first"},
    {ROW("cycles_max", COUNT, cycles_max), .def = "0", .max = "1000000000000",
     .doc = "A run that has not converged is repeated with twice the cycles, up to this "
            "number; 0 is one run"},
    {ROW("cycle", TIME, cycle), .def = "0ps", .max = "1s",
     .doc = "Length of a cycle; 0 is that of the network model"},
    {ROW("phit", SIZE, phit), .def = "0B", .max = "1MiB",
     .doc = "Bytes per cycle at load 1; 0 is the phit of the network model"},
    {ROW("rounds", COUNT, rounds), .def = "0", .max = "1000000000",
     .doc = "Closed loop instead of a load: number of rounds in which each node sends a "
            "burst and waits until all of it has arrived"},
    {ROW("reply", SIZE, reply), .def = "0B", .max = "1GiB",
     .doc = "Closed loop: every message is answered by one of this size, for which the "
            "sender waits"},
    {ROW("confidence", ENUM, confidence), .def = "95", .choices = levels,
     .doc = "Level of the confidence intervals, in percent"},
    {ROW("precision", REAL, precision), .def = "0.05", .min = "0", .max = "1",
     .doc = "Relative half width of the confidence interval of the latency at which a run "
            "has converged"},
    {ROW("self", BOOL, pattern.self), .def = "no",
     .doc = "Random destinations may be the sender itself"},
    {ROW("hot", REAL, pattern.hot), .def = "0.1", .min = "0", .max = "1",
     .doc = "Share of the messages that go to the hot spot or region; the others are uniform"},
    {ROW("hot_node", COUNT, pattern.hot_node), .def = "0", .doc = "The hot spot"},
    {ROW("hot_nodes", COUNT, pattern.hot_nodes), .def = "0",
     .doc = "Nodes of the hot region, from node 0 on; 0 is an eighth of all nodes"},
    {ROW("decay", REAL, pattern.decay), .def = "0.5", .min = "0", .max = "1",
     .doc = "Local traffic: factor by which each distance is less likely than the one before"},
    {ROW("matrix", TEXT, pattern.matrix), .def = "",
     .doc = "File with a line 'from to weight' for each pair of nodes that communicate"},
    {ROW("pattern_seed", COUNT, pattern.pattern_seed), .def = "1",
     .doc = "Seed of the random permutation"},
    WF_PARAM_END,
};
