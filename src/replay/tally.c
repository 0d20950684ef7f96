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

void wf_tally_block(struct wf_replay_tally *tally, const struct wf_blocked *blocked)
{
    uint32_t at = tally->n_blocked;

    while (at > 0 && tally->blocked[at - 1].rank > blocked->rank) {
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
}

void wf_tally_merge(void *into, const void *from)
{
    struct wf_replay_tally *a = into;
    const struct wf_replay_tally *b = from;

    a->messages += b->messages;
    a->bytes = wf_count_add(a->bytes, b->bytes);
    a->unreceived += b->unreceived;
    a->unfinished += b->unfinished;
    a->timeless += b->timeless;
    merge_stat(&a->finish, &b->finish);
    merge_stat(&a->compute, &b->compute);
    merge_stat(&a->wait, &b->wait);
    merge_stat(&a->overhead, &b->overhead);
    merge_stat(&a->latency, &b->latency);
    a->ends += b->ends;
    merge_facts(&a->net, &b->net);
    for (uint32_t i = 0; i < b->n_blocked; i++) {
        wf_tally_block(a, &b->blocked[i]);
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
