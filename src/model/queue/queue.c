/* SPDX-License-Identifier: Apache-2.0 */
#include "model/queue/queue.h"

#include "base/array.h"
#include "base/mem.h"
#include "model/queue/nodes.h"
#include "model/queue/policy.h"

#include <stdlib.h>
#include <string.h>

/* An end of a use, which may have come to another end before. */
struct end {
    int64_t at, expected;
    uint32_t job, node; /* the first one */
};

/* The least of what jobs ask for that wait at BLOCK places, or less. Places count from own->waiting. */
struct block {
    uint32_t nodes;
    int64_t requested;
};

enum { BLOCK = 256 };

struct wf_queue_own {
    struct wf_queue_nodes nodes;
    struct wf_queue_result *result;
    size_t next; /* the job that is submitted next */
    size_t left; /* jobs that have not ended */
    size_t uses_capacity;
    uint32_t *waiting; /* what the simulation sees begins at `head` */
    size_t head, waiting_capacity;
    struct block *blocks;
    size_t blocks_capacity, n_in_blocks; /* up to which place they are right; 0: nowhere */
    size_t n_started,
        last_started; /* in this call of the policy: jobs, and the largest place */
    struct end *ends; /* a heap: the earliest first */
    size_t n_ends, ends_capacity;
    struct wf_failure_event *failures; /* all before the horizon */
    size_t n_failures, next_failure;
    int64_t horizon;
};

static void keep_span(struct wf_queue_sim *sim, struct wf_queue_use *use)
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
    use->span = result->n_spans;
    span.n_ranges = result->n_ranges - span.first_range;
    WF_PUSH(result->spans, result->n_spans, result->spans_capacity, span);
}

/* ---- ends ---- */

/* The earliest end goes to the top. */
static void add_end(struct wf_queue_own *own, struct end end)
{
    WF_PUSH(own->ends, own->n_ends, own->ends_capacity, end);
    for (size_t i = own->n_ends - 1; i > 0 && own->ends[(i - 1) / 2].at > end.at;) {
        own->ends[i] = own->ends[(i - 1) / 2];
        i = (i - 1) / 2;
        own->ends[i] = end;
    }
}

static struct end pop_end(struct wf_queue_own *own)
{
    struct end first = own->ends[0], moved = own->ends[--own->n_ends];
    size_t i = 0;

    for (size_t child = 1; child < own->n_ends; child = 2 * i + 1) {
        child +=
            child + 1 < own->n_ends && own->ends[child + 1].at < own->ends[child].at ? 1 : 0;
        if (own->ends[child].at >= moved.at) {
            break;
        }
        own->ends[i] = own->ends[child];
        i = child;
    }
    own->ends[i] = moved;
    return first;
}

/* The first place among the uses that is not before one with this end. */
static size_t place_of(const struct wf_queue_sim *sim, const struct end *end)
{
    size_t low = 0;

    WF_BISECT(low, sim->n_uses, middle,
              4 * WF_ORDER(sim->uses[middle].expected, end->expected) +
                      2 * WF_ORDER(sim->uses[middle].job, end->job) +
                      WF_ORDER(sim->uses[middle].list[0], end->node) <
                  0);
    return low;
}

/* The use that has this end; null if it ended before. */
static struct wf_queue_use *use_with(const struct wf_queue_sim *sim, const struct end *end)
{
    size_t place = place_of(sim, end);
    struct wf_queue_use *use = &sim->uses[place];

    return place < sim->n_uses && use->expected == end->expected && use->job == end->job &&
                   use->list[0] == end->node && use->end == end->at
               ? use
               : NULL;
}

/* ---- starting ---- */

static void insert_use(struct wf_queue_sim *sim, struct wf_queue_use *use)
{
    struct end end = {
        .at = use->end, .expected = use->expected, .job = use->job, .node = use->list[0]};
    size_t place = place_of(sim, &end);

    if (sim->config->keep_nodes) {
        keep_span(sim, use);
    }
    WF_GROW(sim->uses, sim->n_uses, sim->own->uses_capacity);
    memmove(&sim->uses[place + 1], &sim->uses[place], (sim->n_uses - place) * sizeof(*use));
    sim->uses[place] = *use;
    sim->n_uses++;
    sim->free -= use->nodes;
    add_end(sim->own, end);
}

