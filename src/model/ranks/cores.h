/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The cores of a node and where its rank slots are: on which core, in which memory domain, on
 * which socket. All of it is arithmetic on the slot's number; a node keeps nothing. Cores are
 * numbered domain by domain, domains socket by socket. See docs/models/node.md.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct wf_node_params;

/* Set by wf_cores_init(); does not change during a run. */
struct wf_cores {
    uint32_t n;                  /* cores of a node */
    uint32_t domains;            /* memory domains of a node */
    uint32_t per_domain;         /* cores of a domain */
    uint32_t domains_per_socket; /* domains of a socket */
    bool spread;                 /* slots go to the domains in turn */
    bool shared;                 /* a node may have more ranks than cores */
};

/* WF_EUSAGE if the numbers of sockets, domains and cores do not go together. */
enum wf_status wf_cores_check(const struct wf_node_params *params, struct wf_err *err);

/* For nodes with up to `slots_max` ranks; the parameters have been checked. */
struct wf_cores wf_cores_init(const struct wf_node_params *params, uint32_t slots_max);

static inline uint32_t wf_cores_domain(const struct wf_cores *cores, uint32_t slot)
{
    return cores->spread ? slot % cores->domains : slot % cores->n / cores->per_domain;
}

/* The core of a slot. With more slots than cores, the slots go round once more. */
static inline uint32_t wf_cores_core(const struct wf_cores *cores, uint32_t slot)
{
    return cores->spread ? slot % cores->domains * cores->per_domain +
                               slot / cores->domains % cores->per_domain
                         : slot % cores->n;
}

/* The part of a node that two slots share. */
enum wf_cores_distance { WF_CORES_DOMAIN, WF_CORES_SOCKET, WF_CORES_NODE, WF_CORES_DISTANCES };

static inline enum wf_cores_distance wf_cores_distance(const struct wf_cores *cores,
                                                       uint32_t slot, uint32_t other)
{
    uint32_t a = wf_cores_domain(cores, slot), b = wf_cores_domain(cores, other);

    if (a == b) {
        return WF_CORES_DOMAIN;
    }
    return a / cores->domains_per_socket == b / cores->domains_per_socket ? WF_CORES_SOCKET
                                                                          : WF_CORES_NODE;
}

/* The number of domains that can have ranks on nodes with up to `slots_max` ranks. */
uint32_t wf_cores_domains_used(const struct wf_cores *cores, uint32_t slots_max);

/* The number of cores of a domain that have a rank, on a node with `n_slots` ranks. */
uint32_t wf_cores_used(const struct wf_cores *cores, uint32_t domain, uint32_t n_slots);
