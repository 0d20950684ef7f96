/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/seams.h"

#include "base/array.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Limits that keep creation within seconds and a few hundred megabytes. Effort is counted in
 * operations, not in time, so that every machine decides alike. */
#define EFFORT_MAX (UINT64_C(1) << 33)
#define BYTES_MAX  (UINT64_C(3) << 27)

/* Costs are cut off here, and no box of such a diameter is accepted. A word of this cost can
 * therefore never win against the empty word. */
enum { COST_MAX = 30000, DIAMETER_MAX = 15000, NONE = UINT16_MAX };

/* The excess in a region without any pair: so low that the other dimensions cannot make up
 * for it. */
enum { NOTHING = -32000 };

enum {
    WORDS_MAX = 16384,
    TABLES_MAX = 1024, /* per dimension */
    SPLITS_MAX = 8,
    LETTERS = 2 * WF_TOPO_TWIST_DIMS_MAX,
};

/* What a letter of a word may do to a dimension. */
enum move {
    UP,       /* passes its seam upwards */
    DOWN,     /* passes its seam downwards */
    FORWARD,  /* shifts it by the jump of which it is the target */
    BACKWARD, /* likewise, downwards */
    MOVES,
};

/* The costs of one sequence of moves. */
struct table {
    uint64_t hash;
    uint16_t *cost;       /* [from * size + to] */
    uint16_t next[MOVES]; /* the table after one more move; UINT16_MAX: unknown */
};

struct dim {
    uint32_t size;
    uint32_t n_splits; /* how often the cells halve the range of each coordinate */
    uint32_t jump;     /* jump of the dimension whose target this is */
    uint32_t n_tables;
    struct table *tables;
    /* Comparisons of two tables, numbered from 1: in each region of pairs, the largest excess of the
     * cost of one over that of the other. The number for the tables a and b is
     * over[a * TABLES_MAX + b], and also under[b * TABLES_MAX + a]: who compares one table with many
     * others walks along a row of one or the other. 0: not compared yet. */
    uint32_t n_regions, n_compared;
    int16_t *excess; /* [number * n_regions + region] */
    size_t excess_capacity;
    uint32_t *over, *under;
    int16_t *columns; /* [size] scratch */
};

struct word {
    uint16_t tail;          /* this word without its first letter */
    uint16_t next[LETTERS]; /* this word with one more letter; UINT16_MAX: not needed */
};

/* Words of which no one beats another everywhere in the cell. */
struct cell {
    uint32_t n, capacity;
    uint16_t *words;
};

struct build {
    const struct wf_topo_twist_shape *shape;
    uint32_t n_dims;
    struct dim dims[WF_TOPO_TWIST_DIMS_MAX];
    uint32_t n_words;
    struct word *words;
    uint16_t *word_tables; /* [word * n_dims + dimension]: the table of a word's costs */
    /* The cells are a tree: each split, in the order of `split`, divides all cells by the
     * halves of both coordinates of that dimension. Cells are numbered level by level. */
    uint32_t n_splits;
    uint32_t split[SPLITS_MAX];
    uint32_t n_cells, n_leaves;
    struct cell *cells;
    uint64_t effort, bytes; /* used so far */
};

/* ---- Cells ---- */

/* The region of a coordinate after its range has been halved `halvings` times. */
static uint32_t region(uint32_t size, uint32_t coord, uint32_t halvings)
{
    return (uint32_t)(((uint64_t)coord << halvings) / size);
}

/* The index of the first region of pairs for a number of halvings. */
static uint32_t regions_before(uint32_t halvings)
{
    return ((UINT32_C(1) << (2 * halvings)) - 1) / 3;
}

/* Splits the dimension with the longest regions, repeatedly. More dimensions have more
 * words. With few dimensions, small tables that stay in the cache are worth more than short
 * lists. */
