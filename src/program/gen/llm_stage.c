/* SPDX-License-Identifier: Apache-2.0 */
/* The ops of a stage in one training step. */
#include "base/arith.h"
#include "base/mem.h"
#include "program/gen/llm.h"

#include <assert.h>
#include <stdlib.h>

enum {
    OPS_MAX = 1 << 24,
    PIECES = 48,          /* of the weights of a chunk, at most */
    BUCKETS = 64,         /* of gradients, and of those of experts, at most */
    NUMBER = 2,           /* bytes of an activation or weight */
    OPTIMIZER_BYTES = 30, /* read and written for a weight: gradient, three numbers of 4 bytes
                             twice, and the weight */
    UNSCALED_BYTES = 6,   /* and, in frameworks, a gradient of 4 bytes made of one of 2 */
    /* Numbers of requests. */
    RECEIVES = 0, /* two */
    SENDS = 2,    /* N_SENDS */
    N_SENDS = 8,
    TENSORS = SENDS + N_SENDS,        /* three */
    CONTEXTS = TENSORS + 3,           /* one */
    WEIGHTS = CONTEXTS + 1,           /* two layers in turn, or pieces of two chunks */
    GRADIENTS = WEIGHTS + 2 * PIECES, /* one for each bucket */
};

struct builder {
    const struct wf_gen_llm_params *p;
    const struct wf_gen_llm_shape *shape;
    const struct wf_gen_llm_sizes *sizes;
    uint32_t stage, n_layers; /* layers of the stage, in all chunks */
    uint64_t n_params;        /* weights of the stage, without experts */
    struct wf_gen_llm_stage *out;
    uint32_t n_sends;
    uint64_t pending, pending_experts; /* bytes of gradients that wait for a bucket */
    uint32_t n_gradients;              /* requests of buckets */
    /* Weights: chunks that have all, and pieces of the next one that were waited for. */
    uint32_t n_ready, n_gathered;
};

/* ---- ops ---- */

static struct wf_gen_llm_op *push(struct builder *b, enum wf_op_kind kind)
{
    struct wf_gen_llm_stage *out = b->out;

    if (out->n == out->size) {
        out->size = out->size == 0 ? 1024 : 2 * out->size;
        out->ops = wf_xrealloc(out->ops, out->size, sizeof(*out->ops));
    }
    struct wf_gen_llm_op *op = &out->ops[out->n++];
    *op = (struct wf_gen_llm_op){.kind = (uint8_t)kind};
    return op;
}

static void compute(struct builder *b, struct wf_gen_llm_work work)
{
    if (work.flops16 + work.flops8 + work.bytes + work.kernels + work.ps > 0) {
        push(b, WF_OP_COMPUTE)->work = work;
    }
}

static void wait(struct builder *b, uint32_t first, uint32_t count)
{
    struct wf_gen_llm_op *op = push(b, WF_OP_WAITALL);

    op->request = first;
    op->count = (uint16_t)count;
}

static void collective(struct builder *b, enum wf_op_kind kind, uint32_t comm, uint64_t bytes,
                       uint32_t request)
{
    struct wf_gen_llm_op *op = push(b, kind);

    op->comm = (uint8_t)comm;
    op->bytes = bytes;
    op->request = request;
}

static struct wf_gen_llm_work plus(struct wf_gen_llm_work a, struct wf_gen_llm_work b)
{
    return (struct wf_gen_llm_work){a.flops16 + b.flops16, a.flops8 + b.flops8,
                                    a.bytes + b.bytes, a.kernels + b.kernels, a.ps + b.ps};
}

static struct wf_gen_llm_work percent(struct wf_gen_llm_work a, uint64_t n)
{
    return (struct wf_gen_llm_work){a.flops16 / 100 * n, a.flops8 / 100 * n, a.bytes / 100 * n,
                                    a.kernels * n / 100, a.ps / 100 * n};
}

static struct wf_gen_llm_work twice(struct wf_gen_llm_work a)
{
    return plus(a, a);
}

static uint64_t div_up(uint64_t a, uint64_t b)
{
    assert(b > 0);
    return a / b + (a % b != 0);
}

/* ---- tensor parallelism ---- */

/* A block of work between the collectives of tensor parallelism: with sequence parallelism
 * `gathers` allgathers before it and a reduce-scatter after it, else an allreduce after it. If
 * they overlap, products of matrices hide them piece by piece, or a share of them. */
