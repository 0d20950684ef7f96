/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cellmap.h"

#include <string.h>

enum {
    BITS = 3,
    BRANCHES = 1 << BITS,
    PAIRS = 7, /* entries in a leaf */
};

struct pair {
    uint32_t key, value;
};

enum kind {
    LEAF,  /* 1 to 7 entries, sorted by key */
    TABLE, /* the values of eight consecutive keys, for dense keys; at least one is not 0 */
    INNER, /* at least two cells below */
};

struct map_cell {
    uint16_t n;   /* number of entries, or of cells below */
    uint8_t kind; /* enum kind */
    uint8_t
        shift; /* position of the bits that choose the branch: a multiple of 3; 0 in a table */
    /* INNER, TABLE: all keys below have the same bits as this one above the branch bits. */
    uint32_t first;
    union {
        uint32_t below[BRANCHES]; /* cells, or values; or 0 */
        struct pair pairs[PAIRS];
    } u;
};

_Static_assert(sizeof(struct map_cell) <= WF_CELLMAP_CELL_SIZE, "cells are too small");

static const struct map_cell *read_cell(struct wf_ctx *ctx, uint32_t cell)
{
    return wf_cell_read(ctx, cell);
}

static struct map_cell *edit_cell(struct wf_ctx *ctx, uint32_t cell)
{
    return wf_cell_edit(ctx, cell);
}

static uint32_t branch_of(const struct map_cell *inner, uint32_t key)
{
    return key >> inner->shift & (BRANCHES - 1);
}

/* 0 if a key belongs below a cell; else less or greater than 0, as the key is smaller or
 * larger. */
static int side_of(const struct map_cell *inner, uint32_t key)
{
    uint64_t own = (uint64_t)inner->first >> (inner->shift + BITS);
    uint64_t other = (uint64_t)key >> (inner->shift + BITS);

    return (other > own) - (other < own);
}

/* The position of the first entry whose key is not smaller; leaf->n if there is none. */
static uint32_t place_in(const struct map_cell *leaf, uint32_t key)
{
    uint32_t i = 0;

    while (i < leaf->n && leaf->u.pairs[i].key < key) {
        i++;
    }
    return i;
}

/* ---- changing ---- */

/* The place that stores the number of a cell: in the cell above, or in the map. */
struct slot {
    uint32_t up; /* 0: the map's root */
    uint32_t branch;
};

static void set_slot(struct wf_ctx *ctx, struct wf_cellmap *map, const struct slot *slot,
                     uint32_t cell)
{
    if (slot->up == 0) {
        map->root = cell;
    } else {
        edit_cell(ctx, slot->up)->u.below[slot->branch] = cell;
    }
}

static void insert_pair(struct map_cell *leaf, const struct pair *pair)
{
    uint32_t i = place_in(leaf, pair->key);

    memmove(&leaf->u.pairs[i + 1], &leaf->u.pairs[i], (leaf->n - i) * sizeof(*pair));
    leaf->u.pairs[i] = *pair;
    leaf->n++;
}

static void attach(struct map_cell *inner, uint32_t branch, uint32_t what)
{
    inner->u.below[branch] = what;
    inner->n++;
}

/* Inserts below an inner cell into an empty branch or a leaf that is not full; or into a
 * table. */
static void insert_below(struct wf_ctx *ctx, struct map_cell *inner, const struct pair *pair)
{
    uint32_t branch = branch_of(inner, pair->key);

    if (inner->kind == TABLE) {
        attach(inner, branch, pair->value);
        return;
    }
    if (inner->u.below[branch] == 0) {
        attach(inner, branch, wf_cell_new_for(ctx, WF_CELLMAP_CELL_SIZE));
    }
    insert_pair(edit_cell(ctx, inner->u.below[branch]), pair);
}

/* A cell that separates two keys by the first bits in which they differ. */
static struct map_cell separator(uint32_t a, uint32_t b)
{
    uint32_t differ = a ^ b;
    uint8_t shift = 0;