static void plan_cells(struct build *b)
{
    uint32_t n_splits = b->n_dims <= 3 ? SPLITS_MAX - 2 : SPLITS_MAX;

    for (; b->n_splits < n_splits; b->n_splits++) {
        uint32_t longest = 0, best = 0;
        for (uint32_t k = 0; k < b->n_dims; k++) {
            uint32_t length = b->dims[k].size >> b->dims[k].n_splits;
            if (length > longest) {
                longest = length;
                best = k;
            }
        }
        if (longest < 2) {
            break;
        }
        b->split[b->n_splits] = best;
        b->dims[best].n_splits++;
    }
    for (uint32_t k = 0; k < b->n_dims; k++) {
        b->dims[k].n_regions = regions_before(b->dims[k].n_splits + 1);
    }
    b->n_cells = regions_before(b->n_splits + 1);
    b->n_leaves = b->n_cells - regions_before(b->n_splits);
    b->cells = wf_xcalloc(b->n_cells, sizeof(*b->cells));
}

/* The contribution of the coordinates in dimension k to the number of their leaf cell. */
static uint16_t part_number(const struct build *b, uint32_t k, uint32_t from, uint32_t to)
{
    uint32_t halvings = 0, part = 0;

    for (uint32_t i = 0; i < b->n_splits; i++) {
        part *= 4;
        if (b->split[i] == k) {
            halvings++;
            part += region(b->dims[k].size, from, halvings) % 2 * 2 +
                    region(b->dims[k].size, to, halvings) % 2;
        }
    }
    return (uint16_t)part;
}

/* ---- Tables ---- */

