/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The seam between the packet model and its transports (net.transport): queues of finite size, lost
 * and marked packets, acknowledgements, retransmission and congestion control. The equations are in
 * docs/models/transport.md. The packet model owns the parameters, and calls the two functions below
 * when it is created; net/transport defines them and includes the packet model, never the other way.
 */

#include "base/param.h"

struct wf_packet_net;
struct wf_packet_params;

/* The size of a model with a transport; the packet model is its first member. */
size_t wf_transport_size(void);

/* Makes a packet model that is complete otherwise, and of that size, one with a transport: replaces
 * its functions in model->ops and model->other_ops. Fails if parameters do not go together. Nothing
 * has to be released. */
enum wf_status wf_transport_setup(struct wf_packet_net *packet,
                                  const struct wf_packet_params *given, struct wf_err *err);

/* ---- parameters ---- */

/* What a port does with a packet for a full queue. */
enum wf_transport_full {
    WF_TRANSPORT_FULL_AUTO, /* what the transport wants */
    WF_TRANSPORT_DROP,
    WF_TRANSPORT_TRIM,    /* drops the data and sends the header on */
    WF_TRANSPORT_PAUSE,   /* never full: stops the ports before it in time (PFC) */
    WF_TRANSPORT_CREDITS, /* never full: the port before it knows how much fits */
};

enum wf_transport_repair {
    WF_TRANSPORT_REPAIR_AUTO,
    WF_TRANSPORT_GO_BACK_N, /* the receiver drops packets that come out of order */
    WF_TRANSPORT_SELECTIVE, /* it keeps them, and only lost packets are sent again */
};

enum wf_transport_delivery {
    WF_TRANSPORT_IN_ORDER,
    WF_TRANSPORT_ANY_ORDER, /* messages do not wait for others unless they have to */
};

struct wf_transport_params {
    int kind;       /* 0: none; else number in transports.def, from 1 */
    int full;       /* enum wf_transport_full */
    uint64_t queue; /* bytes of a queue; 0: what the transport wants */
    uint64_t ecn_min, ecn_max;
    double ecn_probability;
    uint64_t pause_at, resume_at;
    uint64_t window; /* bytes; 0: what the transport wants */
    int repair;      /* enum wf_transport_repair */
    int delivery;    /* enum wf_transport_delivery */
    int64_t timeout;
    uint64_t ack;
    int64_t flowlet_gap; /* 0: none */
    uint64_t paths;      /* 0: any number */
    bool avoid_paths;
    char *classes;
    double dcqcn_gain;
    int64_t dcqcn_interval, dcqcn_timer;
    uint64_t dcqcn_bytes, dcqcn_step, dcqcn_fast_step;
    int64_t swift_target, swift_range;
    double swift_step, swift_decrease, swift_most;
    uint64_t pressure_at;
    double hpcc_target;
    uint64_t hpcc_flows;
    double nscc_target;
};

extern const char *const wf_transport_names[], *const wf_transport_full_names[],
                                                   *const wf_transport_repair_names[],
                                                       *const wf_transport_delivery_names[],
                                                           *const wf_transport_class_syntax[];

/* The rows; `params` is a struct with a member `transport` of the type above. */
/* clang-format off */
#define WF_TRANSPORT_ROW_(params, name_, type_, member_) \
    .name = (name_), .type = WF_PARAM_##type_, .offset = offsetof(params, transport.member_)
#define WF_TRANSPORT_ANY_(params, name_, type_, member_) \
    WF_TRANSPORT_ROW_(params, name_, type_, member_), .only_with = "transport!=none"
