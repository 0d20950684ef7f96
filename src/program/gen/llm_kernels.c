/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of a framework, kernel by kernel: products of matrices in tiles, kernels that only
 * move data, by the bytes that they read and write, and how many kernels the host launches.
 * Numbers have 2 bytes, masks of dropout 1. See docs/models/llm.md#frameworks.
 */
#include "program/gen/llm.h"

#include "base/arith.h"

enum {
    NUMBER = 2,
    TILE = 128,      /* rows and columns of a result that a processor of a GPU computes */
    LEAST_TILE = 16, /* rows that an instruction multiplies */
    SOFTMAX_BATCH =
        4, /* attention scores of this many heads are a block of the fused softmax */
    SOFTMAX_KERNELS = 5,  /* without it: convert, scale, mask, softmax, convert */
    COLLECTIVE = 1,       /* a collective is a kernel */
    LEAST_INTENSITY = 100 /* operations for a byte, below which memory decides on all GPUs */
};

static uint64_t round_up(uint64_t a, uint64_t unit)
{
    return (a + unit - 1) / unit * unit;
}

/* The sides of a result in whole tiles. */
static uint64_t tiles(uint64_t side)
{
    uint64_t tile = LEAST_TILE;

    while (tile < TILE && tile < side) {
        tile *= 2;
    }
    return round_up(side, tile);
}

/* How many times as long, in percent, a product takes whose rows begin at odd places: copies of
 * 16 bytes need multiples of 8 numbers. Estimates, see docs/models/llm.md. */
static uint64_t misaligned_percent(uint64_t width)
{
    static const uint32_t percent[] = {278, 153, 111, 100};
    uint32_t twos = 0;

    while (twos < 3 && width % (UINT64_C(2) << twos) == 0) {
        twos++;
    }
    return percent[twos];
}

static void launch(struct wf_gen_llm_work *work, uint64_t kernels, uint64_t bytes)
{
    work->kernels += kernels;
    work->bytes += bytes;
}

/* Rows times a matrix of weights; with several matrices (experts) each has its part of the
 * rows. */
struct product {
    uint64_t rows, columns, depth, matrices;
};

/* The time of a kernel from the table, if it has one that is near. */
static bool look_up(const struct wf_gen_llm_params *p, struct wf_gen_llm_found *found,
                    struct wf_gen_kernel wanted, struct wf_gen_llm_work *work)
{
    if (p->table == NULL) {
        return false;
    }
    enum wf_gen_kernel_found how = wf_gen_kernel_table_find(p->table, &wanted);

    found->of[how] += wf_gen_kernel_work(&wanted);
    if (how == WF_GEN_KERNEL_MISSING) {
        return false;
    }
    work->ps += (uint64_t)wanted.ps;
    return true;
}

/* Looks up a product of one matrix, or the products of its gradients. */
static bool look_up_product(const struct wf_gen_llm_params *p, struct wf_gen_llm_found *found,
                            struct product product, uint32_t times,
                            struct wf_gen_llm_work *work)
{
    struct wf_gen_kernel forward = {.kind = WF_GEN_KERNEL_PRODUCT,
                                    .bits = p->precision == WF_GEN_LLM_FP8 ? 8 : 16,
                                    .batch = 1,
                                    .rows = product.rows,
                                    .columns = product.columns,
                                    .depth = product.depth};
    struct wf_gen_kernel input = forward, weights = forward;
    struct wf_gen_llm_work sum = {.kernels = times};

    input.columns = product.depth;
    input.depth = product.columns;
    weights.rows = product.columns;
    weights.columns = product.depth;
    weights.depth = product.rows;
    if (p->table != NULL && product.matrices > 1) {
        found->of[WF_GEN_KERNEL_MISSING] +=
            (double)product.matrices * wf_gen_kernel_work(&forward);
    }
    if (product.matrices > 1 ||
        !(times == 1 ? look_up(p, found, forward, &sum)
                     : look_up(p, found, input, &sum) && look_up(p, found, weights, &sum))) {
        return false;
    }
    work->kernels += sum.kernels;
    work->ps += sum.ps;
    return true;
}

/* A product, or the two products of its gradients, which take as long each. Few rows take as
 * long as the weights take to be read. */