static uint64_t hash_of(const uint16_t *cost, size_t n)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ cost[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* The number of the table with these costs. Takes ownership of `cost`. NONE at a limit. */
static uint16_t intern(struct build *b, struct dim *dim, uint16_t *cost)
{
    size_t n = (size_t)dim->size * dim->size;
    uint64_t hash = hash_of(cost, n);

    for (uint32_t t = 0; t < dim->n_tables; t++) {
        if (dim->tables[t].hash == hash &&
            memcmp(dim->tables[t].cost, cost, n * sizeof(*cost)) == 0) {
            free(cost);
            return (uint16_t)t;
        }
    }
    b->bytes += n * sizeof(*cost);
    if (dim->n_tables == TABLES_MAX || b->bytes > BYTES_MAX) {
        free(cost);
        return NONE;
    }
    struct table *table = &dim->tables[dim->n_tables++];
    *table = (struct table){.hash = hash, .cost = cost};
    memset(table->next, 0xff, sizeof(table->next));
    return (uint16_t)(dim->n_tables - 1);
}

static uint16_t add_costs(uint32_t a, uint32_t b)
{
    return (uint16_t)(a + b < COST_MAX ? a + b : COST_MAX);
}

/* Computes one row of a table (one start) after a passage of the seam. */
static void pass_seam(uint16_t *out, const uint16_t *in, uint32_t size, bool up)
{
    for (uint32_t x = 0; x < size; x++) {
        out[x] = up ? add_costs(in[size - 1], 1 + x) : add_costs(in[0], size - x);
    }
}

/* Computes one row after a shift. The walk goes on from wherever the shift leads. */
static void shift(uint16_t *out, const uint16_t *in, uint32_t size, uint32_t by)
{
    for (uint32_t x = 0; x < size; x++) {
        uint32_t to = x + by < size ? x + by : x + by - size;
        out[to] = in[x];
    }
    for (uint32_t x = 1; x < size; x++) {
        out[x] = out[x] <= out[x - 1] ? out[x] : add_costs(out[x - 1], 1);
    }
    for (uint32_t x = size - 1; x-- > 0;) {
        out[x] = out[x] <= out[x + 1] ? out[x] : add_costs(out[x + 1], 1);
    }
}

/* The table that follows from table t by a move; NONE at a limit. */
static uint16_t moved(struct build *b, struct dim *dim, uint16_t t, enum move move)
{
    uint32_t size = dim->size;

    if (dim->tables[t].next[move] != NONE) {
        return dim->tables[t].next[move];
    }
    uint16_t *cost = wf_xmalloc((size_t)size * size * sizeof(*cost));
    for (size_t from = 0; from < size; from++) {
        const uint16_t *in = dim->tables[t].cost + from * size;
        uint16_t *out = cost + from * size;
        if (move == UP || move == DOWN) {
            pass_seam(out, in, size, move == UP);
        } else {
            shift(out, in, size, move == FORWARD ? dim->jump : size - dim->jump);
        }
    }
    uint16_t next = intern(b, dim, cost);
    dim->tables[t].next[move] = next;
    return next;
}

/* ---- Comparisons ---- */

/* The first coordinate of a region of the finest division. */
static uint32_t first_of(const struct dim *dim, uint32_t r)
{
    uint32_t side = UINT32_C(1) << dim->n_splits;

    return (uint32_t)(((uint64_t)r * dim->size + side - 1) / side);
}

/* The largest excess of table a over table b for the pairs of region `row` of the first coordinate, by
 * the second coordinate. Compilers make vector instructions of this loop. */
static void compare_rows(const struct dim *dim, const uint16_t *a, const uint16_t *b,
                         uint32_t row)
{
    const uint32_t size = dim->size;
    int16_t *restrict columns = dim->columns;

    for (uint32_t to = 0; to < size; to++) {
        columns[to] = NOTHING;
    }
    for (uint32_t from = first_of(dim, row); from < first_of(dim, row + 1); from++) {
        const uint16_t *x = a + (size_t)from * size, *y = b + (size_t)from * size;
        for (uint32_t to = 0; to < size; to++) {
            int16_t by = (int16_t)(x[to] - y[to]);
            columns[to] = (int16_t)(by > columns[to] ? by : columns[to]);
        }
    }
}

/* The excess of table a over table b in each region of each number of halvings. */
static void compare(const struct dim *dim, const uint16_t *a, const uint16_t *b,
                    int16_t *excess)
{
    uint32_t side = UINT32_C(1) << dim->n_splits;
    int16_t *finest = excess + regions_before(dim->n_splits);

    for (uint32_t r = 0; r < dim->n_regions; r++) {
        excess[r] = NOTHING;
    }
    for (uint32_t row = 0; row < side; row++) {
        compare_rows(dim, a, b, row);
        for (uint32_t to = 0, r = 0; r < side; r++) {
            int16_t most = NOTHING;
            for (; to < first_of(dim, r + 1); to++) {
                most = (int16_t)(dim->columns[to] > most ? dim->columns[to] : most);
            }
            finest[(size_t)row * side + r] = most;
        }
    }
    for (uint32_t h = dim->n_splits; h-- > 0;) {
        for (uint32_t r = 0; r < UINT32_C(1) << (2 * h + 2); r++) {
            uint32_t coarse = (r >> (h + 2) << h) + (r & ((UINT32_C(2) << h) - 1)) / 2;
            int16_t *at = &excess[regions_before(h) + coarse];
            int16_t fine = excess[regions_before(h + 1) + r];
            if (fine > *at) {
                *at = fine;
            }
        }
    }
}

/* Compares two tables for the first time. */
static void compare_first(struct build *b, struct dim *dim, uint16_t over, uint16_t under)
{
    uint32_t number = ++dim->n_compared;
    size_t first = (size_t)number * dim->n_regions;

    WF_GROW(dim->excess, first + dim->n_regions, dim->excess_capacity);
    compare(dim, dim->tables[over].cost, dim->tables[under].cost, dim->excess + first);
    dim->over[(size_t)over * TABLES_MAX + under] = number;
    dim->under[(size_t)under * TABLES_MAX + over] = number;
    b->effort += (uint64_t)dim->size * dim->size / 4;
}

/* A cell in the tree of cells, and its region in each dimension. */
struct place {
    uint32_t level, cell;
    uint32_t halvings[WF_TOPO_TWIST_DIMS_MAX];
    uint32_t from[WF_TOPO_TWIST_DIMS_MAX], to[WF_TOPO_TWIST_DIMS_MAX];
    uint32_t pair[WF_TOPO_TWIST_DIMS_MAX]; /* the region of pairs, which follows from these */
};

/* Whether word v costs no more than word w everywhere in a cell. If v is the one of the two that the
 * caller compares with many others, rows of `over` are walked along, else those of `under`. */
static inline bool beats(struct build *b, const struct place *place, uint16_t v, uint16_t w,
                         bool v_is_same)
{
    const uint16_t *tv = b->word_tables + (size_t)v * b->n_dims;
    const uint16_t *tw = b->word_tables + (size_t)w * b->n_dims;
    int sum = 0;

    b->effort += UINT64_C(4) * b->n_dims;
    for (uint32_t k = 0; k < b->n_dims; k++) {
        struct dim *dim = &b->dims[k];
        const uint32_t *number = v_is_same ? &dim->over[(size_t)tv[k] * TABLES_MAX + tw[k]]
                                           : &dim->under[(size_t)tw[k] * TABLES_MAX + tv[k]];

        if (*number == 0) {
            compare_first(b, dim, tv[k], tw[k]);
        }
        sum += dim->excess[(size_t)*number * dim->n_regions + place->pair[k]];
    }
    return sum <= 0;
}

/* The n-th of the four cells into which the next split divides a cell. */
static struct place part_of(const struct build *b, const struct place *place, uint32_t n)
{
    struct place part = *place;
    uint32_t k = b->split[place->level];

    part.level++;
    part.cell = 4 * place->cell + n;
    part.halvings[k]++;
    part.from[k] = 2 * place->from[k] + n / 2;
    part.to[k] = 2 * place->to[k] + n % 2;
    part.pair[k] =
        regions_before(part.halvings[k]) + (part.from[k] << part.halvings[k]) + part.to[k];
    return part;
}

/* Puts a word into a cell and removes the words that it beats. */
static void put(struct build *b, const struct place *place, struct cell *cell, uint16_t word)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < cell->n; i++) {
        if (!beats(b, place, word, cell->words[i], true)) {
            cell->words[n++] = cell->words[i];
        }
    }
    cell->n = n;
    WF_PUSH(cell->words, cell->n, cell->capacity, word);
}

