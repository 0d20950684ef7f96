/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much programs will send, for the progress display and a note before long runs: a few ranks, spread
 * over the program, stand for all. An estimate takes some milliseconds, and less than one if the
 * program itself says how many messages it has.
 */
#include "model/coll/nccl.h"
#include "model/ranks/collective.h"
#include "model/ranks/formula.h"
#include "model/ranks/rank_program.h"

/* Ranks; ops and steps of all of them, and if only their size is to be found. */
enum { SAMPLES = 8, BUDGET = 400000, BUDGET_FOR_SIZES = 10000, KEPT = 16 };

/* A collective that was counted: a rank calls the same ones again and again. */
struct counted {
    enum wf_coll_kind kind;
    uint32_t size, root;
    uint64_t bytes; /* of the call */
    struct wf_expected sent;
};

struct count {
    const struct wf_ranks *ranks;
    struct wf_expected sent;
    uint64_t budget;
    struct counted kept[KEPT]; /* of this rank */
    uint32_t n_kept, next;
};

static struct wf_expected steps_of(struct count *count, const struct wf_coll_args *args)
{
    uint16_t algorithm = wf_collective_choose(count->ranks, args);
    const struct wf_coll_request coll = {.algorithm = algorithm};
    const struct wf_coll_ops *ops = algorithm == WF_ALGORITHM_TRAFFIC ? wf_coll_traffic(args)
                                    : wf_collective_is_formula(&coll)
                                        ? NULL
                                        : wf_collective_ops(&coll);
    bool is_sum = algorithm == WF_ALGORITHM_TRAFFIC && args->kind != WF_COLL_ALLTOALL &&
                  args->kind != WF_COLL_ALLTOALLV; /* each message stands for many */
    uint64_t each = is_sum ? wf_coll_traffic_bytes(args, wf_formula_bytes(args)) : 0;
    struct wf_coll_step step;
    struct wf_expected sent = {.messages = 0};

    for (uint32_t i = 0; ops != NULL && count->budget > 0 && ops->step(args, i, &step); i++) {
        if (step.send_to != WF_COLL_NOBODY) {
            sent.messages++;
            sent.bytes +=
                is_sum ? each : wf_coll_bytes(args, ops->n_slots(args), &step.send, false);
        }
        count->budget--;
    }
    return sent;
}

static struct wf_expected sent_of(struct count *count, const struct wf_coll_args *args)
{
    for (uint32_t i = 0; i < count->n_kept && args->counts == NULL; i++) {
        const struct counted *kept = &count->kept[i];
        if (kept->kind == args->kind && kept->size == args->size && kept->root == args->root &&
            kept->bytes == args->bytes) {
            return kept->sent;
        }
    }
    struct counted *kept = &count->kept[count->next++ % KEPT];
    *kept = (struct counted){args->kind, args->size, args->root, args->bytes, {0, 0}};
    kept->sent = steps_of(count, args);
    count->n_kept = count->next < KEPT ? count->next : KEPT;
    return kept->sent;
}

static void count_collective(struct count *count, const struct wf_rank_program *program,
                             const struct wf_op *op)
{
    struct wf_coll_args args = {.size = 1};
    struct wf_rank_group group;

    if (wf_rank_find_group(program, op->comm, &group)) {
        wf_rank_collective_args(op, &group, &args);
        wf_collective_complete(count->ranks, &group, &args);
        struct wf_expected sent = sent_of(count, &args);
        count->sent.messages += sent.messages;
        count->sent.bytes += sent.bytes;
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
            count->sent.messages++;
            count->sent.bytes += op.bytes;
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

/* What a job will send; `known` messages, if that is not 0. */
static struct wf_expected estimate(const struct wf_ranks *ranks, uint32_t job, uint64_t known)
{
    const struct wf_source *source = ranks->jobs[job].source;
    struct count count = {.ranks = ranks, .budget = known > 0 ? BUDGET_FOR_SIZES : BUDGET};
    uint32_t n = source->n_ranks < SAMPLES ? source->n_ranks : SAMPLES, counted = 0;
    struct wf_expected sent = {.messages = 0}; /* by those that were counted */
    struct wf_expected expected = {.messages = known};

    if (source->live != NULL || source->follows_matches || source->depends_on_time) {
        return expected;
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
        sent = count.sent;
        counted++;
    }
    if (known == 0 && counted > 0) {
        expected.messages =
            (uint64_t)((double)sent.messages / counted * (double)source->n_ranks);
    }
    if (count.sent.messages > 0) {
        expected.bytes = (uint64_t)((double)count.sent.bytes / (double)count.sent.messages *
                                    (double)expected.messages);
    }
    return expected;
}

struct wf_expected wf_ranks_expect(const struct wf_ranks *ranks)
{
    struct wf_expected sum = {.messages = 0};

    for (uint32_t i = 0; i < ranks->n_jobs; i++) {
        struct wf_expected job = estimate(ranks, i, ranks->jobs[i].source->messages_expected);
        if (job.messages == 0) {
            return (struct wf_expected){.messages = 0};
        }
        sum.messages += ranks->jobs[i].repeat * job.messages;
        sum.bytes += ranks->jobs[i].repeat * job.bytes;
    }
    return sum;
}