/* A policy of somebody else's may be wrong. */
static void check_start(const struct wf_queue_sim *sim, size_t place)
{
    const char *policy = sim->config->policy->name;

    if (place >= sim->n_waiting || sim->waiting[place] == WF_QUEUE_NONE) {
        wf_panic("the scheduling policy '%.64s' starts a job that does not wait", policy);
    }
    if (wf_queue_waiting(sim, place)->nodes > sim->own->nodes.n_free) {
        wf_panic("the scheduling policy '%.64s' starts a job of %u nodes on %u", policy,
                 wf_queue_waiting(sim, place)->nodes, sim->own->nodes.n_free);
    }
}

void wf_queue_start(struct wf_queue_sim *sim, size_t place)
{
    check_start(sim, place);
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
    outcome->start = outcome->failures == 0 ? use.start : outcome->start;
    insert_use(sim, &use);
    sim->waiting[place] = WF_QUEUE_NONE;
    sim->own->n_started++;
    sim->own->last_started = place > sim->own->last_started ? place : sim->own->last_started;
}

/* ---- events ---- */

/* The next failure; it is known how far failures are known. */
static const struct wf_failure_event *next_failure(struct wf_queue_sim *sim)
{
    struct wf_queue_own *own = sim->own;
    const struct wf_failure_class *class = sim->config->failures;

    while (class != NULL && own->next_failure == own->n_failures &&
           (own->horizon == 0 || class->law->gap != NULL) && own->horizon < WF_QUEUE_TIME_MAX) {
        own->horizon = own->horizon > 0 ? 2 * own->horizon : WF_QUEUE_TIME_MAX >> 20;
        own->horizon = class->law->gap == NULL ? WF_QUEUE_TIME_MAX : own->horizon;
        free(own->failures);
        own->n_failures =
            wf_failure_trace(class, 1, sim->config->seed, own->horizon, &own->failures);
    }
    return own->next_failure < own->n_failures ? &own->failures[own->next_failure] : NULL;
}

static int64_t next_event(struct wf_queue_sim *sim)
{
    const struct wf_queue_jobs *jobs = sim->config->jobs;
    const struct wf_failure_event *failure = next_failure(sim);
    size_t next = sim->own->next;
    int64_t first = next < jobs->n ? jobs->items[next].submit : WF_QUEUE_NEVER;

    first = failure != NULL && failure->at < first ? failure->at : first;
    while (sim->own->n_ends > 0 && use_with(sim, &sim->own->ends[0]) == NULL) {
        (void)pop_end(sim->own);
    }
    return sim->own->n_ends > 0 && sim->own->ends[0].at < first ? sim->own->ends[0].at : first;
}

/* Nodes become free. */
static void release(struct wf_queue_sim *sim, const struct wf_queue_use *use)
{
    if (use->job != WF_QUEUE_DOWN) {
        struct wf_queue_outcome *outcome = &sim->own->result->outcomes[use->job];
        outcome->ran += sim->now - use->start;
        outcome->end = sim->now;
    }
    sim->early = sim->early || use->expected > sim->now;
    sim->free += use->nodes;
    wf_queue_nodes_give(&sim->own->nodes, use->list, use->nodes);
    free(use->list);
}

/* The restart of the last run was in vain, too. */
static void complete(struct wf_queue_sim *sim, uint32_t job)
{
    if (job != WF_QUEUE_DOWN) {
        struct wf_queue_outcome *outcome = &sim->own->result->outcomes[job];
        outcome->lost += outcome->failures > 0 ? sim->config->restart : 0;
        sim->own->left--;
    }
}

