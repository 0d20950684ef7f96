/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/tally.h"

#include "base/arith.h"
#include "base/histogram.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/units.h"
#include "model/net/net.h"
#include "model/ranks/record/path.h"
#include "model/ranks/record/recording.h"
#include "program/ops/source.h"

#include <string.h>

/* How much is known about the reason: an error, a different call of another rank, or
 * nothing. */
static int insight_of(const struct wf_blocked *blocked)
{
    const struct wf_blocked_on *on = &blocked->on;

    if (blocked->failure != WF_FAILURE_NONE) {
        return 2;
    }
    return on->other != 0 || on->other_bytes != 0 ? 1 : 0;
}

static bool is_blocked_before(const void *a, const void *b)
{
    const struct wf_blocked *x = a, *y = b;
    int by_insight = insight_of(x) - insight_of(y);

    return by_insight != 0 ? by_insight > 0 : x->rank < y->rank;
}

static bool waited_longer(const void *a, const void *b)
{
    const struct wf_waited *x = a, *y = b;

    return x->time != y->time ? x->time > y->time : x->rank < y->rank;
}

void wf_tally_insert(const struct wf_tally_list *list, const void *entry)
{
    unsigned char *entries = list->entries;
    uint32_t at = *list->n;

    while (at > 0 && list->is_before(entry, entries + (at - 1) * list->size)) {
        at--;
    }
    if (at == list->max) {
        return;
    }
    if (*list->n < list->max) {
        ++*list->n;
    }
    memmove(entries + (at + 1) * list->size, entries + at * list->size,
            (*list->n - 1 - at) * list->size);
    memcpy(entries + at * list->size, entry, list->size);
}

void wf_tally_block(struct wf_ranks_tally *tally, const struct wf_blocked *blocked)
{
    wf_tally_insert(&(struct wf_tally_list){tally->blocked, &tally->n_blocked, WF_TALLY_BLOCKED,
                                            sizeof(*blocked), is_blocked_before},
                    blocked);
}

void wf_tally_wait(struct wf_ranks_tally *tally, const struct wf_waited *waited)
{
    if (waited->time > 0) {
        wf_tally_insert(&(struct wf_tally_list){tally->waits, &tally->n_waits, WF_TALLY_WAITS,
                                                sizeof(*waited), waited_longer},
                        waited);
    }
}

uint64_t wf_tally_digest(const struct wf_ranks_tally *tally, uint64_t events)
{
    return tally->net.nodes == 0 ? events
                                 : wf_rng_mix(tally->net.fingerprint + WF_RNG_GOLDEN) ^
                                       wf_rng_mix(tally->ends + 2 * WF_RNG_GOLDEN);
}

/* What others sent or called comes before receives. */
static bool is_left_before(const struct wf_rank_leftover *a, const struct wf_rank_leftover *b)
{
    bool of_others = a->what.messages + a->what.calls > 0;

    return of_others == (b->what.messages + b->what.calls > 0) ? a->rank < b->rank : of_others;
}

static void keep_leftover(struct wf_ranks_tally *tally, const struct wf_rank_leftover *leftover)
{
    if (tally->n_leftover == 0 || is_left_before(leftover, &tally->leftover[0])) {
        tally->leftover[0] = *leftover;
        tally->n_leftover = 1;
    }
}

void wf_tally_leftover(struct wf_ranks_tally *tally, const struct wf_rank_leftover *leftover)
{
    if (leftover->what.messages + leftover->what.calls + leftover->what.receives == 0) {
        return;
    }
    tally->unreceived += leftover->what.messages;
    tally->uncalled += leftover->what.calls;
    tally->unmatched += leftover->what.receives;
    keep_leftover(tally, leftover);
}

static void merge_times(struct wf_file_times *into, const struct wf_file_times *from)
{
    if (from->any != 0) {
        into->first = into->any != 0 ? wf_min_i64(into->first, from->first) : from->first;
        into->any = 1;
    }
    into->last = wf_max_i64(into->last, from->last);
    into->bytes = wf_count_add(into->bytes, from->bytes);
}

void wf_tally_files_merge(struct wf_job_files *into, const struct wf_job_files *from)
{
    into->n += from->n;
    merge_times(&into->read, &from->read);
    merge_times(&into->written, &from->written);
}

