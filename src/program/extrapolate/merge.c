/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/merge.h"

#include "base/array.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Points of an alignment. */
enum { SAME_SHAPE = 4, SAME_SETS = 1, SAME_ROUNDS = 2, FAVOURED = 8 };

struct merging {
    struct wf_ext_input *input;
    struct wf_ext_kind *kind;
    uint32_t number; /* of the kind, plus 1 */
    struct wf_ext_sets *sets;
    struct wf_ext_merged *out;
};

static uint32_t new_statement(struct wf_ext_merged *merged,
                              const struct wf_ext_statement *statement)
{
    WF_GROW(merged->all, merged->n, merged->capacity);
    merged->all[merged->n] = *statement;
    merged->all[merged->n].rolled = WF_EXT_NO_STATEMENT;
    return merged->n++;
}

static const struct wf_ext_op *op_of(const struct merging *merging,
                                     const struct wf_ext_node *node)
{
    const struct wf_ext_kind *kind = merging->kind;

    return &merging->input->counts[kind->count].ranks[kind->rank].ops[node->op];
}

/* ---- similarity ---- */

static int32_t op_points(struct merging *merging, const struct wf_ext_statement *statement,
                         const struct wf_ext_op *op)
{
    int32_t points = SAME_SHAPE + (statement->favoured == merging->number ? FAVOURED : 0);

    if (statement->shape != op->shape) {
        return 0;
    }
    for (uint32_t slot = 0; slot < WF_EXT_SLOTS; slot++) {
        uint32_t a = statement->set[slot], b = op->set[slot];
        if (a != b && wf_ext_set_common(merging->sets, a, b) == WF_EXT_SET_NONE) {
            return 0;
        }
        points += a == b ? SAME_SETS : 0;
    }
    return points;
}

static uint32_t ops_in(const struct wf_ext_kind *kind, uint32_t node)
{
    const struct wf_ext_node *at = &kind->nodes[node];
    uint32_t n = at->count == 0 ? 1 : 0;

    for (uint32_t i = 0; i < at->n_children; i++) {
        n += ops_in(kind, at->children[i]);
    }
    return n;
}

static int32_t *align(struct merging *merging, uint32_t statement, uint32_t node);

/* The points for treating a node as this statement; 0: impossible. */
static int32_t points_of(struct merging *merging, uint32_t statement, uint32_t node)
{
    const struct wf_ext_statement *s = &merging->out->all[statement];
    const struct wf_ext_node *at = &merging->kind->nodes[node];

    if (s->loop != (at->count > 0)) {
        return 0;
    }
    if (!s->loop) {
        return op_points(merging, s, op_of(merging, at));
    }
    uint32_t ops = ops_in(merging->kind, node);
    uint32_t smaller = s->size < ops ? s->size : ops;
    int32_t *table = align(merging, statement, node);
    int32_t points = table[0];
    free(table);
    return points >= (int32_t)(smaller * SAME_SHAPE / 2) && points > 0 ? points + SAME_ROUNDS
                                                                       : 0;
}

/* The table of best points of the alignment of the children from (i, j) on, row by row. */
static int32_t *align(struct merging *merging, uint32_t statement, uint32_t node)
{
    uint32_t rows = merging->out->all[statement].n_children;
    uint32_t columns = merging->kind->nodes[node].n_children;
    size_t width = (size_t)columns + 1;
    int32_t *table = wf_xcalloc(((size_t)rows + 1) * width, sizeof(*table));

    for (uint32_t i = rows; i-- > 0;) {
        for (uint32_t j = columns; j-- > 0;) {
            int32_t best = table[(i + 1) * width + j];
            int32_t other = table[i * width + j + 1];
            int32_t points = points_of(merging, merging->out->all[statement].children[i],
                                       merging->kind->nodes[node].children[j]);
            best = other > best ? other : best;
            if (points > 0 && points + table[(i + 1) * width + j + 1] > best) {
                best = points + table[(i + 1) * width + j + 1];
            }
            table[i * width + j] = best;
        }
    }
    return table;
}

