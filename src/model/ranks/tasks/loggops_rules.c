/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/tasks/loggops_rules.h"

#include "base/arith.h"
#include "base/array.h"
#include "base/rng.h"
#include "model/ranks/cpu/cpu.h"

static struct wf_agenda_item *item_at(const struct wf_loggops *l, uint32_t number)
{
    return wf_agenda_item(l->agenda, number);
}

static const struct wf_steps *steps_of(const struct wf_loggops *l, uint32_t host)
{
    return &l->steps[l->hosts[host].job];
}

/* ---- the order of steps that become ready together ---- */

/*
 * They are sorted by kind: sends, receives, computations. Steps of one kind keep no order of
 * their own, because the sort of the GNU C++ library does not keep it, and the times of
 * LogGOPSim depend on what it does: parts of more than 16 are divided at the median of three,
 * the rest is sorted by insertion.
 */
enum { SORTED_BY_INSERTION = 16 };

static void swap(struct wf_loggops_ready *a, struct wf_loggops_ready *b)
{
    const struct wf_loggops_ready other = *a;

    *a = *b;
    *b = other;
}

static bool is_less(const struct wf_loggops_ready *a, const struct wf_loggops_ready *b)
{
    return a->step.kind < b->step.kind;
}

static struct wf_loggops_ready *median(struct wf_loggops_ready *a, struct wf_loggops_ready *b,
                                       struct wf_loggops_ready *c)
{
    if (is_less(a, b)) {
        return is_less(b, c) ? b : is_less(a, c) ? c : a;
    }
    return is_less(a, c) ? a : is_less(b, c) ? c : b;
}

/* Divides by the median of the second, the middle and the last. Returns where the second part
 * begins. */
static size_t partition(struct wf_loggops_ready *steps, size_t n)
{
    swap(&steps[0], median(&steps[1], &steps[n / 2], &steps[n - 1]));
    size_t low = 1, high = n;
    for (;;) {
        while (is_less(&steps[low], &steps[0])) {
            low++;
        }
        do {
            high--;
        } while (is_less(&steps[0], &steps[high]));
        if (low >= high) {
            return low;
        }
        swap(&steps[low++], &steps[high]);
    }
}

/* There are three kinds only, so that a few divisions leave parts of one kind; these are
 * divided in the middle. */
static void partition_all(struct wf_loggops_ready *steps, size_t n)
{
    while (n > SORTED_BY_INSERTION) {
        size_t second = partition(steps, n);
        partition_all(steps + second, n - second);
        n = second;
    }
}

static void sort_ready(struct wf_loggops_ready *steps, size_t n)
{
    partition_all(steps, n);
    for (size_t i = 1; i < n; i++) {
        const struct wf_loggops_ready moved = steps[i];
        size_t at = i;
        for (; at > 0 && is_less(&moved, &steps[at - 1]); at--) {
            steps[at] = steps[at - 1];
        }
        steps[at] = moved;
    }
}

/* ---- dependencies ---- */

/* A step has lost one of the steps that it waits for. Returns whether it was the last. */
static bool is_ready(struct wf_loggops *l, uint32_t host, const struct wf_step *step)
{
    if (step->n_before <= 1) {
        return true;
    }
    uint64_t key = (uint64_t)host << 32 | step->task;
    uint64_t *missing = wf_map_put(&l->missing, key);
    *missing = *missing == 0 ? step->n_before - 1 : *missing - 1;
    return *missing == 0 && wf_map_remove(&l->missing, key);
}

static void add_ready(struct wf_loggops *l, uint32_t host, uint64_t number,
                      const struct wf_step *step)
{
    struct wf_loggops_list *list = &l->ready[l->ready[0].host == host ? 0 : 1];

    list->host = host;
    WF_PUSH(list->steps, list->n, list->capacity, (struct wf_loggops_ready){number, *step});
}

