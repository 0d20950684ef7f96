/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/match_index.h"

#include "base/rng.h"

#include <stddef.h>

enum {
    BRANCHES = 14,
    HASH_DIGITS = 17, /* digits of base 14 in 64 bits */
};

/* An inner cell of a tree; the leaves are nodes. The index itself is such a cell: its slot f
 * is the root of the tree of form f. */
struct tree {
    uint32_t up;      /* the cell above; 0 in the index */
    uint32_t n_below; /* 0 only in an empty index */
    union {
        uint32_t below[BRANCHES]; /* cells or 0 */
        struct {
            uint32_t root[WF_MATCH_FORMS];
            uint32_t forms;  /* more forms in which all messages are entered */
            uint32_t length; /* entries of the queue */
        } index;
    } u;
};

_Static_assert(offsetof(struct tree, n_below) == offsetof(struct wf_match_node, n_below),
               "a leaf is recognised before the kind of the cell is known");
_Static_assert(sizeof(struct tree) <= WF_MATCH_CELL_SIZE, "cells are too small");
_Static_assert(sizeof(struct wf_match_node) <= WF_MATCH_CELL_SIZE, "cells are too small");

static const struct tree *read_tree(struct wf_ctx *ctx, uint32_t cell)
{
    return wf_cell_read(ctx, cell);
}

static struct tree *edit_tree(struct wf_ctx *ctx, uint32_t cell)
{
    return wf_cell_edit(ctx, cell);
}

static const struct wf_match_node *read_node(struct wf_ctx *ctx, uint32_t node)
{
    return wf_cell_read(ctx, node);
}

static struct wf_match_node *edit_node(struct wf_ctx *ctx, uint32_t node)
{
    return wf_cell_edit(ctx, node);
}

static const struct wf_match_link *read_link(struct wf_ctx *ctx, uint32_t cell)
{
    return wf_cell_read(ctx, cell);
}

/* ---- keys ---- */

static unsigned form_of(const struct wf_match_key *key)
{
    return (key->src == WF_MATCH_ANY_SOURCE ? WF_MATCH_OPEN_SOURCE : 0U) |
           (key->tag == WF_MATCH_ANY_TAG ? WF_MATCH_OPEN_TAG : 0U);
}

/* The key with source and tag replaced by the wildcards of a form. */
static struct wf_match_key opened(const struct wf_match_key *key, unsigned form)
{
    return (struct wf_match_key){
        .context = key->context,
        .src = (form & WF_MATCH_OPEN_SOURCE) != 0 ? WF_MATCH_ANY_SOURCE : key->src,
        .tag = (form & WF_MATCH_OPEN_TAG) != 0 ? WF_MATCH_ANY_TAG : key->tag,
    };
}

static bool same_key(const struct wf_match_key *a, const struct wf_match_key *b)
{
    return a->context == b->context && a->src == b->src && a->tag == b->tag;
}

/* Two keys with the same tag and the same hash are the same. */
static uint64_t hash_of(const struct wf_match_key *key)
{
    return wf_rng_mix(((uint64_t)key->context << 32 | key->src) ^
                      ((uint64_t)(uint32_t)key->tag + 1) * WF_RNG_GOLDEN);
}

/* The path of a key through its tree: the digits of its hash, then the digits of its tag.
 * The paths of different keys part somewhere, so no tree is deeper than 26 levels even if
 * all hashes were equal. */
struct trail {
    uint64_t rest;
    uint32_t tag;
    uint32_t level;
};

static struct trail trail_of(const struct wf_match_key *key)
{
    return (struct trail){.rest = hash_of(key), .tag = (uint32_t)key->tag};
}

static uint32_t next_slot(struct trail *trail)
{
    if (trail->level == HASH_DIGITS) {
        trail->rest = trail->tag;
    }
    uint32_t slot = (uint32_t)(trail->rest % BRANCHES);
    trail->rest /= BRANCHES;
    trail->level++;
    return slot;
}

static struct trail trail_at_level(const struct wf_match_key *key, uint32_t level)
{
    struct trail trail = trail_of(key);

    while (trail.level < level) {
        (void)next_slot(&trail);
    }
    return trail;
}

/* The key of a node in the tree of a form. */
static struct wf_match_key key_in(struct wf_ctx *ctx, uint32_t node, unsigned form)
{
    return opened(&read_link(ctx, read_node(ctx, node)->cell)->key, form);
}

/* ---- trees ---- */

