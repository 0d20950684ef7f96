/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/core/internal.h"

#include "base/mem.h"
#include "engine/core/forecast.h"
#include "engine/tuning.h"

#include <assert.h>
#include <stdlib.h>

enum { SPREAD_MAX = 6 }; /* 2^6 blocks side by side */

/* The group that has the fewest processes of those that have enough of them to be shared evenly. */
static uint64_t narrowest_group(const struct wf_engine *engine, uint32_t n_workers)
{
    uint64_t narrowest = UINT64_MAX;

    for (uint32_t g = 0; g < engine->n_groups; g++) {
        uint64_t count = engine->groups[g].count;
        if (count >= (uint64_t)WF_TUNE_SHARED_EVENLY * n_workers && count < narrowest) {
            narrowest = count;
        }
    }
    return narrowest;
}

/* A block is small enough for its states and events to fit into the cache of a core, and
 * large enough for its events in a window to fill their chunks. */
static unsigned choose_block_shift(const struct wf_engine *engine, uint32_t n_workers,
                                   unsigned spread)
{
    /* Blocks that lie spread are balanced however large they are. */
    uint64_t blocks = spread > 0 ? 1 : WF_TUNE_BLOCKS;
    uint64_t widest = 0, stride = 0;
    unsigned shift = WF_ID_ALIGN_SHIFT - spread;
    unsigned least = engine->map.stretch;

    for (uint32_t g = 0; g < engine->n_groups; g++) {
        if (engine->groups[g].count > widest) {
            widest = engine->groups[g].count;
            stride = engine->groups[g].stride;
        }
    }
    /* Processes that roll back together stay together. */
    while (least < WF_ID_ALIGN_SHIFT && (UINT64_C(1) << least) < engine->config.lps_per_kp) {
        least++;
    }
    if (n_workers > 1) {
        uint64_t narrowest = narrowest_group(engine, n_workers);
        while (shift > least && (widest >> shift) < blocks * n_workers) {
            shift--;
        }
        while (shift > least && (narrowest >> shift) < blocks * n_workers &&
               widest >> (shift - 1) <= (uint64_t)WF_TUNE_SMALL_BLOCKS * n_workers) {
            shift--;
        }
    }
    while (shift > least && stride << shift > WF_TUNE_BLOCK_BYTES &&
           widest >> (shift - 1) <= (uint64_t)WF_TUNE_SMALL_BLOCKS * n_workers) {
        shift--;
    }
    return shift;
}

/* How far apart the processes of a block are. Processes that roll back together are neighbours. */
static unsigned choose_spread(const struct wf_engine *engine, uint32_t n_workers)
{
    unsigned spread = 0;

    if (engine->config.partition < WF_PARTITION_SPREAD || engine->config.lps_per_kp > 1) {
        return 0;
    }
    while (UINT32_C(1) << spread < n_workers && spread < SPREAD_MAX) {
        spread++;
    }
    return spread;
}

static uint32_t owner_of(const struct wf_engine *engine, uint32_t block, uint32_t n_blocks,
                         uint32_t n_workers)
{
    if (engine->config.partition != WF_PARTITION_BLOCK) {
        return block % n_workers;
    }
    return (uint32_t)((uint64_t)block * n_workers / n_blocks);
}

static void cut_group(struct wf_engine *engine, const struct wf_process_group *group,
                      uint32_t n_workers)
{
    const struct wf_block_map map = engine->map;
    uint32_t apart = UINT32_C(1) << map.spread, span = apart << map.shift;
    uint32_t stretch = UINT32_C(1) << map.stretch, turn = apart << map.stretch;
    uint32_t n = (group->count + span - 1) / span * apart;

    for (uint32_t b = 0; b < n; b++) {
        uint32_t begin = b / apart * span, skip = b % apart * stretch;
        uint32_t left = group->count - begin < span ? group->count - begin : span;
        uint32_t rest = left % turn > skip ? left % turn - skip : 0;
        engine->blocks[wf_block_number(map, group->first) + b] = (struct wf_block){
            .group = group,
            .first = group->first + begin + skip,
            .count = left / turn * stretch + (rest < stretch ? rest : stretch),
            .spread = map.spread,
            .within = stretch - 1,
            .end = group->first + group->count,
            .owner = owner_of(engine, b, n, n_workers),
            .payload_max = (uint32_t)group->ops->payload_max,
        };
    }
}