/* Puts the latest word into a cell and its subcells unless earlier words beat it. Returns
 * whether the word is needed there. */
static bool insert(struct build *b, const struct place *place, uint16_t word)
{
    struct cell *cell = &b->cells[regions_before(place->level) + place->cell];
    bool needed = place->level == b->n_splits;

    for (uint32_t i = 0; i < cell->n; i++) {
        if (beats(b, place, cell->words[i], word, false)) {
            return false;
        }
    }
    for (uint32_t n = 0; n < 4 && place->level < b->n_splits; n++) {
        struct place part = part_of(b, place, n);
        needed |= insert(b, &part, word);
    }
    if (needed) {
        put(b, place, cell, word);
    }
    return needed;
}

/* ---- Words ---- */

enum verdict { NEEDED, NOT_NEEDED, TOO_MUCH };

/* Adds the word that consists of the word `head` and one more letter. */
static enum verdict append(struct build *b, uint16_t head, uint32_t letter)
{
    const struct wf_topo_twist_shape *shape = b->shape;
    uint32_t i = letter / 2, target = shape->target[i];
    bool up = letter % 2 == 0;
    uint16_t tail = head == 0 ? 0 : b->words[b->words[head].tail].next[letter];

    if (tail == NONE) {
        return NOT_NEEDED;
    }
    if (b->n_words == WORDS_MAX) {
        return TOO_MUCH;
    }
    struct word *word = &b->words[b->n_words];
    uint16_t *table = b->word_tables + (size_t)b->n_words * b->n_dims;
    memcpy(table, b->word_tables + (size_t)head * b->n_dims, b->n_dims * sizeof(*table));
    word->tail = tail;
    memset(word->next, 0xff, sizeof(word->next));
    table[i] = moved(b, &b->dims[i], table[i], up ? UP : DOWN);
    if (shape->jump[i] > 0) {
        table[target] = moved(b, &b->dims[target], table[target], up ? FORWARD : BACKWARD);
    }
    if (table[i] == NONE || table[target] == NONE) {
        return TOO_MUCH;
    }
    if (!insert(b, &(struct place){.level = 0}, (uint16_t)b->n_words)) {
        return NOT_NEEDED;
    }
    b->words[head].next[letter] = (uint16_t)b->n_words++;
    return NEEDED;
}

/* Words are found in their order, so that each word is extended when its turn comes. */
static bool find_words(struct build *b)
{
    b->n_words = 1;
    if (!insert(b, &(struct place){.level = 0}, 0)) {
        return false;
    }
    for (uint32_t head = 0; head < b->n_words; head++) {
        for (uint32_t letter = 0; letter < 2 * b->n_dims; letter++) {
            if (b->shape->wrap[letter / 2] && append(b, (uint16_t)head, letter) == TOO_MUCH) {
                return false;
            }
            if (b->effort > EFFORT_MAX) {
                return false;
            }
        }
    }
    return true;
}