/* The first node with a key of this form, or 0. */
static uint32_t find_first(struct wf_ctx *ctx, uint32_t index, unsigned form,
                           const struct wf_match_key *key)
{
    uint32_t at = read_tree(ctx, index)->u.index.root[form];
    struct trail trail = trail_of(key);

    while (at != 0) {
        const struct tree *tree = read_tree(ctx, at);
        if (tree->n_below == 0) {
            struct wf_match_key own = key_in(ctx, at, form);
            return same_key(&own, key) ? at : 0;
        }
        at = tree->u.below[next_slot(&trail)];
    }
    return 0;
}

/* Adds a new cell in a free slot. */
static uint32_t attach_new(struct wf_ctx *ctx, uint32_t up, uint32_t slot)
{
    uint32_t cell = wf_cell_new_for(ctx, WF_MATCH_CELL_SIZE);
    struct tree *above = edit_tree(ctx, up);

    above->u.below[slot] = cell;
    above->n_below++;
    edit_tree(ctx, cell)->up = up;
    return cell;
}

/* Adds a node in a free slot. */
static void attach_node(struct wf_ctx *ctx, uint32_t up, uint32_t slot, uint32_t node)
{
    struct tree *above = edit_tree(ctx, up);

    above->u.below[slot] = node;
    above->n_below++;
}

/* Pushes the node in a slot down to where the path of another key leaves the node's path.
 * Returns the cell above the node; *slot becomes the other key's slot there. */
static uint32_t push_down(struct wf_ctx *ctx, uint32_t up, uint32_t *slot, unsigned form,
                          struct trail *trail)
{
    uint32_t node = read_tree(ctx, up)->u.below[*slot], own_slot = *slot;
    struct wf_match_key key = key_in(ctx, node, form);
    struct trail own = trail_at_level(&key, trail->level);

    edit_tree(ctx, up)->n_below--; /* another cell takes its place at once */
    do {
        up = attach_new(ctx, up, own_slot);
        own_slot = next_slot(&own);
        *slot = next_slot(trail);
    } while (own_slot == *slot);
    attach_node(ctx, up, own_slot, node);
    edit_node(ctx, node)->at[form].up = up;
    return up;
}

/* The slot of a cell below this one. In the index a node may be in the slots of several forms.
 */
static uint32_t slot_of(const struct tree *above, unsigned form, uint32_t cell)
{
    uint32_t slot = above->up == 0 ? form : 0;

    while (above->u.below[slot] != cell) {
        slot++;
    }
    return slot;
}

/* Removes a node from its tree, and frees the cells above that lead to nothing else. */
static void detach_node(struct wf_ctx *ctx, uint32_t up, unsigned form, uint32_t node)
{
    struct tree *above = edit_tree(ctx, up);

    above->u.below[slot_of(above, form, node)] = 0;
    above->n_below--;
    while (above->n_below == 0 && above->up != 0) {
        uint32_t cell = up;
        up = above->up;
        wf_cell_free(ctx, cell);
        above = edit_tree(ctx, up);
        above->u.below[slot_of(above, form, cell)] = 0;
        above->n_below--;
    }
}

/* ---- entries ---- */

/* Appends a node to the ring whose first node is `first`. */
static void join_ring(struct wf_ctx *ctx, uint32_t first, unsigned form, uint32_t number,
                      struct wf_match_node *node)
{
    struct wf_match_place *head = &edit_node(ctx, first)->at[form];

    node->at[form] = (struct wf_match_place){.next = first, .prev = head->prev};
    if (head->prev == first) {
        head->next = number;
    } else {
        edit_node(ctx, head->prev)->at[form].next = number;
    }
    head->prev = number;
}

/* Enters a node in one form, after all others. */
static void enter_form(struct wf_ctx *ctx, uint32_t index, unsigned form, uint32_t number,
                       struct wf_match_node *node)
{
    struct wf_match_key key = key_in(ctx, number, form);
    struct trail trail = trail_of(&key);
    uint32_t up = index, slot = form, at;

    while ((at = read_tree(ctx, up)->u.below[slot]) != 0) {
        if (read_tree(ctx, at)->n_below != 0) {
            up = at;
            slot = next_slot(&trail);
            continue;
        }
        struct wf_match_key other = key_in(ctx, at, form);
        if (same_key(&other, &key)) {
            join_ring(ctx, at, form, number, node);
            return;
        }
        up = push_down(ctx, up, &slot, form, &trail);
    }
    attach_node(ctx, up, slot, number);
    node->at[form] = (struct wf_match_place){.up = up, .next = number, .prev = number};
}