    while (differ >> shift >= BRANCHES) {
        shift = (uint8_t)(shift + BITS);
    }
    return (struct map_cell){.kind = shift == 0 ? TABLE : INNER, .shift = shift, .first = a};
}

/* Splits a full leaf to add an entry. Its cell becomes the inner cell above the new leaves. */
static void split_leaf(struct wf_ctx *ctx, uint32_t cell, const struct pair *pair)
{
    struct map_cell *to = edit_cell(ctx, cell);
    struct map_cell from = *to;
    uint32_t low = from.u.pairs[0].key, high = from.u.pairs[PAIRS - 1].key;

    low = pair->key < low ? pair->key : low;
    high = pair->key > high ? pair->key : high;
    *to = separator(low, high);
    for (uint32_t i = 0; i < PAIRS; i++) {
        insert_below(ctx, to, &from.u.pairs[i]);
    }
    insert_below(ctx, to, pair);
}

/* Puts a new cell above a cell to which the key does not belong. */
static void separate_above(struct wf_ctx *ctx, struct wf_cellmap *map, const struct slot *slot,
                           uint32_t at, const struct pair *pair)
{
    uint32_t cell = wf_cell_new_for(ctx, WF_CELLMAP_CELL_SIZE),
             first = read_cell(ctx, at)->first;
    struct map_cell *inner = edit_cell(ctx, cell);

    *inner = separator(first, pair->key);
    attach(inner, branch_of(inner, first), at);
    insert_below(ctx, inner, pair);
    set_slot(ctx, map, slot, cell);
}

static void put_at(struct wf_ctx *ctx, struct wf_cellmap *map, const struct slot *slot,
                   uint32_t at, const struct pair *pair)
{
    const struct map_cell *cell = read_cell(ctx, at);

    if (cell->kind == LEAF && cell->n == PAIRS) {
        split_leaf(ctx, at, pair);
    } else if (cell->kind == LEAF) {
        insert_pair(edit_cell(ctx, at), pair);
    } else if (side_of(cell, pair->key) != 0) {
        separate_above(ctx, map, slot, at, pair);
    } else {
        insert_below(ctx, edit_cell(ctx, at), pair);
    }
}

void wf_cellmap_put(struct wf_ctx *ctx, struct wf_cellmap *map, uint32_t key, uint32_t value)
{
    struct pair pair = {.key = key, .value = value};
    struct slot slot = {.up = 0};

    map->count++;
    if (map->root == 0) {
        map->root = wf_cell_new_for(ctx, WF_CELLMAP_CELL_SIZE);
    }
    for (uint32_t at = map->root;;) {
        const struct map_cell *cell = read_cell(ctx, at);
        uint32_t branch = branch_of(cell, key);
        if (cell->kind != INNER || side_of(cell, key) != 0 || cell->u.below[branch] == 0) {
            put_at(ctx, map, &slot, at, &pair);
            return;
        }
        slot = (struct slot){.up = at, .branch = branch};
        at = cell->u.below[branch];
    }
}

/* The only cell that is left below an inner cell. */
static uint32_t only_below(const struct map_cell *inner)
{
    uint32_t branch = 0;

    while (inner->u.below[branch] == 0) {
        branch++;
    }
    return inner->u.below[branch];
}

/* Frees a leaf or table whose last entry was removed, and the cell above if it has only one
 * branch left. */
static void free_leaf(struct wf_ctx *ctx, struct wf_cellmap *map, const struct slot *slot,
                      const struct slot *above)
{
    if (slot->up == 0) {
        wf_cell_free(ctx, map->root);
        map->root = 0;
        return;
    }

    struct map_cell *inner = edit_cell(ctx, slot->up);
    wf_cell_free(ctx, inner->u.below[slot->branch]);
    inner->u.below[slot->branch] = 0;
    inner->n--;
    if (inner->n == 1) {
        set_slot(ctx, map, above, only_below(inner));
        wf_cell_free(ctx, slot->up);
    }
}

