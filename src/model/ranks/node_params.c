/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/node_params.h"

#include "base/units.h"
#include "model/ranks/cpu/contention.h"
#include "model/ranks/local.h"
#include "model/ranks/noise.h"

static const char *const copies_names[] = {"all", "eager", NULL};
static const char *const bind_names[] = {"pack", "spread", NULL};
static const char *const nic_policy_names[] = {"rank", "round_robin", "stripe", NULL};
static const char *const noise_names[] = {"none", "fixed", "uniform", "exponential", NULL};

#define ROW(member, kind, ...) WF_PARAM_ROW(struct wf_node_params, member, kind, __VA_ARGS__)
#define TIME(member, ...)      ROW(member, TIME, .min = "0", .max = "1h", __VA_ARGS__)
#define RATE(member, ...) \
    ROW(member, RATE, .word = "unlimited", .def = "unlimited", __VA_ARGS__)

const struct wf_param wf_node_params[] = {
    TIME(o_send, .word = "auto", .def = "auto",
         .doc = "CPU time of a rank to send a message; auto: the overhead of the network "
                "model, which only loggp has"),
    TIME(o_recv, .word = "auto", .def = "auto",
         .doc = "CPU time of a rank to receive a message; auto: likewise"),
    RATE(copy_send, .doc = "Bytes per second that the CPU of a sending rank handles: 1/O of "
                           "LogGOPS"),
    RATE(copy_recv, .doc = "Bytes per second that the CPU of a receiving rank handles"),
    ROW(copies, ENUM, .def = "all", .choices = copies_names,
        .doc =
            "Which messages copy_send and copy_recv apply to: all, or only eager ones, where "
            "long messages move without the CPU"),
    RATE(copy_unexpected, .doc =
                              "Bytes per second at which a rank copies an eager message that "
                              "arrived before its receive"),
    TIME(injection_delay, .def = "0", .what_if = WF_WHAT_IF_LATENCY,
         .doc = "Delay of a message in the network interface that sends it"),
    TIME(ejection_delay, .def = "0", .what_if = WF_WHAT_IF_LATENCY,
         .doc = "Delay of a message in the network interface that receives it"),
    TIME(gap, .def = "0",
         .doc = "Least time between two messages that a network interface sends, or two that "
                "it receives"),
    TIME(registration, .def = "0",
         .doc = "Time to register the memory of a message sent by rendezvous, on each side"),
    RATE(registration_rate, .doc = "Bytes per second at which that memory is registered"),
    ROW(sockets, COUNT, .def = "1", .min = "1", .max = "1024", .doc = "Sockets of a node"),
    ROW(domains, COUNT, .def = "1", .min = "1", .max = "1024",
        .doc = "Memory domains (NUMA) of a node, spread evenly over its sockets"),
    ROW(cores, COUNT, .word = "unlimited", .def = "unlimited", .min = "1", .max = "65536",
        .doc = "Cores of a node that run ranks; with more ranks than cores, ranks share cores"),
    ROW(bind, ENUM, .def = "pack", .choices = bind_names,
        .doc = "Which cores the ranks of a node get: domain after domain, or the domains in "
               "turn"),
    RATE(memory_bandwidth, .what_if = WF_WHAT_IF_BANDWIDTH,
         .doc = "Memory bandwidth of a domain, which the messages within the node share"),
    RATE(core_bandwidth, .doc = "Memory bandwidth that the computation of one rank draws"),
    ROW(memory_bound, REAL, .def = "0", .min = "0", .max = "1",
        .doc = "Share of the compute time that waits for memory and grows where ranks draw "
               "more than memory_bandwidth"),
    ROW(local_latency, TIMES, .word = "auto", .def = "auto", .min = "0", .max = "1h",
        .what_if = WF_WHAT_IF_LATENCY,
        .doc = "Latency of messages within a domain, a socket and a node: three values, or one "
               "for all; auto: mpi.local_latency"),
    ROW(local_bandwidth, RATES, .word = "auto", .def = "auto", .what_if = WF_WHAT_IF_BANDWIDTH,
        .doc = "Bandwidth of one message within a domain, a socket and a node, likewise; auto: "
               "mpi.local_bandwidth"),
    TIME(time_slice, .only_with = "cores!=unlimited", .def = "0",
         .doc = "With more ranks than cores: the longest time that a rank computes before "
                "another one has its turn; 0: until the computation ends"),
    TIME(switch_cost, .only_with = "cores!=unlimited", .def = "0",
         .doc = "With more ranks than cores: CPU time to go from one rank to another"),
    ROW(nics, COUNT, .def = "1", .min = "1", .max = "64",
        .doc = "Network interfaces (rails) of a node; each is a node of the topology"),
    ROW(nic_policy, ENUM, .only_with = "nics!=1", .def = "rank", .choices = nic_policy_names,
        .doc = "Which interface a message takes: that of its rank; messages sent by rendezvous "
               "instead the next one in turn, or all of them"),
    ROW(stripe_min, SIZE, .only_with = "nic_policy=stripe", .def = "64KiB",
        .doc = "With stripe: messages sent by rendezvous are divided from this size on"),
    ROW(nic_group, COUNT, .only_with = "nics!=1", .def = "1", .min = "1", .max = "16777216",
        .doc = "Nodes that form a group: in the topology the first interfaces of all of them "
               "come first, then the second ones, and so on"),
    ROW(nic_domains, TEXT, .only_with = "nics!=1", .def = "",
        .doc = "Memory domain of each interface, like 0,0,1,1; empty: spread evenly"),
    ROW(noise, ENUM, .def = "none", .choices = noise_names,
        .doc = "Interruptions of computing by the operating system: the distribution of their "
               "durations"),
    ROW(noise_period, TIME, .only_with = "noise!=none", .def = "10ms", .min = "1us",
        .max = "1h", .doc = "A core is interrupted once in each period of this length"),
    TIME(noise_duration, .only_with = "noise!=none", .def = "25us",
         .doc = "Mean duration of an interruption"),
    TIME(poll, .def = "0",
         .doc = "Mean time between two looks of a rank for messages from other nodes, if it "
                "shares its core with other programs; 0: it notices them at once"),
    ROW(host_cores, COUNT, .word = "unlimited", .def = "unlimited", .min = "1",
        .max = "16777216",
        .doc = "Cores of the one computer that all nodes run on, as virtual machines do. With "
               "more ranks than cores, ranks compute at the same time and share the cores, and "
               "each rank of a core takes poll before one looks for messages again; else they "
               "notice them at once. unlimited: nodes have cores of their own"),
    WF_PARAM_END,
};