void wf_tally_server_merge(struct wf_server_tally *into, const struct wf_server_tally *from)
{
    into->requests += from->requests;
    into->read = wf_count_add(into->read, from->read);
    into->written = wf_count_add(into->written, from->written);
    into->busy_ps = wf_time_add(into->busy_ps, from->busy_ps);
}

static void merge_job(struct wf_job_tally *into, const struct wf_job_tally *from)
{
    into->messages += from->messages;
    into->bytes = wf_count_add(into->bytes, from->bytes);
    wf_stat_merge(&into->finish, &from->finish);
    wf_stat_merge(&into->compute, &from->compute);
    wf_stat_merge(&into->overhead, &from->overhead);
    wf_stat_merge(&into->waits, &from->waits);
    for (int in = 0; in < WF_IN_KINDS; in++) {
        wf_stat_merge(&into->wait[in], &from->wait[in]);
    }
    wf_tally_files_merge(&into->files, &from->files);
    wf_marks_merge_job(&into->marks, &from->marks);
}

void wf_tally_merge(void *into, const void *from)
{
    struct wf_ranks_tally *a = into;
    const struct wf_ranks_tally *b = from;

    a->unreceived += b->unreceived;
    a->uncalled += b->uncalled;
    a->unmatched += b->unmatched;
    a->unfinished += b->unfinished;
    a->failed += b->failed;
    a->timeless += b->timeless;
    a->longest_message = wf_max_u64(a->longest_message, b->longest_message);
    wf_stat_merge(&a->latency, &b->latency);
    a->ends += b->ends;
    wf_net_totals_merge(&a->net, &b->net);
    merge_job(&a->all, &b->all);
    wf_marks_merge(&a->marks, &b->marks);
    for (uint32_t i = 0; i < b->n_blocked; i++) {
        wf_tally_block(a, &b->blocked[i]);
    }
    for (uint32_t i = 0; i < b->n_waits; i++) {
        wf_tally_wait(a, &b->waits[i]);
    }
    if (b->n_leftover > 0) {
        keep_leftover(a, &b->leftover[0]);
    }
}

static void *section_at(struct wf_ranks_tally *tally, uint64_t at)
{
    return at == 0 ? NULL : (unsigned char *)tally + at;
}

struct wf_net_counters *wf_tally_net_counters(struct wf_ranks_tally *tally)
{
    return section_at(tally, tally->at.net_counters);
}

struct wf_recording *wf_tally_recording(struct wf_ranks_tally *tally)
{
    return section_at(tally, tally->at.recording);
}

struct wf_path *wf_tally_path(struct wf_ranks_tally *tally)
{
    return section_at(tally, tally->at.path);
}

struct wf_server_tally *wf_tally_servers(struct wf_ranks_tally *tally)
{
    return section_at(tally, tally->at.servers);
}

struct wf_job_tally *wf_tally_edit_job(struct wf_ranks_tally *tally, uint32_t number)
{
    struct wf_job_tally *jobs = section_at(tally, tally->at.jobs);

    return jobs != NULL ? &jobs[number] : &tally->all;
}

const struct wf_job_tally *wf_tally_job(const struct wf_ranks_tally *tally, uint32_t number)
{
    return wf_tally_edit_job(wf_unconst(tally), number); /* is not changed */
}

struct wf_ranks_tally *wf_tally_copy(const struct wf_ranks_tally *tally)
{
    uint64_t n_jobs = tally->at.n_jobs;
    struct wf_ranks_tally *copy =
        wf_xmalloc(sizeof(*copy) + n_jobs * sizeof(struct wf_job_tally));

    *copy = *tally;
    copy->at =
        (struct wf_tally_sections){.jobs = n_jobs > 0 ? sizeof(*copy) : 0, .n_jobs = n_jobs};
    if (n_jobs > 0) {
        memcpy(copy + 1, wf_tally_job(tally, 0), n_jobs * sizeof(struct wf_job_tally));
    }
    return copy;
}

/* Equal waits are listed by rank, so that all copies of a rank come before the next stage. */
static void unfold_waits(struct wf_ranks_tally *tally, const struct wf_fold *fold)
{
    struct wf_waited waits[WF_TALLY_WAITS];
    uint32_t n = tally->n_waits;

    memcpy(waits, tally->waits, sizeof(waits));
    tally->n_waits = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = wf_fold_rank(fold, waits[i].rank);
        for (uint32_t copy = 0; copy < fold->copies && copy < WF_TALLY_WAITS; copy++) {
            waits[i].rank = first + copy * fold->ranks;
            wf_tally_wait(tally, &waits[i]);
        }
    }
}

