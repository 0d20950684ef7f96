/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/match_index.h"

#include <stddef.h>

enum {
    WAYS = 14,
    HASH_DIGITS = 17, /* of base 14, in 64 bits */
};

/* A cell of the trees above the leaves, which are nodes. The index itself is one, too: the tree
 * of a form hangs from the slot of that number. */
struct tree {
    uint32_t up;      /* the cell above; 0 in the index */
    uint32_t n_below; /* never 0 but in an empty index */
    union {
        uint32_t below[WAYS]; /* cells or 0 */
        struct {
            uint32_t root[WF_MATCH_FORMS];
            uint32_t forms; /* in which all messages are entered, besides their own; a set */
        } index;
    } u;
};

_Static_assert(offsetof(struct tree, n_below) == offsetof(struct wf_match_node, n_below),
               "what is a leaf must be known before it is known what a cell is");
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

/* The key with that left open which the form says. */
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

/* The way of a key through its tree: the digits of its hash, then those of its tag. Different
 * keys part somewhere on it, so that no tree is deeper than 26 levels even if all hashes were
 * the same. */
struct way {
    uint64_t rest;
    uint32_t tag;
    uint32_t level;
};

static struct way way_of(const struct wf_match_key *key)
{
    return (struct way){.rest = wf_match_hash(key), .tag = (uint32_t)key->tag};
}

static uint32_t next_slot(struct way *way)
{
    if (way->level == HASH_DIGITS) {
        way->rest = way->tag;
    }
    uint32_t slot = (uint32_t)(way->rest % WAYS);
    way->rest /= WAYS;
    way->level++;
    return slot;
}

static struct way way_at_level(const struct wf_match_key *key, uint32_t level)
{
    struct way way = way_of(key);

    while (way.level < level) {
        (void)next_slot(&way);
    }
    return way;
}

/* The key under which a node is in the tree of a form. */
static struct wf_match_key key_in(struct wf_ctx *ctx, uint32_t node, unsigned form)
{
    return opened(&read_link(ctx, read_node(ctx, node)->cell)->key, form);
}

/* ---- trees ---- */

/* The first node under a key of this form, or 0. */
static uint32_t find_first(struct wf_ctx *ctx, uint32_t index, unsigned form,
                           const struct wf_match_key *key)
{
    uint32_t at = read_tree(ctx, index)->u.index.root[form];
    struct way way = way_of(key);

    while (at != 0) {
        const struct tree *tree = read_tree(ctx, at);
        if (tree->n_below == 0) {
            struct wf_match_key own = key_in(ctx, at, form);
            return same_key(&own, key) ? at : 0;
        }
        at = tree->u.below[next_slot(&way)];
    }
    return 0;
}

/* Hangs a new cell into a slot, which is free. */
static uint32_t hang_new(struct wf_ctx *ctx, uint32_t up, uint32_t slot)
{
    uint32_t cell = wf_cell_new(ctx);
    struct tree *above = edit_tree(ctx, up);

    above->u.below[slot] = cell;
    above->n_below++;
    edit_tree(ctx, cell)->up = up;
    return cell;
}

/* Hangs a node into a slot, which is free. */
static void hang(struct wf_ctx *ctx, uint32_t up, uint32_t slot, uint32_t node)
{
    struct tree *above = edit_tree(ctx, up);

    above->u.below[slot] = node;
    above->n_below++;
}

/* Pushes the node in a slot down to where the way of another key leaves its own; returns the
 * cell from which it hangs then. *slot becomes the other key's slot there. */
static uint32_t push_down(struct wf_ctx *ctx, uint32_t up, uint32_t *slot, unsigned form,
                          struct way *way)
{
    uint32_t node = read_tree(ctx, up)->u.below[*slot], own_slot = *slot;
    struct wf_match_key key = key_in(ctx, node, form);
    struct way own = way_at_level(&key, way->level);

    edit_tree(ctx, up)->n_below--; /* its place is taken at once */
    do {
        up = hang_new(ctx, up, own_slot);
        own_slot = next_slot(&own);
        *slot = next_slot(way);
    } while (own_slot == *slot);
    hang(ctx, up, own_slot, node);
    edit_node(ctx, node)->at[form].up = up;
    return up;
}

/* The slot of a cell that hangs from this one. In the index it may be in several, of different
 * forms. */
static uint32_t slot_of(const struct tree *above, unsigned form, uint32_t cell)
{
    uint32_t slot = above->up == 0 ? form : 0;

    while (above->u.below[slot] != cell) {
        slot++;
    }
    return slot;
}

/* Takes a node off its tree, and frees the cells above it that were there for it alone. */
static void take_off(struct wf_ctx *ctx, uint32_t up, unsigned form, uint32_t node)
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