static uint64_t word = WF_PARAM_WORD;

const struct wf_node_params wf_node_free = {
    .o_send = -1,
    .o_recv = -1,
    .copy_send = WF_PARAM_WORD,
    .copy_recv = WF_PARAM_WORD,
    .copy_unexpected = WF_PARAM_WORD,
    .registration_rate = WF_PARAM_WORD,
    .sockets = 1,
    .domains = 1,
    .cores = WF_PARAM_WORD,
    .memory_bandwidth = WF_PARAM_WORD,
    .core_bandwidth = WF_PARAM_WORD,
    .local_latency = {&word, 1},
    .local_bandwidth = {&word, 1},
    .nics = 1,
    .nic_group = 1,
    .host_cores = WF_PARAM_WORD,
};

struct wf_node_params wf_node_compute_only(const struct wf_node_params *params)
{
    struct wf_node_params part = wf_node_free;

    part.sockets = params->sockets;
    part.domains = params->domains;
    part.cores = params->cores;
    part.host_cores = params->host_cores;
    part.bind = params->bind;
    part.memory_bandwidth = params->memory_bandwidth;
    part.core_bandwidth = params->core_bandwidth;
    part.memory_bound = params->memory_bound;
    part.time_slice = params->time_slice;
    part.switch_cost = params->switch_cost;
    part.noise = params->noise;
    part.noise_period = params->noise_period;
    part.noise_duration = params->noise_duration;
    return part;
}

enum wf_status wf_node_params_check(const struct wf_node_params *params, struct wf_err *err)
{
    WF_TRY(wf_cores_check(params, err));
    WF_TRY(wf_local_check(params, err));
    WF_TRY(wf_cpu_contention_check(params, err));
    return wf_noise_check(params, err);
}

int64_t wf_node_rate_ps(uint64_t bytes, uint64_t rate)
{
    return rate == WF_PARAM_WORD ? 0 : wf_transfer_ps(bytes, rate);
}