static void block(struct builder *b, struct wf_gen_llm_work moves, struct wf_gen_llm_work work,
                  uint32_t gathers, bool scatters)
{
    const struct wf_gen_llm_params *p = b->p;
    uint64_t part = div_up(b->shape->activation, p->tensor);
    uint64_t hidden = p->overlaps_tensor ? part * p->tensor_hidden / 100 : 0;

    compute(b, moves);
    if (p->tensor == 1) {
        compute(b, work);
        return;
    }
    if (!p->shares_sequence) {
        compute(b, work);
        if (scatters) {
            collective(b, WF_OP_ALLREDUCE, WF_GEN_LLM_TENSOR, b->shape->activation, 0);
        }
        return;
    }
    uint32_t n = gathers + (scatters ? 1 : 0);

    for (uint32_t i = 0; i < gathers && hidden < part; i++) {
        collective(b, WF_OP_ALLGATHER, WF_GEN_LLM_TENSOR, part - hidden, 0);
    }
    for (uint32_t i = 0; i < n && hidden > 0; i++) {
        collective(b, i < gathers ? WF_OP_IALLGATHER : WF_OP_IREDUCE_SCATTER_BLOCK,
                   WF_GEN_LLM_TENSOR, hidden, TENSORS + i);
    }
    compute(b, work);
    if (n > 0 && hidden > 0) {
        wait(b, TENSORS, n);
    }
    if (scatters && hidden < part) {
        collective(b, WF_OP_REDUCE_SCATTER_BLOCK, WF_GEN_LLM_TENSOR, part - hidden, 0);
    }
}

/* ---- chunks of layers ---- */

static uint32_t layers_of(const struct builder *b, uint32_t chunk)
{
    return wf_gen_llm_layers(b->p, b->stage, chunk);
}

static bool is_end(const struct builder *b, uint32_t chunk)
{
    return b->stage == b->p->pipeline - 1 && chunk == b->p->chunks - 1;
}

static bool is_begin(const struct builder *b, uint32_t chunk)
{
    return b->stage == 0 && chunk == 0;
}

/* ---- weights of data parallelism ---- */

static uint64_t chunk_params(const struct builder *b, uint32_t chunk)
{
    uint64_t ends = (is_begin(b, chunk) ? 1U : 0U) + (is_end(b, chunk) ? 1U : 0U);

    return layers_of(b, chunk) * b->shape->layer_params + ends * b->shape->head_params;
}

static uint32_t n_pieces(const struct builder *b, uint32_t chunk)
{
    uint64_t n = div_up(chunk_params(b, chunk) * b->p->gradient_bytes, b->p->bucket);

    return (uint32_t)wf_min_u64(n, PIECES);
}

static void gather_chunk(struct builder *b, uint32_t chunk)
{
    uint32_t n = n_pieces(b, chunk);
    uint64_t bytes = div_up(chunk_params(b, chunk) * NUMBER, n);

    for (uint32_t i = 0; i < n; i++) {
        collective(b, b->p->overlaps ? WF_OP_IALLGATHER : WF_OP_ALLGATHER, WF_GEN_LLM_DATA,
                   div_up(bytes, b->sizes->replicas), WEIGHTS + chunk % 2 * PIECES + i);
    }
}

/* Weights are gathered in pieces in the order of their use, and a stage waits for those that it
 * needs next. Those of a chunk are on their way when the first microbatch reaches the chunk
 * before, as in Megatron-LM. */
static void begin_weights(struct builder *b)
{
    const struct wf_gen_llm_params *p = b->p;
    bool none = p->zero == 0 || p->zero == 3 || b->sizes->replicas == 1 ||
                p->phase != WF_GEN_LLM_TRAINING;

    b->n_gathered = 0;
    b->n_ready = none || !p->overlaps ? (uint32_t)p->chunks : 0;
    for (uint32_t c = 0; !none && (c == 0 || b->n_ready > c); c++) {
        gather_chunk(b, c);
    }
}

