/* SPDX-License-Identifier: Apache-2.0 */
/* Random schedules against a plain simulation by the same rules, which tries every item by
 * itself and searches lists from the beginning. */
#include "base/arith.h"
#include "harness/goal_run.h"
#include "program/ops/steps.h"

enum {
    HOSTS_MAX = 20,
    CPUS = 3,
    NICS = 2,
    ITEMS_MAX = 4000,
    STEPS_MAX = 128,
    TEXT_MAX = 1 << 16
};

/* ---- the oracle ---- */

enum { ORACLE_MESSAGE = WF_STEP_CALC + 1 };

struct oracle_item {
    enum { ON_AGENDA, POSTED, ARRIVED, GONE } state;
    uint32_t kind, host, from;
    int64_t time;
    uint64_t order, number;
    struct wf_step step;
};

struct oracle {
    const struct loggops *given;
    struct wf_steps steps;
    uint32_t n_hosts;
    int64_t cpu[HOSTS_MAX][CPUS], send[HOSTS_MAX][NICS], recv[HOSTS_MAX][NICS];
    uint32_t heard[HOSTS_MAX][STEPS_MAX]; /* of steps that ended or started before a step */
    uint64_t fresh[HOSTS_MAX][STEPS_MAX];
    uint32_t n_fresh[HOSTS_MAX];
    struct oracle_item items[ITEMS_MAX];
    uint32_t n;
    uint64_t order;
};

static int64_t tail_of(const struct wf_step *step)
{
    return step->bytes > 0 ? (int64_t)step->bytes - 1 : 0;
}

static int64_t oracle_free(const struct oracle *o, const struct oracle_item *item)
{
    int64_t cpu = o->cpu[item->host][item->step.cpu];

    return item->kind == WF_STEP_SEND     ? wf_max_i64(cpu, o->send[item->host][item->step.nic])
           : item->kind == ORACLE_MESSAGE ? wf_max_i64(cpu, o->recv[item->host][item->step.nic])
                                          : cpu;
}

static void oracle_put(struct oracle *o, struct oracle_item item)
{
    item.order = o->order++;
    item.state = ON_AGENDA;
    if (o->n == ITEMS_MAX) {
        abort();
    }
    o->items[o->n++] = item;
}

static void oracle_tell(struct oracle *o, uint32_t host, uint64_t number, bool of_start)
{
    struct wf_step step;

    o->steps.ops->step(&o->steps, host, number, &step);
    uint32_t n = of_start ? step.n_after_start : step.n_after_end;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t after = o->steps.ops->after(&o->steps, host, number, of_start, i);
        struct wf_step next;
        o->steps.ops->step(&o->steps, host, after, &next);
        if (++o->heard[host][after] == next.n_before) {
            o->fresh[host][o->n_fresh[host]++] = after;
        }
    }
}

/* The draw below never makes so many steps ready together that the order of one kind is lost.
 */
static void oracle_release(struct oracle *o, uint32_t host)
{
    for (uint32_t kind = 0; kind <= WF_STEP_CALC; kind++) {
        for (uint32_t i = 0; i < o->n_fresh[host]; i++) {
            struct oracle_item item = {.host = host, .number = o->fresh[host][i]};
            o->steps.ops->step(&o->steps, host, item.number, &item.step);
            item.kind = item.step.kind;
            item.time = oracle_free(o, &item);
            if (item.kind == kind) {
                oracle_put(o, item);
            }
        }
    }
    if (o->n_fresh[host] > 16) {
        abort();
    }
    o->n_fresh[host] = 0;
}

static bool fits(const struct oracle_item *recv, const struct oracle_item *message)
{
    return recv->host == message->host &&
           (recv->step.peer == WF_STEP_ANY || recv->step.peer == message->from) &&
           (recv->step.tag == WF_STEP_ANY || recv->step.tag == message->step.tag);
}

/* The partner that has waited longest; the order of what waits is that of waiting. */
static struct oracle_item *oracle_find(struct oracle *o, const struct oracle_item *item)
{
    bool is_message = item->kind == ORACLE_MESSAGE;
    struct oracle_item *found = NULL;

    for (uint32_t i = 0; i < o->n; i++) {
        struct oracle_item *other = &o->items[i];
        if (other->state == (is_message ? POSTED : ARRIVED) &&
            (is_message ? fits(other, item) : fits(item, other)) &&
            (found == NULL || other->order < found->order)) {
            found = other;
        }
    }
    return found;
}

