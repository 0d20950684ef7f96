/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training steps of a transformer, from its shape and from how it is divided among devices, as
 * Megatron-LM does it: tensor and sequence parallelism within a layer, stages of a pipeline, data
 * parallelism with ZeRO, parts of the context, experts. A rank is a device. Ranks are numbered
 * in this order: tensor, context, data, pipeline; so the ranks of a layer are next to each
 * other. See docs/models/llm.md.
 */
#include "program/gen/llm.h"

#include "base/arith.h"
#include "base/int128.h"
#include "base/mem.h"
#include "program/gen/gen.h"
#include "program/gen/make.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Shapes of known models. */
struct model {
    const char *name;
    uint32_t layers, hidden, heads, kv_heads, head_width, ffn, vocabulary, sequence;
    uint32_t experts, top_k;
    bool gated;
};

static const struct model models[] = {
    {"custom", 24, 2048, 16, 16, 128, 8192, 51200, 2048, 1, 1, false},
    {"gpt3-175b", 96, 12288, 96, 96, 128, 49152, 51200, 2048, 1, 1, false},
    {"llama3-8b", 32, 4096, 32, 8, 128, 14336, 128256, 8192, 1, 1, true},
    {"llama3-70b", 80, 8192, 64, 8, 128, 28672, 128256, 8192, 1, 1, true},
    {"llama3-405b", 126, 16384, 128, 8, 128, 53248, 128256, 8192, 1, 1, true},
    {"mixtral-8x7b", 32, 4096, 32, 8, 128, 14336, 32000, 4096, 8, 2, true},
    {"gpt-oss-120b", 36, 2880, 64, 8, 64, 2880, 201088, 4096, 128, 4, true},
};
enum { N_MODELS = sizeof(models) / sizeof(models[0]) };

static const char *const model_names[N_MODELS + 1] = {
    "custom",      "gpt3-175b",    "llama3-8b",    "llama3-70b",
    "llama3-405b", "mixtral-8x7b", "gpt-oss-120b", NULL};
static const char *const schedule_names[] = {"gpipe", "1f1b", "interleaved", "zero_bubble",
                                             NULL};
static const char *const phase_names[] = {"training", "prefill", "decode", NULL};
static const char *const precision_names[] = {"bf16", "fp8", NULL};
static const char *const recompute_names[] = {"none", "attention", "selective",
                                              "full", "auto",      NULL};
enum { ZERO_AUTO = 4 };
static const char *const zero_names[] = {"0", "1", "2", "3", "auto", NULL};
/* After `auto` other words for no and yes, in turn. */
static const char *const choice_names[] = {"false", "true", "auto", "no", "yes",
                                           "off",   "on",   "0",    "1",  NULL};
static const char *const attention_names[] = {"flash", "unfused", "auto", NULL};

/* What frameworks do unless they are told otherwise. */
struct framework {
    const char *name;
    bool shares_sequence, overlaps, overlaps_tensor, unfused, drops, eager;
    int zero, recompute;
    uint32_t gradient_bytes;
    uint32_t tensor_hidden; /* percent; 0: all but one of `tensor` pieces */
};

static const struct framework frameworks[] = {
    [WF_GEN_LLM_NO_FRAMEWORK] = {"none", true, true, true, false, false, false, 1,
                                 WF_GEN_LLM_WHAT_FITS, 4, 100},
    [WF_GEN_LLM_MEGATRON] = {"megatron", false, false, false, true, true, false, 0,
                             WF_GEN_LLM_EVERYTHING, 2, 100},
    [WF_GEN_LLM_MEGATRON_DEEPSPEED] = {"megatron-deepspeed", false, false, false, true, true,
                                       false, 1, WF_GEN_LLM_EVERYTHING, 2, 100},
    [WF_GEN_LLM_MEGATRON_CORE] = {"megatron-core", true, true, true, false, false, false, 1,
                                  WF_GEN_LLM_WHAT_FITS, 4, 0},
    [WF_GEN_LLM_TORCHTITAN] = {"torchtitan", true, true, false, false, false, true, 3,
                               WF_GEN_LLM_SELECTIVE, 4, 40},
};
static const char *const framework_names[] = {
    "none", "megatron", "megatron-deepspeed", "megatron-core", "torchtitan", "auto", NULL};

