/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The parts of gen:llm, a training step of a transformer: the work of its layers (llm_shape.c),
 * the order of microbatches in a pipeline (llm_schedule.c), and the ops of a stage
 * (llm_stage.c), and the memory that they need (llm_memory.c). llm_kernels.c counts the work of
 * a framework kernel by kernel. All ranks of a stage execute the same ops, so a stage has one list of them.
 * Private to gen/.
 */

#include "program/gen/kernel_table.h"
#include "program/ops/source.h"

/* ---- parameters ---- */

struct wf_gen_llm_params {
    int model;
    int phase; /* enum wf_gen_llm_phase */
    uint64_t layers, hidden, heads, kv_heads, head_width, ffn, vocabulary, sequence;
    uint64_t experts, top_k;
    int gated; /* enum wf_gen_llm_choice */
    uint64_t batch, micro;
    uint64_t tensor, pipeline, context, expert;
    int sequence_parallel, overlap, overlap_tensor; /* enum wf_gen_llm_choice */
    int schedule;                                   /* enum wf_gen_llm_schedule */
    uint64_t chunks;
    int zero;
    int precision;        /* enum wf_gen_llm_precision */
    int recompute;        /* enum wf_gen_llm_recompute */
    int framework;        /* enum wf_gen_llm_framework */
    int attention;        /* enum wf_gen_llm_attention */
    int dropout, compile; /* enum wf_gen_llm_choice */
    uint64_t bucket, gradient_bytes, tensor_hidden;
    uint64_t steps;
    double attention_cost, expert_cost, tflops;
    char *kernels;                           /* a file of measured kernels, or empty */
    const struct wf_gen_kernel_table *table; /* null: none */
    /* Of the machine (wf_source_ops.adapt): the framework that auto means, bytes of a device. */
    int machine_framework;
    bool machine_counts; /* it knows how long counted work takes */
    uint64_t machine_memory;
    /* What the choices come to: of the user, or else of the framework. */
    bool shares_sequence, overlaps, overlaps_tensor, unfused, drops, is_gated, eager;
};

enum wf_gen_llm_schedule {
    WF_GEN_LLM_GPIPE,
    WF_GEN_LLM_1F1B,
    WF_GEN_LLM_INTERLEAVED,
    WF_GEN_LLM_ZERO_BUBBLE
};
enum wf_gen_llm_choice { WF_GEN_LLM_NO, WF_GEN_LLM_YES, WF_GEN_LLM_AUTO };
enum wf_gen_llm_attention { WF_GEN_LLM_FLASH, WF_GEN_LLM_UNFUSED, WF_GEN_LLM_ANY_ATTENTION };
enum wf_gen_llm_framework {
    WF_GEN_LLM_NO_FRAMEWORK,
    WF_GEN_LLM_MEGATRON,
    WF_GEN_LLM_MEGATRON_DEEPSPEED,
    WF_GEN_LLM_MEGATRON_CORE,
    WF_GEN_LLM_TORCHTITAN,
    WF_GEN_LLM_ANY_FRAMEWORK
};
enum wf_gen_llm_phase { WF_GEN_LLM_TRAINING, WF_GEN_LLM_PREFILL, WF_GEN_LLM_DECODE };
enum wf_gen_llm_precision { WF_GEN_LLM_BF16, WF_GEN_LLM_FP8 };
enum wf_gen_llm_recompute {
    WF_GEN_LLM_NOTHING,
    WF_GEN_LLM_ATTENTION,
    WF_GEN_LLM_SELECTIVE, /* every other product, and what only moves data */
    WF_GEN_LLM_EVERYTHING,
    WF_GEN_LLM_WHAT_FITS
};

/* ---- work ---- */

/* Operations and memory accesses of one rank. With kernels, operations and accesses are those
 * of different kernels, one after another; without, they overlap (model/ranks/cpu/cpu.h). */
struct wf_gen_llm_work {
    uint64_t flops16, flops8, bytes, kernels;
    uint64_t ps; /* of kernels that were measured, which count as launched only */
};

/* Operations of a microbatch in a layer and the last layer, by what their time comes from. */
struct wf_gen_llm_found {
    double of[WF_GEN_KERNEL_MISSING + 1]; /* enum wf_gen_kernel_found */
};

/* Parts of a model between collectives. */
enum wf_gen_llm_part {
    WF_GEN_LLM_OF_ATTENTION,
    WF_GEN_LLM_OF_CORE, /* of the attention: the part without weights, forwards */
    WF_GEN_LLM_OF_FFN,
    WF_GEN_LLM_OF_HEAD,
    WF_GEN_LLM_OF_EMBEDDING,
    WF_GEN_LLM_PARTS
};

