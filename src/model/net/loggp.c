/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/loggp.h"

#include "base/arith.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { LOGGP_HEAD }; /* the first byte of a message has arrived */

/*
 * The transfer time of a message by its size, where it is not proportional: points
 * "bytes:time" by increasing size, with linear interpolation. It covers all bytes but the
 * first. Before the first point the line begins at one byte, which takes no time unless it
 * is a point itself. After the last point the bandwidth applies. Real machines switch
 * buffers, caches and protocols between sizes, so measured curves have this form.
 */
enum { ITEM_MAX = 64, POINTS_MAX = 64 };

struct curve {
    struct {
        uint64_t bytes;
        int64_t ps;
    } points[POINTS_MAX];
    size_t n; /* 0: the bandwidth alone applies */
};

struct loggp {
    struct wf_net net;
    struct wf_net_loggp_params params;
    struct curve sizes, held;
    uint64_t shared; /* in 65536ths */
    uint64_t held_bandwidth;
    bool holds;         /* a message keeps the other direction idle for some time */
    uint64_t byte_ps;   /* time of a byte, if it is a whole number of picoseconds; else 0... */
    uint64_t bytes_max; /* ...and how many bytes take less than WF_TIME_MAX */
    struct wf_net_loggops loggops;
};

enum { SHARED_BITS = 16 };

/* A node's interface: when it can send and receive its next message. */
struct interface {
    int64_t send_free;
    int64_t recv_free;
};

static const char *const preset_names[] = {
    [WF_NET_LOGGP_NONE] = "none",
    [WF_NET_LOGGP_SIMPLENET] = "simplenet",
    [WF_NET_LOGGP_LOGGOPSIM] = "loggopsim",
    NULL,
};

/* SimpleNet of CODES: a start-up time and a bandwidth, and interfaces that contend. The figures
 * are those of the packet model's torusnet. */
static const char *const simplenet[] = {"L", "1us",       "o",     "0", "g",
                                        "0", "bandwidth", "2GB/s", NULL};

/* What LogGOPSim takes if it is given no parameters. G is 6 ns. */
static const char *const loggopsim[] = {
    "L", "2500ns", "o", "1500ns", "g",  "1us", "bandwidth", "1333333333.334bit/s",
    "O", "0",      "S", "65535B", NULL,
};

static const struct wf_net_preset presets[] = {
    {"simplenet", simplenet}, {"loggopsim", loggopsim}, {NULL, NULL}};

#define ROW(name_, type_, member_)             \
    .name = (name_), .type = WF_PARAM_##type_, \
    .offset = offsetof(struct wf_net_loggp_params, member_)

static const struct wf_param params_table[] = {
    {ROW("L", TIME, latency), .def = "1us", .min = "0", .max = "1h",
     .what_if = WF_WHAT_IF_LATENCY,
     .doc = "Latency: from the departure of the first byte to its arrival"},
    {ROW("o", TIME, overhead), .def = "500ns", .min = "0", .max = "1h",
     .doc = "Overhead: CPU time of a rank to send or to receive a message"},
    {ROW("g", TIME, gap), .def = "100ns", .min = "0", .max = "1h",
     .doc = "Gap: least time between two messages that a node sends, or two that it receives"},
    {ROW("bandwidth", RATE, bandwidth), .def = "10GB/s", .what_if = WF_WHAT_IF_BANDWIDTH,
     .doc = "1/G: bytes per second after the first byte of a message"},
    {ROW("sizes", TEXT, sizes), .def = "", .what_if = WF_WHAT_IF_PREVENTS,
     .doc = "Time of all bytes but the first, where one bandwidth does not describe it: a "
            "list of bytes:time, linear in between; after the last point, bandwidth applies"},
    {ROW("shared", REAL, shared), .def = "0", .min = "0", .max = "1",
     .doc = "Share of the time of a message in which the interface is idle in the other "
            "direction: 0 is full duplex, 1 half duplex"},
    {ROW("held", TEXT, held), .def = "",
     .doc = "That idle time by message size, where one share does not describe it: a list "
            "like sizes; after the last point, shared applies"},
    {ROW("O", TIME, per_byte), .def = "0", .min = "0", .max = "1h",
     .doc =
         "CPU time per byte of a message, with preset=loggopsim; elsewhere node.copy_send and "
         "node.copy_recv give it"},
    {ROW("S", SIZE, eager_max), .def = "unlimited", .word = "unlimited",
     .doc = "Longest message that does not wait for its receive, with preset=loggopsim; "
            "elsewhere mpi.eager_max gives it"},
    {ROW("preset", ENUM, preset), .def = "none", .choices = preset_names,
     .doc = "Values for the parameters that are not given: simplenet is that of CODES; with "
            "loggopsim, task graphs also run by the rules of LogGOPSim"},
    WF_PARAM_END,
};