struct llm {
    struct wf_source source;
    struct wf_gen_llm_params given; /* complete */
    struct wf_gen_llm_shape shape;
    struct wf_gen_llm_sizes sizes;
    uint32_t replicas_here; /* of sizes.replicas; fewer in a folded program */
    struct wf_gen_llm_stage *stages;
    uint64_t tflops;
    uint32_t n_counters;
    struct wf_source_memory memory; /* of a rank of the stage that needs most */
    char *kernels;                  /* the file of measured kernels, or null */
};

#define ROW(member, type, ...) WF_PARAM_ROW(struct wf_gen_llm_params, member, type, __VA_ARGS__)
#define SHAPE(member, most, text) \
    ROW(member, COUNT, .def = "0", .max = (most), .doc = text "; 0: that of the model")

static const struct wf_param params_table[] = {
    ROW(model, ENUM, .def = "custom", .choices = model_names,
        .doc = "A known model, whose shape the next parameters may change"),
    ROW(phase, ENUM, .def = "training", .choices = phase_names,
        .doc = "Training, or inference: prefill computes whole sequences forwards, decode the "
               "next token of each"),
    SHAPE(layers, "10000", "Layers"),
    SHAPE(hidden, "1000000", "Width of the activations"),
    SHAPE(heads, "100000", "Heads of the attention"),
    SHAPE(kv_heads, "100000", "Heads of keys and values"),
    ROW(head_width, COUNT, .def = "0", .max = "100000",
        .doc = "Width of a head; 0: that of the model, or hidden / heads of a custom one"),
    SHAPE(ffn, "10000000", "Width within a layer, or within an expert"),
    SHAPE(vocabulary, "10000000", "Size of the vocabulary"),
    SHAPE(sequence, "100000000", "Tokens of a sequence"),
    SHAPE(experts, "100000", "Experts of a layer; 1: none"),
    SHAPE(top_k, "1000", "Experts for each token"),
    ROW(gated, ENUM, .def = "auto", .choices = choice_names,
        .doc = "Custom models: whether a layer has three matrices besides attention, not two; "
               "auto: unless ffn is four times hidden"),
    ROW(batch, COUNT, .def = "0", .max = "100000000",
        .doc = "Sequences of a step; 0: four microbatches for each replica and stage"),
    ROW(micro, COUNT, .def = "1", .min = "1", .max = "100000",
        .doc = "Sequences of a microbatch"),
    ROW(tensor, COUNT, .def = "1", .min = "1", .max = "65536",
        .doc = "Ranks that share each layer: tensor parallelism"),
    ROW(pipeline, COUNT, .def = "1", .min = "1", .max = "10000",
        .doc = "Stages of the pipeline"),
    ROW(context, COUNT, .def = "1", .min = "1", .max = "65536",
        .doc = "Ranks that share each sequence: context parallelism"),
    ROW(expert, COUNT, .def = "1", .min = "1", .max = "65536",
        .doc = "Ranks that share the experts: expert parallelism"),
    ROW(framework, ENUM, .def = "auto", .choices = framework_names,
        .doc = "Whose kernels and defaults: what is auto is as in Megatron-LM of 2021, "
               "Megatron-DeepSpeed, Megatron-Core or torchtitan; none: a roofline for each "
               "part of a layer; auto: cpu.framework of the machine"),
    ROW(attention, ENUM, .def = "auto", .choices = attention_names,
        .doc = "Whether attention keeps its scores in memory, with a framework"),
    ROW(dropout, ENUM, .def = "auto", .choices = choice_names,
        .doc = "Whether there is dropout, with a framework"),
    ROW(compile, ENUM, .def = "auto", .choices = choice_names,
        .doc =
            "Whether norms, rotations and nonlinearities are a kernel each, with a framework; "
            "if not, each operation of theirs is one"),
    ROW(sequence_parallel, ENUM, .def = "auto", .choices = choice_names,
        .doc = "Whether ranks that share layers also share norms and residual sums"),
    ROW(schedule, ENUM, .def = "1f1b", .choices = schedule_names,
        .doc = "Order of microbatches in the pipeline"),
    ROW(chunks, COUNT, .def = "1", .min = "1", .max = "1000",
        .doc = "Chunks of layers of a stage, with schedule=interleaved"),
    ROW(zero, ENUM, .def = "auto", .choices = zero_names,
        .doc = "ZeRO: what replicas divide among them. 1: states of the optimizer, 2: also "
               "gradients, 3: also weights"),
    ROW(precision, ENUM, .def = "bf16", .choices = precision_names,
        .doc = "Numbers of products with weights"),
    ROW(recompute, ENUM, .def = "auto", .choices = recompute_names,
        .doc = "What is computed again in backward passes; selective: all but attention and "
               "every other product; auto: as the framework, or the least with which the model "
               "fits into cpu.memory"),
    ROW(overlap, ENUM, .def = "auto", .choices = choice_names,
        .doc = "Whether replicas communicate while they compute"),
    ROW(overlap_tensor, ENUM, .def = "auto", .choices = choice_names,
        .doc = "Whether ranks that share layers communicate while they compute"),
    ROW(tensor_hidden, COUNT, .def = "0", .max = "100",
        .doc = "With overlap_tensor: percent of these bytes that computing can hide; 0: as the "
               "framework, 100 without"),
    ROW(bucket, SIZE, .def = "0", .max = "1TiB",
        .doc = "Gradients that are reduced together, unless zero=3; 0: of 40 million weights, "
               "and of at least a million for each replica"),
    ROW(gradient_bytes, COUNT, .def = "0", .max = "8",
        .doc = "Bytes of a gradient when it is reduced; 0: as the framework, 4 without"),
    ROW(steps, COUNT, .def = "1", .min = "1", .max = "1000000", .doc = "Training steps"),
    ROW(attention_cost, REAL, .def = "1.4", .min = "0.1", .max = "10",
        .doc = "How much longer an operation of attention takes than one of a product with "
               "weights"),
    ROW(expert_cost, REAL, .def = "1.5", .min = "0.1", .max = "10",
        .doc = "How much longer an operation of an expert takes than one of another product: "
               "experts have few tokens, and not all the same number"),
    ROW(kernels, TEXT, .def = "",
        .doc = "Times of kernels that were measured, with a framework: a CSV file by operation "
               "and shape, or a trace of PyTorch's profiler; what it lacks is counted"),
    ROW(tflops, REAL, .def = "400", .min = "1", .max = "1000000",
        .doc = "10^12 operations per second of a rank, if the machine has no cpu.tflops16"),
    WF_PARAM_END,
};

