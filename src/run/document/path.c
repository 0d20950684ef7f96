/* SPDX-License-Identifier: Apache-2.0 */
/* The section `critical_path`. */
#include "model/ranks/record/path.h"
#include "base/arith.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/result/doc.h"
#include "engine/model.h"
#include "model/net/net.h"
#include "model/ranks/local.h"
#include "model/ranks/node_costs.h"
#include "model/ranks/rails.h"
#include "model/ranks/ranks.h"
#include "run/document/document.h"
#include "run/plan/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TOP = 10, STEPS_MAX = 10000 };

/* Shares of the path, by their names in the document. If the network model can divide the time
 * of a message, its parts are latency, transfer and queueing. */
enum share { LATENCY = WF_PATH_KINDS, TRANSFER, QUEUE, SHARES };
static const char *const share_names[SHARES] = {
    [WF_PATH_COMPUTE] = "compute_ps",
    [WF_PATH_SEND_OVERHEAD] = "send_overhead_ps",
    [WF_PATH_RECEIVE_OVERHEAD] = "receive_overhead_ps",
    [WF_PATH_CORE] = "core_wait_ps",
    [LATENCY] = "latency_ps",
    [TRANSFER] = "transfer_ps",
    [QUEUE] = "queue_ps",
    [WF_PATH_MESSAGE] = "network_ps",
    [WF_PATH_HANDSHAKE] = "handshake_ps",
    [WF_PATH_COLLECTIVE] = "collective_ps",
    [WF_PATH_ONE_SIDED] = "one_sided_ps",
    [WF_PATH_FILE] = "file_ps",
    [WF_PATH_START] = "start_ps",
};
static const char letters[WF_PATH_KINDS + 1] = "-csrwmhfod";

/* Kinds of calls: the collectives, then these. */
enum call { SEND = WF_COLL_KINDS, RECEIVE, WAIT, CALLS };

struct wf_path_sums {
    const struct wf_job *job;
    struct wf_local local; /* messages within a node */
    struct wf_rails rails;
    struct wf_buf segments; /* struct wf_path_segment, from last to first */
    uint64_t hops;
    int64_t shares[SHARES];
    int64_t calls[CALLS];
    uint64_t n_calls[CALLS];
    int64_t *ranks; /* time on the path by rank */
    struct wf_node_costs costs;
};

/* A sum of times: for a rank, a pair of ranks, a link or a call. */
struct entry {
    int64_t time;
    uint64_t number, messages, bytes;
};

/* ---- sums ---- */

/* The time that a message takes without contention: until it has arrived, or until it has left
 * if the sender waited for that. False if the model cannot tell. */
static bool alone(const struct wf_path_sums *sums, const struct wf_path_segment *segment,
                  struct wf_net_uncontended *out)
{
    const struct wf_place *place = &sums->job->place;
    const struct wf_net *net = sums->job->setup.net;
    const struct wf_rails *rails = &sums->rails;
    uint32_t to = segment->sends ? segment->other : segment->rank;
    uint32_t from = segment->sends ? segment->rank : segment->other;

    if (wf_place_node(place, from) == wf_place_node(place, to) && sums->job->setup.mpi->local) {
        enum wf_cores_distance distance =
            wf_local_distance(&sums->local, wf_place_slot(place, segment->rank),
                              wf_place_slot(place, segment->other));
        *out = (struct wf_net_uncontended){
            segment->sends ? 0 : sums->local.latency[distance],
            wf_local_transfer(&sums->local, distance, segment->bytes)};
        return true;
    }
    if (net->ops->uncontended == NULL) {
        return false;
    }
    uint64_t bytes = segment->bytes;
    if (bytes > sums->job->setup.mpi->eager_max && wf_rails_stripes(rails, bytes)) {
        bytes = (bytes - 1) / net->ends.nics + 1; /* the longest part */
    }
    *out =
        net->ops->uncontended(net, wf_rails_end(rails, from), wf_rails_end(rails, to), bytes);
    out->latency =
        segment->sends ? sums->costs.injection : wf_time_add(out->latency, sums->costs.delay);
    return true;
}