/* ---- times by message size ---- */

__extension__ typedef __int128 wide;

static enum wf_status fail_item(const char *item, struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL,
                      "net.sizes or net.held: '%.60s': expected a list of at most %d points by "
                      "increasing bytes, like 4096:1.2us,65536:9us",
                      item, POINTS_MAX);
}

static enum wf_status add_point(const char *item, struct curve *out, struct wf_err *err)
{
    char bytes[ITEM_MAX];
    const char *colon = strchr(item, ':');
    uint64_t least = out->n > 0 ? out->points[out->n - 1].bytes + 1 : 1;

    if (colon == NULL || out->n == POINTS_MAX) {
        return fail_item(item, err);
    }
    memcpy(bytes, item, (size_t)(colon - item));
    bytes[colon - item] = '\0';
    uint64_t length = 0;
    int64_t ps = 0;
    if (wf_parse_size(bytes, &length, err) != WF_OK ||
        wf_parse_time(colon + 1, &ps, err) != WF_OK || length < least || ps < 0) {
        return fail_item(item, err);
    }
    out->points[out->n].bytes = length;
    out->points[out->n++].ps = ps;
    return WF_OK;
}

/* Reads "4096:1.2us,65536:9us"; a null pointer or "" gives no points. */
static enum wf_status parse_curve(const char *text, struct curve *out, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    out->n = 0;
    while (text != NULL && *text != '\0' && status == WF_OK) {
        char item[ITEM_MAX];
        size_t length = strcspn(text, ",");

        if (length >= sizeof(item)) {
            return fail_item(text, err);
        }
        memcpy(item, text, length);
        item[length] = '\0';
        status = add_point(item, out, err);
        text += length;
        text += *text == ',' ? 1 : 0;
    }
    return status;
}

/* The time at a size between two points, rounded down. */
static int64_t between(uint64_t from, int64_t from_ps, uint64_t to, int64_t to_ps, uint64_t at)
{
    wide rise = (wide)(to_ps - from_ps) * (wide)(at - from);

    return from_ps + (int64_t)(rise / (wide)(to - from));
}

/* The time from the first byte of a message to its last. */
static int64_t curve_ps(const struct curve *curve, uint64_t bytes, uint64_t bandwidth)
{
    uint64_t before = 1;
    int64_t before_ps = 0;

    if (bytes <= 1) {
        return curve->n > 0 && curve->points[0].bytes == 1 ? curve->points[0].ps : 0;
    }
    for (size_t i = 0; i < curve->n; i++) {
        uint64_t at = curve->points[i].bytes;
        int64_t ps = curve->points[i].ps;
        if (bytes <= at) {
            return between(before, before_ps, at, ps, bytes);
        }
        before = at;
        before_ps = ps;
    }
    return wf_time_add(before_ps, wf_transfer_ps(bytes - before, bandwidth));
}

/* ---- the model ---- */

static const struct loggp *to_loggp(const struct wf_net *net)
{
    return (const struct loggp *)net;
}

/* (k-1)G; a message without data counts as one byte. */
static int64_t tail_ps(const struct loggp *loggp, uint64_t bytes)
{
    if (bytes - 1 < loggp->bytes_max) { /* without a division; not for 0 bytes */
        return (int64_t)((bytes - 1) * loggp->byte_ps);
    }
    if (loggp->sizes.n > 0) {
        return curve_ps(&loggp->sizes, bytes, loggp->params.bandwidth);
    }
    return bytes <= 1 ? 0 : wf_transfer_ps(bytes - 1, loggp->params.bandwidth);
}

