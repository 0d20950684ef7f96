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

#include "net/net.h"

struct wf_net_loggp_params {
    int64_t latency;    /* L */
    int64_t overhead;   /* o */
    int64_t gap;        /* g */
    uint64_t bandwidth; /* 1/G, bytes per second */
    char *sizes;        /* instead of G: times by message size, "4096:1.2us,65536:9us" */
    char *held;         /* instead of `shared`: idle times, likewise */
    double shared;      /* share of a message's time in which the other direction is idle */
    int preset;         /* applied before the other parameters; unused after that */
};
