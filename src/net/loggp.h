/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_LOGGP_H
#define WF_NET_LOGGP_H

/*
 * LogGP: Alexandrov, Ionescu, Schauser and Scheiman, "LogGP: incorporating long messages into
 * the LogP model", SPAA 1995. One message of k bytes on an idle network takes
 *
 *     o + (k-1)G + L + o
 *
 * where the two o are CPU time of the ranks. A node's interface sends one message at a time
 * and takes in one at a time: the next one begins g + (k-1)G after the one before, as in
 * LogGOPSim (Hoefler, Schneider and Lumsdaine, 2010). Nothing is lost, and no path is shared:
 * between interfaces there is only L. docs/models/loggp.md has the whole story.
 */

#include "net/net.h"

struct wf_net_loggp_params {
    int64_t latency;    /* L */
    int64_t overhead;   /* o */
    int64_t gap;        /* g */
    uint64_t bandwidth; /* 1/G, bytes per second */
    char *sizes;        /* instead of G, as net/loggp_sizes.h has it */
    char *held;         /* instead of `shared`, likewise: how long the other direction rests */
    double shared;      /* of a message's time, in which the other direction rests */
    int preset;         /* applied before the others are; means nothing any more */
};

#endif