/* Marks the uses that end now, and closes the gaps. */
static void end_uses(struct wf_queue_sim *sim)
{
    size_t first = sim->n_uses, n = 0;

    while (sim->own->n_ends > 0 && sim->own->ends[0].at <= sim->now) {
        struct end end = pop_end(sim->own);
        struct wf_queue_use *use = use_with(sim, &end);

        if (use != NULL) {
            use->end = -1;
            first = (size_t)(use - sim->uses) < first ? (size_t)(use - sim->uses) : first;
            n++;
        }
    }
    if (n == 0) {
        return;
    }
    size_t kept = first, i = first;
    for (size_t left = n; left > 0; i++) {
        struct wf_queue_use *use = &sim->uses[i];

        if (use->end >= 0) {
            sim->uses[kept++] = *use;
        } else {
            release(sim, use);
            complete(sim, use->job);
            left--;
        }
    }
    memmove(&sim->uses[kept], &sim->uses[i], (sim->n_uses - i) * sizeof(*sim->uses));
    sim->n_uses -= n;
}

/* Whether the first job is to be before the other one in the queue. */
static bool is_before(const struct wf_queue_sim *sim, uint32_t a, uint32_t b)
{
    const struct wf_queue_policy *policy = sim->config->policy;

    if (policy->before != NULL && policy->before(&sim->jobs[a], &sim->jobs[b])) {
        return true;
    }
    return a < b && (policy->before == NULL || !policy->before(&sim->jobs[b], &sim->jobs[a]));
}

/* Makes room for one more that waits. */
static void grow_waiting(struct wf_queue_sim *sim)
{
    struct wf_queue_own *own = sim->own;

    if (own->head > sim->n_waiting) {
        memmove(own->waiting, sim->waiting, sim->n_waiting * sizeof(*own->waiting));
        own->head = 0;
        own->n_in_blocks = 0;
    }
    WF_GROW(own->waiting, own->head + sim->n_waiting, own->waiting_capacity);
    sim->waiting = own->waiting + own->head;
}

static void enqueue(struct wf_queue_sim *sim, uint32_t number)
{
    size_t place = 0;

    grow_waiting(sim);
    WF_BISECT(place, sim->n_waiting, middle, is_before(sim, sim->waiting[middle], number));
    memmove(&sim->waiting[place + 1], &sim->waiting[place],
            (sim->n_waiting - place) * sizeof(*sim->waiting));
    sim->waiting[place] = number;
    sim->n_waiting++;
    sim->own->n_in_blocks = 0;
}

/* Sorts jobs of which the first `half` are in order. */
static void merge_jobs(const struct wf_queue_sim *sim, uint32_t *jobs, size_t half, size_t n)
{
    uint32_t *first = wf_xcalloc(half + 1, sizeof(*first));
    size_t a = 0, b = half;

    memcpy(first, jobs, half * sizeof(*first));
    for (size_t i = 0; a < half; i++) {
        jobs[i] = b == n || is_before(sim, first[a], jobs[b]) ? first[a++] : jobs[b++];
    }
    free(first);
}

static void sort_jobs(const struct wf_queue_sim *sim, uint32_t *jobs, size_t n)
{
    if (n > 1) {
        sort_jobs(sim, jobs, n / 2);
        sort_jobs(sim, jobs + n / 2, n - n / 2);
        merge_jobs(sim, jobs, n / 2, n);
    }
}

static void submit(struct wf_queue_sim *sim)
{
    const struct wf_queue_jobs *jobs = sim->config->jobs;
    size_t *next = &sim->own->next, before = sim->n_waiting;

    for (; *next < jobs->n && jobs->items[*next].submit <= sim->now; (*next)++) {
        grow_waiting(sim);
        sim->waiting[sim->n_waiting++] = (uint32_t)*next;
    }
    if (sim->config->policy->before != NULL && sim->n_waiting > before) {
        sort_jobs(sim, sim->waiting + before, sim->n_waiting - before);
        merge_jobs(sim, sim->waiting, before, sim->n_waiting);
        sim->own->n_in_blocks = 0;
    }
}

/* ---- who fits ---- */