static void multiply(const struct wf_gen_llm_params *p, struct wf_gen_llm_found *found,
                     struct product product, uint32_t times, struct wf_gen_llm_work *work)
{
    uint64_t rows = product.rows, columns = product.columns, depth = product.depth;
    uint64_t matrices = product.matrices == 0 ? 1 : product.matrices;
    uint64_t all_rows = tiles((rows + matrices - 1) / matrices) * matrices;
    uint64_t flops = 2 * all_rows * tiles(columns) * depth * times;
    uint64_t percent = wf_max_u64(misaligned_percent(columns), misaligned_percent(depth));
    uint64_t numbers = (rows * (columns + depth) + matrices * columns * depth) * times;

    flops = flops / 100 * percent;
    bool measured = look_up_product(p, found, product, times, work);
    work->kernels += measured ? 0 : times;
    if (measured) {
        /* Conversions to 8 bits are not part of it. */
    } else if (flops / LEAST_INTENSITY < numbers * NUMBER) {
        work->bytes += numbers * NUMBER;
    } else if (p->precision == WF_GEN_LLM_FP8) {
        work->flops8 += flops;
    } else {
        work->flops16 += flops;
    }
    if (p->precision == WF_GEN_LLM_FP8) {
        /* Reads the input or, backwards, the gradient of the output; writes it and its transpose. */
        launch(work, times, rows * (times == 1 ? depth : columns) * 4);
    }
}

/* Adds up gradients of weights: read both, write one. Megatron-Core does so in the product that
 * computes them (gradient_accumulation_fusion), while processors multiply. */
static void accumulate(const struct wf_gen_llm_params *p, uint64_t weights,
                       struct wf_gen_llm_work *work)
{
    if (p->framework != WF_GEN_LLM_MEGATRON_CORE) {
        launch(work, 1, weights * (NUMBER + 2 * p->gradient_bytes));
    }
}

/* Without a compiler PyTorch computes a norm, a rotation or a gated nonlinearity in many kernels, each of
 * which reads and writes everything, partly with 4 bytes. Bytes of an element forwards and backwards,
 * counted in a profile of a layer of Llama (docs/models/llm.md#frameworks). */
enum {
    EAGER_NORM = 36,
    EAGER_NORM_BACKWARD = 102,
    EAGER_SUMS_BACKWARD = 15, /* the residual's gradient, and those of several inputs */
    EAGER_ROTATION = 20,
    EAGER_REPEAT = 4, /* of keys and values for each head */
    EAGER_GATE = 10,
    EAGER_GATE_BACKWARD = 18,
    EAGER_KERNELS = 9,
    EAGER_KERNELS_BACKWARD = 17,
};

/* A norm and, with what came before it, a residual sum with bias and dropout. */
static void join(const struct wf_gen_llm_params *p, uint64_t tokens, bool backward,
                 struct wf_gen_llm_work *work)
{
    uint64_t sum = 3 * NUMBER + (p->drops ? 1 : 0);
    uint64_t norm = backward ? 9 * NUMBER : 2 * NUMBER; /* gradients of input, weights, sum */
    uint64_t shared = p->shares_sequence ? p->tensor : 1;

    launch(work, p->tensor > 1 ? COLLECTIVE : 0, 0);
    if (p->eager) {
        uint64_t bytes =
            backward ? EAGER_NORM_BACKWARD + EAGER_SUMS_BACKWARD : EAGER_NORM + sum;
        launch(work, backward ? EAGER_KERNELS_BACKWARD : EAGER_KERNELS,
               tokens * p->hidden / shared * bytes);
        return;
    }
    launch(work, backward ? 5 : 2, tokens * p->hidden / shared * (sum + norm));
}

/* ---- attention ---- */

static bool softmax_is_fused(const struct wf_gen_llm_params *p)
{
    return p->micro * (p->heads / p->tensor) % SOFTMAX_BATCH == 0;
}

/* Attention whose scores are in memory: two products forwards, four backwards, of the whole
 * square, and softmax and dropout. */
