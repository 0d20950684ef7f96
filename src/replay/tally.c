/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/tally.h"

#include "base/int128.h"
#include "base/rng.h"
#include "base/units.h"

#include <string.h>

static void add_sum(struct wf_stat *stat, uint64_t low, uint64_t high)
{
    stat->sum_low += low;
    stat->sum_high += high + (stat->sum_low < low);
}

void wf_stat_add(struct wf_stat *stat, int64_t value)
{
    if (stat->n == 0 || value < stat->min) {
        stat->min = value;
    }
    if (stat->n == 0 || value > stat->max) {
        stat->max = value;
    }
    stat->n++;
    add_sum(stat, (uint64_t)value, 0);
}

int64_t wf_stat_mean(const struct wf_stat *stat)
{
    wf_u128 sum = (wf_u128)stat->sum_high << 64 | stat->sum_low;

    return stat->n == 0 ? 0 : (int64_t)(sum / stat->n);
}

static void merge_stat(struct wf_stat *into, const struct wf_stat *from)
{
    if (from->n == 0) {
        return;
    }
    if (into->n == 0) {
        *into = *from;
        return;
    }
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
    into->n += from->n;
    add_sum(into, from->sum_low, from->sum_high);
}

/* Whether a comes before b. */
static bool is_before(const struct wf_blocked *a, const struct wf_blocked *b)
{
    bool a_failed = a->failure != WF_FAILURE_NONE, b_failed = b->failure != WF_FAILURE_NONE;

    return a_failed != b_failed ? a_failed : a->rank < b->rank;
}

void wf_tally_block(struct wf_replay_tally *tally, const struct wf_blocked *blocked)
{
    uint32_t at = tally->n_blocked;

    while (at > 0 && is_before(blocked, &tally->blocked[at - 1])) {
        at--;
    }
    if (at == WF_TALLY_BLOCKED) {
        return;
    }
    if (tally->n_blocked < WF_TALLY_BLOCKED) {
        tally->n_blocked++;
    }
    memmove(&tally->blocked[at + 1], &tally->blocked[at],
            (tally->n_blocked - 1 - at) * sizeof(tally->blocked[0]));
    tally->blocked[at] = *blocked;
}

uint64_t wf_tally_digest(const struct wf_replay_tally *tally, uint64_t events)
{
    return tally->net.nodes == 0 ? events
                                 : wf_rng_mix(tally->net.fingerprint + WF_RNG_GOLDEN) ^
                                       wf_rng_mix(tally->ends + 2 * WF_RNG_GOLDEN);
}

static void merge_facts(struct wf_net_facts *into, const struct wf_net_facts *from)
{
    into->nodes += from->nodes;
    into->fingerprint += from->fingerprint;
    into->packets_sent += from->packets_sent;
    into->packets_received += from->packets_received;
    into->bytes_sent += from->bytes_sent;
    into->bytes_received += from->bytes_received;
    if (from->circle.n > 0) {
        into->circle = from->circle;
        into->deadlock_ps = from->deadlock_ps;
    }
}

void wf_tally_wait(struct wf_replay_tally *tally, const struct wf_waited *waited)
{
    uint32_t at = tally->n_waits;

    if (waited->time <= 0) {
        return;
    }
    while (at > 0 && (waited->time > tally->waits[at - 1].time ||
                      (waited->time == tally->waits[at - 1].time &&
                       waited->rank < tally->waits[at - 1].rank))) {
        at--;
    }
    if (at == WF_TALLY_WAITS) {
        return;
    }
    if (tally->n_waits < WF_TALLY_WAITS) {
        tally->n_waits++;
    }
    memmove(&tally->waits[at + 1], &tally->waits[at],
            (tally->n_waits - 1 - at) * sizeof(tally->waits[0]));
    tally->waits[at] = *waited;
}

static void keep_unasked(struct wf_replay_tally *tally, const struct wf_unasked *unasked)
{
    if (tally->n_unasked == 0 || unasked->rank < tally->unasked[0].rank) {
        tally->unasked[0] = *unasked;
        tally->n_unasked = 1;
    }
}

