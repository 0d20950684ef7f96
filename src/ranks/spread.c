/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/spread.h"

#include "ranks/slot.h"

#include <string.h>

/* Before what one job has for another process. */
struct head {
    uint64_t job, bytes;
};

static uint32_t home_of(const struct wf_homes *homes, uint32_t rank)
{
    const struct wf_spread *spread = (const void *)homes;
    const struct wf_replay *replay = spread->replay;
    uint32_t node = wf_place_node(replay->mpi.place, replay->first[spread->job] + rank);

    return wf_engine_process_of(spread->engine, spread->first_node + node);
}

static void load(void *arg, uint32_t process, struct wf_buf *out)
{
    const struct wf_replay *replay = arg;

    for (uint32_t i = 0; i < replay->n_jobs; i++) {
        const struct wf_source *source = replay->jobs[i].source;
        struct head head = {.job = i};
        size_t begin = out->size;

        if (source->live == NULL) {
            continue;
        }
        wf_buf_append(out, &head, sizeof(head));
        source->live->load(source, process, out);
        head.bytes = out->size - begin - sizeof(head);
        if (head.bytes == 0) {
            out->size = begin;
        } else {
            memcpy(out->data + begin, &head, sizeof(head));
        }
    }
}

static void unload(void *arg, const unsigned char *bytes, size_t size)
{
    const struct wf_replay *replay = arg;
    struct head head;

    for (size_t at = 0; at < size; at += sizeof(head) + head.bytes) {
        memcpy(&head, bytes + at, sizeof(head));
        const struct wf_source *source = replay->jobs[head.job].source;
        source->live->unload(source, bytes + at + sizeof(head), head.bytes);
    }
}

/* Regions are numbered as each process meets them. */
static void settle(void *arg, void *tally)
{
    const struct wf_replay *replay = arg;
    struct wf_ranks_tally *own = tally;
    uint32_t numbers[WF_MARKS_REGIONS];

    for (uint32_t i = 0; i < replay->n_jobs; i++) {
        const struct wf_source *source = replay->jobs[i].source;
        if (source->live == NULL) {
            continue;
        }
        for (uint32_t k = 0; k < WF_MARKS_REGIONS; k++) {
            numbers[k] = source->live->common_region(source, k);
        }
        wf_marks_renumber(&own->marks, i, numbers);
    }
}

void wf_spread_programs(struct wf_replay *replay, struct wf_engine *engine, uint32_t first_node)
{
    const struct wf_cargo cargo = {
        .arg = replay, .load = load, .unload = unload, .settle = settle};

    if (wf_engine_n_processes(engine) == 1) {
        return;
    }
    for (uint32_t i = 0; i < replay->n_jobs; i++) {
        const struct wf_source *source = replay->jobs[i].source;
        struct wf_spread *spread = &replay->spread[i];

        if (source->live == NULL) {
            continue;
        }
        *spread = (struct wf_spread){.homes = {.n_processes = wf_engine_n_processes(engine),
                                               .own = wf_engine_process(engine),
                                               .of = home_of},
                                     .replay = replay,
                                     .engine = engine,
                                     .job = i,
                                     .first_node = first_node};
        source->live->spread(source, &spread->homes);
        wf_engine_cargo(engine, &cargo);
    }
}