/* ---- parameters ---- */

static void fill(uint64_t *value, uint64_t preset)
{
    *value = *value == 0 ? preset : *value;
}

static bool choose(int choice, bool otherwise)
{
    bool is_yes = choice == WF_GEN_LLM_YES || (choice > WF_GEN_LLM_AUTO && choice % 2 == 0);

    return choice == WF_GEN_LLM_AUTO ? otherwise : is_yes;
}

static void complete_framework(struct wf_gen_llm_params *p)
{
    p->framework =
        p->framework == WF_GEN_LLM_ANY_FRAMEWORK ? p->machine_framework : p->framework;
    const struct framework *framework = &frameworks[p->framework];

    p->shares_sequence = choose(p->sequence_parallel, framework->shares_sequence) &&
                         p->tensor > 1 && p->phase != WF_GEN_LLM_DECODE;
    p->overlaps = choose(p->overlap, framework->overlaps);
    p->overlaps_tensor = choose(p->overlap_tensor, framework->overlaps_tensor);
    p->drops = choose(p->dropout, framework->drops);
    p->eager = !choose(p->compile, !framework->eager);
    p->unfused = p->attention == WF_GEN_LLM_ANY_ATTENTION ? framework->unfused
                                                          : p->attention == WF_GEN_LLM_UNFUSED;
    p->zero = p->zero == ZERO_AUTO ? framework->zero : p->zero;
    p->recompute = p->recompute == WF_GEN_LLM_WHAT_FITS ? framework->recompute : p->recompute;
    fill(&p->gradient_bytes, framework->gradient_bytes);
    fill(&p->tensor_hidden, framework->tensor_hidden);
    fill(&p->tensor_hidden, 100 - 100 / p->tensor);
    if (p->phase != WF_GEN_LLM_TRAINING) { /* whose kernels are not counted */
        p->framework = WF_GEN_LLM_NO_FRAMEWORK;
        p->recompute = WF_GEN_LLM_NOTHING;
        p->unfused = p->drops = false;
    }
}