static void oracle_meet(struct oracle *o, struct oracle_item *item, struct oracle_item *other)
{
    struct oracle_item *message = item->kind == ORACLE_MESSAGE ? item : other;
    struct oracle_item *recv = item->kind == ORACLE_MESSAGE ? other : item;

    if (message->step.bytes > o->given->S) {
        uint32_t from = message->from;
        int64_t *cpu = &o->cpu[from][item->step.cpu], *nic = &o->send[from][item->step.nic];
        oracle_tell(o, from, message->number, false);
        *cpu = wf_max_i64(*cpu, item->time);
        *nic = wf_max_i64(*nic, item->time);
    }
    oracle_tell(o, recv->host, recv->number, false);
    message->state = recv->state = GONE;
}

static void oracle_send(struct oracle *o, const struct oracle_item *item)
{
    const struct loggops *given = o->given;
    int64_t tail = tail_of(&item->step);
    struct oracle_item message = {.kind = ORACLE_MESSAGE,
                                  .host = item->step.peer,
                                  .from = item->host,
                                  .time = item->time + given->o + given->L,
                                  .number = item->number,
                                  .step = item->step};

    oracle_tell(o, item->host, item->number, true);
    o->cpu[item->host][item->step.cpu] = item->time + given->o + tail * given->O;
    o->send[item->host][item->step.nic] = item->time + given->g + tail * given->G;
    oracle_put(o, message);
    if (item->step.bytes <= given->S) {
        oracle_tell(o, item->host, item->number, false);
    }
}

static void oracle_do(struct oracle *o, struct oracle_item *item)
{
    const struct loggops *given = o->given;
    const struct oracle_item copy = *item;
    int64_t tail = tail_of(&copy.step), *cpu = &o->cpu[copy.host][copy.step.cpu];

    item->state = GONE;
    if (copy.kind == WF_STEP_CALC) {
        *cpu = copy.time + copy.step.duration / 1000;
        oracle_tell(o, copy.host, copy.number, true);
        oracle_tell(o, copy.host, copy.number, false);
    } else if (copy.kind == WF_STEP_SEND) {
        oracle_send(o, &copy);
    } else {
        if (copy.kind == ORACLE_MESSAGE) {
            *cpu = copy.time + given->o + tail * wf_max_i64(given->O, given->G);
            o->recv[copy.host][copy.step.nic] = copy.time + given->g + tail * given->G;
        } else {
            oracle_tell(o, copy.host, copy.number, true);
        }
        struct oracle_item *other = oracle_find(o, item);
        item->state = copy.kind == ORACLE_MESSAGE ? ARRIVED : POSTED;
        item->order = o->order++;
        if (other != NULL) {
            oracle_meet(o, item, other);
        }
    }
    for (uint32_t host = 0; host < o->n_hosts; host++) {
        oracle_release(o, host);
    }
}

/* Returns when the last CPU is free; INT64_MAX if a message or a receive is left. */
static int64_t oracle_run(struct oracle *o)
{
    int64_t last = 0;

    for (uint32_t host = 0; host < o->n_hosts; host++) {
        for (uint64_t number = 0; o->steps.ops->root(&o->steps, host, &number); number++) {
            o->fresh[host][o->n_fresh[host]++] = number;
        }
        oracle_release(o, host);
    }
    for (;;) {
        struct oracle_item *first = NULL;
        for (uint32_t i = 0; i < o->n; i++) {
            struct oracle_item *item = &o->items[i];
            if (item->state == ON_AGENDA &&
                (first == NULL || item->time < first->time ||
                 (item->time == first->time && item->order < first->order))) {
                first = item;
            }
        }
        if (first == NULL) {
            break;
        }
        int64_t possible = first->kind == WF_STEP_RECV ? first->time : oracle_free(o, first);
        if (possible > first->time) {
            first->time = possible;
        } else {
            oracle_do(o, first);
        }
    }
    for (uint32_t i = 0; i < o->n; i++) {
        last = o->items[i].state != GONE ? INT64_MAX : last;
    }
    for (uint32_t host = 0; host < o->n_hosts; host++) {
        for (uint32_t i = 0; i < CPUS; i++) {
            last = wf_max_i64(last, o->cpu[host][i]);
        }
    }
    return last;
}

/* ---- random schedules ---- */

struct draw {
    uint64_t seed, i;
    char text[TEXT_MAX];
    size_t at;
};

static uint32_t below(struct draw *d, uint32_t n)
{
    return (uint32_t)wf_rng_below(wf_rng_draw(d->seed, 0, d->i++), n);
}

#define PUT(d, ...) \
    ((d)->at += (size_t)snprintf((d)->text + (d)->at, TEXT_MAX - (d)->at, __VA_ARGS__))

enum { MESSAGES_MAX = 40 };

struct drawn_message {
    uint32_t from, to, bytes, tag;
    bool any_source, any_tag;
};