/* A model cut into pieces for a rank. Bytes of data are those that a rank sends or keeps. */
struct wf_gen_llm_shape {
    uint64_t tokens; /* of a microbatch on a rank */
    /* Forward: products of matrices and attention, and what only moves data. */
    struct wf_gen_llm_work attention, attention_moves, ffn, ffn_moves, head, head_moves;
    struct wf_gen_llm_work core;    /* of the attention: the part without weights */
    uint64_t core_backward_percent; /* of the forward part */
    /* With a framework, instead: the kernels of a part, forwards and backwards. */
    struct wf_gen_llm_work forward[WF_GEN_LLM_PARTS], backward[WF_GEN_LLM_PARTS];
    struct wf_gen_llm_found found; /* with a table of kernels */
    uint64_t activation;           /* bytes of the activations of a microbatch, whole */
    uint64_t context_bytes;        /* keys and values of a rank */
    uint64_t routed;               /* bytes that a rank sends to experts */
    uint64_t layer_params;         /* weights of a layer, without experts, on a rank */
    uint64_t expert_params;        /* weights of the experts of a layer on a rank */
    uint64_t head_params;          /* of the embedding, and of the last layer */
    uint64_t flops_per_token;
};

/* The tokens of a sequence that a step computes: of a decode step one, else all. */
static inline uint64_t wf_gen_llm_new_tokens(const struct wf_gen_llm_params *p)
{
    return p->phase == WF_GEN_LLM_DECODE ? 1 : p->sequence;
}

struct wf_gen_llm_shape wf_gen_llm_shape(const struct wf_gen_llm_params *p);

/* Sets the kernels of a framework; the other members of the shape are set. */
void wf_gen_llm_kernels(const struct wf_gen_llm_params *p, struct wf_gen_llm_shape *shape);

/* The layers of a chunk of a stage. */
uint32_t wf_gen_llm_layers(const struct wf_gen_llm_params *p, uint32_t stage, uint32_t chunk);

/* ---- schedule ---- */

enum wf_gen_llm_pass { WF_GEN_LLM_FORWARD, WF_GEN_LLM_BACKWARD, WF_GEN_LLM_WEIGHTS };

/* An item of a stage's schedule: a pass of a microbatch through a chunk of its layers. */
struct wf_gen_llm_item {
    uint8_t pass; /* enum wf_gen_llm_pass */
    uint16_t chunk;
    uint32_t microbatch;
};

struct wf_gen_llm_plan {
    struct wf_gen_llm_item *items;
    uint32_t n;
};

/* The schedule of a stage; the caller frees the items. With zero bubbles, backward passes have
 * two items: the second computes the gradients of weights. */
struct wf_gen_llm_plan wf_gen_llm_schedule(const struct wf_gen_llm_params *p, uint32_t stage,
                                           uint32_t microbatches);

/* ---- ops of a stage ---- */

/* An op as all ranks of the stage execute it. */
struct wf_gen_llm_op {
    uint8_t kind; /* enum wf_op_kind */
    uint8_t comm;
    uint16_t count; /* waits: requests */
    uint32_t request;
    int32_t stages; /* messages: how many stages further the peer is */
    int32_t tag;
    uint64_t bytes;
    struct wf_gen_llm_work work;
};

struct wf_gen_llm_stage {
    struct wf_gen_llm_op *ops;
    uint32_t n, size;
};

/* Communicators besides that of all ranks. */
enum {
    WF_GEN_LLM_TENSOR = 1,
    WF_GEN_LLM_DATA, /* ranks with the same weights, without experts */
    WF_GEN_LLM_CONTEXT,
    WF_GEN_LLM_EXPERT,      /* ranks that exchange tokens */
    WF_GEN_LLM_EXPERT_DATA, /* ranks with the same experts */
};

struct wf_gen_llm_sizes {
    uint32_t stages, replicas; /* replicas: ranks of WF_GEN_LLM_DATA */
    uint32_t microbatches;
};

/* The ops of one step of a stage; the caller frees them. False if there are too many. */
bool wf_gen_llm_stage(const struct wf_gen_llm_params *p, const struct wf_gen_llm_shape *shape,
                      const struct wf_gen_llm_sizes *sizes, uint32_t stage,
                      struct wf_gen_llm_stage *out);

/* ---- memory ---- */

/* What a rank of a stage needs at most. */
struct wf_source_memory wf_gen_llm_memory(const struct wf_gen_llm_params *p,
                                          const struct wf_gen_llm_shape *shape,
                                          const struct wf_gen_llm_sizes *sizes, uint32_t stage);
