/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * LogGP: Alexandrov, Ionescu, Schauser and Scheiman, "LogGP: incorporating long messages into
 * the LogP model", SPAA 1995. One message of k bytes on an idle network takes
 *
 *     o + (k-1)G + L + o
 *
 * where the two o are CPU time of the ranks. A node's interface sends one message at a time
 * and receives one at a time: the next begins g + (k-1)G after the previous one, as in
 * LogGOPSim (Hoefler, Schneider and Lumsdaine, 2010). Paths are not shared: between interfaces
 * there is only L. docs/models/loggp.md describes the model.
 */

#include "model/net/net.h"

struct wf_net_loggp_params {
    int64_t latency;    /* L */
    int64_t overhead;   /* o */
    int64_t gap;        /* g */
    uint64_t bandwidth; /* 1/G, bytes per second */
    char *sizes;        /* instead of G: times by message size, "4096:1.2us,65536:9us" */
    char *held;         /* instead of `shared`: idle times, likewise */
    double shared;      /* share of a message's time in which the other direction is idle */
    int64_t per_byte;   /* O: CPU time per byte; only with the preset loggopsim */
    uint64_t
        eager_max; /* S: longest message that is sent at once, or WF_PARAM_WORD; likewise */
    int preset;    /* enum wf_net_loggp_preset */
};

/* Presets are applied before the other parameters. Only the last one means more than that. */
enum wf_net_loggp_preset {
    WF_NET_LOGGP_NONE,
    WF_NET_LOGGP_SIMPLENET,
    WF_NET_LOGGP_LOGGOPSIM, /* task graphs run by the rules of LogGOPSim */
};

/* The parameters of LogGOPS for the rules of LogGOPSim (model/ranks/tasks/loggops.h). */
struct wf_net_loggops {
    int64_t latency, overhead, gap; /* L, o, g */
    int64_t per_byte;               /* O */
    uint64_t eager_max;             /* S */
    uint64_t bandwidth;             /* 1/G... */
    int64_t byte_ps;                /* ...and G, where it is a whole number; otherwise 0 */
};

/* (k-1)G and (k-1)O of a message of k bytes; an empty one counts as one byte. */
int64_t wf_net_loggops_transfer(const struct wf_net_loggops *rules, uint64_t bytes);
int64_t wf_net_loggops_copy(const struct wf_net_loggops *rules, uint64_t bytes);