static void complete(struct wf_gen_llm_params *p)
{
    enum { HEAD_WIDTH = 128 };
    const struct model *model = &models[p->model];
    bool own = p->model == 0 && p->hidden > 0;

    fill(&p->layers, model->layers);
    fill(&p->hidden, model->hidden);
    fill(&p->heads, own ? wf_max_u64(p->hidden / HEAD_WIDTH, 1) : model->heads);
    fill(&p->kv_heads, p->model == 0 ? p->heads : model->kv_heads);
    fill(&p->head_width, p->model == 0 ? p->hidden / p->heads : model->head_width);
    fill(&p->ffn, own ? 4 * p->hidden : model->ffn);
    fill(&p->vocabulary, model->vocabulary);
    fill(&p->sequence, model->sequence);
    fill(&p->experts, model->experts);
    fill(&p->top_k, model->top_k);
    p->is_gated = p->model == 0 ? choose(p->gated, p->ffn != 4 * p->hidden) : model->gated;
    complete_framework(p);
}

static enum wf_status fail(struct wf_err *err, const char *what, uint64_t a, uint64_t b)
{
    return wf_err_set(err, WF_EUSAGE, "gen:llm: %s (%" PRIu64 " and %" PRIu64 ")", what, a, b);
}

static enum wf_status check_shape(const struct wf_gen_llm_params *p, struct wf_err *err)
{
    if (p->head_width == 0) {
        return fail(err, "hidden must not be smaller than heads", p->hidden, p->heads);
    }
    if (p->heads % p->tensor != 0 || p->ffn % p->tensor != 0) {
        return fail(err, "heads and ffn must be multiples of tensor", p->heads, p->tensor);
    }
    if (p->layers < p->pipeline * p->chunks) {
        return fail(err, "there are fewer layers than stages times chunks", p->layers,
                    p->pipeline * p->chunks);
    }
    if (p->experts % p->expert != 0) {
        return fail(err, "experts must be a multiple of expert", p->experts, p->expert);
    }
    if (p->top_k > p->experts) {
        return fail(err, "top_k must not be larger than experts", p->top_k, p->experts);
    }
    if (p->chunks > 1 && p->schedule != WF_GEN_LLM_INTERLEAVED) {
        return wf_err_set(
            err, WF_EUSAGE,
            "gen:llm: chunks needs schedule=interleaved, and more than one stage");
    }
    /* So that no product below overflows. */
    wf_u128 width = (wf_u128)p->heads * p->head_width;
    wf_u128 weights = p->hidden * (p->ffn + width + p->vocabulary);
    bool in_tiles = p->framework != WF_GEN_LLM_NO_FRAMEWORK;
    wf_u128 work = weights * p->micro * p->sequence * p->top_k * (in_tiles ? 4096 : 64);
    wf_u128 square = (wf_u128)p->micro * p->sequence * p->sequence * width * 64;
    if (work > UINT64_MAX || square > UINT64_MAX ||
        weights * p->experts * p->layers > (wf_u128)(INT64_MAX >> 6)) {
        return wf_err_set(err, WF_ELIMIT,
                          "gen:llm: a microbatch has 2^64 operations or more; make it smaller");
    }
    return WF_OK;
}