/* How long a message that takes `length` keeps the other direction idle. */
static int64_t held_ps(const struct loggp *loggp, uint64_t bytes, uint64_t length)
{
    if (loggp->held.n > 0) {
        return curve_ps(&loggp->held, bytes, loggp->held_bandwidth);
    }
    return (int64_t)((length >> SHARED_BITS) * loggp->shared +
                     (((length & ((1U << SHARED_BITS) - 1)) * loggp->shared) >> SHARED_BITS));
}

static void hold(struct wf_ctx *ctx, int64_t *free_at, int64_t first, int64_t held)
{
    if (held > 0) {
        wf_touch(ctx, free_at, sizeof(*free_at));
        *free_at = wf_time_add(wf_max_i64(first, *free_at), held);
    }
}

/* Prepares tail_ps() for bandwidths like 10 GB/s, which is 100 ps a byte. */
static void set_byte_ps(struct loggp *loggp)
{
    const wide second = (wide)1000000000000 * WF_RATE_BYTE; /* picoseconds for a rate of 1 */

    if (loggp->sizes.n == 0 && second % loggp->params.bandwidth == 0) {
        loggp->byte_ps = (uint64_t)(second / loggp->params.bandwidth);
        loggp->bytes_max = (uint64_t)WF_TIME_MAX / loggp->byte_ps;
    }
}

/* ---- the rules of LogGOPSim ---- */

/* A rate cannot say what LogGOPSim takes as a whole number, such as 3 ns per byte. A time per
 * byte that is close to a whole number of picoseconds is therefore meant to be that number. */
enum { CLOSE = 100000 };

static int64_t whole_byte_ps(uint64_t bandwidth)
{
    /* The time of 2^20 bytes, a little more than 10 decimal places. */
    enum { BITS = 20 };
    int64_t many = wf_transfer_ps(UINT64_C(1) << BITS, bandwidth);
    int64_t nearest = many / (1 << BITS) + (many % (1 << BITS) >= 1 << (BITS - 1) ? 1 : 0);
    wide off = (wide)nearest * (1 << BITS) - many;

    return nearest > 0 && (off < 0 ? -off : off) <= many / CLOSE ? nearest : 0;
}

int64_t wf_net_loggops_transfer(const struct wf_net_loggops *rules, uint64_t bytes)
{
    if (bytes <= 1) {
        return 0;
    }
    if (rules->byte_ps == 0) {
        return wf_transfer_ps(bytes - 1, rules->bandwidth);
    }
    return (int64_t)wf_min_u64(wf_times_u64(bytes - 1, (uint64_t)rules->byte_ps), WF_TIME_MAX);
}

int64_t wf_net_loggops_copy(const struct wf_net_loggops *rules, uint64_t bytes)
{
    return bytes <= 1 ? 0
                      : (int64_t)wf_min_u64(wf_times_u64(bytes - 1, (uint64_t)rules->per_byte),
                                            WF_TIME_MAX);
}

/* Each set of parameters has some that mean nothing in the other. */
static enum wf_status check_preset(const struct wf_net_loggp_params *given, struct wf_err *err)
{
    bool is_loggopsim = given->preset == WF_NET_LOGGP_LOGGOPSIM;
    bool has_curves = (given->sizes != NULL && *given->sizes != '\0') ||
                      (given->held != NULL && *given->held != '\0') || given->shared > 0;

    if (is_loggopsim && has_curves) {
        return wf_err_set(err, WF_EUSAGE,
                          "net.preset: loggopsim has no net.sizes, net.shared and net.held; "
                          "leave them out");
    }
    if (!is_loggopsim && given->per_byte > 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "net.O: only net.preset=loggopsim has a time per byte; elsewhere "
                          "set node.copy_send and node.copy_recv");
    }
    if (!is_loggopsim && given->eager_max != WF_PARAM_WORD) {
        return wf_err_set(err, WF_EUSAGE,
                          "net.S: only net.preset=loggopsim has a longest eager message of "
                          "its own; elsewhere set mpi.eager_max");
    }
    return WF_OK;
}

/* ---- all functions of the model ---- */

static enum wf_status loggp_create(const void *params, const struct wf_net_env *env,
                                   struct wf_net **out, struct wf_err *err)
{
    const struct wf_net_loggp_params *given = params;
    struct loggp *loggp = wf_xcalloc(1, sizeof(*loggp));