void wf_tally_unfold(struct wf_ranks_tally *tally, const struct wf_fold *fold)
{
    uint64_t copies = fold->copies;
    struct wf_job_tally *all = &tally->all;
    struct wf_stat *const stats[] = {&tally->latency, &all->finish, &all->compute, &all->waits,
                                     &all->overhead};
    uint64_t *const counts[] = {&tally->unreceived, &tally->uncalled, &tally->unmatched,
                                &tally->unfinished, &tally->failed,   &all->messages,
                                &all->bytes};

    for (size_t i = 0; i < sizeof(stats) / sizeof(stats[0]); i++) {
        wf_stat_multiply(stats[i], copies);
    }
    for (size_t i = 0; i < WF_IN_KINDS; i++) {
        wf_stat_multiply(&all->wait[i], copies);
    }
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        *counts[i] = wf_times_u64(*counts[i], copies);
    }
    for (uint32_t i = 0; i < tally->n_blocked; i++) {
        tally->blocked[i].rank = wf_fold_rank(fold, tally->blocked[i].rank);
    }
    unfold_waits(tally, fold);
}

static void merge_sections(struct wf_ranks_tally *into, const struct wf_ranks_tally *from)
{
    struct wf_ranks_tally *other = wf_unconst(from); /* only read */

    if (from->at.net_counters != 0) {
        into->at.net_counters = from->at.net_counters;
        wf_net_counters_merge(wf_tally_net_counters(into), wf_tally_net_counters(other));
    }
    if (from->at.recording != 0) {
        into->at.recording = from->at.recording;
        wf_recording_merge(wf_tally_recording(into), wf_tally_recording(other));
    }
    if (from->at.path != 0) {
        into->at.path = from->at.path;
        wf_path_merge(wf_tally_path(into), wf_tally_path(other));
    }
    if (from->at.servers != 0) {
        into->at.servers = from->at.servers;
        into->at.n_servers = from->at.n_servers;
    }
    for (uint32_t i = 0; i < from->at.n_servers; i++) {
        wf_tally_server_merge(&wf_tally_servers(into)[i], &wf_tally_servers(other)[i]);
    }
    if (from->at.jobs != 0) {
        into->at.jobs = from->at.jobs;
        into->at.n_jobs = from->at.n_jobs;
    }
    for (uint32_t i = 0; i < from->at.n_jobs; i++) {
        merge_job(wf_tally_edit_job(into, i), wf_tally_job(from, i));
    }
}

void wf_tally_merge_all(void *into, const void *from)
{
    wf_tally_merge(into, from);
    merge_sections(into, from);
}

void wf_tally_end(struct wf_ranks_tally *tally, uint32_t rank, int64_t clock)
{
    tally->ends += wf_rng_mix((uint64_t)clock + (rank + UINT64_C(1)) * WF_RNG_GOLDEN);
}

void wf_tally_latency(struct wf_ranks_tally *tally, struct wf_net_counters *counters,
                      int64_t latency)
{
    wf_stat_add(&tally->latency, latency);
    if (counters != NULL) {
        counters->word[wf_histogram_bucket((uint64_t)latency)]++;
    }
}

size_t wf_tally_layout(struct wf_tally_sections *out, size_t size, struct wf_net *net,
                       size_t recording, size_t path, struct wf_tally_lists lists)
{
    if (net->n_sums > 0) {
        out->net_counters = net->counters_offset = size;
        /* A thread may have switches but no nodes. */
        net->counters_mark = offsetof(struct wf_ranks_tally, at.net_counters);
        size += wf_net_counters_size(net);
    }
    if (recording > 0) {
        out->recording = size;
        size += recording;
    }
    if (path > 0) {
        out->path = size;
        size += path;
    }
    if (lists.n_jobs > 1) {
        size = (size + 7) / 8 * 8;
        out->jobs = size;
        out->n_jobs = lists.n_jobs;
        size += lists.n_jobs * sizeof(struct wf_job_tally);
    }
    if (lists.n_servers > 0) {
        size = (size + 7) / 8 * 8;
        out->servers = size;
        out->n_servers = lists.n_servers;
        size += lists.n_servers * sizeof(struct wf_server_tally);
    }
    return size;
}
