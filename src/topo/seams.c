/* SPDX-License-Identifier: Apache-2.0 */
#include "topo/seams_build.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* One dimension as queries see it; a pair is from * size + to. */
struct view {
    uint32_t size;
    uint32_t n_tables;
    uint16_t *costs; /* [pair][table] */
    uint16_t *part;  /* [pair], what the pair contributes to the number of the cell */
};

struct wf_seams {
    uint32_t n_dims;
    struct view views[WF_TWIST_DIMS_MAX];
    uint32_t *first; /* [cell + 1], the first of its words in `words` */
    uint16_t *words; /* [word][dimension], the table to look in */
};

/* Gives numbers to the tables of dimension k that words of cells use. */
static uint32_t number_tables(const struct wf_seams_build *b, uint32_t k, uint16_t *number)
{
    uint32_t n = 0;

    memset(number, 0xff, WF_SEAMS_TABLES_MAX * sizeof(*number));
    for (uint32_t c = 0; c < b->n_leaves; c++) {
        const struct wf_seams_cell *leaf = &b->cells[b->n_cells - b->n_leaves + c];
        for (uint32_t i = 0; i < leaf->n; i++) {
            uint16_t *at = &number[b->words[leaf->words[i]].table[k]];
            if (*at == UINT16_MAX) {
                *at = (uint16_t)n++;
            }
        }
    }
    return n;
}

static void fill_view(struct view *view, const struct wf_seams_build *b, uint32_t k,
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
            view->part[(size_t)from * size + to] = wf_seams_part(b, k, from, to);
        }
    }
}

static void fill_words(struct wf_seams *seams, const struct wf_seams_build *b, uint32_t k,
                       const uint16_t *number)
{
    uint32_t at = 0;

    for (uint32_t c = 0; c < b->n_leaves; c++) {
        const struct wf_seams_cell *leaf = &b->cells[b->n_cells - b->n_leaves + c];
        seams->first[c] = at;
        for (uint32_t i = 0; i < leaf->n; i++) {
            seams->words[(size_t)at++ * b->n_dims + k] =
                number[b->words[leaf->words[i]].table[k]];
        }
    }
    seams->first[b->n_leaves] = at;
}

static struct wf_seams *finish(const struct wf_seams_build *b)
{
    struct wf_seams *seams = wf_xcalloc(1, sizeof(*seams));
    uint16_t *number = wf_xmalloc(WF_SEAMS_TABLES_MAX * sizeof(*number));
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

struct wf_seams *wf_seams_create(const struct wf_twist_shape *shape)
{
    struct wf_seams_build *b = wf_seams_build(shape);
    struct wf_seams *seams = b != NULL ? finish(b) : NULL;

    wf_seams_build_free(b);
    return seams;
}

void wf_seams_free(struct wf_seams *seams)
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

uint32_t wf_seams_distance(const struct wf_seams *seams, const uint32_t *from,
                           const uint32_t *to)
{
    const uint16_t *costs[WF_TWIST_DIMS_MAX];
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
