/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/units.h"
#include "ops/graph.h"
#include "trace/facts.h"

#include <string.h>

static void read_task(struct wf_trace_facts *facts, const struct wf_graph *graph, uint32_t pe,
                      uint32_t number)
{
    struct wf_rank_facts *one = &facts->ranks[pe];
    struct wf_task_needs needs = graph->ops->needs(graph, pe, number);
    struct wf_task task;

    graph->ops->task(graph, pe, number, &task);
    one->n_ops++;
    one->compute =
        task.duration > WF_TIME_MAX - one->compute ? WF_TIME_MAX : one->compute + task.duration;
    facts->n_task_needs += needs.tasks;
    facts->n_message_needs += needs.messages;
    for (uint32_t i = 0; i < task.n_sends; i++) {
        struct wf_task_send send;

        graph->ops->send(graph, &task, i, &send);
        one->n_messages++;
        one->bytes = wf_count_add(one->bytes, send.bytes);
        facts->sizes[wf_size_bin(send.bytes)]++;
    }
}

void wf_graph_facts_init(struct wf_trace_facts *facts, const struct wf_graph *graph)
{
    memset(facts, 0, sizeof(*facts));
    facts->n_ranks = graph->n_pes;
    facts->ranks = wf_xcalloc(graph->n_pes, sizeof(*facts->ranks));
    facts->groups = wf_groups_new(graph->n_pes);
    for (uint32_t pe = 0; pe < graph->n_pes; pe++) {
        const struct wf_rank_facts *one = &facts->ranks[pe];
        uint32_t n_tasks = graph->ops->n_tasks(graph, pe);

        for (uint32_t task = 0; task < n_tasks; task++) {
            read_task(facts, graph, pe, task);
        }
        facts->all.n_ops += one->n_ops;
        facts->all.n_messages += one->n_messages;
        facts->all.bytes = wf_count_add(facts->all.bytes, one->bytes);
    }
}