    enum wf_status status = check_preset(given, err);
    WF_THEN(status, parse_curve(given->sizes, &loggp->sizes, err));
    WF_THEN(status, parse_curve(given->held, &loggp->held, err));
    if (status != WF_OK) {
        free(loggp);
        return status;
    }
    loggp->params = *given;
    loggp->params.sizes = loggp->params.held = NULL; /* these belong to the caller */
    double rate = (double)given->bandwidth / given->shared;
    loggp->held_bandwidth = rate < 1e18 ? (uint64_t)rate : UINT64_C(1000000000000000000);
    loggp->shared = (uint64_t)(given->shared * (1U << SHARED_BITS) + 0.5);
    loggp->holds = loggp->shared > 0 || loggp->held.n > 0;
    set_byte_ps(loggp);
    loggp->loggops = (struct wf_net_loggops){
        .latency = given->latency,
        .overhead = given->overhead,
        .gap = given->gap,
        .per_byte = given->per_byte,
        .eager_max = given->eager_max,
        .bandwidth = given->bandwidth,
        .byte_ps = whole_byte_ps(given->bandwidth),
    };
    loggp->net = (struct wf_net){
        .ops = &wf_net_loggp_ops,
        .node_size = sizeof(struct interface),
        .payload_max = sizeof(struct wf_net_message),
        .o_send_ps = given->overhead,
        .o_recv_ps = given->overhead,
        .promise_ps = given->latency,
        /* A message sent later must not delay a message received earlier. */
        .ahead = loggp->holds ? WF_NET_NOW : WF_NET_IN_ORDER,
        .ends = wf_net_ends_of(env),
        .loggops = given->preset == WF_NET_LOGGP_LOGGOPSIM ? &loggp->loggops : NULL,
    };
    *out = &loggp->net;
    return WF_OK;
}

static int64_t loggp_send(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                          uint32_t dst_node, const struct wf_net_message *msg, int64_t start)
{
    const struct loggp *loggp = to_loggp(net);
    struct interface *own = node;
    int64_t first = wf_max_i64(start, own->send_free);
    int64_t last = wf_time_add(first, tail_ps(loggp, msg->bytes));

    wf_touch(ctx, &own->send_free, sizeof(own->send_free));
    own->send_free = wf_time_add(last, loggp->params.gap);
    if (loggp->holds) {
        hold(ctx, &own->recv_free, first, held_ps(loggp, msg->bytes, (uint64_t)(last - first)));
    }
    wf_net_schedule(net, ctx, dst_node, wf_time_add(first, loggp->params.latency), LOGGP_HEAD,
                    msg);
    return last;
}

static void loggp_event(const struct wf_net *net, struct wf_ctx *ctx, void *node,
                        const struct wf_event *ev)
{
    const struct loggp *loggp = to_loggp(net);
    const struct wf_net_message *msg = (const void *)ev->payload;
    struct interface *own = node;
    int64_t first = wf_max_i64(wf_now(ctx), own->recv_free);
    int64_t last = wf_time_add(first, tail_ps(loggp, msg->bytes));

    wf_touch(ctx, &own->recv_free, sizeof(own->recv_free));
    own->recv_free = wf_time_add(last, loggp->params.gap);
    if (loggp->holds) {
        /* A reply to a message that has arrived completely need not wait. */
        hold(ctx, &own->send_free, first,
             wf_min_i64(last - first, held_ps(loggp, msg->bytes, (uint64_t)(last - first))));
    }
    net->user.arrived(net->user.arg, ctx, node, msg, last);
}

static struct wf_net_uncontended loggp_uncontended(const struct wf_net *net, uint32_t src_node,
                                                   uint32_t dst_node, uint64_t bytes)
{
    const struct loggp *loggp = to_loggp(net);

    return (struct wf_net_uncontended){loggp->params.latency, tail_ps(loggp, bytes)};
}

const struct wf_net_ops wf_net_loggp_ops = {
    .name = "loggp",
    .summary = "LogGP: latency, overhead, gap and bandwidth; interfaces contend, paths do not",
    .limits = "messages disturb each other at their nodes, not in the network",
    .params = params_table,
    .params_size = sizeof(struct wf_net_loggp_params),
    .presets = presets,
    .create = loggp_create,
    .send = loggp_send,
    .event = loggp_event,
    .uncontended = loggp_uncontended,
};