/* Waits until the first `layers` layers of a chunk have their weights. */
static void need_weights(struct builder *b, uint32_t chunk, uint32_t layers)
{
    if (chunk < b->n_ready) {
        return;
    }
    uint32_t all = layers_of(b, chunk);
    uint32_t need = (uint32_t)div_up((uint64_t)n_pieces(b, chunk) * layers, all);

    if (layers == 1 && chunk + 1 < b->p->chunks) {
        gather_chunk(b, chunk + 1);
    }
    if (need > b->n_gathered) {
        wait(b, WEIGHTS + chunk % 2 * PIECES + b->n_gathered, need - b->n_gathered);
    }
    b->n_gathered = layers == all ? 0 : need;
    b->n_ready += layers == all ? 1 : 0;
}

/* With ZeRO 3 the weights of a layer are gathered for each pass, one layer ahead. */
static void gather_layer(struct builder *b, uint32_t layer, uint32_t layers)
{
    uint64_t bytes = div_up(b->shape->layer_params * NUMBER, b->sizes->replicas);
    enum wf_op_kind kind = b->p->overlaps ? WF_OP_IALLGATHER : WF_OP_ALLGATHER;

    if (b->p->zero != 3 || b->sizes->replicas == 1 || b->p->phase != WF_GEN_LLM_TRAINING) {
        return;
    }
    if (layer == 0 || !b->p->overlaps) {
        collective(b, kind, WF_GEN_LLM_DATA, bytes, WEIGHTS + layer % 2);
    }
    if (b->p->overlaps) {
        wait(b, WEIGHTS + layer % 2, 1);
        if (layer + 1 < layers) {
            collective(b, kind, WF_GEN_LLM_DATA, bytes, WEIGHTS + (layer + 1) % 2);
        }
    }
}

static uint64_t stage_params(const struct builder *b)
{
    uint64_t params = 0;

    for (uint32_t c = 0; c < b->p->chunks; c++) {
        params += chunk_params(b, c);
    }
    return params;
}

/* Gradients that are reduced together at most. */
static uint64_t bucket_of(const struct builder *b, bool experts)
{
    uint64_t params = experts ? b->n_layers * b->shape->expert_params : b->n_params;

    return b->p->zero == 3 || !b->p->overlaps
               ? UINT64_MAX
               : wf_max_u64(b->p->bucket, div_up(params * b->p->gradient_bytes, BUCKETS));
}

/* Reduces gradients that wait, in buckets; with `rest` also those that do not fill one. */
static void flush(struct builder *b, uint64_t *pending, bool rest, bool experts)
{
    uint64_t most = bucket_of(b, experts);
    uint32_t size = b->sizes->replicas / (experts ? (uint32_t)b->p->expert : 1);
    bool scatters = b->p->zero > 0, overlaps = b->p->overlaps;
    enum wf_op_kind kind =
        scatters ? (overlaps ? WF_OP_IREDUCE_SCATTER_BLOCK : WF_OP_REDUCE_SCATTER_BLOCK)
                 : (overlaps ? WF_OP_IALLREDUCE : WF_OP_ALLREDUCE);

    while (*pending > 0 && (rest || *pending >= most)) {
        uint64_t bytes = wf_min_u64(*pending, most);

        if (size > 1) {
            collective(b, kind, experts ? WF_GEN_LLM_EXPERT_DATA : WF_GEN_LLM_DATA,
                       scatters ? div_up(bytes, size) : bytes, GRADIENTS + b->n_gradients);
            b->n_gradients += overlaps ? 1 : 0;
        }
        *pending -= bytes;
    }
}

/* The gradients of so many weights are final. With ZeRO 3 those of a layer are reduced at once:
 * no rank keeps gradients of whole layers from one microbatch to the next. */
static void add_gradients(struct builder *b, uint64_t params, uint64_t experts)
{
    bool rest = b->p->zero == 3;

    b->pending += params * b->p->gradient_bytes;
    b->pending_experts += experts * b->p->gradient_bytes;
    flush(b, &b->pending, rest, false);
    flush(b, &b->pending_experts, rest, true);
}

/* ---- layers ---- */

static void exchange_tokens(struct builder *b)
{
    if (b->p->experts > 1 && b->p->expert > 1) {
        collective(b, WF_OP_ALLTOALL, WF_GEN_LLM_EXPERT, div_up(b->shape->routed, b->p->expert),
                   0);
    }
}

static const struct wf_gen_llm_work nothing;

/* Whether work is that of the kernels of a framework. */
static bool counts_kernels(const struct builder *b)
{
    return b->p->framework != WF_GEN_LLM_NO_FRAMEWORK;
}