static void add_message(struct wf_path_sums *sums, const struct wf_path_segment *segment)
{
    int64_t rest = segment->until - segment->from;
    struct wf_net_uncontended quiet;

    if (!alone(sums, segment, &quiet)) {
        sums->shares[WF_PATH_MESSAGE] += rest;
        return;
    }
    int64_t latency = wf_min_i64(quiet.latency, rest);
    int64_t transfer = wf_min_i64(quiet.transfer, rest - latency);

    sums->shares[LATENCY] += latency;
    sums->shares[TRANSFER] += transfer;
    sums->shares[QUEUE] += rest - latency - transfer;
}

/* The call that the segment is part of; CALLS if there is none. */
static uint32_t call_of(const struct wf_path_segment *segment)
{
    if (segment->kind == WF_PATH_START || segment->kind == WF_PATH_COMPUTE) {
        return CALLS;
    }
    if (segment->collective != 0) {
        return segment->collective - 1U;
    }
    if (segment->kind == WF_PATH_CORE) {
        return CALLS;
    }
    if (segment->waited) {
        return WAIT;
    }
    return segment->sends || segment->kind == WF_PATH_SEND_OVERHEAD ? SEND : RECEIVE;
}

static void add_segment(void *arg, const struct wf_path_segment *segment)
{
    struct wf_path_sums *sums = arg;
    int64_t time = segment->until - segment->from;
    uint32_t call = call_of(segment);

    wf_buf_append(&sums->segments, segment, sizeof(*segment));
    if (segment->kind == WF_PATH_MESSAGE) {
        add_message(sums, segment);
    } else {
        sums->shares[segment->kind] += time;
    }
    if (call < CALLS) {
        sums->calls[call] += time;
        sums->n_calls[call]++;
    }
    if (segment->kind < WF_PATH_MESSAGE) {
        sums->ranks[segment->rank] += time;
    } else if ((segment->kind != WF_PATH_MESSAGE || !segment->sends) &&
               segment->rank != segment->other) {
        sums->hops++;
    }
}

static int64_t start_of(const void *arg, uint32_t rank)
{
    const struct wf_document_jobs *jobs = arg;

    return jobs->of[wf_document_job_of(jobs, rank)].start;
}

/* ---- largest sums ---- */

static int by_number(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

static int by_time(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return x->time != y->time ? (x->time < y->time) - (x->time > y->time) : by_number(a, b);
}

/* Merges entries with the same number and sorts by decreasing sum; returns the number of
 * entries that remain. */
static size_t add_up(struct entry *entries, size_t n)
{
    size_t kept = 0;

    WF_SORT(entries, n, by_number);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && entries[kept - 1].number == entries[i].number) {
            entries[kept - 1].time += entries[i].time;
            entries[kept - 1].messages += entries[i].messages;
            entries[kept - 1].bytes += entries[i].bytes;
        } else {
            entries[kept++] = entries[i];
        }
    }
    WF_SORT(entries, kept, by_time);
    return kept < TOP ? kept : TOP;
}

static const struct wf_path_segment *segments_of(const struct wf_path_sums *sums, size_t *n)
{
    *n = sums->segments.size / sizeof(struct wf_path_segment);
    return (const void *)sums->segments.data;
}

static void describe_ranks(struct wf_value *section, const struct wf_path_sums *sums,
                           uint32_t n_ranks)
{
    struct wf_value *list = wf_doc_list(section, "ranks");
    struct entry *entries = wf_xcalloc(n_ranks, sizeof(*entries));
    size_t n = 0;

    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        if (sums->ranks[rank] > 0) {
            entries[n++] = (struct entry){.time = sums->ranks[rank], .number = rank};
        }
    }
    wf_doc_count(section, "ranks_working", n);
    n = add_up(entries, n);
    for (size_t i = 0; i < n; i++) {
        struct wf_value *item = wf_doc_section(list, NULL);
        wf_doc_count(item, "rank", entries[i].number);
        wf_doc_count(item, "time_ps", (uint64_t)entries[i].time);
    }
    free(entries);
}

static void add_sums(struct wf_value *item, const struct entry *entry)
{
    wf_doc_count(item, "time_ps", (uint64_t)entry->time);
    wf_doc_count(item, "messages", entry->messages);
    wf_doc_count(item, "bytes", entry->bytes);
}

