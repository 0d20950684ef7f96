/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TOPO_SEAMS_BUILD_H
#define WF_TOPO_SEAMS_BUILD_H

/* Finds the words of topo/seams.h; for topo/seams.c only. */

#include "topo/seams.h"

#include <stddef.h>

enum {
    WF_SEAMS_WORDS_MAX = 16384,
    WF_SEAMS_TABLES_MAX = 1024, /* of one dimension */
    WF_SEAMS_SPLITS_MAX = 8,
    WF_SEAMS_LETTERS = 2 * WF_TWIST_DIMS_MAX,
};

/* What words may do to a dimension. */
enum wf_seams_move {
    WF_SEAMS_UP,       /* pass its seam */
    WF_SEAMS_DOWN,     /* likewise, downwards */
    WF_SEAMS_FORWARD,  /* shift it by the jump that has it as the target */
    WF_SEAMS_BACKWARD, /* likewise, downwards */
    WF_SEAMS_MOVES,
};

/* The costs of a sequence of moves. */
struct wf_seams_table {
    uint64_t hash;
    uint16_t *cost;                /* [from * size + to] */
    uint16_t next[WF_SEAMS_MOVES]; /* the table with one more move; UINT16_MAX: not known */
};

struct wf_seams_dim {
    uint32_t size;
    uint32_t n_splits; /* how often the cells halve the range of each coordinate */
    uint32_t jump;     /* of the dimension whose target this is */
    uint32_t n_tables;
    struct wf_seams_table *tables;
    /* [a * WF_SEAMS_TABLES_MAX + b]: by how much a costs more than b at most, in each region
     * of pairs; null until somebody asks. */
    int16_t **excess;
};

struct wf_seams_word {
    uint16_t table[WF_TWIST_DIMS_MAX];
    uint16_t tail;                   /* this word without its first letter */
    uint16_t next[WF_SEAMS_LETTERS]; /* this word with one more; UINT16_MAX: not needed */
};

/* Words none of which beats another everywhere in the cell. */
struct wf_seams_cell {
    uint32_t n, room;
    uint16_t *words;
};

struct wf_seams_build {
    const struct wf_twist_shape *shape;
    uint32_t n_dims;
    struct wf_seams_dim dims[WF_TWIST_DIMS_MAX];
    uint32_t n_words;
    struct wf_seams_word *words;
    /* The cells are a tree: each split, in the order of `split`, divides all cells by the
     * halves of both coordinates of that dimension. Cells are numbered level by level. */
    uint32_t n_splits;
    uint32_t split[WF_SEAMS_SPLITS_MAX];
    uint32_t n_cells, n_leaves;
    struct wf_seams_cell *cells;
    uint64_t effort, bytes; /* spent */
};

/* Null if a limit is reached. */
struct wf_seams_build *wf_seams_build(const struct wf_twist_shape *shape);
void wf_seams_build_free(struct wf_seams_build *b); /* null is allowed */

/* What the coordinates in dimension k contribute to the number of their leaf. */
uint16_t wf_seams_part(const struct wf_seams_build *b, uint32_t k, uint32_t from, uint32_t to);

#endif