/* A step, and up to two of the steps before it that it waits for. */
static void put_step(struct draw *d, uint32_t *n, bool streams)
{
    if (streams && below(d, 3) == 0) {
        PUT(d, " cpu %u", below(d, CPUS));
    }
    PUT(d, "\n");
    for (uint32_t k = below(d, 3); k > 0 && *n > 0; k--) {
        PUT(d, "l%u %s l%u\n", *n, below(d, 5) == 0 ? "irequires" : "requires",
            *n - 1 - below(d, *n < 5 ? *n : 5));
    }
    ++*n;
}

/* Messages of rank after rank in the same order everywhere: most schedules reach their end. */
static void draw_schedule(struct draw *d, bool streams)
{
    static const uint32_t sizes[] = {0, 1, 2, 10, 100, 3000};
    uint32_t n_hosts = 2 + below(d, 4), n_messages = 3 + below(d, MESSAGES_MAX - 3);
    struct drawn_message messages[MESSAGES_MAX];

    for (uint32_t i = 0; i < n_messages; i++) {
        messages[i] =
            (struct drawn_message){below(d, n_hosts), below(d, n_hosts), sizes[below(d, 6)],
                                   below(d, 2),       below(d, 12) == 0, below(d, 12) == 0};
    }
    PUT(d, "num_ranks %u\n", n_hosts);
    for (uint32_t host = 0; host < n_hosts; host++) {
        uint32_t n = 0;
        PUT(d, "rank %u {\n", host);
        for (uint32_t i = 0; i < n_messages; i++) {
            const struct drawn_message *m = &messages[i];
            if (below(d, 3) == 0) {
                PUT(d, "l%u: calc %u", n, 10 * below(d, 60));
                put_step(d, &n, streams);
            }
            if (m->from == host) {
                PUT(d, "l%u: send %ub to %u tag %u", n, m->bytes, m->to, m->tag);
                put_step(d, &n, streams);
            }
            if (m->to == host) {
                PUT(d, "l%u: recv %ub from %d tag %d", n, m->bytes,
                    m->any_source ? -1 : (int)m->from, m->any_tag ? -1 : (int)m->tag);
                put_step(d, &n, streams);
            }
        }
        PUT(d, "}\n");
    }
}

/* ---- both ---- */

static bool has_few_roots(const struct wf_steps *steps, uint32_t n_hosts)
{
    for (uint32_t host = 0; host < n_hosts; host++) {
        uint32_t n = 0;
        for (uint64_t number = 0; steps->ops->root(steps, host, &number); number++) {
            n++;
        }
        if (n > 16) {
            return false;
        }
    }
    return true;
}

static void random_schedules(void)
{
    static const struct loggops sets[] = {
        {.L = 1000, .o = 300, .g = 200, .G = 1, .O = 0, .S = 1000},
        {.L = 100, .o = 0, .g = 0, .G = 1, .O = 2, .S = 0},
        {.L = 10, .o = 10, .g = 10, .G = 3, .O = 1, .S = 50},
        {.L = 0, .o = 20, .g = 100, .G = 2, .O = 0, .S = UINT64_C(1) << 40},
    };
    enum { N_SETS = sizeof(sets) / sizeof(sets[0]) };
    struct draw *d = wf_xmalloc(sizeof(*d));
    struct oracle *o = wf_xmalloc(sizeof(*o));
    uint32_t n_compared = 0, n_ended = 0;

    for (uint64_t seed = 0; seed < 400 / WF_TEST_ONE_IN; seed++) {
        *d = (struct draw){.seed = seed};
        draw_schedule(d, seed % 3 == 0);
        struct wf_graph *graph = read_goal(d->text);
        memset(o, 0, sizeof(*o));
        o->given = &sets[seed % N_SETS];
        o->steps = wf_steps_of(graph);
        o->n_hosts = graph->n_pes;
        if (has_few_roots(&o->steps, o->n_hosts)) {
            int64_t expected = oracle_run(o);
            struct wf_pe_tally tally = run_loggops(graph, o->given);
            bool ended = tally.replay.unreceived == 0 && tally.replay.unfinished == 0;
            n_compared++;
            n_ended += ended ? 1 : 0;
            if (expected != INT64_MAX && ended &&
                tally.replay.all.finish.max != expected * 1000) {
                printf("# seed %u:\n%s", (unsigned)seed, d->text);
            }
            CHECK(!ended || tally.replay.all.finish.max == expected * 1000);
            CHECK(ended || expected == INT64_MAX || tally.replay.unfinished > 0);
        }
        wf_graph_free(graph);
    }
    printf("# %u schedules, of which %u reach their end\n", n_compared, n_ended);
    CHECK(n_ended > n_compared / 4);
    free(d);
    free(o);
}

int main(void)
{
    RUN(random_schedules);
    return wf_test_done();
}
