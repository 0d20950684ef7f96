/* SPDX-License-Identifier: Apache-2.0 */
#include "model/queue/queue.h"

#include "base/array.h"
#include "base/mem.h"
#include "model/queue/nodes.h"
#include "model/queue/policy.h"

#include <stdlib.h>
#include <string.h>

struct wf_queue_own {
    struct wf_queue_nodes nodes;
    struct wf_queue_result *result;
    size_t next; /* the job that is submitted next */
    size_t waiting_capacity, uses_capacity;
};

/* ---- starting ---- */

static void keep_span(struct wf_queue_sim *sim, const struct wf_queue_use *use)
{
    struct wf_queue_result *result = sim->own->result;
    struct wf_queue_span span = {
        .job = use->job, .start = use->start, .end = use->end, .first_range = result->n_ranges};

    for (uint32_t i = 0, end; i < use->nodes; i = end) {
        for (end = i + 1; end < use->nodes && use->list[end] == use->list[end - 1] + 1; end++) {
        }
        WF_PUSH(result->ranges, result->n_ranges, result->ranges_capacity,
                (struct wf_queue_range){use->list[i], use->list[end - 1]});
    }
    span.n_ranges = result->n_ranges - span.first_range;
    WF_PUSH(result->spans, result->n_spans, result->spans_capacity, span);
}

static void insert_use(struct wf_queue_sim *sim, const struct wf_queue_use *use)
{
    size_t low = 0;

    WF_BISECT(low, sim->n_uses, middle, sim->uses[middle].expected <= use->expected);
    WF_GROW(sim->uses, sim->n_uses, sim->own->uses_capacity);
    memmove(&sim->uses[low + 1], &sim->uses[low], (sim->n_uses - low) * sizeof(*use));
    sim->uses[low] = *use;
    sim->n_uses++;
}

void wf_queue_start(struct wf_queue_sim *sim, size_t place)
{
    const struct wf_queue_job *job = wf_queue_waiting(sim, place);
    uint32_t number = sim->waiting[place];
    struct wf_queue_outcome *outcome = &sim->own->result->outcomes[number];
    struct wf_queue_use use = {
        .job = number,
        .nodes = job->nodes,
        .start = sim->now,
        .expected = sim->now + job->requested,
        .end = sim->now + (job->run < job->requested ? job->run : job->requested),
        .list = wf_xcalloc(job->nodes, sizeof(*use.list)),
    };

    wf_queue_nodes_take(&sim->own->nodes, number, job->nodes, use.list);
    wf_queue_nodes_spread(&sim->own->nodes, use.list, job->nodes, outcome);
    outcome->start = use.start;
    outcome->end = use.end;
    if (sim->config->keep_nodes) {
        keep_span(sim, &use);
    }
    insert_use(sim, &use);
    sim->free -= job->nodes;
    sim->waiting[place] = WF_QUEUE_NONE;
}

/* ---- events ---- */

static int64_t next_event(const struct wf_queue_sim *sim)
{
    const struct wf_queue_jobs *jobs = sim->config->jobs;
    size_t next = sim->own->next;
    int64_t first = next < jobs->n ? jobs->items[next].submit : WF_QUEUE_NEVER;

    for (size_t i = 0; i < sim->n_uses; i++) {
        first = sim->uses[i].end < first ? sim->uses[i].end : first;
    }
    return first;
}

static void end_uses(struct wf_queue_sim *sim)
{
    size_t kept = 0;

    for (size_t i = 0; i < sim->n_uses; i++) {
        struct wf_queue_use *use = &sim->uses[i];

        if (use->end > sim->now) {
            sim->uses[kept++] = *use;
            continue;
        }
        sim->early = sim->early || use->expected > sim->now;
        sim->free += use->nodes;
        wf_queue_nodes_give(&sim->own->nodes, use->list, use->nodes);
        free(use->list);
    }
    sim->n_uses = kept;
}

/* After all jobs that are not to be behind it. */
static void enqueue(struct wf_queue_sim *sim, uint32_t number)
{
    const struct wf_queue_config *config = sim->config;
    const struct wf_queue_job *job = &config->jobs->items[number];
    size_t place = sim->n_waiting;

    WF_GROW(sim->waiting, sim->n_waiting, sim->own->waiting_capacity);
    if (config->policy->before != NULL) {
        place = 0;
        WF_BISECT(place, sim->n_waiting, middle,
                  !config->policy->before(job, wf_queue_waiting(sim, middle)));
    }
    memmove(&sim->waiting[place + 1], &sim->waiting[place],
            (sim->n_waiting - place) * sizeof(*sim->waiting));
    sim->waiting[place] = number;
    sim->n_waiting++;
}

static void submit(struct wf_queue_sim *sim)
{
    const struct wf_queue_jobs *jobs = sim->config->jobs;
    size_t *next = &sim->own->next;

    while (*next < jobs->n && jobs->items[*next].submit <= sim->now) {
        enqueue(sim, (uint32_t)(*next)++);
    }
}

static void schedule(struct wf_queue_sim *sim)
{
    size_t kept = 0;

    sim->config->policy->schedule(sim);
    sim->early = false;
    for (size_t i = 0; i < sim->n_waiting; i++) {
        sim->waiting[kept] = sim->waiting[i];
        kept += sim->waiting[i] != WF_QUEUE_NONE ? 1 : 0;
    }
    sim->n_waiting = kept;
}

void wf_queue_run(const struct wf_queue_config *config, struct wf_queue_result *out)
{
    size_t n = config->jobs->n;
    struct wf_queue_own own = {.result = out};
    struct wf_queue_sim sim = {.config = config,
                               .free = config->n_nodes,
                               .planned = wf_xcalloc(n, sizeof(*sim.planned)),
                               .own = &own};

    *out = (struct wf_queue_result){.outcomes = wf_xcalloc(n, sizeof(*out->outcomes))};
    for (size_t i = 0; i < n; i++) {
        sim.planned[i] = WF_QUEUE_NEVER;
    }
    wf_queue_nodes_init(&own.nodes, config);
    while ((sim.now = next_event(&sim)) != WF_QUEUE_NEVER) {
        end_uses(&sim);
        submit(&sim);
        schedule(&sim);
    }
    wf_queue_nodes_fini(&own.nodes);
    free(sim.waiting);
    free(sim.uses);
    free(sim.planned);
}

void wf_queue_result_fini(struct wf_queue_result *result)
{
    free(result->outcomes);
    free(result->spans);
    free(result->ranges);
    *result = (struct wf_queue_result){.n_spans = 0};
}

void wf_queue_jobs_fini(struct wf_queue_jobs *jobs)
{
    for (size_t i = 0; i < jobs->n; i++) {
        free(jobs->items[i].name);
    }
    free(jobs->items);
    *jobs = (struct wf_queue_jobs){.n = 0};
}
