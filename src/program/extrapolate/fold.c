/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/fold.h"

#include "base/array.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum {
    PERIOD_MAX = 4096, /* items of a loop's body */
    SIZES_MAX = 32,    /* different sizes of a shape, of one rank, that tell ops apart */
    UNROLLED = 2,      /* loops of so few rounds are no loops */
    UNROLLED_OP = 4,   /* the same for a loop of a single op */
};

struct folding {
    struct wf_ext_kind *kind;
    uint32_t *stack;
    uint32_t n, capacity;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return wf_rng_mix(hash * WF_RNG_GOLDEN + value + 1);
}

static uint32_t new_node(struct wf_ext_kind *kind, const struct wf_ext_node *node)
{
    WF_GROW(kind->nodes, kind->n_nodes, kind->capacity);
    kind->nodes[kind->n_nodes] = *node;
    return kind->n_nodes++;
}

static void push(struct folding *folding, uint32_t node)
{
    WF_PUSH(folding->stack, folding->n, folding->capacity, node);
}

static uint64_t hash_at(const struct folding *folding, uint32_t i)
{
    return folding->kind->nodes[folding->stack[i]].hash;
}

static uint64_t loop_hash(const struct wf_ext_kind *kind, const struct wf_ext_node *loop)
{
    uint64_t hash = loop->count;

    for (uint32_t i = 0; i < loop->n_children; i++) {
        hash = mix(hash, kind->nodes[loop->children[i]].hash);
    }
    return hash;
}

/* If the last p items repeat the body of the loop before them, adds a round to the loop. */
static bool extend(struct folding *folding, uint32_t p)
{
    struct wf_ext_kind *kind = folding->kind;
    struct wf_ext_node *loop = &kind->nodes[folding->stack[folding->n - 1 - p]];

    if (loop->count == 0 || loop->n_children != p) {
        return false;
    }
    for (uint32_t i = 0; i < p; i++) {
        if (kind->nodes[loop->children[i]].hash != hash_at(folding, folding->n - p + i)) {
            return false;
        }
    }
    folding->n -= p;
    loop->count++;
    loop->hash = loop_hash(kind, loop);
    return true;
}

/* If the last p items are the same as the p items before them, makes them a loop. */
static bool make(struct folding *folding, uint32_t p)
{
    uint32_t n = folding->n;

    if (hash_at(folding, n - 1) != hash_at(folding, n - 1 - p)) {
        return false;
    }
    for (uint32_t i = 0; i < p; i++) {
        if (hash_at(folding, n - 2 * p + i) != hash_at(folding, n - p + i)) {
            return false;
        }
    }
    struct wf_ext_node loop = {.count = 2, .n_children = p};
    loop.children = wf_xcalloc(p, sizeof(*loop.children));
    memcpy(loop.children, &folding->stack[n - 2 * p], p * sizeof(*loop.children));
    loop.hash = loop_hash(folding->kind, &loop);
    folding->n -= 2 * p;
    push(folding, new_node(folding->kind, &loop));
    return true;
}

static bool fold_once(struct folding *folding)
{
    for (uint32_t p = 1; p < folding->n && p <= PERIOD_MAX; p++) {
        if (extend(folding, p)) {
            return true;
        }
        if (2 * p <= folding->n && make(folding, p)) {
            return true;
        }
    }
    return false;
}

/* Marks the shapes of which the rank has few sizes. */
static void find_few_sizes(const struct wf_ext_rank *rank, uint32_t *sizes)
{
    struct wf_map seen = {.entries = NULL};

    for (uint32_t i = 0; i < rank->n; i++) {
        const struct wf_ext_op *op = &rank->ops[i];
        uint64_t *known = wf_map_put(&seen, mix(mix(op->shape, op->bytes[0]), op->bytes[1]));
        sizes[op->shape] += *known == 0 ? 1 : 0;
        *known = 1;
    }
    wf_map_fini(&seen);
}

static uint64_t op_hash(const struct wf_ext_op *op)
{
    return mix(mix(mix(UINT64_C(0x5bd1e995), op->shape), op->set[0]), op->set[1]);
}

/* ---- loops that begin with a wait ---- */

static bool is_wait(const struct wf_ext_input *input, const struct wf_ext_rank *rank,
                    const struct wf_ext_node *node)
{
    uint32_t kind = input->shapes[rank->ops[node->op].shape].kind;

    return node->count == 0 && (kind == WF_OP_WAIT || kind == WF_OP_WAITALL);
}

/* Moves the beginning of a loop by one item: w (B w) instead of (w B) w. */
static void move_beginning(struct wf_ext_kind *kind, uint32_t *loop, uint32_t *after)
{
    uint32_t *body = kind->nodes[*loop].children, n = kind->nodes[*loop].n_children;
    uint32_t first = body[0], number = *loop;

    memmove(body, body + 1, (n - 1) * sizeof(*body));
    body[n - 1] = *after;
    *loop = first;
    *after = number;
}

/* A wait ends what comes before it. Folding takes the first repetition that it meets, which may
 * begin with the wait of the step before the loop; then this step and the last one of the loop
 * lack theirs, and differ from other steps in shape. */