/* How the ranks and the batch are divided. */
static enum wf_status divide(struct wf_gen_llm_params *p, uint32_t n_ranks,
                             struct wf_gen_llm_sizes *out, struct wf_err *err)
{
    uint64_t model = wf_times_u64(wf_times_u64(p->tensor, p->pipeline), p->context);

    assert(model > 0 && p->expert > 0 && p->micro > 0);

    if (model > n_ranks || n_ranks % model != 0) {
        return fail(err,
                    "the number of ranks must be a multiple of tensor * pipeline * context",
                    n_ranks, model);
    }
    uint64_t data = n_ranks / model;
    if (data * p->context % p->expert != 0) {
        return fail(err, "the number of replicas must be a multiple of expert",
                    data * p->context, p->expert);
    }
    fill(&p->batch, 0);
    if (p->batch == 0) {
        p->batch = 4 * data * p->pipeline * p->micro;
    }
    if (p->batch % (data * p->micro) != 0) {
        return fail(err, "batch must be a multiple of replicas times micro", p->batch,
                    data * p->micro);
    }
    uint64_t microbatches = p->batch / (data * p->micro);
    if (p->chunks > 1 && microbatches % p->pipeline != 0) {
        return fail(
            err,
            "with interleaved chunks, the microbatches of a replica must be a multiple of "
            "the stages",
            microbatches, p->pipeline);
    }
    if (microbatches * p->chunks > 1000000) {
        return fail(err, "there are more than a million passes in a step", microbatches,
                    p->chunks);
    }
    *out = (struct wf_gen_llm_sizes){.stages = (uint32_t)p->pipeline,
                                     .replicas = (uint32_t)(data * p->context),
                                     .microbatches = (uint32_t)microbatches};
    return WF_OK;
}

static void set_bucket(struct wf_gen_llm_params *p, uint32_t replicas)
{
    enum { WEIGHTS = 40000000, PER_REPLICA = 1000000 };

    if (p->bucket == 0) {
        p->bucket = wf_max_u64(WEIGHTS, (uint64_t)PER_REPLICA * replicas) * p->gradient_bytes;
    }
}

/* ---- the source ---- */

static void llm_destroy(struct wf_source *source)
{
    struct llm *llm = (struct llm *)source;

    for (uint32_t i = 0; i < llm->sizes.stages; i++) {
        free(llm->stages[i].ops);
    }
    free(llm->stages);
    free(llm->kernels);
    free(llm);
}

static enum wf_status make_stages(struct llm *llm, struct wf_err *err)
{
    enum { ALL_OPS_MAX = 1 << 26 };
    uint64_t sum = 0;

    for (uint32_t i = 0; i < llm->sizes.stages; i++) {
        bool fits = wf_gen_llm_stage(&llm->given, &llm->shape, &llm->sizes, i, &llm->stages[i]);
        sum += llm->stages[i].n;
        if (!fits || sum > ALL_OPS_MAX) {
            return wf_err_set(err, WF_ELIMIT,
                              "gen:llm: a step has too many operations; take fewer and larger "
                              "microbatches, or larger buckets");
        }
    }
    return WF_OK;
}

static struct wf_source_memory memory_of(const struct llm *llm)
{
    struct wf_source_memory most = {.weights = 0};

    for (uint32_t i = 0; i < llm->sizes.stages; i++) {
        struct wf_source_memory memory =
            wf_gen_llm_memory(&llm->given, &llm->shape, &llm->sizes, i);
        if (wf_source_memory_sum(&memory) > wf_source_memory_sum(&most)) {
            most = memory;
        }
    }
    return most;
}