static void unfused(const struct wf_gen_llm_params *p, struct wf_gen_llm_shape *shape,
                    struct wf_gen_llm_work *forward, struct wf_gen_llm_work *backward)
{
    uint64_t heads = p->heads / p->tensor, width = heads * p->head_width;
    uint64_t scores = shape->tokens * heads * p->sequence;
    uint64_t flops = 4 * shape->tokens * p->sequence * width;
    bool fused = softmax_is_fused(p);

    forward->flops16 += flops;
    launch(forward, 3, shape->tokens * width * 6 * NUMBER + scores * 2 * NUMBER);
    launch(forward, fused ? 1 : SOFTMAX_KERNELS, scores * (fused ? 4 : 36));
    backward->flops16 += 2 * flops;
    launch(backward, 6, shape->tokens * width * 20 * NUMBER + scores * 4 * NUMBER);
    launch(backward, fused ? 1 : SOFTMAX_KERNELS - 1, scores * (fused ? 6 : 30));
    if (p->drops) { /* reads and writes scores and a mask */
        launch(forward, 1, scores * 5);
        launch(backward, 1, scores * 5);
    }
}

/* Flash attention: a kernel forwards, and two backwards, which keep the scores to themselves. */
static void fused(const struct wf_gen_llm_params *p, struct wf_gen_llm_shape *shape,
                  struct wf_gen_llm_work *forward, struct wf_gen_llm_work *backward)
{
    struct wf_gen_kernel wanted = {.kind = WF_GEN_KERNEL_ATTENTION,
                                   .bits = 16,
                                   .batch = p->micro,
                                   .rows = p->sequence,
                                   .columns = p->heads / p->tensor,
                                   .depth = p->head_width};
    struct wf_gen_kernel gradient = wanted;

    gradient.kind = WF_GEN_KERNEL_ATTENTION_BACKWARD;
    if (p->context > 1 || !look_up(p, &shape->found, wanted, forward)) {
        forward->flops16 += shape->core.flops16;
    }
    if (p->context > 1 || !look_up(p, &shape->found, gradient, backward)) {
        backward->flops16 += shape->core.flops16 / 100 * shape->core_backward_percent;
    }
}

/* And rotations. */
static void flash(const struct wf_gen_llm_params *p, struct wf_gen_llm_shape *shape,
                  struct wf_gen_llm_work *forward, struct wf_gen_llm_work *backward)
{
    uint64_t width = (p->heads + p->kv_heads) * p->head_width / p->tensor;
    uint64_t each =
        p->eager ? EAGER_ROTATION + (p->kv_heads < p->heads ? EAGER_REPEAT : 0) : 2 * NUMBER;
    uint64_t rotation = shape->tokens * width * each;

    fused(p, shape, forward, backward);
    launch(forward, 3, rotation);
    launch(backward, 4, rotation);
}

static void attention(const struct wf_gen_llm_params *p, struct wf_gen_llm_shape *shape)
{
    struct wf_gen_llm_work *forward = &shape->forward[WF_GEN_LLM_OF_ATTENTION];
    struct wf_gen_llm_work *backward = &shape->backward[WF_GEN_LLM_OF_ATTENTION];
    uint64_t t = shape->tokens, h = p->hidden, q = p->heads * p->head_width / p->tensor;
    uint64_t all = q + 2 * (p->kv_heads * p->head_width / p->tensor);

    join(p, t, false, forward);
    multiply(p, &shape->found, (struct product){t, all, h, 1}, 1, forward);
    multiply(p, &shape->found, (struct product){t, h, q, 1}, 1, forward);
    join(p, t, true, backward);
    multiply(p, &shape->found, (struct product){t, all, h, 1}, 2, backward);
    multiply(p, &shape->found, (struct product){t, h, q, 1}, 2, backward);
    accumulate(p, h * all, backward);
    accumulate(p, h * q, backward);
    launch(backward, 4, 0); /* gradients of biases and norms */
    struct wf_gen_llm_work *core = &shape->forward[WF_GEN_LLM_OF_CORE];
    (p->unfused ? unfused : flash)(p, shape, core, backward);
    forward->flops16 += core->flops16;
    forward->ps += core->ps;
    launch(forward, core->kernels, core->bytes);
}

/* ---- the rest of a layer, and its ends ---- */

