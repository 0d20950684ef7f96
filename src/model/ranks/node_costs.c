/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/node_costs.h"

struct wf_node_costs wf_node_costs_of(const struct wf_node_params *node,
                                      const struct wf_net *net)
{
    bool own_send = node->o_send != (int64_t)WF_PARAM_WORD;
    bool own_recv = node->o_recv != (int64_t)WF_PARAM_WORD;
    struct wf_node_costs costs = {
        .o_send = own_send ? node->o_send : net->o_send_ps,
        .o_recv = own_recv ? node->o_recv : net->o_recv_ps,
        /* The overhead of LogGP never applied to one-sided operations. */
        .o_one_sided = own_send ? node->o_send : 0,
        .copy_send = node->copy_send,
        .copy_recv = node->copy_recv,
        .copy_unexpected = node->copy_unexpected,
        .injection = node->injection_delay,
        .delay = wf_time_add(node->injection_delay, node->ejection_delay),
        .gap = node->gap,
        .registration = node->registration,
        .registration_rate = node->registration_rate,
        .copies_long = node->copies == WF_NODE_COPIES_ALL,
    };

    costs.recv_takes_time =
        costs.copy_recv != WF_PARAM_WORD || costs.copy_unexpected != WF_PARAM_WORD;
    costs.registers = costs.registration > 0 || costs.registration_rate != WF_PARAM_WORD;
    costs.send_takes_time = costs.copy_send != WF_PARAM_WORD || costs.registers;
    costs.recv_unit = costs.recv_takes_time || costs.registers ? 1 : costs.o_recv;
    return costs;
}

int64_t wf_node_recv_bytes_ps(const struct wf_node_costs *costs, uint64_t bytes, bool eager,
                              bool unexpected)
{
    int64_t ps = costs->o_recv;

    if (eager || costs->copies_long) {
        ps = wf_time_add(ps, wf_node_rate_ps(bytes, costs->copy_recv));
    }
    if (unexpected) {
        ps = wf_time_add(ps, wf_node_rate_ps(bytes, costs->copy_unexpected));
    }
    return ps;
}