/* The value of a key in a leaf or table, or 0. */
static uint32_t value_in(const struct map_cell *cell, uint32_t key)
{
    if (cell->kind == TABLE) {
        return side_of(cell, key) == 0 ? cell->u.below[branch_of(cell, key)] : 0;
    }
    uint32_t i = place_in(cell, key);
    return i < cell->n && cell->u.pairs[i].key == key ? cell->u.pairs[i].value : 0;
}

static void remove_from(struct map_cell *cell, uint32_t key)
{
    cell->n--;
    if (cell->kind == TABLE) {
        cell->u.below[branch_of(cell, key)] = 0;
        return;
    }
    uint32_t i = place_in(cell, key);
    memmove(&cell->u.pairs[i], &cell->u.pairs[i + 1], (cell->n - i) * sizeof(struct pair));
}

uint32_t wf_cellmap_take(struct wf_ctx *ctx, struct wf_cellmap *map, uint32_t key)
{
    struct slot slot = {.up = 0}, above = slot;
    uint32_t at = map->root;

    while (at != 0 && read_cell(ctx, at)->kind == INNER) {
        above = slot;
        slot = (struct slot){.up = at, .branch = branch_of(read_cell(ctx, at), key)};
        at = read_cell(ctx, at)->u.below[slot.branch];
    }
    uint32_t value = at == 0 ? 0 : value_in(read_cell(ctx, at), key);
    if (value == 0) {
        return 0;
    }
    map->count--;
    if (read_cell(ctx, at)->n == 1) {
        free_leaf(ctx, map, &slot, &above);
    } else {
        remove_from(edit_cell(ctx, at), key);
    }
    return value;
}

/* ---- lookup ---- */

uint32_t wf_cellmap_get(struct wf_ctx *ctx, const struct wf_cellmap *map, uint32_t key)
{
    uint32_t at = map->root;

    while (at != 0) {
        const struct map_cell *cell = read_cell(ctx, at);
        if (cell->kind != INNER) {
            return value_in(cell, key);
        }
        at = cell->u.below[branch_of(cell, key)];
    }
    return 0;
}

uint32_t *wf_cellmap_edit(struct wf_ctx *ctx, const struct wf_cellmap *map, uint32_t key)
{
    uint32_t at = map->root;

    while (read_cell(ctx, at)->kind == INNER) {
        at = read_cell(ctx, at)->u.below[branch_of(read_cell(ctx, at), key)];
    }
    struct map_cell *cell = edit_cell(ctx, at);
    return cell->kind == TABLE ? &cell->u.below[branch_of(cell, key)]
                               : &cell->u.pairs[place_in(cell, key)].value;
}

static uint32_t next_in_leaf(const struct map_cell *leaf, uint32_t *key)
{
    uint32_t i = place_in(leaf, *key);

    if (i == leaf->n) {
        return 0;
    }
    *key = leaf->u.pairs[i].key;
    return leaf->u.pairs[i].value;
}

/* The first entry in or below a cell whose key is at least *key. */
static uint32_t next_below(struct wf_ctx *ctx, uint32_t number, uint32_t *key)
{
    const struct map_cell *cell = read_cell(ctx, number);

    if (cell->kind == LEAF) {
        return next_in_leaf(cell, key);
    }
    int side = side_of(cell, *key);
    for (uint32_t branch = side < 0 ? 0 : branch_of(cell, *key); side <= 0 && branch < BRANCHES;
         branch++) {
        uint32_t value = cell->u.below[branch];
        if (value != 0 && cell->kind == INNER) {
            value = next_below(ctx, value, key);
        } else if (value != 0) {
            *key = (cell->first & ~(uint32_t)(BRANCHES - 1)) | branch;
        }
        if (value != 0) {
            return value;
        }
    }
    return 0;
}

uint32_t wf_cellmap_next(struct wf_ctx *ctx, const struct wf_cellmap *map, uint32_t *key)
{
    return map->root == 0 ? 0 : next_below(ctx, map->root, key);
}
