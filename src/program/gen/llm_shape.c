/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of a transformer, per microbatch and rank. A product of matrices of a x b and b x c
 * takes 2 a b c operations; attention is causal, so half of its products count. Backward passes
 * take twice the operations of products. What moves data only are norms, rotations, residual
 * sums and the nonlinearity; numbers have 2 bytes in memory. See docs/models/llm.md.
 */
#include "program/gen/llm.h"

#include <assert.h>

enum { NUMBER = 2 }; /* bytes of an activation or weight */

static uint64_t div_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static struct wf_gen_llm_work product(const struct wf_gen_llm_params *p, uint64_t flops,
                                      uint64_t bytes)
{
    bool is_8bit = p->precision == WF_GEN_LLM_FP8;

    return (struct wf_gen_llm_work){
        .flops16 = is_8bit ? 0 : flops, .flops8 = is_8bit ? flops : 0, .bytes = bytes};
}

static uint64_t kv_width(const struct wf_gen_llm_params *p)
{
    return p->head_width * p->kv_heads;
}

/* Attention is computed with 16 bits, at a lower rate than products of matrices. */
static void set_core(const struct wf_gen_llm_params *p, struct wf_gen_llm_shape *out)
{
    uint64_t flops = 2 * out->tokens * p->sequence / p->tensor * p->heads * p->head_width;

    out->core =
        (struct wf_gen_llm_work){.flops16 = (uint64_t)((double)flops * p->attention_cost)};
    if (p->phase == WF_GEN_LLM_DECODE) {
        /* Not half, but all of the sequence; its keys and values are read. */
        out->core.flops16 *= 2;
        out->core.bytes =
            NUMBER * p->micro * p->sequence * 2 * kv_width(p) / p->tensor / p->context;
    }
    out->core_backward_percent = 250;
}

static void set_layers(const struct wf_gen_llm_params *p, struct wf_gen_llm_shape *out)
{
    uint64_t t = out->tokens, h = p->hidden, kv = kv_width(p), q = p->heads * p->head_width;
    uint64_t shared = p->shares_sequence ? p->tensor : 1; /* who shares norms and sums */
    uint64_t matrices = p->is_gated ? 3 : 2;
    uint64_t weights = 2 * h * q + 2 * h * kv, ffn = matrices * h * p->ffn;
    uint64_t active = p->experts > 1 ? p->top_k : 1;
    uint64_t per_rank = p->experts > 1 ? p->experts / p->expert : 1;

    out->attention =
        product(p, 2 * t * weights / p->tensor,
                NUMBER * (weights / p->tensor + t * (2 * h + 2 * q + 2 * kv) / p->tensor));
    /* A norm (read, write), a rotation (read, write), a residual sum (two reads, a write). */
    out->attention_moves.bytes =
        NUMBER * t * (2 * h / shared + 2 * (q + kv) / p->tensor + 3 * h / shared);
    out->ffn =
        product(p, 2 * t * ffn * active / p->tensor,
                NUMBER * (ffn * per_rank / p->tensor + t * active * 2 * p->ffn / p->tensor));
    if (p->experts > 1) {
        out->ffn.flops16 = (uint64_t)((double)out->ffn.flops16 * p->expert_cost);
        out->ffn.flops8 = (uint64_t)((double)out->ffn.flops8 * p->expert_cost);
    }
    /* A norm, a residual sum, the nonlinearity and, with experts, sorting tokens twice. */
    out->ffn_moves.bytes = NUMBER * t *
                           (5 * h / shared + active * matrices * p->ffn / p->tensor +
                            (p->experts > 1 ? 4 * active * h / shared : 0));
    if (p->precision == WF_GEN_LLM_FP8) {
        /* Conversion: reads 2 bytes, writes 1 and its transpose. */
        out->attention_moves.bytes += 4 * t * 2 * h / p->tensor;
        out->ffn_moves.bytes += 4 * t * active * (h + p->ffn) / p->tensor;
    }
    out->layer_params = weights / p->tensor + 2 * h;
    out->expert_params = 0;
    if (p->experts > 1) {
        out->expert_params = ffn * per_rank / p->tensor;
    } else {
        out->layer_params += ffn / p->tensor;
    }
    set_core(p, out);
    out->flops_per_token = 3 * p->layers *
                           (2 * weights + 2 * ffn * active + 2 * p->sequence * q +
                            (p->experts > 1 ? 2 * h * p->experts : 0));
}

uint32_t wf_gen_llm_layers(const struct wf_gen_llm_params *p, uint32_t stage, uint32_t chunk)
{
    uint64_t parts = p->pipeline * p->chunks, part = chunk * p->pipeline + stage;

    assert(parts > 0);
    return (uint32_t)(p->layers * (part + 1) / parts - p->layers * part / parts);
}

struct wf_gen_llm_shape wf_gen_llm_shape(const struct wf_gen_llm_params *p)
{
    struct wf_gen_llm_shape out = {.tokens =
                                       div_up(p->micro * wf_gen_llm_new_tokens(p), p->context)};
    uint64_t t = out.tokens, h = p->hidden;

    set_layers(p, &out);
    /* The last layer is computed with 16 bits. Its result is read and written for the softmax,
     * with 4 bytes. */
    out.head.flops16 = 2 * t * h * p->vocabulary / p->tensor;
    out.head.bytes = NUMBER * (h * p->vocabulary / p->tensor);
    out.head_moves.bytes = UINT64_C(16) * t * p->vocabulary / p->tensor;
    out.head_params = h * p->vocabulary / p->tensor;
    out.activation = NUMBER * t * h;
    out.context_bytes = NUMBER * t * 2 * kv_width(p) / p->tensor;
    out.routed = NUMBER * t * p->top_k * h / (p->shares_sequence ? p->tensor : 1);
    out.flops_per_token += 6 * h * p->vocabulary;
    if (p->phase != WF_GEN_LLM_TRAINING) {
        out.flops_per_token /= 3;
    }
    if (p->framework != WF_GEN_LLM_NO_FRAMEWORK) {
        wf_gen_llm_kernels(p, &out);
    }
    return out;
}