static void forward_layer(struct builder *b)
{
    const struct wf_gen_llm_shape *shape = b->shape;
    bool has_context = b->p->context > 1;

    if (has_context) {
        collective(b, WF_OP_IALLGATHER, WF_GEN_LLM_CONTEXT, shape->context_bytes, CONTEXTS);
    }
    if (counts_kernels(b)) {
        block(b, nothing, shape->forward[WF_GEN_LLM_OF_ATTENTION], 1, true);
    } else {
        block(b, shape->attention_moves, plus(shape->attention, shape->core), 1, true);
    }
    if (has_context) {
        wait(b, CONTEXTS, 1);
    }
    exchange_tokens(b);
    if (counts_kernels(b)) {
        block(b, nothing, shape->forward[WF_GEN_LLM_OF_FFN], 1, true);
    } else {
        block(b, shape->ffn_moves, shape->ffn, 1, true);
    }
    exchange_tokens(b);
}

/* The gradients of a part. With zero bubbles, half of the work is that for weights. */
static void backward_kernels(struct builder *b, enum wf_gen_llm_part part, bool apart,
                             uint32_t gathers, bool scatters)
{
    struct wf_gen_llm_work work = b->shape->backward[part];

    block(b, nothing, apart ? percent(work, 50) : work, gathers, scatters);
}

/* What selective recomputation computes again: every other product and what only moves data, but not
 * attention. Collectives keep their results. */
static struct wf_gen_llm_work selected(const struct builder *b)
{
    const struct wf_gen_llm_shape *shape = b->shape;
    struct wf_gen_llm_work products = plus(shape->attention, shape->ffn);
    struct wf_gen_llm_work moves = plus(shape->attention_moves, shape->ffn_moves);

    if (counts_kernels(b)) {
        const struct wf_gen_llm_work *core = &shape->forward[WF_GEN_LLM_OF_CORE];
        moves =
            plus(shape->forward[WF_GEN_LLM_OF_ATTENTION], shape->forward[WF_GEN_LLM_OF_FFN]);
        products = (struct wf_gen_llm_work){moves.flops16 - core->flops16, moves.flops8, 0, 0,
                                            moves.ps - core->ps};
        moves.flops16 = moves.flops8 = moves.ps = 0;
    }
    return plus(percent(products, 50), moves);
}

/* The gradients of the input, and those of the weights unless they are computed apart. */
static void backward_layer(struct builder *b, bool apart)
{
    const struct wf_gen_llm_shape *shape = b->shape;
    struct wf_gen_llm_work core = percent(shape->core, shape->core_backward_percent);
    struct wf_gen_llm_work ffn = apart ? shape->ffn : twice(shape->ffn);
    struct wf_gen_llm_work attention =
        plus(core, apart ? shape->attention : twice(shape->attention));
    uint32_t gathers = apart ? 1 : 2;

    if (b->p->recompute == WF_GEN_LLM_EVERYTHING) {
        forward_layer(b);
    } else if (b->p->recompute == WF_GEN_LLM_ATTENTION) {
        compute(b, counts_kernels(b) ? shape->forward[WF_GEN_LLM_OF_CORE] : shape->core);
    } else if (b->p->recompute == WF_GEN_LLM_SELECTIVE) {
        compute(b, selected(b));
    }
    exchange_tokens(b);
    if (counts_kernels(b)) {
        backward_kernels(b, WF_GEN_LLM_OF_FFN, apart, gathers, true);
    } else {
        block(b, twice(shape->ffn_moves), ffn, gathers, true);
    }
    exchange_tokens(b);
    if (b->p->context > 1) {
        collective(b, WF_OP_IREDUCE_SCATTER_BLOCK, WF_GEN_LLM_CONTEXT, shape->context_bytes,
                   CONTEXTS);
    }
    if (counts_kernels(b)) {
        backward_kernels(b, WF_GEN_LLM_OF_ATTENTION, apart, gathers, true);
    } else {
        block(b, twice(shape->attention_moves), attention, gathers, true);
    }
    if (b->p->context > 1) {
        wait(b, CONTEXTS, 1);
    }
}

static void weights_layer(struct builder *b)
{
    const struct wf_gen_llm_shape *shape = b->shape;

    if (counts_kernels(b)) {
        backward_kernels(b, WF_GEN_LLM_OF_ATTENTION, true, 1, false);
        backward_kernels(b, WF_GEN_LLM_OF_FFN, true, 1, false);
    } else {
        block(b, nothing, plus(shape->attention, shape->ffn), 1, false);
    }
}