static void describe_pairs(struct wf_value *section, const struct wf_path_sums *sums)
{
    struct wf_value *list = wf_doc_list(section, "pairs");
    size_t n_segments, n = 0;
    const struct wf_path_segment *segments = segments_of(sums, &n_segments);
    struct entry *entries = wf_xcalloc(n_segments + 1, sizeof(*entries));

    for (size_t i = 0; i < n_segments; i++) {
        const struct wf_path_segment *segment = &segments[i];
        uint32_t from = segment->sends ? segment->rank : segment->other;
        uint32_t to = segment->sends ? segment->other : segment->rank;
        if (from != to) {
            entries[n++] = (struct entry){.time = segment->until - segment->from,
                                          .number = (uint64_t)from << 32 | to,
                                          .messages = 1,
                                          .bytes = segment->bytes};
        }
    }
    n = add_up(entries, n);
    for (size_t i = 0; i < n; i++) {
        struct wf_value *item = wf_doc_section(list, NULL);
        wf_doc_count(item, "from", entries[i].number >> 32);
        wf_doc_count(item, "to", (uint32_t)entries[i].number);
        add_sums(item, &entries[i]);
    }
    free(entries);
}

/* Divides the time of a message on the path equally among the links that it passes. */
static void pass_links(const struct wf_topo *topo, uint32_t from, uint32_t to,
                       const struct wf_path_segment *segment, struct wf_buf *out)
{
    uint32_t hops = topo->ops->distance(topo, from, to);
    int64_t time = segment->until - segment->from, given = 0;
    uint32_t passed = 0;

    for (uint32_t at = from; at != to && passed < hops;) {
        uint32_t port = topo->ops->next_port(topo, at, to);
        int64_t until = time / hops * (passed + 1);
        const struct entry entry = {.time = passed + 1 == hops ? time - given : until - given,
                                    .number = (uint64_t)at << 32 | port,
                                    .messages = 1,
                                    .bytes = segment->bytes};

        given = until;
        wf_buf_append(out, &entry, sizeof(entry));
        at = topo->ops->neighbor(topo, at, port);
        passed++;
    }
}

static void describe_links(struct wf_value *section, const struct wf_path_sums *sums)
{
    const struct wf_topo *topo = sums->job->setup.net->route_topo;
    struct wf_buf buf = {.data = NULL};
    size_t n_segments;
    const struct wf_path_segment *segments = segments_of(sums, &n_segments);

    if (topo == NULL) {
        return;
    }
    struct wf_value *list = wf_doc_list(section, "links");
    for (size_t i = 0; i < n_segments; i++) {
        if (segments[i].kind == WF_PATH_MESSAGE && !segments[i].sends) {
            pass_links(topo, wf_rails_end(&sums->rails, segments[i].other),
                       wf_rails_end(&sums->rails, segments[i].rank), &segments[i], &buf);
        }
    }
    struct entry *entries = (void *)buf.data;
    size_t n = add_up(entries, buf.size / sizeof(*entries));
    for (size_t i = 0; i < n; i++) {
        struct wf_value *item = wf_doc_section(list, NULL);
        uint32_t vertex = (uint32_t)(entries[i].number >> 32);
        wf_doc_count(item, "vertex", vertex);
        wf_doc_count(item, "to",
                     topo->ops->neighbor(topo, vertex, (uint32_t)entries[i].number));
        add_sums(item, &entries[i]);
    }
    wf_buf_fini(&buf);
}

static void describe_calls(struct wf_value *section, const struct wf_path_sums *sums)
{
    static const char *const others[] = {"send", "receive", "wait"};
    struct wf_value *list = wf_doc_list(section, "calls");
    struct entry entries[CALLS];
    size_t n = 0;

    for (uint32_t call = 0; call < CALLS; call++) {
        if (sums->calls[call] > 0) {
            entries[n++] = (struct entry){
                .time = sums->calls[call], .number = call, .messages = sums->n_calls[call]};
        }
    }
    n = add_up(entries, n);
    for (size_t i = 0; i < n; i++) {
        struct wf_value *item = wf_doc_section(list, NULL);
        uint64_t call = entries[i].number;
        wf_doc_text(item, "call",
                    call < WF_COLL_KINDS ? wf_coll_name((enum wf_coll_kind)call)
                                         : others[call - WF_COLL_KINDS]);
        wf_doc_count(item, "time_ps", (uint64_t)entries[i].time);
        wf_doc_count(item, "pieces", entries[i].messages);
    }
}