/* A parameter of one congestion control. */
#define WF_TRANSPORT_OF_(params, control_, name_, type_) \
    WF_TRANSPORT_ROW_(params, #control_ "_" #name_, type_, control_##_##name_), \
    .only_with = "transport=" #control_

#define WF_TRANSPORT_ROWS(params) \
    {WF_TRANSPORT_ROW_(params, "transport", ENUM, kind), \
     .def = "none", .choices = wf_transport_names, \
     .doc = "Transport with congestion control: none sends every packet as soon as its " \
            "turn comes, and the network never loses one"}, \
    {WF_TRANSPORT_ANY_(params, "full_queue", ENUM, full), \
     .def = "auto", .choices = wf_transport_full_names, \
     .doc = "What a router does when a queue is full: it drops the packet, drops its data" \
            " and sends its header on, pauses the ports before it in time (PFC), or has " \
            "given them credits for what fits; auto is what the transport wants"}, \
    {WF_TRANSPORT_ANY_(params, "queue", SIZE, queue), .def = "0B", .max = "1GiB", \
     .doc = "Capacity of the queue of a port and class, or with credits at the end of a " \
            "link, unless ports pause each other; 0 is what the transport wants"}, \
    {WF_TRANSPORT_ANY_(params, "ecn_min", SIZE, ecn_min), .def = "100KiB", .max = "1GiB", \
     .doc = "Routers mark no packet (ECN) that finds a shorter queue"}, \
    {WF_TRANSPORT_ANY_(params, "ecn_max", SIZE, ecn_max), .def = "400KiB", .max = "1GiB", \
     .doc = "Routers mark every packet that finds a longer queue"}, \
    {WF_TRANSPORT_ANY_(params, "ecn_probability", REAL, ecn_probability), \
     .def = "0.2", .min = "0", .max = "1", \
     .doc = "Probability of a mark at ecn_max; from ecn_min it rises linearly from 0"}, \
    {WF_TRANSPORT_ANY_(params, "pause_at", SIZE, pause_at), .def = "64KiB", .max = "1GiB", \
     .doc = "With PFC: a router pauses the port before it when this much from there and " \
            "of one class waits"}, \
    {WF_TRANSPORT_ANY_(params, "resume_at", SIZE, resume_at), .def = "32KiB", .max = "1GiB", \
     .doc = "With PFC: it lets the port go on when no more than this waits"}, \
    {WF_TRANSPORT_ANY_(params, "window", SIZE, window), .def = "0B", .max = "1GiB", \
     .doc = "Bytes between two nodes that are sent and not acknowledged, at most or at " \
            "the beginning; 0 is what the transport wants"}, \
    {WF_TRANSPORT_ANY_(params, "retransmit", ENUM, repair), \
     .def = "auto", .choices = wf_transport_repair_names, \
     .doc = "Whether a receiver takes packets in order only, so that all after a lost one" \
            " are sent again, or in any order; auto is what the transport wants"}, \
    {WF_TRANSPORT_ANY_(params, "delivery", ENUM, delivery), .def = "in_order", \
     .choices = wf_transport_delivery_names, \
     .doc = "Whether messages between two nodes are handed over in the order in which they " \
            "were sent, or as soon as they are complete, as far as MPI allows it"}, \
    {WF_TRANSPORT_ANY_(params, "timeout", TIME, timeout), \
     .def = "200us", .min = "1ns", .max = "1h", \
     .doc = "Time without an acknowledgement after which a node sends again; it doubles " \
            "with every try"}, \
    {WF_TRANSPORT_ANY_(params, "ack", SIZE, ack), .def = "64B", .min = "1B", .max = "64KiB", \
     .doc = "Size of acknowledgements and other control packets, which go first"}, \
    {WF_TRANSPORT_ANY_(params, "flowlet_gap", TIME, flowlet_gap), \
     .def = "0", .min = "0", .max = "1h", \
     .doc = "With routing ecmp: a flow takes another route after a pause of this length; " \
            "0 is never"}, \
    {WF_TRANSPORT_ANY_(params, "paths", COUNT, paths), .def = "0", .max = "65536", \
     .doc = "With ecmp packet: over how many routes a flow sprays its packets, in turn; 0" \
            " is any"}, \
    {WF_TRANSPORT_ANY_(params, "avoid_paths", BOOL, avoid_paths), .def = "off", \
     .doc = "With paths: whether a flow leaves a route out once after a packet there was " \
            "marked or lost its data"}, \
    {WF_TRANSPORT_ANY_(params, "classes", GROUPS, classes), \
     .def = "", .choices = wf_transport_class_syntax, \
     .doc = "Classes of traffic, each with queues of its own: who belongs to them, which " \
            "go first, and how they share a link"}, \
    {WF_TRANSPORT_OF_(params, dcqcn, gain, REAL), \
     .def = "0.00390625", .min = "0.00001", .max = "1", \
     .doc = "Gain g of the estimate of congestion"}, \
    {WF_TRANSPORT_OF_(params, dcqcn, interval, TIME), \
     .def = "50us", .min = "1ns", .max = "1h", \
     .doc = "Least time between two notifications of congestion to one sender"}, \
    {WF_TRANSPORT_OF_(params, dcqcn, timer, TIME), .def = "55us", .min = "1ns", .max = "1h", \
     .doc = "Time after which a sender without notification raises its rate"}, \
    {WF_TRANSPORT_OF_(params, dcqcn, bytes, SIZE), .def = "10MB", .min = "1B", .max = "1TiB", \
     .doc = "Bytes after which it does so, too"}, \
    {WF_TRANSPORT_OF_(params, dcqcn, step, RATE), .def = "40Mbit/s", \
     .doc = "By how much it raises its target after five times"}, \
    {WF_TRANSPORT_OF_(params, dcqcn, fast_step, RATE), .def = "400Mbit/s", \
     .doc = "The same after five times by both timer and bytes"}, \
    {WF_TRANSPORT_OF_(params, swift, target, TIME), .def = "5us", .min = "0", .max = "1h", \
     .doc = "Delay by queues that a flow accepts"}, \
    {WF_TRANSPORT_OF_(params, swift, range, TIME), .def = "20us", .min = "0", .max = "1h", \
     .doc = "How much more a flow with a small window accepts, at most"}, \
    {WF_TRANSPORT_OF_(params, swift, step, REAL), .def = "1", .min = "0.001", .max = "1000", \
     .doc = "By how many packets the window grows in a round trip"}, \
    {WF_TRANSPORT_OF_(params, swift, decrease, REAL), .def = "0.8", .min = "0", .max = "10", \
     .doc = "By which part of the excess delay it shrinks"}, \
    {WF_TRANSPORT_OF_(params, swift, most, REAL), .def = "0.5", .min = "0", .max = "0.99", \
     .doc = "Part of the window by which it shrinks at most"}, \
    {WF_TRANSPORT_OF_(params, pressure, at, SIZE), .def = "32KiB", .max = "1GiB", \
     .doc = "A router stops the flows of packets that find a longer queue"}, \
    {WF_TRANSPORT_OF_(params, hpcc, target, REAL), .def = "0.95", .min = "0.1", .max = "1", \
     .doc = "Load of the busiest link of a route that flows aim at"}, \
    {WF_TRANSPORT_OF_(params, hpcc, flows, COUNT), .def = "10", .min = "1", .max = "1000000", \
     .doc = "Flows of a link whose steps together fill what hpcc_target leaves free"}, \
    {WF_TRANSPORT_OF_(params, nscc, target, REAL), .def = "0.75", .min = "0.01", .max = "100", \
     .doc = "Delay by queues that a flow accepts, in round trips of an idle network"}
/* clang-format on */