static struct wf_worker *worker_of(const struct wf_engine *engine, const struct wf_block *block)
{
    assert(engine->n_threads > 0);
    if (block->count == 0 || block->owner / engine->n_threads != engine->process) {
        return NULL;
    }
    return &engine->workers[block->owner % engine->n_threads];
}

/* Allocates the states of the worker's processes side by side. */
static void allocate_lps(struct wf_engine *engine, struct wf_worker *worker)
{
    size_t bytes = 0;

    for (uint32_t b = 0; b < worker->n_blocks; b++) {
        const struct wf_block *block = &engine->blocks[worker->blocks[b]];
        bytes += (size_t)block->count * block->group->stride;
    }
    worker->lps = wf_xcalloc_huge(1, bytes);
    wf_depot_count_states(&engine->depot, bytes);
    unsigned char *next = worker->lps;
    for (uint32_t b = 0; b < worker->n_blocks; b++) {
        struct wf_block *block = &engine->blocks[worker->blocks[b]];
        block->lps = next;
        next += (size_t)block->count * block->group->stride;
    }
}

static void deal_blocks(struct wf_engine *engine)
{
    for (uint32_t t = 0; t < engine->n_threads; t++) {
        engine->workers[t].blocks = wf_xcalloc(engine->n_blocks, sizeof(uint32_t));
    }
    for (uint32_t b = 0; b < engine->n_blocks; b++) {
        struct wf_worker *worker = worker_of(engine, &engine->blocks[b]);
        if (worker != NULL) {
            engine->local_block[b] = worker->n_blocks;
            worker->blocks[worker->n_blocks++] = b;
        }
    }
    for (uint32_t t = 0; t < engine->n_threads; t++) {
        allocate_lps(engine, &engine->workers[t]);
    }
}

void wf_engine_repartition(struct wf_engine *engine)
{
    struct wf_worker *worker = &engine->workers[0];
    struct wf_block *blocks = engine->blocks;
    const struct wf_block_map map = engine->map;
    unsigned char *lps = worker->lps;

    free(engine->local_block);
    free(worker->blocks);
    worker->n_blocks = 0;
    wf_engine_partition(engine, engine->n_threads);
    for (uint32_t g = 0; g < engine->n_groups; g++) {
        const struct wf_process_group *group = &engine->groups[g];
        for (uint32_t id = group->first; id < group->first + group->count; id++) {
            memcpy(wf_engine_lp(engine, id), wf_block_lp(&blocks[wf_block_number(map, id)], id),
                   group->stride);
        }
    }
    free(blocks);
    free(lps);
}

void wf_engine_partition(struct wf_engine *engine, uint32_t n_workers)
{
    unsigned spread = choose_spread(engine, n_workers);

    engine->map.spread = spread;
    engine->map.stretch = spread > 0 ? wf_forecast_stretch(engine->config.partition) : 0;
    engine->map.shift = choose_block_shift(engine, n_workers, spread);
    uint32_t span = UINT32_C(1) << (engine->map.shift + engine->map.spread);
    engine->n_blocks = (uint32_t)(((uint64_t)engine->next_id + span - 1) / span)
                       << engine->map.spread;
    engine->blocks = wf_xcalloc(engine->n_blocks, sizeof(*engine->blocks));
    engine->local_block = wf_xcalloc(engine->n_blocks, sizeof(uint32_t));
    for (uint32_t g = 0; g < engine->n_groups; g++) {
        cut_group(engine, &engine->groups[g], n_workers);
    }
    deal_blocks(engine);
}