/* ---- merging ---- */

static void insert_child(struct wf_ext_merged *merged, uint32_t parent, uint32_t at,
                         uint32_t child)
{
    struct wf_ext_statement *s = &merged->all[parent];

    WF_GROW(s->children, s->n_children, s->capacity);
    memmove(&s->children[at + 1], &s->children[at], (s->n_children - at) * sizeof(uint32_t));
    s->children[at] = child;
    s->n_children++;
}

/* Makes a statement of a node. */
static uint32_t adopt(struct merging *merging, uint32_t parent, uint32_t node)
{
    struct wf_ext_node *at = &merging->kind->nodes[node];
    struct wf_ext_statement fresh = {.loop = at->count > 0, .parent = parent};

    if (!fresh.loop) {
        const struct wf_ext_op *op = op_of(merging, at);
        fresh.shape = op->shape;
        memcpy(fresh.set, op->set, sizeof(fresh.set));
    }
    uint32_t number = new_statement(merging->out, &fresh);
    at->statement = number;
    for (uint32_t i = 0; i < at->n_children; i++) {
        insert_child(merging->out, number, i, adopt(merging, number, at->children[i]));
    }
    merging->out->all[number].size = ops_in(merging->kind, node);
    return number;
}

static void merge_into(struct merging *merging, uint32_t statement, uint32_t node);

static void merge_lists(struct merging *merging, uint32_t statement, uint32_t node)
{
    int32_t *table = align(merging, statement, node);
    uint32_t rows = merging->out->all[statement].n_children;
    uint32_t columns = merging->kind->nodes[node].n_children;
    size_t width = (size_t)columns + 1;
    uint32_t i = 0, j = 0, inserted = 0;

    while (j < columns) {
        uint32_t own = merging->kind->nodes[node].children[j];
        const struct wf_ext_statement *s = &merging->out->all[statement];
        int32_t points = i < rows ? points_of(merging, s->children[i + inserted], own) : 0;
        if (points > 0 && table[i * width + j] == points + table[(i + 1) * width + j + 1]) {
            merge_into(merging, s->children[i + inserted], own);
            i++;
            j++;
        } else if (i < rows && table[i * width + j] == table[(i + 1) * width + j]) {
            i++;
        } else {
            insert_child(merging->out, statement, i + inserted, adopt(merging, statement, own));
            inserted++;
            j++;
        }
    }
    free(table);
}

static void merge_into(struct merging *merging, uint32_t statement, uint32_t node)
{
    struct wf_ext_node *at = &merging->kind->nodes[node];

    at->statement = statement;
    if (at->count > 0) {
        merge_lists(merging, statement, node);
        uint32_t size = 0;
        struct wf_ext_statement *s = &merging->out->all[statement];
        for (uint32_t i = 0; i < s->n_children; i++) {
            const struct wf_ext_statement *child = &merging->out->all[s->children[i]];
            size += child->loop ? child->size : 1;
        }
        s->size = size;
        return;
    }
    const struct wf_ext_op *op = op_of(merging, at);
    for (uint32_t slot = 0; slot < WF_EXT_SLOTS; slot++) {
        struct wf_ext_statement *s = &merging->out->all[statement];
        s->set[slot] = s->set[slot] == op->set[slot]
                           ? s->set[slot]
                           : wf_ext_set_common(merging->sets, s->set[slot], op->set[slot]);
    }
}

static void set_statement(void *arg, uint32_t statement, struct wf_ext_op *op, uint32_t rounds)
{
    (void)arg;
    (void)rounds;
    if (op != NULL) {
        op->statement = statement;
    }
}

/* ---- kin ---- */

/* The rank at the same place of a larger count: as far from the nearer end of each dimension. */
static uint32_t same_place(const struct wf_ext_grid *grid, uint32_t rank,
                           const struct wf_ext_grid *larger)
{
    uint32_t place = 0;

    for (uint32_t d = 0; d < grid->n_dims; d++) {
        uint32_t x = wf_ext_coord(grid, d, rank), size = grid->size[d];
        uint32_t to = x < (size + 1) / 2 ? x : larger->size[d] - (size - x);
        place += to % larger->size[d] * larger->stride[d];
    }
    return place;
}

