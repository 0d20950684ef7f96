/* SPDX-License-Identifier: Apache-2.0 */
#include "model/coll/parts.h"

bool wf_coll_if_power(const struct wf_coll_args *args)
{
    return wf_coll_is_power(args->size);
}

bool wf_coll_if_even(const struct wf_coll_args *args)
{
    return args->size == 1 || args->size % 2 == 0;
}

uint32_t wf_coll_one_slot(const struct wf_coll_args *args)
{
    return 1;
}

uint32_t wf_coll_slot_per_rank(const struct wf_coll_args *args)
{
    return args->size;
}

/* The place of a rank in a tree. */
struct tree {
    uint32_t place, size, root, radix;
    uint32_t span;
};

/* The span of the root is the smallest power of the radix that covers all places. The span
 * of any other place is the largest power that divides the place. */
static struct tree tree_of(const struct wf_coll_args *args, uint32_t root, uint32_t radix)
{
    struct tree tree = {
        .place = wf_coll_below(args->rank, root, args->size),
        .size = args->size,
        .root = root,
        .radix = radix,
        .span = 1,
    };

    while (tree.span < tree.size && tree.place % (tree.span * radix) == 0) {
        tree.span *= radix;
    }
    return tree;
}

/* One step for the parent, and radix - 1 steps for the children of each span, whether or not
 * they exist. */
static uint32_t tree_steps(const struct tree *tree)
{
    uint32_t n = 1;

    for (uint32_t span = tree->span; span > 1; span /= tree->radix) {
        n += tree->radix - 1;
    }
    return n;
}

/* The k-th branch of a place: the place at its other end, and the subtree below the branch. */
struct branch {
    uint32_t other, first, span;
};

/* Branch 0 leads to the parent. False if there is no place at the other end. */
static bool find_branch(const struct tree *tree, uint32_t k, struct branch *out)
{
    uint32_t span = tree->span;
    uint32_t child;

    if (k == 0 && tree->place == 0) {
        return false;
    }
    if (k == 0) {
        *out = (struct branch){tree->place - tree->place % (span * tree->radix), tree->place,
                               span};
        return true;
    }
    for (uint32_t level = 0; level <= (k - 1) / (tree->radix - 1); level++) {
        span /= tree->radix;
    }
    child = tree->place + span * (1 + (k - 1) % (tree->radix - 1));
    *out = (struct branch){child, child, span};
    return child < tree->size;
}

static struct wf_coll_step tree_step(const struct tree *tree, uint32_t k,
                                     const struct wf_coll_flow *flow)
{
    struct wf_coll_step out = wf_coll_idle();
    uint32_t number = flow->up ? tree_steps(tree) - 1 - k : k;
    struct wf_coll_slots slots = wf_coll_range(0, flow->n_slots);
    struct branch branch;
    uint32_t rank;

    if (!find_branch(tree, number, &branch)) {
        return out;
    }
    rank = wf_coll_above(branch.other, tree->root, tree->size);
    if (!flow->whole) {
        uint32_t left = tree->size - branch.first;
        slots = wf_coll_range(wf_coll_above(branch.first, flow->shift, tree->size),
                              branch.span < left ? branch.span : left);
    }
    if (flow->up == (number == 0)) {
        out.send_to = rank;
        out.send = slots;
    } else {
        out.recv_from = rank;
        out.recv = slots;
        out.take = flow->take;
    }
    return out;
}

static uint32_t star_steps(const struct wf_coll_args *args, uint32_t root)
{
    return args->rank == root ? args->size - 1 : 1;
}

static struct wf_coll_step star_step(const struct wf_coll_args *args, uint32_t root, uint32_t k,
                                     const struct wf_coll_flow *flow)
{
    struct wf_coll_step out = wf_coll_idle();
    bool centre = args->rank == root;
    uint32_t ray = !centre ? args->rank : k < root ? k : k + 1;
    struct wf_coll_slots slots =
        flow->whole ? wf_coll_range(0, flow->n_slots) : wf_coll_range(ray, 1);

    if (flow->up != centre) {
        out.send_to = centre ? ray : root;
        out.send = slots;
    } else {
        out.recv_from = centre ? ray : root;
        out.recv = slots;
        out.take = flow->take;
    }
    /* The last receive waits, so that the steps after it have the data. */
    out.go_on = centre && !(flow->up && k == args->size - 2);
    return out;
}

bool wf_coll_in_phases(const struct wf_coll_args *args, const struct wf_coll_phase *phases,
                       uint32_t n, uint32_t *k, struct wf_coll_step *out)
{
    for (const struct wf_coll_phase *phase = phases; phase < phases + n; phase++) {
        bool star = phase->radix == WF_COLL_STAR;
        const struct tree tree =
            star ? (struct tree){.span = 0} : tree_of(args, phase->root, phase->radix);
        uint32_t steps = star ? star_steps(args, phase->root) : tree_steps(&tree);

        if (*k < steps) {
            *out = star ? star_step(args, phase->root, *k, &phase->flow)
                        : tree_step(&tree, *k, &phase->flow);
            return true;
        }
        *k -= steps;
    }
    return false;
}

struct wf_coll_fold wf_coll_fold(uint32_t size, uint32_t keep)
{
    uint32_t rounds = wf_coll_log2_down(size);
    uint32_t power = UINT32_C(1) << rounds;

    return (struct wf_coll_fold){rounds, power, size - power, keep};
}

uint32_t wf_coll_fold_rank(const struct wf_coll_fold *fold, uint32_t member)
{
    if (member >= fold->extra) {
        return member + fold->extra;
    }
    return fold->keep == 2 * member ? 2 * member : 2 * member + 1;
}

uint32_t wf_coll_fold_member(const struct wf_coll_fold *fold, uint32_t rank)
{
    if (rank >= 2 * fold->extra) {
        return rank - fold->extra;
    }
    return wf_coll_fold_rank(fold, rank / 2) == rank ? rank / 2 : WF_COLL_NOBODY;
}

struct wf_coll_step wf_coll_fold_in(const struct wf_coll_fold *fold, uint32_t rank,
                                    struct wf_coll_slots slots)
{
    struct wf_coll_step out = wf_coll_idle();

    if (rank >= 2 * fold->extra) {
        return out;
    }
    if (wf_coll_fold_member(fold, rank) == WF_COLL_NOBODY) {
        out.send_to = rank ^ 1;
        out.send = slots;
    } else {
        out.recv_from = rank ^ 1;
        out.recv = slots;
        out.take = WF_COLL_COMBINE;
    }
    return out;
}

struct wf_coll_step wf_coll_fold_out(const struct wf_coll_fold *fold, uint32_t rank,
                                     struct wf_coll_slots slots)
{
    struct wf_coll_step in = wf_coll_fold_in(fold, rank, slots);

    return (struct wf_coll_step){.send_to = in.recv_from,
                                 .recv_from = in.send_to,
                                 .send = in.recv,
                                 .recv = in.send,
                                 .take = WF_COLL_STORE};
}

uint32_t wf_coll_scan_nodes(uint32_t size, uint32_t (*node_of)(const void *arg, uint32_t rank),
                            const void *arg)
{
    uint32_t m = 0, before = UINT32_MAX;

    for (uint32_t r = 0; r < size; r++) {
        uint32_t node = node_of(arg, r);
        if (m == 0 && r > 0 && node != before) {
            m = r;
        }
        bool begins = r == 0 || (m > 0 && r % m == 0);
        if (begins != (node != before)) {
            return 1;
        }
        before = node;
    }
    if (m == 0) {
        return size;
    }
    return size % m == 0 ? m : 1;
}