/* ---- items ---- */

static void forward(struct builder *b, const struct wf_gen_llm_item *item)
{
    uint32_t layers = layers_of(b, item->chunk);

    compute(b, is_begin(b, item->chunk) ? b->shape->forward[WF_GEN_LLM_OF_EMBEDDING] : nothing);
    for (uint32_t i = 0; i < layers; i++) {
        need_weights(b, item->chunk, i + 1);
        gather_layer(b, i, layers);
        forward_layer(b);
    }
    if (is_end(b, item->chunk)) {
        if (counts_kernels(b)) {
            block(b, nothing, b->shape->forward[WF_GEN_LLM_OF_HEAD], 1, false);
        } else {
            block(b, b->shape->head_moves, b->shape->head, 1, false);
        }
    }
}

/* A backward pass, or the part of it that computes the gradients of weights. */
static void backward(struct builder *b, const struct wf_gen_llm_item *item)
{
    bool apart = b->p->schedule == WF_GEN_LLM_ZERO_BUBBLE;
    bool weights = item->pass == WF_GEN_LLM_WEIGHTS, end = is_end(b, item->chunk);
    bool last = item->microbatch == b->sizes->microbatches - 1 || b->p->zero == 3;
    bool final = last && (weights || !apart);
    uint32_t layers = layers_of(b, item->chunk);

    if (end) {
        struct wf_gen_llm_work head = apart ? b->shape->head : twice(b->shape->head);
        if (counts_kernels(b)) {
            backward_kernels(b, WF_GEN_LLM_OF_HEAD, apart, 0, !weights);
        } else {
            block(b, weights ? nothing : b->shape->head_moves, head, 0, !weights);
        }
        add_gradients(b, final ? b->shape->head_params : 0, 0);
    }
    for (uint32_t i = 0; i < layers; i++) {
        gather_layer(b, i, layers);
        if (weights) {
            weights_layer(b);
        } else {
            backward_layer(b, apart);
        }
        if (final) {
            add_gradients(b, b->shape->layer_params, b->shape->expert_params);
        }
    }
    compute(b, weights || !is_begin(b, item->chunk)
                   ? nothing
                   : b->shape->backward[WF_GEN_LLM_OF_EMBEDDING]);
    if (final && is_begin(b, item->chunk)) {
        add_gradients(b, b->shape->head_params, 0);
    }
}

/* ---- messages between stages ---- */

static bool receives(const struct builder *b, const struct wf_gen_llm_item *item)
{
    return item->pass == WF_GEN_LLM_FORWARD    ? !is_begin(b, item->chunk)
           : item->pass == WF_GEN_LLM_BACKWARD ? !is_end(b, item->chunk)
                                               : false;
}

/* Messages are named by microbatch, direction, and chunk of the stage that receives them. */
static int32_t tag_of(const struct builder *b, const struct wf_gen_llm_item *item,
                      uint32_t chunk)
{
    return (int32_t)((item->microbatch * (uint32_t)b->p->chunks + chunk) * 2 + item->pass);
}

/* Whether ranks that share layers send a part each of what all of them have, and gather the parts
 * that they receive, as Megatron-LM does. */
static bool scatters_messages(const struct builder *b)
{
    return counts_kernels(b) && b->p->tensor > 1 && !b->p->shares_sequence;
}

static void message(struct builder *b, enum wf_op_kind kind, uint32_t request, int32_t stages,
                    int32_t tag)
{
    struct wf_gen_llm_op *op = push(b, kind);

    op->request = request;
    op->stages = stages;
    op->tag = tag;
    op->bytes = b->p->shares_sequence || scatters_messages(b)
                    ? div_up(b->shape->activation, b->p->tensor)
                    : b->shape->activation;
}

static void post_receive(struct builder *b, const struct wf_gen_llm_plan *plan, uint32_t i)
{
    if (i < plan->n && receives(b, &plan->items[i])) {
        const struct wf_gen_llm_item *item = &plan->items[i];
        message(b, WF_OP_IRECV, RECEIVES + i % 2, item->pass == WF_GEN_LLM_FORWARD ? -1 : 1,
                tag_of(b, item, item->chunk));
    }
}

