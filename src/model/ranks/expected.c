/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many messages programs will send that do not say so themselves, for the progress display: those of a
 * few ranks, spread over the program, stand for all. An estimate takes some milliseconds.
 */
#include "model/coll/nccl.h"
#include "model/ranks/collective.h"
#include "model/ranks/rank_program.h"

enum { SAMPLES = 8, BUDGET = 400000, KEPT = 16 }; /* ranks; ops and steps of all of them */

/* A collective that was counted: a rank calls the same ones again and again. */
struct counted {
    enum wf_coll_kind kind;
    uint32_t size, root;
    uint64_t bytes, messages;
};

struct count {
    const struct wf_ranks *ranks;
    uint64_t messages, budget;
    struct counted kept[KEPT]; /* of this rank */
    uint32_t n_kept, next;
};

static uint64_t steps_of(struct count *count, const struct wf_coll_args *args)
{
    uint16_t algorithm = wf_collective_choose(count->ranks, args);
    const struct wf_coll_request coll = {.algorithm = algorithm};
    const struct wf_coll_ops *ops = algorithm == WF_ALGORITHM_TRAFFIC ? wf_coll_traffic(args)
                                    : wf_collective_is_formula(&coll)
                                        ? NULL
                                        : wf_collective_ops(&coll);
    struct wf_coll_step step;
    uint64_t sent = 0;

    for (uint32_t i = 0; ops != NULL && count->budget > 0 && ops->step(args, i, &step); i++) {
        sent += step.send_to != WF_COLL_NOBODY ? 1 : 0;
        count->budget--;
    }
    return sent;
}

static uint64_t messages_of(struct count *count, const struct wf_coll_args *args)
{
    for (uint32_t i = 0; i < count->n_kept && args->counts == NULL; i++) {
        const struct counted *kept = &count->kept[i];
        if (kept->kind == args->kind && kept->size == args->size && kept->root == args->root &&
            kept->bytes == args->bytes) {
            return kept->messages;
        }
    }
    struct counted *kept = &count->kept[count->next++ % KEPT];
    *kept = (struct counted){args->kind, args->size, args->root, args->bytes, 0};
    kept->messages = steps_of(count, args);
    count->n_kept = count->next < KEPT ? count->next : KEPT;
    return kept->messages;
}

static void count_collective(struct count *count, const struct wf_rank_program *program,
                             const struct wf_op *op)
{
    struct wf_coll_args args = {.size = 1};
    struct wf_rank_group group;

    if (wf_rank_find_group(program, op->comm, &group)) {
        wf_rank_collective_args(op, &group, &args);
        wf_collective_complete(count->ranks, &group, &args);
        count->messages += messages_of(count, &args);
    }
}

/* Counts the messages of a rank; false if that takes too long. */
static bool count_rank(struct count *count, const struct wf_rank_program *program)
{
    struct wf_cursor cursor = {.span = 0};
    struct wf_op op;

    count->n_kept = count->next = 0;
    while (count->budget > 0 && wf_source_next(program->source, program->rank, &cursor, &op)) {
        enum wf_op_family family = wf_op_info(op.kind)->family;
        count->budget--;
        if (family == WF_FAMILY_SEND || family == WF_FAMILY_SENDRECV ||
            family == WF_FAMILY_START || family == WF_FAMILY_ONESIDED) {
            count->messages++;
        } else if (family == WF_FAMILY_COLLECTIVE || family == WF_FAMILY_COMM ||
                   family == WF_FAMILY_EPOCH) {
            count_collective(count, program, &op);
        }
    }
    return count->budget > 0;
}

/* The i-th of n ranks, at no power of two from each other: many algorithms treat those alike. */
static uint32_t sample(uint32_t n_ranks, uint32_t i, uint32_t n)
{
    const uint64_t golden_ratio = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t place = (i + 1) * golden_ratio >> 32; /* of 2^32 */

    return n == n_ranks ? i : (uint32_t)(place * n_ranks >> 32);
}

/* The messages of a job; 0 if they cannot be known before. */
static uint64_t estimate(const struct wf_ranks *ranks, uint32_t job)
{
    const struct wf_source *source = ranks->jobs[job].source;
    struct count count = {.ranks = ranks, .budget = BUDGET};
    uint32_t n = source->n_ranks < SAMPLES ? source->n_ranks : SAMPLES, counted = 0;
    uint64_t messages = 0; /* of those that were counted */

    if (source->live != NULL || source->follows_matches || source->depends_on_time) {
        return 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct wf_rank_program program = {
            .ranks = ranks,
            .source = source,
            .job = job,
            .rank = sample(source->n_ranks, i, n),
            .first = ranks->first[job],
        };
        if (!count_rank(&count, &program)) {
            break;
        }
        messages = count.messages;
        counted++;
    }
    return counted == 0 ? 0 : (uint64_t)((double)messages / counted * source->n_ranks);
}

uint64_t wf_ranks_expected_messages(const struct wf_ranks *ranks)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < ranks->n_jobs; i++) {
        uint64_t messages = ranks->jobs[i].source->messages_expected;
        messages = messages > 0 ? messages : estimate(ranks, i);
        if (messages == 0) {
            return 0;
        }
        sum += ranks->jobs[i].repeat * messages;
    }
    return sum;
}