static void end_with_waits(const struct wf_ext_input *input, const struct wf_ext_rank *rank,
                           struct wf_ext_kind *kind, uint32_t *items, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct wf_ext_node *loop = &kind->nodes[items[i]];
        if (loop->count == 0) {
            continue;
        }
        if (loop->n_children > 1 && i + 1 < n &&
            is_wait(input, rank, &kind->nodes[loop->children[0]]) &&
            kind->nodes[loop->children[0]].hash == kind->nodes[items[i + 1]].hash) {
            move_beginning(kind, &items[i], &items[i + 1]);
            continue;
        }
        end_with_waits(input, rank, kind, loop->children, loop->n_children);
    }
}

/* ---- the finished tree ---- */

static uint32_t copy_tree(struct wf_ext_kind *kind, const struct wf_ext_kind *from,
                          uint32_t node);

static bool is_unrolled(const struct wf_ext_kind *kind, const struct wf_ext_node *node)
{
    return node->count > 0 &&
           (node->count <= UNROLLED || (node->count <= UNROLLED_OP && node->n_children == 1 &&
                                        kind->nodes[node->children[0]].count == 0));
}

static void copy_item(struct wf_ext_kind *kind, const struct wf_ext_kind *from, uint32_t node,
                      struct folding *list)
{
    const struct wf_ext_node *item = &from->nodes[node];

    if (!is_unrolled(from, item)) {
        push(list, copy_tree(kind, from, node));
        return;
    }
    for (uint32_t round = 0; round < item->count; round++) {
        for (uint32_t i = 0; i < item->n_children; i++) {
            copy_item(kind, from, item->children[i], list);
        }
    }
}

/* Copies a node, whose short loops become plain sequences. Returns its number. */
static uint32_t copy_tree(struct wf_ext_kind *kind, const struct wf_ext_kind *from,
                          uint32_t node)
{
    struct wf_ext_node copy = from->nodes[node];
    struct folding list = {.kind = kind};

    uint32_t number = new_node(kind, &copy);
    for (uint32_t i = 0; i < copy.n_children; i++) {
        copy_item(kind, from, copy.children[i], &list);
    }
    kind->nodes[number].children = list.stack;
    kind->nodes[number].n_children = list.n;
    return number;
}

static void kind_fini(struct wf_ext_kind *kind)
{
    for (uint32_t i = 0; i < kind->n_nodes; i++) {
        free(kind->nodes[i].children);
    }
    free(kind->nodes);
}

/* The hash of a tree without sizes. */
static uint64_t tree_hash(const struct wf_ext_kind *kind, const struct wf_ext_rank *rank,
                          uint32_t node)
{
    const struct wf_ext_node *at = &kind->nodes[node];
    uint64_t hash = at->count;

    if (at->count == 0) {
        return op_hash(&rank->ops[at->op]);
    }
    for (uint32_t i = 0; i < at->n_children; i++) {
        hash = mix(hash, tree_hash(kind, rank, at->children[i]));
    }
    return mix(hash, 1);
}

/* Folds one rank. */
static struct wf_ext_kind fold_rank(const struct wf_ext_input *input,
                                    const struct wf_ext_rank *rank)
{
    struct wf_ext_kind raw = {.nodes = NULL}, out = {.nodes = NULL};
    struct folding folding = {.kind = &raw};
    uint32_t *sizes = wf_xcalloc(input->n_shapes, sizeof(*sizes));
    struct wf_ext_node node = {.count = 0};

    find_few_sizes(rank, sizes);
    for (uint32_t i = 0; i < rank->n; i++) {
        const struct wf_ext_op *op = &rank->ops[i];
        node.op = i;
        node.hash = op_hash(op);
        if (sizes[op->shape] <= SIZES_MAX) {
            node.hash = mix(mix(node.hash, op->bytes[0]), op->bytes[1]);
        }
        push(&folding, new_node(&raw, &node));
        while (fold_once(&folding)) {
        }
    }
    free(sizes);
    end_with_waits(input, rank, &raw, folding.stack, folding.n);
    struct wf_ext_node all = {.count = 1, .children = folding.stack, .n_children = folding.n};
    uint32_t top = new_node(&raw, &all);
    (void)copy_tree(&out, &raw, top);
    kind_fini(&raw);
    out.hash = tree_hash(&out, rank, 0);
    out.length = out.n_nodes;
    return out;
}

/* The number of a kind among those that differ, plus 1; takes the kind over. */
static uint64_t number_of_kind(struct wf_map *seen, struct wf_ext_kind kind,
                               struct wf_ext_kinds *out)
{
    uint64_t *known = wf_map_put(seen, kind.hash); /* number + 1 */

    if (*known != 0) {
        kind_fini(&kind);
    } else {
        WF_PUSH(out->all, out->n, out->capacity, kind);
        *known = out->n;
    }
    return *known;
}

void wf_ext_fold(struct wf_ext_input *input, struct wf_ext_kinds *out)
{
    for (uint32_t c = 0; c < input->n_counts; c++) {
        struct wf_map seen = {.entries = NULL};
        for (uint32_t r = 0; r < input->counts[c].n; r++) {
            struct wf_ext_rank *rank = &input->counts[c].ranks[r];
            struct wf_ext_kind kind = fold_rank(input, rank);
            kind.count = c;
            kind.rank = r;
            rank->kind = (uint32_t)number_of_kind(&seen, kind, out) - 1;
            out->all[rank->kind].n_ranks++;
        }
        wf_map_fini(&seen);
    }
}

void wf_ext_kinds_fini(struct wf_ext_kinds *kinds)
{
    for (uint32_t i = 0; i < kinds->n; i++) {
        kind_fini(&kinds->all[i]);
    }
    free(kinds->all);
}