static struct block least(struct block a, struct block b)
{
    return (struct block){.nodes = a.nodes < b.nodes ? a.nodes : b.nodes,
                          .requested = a.requested < b.requested ? a.requested : b.requested};
}

/* What a job asks for; more than anything if it has started. */
static struct block asked_at(const struct wf_queue_sim *sim, size_t at)
{
    uint32_t number = sim->own->waiting[at];

    return number == WF_QUEUE_NONE
               ? (struct block){UINT32_MAX, INT64_MAX}
               : (struct block){sim->jobs[number].nodes, sim->jobs[number].requested};
}

/* Adds places to the blocks up to the last job that waits. */
static void complete_blocks(struct wf_queue_sim *sim)
{
    struct wf_queue_own *own = sim->own;
    size_t end = own->head + sim->n_waiting;
    size_t at = own->n_in_blocks > own->head ? own->n_in_blocks : own->head;

    for (bool begins = own->n_in_blocks == 0; at < end; at++, begins = false) {
        WF_GROW(own->blocks, at / BLOCK, own->blocks_capacity);
        struct block *block = &own->blocks[at / BLOCK];
        *block =
            begins || at % BLOCK == 0 ? asked_at(sim, at) : least(*block, asked_at(sim, at));
    }
    own->n_in_blocks = end;
}

size_t wf_queue_next_fitting(struct wf_queue_sim *sim, size_t place, int64_t time,
                             uint32_t extra)
{
    struct wf_queue_own *own = sim->own;
    size_t end = own->head + sim->n_waiting, at = own->head + place;

    complete_blocks(sim);
    while (at < end) {
        struct block *block = &own->blocks[at / BLOCK];
        struct block left = {UINT32_MAX, INT64_MAX};
        size_t first = at, stop = (at / BLOCK + 1) * BLOCK;

        if (block->nodes > sim->free || (block->requested > time && block->nodes > extra)) {
            at = stop;
            continue;
        }
        for (stop = stop < end ? stop : end; at < stop; at++) {
            struct block asked = asked_at(sim, at);
            if (asked.nodes <= sim->free && (asked.requested <= time || asked.nodes <= extra)) {
                return at - own->head;
            }
            left = least(left, asked);
        }
        *block = first % BLOCK == 0 ? left : *block;
    }
    return sim->n_waiting;
}

/* ---- failures ---- */

/* The place among the uses of the one that has a node. */
static size_t use_of(const struct wf_queue_sim *sim, uint32_t node)
{
    size_t i = 0;

    for (; i < sim->n_uses; i++) {
        const struct wf_queue_use *use = &sim->uses[i];
        uint32_t low = 0;

        WF_BISECT(low, use->nodes, middle, use->list[middle] < node);
        if (low < use->nodes && use->list[low] == node) {
            break;
        }
    }
    return i;
}

/* A job loses what it did since its last checkpoint, and waits again unless it is given up. */
static void interrupt(struct wf_queue_sim *sim, size_t place)
{
    const struct wf_queue_config *config = sim->config;
    struct wf_queue_use use = sim->uses[place];
    struct wf_queue_outcome *outcome = &sim->own->result->outcomes[use.job];
    struct wf_queue_job *job = &sim->jobs[use.job];
    int64_t again = outcome->failures > 0 ? config->restart : 0;
    int64_t elapsed = sim->now - use.start, done = elapsed > again ? elapsed - again : 0;
    int64_t saved = config->checkpoint > 0 ? done - done % config->checkpoint : 0;

    release(sim, &use);
    memmove(&sim->uses[place], &sim->uses[place + 1],
            (--sim->n_uses - place) * sizeof(*sim->uses));
    if (config->keep_nodes) {
        sim->own->result->spans[use.span].end = sim->now;
    }
    outcome->lost += elapsed - saved;
    job->run -= saved + again - config->restart;
    job->requested -= saved + again - config->restart;
    if (outcome->failures++ < config->retries) {
        enqueue(sim, use.job);
    } else {
        outcome->given_up = true;
        sim->own->left--;
    }
}

