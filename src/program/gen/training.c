/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data-parallel training of a neural network, as in Li et al., "PyTorch distributed:
 * experiences on accelerating data parallel training", VLDB 2020.
 *
 * All ranks hold the same model of `layers` layers of equal size. In each step a rank
 * computes forwards through all layers, which takes a third of `compute`, and backwards,
 * which takes the rest. On the way backwards it collects gradients in buckets. As soon as a
 * layer fills a bucket, the rank starts an allreduce of the bucket; with `overlap` the
 * allreduce is nonblocking and proceeds while the rank computes. When all allreduces are
 * done, the optimizer computes for the time `optimizer`.
 */
#include "base/int128.h"
#include "program/gen/gen.h"
#include "program/gen/make.h"
#include "program/gen/vary.h"

#include <assert.h>
#include <string.h>

struct params {
    uint64_t model; /* bytes of gradients */
    uint64_t bucket;
    uint64_t layers;
    uint64_t steps;
    int64_t compute;
    int64_t optimizer;
    bool overlap;
    double imbalance;
};

enum { BUCKETS_MAX = 65536 };

enum phase { FORWARD, BACKWARD, WAIT, OPTIMIZE };

struct training {
    struct wf_source source;
    struct params given;
    uint32_t n_layers, n_buckets;
    uint32_t imbalance; /* a share */
};

/* The contents of the cursor. */
struct position {
    uint32_t step;
    uint32_t phase;
    uint32_t layer;  /* layers done in this phase */
    uint32_t bucket; /* buckets started in this step */
};

WF_GEN_IS_CURSOR(struct position);

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct params, model, SIZE, .def = "100MiB", .min = "1", .max = "1EiB",
                 .doc = "Size of the gradients of the whole model"),
    WF_PARAM_ROW(struct params, bucket, SIZE, .def = "25MiB", .min = "1",
                 .doc = "Size of the gradients that are reduced together"),
    WF_PARAM_ROW(struct params, layers, COUNT, .def = "50", .min = "1", .max = "1000000",
                 .doc = "Number of layers of the model, all of the same size"),
    WF_PARAM_ROW(struct params, steps, COUNT, .def = "3", .max = "4000000000",
                 .doc = "Number of training steps"),
    WF_PARAM_ROW(struct params, compute, TIME, .def = "100ms",
                 .doc = "Compute time of the forward and backward passes of a step"),
    WF_PARAM_ROW(struct params, optimizer, TIME, .def = "1ms",
                 .doc = "Compute time of the optimizer at the end of a step"),
    WF_PARAM_ROW(struct params, overlap, BOOL, .def = "true",
                 .doc = "Whether gradients are reduced while ranks compute"),
    WF_PARAM_ROW(
        struct params, imbalance, REAL, .def = "0", .min = "0", .max = "1",
        .doc =
            "How far the compute time of a step may differ from the average, as a share of it"),
    WF_PARAM_END,
};

static enum wf_status check(const struct params *given, struct wf_err *err)
{
    uint64_t n_buckets = (given->model - 1) / given->bucket + 1;

    if (n_buckets > BUCKETS_MAX) {
        return wf_err_set(err, WF_ELIMIT,
                          "gen:training: the model has %llu buckets, but %d are the limit; "
                          "make bucket larger",
                          (unsigned long long)n_buckets, BUCKETS_MAX);
    }
    if (given->optimizer > INT64_MAX / 2 || given->compute > INT64_MAX / 2) {
        return wf_gen_check_computing(wf_gen_training_ops.name, INT64_MAX, 2, err);
    }
    return wf_gen_check_computing(wf_gen_training_ops.name, given->compute + given->optimizer,
                                  2 * given->steps, err);
}

static enum wf_status training_create(const void *params, uint32_t n_ranks,
                                      struct wf_source **out, struct wf_err *err)
{
    const struct params *given = params;
    WF_TRY(check(given, err));
    struct training *training =
        wf_gen_new(sizeof(*training), &wf_gen_training_ops, n_ranks, out);
    training->given = *given;
    training->n_layers = (uint32_t)given->layers;
    training->n_buckets = (uint32_t)((given->model - 1) / given->bucket + 1);
    training->imbalance = wf_gen_share(given->imbalance);
    training->source.acts_in_background = given->overlap;
    return WF_OK;
}

/* The amount of `whole` before part i of n. */
static uint64_t part(uint64_t whole, uint32_t i, uint32_t n)
{
    return (uint64_t)((wf_u128)whole * i / n);
}

/* The number of buckets that are full after `layers` layers backwards. */
static uint32_t buckets_full(const struct training *training, uint32_t layers)
{
    if (layers == training->n_layers) {
        return training->n_buckets;
    }
    return (uint32_t)(part(training->given.model, layers, training->n_layers) /
                      training->given.bucket);
}

static void make_layer(const struct training *training, uint32_t rank,
                       const struct position *at, struct wf_op *op)
{
    uint64_t whole = (uint64_t)training->given.compute;

    if (training->imbalance > 0) {
        whole = wf_gen_vary(whole, training->imbalance, at->step, rank);
    }
    uint64_t phase = at->phase == FORWARD ? whole / 3 : whole - whole / 3;
    uint64_t end = part(phase, at->layer + 1, training->n_layers);
    wf_gen_make_compute(op, (int64_t)(end - part(phase, at->layer, training->n_layers)));
}

static void make_bucket(const struct training *training, uint32_t bucket, struct wf_op *op)
{
    uint64_t before = bucket * training->given.bucket;
    uint64_t rest = training->given.model - before;

    wf_gen_make_collective(op, training->given.overlap ? WF_OP_IALLREDUCE : WF_OP_ALLREDUCE,
                           rest < training->given.bucket ? rest : training->given.bucket);
    op->request = bucket;
}

/* Makes the ops of one pass through the layers; true when the phase has no more ops. */
static bool make_phase(const struct training *training, uint32_t rank, struct position *at,
                       struct wf_op *op)
{
    if (at->phase == BACKWARD && at->bucket < buckets_full(training, at->layer)) {
        make_bucket(training, at->bucket++, op);
    } else {
        make_layer(training, rank, at, op);
        at->layer++;
    }
    return at->layer == training->n_layers &&
           (at->phase == FORWARD || at->bucket == training->n_buckets);
}

static bool training_next(const struct wf_source *source, uint32_t rank,
                          struct wf_cursor *cursor, struct wf_op *op)
{
    const struct training *training = (const struct training *)source;
    struct position at;

    assert(source->ops == &wf_gen_training_ops && rank < source->n_ranks);
    memcpy(&at, cursor->word, sizeof(at));
    if (at.step == training->given.steps) {
        return false;
    }
    if (at.phase <= BACKWARD) {
        if (make_phase(training, rank, &at, op)) {
            at.layer = 0;
            at.phase++;
            at.phase += at.phase == WAIT && !training->given.overlap;
        }
    } else if (at.phase == WAIT) {
        wf_gen_make_waitall(op, training->n_buckets);
        at.phase = OPTIMIZE;
    } else {
        wf_gen_make_compute(op, training->given.optimizer);
        at = (struct position){.step = at.step + 1};
    }
    memcpy(cursor->word, &at, sizeof(at));
    return true;
}

WF_GENERATOR_OPS(
    training, "data-parallel training: gradients are reduced in buckets while ranks compute");
