/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Plays the program of a rank as a model understands it, at any number of ranks. */

#include "program/extrapolate/changes.h"
#include "program/extrapolate/model.h"

/* One op, with the computing before it. */
struct wf_ext_played {
    const struct wf_ext_step *step;
    const struct wf_ext_shape *shape;
    struct wf_ext_op op;         /* without `arrays` */
    const uint64_t *elements[2]; /* or null */
    bool sized;                  /* sizes are exact, not drawn from a sample or fitted */
};

struct wf_ext_player {
    const struct wf_ext_model *model;
    const struct wf_ext_grid *grid;
    /* WF_EXT_NO_COUNT, or the number of a count whose own numbers of rounds are used. */
    uint32_t count;
    const struct wf_ext_changes *changes; /* or null */
    uint32_t (*comm_size)(void *arg, uint32_t rank, uint32_t comm);
    enum wf_status (*play)(void *arg, uint32_t rank, const struct wf_ext_played *op,
                           struct wf_err *err);
    void *arg;
};

#define WF_EXT_NO_COUNT UINT32_MAX

/* Calls player->play() for each op of the rank. */
enum wf_status wf_ext_play(const struct wf_ext_player *player, uint32_t rank,
                           struct wf_err *err);

/* The loop of the program that takes most ops; 0 if there is none. */
uint32_t wf_ext_main_loop(const struct wf_ext_model *model);

/* Plays all counts of the model and compares the result with the traces. What differs is
 * WF_EINVAL: then the model has misunderstood something. */
enum wf_status wf_ext_check(const struct wf_ext_model *model, struct wf_err *err);