/* Finds what is needed. Recomputes as little as fits, if it may choose. */
static void find_memory(struct llm *llm)
{
    static const uint8_t least_first[] = {WF_GEN_LLM_NOTHING, WF_GEN_LLM_ATTENTION,
                                          WF_GEN_LLM_EVERYTHING};
    uint64_t has = llm->given.machine_memory;

    if (llm->given.recompute != WF_GEN_LLM_WHAT_FITS) {
        llm->memory = memory_of(llm);
        return;
    }
    for (size_t i = 0; i < sizeof(least_first); i++) {
        llm->given.recompute = least_first[i];
        llm->memory = memory_of(llm);
        if (has == 0 || wf_source_memory_sum(&llm->memory) <= has) {
            return;
        }
    }
}

/* The shape, with the times of measured kernels. */
static enum wf_status make_shape(struct llm *llm, struct wf_err *err)
{
    struct wf_gen_kernel_table table = {.n = 0};
    const char *file = llm->given.kernels;
    bool has_table = file != NULL && *file != '\0';
    enum wf_status status = WF_OK;

    if (has_table && llm->given.framework == WF_GEN_LLM_NO_FRAMEWORK) {
        status = wf_err_set(err, WF_EUSAGE,
                            "gen:llm: kernels needs the kernels of a framework: add "
                            "-p gen.framework=megatron-core or another one");
    } else if (has_table) {
        status = wf_gen_kernel_table_read(file, &table, err);
        if (status != WF_OK) {
            wf_err_prefix(err, "gen:llm: kernels: ");
        }
        llm->kernels = wf_xstrdup(file);
        llm->given.table = &table;
    }
    if (status == WF_OK) {
        llm->shape = wf_gen_llm_shape(&llm->given);
    }
    llm->given.table = NULL;
    wf_gen_kernel_table_fini(&table);
    return status;
}

static enum wf_status llm_create(const void *params, uint32_t n_ranks, struct wf_source **out,
                                 struct wf_err *err)
{
    struct wf_gen_llm_params given = *(const struct wf_gen_llm_params *)params;
    struct wf_gen_llm_sizes sizes = {.stages = 0};

    complete(&given);
    WF_TRY(check_shape(&given, err));
    WF_TRY(divide(&given, n_ranks, &sizes, err));
    set_bucket(&given, sizes.replicas);
    struct llm *llm = wf_xcalloc(1, sizeof(*llm));
    llm->source = (struct wf_source){
        .ops = &wf_gen_llm_ops, .n_ranks = n_ranks, .acts_in_background = true};
    llm->given = given;
    llm->sizes = sizes;
    llm->replicas_here = sizes.replicas;
    llm->tflops = (uint64_t)given.tflops;
    llm->n_counters = given.framework == WF_GEN_LLM_NO_FRAMEWORK ? 3 : 4;
    llm->stages = wf_xcalloc(sizes.stages, sizeof(*llm->stages));
    enum wf_status status = make_shape(llm, err);
    if (status == WF_OK) {
        find_memory(llm);
        status = make_stages(llm, err);
    }
    if (status != WF_OK) {
        llm_destroy(&llm->source);
        return status;
    }
    *out = &llm->source;
    return WF_OK;
}

/* The time on a device without a roofline. */
static int64_t own_time(const struct llm *llm, const struct wf_gen_llm_work *work)
{
    enum { BYTES_PER_PS = 2 };
    uint64_t flops = (work->flops16 + work->flops8) / llm->tflops;
    uint64_t moves = work->bytes / BYTES_PER_PS;

    return (int64_t)wf_min_u64((work->kernels > 0 ? flops + moves : wf_max_u64(flops, moves)) +
                                   work->ps,
                               INT64_MAX / 4);
}

