/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What was measured on the real machine, from the list `published` of its file. Predictions do
 * not depend on it; `weft machine check` compares the two (ui/study/machine_check.h).
 */

#include "base/param.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was measured. */
enum wf_machine_what {
    WF_MACHINE_LATENCY,      /* half of the round trip of a message */
    WF_MACHINE_BANDWIDTH,    /* bytes per second between two nodes */
    WF_MACHINE_MESSAGE_RATE, /* messages per second that a node sends to another one */
    WF_MACHINE_ALLTOALL,     /* bytes per second that each node sends to others, all to all */
    WF_MACHINE_BISECTION,    /* likewise, each node of one half to one of the other half */
    WF_MACHINE_BARRIER,      /* time of a barrier */
    WF_MACHINE_ALLREDUCE,    /* time of an allreduce */
    WF_MACHINE_BUS,          /* bytes per second of an allreduce as nccl-tests counts them */
    WF_MACHINE_N_WHAT,
};

extern const char *const wf_machine_what_names[]; /* null-terminated */

/* The unit of a measured value. */
enum wf_machine_unit { WF_MACHINE_TIME, WF_MACHINE_RATE, WF_MACHINE_PER_SECOND };

enum wf_machine_unit wf_machine_unit_of(enum wf_machine_what what);

/* The two ends of a measurement between two ranks. */
enum wf_machine_between {
    WF_MACHINE_NEAR,   /* two nodes as near to each other as any */
    WF_MACHINE_FAR,    /* two nodes as far from each other as any */
    WF_MACHINE_DOMAIN, /* two cores of a memory domain... */
    WF_MACHINE_SOCKET, /* ...of two domains of a socket... */
    WF_MACHINE_NODE,   /* ...of two sockets of a node */
};

struct wf_machine_published {
    int what;    /* enum wf_machine_what */
    int between; /* enum wf_machine_between */
    char *value; /* as written: "3.3us" */
    char *source;
    char *topology; /* "": that of the machine */
    char *set;      /* other parameters: "net.routing=adaptive,..." */
    double tolerance_percent;
    uint64_t bytes, nodes, ranks_per_node, window, peers; /* as in the table */
    bool both;
    double number; /* the value in picoseconds, bytes per second or messages per second */
    char *place;   /* position in the file: "bgp.yaml:12:3" */
};

/* The members that a file may set. */
extern const struct wf_param wf_machine_published_params[];

/* Writes what was measured into `buf`: "latency of 8B, near". */
void wf_machine_published_describe(const struct wf_machine_published *entry, char *buf,
                                   size_t size);

void wf_machine_published_fini(struct wf_machine_published *entry);

/* How far a network model was from what `weft calibrate` measured: an entry of `residuals` in a
 * machine file. Predictions do not depend on it either. The errors are over all sizes of one
 * pattern of messages. */
struct wf_machine_residual {
    char *model, *pattern;
    double mean_percent, worst_percent;
};

/* The members that a file sets. */
extern const struct wf_param wf_machine_residual_params[];