void wf_tally_left(struct wf_replay_tally *tally, const struct wf_unasked *unasked)
{
    if (unasked->left.messages + unasked->left.calls == 0) {
        return;
    }
    tally->unreceived += unasked->left.messages;
    tally->uncalled += unasked->left.calls;
    keep_unasked(tally, unasked);
}

/* The place of a mark, which is made if need be; null if there is no room. */
static struct wf_mark *find_mark(struct wf_replay_tally *tally, uint32_t number, bool is_end)
{
    uint32_t at = tally->n_marks;

    while (at > 0 && (tally->marks[at - 1].number > number ||
                      (tally->marks[at - 1].number == number &&
                       tally->marks[at - 1].is_end > (uint32_t)is_end))) {
        at--;
    }
    if (at > 0 && tally->marks[at - 1].number == number &&
        tally->marks[at - 1].is_end == (uint32_t)is_end) {
        return &tally->marks[at - 1];
    }
    if (number >= WF_TALLY_MARKS / 2) {
        return NULL;
    }
    memmove(&tally->marks[at + 1], &tally->marks[at],
            (tally->n_marks - at) * sizeof(tally->marks[0]));
    tally->n_marks++;
    tally->marks[at] = (struct wf_mark){.number = number, .is_end = is_end};
    return &tally->marks[at];
}

void wf_tally_mark(struct wf_replay_tally *tally, uint32_t number, bool is_end, int64_t time)
{
    struct wf_mark *mark = find_mark(tally, number, is_end);

    if (mark != NULL) {
        wf_stat_add(&mark->time, time);
    }
}

static void merge_job(struct wf_job_tally *into, const struct wf_job_tally *from)
{
    into->messages += from->messages;
    into->bytes = wf_count_add(into->bytes, from->bytes);
    merge_stat(&into->finish, &from->finish);
    merge_stat(&into->compute, &from->compute);
    merge_stat(&into->overhead, &from->overhead);
    merge_stat(&into->waits, &from->waits);
    for (int in = 0; in < WF_IN_KINDS; in++) {
        merge_stat(&into->wait[in], &from->wait[in]);
    }
}

void wf_tally_merge(void *into, const void *from)
{
    struct wf_replay_tally *a = into;
    const struct wf_replay_tally *b = from;

    a->unreceived += b->unreceived;
    a->uncalled += b->uncalled;
    a->unfinished += b->unfinished;
    a->failed += b->failed;
    a->timeless += b->timeless;
    merge_stat(&a->latency, &b->latency);
    a->ends += b->ends;
    merge_facts(&a->net, &b->net);
    for (uint32_t i = 0; i < WF_TALLY_JOBS; i++) {
        merge_job(&a->jobs[i], &b->jobs[i]);
    }
    for (uint32_t i = 0; i < WF_TALLY_REGIONS; i++) {
        merge_stat(&a->regions[i], &b->regions[i]);
    }
    for (uint32_t i = 0; i < b->n_marks; i++) {
        struct wf_mark *mark = find_mark(a, b->marks[i].number, b->marks[i].is_end != 0);
        if (mark != NULL) {
            merge_stat(&mark->time, &b->marks[i].time);
        }
    }
    for (uint32_t i = 0; i < b->n_blocked; i++) {
        wf_tally_block(a, &b->blocked[i]);
    }
    for (uint32_t i = 0; i < b->n_waits; i++) {
        wf_tally_wait(a, &b->waits[i]);
    }
    if (b->n_unasked > 0) {
        keep_unasked(a, &b->unasked[0]);
    }
}

void wf_tally_merge_all(void *into, const void *from)
{
    struct wf_net_words *a = wf_tally_words(into);
    const struct wf_net_words *b = (const void *)((const struct wf_replay_tally *)from + 1);

    wf_tally_merge(into, from);
    if (b->n_sums == 0) {
        return;
    }
    a->n_sums = b->n_sums;
    a->n_maxima = b->n_maxima;
    for (uint64_t i = 0; i < b->n_sums; i++) {
        a->word[i] += b->word[i];
    }
    for (uint64_t i = b->n_sums; i < b->n_sums + b->n_maxima; i++) {
        a->word[i] = b->word[i] > a->word[i] ? b->word[i] : a->word[i];
    }
}