/* Tells the `n` steps that wait for the start or the end of a step. */
static void satisfy_needs(struct wf_loggops *l, uint32_t host, uint64_t number, bool of_start,
                          uint32_t n)
{
    const struct wf_steps *steps = steps_of(l, host);
    uint32_t own = host - wf_loggops_first(l, host);

    for (uint32_t i = 0; i < n; i++) {
        uint64_t after = steps->ops->after(steps, own, number, of_start, i);
        struct wf_step step;

        steps->ops->step(steps, own, after, &step);
        if (is_ready(l, host, &step)) {
            add_ready(l, host, after, &step);
        }
    }
}

static void tell_started(struct wf_loggops *l, const struct wf_agenda_item *item)
{
    satisfy_needs(l, item->host, item->step, true, item->n_after_start);
}

/* `item` is the step itself, or the message that a step on `host` has sent. */
static void tell_finished(struct wf_loggops *l, uint32_t host,
                          const struct wf_agenda_item *item)
{
    struct wf_loggops_host *own = &l->hosts[host];

    /* A graph that satisfies a task's needs more than once could run for ever. */
    if (item->is_last && own->n_ended == own->n_tasks) {
        l->surplus++;
        return;
    }
    own->n_ended += item->is_last ? 1 : 0;
    satisfy_needs(l, host, item->step, false, item->n_after_end);
}

/* When the CPU and the interface that an item needs are free. To post a receive takes no
 * interface. */
static int64_t free_at(const struct wf_loggops *l, const struct wf_agenda_item *item)
{
    int64_t cpu = *wf_loggops_cpu(l, item->host, item->cpu);

    switch (item->kind) {
    case WF_STEP_SEND:
        return wf_max_i64(cpu, *wf_loggops_nic(l, l->senders, item->host, item->nic));
    case WF_LOGGOPS_MESSAGE:
        return wf_max_i64(cpu, *wf_loggops_nic(l, l->receivers, item->host, item->nic));
    default:
        return cpu;
    }
}

static int64_t duration_of(const struct wf_loggops *l, const struct wf_step *step)
{
    if (l->pes->timeless) {
        return 0;
    }
    return l->pes->cpu != NULL ? wf_cpu_time(l->pes->cpu->scale, step->duration)
                               : step->duration;
}

static void put_on_agenda(struct wf_loggops *l, uint32_t host,
                          const struct wf_loggops_ready *ready)
{
    const struct wf_step *step = &ready->step;
    struct wf_agenda_item item = {
        .host = host,
        .kind = (uint8_t)step->kind,
        .cpu = step->cpu,
        .nic = step->nic,
        .is_last = step->is_last,
        .peer = step->peer,
        .tag = step->tag,
        .step = ready->number,
        .bytes = step->bytes,
        .duration = duration_of(l, step),
        .task = step->task,
        .n_after_start = step->n_after_start,
        .n_after_end = step->n_after_end,
    };

    item.time = free_at(l, &item);
    uint32_t number = wf_agenda_add(l->agenda, &item);
    if (step->kind == WF_STEP_RECV) {
        wf_agenda_at(l->agenda, number);
    } else {
        wf_agenda_wait(l->agenda, number);
    }
}

static void release_list(struct wf_loggops *l, struct wf_loggops_list *list)
{
    sort_ready(list->steps, list->n);
    for (size_t i = 0; i < list->n; i++) {
        put_on_agenda(l, list->host, &list->steps[i]);
    }
    list->n = 0;
}

/* Puts all steps that have become ready on the agenda, host by host. */
static void release_ready(struct wf_loggops *l)
{
    bool in_order = l->ready[0].host <= l->ready[1].host;

    release_list(l, &l->ready[in_order ? 0 : 1]);
    release_list(l, &l->ready[in_order ? 1 : 0]);
}

/* ---- time that passes ---- */

/* A CPU of a host is busy from one time until another. */
static void spend_cpu(struct wf_loggops *l, const struct wf_agenda_item *item,
                      enum wf_spent what, int64_t until)
{
    struct wf_loggops_host *host = &l->hosts[item->host];