/* ---- Beginning and end ---- */

/* Creates the table of the empty word; false at a limit. */
static bool begin_dim(struct build *b, uint32_t k)
{
    struct dim *dim = &b->dims[k];
    uint32_t size = dim->size;

    if ((uint64_t)size * size * sizeof(uint16_t) > BYTES_MAX) {
        return false;
    }
    dim->tables = wf_xcalloc(TABLES_MAX, sizeof(*dim->tables));
    dim->over = wf_xcalloc((size_t)TABLES_MAX * TABLES_MAX, sizeof(*dim->over));
    dim->under = wf_xcalloc((size_t)TABLES_MAX * TABLES_MAX, sizeof(*dim->under));
    dim->columns = wf_xmalloc(size * sizeof(*dim->columns));
    uint16_t *cost = wf_xmalloc((size_t)size * size * sizeof(*cost));
    for (uint32_t from = 0; from < size; from++) {
        for (uint32_t to = 0; to < size; to++) {
            cost[(size_t)from * size + to] = (uint16_t)(from < to ? to - from : from - to);
        }
    }
    return intern(b, dim, cost) != NONE;
}

static bool begin(struct build *b)
{
    const struct wf_topo_twist_shape *shape = b->shape;
    uint64_t diameter = 0;
    bool fits = true;

    b->n_dims = shape->n_dims;
    for (uint32_t k = 0; k < shape->n_dims; k++) {
        b->dims[k].size = shape->size[k];
        diameter += shape->size[k] - 1;
        if (shape->jump[k] > 0) {
            b->dims[shape->target[k]].jump = shape->jump[k];
        }
    }
    if (diameter > DIAMETER_MAX) {
        return false;
    }
    for (uint32_t k = 0; k < shape->n_dims && fits; k++) {
        fits = begin_dim(b, k);
    }
    b->words = wf_xcalloc(WORDS_MAX + 1, sizeof(*b->words));
    b->word_tables = wf_xcalloc((size_t)(WORDS_MAX + 1) * b->n_dims, sizeof(*b->word_tables));
    memset(b->words[0].next, 0xff, sizeof(b->words[0].next));
    plan_cells(b);
    return fits;
}

static void free_dim(struct dim *dim)
{
    for (size_t i = 0; i < dim->n_tables; i++) {
        free(dim->tables[i].cost);
    }
    free(dim->tables);
    free(dim->excess);
    free(dim->over);
    free(dim->under);
    free(dim->columns);
}

static void release(struct build *b)
{
    for (uint32_t k = 0; k < b->n_dims; k++) {
        free_dim(&b->dims[k]);
    }
    for (uint32_t c = 0; c < b->n_cells; c++) {
        free(b->cells[c].words);
    }
    free(b->cells);
    free(b->words);
    free(b->word_tables);
}

/* ---- Queries ---- */

/* One dimension in the form that queries use; a pair is from * size + to. */
struct view {
    uint32_t size;
    uint32_t n_tables;
    uint16_t *costs; /* [pair][table] */
    uint16_t *part;  /* [pair] its contribution to the number of the cell */
};

struct wf_topo_seams {
    uint32_t n_dims;
    struct view views[WF_TOPO_TWIST_DIMS_MAX];
    uint32_t *first; /* [cell + 1] index in `words` of the cell's first word */
    uint16_t *words; /* [word][dimension] the table to use */
};

/* Numbers the tables of dimension k that words of cells use. */
static uint32_t number_tables(const struct build *b, uint32_t k, uint16_t *number)
{
    uint32_t n = 0;

    memset(number, 0xff, TABLES_MAX * sizeof(*number));
    for (uint32_t c = 0; c < b->n_leaves; c++) {
        const struct cell *leaf = &b->cells[b->n_cells - b->n_leaves + c];
        for (uint32_t i = 0; i < leaf->n; i++) {
            uint16_t *at = &number[b->word_tables[(size_t)leaf->words[i] * b->n_dims + k]];
            if (*at == UINT16_MAX) {
                *at = (uint16_t)n++;
            }
        }
    }
    return n;
}

