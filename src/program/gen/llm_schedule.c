/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which a stage of a pipeline works on microbatches.
 *
 *   gpipe         all forward passes, then all backward passes (Huang and others, 2019)
 *   1f1b          a backward pass as soon as there is one (Narayanan and others, 2019)
 *   interleaved   the same with several chunks of layers on each stage (Narayanan and others,
 *                 "Efficient large-scale language model training on GPU clusters", 2021)
 *   zero_bubble   gradients of weights are computed apart, where a stage would wait otherwise
 *                 (Qi and others, "Zero bubble pipeline parallelism", 2024; schedule H1)
 */
#include "base/mem.h"
#include "program/gen/llm.h"

/* The k-th pass of a kind. With chunks, groups of as many microbatches as there are stages go
 * through one chunk after the other; backwards through the last chunk first. */
static struct wf_gen_llm_item pass_at(const struct wf_gen_llm_params *p, uint32_t k,
                                      enum wf_gen_llm_pass pass)
{
    uint32_t stages = (uint32_t)p->pipeline, chunks = (uint32_t)p->chunks;
    uint32_t group = stages * chunks, chunk = k % group / stages;

    if (chunks == 1) {
        return (struct wf_gen_llm_item){.pass = (uint8_t)pass, .microbatch = k};
    }
    chunk = pass == WF_GEN_LLM_FORWARD ? chunk : chunks - 1 - chunk;
    return (struct wf_gen_llm_item){.pass = (uint8_t)pass,
                                    .chunk = (uint16_t)chunk,
                                    .microbatch = k / group * stages + k % stages};
}

/* Forward passes before the first backward pass. */
static uint32_t n_warmup(const struct wf_gen_llm_params *p, uint32_t stage, uint32_t total)
{
    uint32_t stages = (uint32_t)p->pipeline, chunks = (uint32_t)p->chunks;
    uint32_t n = stages - 1 - stage;

    if (p->schedule == WF_GEN_LLM_GPIPE) {
        return total;
    }
    if (chunks > 1) {
        n = 2 * n + (chunks - 1) * stages;
    }
    return n < total ? n : total;
}

static void add(struct wf_gen_llm_plan *plan, const struct wf_gen_llm_params *p, uint32_t k,
                enum wf_gen_llm_pass pass)
{
    plan->items[plan->n++] = pass_at(p, k, pass);
}

struct wf_gen_llm_plan wf_gen_llm_schedule(const struct wf_gen_llm_params *p, uint32_t stage,
                                           uint32_t microbatches)
{
    uint32_t total = microbatches * (uint32_t)p->chunks;
    bool apart = p->schedule == WF_GEN_LLM_ZERO_BUBBLE;
    uint32_t warmup = n_warmup(p, stage, total), weights = 0;
    /* Later stages put more gradients of weights off: their backward passes are what the stages
     * before them wait for. */
    uint32_t behind = apart ? stage : 0;
    struct wf_gen_llm_plan plan = {
        .items = wf_xcalloc((size_t)total * (apart ? 3 : 2) + 1, sizeof(*plan.items))};

    if (p->phase != WF_GEN_LLM_TRAINING) {
        warmup = total;
    }
    for (uint32_t k = 0; k < warmup; k++) {
        add(&plan, p, k, WF_GEN_LLM_FORWARD);
    }
    if (p->phase != WF_GEN_LLM_TRAINING) {
        return plan;
    }
    for (uint32_t k = 0; k < total; k++) {
        if (warmup + k < total) {
            add(&plan, p, warmup + k, WF_GEN_LLM_FORWARD);
        }
        add(&plan, p, k, WF_GEN_LLM_BACKWARD);
        if (apart && k >= behind) {
            add(&plan, p, weights++, WF_GEN_LLM_WEIGHTS);
        }
    }
    while (apart && weights < total) {
        add(&plan, p, weights++, WF_GEN_LLM_WEIGHTS);
    }
    return plan;
}