    *wf_loggops_cpu(l, item->host, item->cpu) = until;
    *(what == WF_SPENT_COMPUTING ? &host->compute_ps : &host->overhead_ps) +=
        until - item->time;
    if (!wf_recorder_is_on(&l->pes->recorder) || until <= host->recorded) {
        return;
    }
    /* With several CPUs, the recording shows the one that was busy first. */
    if (item->time > host->recorded) {
        wf_recorder_span(&l->pes->recorder, l->ctx,
                         &(struct wf_span){host->recorded, item->time, item->host,
                                           (uint32_t)WF_SPENT_WAITING + WF_IN_RECV});
    }
    wf_recorder_span(&l->pes->recorder, l->ctx,
                     &(struct wf_span){wf_max_i64(host->recorded, item->time), until,
                                       item->host, (uint32_t)what});
    host->recorded = until;
}

static void note_arrival(struct wf_loggops *l, const struct wf_agenda_item *message)
{
    int64_t departed = message->duration;
    int64_t arrived =
        wf_time_add(message->time, wf_net_loggops_transfer(l->rules, message->bytes));

    l->latencies.of[l->latencies.n++] = arrived - departed;
    if (wf_recorder_is_on(&l->pes->recorder)) {
        wf_recorder_message(
            &l->pes->recorder, l->ctx,
            &(struct wf_sent){departed, arrived, message->bytes, message->peer, message->host});
    }
}

/* ---- the rules ---- */

static void run_calc(struct wf_loggops *l, uint32_t number)
{
    const struct wf_agenda_item item = *item_at(l, number);

    wf_agenda_drop(l->agenda, number);
    spend_cpu(l, &item, WF_SPENT_COMPUTING, wf_time_add(item.time, item.duration));
    tell_started(l, &item);
    tell_finished(l, item.host, &item);
}

/* The CPU is busy for o + (k-1)O, the interface for g + (k-1)G. A step that sends a long
 * message ends when the message meets its receive. */
static void run_send(struct wf_loggops *l, uint32_t number)
{
    const struct wf_net_loggops *rules = l->rules;
    const struct wf_agenda_item item = *item_at(l, number);
    struct wf_loggops_host *host = &l->hosts[item.host];
    int64_t left = wf_time_add(item.time, rules->overhead);
    int64_t copied = wf_net_loggops_copy(rules, item.bytes);
    int64_t sent = wf_net_loggops_transfer(rules, item.bytes);

    wf_agenda_drop(l->agenda, number);
    tell_started(l, &item);
    host->sent_messages++;
    host->sent_bytes = wf_count_add(host->sent_bytes, item.bytes);
    spend_cpu(l, &item, WF_SPENT_ON_MESSAGES, wf_time_add(left, copied));
    *wf_loggops_nic(l, l->senders, item.host, item.nic) =
        wf_time_add(item.time, wf_time_add(rules->gap, sent));

    struct wf_agenda_item message = item;
    message.kind = WF_LOGGOPS_MESSAGE;
    message.host = wf_loggops_first(l, item.host) + item.peer;
    message.peer = item.host;
    message.duration = left;
    message.time = wf_time_add(left, rules->latency);
    wf_agenda_at(l->agenda, wf_agenda_add(l->agenda, &message));
    if (!wf_loggops_is_long(l, &item)) {
        tell_finished(l, item.host, &item);
    }
}

/* A long message has met its receive: its sender can continue from now on. `by` is the receive
 * or the message, whichever came second. */
static void end_long(struct wf_loggops *l, const struct wf_agenda_item *message,
                     const struct wf_agenda_item *by)
{
    int64_t *cpu = wf_loggops_cpu(l, message->peer, by->cpu);
    int64_t *nic = wf_loggops_nic(l, l->senders, message->peer, by->nic);

    tell_finished(l, message->peer, message);
    *cpu = wf_max_i64(*cpu, by->time);
    *nic = wf_max_i64(*nic, by->time);
}

/* What a message or a receive with this item matches. */
static struct wf_matching_header header_of(const struct wf_loggops *l,
                                           const struct wf_agenda_item *item)
{
    uint32_t first = item->kind == WF_LOGGOPS_MESSAGE ? wf_loggops_first(l, item->host) : 0;

    return (struct wf_matching_header){item->host, item->peer - first, item->tag};
}