static void costs(double factor, struct wf_gen_llm_work *work)
{
    work->flops16 = (uint64_t)((double)work->flops16 * factor);
    work->flops8 = (uint64_t)((double)work->flops8 * factor);
    work->ps = (uint64_t)((double)work->ps * factor);
}

static void ffn(const struct wf_gen_llm_params *p, struct wf_gen_llm_shape *shape)
{
    struct wf_gen_llm_work *forward = &shape->forward[WF_GEN_LLM_OF_FFN];
    struct wf_gen_llm_work *backward = &shape->backward[WF_GEN_LLM_OF_FFN];
    bool experts = p->experts > 1;
    uint64_t rows = shape->tokens * (experts ? p->top_k : 1), f = p->ffn / p->tensor;
    uint64_t inner = p->is_gated ? 2 * f : f;
    uint64_t here = experts ? p->experts / p->expert : 1;

    multiply(p, &shape->found, (struct product){rows, inner, p->hidden, here}, 1, forward);
    multiply(p, &shape->found, (struct product){rows, p->hidden, f, here}, 1, forward);
    multiply(p, &shape->found, (struct product){rows, inner, p->hidden, here}, 2, backward);
    multiply(p, &shape->found, (struct product){rows, p->hidden, f, here}, 2, backward);
    if (experts) {
        costs(p->expert_cost, forward);
        costs(p->expert_cost, backward);
        launch(forward, 2, rows * p->hidden * 4 * NUMBER); /* sorts tokens */
        launch(backward, 2, rows * p->hidden * 4 * NUMBER);
    }
    join(p, shape->tokens, false, forward);
    join(p, shape->tokens, true, backward);
    /* The nonlinearity, which reads its input and bias, and its gradient. */
    bool apart = p->eager && p->is_gated;
    launch(forward, apart ? 2 : 1, rows * (apart ? EAGER_GATE * f : (inner + f) * NUMBER));
    launch(backward, apart ? 3 : 2,
           rows * (apart ? EAGER_GATE_BACKWARD * f : (2 * inner + 2 * f) * NUMBER));
    accumulate(p, here * p->hidden * inner, backward);
    accumulate(p, here * p->hidden * f, backward);
    launch(backward, 4, 0);
}

/* The last norm, the logits, and their loss with numbers of 4 bytes: convert, maximum,
 * subtract, exponential, sum, divide; backwards multiply and convert. */
static void ends(const struct wf_gen_llm_params *p, struct wf_gen_llm_shape *shape)
{
    enum { LOSS = 38, LOSS_BACKWARD = 14, LOSS_KERNELS = 8, BACKWARD_KERNELS = 6 };
    uint64_t t = shape->tokens, v = p->vocabulary / p->tensor;
    struct wf_gen_llm_params in16 = *p;

    in16.precision = WF_GEN_LLM_BF16;
    multiply(&in16, &shape->found, (struct product){t, v, p->hidden, 1}, 1,
             &shape->forward[WF_GEN_LLM_OF_HEAD]);
    launch(&shape->forward[WF_GEN_LLM_OF_HEAD], LOSS_KERNELS,
           t * p->hidden * 2 * NUMBER + t * v * LOSS);
    multiply(&in16, &shape->found, (struct product){t, v, p->hidden, 1}, 2,
             &shape->backward[WF_GEN_LLM_OF_HEAD]);
    launch(&shape->backward[WF_GEN_LLM_OF_HEAD], BACKWARD_KERNELS, t * v * LOSS_BACKWARD);
    accumulate(p, v * p->hidden, &shape->backward[WF_GEN_LLM_OF_HEAD]);
    /* Looks up words and positions, adds them, drops some; backwards adds to all weights. */
    launch(&shape->forward[WF_GEN_LLM_OF_EMBEDDING], 4, t * p->hidden * 4 * NUMBER);
    launch(&shape->backward[WF_GEN_LLM_OF_EMBEDDING], 4, t * p->hidden * 4 * NUMBER);
    accumulate(p, v * p->hidden, &shape->backward[WF_GEN_LLM_OF_EMBEDDING]);
}

void wf_gen_llm_kernels(const struct wf_gen_llm_params *p, struct wf_gen_llm_shape *shape)
{
    attention(p, shape);
    ffn(p, shape);
    ends(p, shape);
}