/* Removes a node that has been entered in this form. */
static void leave_form(struct wf_ctx *ctx, unsigned form, uint32_t number,
                       const struct wf_match_place *place)
{
    if (place->next == number) {
        detach_node(ctx, place->up, form, number);
        return;
    }

    struct wf_match_node *next = edit_node(ctx, place->next);
    struct wf_match_node *prev =
        place->prev == place->next ? next : edit_node(ctx, place->prev);
    prev->at[form].next = place->next;
    next->at[form].prev = place->prev;
    if (place->up != 0) {
        struct tree *above = edit_tree(ctx, place->up);
        above->u.below[slot_of(above, form, number)] = place->next;
        next->at[form].up = place->up;
    }
}

/* Renumbers the entries up to `last`, so that larger numbers become free. This happens once
 * in four thousand million entries. */
static uint32_t renumber(struct wf_ctx *ctx, uint32_t last)
{
    uint32_t order = UINT32_MAX / 2;

    for (uint32_t cell = last; cell != 0; cell = wf_match_index_before(ctx, cell)) {
        edit_node(ctx, read_link(ctx, cell)->node)->order = order--;
    }
    return UINT32_MAX / 2;
}

/* The order number of an entry after `before`. */
static uint32_t order_after(struct wf_ctx *ctx, uint32_t before)
{
    uint32_t order = before == 0 ? 0 : read_node(ctx, read_link(ctx, before)->node)->order;

    return 1 + (order == UINT32_MAX ? renumber(ctx, before) : order);
}

uint32_t wf_match_index_new(struct wf_ctx *ctx)
{
    return wf_cell_new_for(ctx, WF_MATCH_CELL_SIZE);
}

void wf_match_index_add(struct wf_ctx *ctx, uint32_t index, uint32_t cell, uint32_t before)
{
    uint32_t order = order_after(ctx, before);
    uint32_t number = wf_cell_new_for(ctx, WF_MATCH_CELL_SIZE);
    struct wf_match_node *node = edit_node(ctx, number);
    struct wf_match_link *link = wf_cell_edit(ctx, cell);
    unsigned forms = read_tree(ctx, index)->u.index.forms | 1U << form_of(&link->key);

    edit_tree(ctx, index)->u.index.length++;
    *node = (struct wf_match_node){.cell = cell, .before = before, .order = order};
    link->node = number;
    for (unsigned form = 0; form < WF_MATCH_FORMS; form++) {
        if ((forms >> form & 1) != 0) {
            enter_form(ctx, index, form, number, node);
        }
    }
}

uint32_t wf_match_index_before(struct wf_ctx *ctx, uint32_t cell)
{
    return read_node(ctx, read_link(ctx, cell)->node)->before;
}

uint32_t wf_match_index_remove(struct wf_ctx *ctx, uint32_t index, uint32_t cell)
{
    const struct wf_match_link *link = read_link(ctx, cell);
    const struct wf_match_node *node = read_node(ctx, link->node);

    for (unsigned form = 0; form < WF_MATCH_FORMS; form++) {
        if (node->at[form].next != 0) {
            leave_form(ctx, form, link->node, &node->at[form]);
        }
    }
    if (link->next != 0) {
        edit_node(ctx, read_link(ctx, link->next)->node)->before = node->before;
    }
    wf_cell_free(ctx, link->node);
    return --edit_tree(ctx, index)->u.index.length;
}

/* ---- lookup ---- */

uint32_t wf_match_index_receive(struct wf_ctx *ctx, const struct wf_match_queue *queue,
                                const struct wf_match_key *key)
{
    uint32_t cell = 0, order = UINT32_MAX;

    for (unsigned form = 0; form < WF_MATCH_FORMS; form++) {
        struct wf_match_key other = opened(key, form);
        uint32_t number = find_first(ctx, queue->index, form, &other);
        if (number != 0 && read_node(ctx, number)->order <= order) {
            order = read_node(ctx, number)->order;
            cell = read_node(ctx, number)->cell;
        }
    }
    return cell;
}

/* Enters all messages of the queue in one more form. */
static void add_form(struct wf_ctx *ctx, const struct wf_match_queue *queue, unsigned form)
{
    edit_tree(ctx, queue->index)->u.index.forms |= 1U << form;
    for (uint32_t cell = queue->head; cell != 0; cell = read_link(ctx, cell)->next) {
        uint32_t number = read_link(ctx, cell)->node;
        enter_form(ctx, queue->index, form, number, edit_node(ctx, number));
    }
}

uint32_t wf_match_index_message(struct wf_ctx *ctx, const struct wf_match_queue *queue,
                                const struct wf_match_key *key)
{
    const struct tree *tree = read_tree(ctx, queue->index);
    unsigned form = form_of(key);

    if (form != 0 && (tree->u.index.forms >> form & 1) == 0) {
        add_form(ctx, queue, form);
    }
    uint32_t number = find_first(ctx, queue->index, form, key);
    return number == 0 ? 0 : read_node(ctx, number)->cell;
}
