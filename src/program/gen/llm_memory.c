/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that a rank of a stage needs: weights, gradients, states of the optimizer (those
 * that replicas divide among them by ZeRO only in part), what forward passes keep for backward
 * passes, and keys and values of sequences in inference. See docs/models/llm.md.
 */
#include "program/gen/llm.h"

#include "base/arith.h"

#include <stdlib.h>

enum {
    NUMBER = 2,          /* bytes of an activation or weight */
    OPTIMIZER_STATE = 12 /* a copy of a weight and two moments, with 4 bytes each */
};

static uint64_t share(uint64_t bytes, uint64_t owners, bool is_divided)
{
    return is_divided ? bytes / wf_max_u64(owners, 1) : bytes;
}

/* Of weights that `owners` replicas have. */
static void add_weights(const struct wf_gen_llm_params *p, uint64_t params, uint64_t owners,
                        struct wf_source_memory *out)
{
    out->weights += share(NUMBER * params, owners, p->zero >= 3);
    if (p->phase == WF_GEN_LLM_TRAINING) {
        out->gradients += share(p->gradient_bytes * params, owners, p->zero >= 2);
        out->optimizer += share(OPTIMIZER_STATE * params, owners, p->zero >= 1);
    }
}

/* What a layer keeps of a token: the inputs of its norms, of its products (with 8 bits where
 * these are) and of its nonlinearity, queries, keys and values, masks of dropout and, unless
 * kernels keep them to themselves, scores of the attention before and after dropout. */
static uint64_t kept_by_layer(const struct wf_gen_llm_params *p)
{
    uint64_t shared = p->shares_sequence ? p->tensor : 1;
    uint64_t input = p->precision == WF_GEN_LLM_FP8 ? 1 : NUMBER;
    uint64_t active = p->experts > 1 ? p->top_k : 1;
    uint64_t q = p->heads * p->head_width / p->tensor;
    uint64_t kv = p->kv_heads * p->head_width / p->tensor;
    uint64_t ffn = p->ffn / p->tensor * active, h = p->hidden / shared;

    uint64_t scores = p->recompute == WF_GEN_LLM_ATTENTION || !p->unfused
                          ? 0
                          : p->heads / p->tensor * p->sequence * (p->drops ? 5 : 2);
    uint64_t masks = p->drops ? 2 * h : 0;
    uint64_t inner = ffn * (p->is_gated ? 2 : 1);

    if (p->recompute == WF_GEN_LLM_SELECTIVE) { /* half of the results of products */
        return NUMBER * (h + q) + NUMBER * (q + 2 * kv + h + inner + h * active) / 2;
    }
    return scores + masks + NUMBER * h + input * h + NUMBER * (q + 2 * kv) +
           (p->recompute == WF_GEN_LLM_ATTENTION ? 0 : NUMBER * q) + NUMBER * h +
           input * h * active + NUMBER * inner + input * ffn;
}

/* The most layers that have begun a microbatch forwards and not ended it backwards. */
static uint64_t most_begun(const struct wf_gen_llm_params *p, uint32_t stage,
                           uint32_t microbatches)
{
    struct wf_gen_llm_plan plan = wf_gen_llm_schedule(p, stage, microbatches);
    enum wf_gen_llm_pass end =
        p->schedule == WF_GEN_LLM_ZERO_BUBBLE ? WF_GEN_LLM_WEIGHTS : WF_GEN_LLM_BACKWARD;
    uint64_t now = 0, most = 0;

    for (uint32_t i = 0; i < plan.n; i++) {
        uint64_t layers = wf_gen_llm_layers(p, stage, plan.items[i].chunk);
        if (plan.items[i].pass == WF_GEN_LLM_FORWARD) {
            now += layers;
            most = wf_max_u64(most, now);
        } else if (plan.items[i].pass == end) {
            now -= wf_min_u64(layers, now);
        }
    }
    free(plan.items);
    return most;
}

static uint64_t activations(const struct wf_gen_llm_params *p,
                            const struct wf_gen_llm_shape *shape, uint32_t stage,
                            uint32_t microbatches)
{
    enum { LOGIT = 6 }; /* bytes: with 4 for the softmax, with 2 before */
    uint64_t t = shape->tokens, layer = t * kept_by_layer(p);
    uint64_t head = stage + 1 == p->pipeline ? LOGIT * t * p->vocabulary / p->tensor : 0;
    uint64_t input = NUMBER * t * p->hidden / (p->shares_sequence ? p->tensor : 1);

    if (p->phase != WF_GEN_LLM_TRAINING) {
        return layer + head;
    }
    uint64_t begun = most_begun(p, stage, microbatches);
    /* Recomputed layers keep their inputs only, but for the one that is computed again. */
    return head + (p->recompute == WF_GEN_LLM_EVERYTHING ? wf_times_u64(begun, input) + layer
                                                         : wf_times_u64(begun, layer));
}

struct wf_source_memory wf_gen_llm_memory(const struct wf_gen_llm_params *p,
                                          const struct wf_gen_llm_shape *shape,
                                          const struct wf_gen_llm_sizes *sizes, uint32_t stage)
{
    struct wf_source_memory out = {.weights = 0};
    uint64_t layers = 0, ends = (stage == 0 ? 1U : 0U) + (stage + 1 == sizes->stages ? 1U : 0U);

    for (uint32_t c = 0; c < p->chunks; c++) {
        layers += wf_gen_llm_layers(p, stage, c);
    }
    add_weights(p, layers * shape->layer_params + ends * shape->head_params, sizes->replicas,
                &out);
    add_weights(p, layers * shape->expert_params, sizes->replicas / p->expert, &out);
    if (p->zero >= 3) { /* a layer as a whole, and the next one */
        out.weights += 2 * (shape->layer_params + shape->expert_params) * NUMBER;
    }
    if (p->phase != WF_GEN_LLM_TRAINING) {
        uint64_t token = p->kv_heads * p->head_width * 2 * NUMBER / p->tensor;
        out.cache = wf_times_u64(layers * sizes->microbatches * p->micro,
                                 token * p->sequence / p->context);
    }
    out.activations = activations(p, shape, stage, sizes->microbatches);
    return out;
}