static void fill_view(struct view *view, const struct build *b, uint32_t k,
                      const uint16_t *number)
{
    uint32_t size = view->size;
    size_t n_pairs = (size_t)size * size;

    view->costs = wf_xmalloc(n_pairs * view->n_tables * sizeof(*view->costs));
    view->part = wf_xmalloc(n_pairs * sizeof(*view->part));
    for (uint32_t t = 0; t < b->dims[k].n_tables; t++) {
        for (size_t p = 0; p < n_pairs && number[t] != UINT16_MAX; p++) {
            view->costs[p * view->n_tables + number[t]] = b->dims[k].tables[t].cost[p];
        }
    }
    for (uint32_t from = 0; from < size; from++) {
        for (uint32_t to = 0; to < size; to++) {
            view->part[(size_t)from * size + to] = part_number(b, k, from, to);
        }
    }
}

static void fill_words(struct wf_topo_seams *seams, const struct build *b, uint32_t k,
                       const uint16_t *number)
{
    uint32_t at = 0;

    for (uint32_t c = 0; c < b->n_leaves; c++) {
        const struct cell *leaf = &b->cells[b->n_cells - b->n_leaves + c];
        seams->first[c] = at;
        for (uint32_t i = 0; i < leaf->n; i++) {
            seams->words[(size_t)at++ * b->n_dims + k] =
                number[b->word_tables[(size_t)leaf->words[i] * b->n_dims + k]];
        }
    }
    seams->first[b->n_leaves] = at;
}

static struct wf_topo_seams *finish(const struct build *b)
{
    struct wf_topo_seams *seams = wf_xcalloc(1, sizeof(*seams));
    uint16_t *number = wf_xmalloc(TABLES_MAX * sizeof(*number));
    size_t n_words = 0;

    for (uint32_t c = 0; c < b->n_leaves; c++) {
        n_words += b->cells[b->n_cells - b->n_leaves + c].n;
    }
    seams->n_dims = b->n_dims;
    seams->first = wf_xmalloc(((size_t)b->n_leaves + 1) * sizeof(*seams->first));
    seams->words = wf_xmalloc(n_words * b->n_dims * sizeof(*seams->words));
    for (uint32_t k = 0; k < b->n_dims; k++) {
        seams->views[k].size = b->shape->size[k];
        seams->views[k].n_tables = number_tables(b, k, number);
        fill_view(&seams->views[k], b, k, number);
        fill_words(seams, b, k, number);
    }
    free(number);
    return seams;
}

struct wf_topo_seams *wf_topo_seams_create(const struct wf_topo_twist_shape *shape)
{
    struct build b = {.shape = shape};
    struct wf_topo_seams *seams = begin(&b) && find_words(&b) ? finish(&b) : NULL;

    release(&b);
    return seams;
}

void wf_topo_seams_free(struct wf_topo_seams *seams)
{
    if (seams == NULL) {
        return;
    }
    for (uint32_t k = 0; k < seams->n_dims; k++) {
        free(seams->views[k].costs);
        free(seams->views[k].part);
    }
    free(seams->first);
    free(seams->words);
    free(seams);
}

uint32_t wf_topo_seams_distance(const struct wf_topo_seams *seams, const uint32_t *from,
                                const uint32_t *to)
{
    const uint16_t *costs[WF_TOPO_TWIST_DIMS_MAX];
    uint32_t n_dims = seams->n_dims, cell = 0, best = UINT32_MAX;

    for (uint32_t k = 0; k < n_dims; k++) {
        const struct view *view = &seams->views[k];
        size_t pair = (size_t)from[k] * view->size + to[k];
        costs[k] = view->costs + pair * view->n_tables;
        cell += view->part[pair];
    }

    const uint16_t *word = seams->words + (size_t)seams->first[cell] * n_dims;
    const uint16_t *end = seams->words + (size_t)seams->first[cell + 1] * n_dims;
    for (; word < end; word += n_dims) {
        uint32_t sum = 0;
        for (uint32_t k = 0; k < n_dims; k++) {
            sum += costs[k][word[k]];
        }
        best = sum < best ? sum : best;
    }
    return best;
}