/* ---- the steps in order of time ---- */

/* Writes steps as "c0 1200;m3 77": kind, rank at the end of the step, duration. If there are
 * too many segments, neighbours are merged into a step with the kind and rank of the
 * longest. */
static void describe_steps(struct wf_value *section, const struct wf_path_sums *sums)
{
    size_t n, per;
    const struct wf_path_segment *segments = segments_of(sums, &n);
    struct wf_buf buf = {.data = NULL};

    per = (n + STEPS_MAX - 1) / STEPS_MAX;
    wf_doc_count(section, "pieces", n);
    wf_doc_count(section, "pieces_per_step", per > 0 ? per : 1);
    for (size_t left = n; left > 0;) {
        size_t first = left, last = left > per ? left - per : 0;
        const struct wf_path_segment *longest = &segments[left - 1];
        char text[64];

        for (; left > last; left--) {
            const struct wf_path_segment *segment = &segments[left - 1];
            if (segment->until - segment->from > longest->until - longest->from) {
                longest = segment;
            }
        }
        int length = snprintf(text, sizeof(text), "%s%c%" PRIu32 " %" PRId64,
                              first == n ? "" : ";", letters[longest->kind], longest->rank,
                              segments[last].until - segments[first - 1].from);
        wf_buf_append(&buf, text, (size_t)length);
    }
    wf_buf_append(&buf, "", 1);
    wf_doc_text(section, "steps", (const char *)buf.data);
    wf_buf_fini(&buf);
}

static void describe_path(struct wf_value *section, const struct wf_path_sums *sums,
                          const struct wf_path *path)
{
    struct wf_value *shares = wf_doc_section(section, "shares");

    wf_doc_count(section, "time_ps", (uint64_t)path->end);
    wf_doc_count(section, "end_rank", path->end_rank - 1);
    wf_doc_count(section, "hops", sums->hops);
    for (int share = 0; share < SHARES; share++) {
        if (sums->shares[share] > 0) {
            wf_doc_count(shares, share_names[share], (uint64_t)sums->shares[share]);
        }
    }
    describe_calls(section, sums);
    describe_ranks(section, sums, (uint32_t)path->n_ranks);
    describe_pairs(section, sums);
    describe_links(section, sums);
    describe_steps(section, sums);
}

void wf_document_path(struct wf_value *root, const struct wf_job *job,
                      const struct wf_engine *engine)
{
    const struct wf_ranks_tally *tally = wf_engine_tally_get(engine);
    const struct wf_path *path = wf_tally_path(wf_unconst(tally));
    const struct wf_document_jobs jobs = wf_document_jobs_of(job);
    struct wf_path_sums sums = {.job = job,
                                .costs = wf_node_costs_of(job->setup.node, job->setup.net)};
    const struct wf_path_rules rules = {
        .taken_ps = sums.costs.recv_unit, .start = start_of, .arg = &jobs};

    if (path == NULL || tally->unfinished > 0 || tally->timeless > 0) {
        return;
    }
    struct wf_value *section = wf_doc_section(root, "critical_path");
    wf_doc_bool(section, "kept", path->needed <= path->capacity);
    wf_doc_count(section, "memory_bytes", wf_path_bytes_needed(path));
    if (path->needed > path->capacity) {
        return;
    }
    /* The run has checked the interfaces before. */
    if (wf_rails_init(&sums.rails, &job->place, job->setup.net, job->setup.node, NULL) !=
        WF_OK) {
        return;
    }
    sums.ranks = wf_xcalloc(path->n_ranks, sizeof(*sums.ranks));
    (void)wf_local_init(&sums.local, job->setup.node, job->setup.mpi, job->place.slots_max, 0);
    bool arrived = wf_path_walk(path, &rules, add_segment, &sums);
    wf_doc_bool(section, "complete", arrived);
    if (arrived) {
        describe_path(section, &sums, path);
    }
    wf_rails_fini(&sums.rails);
    wf_buf_fini(&sums.segments);
    free(sums.ranks);
}
