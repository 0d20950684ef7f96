/* SPDX-License-Identifier: Apache-2.0 */
/* Live programs, which source->live runs. In a run of several operating-system processes,
 * the engine decides which rank runs where, and data between ranks travels with its events. */
#include "model/ranks/rank_program.h"

#include "base/mem.h"
#include "engine/cargo.h"

#include <stdlib.h>
#include <string.h>

/* ---- what ranks tell their programs ---- */

void wf_live_answer(const struct wf_rank_program *program)
{
    const struct wf_rank *rank = program->who->rank;
    const struct wf_rank_cold *cold = wf_rank_cold(program->who);
    const struct wf_answer answer = {
        .clock = rank->clock,
        .found = rank->found,
        .seen_source = cold->seen_source,
        .seen_tag = cold->seen_tag,
    };

    program->source->live->tell(program->source, program->rank, &answer);
}

void wf_live_matched(const struct wf_caller *who, uint32_t request, uint32_t peer, int32_t tag)
{
    const struct wf_rank_program program = wf_rank_program_of(who);

    if (program.source->live) {
        program.source->live->matched(program.source, program.rank,
                                      request == WF_RANK_NO_REQUEST ? WF_REQUEST_MAX : request,
                                      peer - program.ranks->first[program.job], tag);
    }
}

void wf_live_taken(const struct wf_caller *who, uint32_t request)
{
    const struct wf_rank_program program = wf_rank_program_of(who);

    if (program.source->live) {
        program.source->live->taken(program.source, program.rank, request);
    }
}

void wf_live_remote(const struct wf_caller *who, uint32_t origin)
{
    const struct wf_rank_program program = wf_rank_program_of(who);

    if (program.source->live) {
        program.source->live->remote(program.source, program.rank,
                                     origin - program.ranks->first[program.job]);
    }
}

/* ---- several operating-system processes ---- */

/* A live program in a run of several operating-system processes. */
struct home {
    struct wf_homes homes; /* first */
    const struct wf_ranks *ranks;
    const struct wf_engine *engine;
    uint32_t job;
};

struct wf_live {
    struct home *jobs; /* [n_jobs] */
};

/* The header before the bytes of one job for another process. */
struct head {
    uint64_t job, bytes;
};

static uint32_t home_of(const struct wf_homes *homes, uint32_t rank)
{
    const struct home *own = (const void *)homes;
    const struct wf_ranks *ranks = own->ranks;
    uint32_t node = wf_place_node(ranks->place, ranks->first[own->job] + rank);

    return wf_engine_process_of(own->engine, ranks->net->first_node + node);
}

static uint32_t node_of(const struct wf_homes *homes, uint32_t rank)
{
    const struct home *own = (const void *)homes;

    return wf_place_node(own->ranks->place, own->ranks->first[own->job] + rank);
}

static void load_cargo(void *arg, uint32_t process, struct wf_buf *out)
{
    const struct wf_ranks *ranks = arg;

    for (uint32_t i = 0; i < ranks->n_jobs; i++) {
        const struct wf_source *source = ranks->jobs[i].source;
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

static void unload_cargo(void *arg, const unsigned char *bytes, size_t size)
{
    const struct wf_ranks *ranks = arg;
    struct head head;

    for (size_t at = 0; at < size; at += sizeof(head) + head.bytes) {
        memcpy(&head, bytes + at, sizeof(head));
        const struct wf_source *source = ranks->jobs[head.job].source;
        source->live->unload(source, bytes + at + sizeof(head), head.bytes);
    }
}

/* Each process numbers the regions in the order in which it meets them. */
static void settle_regions(void *arg, void *tally)
{
    const struct wf_ranks *ranks = arg;
    struct wf_ranks_tally *own = tally;
    uint32_t numbers[WF_MARKS_REGIONS];

    for (uint32_t i = 0; i < ranks->n_jobs; i++) {
        const struct wf_source *source = ranks->jobs[i].source;
        if (source->live == NULL) {
            continue;
        }
        for (uint32_t k = 0; k < WF_MARKS_REGIONS; k++) {
            numbers[k] = source->live->common_region(source, k);
        }
        wf_marks_renumber(&wf_tally_edit_job(own, i)->marks, numbers);
    }
}

struct wf_live *wf_live_new(const struct wf_ranks *ranks)
{
    for (uint32_t i = 0; i < ranks->n_jobs; i++) {
        if (ranks->jobs[i].source->live != NULL) {
            struct wf_live *live = wf_xcalloc(1, sizeof(*live));
            live->jobs = wf_xcalloc(ranks->n_jobs, sizeof(*live->jobs));
            return live;
        }
    }
    return NULL;
}

void wf_live_spread(struct wf_live *live, struct wf_ranks *ranks, struct wf_engine *engine)
{
    const struct wf_cargo cargo = {
        .arg = ranks, .load = load_cargo, .unload = unload_cargo, .settle = settle_regions};

    for (uint32_t i = 0; i < ranks->n_jobs; i++) {
        const struct wf_source *source = ranks->jobs[i].source;
        struct home *home = &live->jobs[i];

        if (source->live == NULL) {
            continue;
        }
        *home = (struct home){.homes = {.n_processes = wf_engine_n_processes(engine),
                                        .own = wf_engine_process(engine),
                                        .of = home_of,
                                        .node = node_of},
                              .ranks = ranks,
                              .engine = engine,
                              .job = i};
        source->live->place(source, &home->homes);
        if (wf_engine_n_processes(engine) > 1) {
            source->live->spread(source, &home->homes);
            wf_engine_cargo(engine, &cargo);
        }
    }
}

void wf_live_free(struct wf_live *live)
{
    if (live != NULL) {
        free(live->jobs);
    }
    free(live);
}