/* Whether a stage waits after a pass until its result is sent and the input of the next is there, as
 * pipelines of frameworks do unless their layers are in chunks. */
static bool waits_for_messages(const struct builder *b)
{
    return counts_kernels(b) && b->p->schedule == WF_GEN_LLM_1F1B;
}

static void send_result(struct builder *b, const struct wf_gen_llm_item *item)
{
    bool onwards = item->pass == WF_GEN_LLM_FORWARD;
    uint32_t request = SENDS + b->n_sends % N_SENDS, chunk = item->chunk;
    bool any =
        onwards ? !is_end(b, chunk) : item->pass == WF_GEN_LLM_BACKWARD && !is_begin(b, chunk);

    if (!any) {
        return;
    }
    /* From the last stage to the next chunk of the first, and back. */
    if (onwards && b->stage == b->p->pipeline - 1) {
        chunk++;
    } else if (!onwards && b->stage == 0) {
        chunk--;
    }
    if (b->n_sends >= N_SENDS) {
        wait(b, request, 1);
    }
    message(b, waits_for_messages(b) ? WF_OP_ISSEND : WF_OP_ISEND, request, onwards ? 1 : -1,
            tag_of(b, item, chunk));
    b->n_sends++;
}

static void take_input(struct builder *b, uint32_t i)
{
    wait(b, RECEIVES + i % 2, 1);
    if (scatters_messages(b)) {
        collective(b, WF_OP_ALLGATHER, WF_GEN_LLM_TENSOR,
                   div_up(b->shape->activation, b->p->tensor), 0);
    }
}

static void add_item(struct builder *b, const struct wf_gen_llm_plan *plan, uint32_t i)
{
    const struct wf_gen_llm_item *item = &plan->items[i];
    uint32_t sent = SENDS + b->n_sends % N_SENDS, n_sent = b->n_sends;
    bool waits = waits_for_messages(b);

    if (i == 0) {
        post_receive(b, plan, 0);
    }
    if (!waits) {
        post_receive(b, plan, i + 1);
    }
    if (receives(b, item)) {
        take_input(b, i);
    }
    if (item->pass == WF_GEN_LLM_FORWARD) {
        forward(b, item);
    } else {
        backward(b, item);
    }
    send_result(b, item);
    if (waits) {
        post_receive(b, plan, i + 1);
    }
    if (waits && b->n_sends > n_sent) {
        wait(b, sent, 1);
    }
}

/* Reduces the last gradients, waits for everything, and updates the weights. */
static void end_step(struct builder *b)
{
    uint64_t params = b->n_params, experts = b->n_layers * b->shape->expert_params;
    uint64_t owners = b->p->zero > 0 ? b->sizes->replicas : 1;
    uint64_t expert_owners = b->p->zero > 0 ? b->sizes->replicas / b->p->expert : 1;

    flush(b, &b->pending, true, false);
    flush(b, &b->pending_experts, true, true);
    if (b->n_sends > 0) {
        wait(b, SENDS, N_SENDS);
    }
    if (b->n_gradients > 0) {
        wait(b, GRADIENTS, b->n_gradients);
    }
    if (b->p->phase != WF_GEN_LLM_TRAINING) {
        return;
    }
    uint64_t bytes = OPTIMIZER_BYTES + (counts_kernels(b) ? UNSCALED_BYTES : 0);
    compute(b, (struct wf_gen_llm_work){.bytes = bytes *
                                                 (params / owners + experts / expert_owners)});
}

bool wf_gen_llm_stage(const struct wf_gen_llm_params *p, const struct wf_gen_llm_shape *shape,
                      const struct wf_gen_llm_sizes *sizes, uint32_t stage,
                      struct wf_gen_llm_stage *out)
{
    struct builder b = {.p = p, .shape = shape, .sizes = sizes, .stage = stage, .out = out};
    struct wf_gen_llm_plan plan = wf_gen_llm_schedule(p, stage, sizes->microbatches);
    bool fits = true;

    for (uint32_t c = 0; c < p->chunks; c++) {
        b.n_layers += layers_of(&b, c);
    }
    b.n_params = stage_params(&b);
    begin_weights(&b);
    for (uint32_t i = 0; i < plan.n && fits; i++) {
        add_item(&b, &plan, i);
        fits = out->n < OPS_MAX && b.n_gradients < UINT16_MAX;
    }
    end_step(&b);
    free(plan.items);
    return fits;
}
