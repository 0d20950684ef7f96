/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The rules of LogGOPSim, for model/ranks/tasks/loggops.c. Numbers of hosts are those of PEs in the
 * run. */

#include "base/map.h"
#include "model/net/loggp.h"
#include "model/ranks/tasks/agenda.h"
#include "model/ranks/tasks/pe_rules.h"
#include "program/ops/matching.h"
#include "program/ops/steps.h"

/* The kinds of items on the agenda: those of steps, and this one. A message has the number of
 * its sender as `peer`, that of its send as `step`, and its departure as `duration`. */
enum { WF_LOGGOPS_MESSAGE = WF_STEP_CALC + 1 };

/* What one event of the engine leaves in its note. */
enum { WF_LOGGOPS_LATENCIES = WF_NOTE_MAX / 8 - 1 };

struct wf_loggops_latencies {
    uint64_t n;
    int64_t of[WF_LOGGOPS_LATENCIES];
};

struct wf_loggops_host {
    uint32_t job;
    uint32_t n_tasks, n_ended; /* in all, and how many are over */
    uint64_t sent_messages, sent_bytes;
    int64_t compute_ps, overhead_ps;
    int64_t recorded; /* until when the recording shows it */
};

/* A step that has become ready. */
struct wf_loggops_ready {
    uint64_t number;
    struct wf_step step;
};

/* Steps of a host that have become ready together. */
struct wf_loggops_list {
    uint32_t host;
    struct wf_loggops_ready *steps;
    size_t n, capacity;
};

struct wf_loggops {
    const struct wf_pes *pes;
    const struct wf_net_loggops *rules;
    struct wf_steps *steps; /* of each job */
    uint32_t n_hosts, n_cpus, n_nics;
    struct wf_loggops_host *hosts;
    /* When CPUs and interfaces are free, for each host: */
    int64_t *cpus, *senders, *receivers;
    struct wf_agenda *agenda;
    struct wf_matching *matching; /* messages and posted receives, by their items */
    struct wf_map missing;        /* steps that a step still waits for, by host and task */
    struct wf_loggops_list
        ready[2];     /* the host of the item, and the sender of a long message */
    int64_t time;     /* of the last item */
    uint64_t digest;  /* of all items */
    uint64_t surplus; /* tasks that ended after all had ended */
    /* In an event: */
    struct wf_ctx *ctx;
    struct wf_loggops_latencies latencies;
};

static inline int64_t *wf_loggops_cpu(const struct wf_loggops *l, uint32_t host, uint8_t cpu)
{
    return &l->cpus[(size_t)host * l->n_cpus + cpu];
}

/* `nics` are the senders or the receivers. */
static inline int64_t *wf_loggops_nic(const struct wf_loggops *l, int64_t *nics, uint32_t host,
                                      uint8_t nic)
{
    return &nics[(size_t)host * l->n_nics + nic];
}

/* The first host of the host's job. */
static inline uint32_t wf_loggops_first(const struct wf_loggops *l, uint32_t host)
{
    return l->pes->first[l->hosts[host].job];
}

static inline bool wf_loggops_is_long(const struct wf_loggops *l,
                                      const struct wf_agenda_item *message)
{
    return message->bytes > l->rules->eager_max;
}

/* Puts the steps that wait for nothing on the agenda. */
void wf_loggops_begin(struct wf_loggops *l);
/* Does what is first on the agenda, or puts it off. Returns false if there is nothing. */
bool wf_loggops_handle(struct wf_loggops *l);