/* Puts a node into the ring whose first is `first`, as the last. */
static void join(struct wf_ctx *ctx, uint32_t first, unsigned form, uint32_t number,
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

/* Enters a node, in one form, behind all others. */
static void enter(struct wf_ctx *ctx, uint32_t index, unsigned form, uint32_t number,
                  struct wf_match_node *node)
{
    struct wf_match_key key = key_in(ctx, number, form);
    struct way way = way_of(&key);
    uint32_t up = index, slot = form, at;

    while ((at = read_tree(ctx, up)->u.below[slot]) != 0) {
        if (read_tree(ctx, at)->n_below != 0) {
            up = at;
            slot = next_slot(&way);
            continue;
        }
        struct wf_match_key other = key_in(ctx, at, form);
        if (same_key(&other, &key)) {
            join(ctx, at, form, number, node);
            return;
        }
        up = push_down(ctx, up, &slot, form, &way);
    }
    hang(ctx, up, slot, number);
    node->at[form] = (struct wf_match_place){.up = up, .next = number, .prev = number};
}

/* Takes out a node that has been entered in this form. */
static void leave(struct wf_ctx *ctx, unsigned form, uint32_t number,
                  const struct wf_match_place *place)
{
    if (place->next == number) {
        take_off(ctx, place->up, form, number);
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

/* Numbers the entries up to `last` anew, so that there is room behind it: once in four thousand
 * million entries. */
static uint32_t renumber(struct wf_ctx *ctx, uint32_t last)
{
    uint32_t order = UINT32_MAX / 2;

    for (uint32_t cell = last; cell != 0; cell = wf_match_index_before(ctx, cell)) {
        edit_node(ctx, read_link(ctx, cell)->node)->order = order--;
    }
    return UINT32_MAX / 2;
}

/* The order of an entry behind `before`. */
static uint32_t order_behind(struct wf_ctx *ctx, uint32_t before)
{
    uint32_t order = before == 0 ? 0 : read_node(ctx, read_link(ctx, before)->node)->order;

    return 1 + (order == UINT32_MAX ? renumber(ctx, before) : order);
}

uint32_t wf_match_index_new(struct wf_ctx *ctx)
{
    return wf_cell_new(ctx);
}

void wf_match_index_add(struct wf_ctx *ctx, uint32_t index, uint32_t cell, uint32_t before)
{
    uint32_t order = order_behind(ctx, before);
    uint32_t number = wf_cell_new(ctx);
    struct wf_match_node *node = edit_node(ctx, number);
    struct wf_match_link *link = wf_cell_edit(ctx, cell);
    unsigned forms = read_tree(ctx, index)->u.index.forms | 1U << form_of(&link->key);

    *node = (struct wf_match_node){.cell = cell, .before = before, .order = order};
    link->node = number;
    for (unsigned form = 0; form < WF_MATCH_FORMS; form++) {
        if ((forms >> form & 1) != 0) {
            enter(ctx, index, form, number, node);
        }
    }
}

uint32_t wf_match_index_before(struct wf_ctx *ctx, uint32_t cell)
{
    return read_node(ctx, read_link(ctx, cell)->node)->before;
}

void wf_match_index_remove(struct wf_ctx *ctx, uint32_t cell)
{
    const struct wf_match_link *link = read_link(ctx, cell);
    const struct wf_match_node *node = read_node(ctx, link->node);

    for (unsigned form = 0; form < WF_MATCH_FORMS; form++) {
        if (node->at[form].next != 0) {
            leave(ctx, form, link->node, &node->at[form]);
        }
    }
    if (link->next != 0) {
        edit_node(ctx, read_link(ctx, link->next)->node)->before = node->before;
    }
    wf_cell_free(ctx, link->node);
}

/* ---- looking for entries ---- */

uint32_t wf_match_index_receive(struct wf_ctx *ctx, uint32_t index,
                                const struct wf_match_key *key)
{
    uint32_t cell = 0, order = UINT32_MAX;

    for (unsigned form = 0; form < WF_MATCH_FORMS; form++) {
        struct wf_match_key other = opened(key, form);
        uint32_t number = find_first(ctx, index, form, &other);
        if (number != 0 && read_node(ctx, number)->order <= order) {
            order = read_node(ctx, number)->order;
            cell = read_node(ctx, number)->cell;
        }
    }
    return cell;
}

/* Enters the messages that wait in one more form. */
static void add_form(struct wf_ctx *ctx, const struct wf_match_queue *queue, unsigned form)
{
    edit_tree(ctx, queue->index)->u.index.forms |= 1U << form;
    for (uint32_t cell = queue->head; cell != 0; cell = read_link(ctx, cell)->next) {
        uint32_t number = read_link(ctx, cell)->node;
        enter(ctx, queue->index, form, number, edit_node(ctx, number));
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