static void make_op(const struct llm *llm, uint32_t rank, const struct wf_gen_llm_op *what,
                    struct wf_op *op)
{
    uint32_t n = llm->source.n_ranks, per_stage = n / llm->sizes.stages;
    uint32_t peer = what->stages >= 0 ? (uint32_t)(((uint64_t)rank + per_stage) % n)
                                      : (uint32_t)(((uint64_t)rank + n - per_stage) % n);

    if (what->kind == WF_OP_COMPUTE) {
        /* A machine that counts adds what was measured. */
        bool adds = llm->kernels != NULL && llm->given.machine_counts;
        wf_gen_make_compute(op, adds ? (int64_t)what->work.ps : own_time(llm, &what->work));
        op->n_counters = llm->n_counters;
        op->counters[0] = what->work.flops16;
        op->counters[1] = what->work.flops8;
        op->counters[2] = what->work.bytes;
        op->counters[3] = what->work.kernels;
    } else if (what->kind == WF_OP_WAITALL) {
        wf_gen_make_waitall(op, what->count);
        op->request = what->request;
    } else if (what->kind == WF_OP_ISEND || what->kind == WF_OP_ISSEND) {
        wf_gen_make_isend(op, peer, what->tag, what->bytes, what->request);
        op->kind = (enum wf_op_kind)what->kind;
    } else if (what->kind == WF_OP_IRECV) {
        wf_gen_make_irecv(op, peer, what->tag, what->bytes, what->request);
    } else {
        wf_gen_make_collective(op, (enum wf_op_kind)what->kind, what->bytes);
        op->comm = what->comm;
        op->request = what->request;
    }
}

static bool llm_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                     struct wf_op *op)
{
    const struct llm *llm = (const struct llm *)source;
    uint32_t per_stage = source->n_ranks / llm->sizes.stages;
    const struct wf_gen_llm_stage *stage = &llm->stages[rank / per_stage];

    assert(source->ops == &wf_gen_llm_ops && rank < source->n_ranks);
    if (cursor->word[0] == llm->given.steps || stage->n == 0) {
        return false;
    }
    make_op(llm, rank, &stage->ops[cursor->word[1]], op);
    if (++cursor->word[1] == stage->n) {
        cursor->word[1] = 0;
        cursor->word[0]++;
    }
    return true;
}

/* A group of ranks of replicas, `every` replicas apart, from the rank `first` on. */
static bool make_group(const struct llm *llm, struct wf_group *out, uint32_t comm,
                       uint32_t replica, uint32_t first, uint32_t every)
{
    uint32_t tensor = (uint32_t)llm->given.tensor;

    (void)wf_gen_make_group(out, comm, llm->sizes.replicas / every, replica / every, first,
                            tensor * every);
    out->width = llm->replicas_here / every;
    return true;
}

static bool llm_group(const struct wf_source *source, uint32_t rank, uint32_t comm,
                      struct wf_group *out)
{
    const struct llm *llm = (const struct llm *)source;
    uint32_t tensor = (uint32_t)llm->given.tensor, context = (uint32_t)llm->given.context;
    uint32_t expert = (uint32_t)llm->given.expert;
    uint32_t replica = rank / tensor % llm->replicas_here; /* context first */
    uint32_t first = rank - replica * tensor; /* the same place in the first replica */

    switch (comm) {
    case WF_COMM_WORLD:
        return wf_gen_make_group(out, comm, source->n_ranks, rank, 0, 1);
    case WF_GEN_LLM_TENSOR:
        return wf_gen_make_group(out, comm, tensor, rank % tensor, rank - rank % tensor, 1);
    case WF_GEN_LLM_DATA:
        return make_group(llm, out, comm, replica, first, 1);
    case WF_GEN_LLM_CONTEXT:
        return wf_gen_make_group(out, comm, context, replica % context,
                                 first + replica / context * context * tensor, tensor);
    case WF_GEN_LLM_EXPERT:
        return wf_gen_make_group(out, comm, expert, replica % expert,
                                 first + replica / expert * expert * tensor, tensor);
    case WF_GEN_LLM_EXPERT_DATA:
        return make_group(llm, out, comm, replica, first + replica % expert * tensor, expert);
    default:
        return false;
    }
}