static void fail(struct wf_queue_sim *sim, uint32_t node)
{
    int64_t back = sim->now + sim->config->failures->repair;
    size_t place = use_of(sim, node);

    if (node >= sim->config->n_nodes ||
        (place < sim->n_uses && sim->uses[place].job == WF_QUEUE_DOWN)) {
        return;
    }
    if (place < sim->n_uses) {
        interrupt(sim, place);
    }
    if (back > sim->now) {
        struct wf_queue_use use = {.job = WF_QUEUE_DOWN,
                                   .start = sim->now,
                                   .expected = back,
                                   .end = back,
                                   .nodes = 1,
                                   .list = wf_xcalloc(1, sizeof(*use.list))};

        use.list[0] = node;
        wf_queue_nodes_take_one(&sim->own->nodes, node);
        insert_use(sim, &use);
    }
    /* Reservations were made for more nodes than there are now. */
    for (size_t i = 0; i < sim->n_waiting; i++) {
        sim->planned[sim->waiting[i]] = WF_QUEUE_NEVER;
    }
}

static void fail_nodes(struct wf_queue_sim *sim)
{
    const struct wf_failure_event *failure;

    while ((failure = next_failure(sim)) != NULL && failure->at <= sim->now) {
        uint32_t node = failure->part;

        sim->own->next_failure++;
        fail(sim, node);
    }
}

/* The jobs before the last one that was started move up to it. */
static void schedule(struct wf_queue_sim *sim)
{
    struct wf_queue_own *own = sim->own;

    own->n_started = own->last_started = 0;
    sim->config->policy->schedule(sim);
    sim->early = false;
    if (own->n_started == 0) {
        return;
    }
    /* A job moves to the next block at most. */
    for (size_t b = (own->head + own->last_started) / BLOCK; b > own->head / BLOCK; b--) {
        if (own->n_in_blocks > b * BLOCK) {
            own->blocks[b] = least(own->blocks[b], own->blocks[b - 1]);
        }
    }
    own->n_in_blocks = own->n_started <= BLOCK ? own->n_in_blocks : 0;
    size_t to = own->last_started + 1;
    for (size_t i = to; i-- > 0;) {
        if (sim->waiting[i] != WF_QUEUE_NONE) {
            sim->waiting[--to] = sim->waiting[i];
        }
    }
    own->head += to;
    sim->waiting += to;
    sim->n_waiting -= to;
}

void wf_queue_run(const struct wf_queue_config *config, struct wf_queue_result *out)
{
    size_t n = config->jobs->n;
    struct wf_queue_own own = {.result = out, .left = n};
    struct wf_queue_sim sim = {.config = config,
                               .free = config->n_nodes,
                               .jobs = wf_xcalloc(n, sizeof(*sim.jobs)),
                               .planned = wf_xcalloc(n, sizeof(*sim.planned)),
                               .own = &own};

    *out = (struct wf_queue_result){.outcomes = wf_xcalloc(n, sizeof(*out->outcomes))};
    for (size_t i = 0; i < n; i++) {
        sim.jobs[i] = config->jobs->items[i];
        sim.planned[i] = WF_QUEUE_NEVER;
    }
    wf_queue_nodes_init(&own.nodes, config);
    while (own.left > 0 && (sim.now = next_event(&sim)) != WF_QUEUE_NEVER) {
        end_uses(&sim);
        fail_nodes(&sim);
        submit(&sim);
        schedule(&sim);
    }
    if (own.left > 0) {
        wf_panic("the scheduling policy '%.64s' leaves %zu jobs waiting for ever",
                 config->policy->name, own.left);
    }
    for (size_t i = 0; i < sim.n_uses; i++) {
        free(sim.uses[i].list); /* nodes that are still down */
    }
    wf_queue_nodes_fini(&own.nodes);
    free(own.failures);
    free(own.waiting);
    free(own.ends);
    free(own.blocks);
    free(sim.uses);
    free(sim.jobs);
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