/* A receive is posted. If its message is there, the CPU has spent the time for it already. */
static void run_post(struct wf_loggops *l, uint32_t number)
{
    const struct wf_agenda_item item = *item_at(l, number);
    const struct wf_matching_header header = header_of(l, &item);
    uint64_t found = wf_matching_receive(l->matching, &header, number);

    tell_started(l, &item);
    if (found == WF_MATCHING_NONE) {
        return;
    }
    const struct wf_agenda_item message = *item_at(l, (uint32_t)found);
    wf_agenda_drop(l->agenda, (uint32_t)found);
    wf_agenda_drop(l->agenda, number);
    if (wf_loggops_is_long(l, &message)) {
        end_long(l, &message, &item);
    }
    tell_finished(l, item.host, &item);
}

/* A message arrives while CPU and interface are free. Whether it is expected or not, the CPU is
 * busy for o + max((k-1)O, (k-1)G) and the interface for g + (k-1)G. */
static void run_arrival(struct wf_loggops *l, uint32_t number)
{
    const struct wf_net_loggops *rules = l->rules;
    const struct wf_agenda_item item = *item_at(l, number);
    const struct wf_matching_header header = header_of(l, &item);
    int64_t received = wf_net_loggops_transfer(rules, item.bytes);
    int64_t handled = wf_max_i64(received, wf_net_loggops_copy(rules, item.bytes));

    note_arrival(l, &item);
    spend_cpu(l, &item, WF_SPENT_ON_MESSAGES,
              wf_time_add(item.time, wf_time_add(rules->overhead, handled)));
    *wf_loggops_nic(l, l->receivers, item.host, item.nic) =
        wf_time_add(item.time, wf_time_add(rules->gap, received));

    uint64_t found = wf_matching_message(l->matching, &header, number);
    if (found == WF_MATCHING_NONE) {
        return;
    }
    const struct wf_agenda_item receive = *item_at(l, (uint32_t)found);
    wf_agenda_drop(l->agenda, (uint32_t)found);
    wf_agenda_drop(l->agenda, number);
    if (wf_loggops_is_long(l, &item)) {
        end_long(l, &item, &item);
    }
    tell_finished(l, item.host, &receive);
}

bool wf_loggops_handle(struct wf_loggops *l)
{
    static void (*const rules[])(struct wf_loggops *, uint32_t) = {
        [WF_STEP_SEND] = run_send,
        [WF_STEP_RECV] = run_post,
        [WF_STEP_CALC] = run_calc,
        [WF_LOGGOPS_MESSAGE] = run_arrival,
    };
    uint32_t number = wf_agenda_next(l->agenda);

    if (number == 0) {
        return false;
    }
    const struct wf_agenda_item *item = item_at(l, number);
    int64_t possible = item->kind == WF_STEP_RECV ? item->time : free_at(l, item);
    if (possible > item->time) {
        wf_agenda_delay(l->agenda, possible);
        return true;
    }
    wf_agenda_take(l->agenda);
    l->time = item->time;
    l->digest = wf_rng_mix(l->digest ^ (uint64_t)item->time) +
                (item->step ^ (uint64_t)item->host << 32 ^ (uint64_t)item->kind << 28);
    l->ready[0].host = item->host;
    l->ready[1].host = UINT32_MAX;
    rules[item->kind](l, number);
    release_ready(l);
    return true;
}

/* Host by host: this is the order of items at the beginning. */
void wf_loggops_begin(struct wf_loggops *l)
{
    for (uint32_t host = 0; host < l->n_hosts; host++) {
        const struct wf_steps *steps = steps_of(l, host);
        uint32_t own = host - wf_loggops_first(l, host);
        struct wf_step step;

        l->ready[0].host = host;
        for (uint64_t number = 0; steps->ops->root(steps, own, &number); number++) {
            steps->ops->step(steps, own, number, &step);
            add_ready(l, host, number, &step);
        }
        release_list(l, &l->ready[0]);
    }
}
