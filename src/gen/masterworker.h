/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_GEN_MASTERWORKER_H
#define WF_GEN_MASTERWORKER_H

/*
 * Tasks for whoever asks. Rank 0 waits for anybody's message and answers with the next task, or
 * when there are none left with a message that says stop. Every other rank sends rank 0 its
 * result, of which it has none at first but sends it nevertheless, waits for the answer and
 * computes. Who gets which task thus depends on time. A single rank computes all tasks itself.
 *
 * A task's answer carries as tag its number, counted from 1; the tag of stop is 0. Computing
 * takes between 1 - spread and 1 + spread times `compute`, which depends on the task's number
 * and nothing else.
 */

#include "gen/gen.h"

struct wf_masterworker_params {
    uint64_t tasks;
    int64_t compute;
    double spread;
    uint64_t task_bytes, result_bytes;
};

#endif
