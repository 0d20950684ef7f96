/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Endpoints: a network interface of a node is an endpoint of the network and a node of the
 * topology. Interface i of node v has the number
 *
 *     (v / m) * m * r + i * m + v % m
 *
 * with r interfaces a node, in groups of m nodes: within a group the first interfaces of all
 * nodes come first, then the second ones, and so on. Four nodes with two interfaces:
 *
 *     m = 1   0.0 0.1 1.0 1.1 2.0 2.1 3.0 3.1    interfaces of a node are neighbours
 *     m = 2   0.0 1.0 0.1 1.1 2.0 3.0 2.1 3.1    pods of two nodes, a leaf for each interface
 *     m = 4   0.0 1.0 2.0 3.0 0.1 1.1 2.1 3.1    a plane for each interface
 */

#include "base/status.h"
#include "engine/key.h"

struct wf_net_env;

enum { WF_NET_NICS_MAX = WF_KEY_PARTS_MAX };

/* With one interface a node, endpoints are nodes and `group` is 1. */
struct wf_net_ends {
    uint32_t n_nodes; /* nodes of the run */
    uint32_t nics;    /* interfaces of each */
    uint32_t group;
    uint32_t whole; /* endpoints of all complete groups */
    uint32_t rest;  /* nodes in the last group, if it is incomplete; else 0 */
    uint32_t gaps;  /* endpoints that are missing in that group: they belong to no node */
    uint32_t
        after; /* endpoints of all nodes; after + gaps is the vertex after the last group */
};

/* A node and the number of one of its interfaces. */
struct wf_net_interface {
    uint32_t node, nic;
};

struct wf_net_ends wf_net_ends_of(const struct wf_net_env *env);

/* The number of nodes that fit on the topology of the environment. */
uint32_t wf_net_ends_capacity(const struct wf_net_env *env);

/* WF_ELIMIT if the endpoints have no numbers. With a topology: WF_EINVAL if groups do not
 * divide its nodes. */
enum wf_status wf_net_ends_check(const struct wf_net_env *env, struct wf_err *err);

/* The endpoint of an interface. */
static inline uint32_t wf_net_end(const struct wf_net_ends *ends, uint32_t node, uint32_t nic)
{
    if (ends->nics == 1) {
        return node;
    }
    uint32_t in_group = node % ends->group;

    return (node - in_group) * ends->nics + nic * ends->group + in_group;
}

/* The interface of an endpoint; its node may be one that the run does not have. */
static inline struct wf_net_interface wf_net_interface_of(const struct wf_net_ends *ends,
                                                          uint32_t end)
{
    if (ends->nics == 1) {
        return (struct wf_net_interface){end, 0};
    }
    uint32_t size = ends->group * ends->nics, in_group = end % size;

    return (struct wf_net_interface){end / size * ends->group + in_group % ends->group,
                                     in_group / ends->group};
}

/* Vertices that are not endpoints of the run have numbers of their own, in their order. */
static inline uint32_t wf_net_other(const struct wf_net_ends *ends, uint32_t vertex)
{
    uint32_t beyond = vertex - ends->whole;

    if (ends->gaps == 0 || beyond >= ends->group * ends->nics) {
        return vertex - ends->after;
    }
    return beyond / ends->group * (ends->group - ends->rest) + beyond % ends->group -
           ends->rest;
}

/* The vertex with that number. */
static inline uint32_t wf_net_other_vertex(const struct wf_net_ends *ends, uint32_t other)
{
    if (other >= ends->gaps) {
        return ends->after + other;
    }
    uint32_t each = ends->group - ends->rest;

    return ends->whole + other / each * ends->group + ends->rest + other % each;
}
