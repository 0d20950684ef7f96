/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A master that distributes tasks. Rank 0 receives from any rank and answers with the next
 * task, or with a stop message if no task is left. Every other rank sends its result to rank
 * 0, waits for the answer and computes; its first message carries no result. Which rank gets
 * which task depends on timing. A single rank computes all tasks itself.
 *
 * The tag of an answer is the number of the task, counted from 1; the tag of a stop message
 * is 0. Computing takes between 1 - spread and 1 + spread times `compute`; the factor
 * depends only on the number of the task.
 */
#include "program/gen/gen.h"
#include "program/gen/make.h"
#include "program/gen/vary.h"

#include <assert.h>

struct params {
    uint64_t tasks;
    int64_t compute;
    double spread;
    uint64_t task_bytes, result_bytes;
};

enum { TAG_RESULT = 0, TAG_STOP = 0 };

/* The next step of the master, and of a worker. */
enum { LISTEN, ANSWER };
enum { ASK, HEAR, COMPUTE };

struct masterworker {
    struct wf_source source;
    struct params given;
    uint32_t spread; /* a share */
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, tasks, COUNT, .def = "100", .max = "2000000000",
                 .doc = "Number of tasks"),
    WF_PARAM_ROW(struct params, compute, TIME, .def = "1ms",
                 .doc = "Average compute time of a task"),
    WF_PARAM_ROW(
        struct params, spread, REAL, .def = "0.5", .min = "0", .max = "1",
        .doc = "How far the time of a task may differ from the average, as a share of it"),
    WF_PARAM_ROW(struct params, task_bytes, SIZE, .def = "1KiB",
                 .doc = "Size of the message with a task"),
    WF_PARAM_ROW(struct params, result_bytes, SIZE, .def = "1KiB",
                 .doc = "Size of the message with a result"),
    WF_PARAM_END,
};

static enum wf_status masterworker_create(const void *params, uint32_t n_ranks,
                                          struct wf_source **out, struct wf_err *err)
{
    const struct params *given = params;
    WF_TRY(wf_gen_check_computing(wf_gen_masterworker_ops.name, given->compute,
                                  2 * given->tasks, err));
    struct masterworker *program =
        wf_gen_new(sizeof(*program), &wf_gen_masterworker_ops, n_ranks, out);
    program->source.messages_expected = n_ranks == 1 ? 0 : 2 * (given->tasks + n_ranks - 1);
    program->source.depends_on_time = n_ranks > 1;
    program->source.follows_matches = n_ranks > 1;
    program->given = *given;
    program->spread = wf_gen_share(given->spread);
    return WF_OK;
}

static void make_task(const struct masterworker *program, uint64_t task, struct wf_op *op)
{
    uint64_t mean = (uint64_t)program->given.compute;

    wf_gen_make_compute(op, (int64_t)wf_gen_vary(mean, program->spread, 0, task));
}

/* `answered` counts the messages that were answered, tasks first and then stops. */
static bool next_of_master(const struct masterworker *program, uint64_t *answered,
                           uint64_t *state, uint32_t seen_source, struct wf_op *op)
{
    if (*answered == program->given.tasks + program->source.n_ranks - 1) {
        return false;
    }
    if (*state == LISTEN) {
        wf_gen_make_recv(op, WF_ANY_SOURCE, TAG_RESULT, program->given.result_bytes);
        *state = ANSWER;
        return true;
    }
    bool stop = *answered >= program->given.tasks;
    wf_gen_make_send(op, seen_source, stop ? TAG_STOP : (int32_t)(*answered + 1),
                     stop ? 0 : program->given.task_bytes);
    *state = LISTEN;
    (*answered)++;
    return true;
}

static bool next_of_worker(const struct masterworker *program, uint64_t *state,
                           int32_t seen_tag, struct wf_op *op)
{
    if (*state == ASK) {
        wf_gen_make_send(op, 0, TAG_RESULT, program->given.result_bytes);
        *state = HEAR;
    } else if (*state == HEAR) {
        wf_gen_make_recv(op, 0, WF_ANY_TAG, program->given.task_bytes);
        *state = COMPUTE;
    } else if (seen_tag == TAG_STOP) {
        return false;
    } else {
        make_task(program, (uint64_t)seen_tag, op);
        *state = ASK;
    }
    return true;
}

static bool next_of_one(const struct masterworker *program, uint64_t *task, struct wf_op *op)
{
    if (*task == program->given.tasks) {
        return false;
    }
    make_task(program, ++*task, op);
    return true;
}

static bool masterworker_next(const struct wf_source *source, uint32_t rank,
                              struct wf_cursor *cursor, struct wf_op *op)
{
    const struct masterworker *program = (const struct masterworker *)source;

    assert(source->ops == &wf_gen_masterworker_ops && rank < source->n_ranks);
    if (source->n_ranks == 1) {
        return next_of_one(program, &cursor->word[0], op);
    }
    if (rank == 0) {
        return next_of_master(program, &cursor->word[0], &cursor->word[1], cursor->seen_source,
                              op);
    }
    return next_of_worker(program, &cursor->word[1], cursor->seen_tag, op);
}

WF_GENERATOR_OPS(masterworker, "rank 0 hands out tasks to the ranks that ask");