/* Marks the statements of the ranks at the same place in the next larger count: what a rank does
 * at several counts should be the same statements, even if those of other ranks fit as well. */
static void favour_kin(const struct merging *merging, const struct wf_ext_kinds *kinds)
{
    const struct wf_ext_kind *kind = merging->kind;
    const struct wf_ext_input *input = merging->input;

    if (kind->count + 1 == input->n_counts) {
        return;
    }
    const struct wf_ext_count *larger = &input->counts[kind->count + 1];
    uint32_t place = same_place(&input->counts[kind->count].grid, kind->rank, &larger->grid);
    const struct wf_ext_kind *kin = &kinds->all[larger->ranks[place].kind];
    for (uint32_t i = 0; i < kin->n_nodes; i++) {
        merging->out->all[kin->nodes[i].statement].favoured = merging->number;
    }
}

/* The longest programs of the largest count first: the others mostly lack something. */
static uint32_t next_kind(const struct wf_ext_kinds *kinds, const bool *done)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 0; i < kinds->n; i++) {
        if (done[i]) {
            continue;
        }
        const struct wf_ext_kind *at = &kinds->all[i];
        const struct wf_ext_kind *other = best == UINT32_MAX ? NULL : &kinds->all[best];
        if (other == NULL || at->count > other->count ||
            (at->count == other->count && at->length > other->length)) {
            best = i;
        }
    }
    return best;
}

void wf_ext_merge(struct wf_ext_input *input, struct wf_ext_kinds *kinds,
                  struct wf_ext_sets *sets, struct wf_ext_merged *out)
{
    const struct wf_ext_statement all = {.loop = true, .parent = WF_EXT_NO_STATEMENT};
    const struct wf_ext_walk walk = {.visit = set_statement};
    bool *done = wf_xcalloc(kinds->n, sizeof(*done));

    (void)new_statement(out, &all);
    for (uint32_t k = 0; k < kinds->n; k++) {
        uint32_t next = next_kind(kinds, done);
        if (next == UINT32_MAX || kinds->all == NULL) {
            break;
        }
        struct merging merging = {.input = input,
                                  .kind = &kinds->all[next],
                                  .number = next + 1,
                                  .sets = sets,
                                  .out = out};
        done[next] = true;
        favour_kin(&merging, kinds);
        merge_into(&merging, 0, 0);
    }
    free(done);
    for (uint32_t c = 0; c < input->n_counts; c++) {
        for (uint32_t r = 0; r < input->counts[c].n; r++) {
            wf_ext_walk(kinds, &input->counts[c].ranks[r], &walk);
        }
    }
}

void wf_ext_merged_fini(struct wf_ext_merged *merged)
{
    for (uint32_t i = 0; i < merged->n; i++) {
        free(merged->all[i].children);
    }
    free(merged->all);
}

/* ---- walking ---- */

struct steps {
    const struct wf_ext_kind *kind;
    struct wf_ext_rank *rank;
    const struct wf_ext_walk *walk;
    uint32_t at;
};

static void walk_node(struct steps *steps, uint32_t node)
{
    const struct wf_ext_node *at = &steps->kind->nodes[node];

    if (at->count == 0) {
        steps->walk->visit(steps->walk->arg, at->statement, &steps->rank->ops[steps->at++], 0);
        return;
    }
    steps->walk->visit(steps->walk->arg, at->statement, NULL, at->count);
    for (uint32_t round = 0; round < at->count; round++) {
        for (uint32_t i = 0; i < at->n_children; i++) {
            walk_node(steps, at->children[i]);
        }
    }
}

void wf_ext_walk(const struct wf_ext_kinds *kinds, struct wf_ext_rank *rank,
                 const struct wf_ext_walk *walk)
{
    struct steps steps = {.kind = &kinds->all[rank->kind], .rank = rank, .walk = walk};

    walk_node(&steps, 0);
}