static uint64_t common_multiple(uint64_t a, uint64_t b)
{
    uint64_t x = a, y = b;

    while (y != 0) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x > 0 ? a / x * b : 0;
}

/* Replicas do the same, and rings of collectives lead from one to the next. Ranks that share a sequence
 * or experts stay together. */
static bool llm_fold(struct wf_source *source, uint32_t node, bool exactly, struct wf_fold *out)
{
    struct llm *llm = (struct llm *)source;
    const struct wf_gen_llm_params *p = &llm->given;
    uint64_t stage = source->n_ranks / llm->sizes.stages;
    uint64_t shared = p->tensor * common_multiple(p->context, p->expert);
    uint64_t kept = common_multiple(2 * shared, 2 * (uint64_t)node);

    if (kept == 0 || stage % kept != 0 || stage == kept || (exactly && node % shared != 0)) {
        return false;
    }
    llm->replicas_here = (uint32_t)(kept / p->tensor);
    source->n_ranks = (uint32_t)kept * llm->sizes.stages;
    *out = (struct wf_fold){(uint32_t)kept, (uint32_t)(stage / kept)};
    return true;
}

static const char *llm_name(const struct wf_source *source, enum wf_source_name kind,
                            uint32_t number)
{
    /* As the roofline of processors knows them (model/ranks/cpu/cpu.h). */
    static const char *const counters[] = {"flops16", "flops8", "memory_bytes", "kernels"};
    const struct llm *llm = (const struct llm *)source;

    if (kind == WF_NAME_COUNTER && number == 3 && llm->kernels != NULL) {
        return "other_kernels";
    }
    return kind == WF_NAME_COUNTER && number < llm->n_counters ? counters[number] : NULL;
}

/* What is auto depends on the machine. */
static void llm_adapt(void *params, const struct wf_source_machine *machine)
{
    struct wf_gen_llm_params *p = params;

    p->machine_memory = machine->memory;
    p->machine_counts = machine->counts;
    for (int i = 0; i < WF_GEN_LLM_ANY_FRAMEWORK; i++) {
        if (strcmp(machine->framework, framework_names[i]) == 0) {
            p->machine_framework = i;
        }
    }
}

static bool llm_work(const struct wf_source *source, struct wf_source_work *out)
{
    const struct llm *llm = (const struct llm *)source;
    const double *found = llm->shape.found.of;
    double all = found[WF_GEN_KERNEL_MEASURED] + found[WF_GEN_KERNEL_SCALED] +
                 found[WF_GEN_KERNEL_MISSING];

    *out = (struct wf_source_work){
        .repeats = llm->given.steps,
        .tokens = wf_times_u64(llm->given.batch, wf_gen_llm_new_tokens(&llm->given)),
        .flops_per_token = llm->shape.flops_per_token,
        .is_8bit = llm->given.precision == WF_GEN_LLM_FP8,
        .framework = framework_names[llm->given.framework],
        .recompute = recompute_names[llm->given.recompute],
        .memory = llm->memory,
        .kernels = llm->kernels,
        .kernels_measured = all > 0 ? found[WF_GEN_KERNEL_MEASURED] / all : 0,
        .kernels_scaled = all > 0 ? found[WF_GEN_KERNEL_SCALED] / all : 0,
    };
    return true;
}

const struct wf_source_ops wf_gen_llm_ops = {
    .name = "llm",
    .summary = "training of a transformer with tensor, pipeline, data and expert parallelism",
    .params = params_table,
    .params_size = sizeof(struct wf_gen_llm_params),
    .adapt = llm_adapt,
    .create = llm_create,
    .destroy = llm_destroy,
    .next = llm_next,
    .group = llm_group,
    .name_of = llm_name,
    .work = llm_work,
    .fold = llm_fold,
};
