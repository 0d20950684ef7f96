/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/vocabulary.h"

#include "base/array.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "program/extrapolate/comms.h"

#include <stdlib.h>

/* A rank and a peer that are to be explained. */
struct item {
    uint32_t key; /* of the cover: shape and slot */
    uint32_t count, rank, peer;
    uint32_t order;    /* number of the first such op of the rank */
    uint32_t first, n; /* in the list of symbols */
    uint32_t covered;
};

struct items {
    struct item *all;
    uint32_t n, capacity;
    uint32_t *symbols; /* numbers in the table of candidates */
    uint32_t n_symbols, symbols_capacity;
};

struct candidate {
    uint64_t packed, cost;
    uint32_t first, n_items; /* all that it explains: a part of `where` */
    uint32_t n;              /* items that it would explain in addition */
    uint8_t family;
    bool chosen, best; /* best: chosen in the best cover so far */
};

struct cover {
    struct wf_map numbers; /* packed symbol: number + 1 */
    struct candidate *all;
    uint32_t n, capacity;
    uint32_t n_chosen, price;
    uint32_t families; /* that are allowed now: a set of bits */
    uint32_t left;     /* items that are not explained */
    uint32_t *where;   /* the items of each candidate */
};

/* ---- what is to be explained ---- */

static bool needs_symbol(const struct wf_ext_shape *shape, const struct wf_ext_op *op,
                         uint32_t slot)
{
    return slot < wf_ext_slots(shape) && (shape->any >> slot & 1) == 0 &&
           op->peer[slot] != WF_PROC_NULL;
}

static int by_key(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return 8 * WF_ORDER(x->key, y->key) + 4 * WF_ORDER(x->count, y->count) +
           2 * WF_ORDER(x->rank, y->rank) + WF_ORDER(x->peer, y->peer);
}

/* Adds the items of one rank that are not known yet. */
static void gather_rank(const struct wf_ext_input *input, uint32_t count, uint32_t number,
                        struct wf_map *seen, struct items *items)
{
    const struct wf_ext_rank *rank = &input->counts[count].ranks[number];

    for (uint32_t i = 0; i < rank->n * WF_EXT_SLOTS; i++) {
        const struct wf_ext_op *op = &rank->ops[i / WF_EXT_SLOTS];
        uint32_t slot = i % WF_EXT_SLOTS;
        if (!needs_symbol(&input->shapes[op->shape], op, slot)) {
            continue;
        }
        uint32_t key = op->shape * WF_EXT_SLOTS + slot;
        uint64_t mixed = wf_rng_mix(((uint64_t)key << 32 | op->peer[slot]) +
                                    wf_rng_mix((uint64_t)count << 32 | number));
        uint64_t *known = wf_map_put(seen, mixed);
        if (*known == 0) {
            *known = 1;
            WF_PUSH(items->all, items->n, items->capacity,
                    (struct item){.key = key,
                                  .count = count,
                                  .rank = number,
                                  .peer = op->peer[slot],
                                  .order = i / WF_EXT_SLOTS});
        }
    }
}

/* All different items, by key. */
static void gather(const struct wf_ext_input *input, struct items *items)
{
    struct wf_map seen = {.entries = NULL};

    for (uint32_t c = 0; c < input->n_counts; c++) {
        for (uint32_t r = 0; r < input->counts[c].n; r++) {
            gather_rank(input, c, r, &seen, items);
        }
    }
    wf_map_fini(&seen);
    WF_SORT(items->all, items->n, by_key);
}

/* Leaves at most about `most` items, spread evenly. */
static void thin(struct items *items, uint32_t most)
{
    uint32_t kept = 0, step = items->n / most + 1;

    for (uint32_t i = 0; i < items->n; i++) {
        if (step == 1 || wf_rng_mix(i) % step == 0) {
            items->all[kept++] = items->all[i];
        }
    }
    items->n = kept;
}

/* ---- the cover ---- */

/* Moves backwards count as a family of their own. */
enum { BACKWARDS = WF_EXT_FAMILIES };

static uint8_t family_of(uint64_t packed)
{
    const struct wf_ext_symbol symbol = wf_ext_symbol_unpack(packed);

    return symbol.family == WF_EXT_MOVE && symbol.v[1] < 0 ? BACKWARDS : symbol.family;
}

static uint32_t candidate_of(struct cover *cover, uint64_t packed)
{
    uint64_t *number = wf_map_put(&cover->numbers, packed);

    if (*number == 0) {
        WF_GROW(cover->all, cover->n, cover->capacity);
        cover->all[cover->n] = (struct candidate){
            .packed = packed, .cost = wf_ext_symbol_cost(packed), .family = family_of(packed)};
        *number = ++cover->n;
    }
    return (uint32_t)*number - 1;
}

/* The symbols of a root: a rank of the communicator, counted from the first or the last. */
static uint32_t root_symbols(uint32_t size, uint32_t root, uint64_t *out)
{
    enum { MOST = 8000 };
    struct wf_ext_symbol symbol = {.family = WF_EXT_SET, .v = {WF_EXT_WHOLE, (int32_t)root}};
    uint32_t n = 0;

    if (root < MOST) {
        out[n++] = wf_ext_symbol_pack(&symbol);
    }
    if (root < size && size - 1 - root < MOST) {
        symbol.family = WF_EXT_SET_TOP;
        symbol.v[1] = (int32_t)(size - 1 - root);
        out[n++] = wf_ext_symbol_pack(&symbol);
    }
    return n;
}

static uint32_t symbols_of(const struct wf_ext_input *input, const struct item *item,
                           uint64_t *out)
{
    const struct wf_ext_shape *shape = &input->shapes[item->key / WF_EXT_SLOTS];
    const struct wf_ext_count *count = &input->counts[item->count];

    if (wf_ext_rooted(shape)) {
        return root_symbols(count->ranks[item->rank].comms[shape->comm].size, item->peer, out);
    }
    return wf_ext_symbols(&count->grid, item->rank, item->peer, out);
}

static void list_symbols(const struct wf_ext_input *input, struct items *items, uint32_t first,
                         uint32_t end, struct cover *cover)
{
    uint64_t packed[WF_EXT_SYMBOLS_MAX];

    items->n_symbols = 0;
    for (uint32_t i = first; i < end; i++) {
        struct item *item = &items->all[i];
        uint32_t n = symbols_of(input, item, packed);

        item->first = items->n_symbols;
        item->n = n;
        item->covered = 0;
        for (uint32_t s = 0; s < n; s++) {
            uint32_t number = candidate_of(cover, packed[s]);
            WF_PUSH(items->symbols, items->n_symbols, items->symbols_capacity, number);
        }
    }
}

static struct candidate *best_of(const struct cover *cover)
{
    struct candidate *best = NULL;

    for (uint32_t i = 0; i < cover->n; i++) {
        struct candidate *at = &cover->all[i];
        if (at->n > 0 &&
            (best == NULL || at->n > best->n || (at->n == best->n && at->cost < best->cost))) {
            best = at;
        }
    }
    return best;
}

/* Lists the items of each candidate. */
static void list_items(const struct items *items, uint32_t first, uint32_t end,
                       struct cover *cover)
{
    uint32_t total = 0;

    for (uint32_t i = 0; i < items->n_symbols; i++) {
        cover->all[items->symbols[i]].n_items++;
    }
    for (uint32_t i = 0; i < cover->n; i++) {
        cover->all[i].first = total;
        total += cover->all[i].n_items;
        cover->all[i].n_items = 0;
    }
    cover->where = wf_xcalloc(total, sizeof(*cover->where));
    for (uint32_t i = first; i < end; i++) {
        for (uint32_t s = 0; s < items->all[i].n; s++) {
            struct candidate *at = &cover->all[items->symbols[items->all[i].first + s]];
            cover->where[at->first + at->n_items++] = i;
        }
    }
}

/* Marks what the candidate explains. */
static void choose(struct items *items, struct cover *cover, struct candidate *chosen)
{
    chosen->chosen = true;
    cover->n_chosen++;
    for (uint32_t i = 0; i < chosen->n_items; i++) {
        struct item *item = &items->all[cover->where[chosen->first + i]];
        for (uint32_t s = 0; item->covered == 0 && s < item->n; s++) {
            struct candidate *at = &cover->all[items->symbols[item->first + s]];
            at->n -= (cover->families >> at->family & 1) != 0 ? 1 : 0;
        }
        cover->left -= item->covered == 0 ? 1 : 0;
        item->covered++;
    }
}

/* Gives a candidate up if others explain all that it explains. */
static void give_up(struct items *items, struct cover *cover, struct candidate *at)
{
    bool needed = false;

    for (uint32_t i = 0; i < at->n_items && !needed; i++) {
        needed = items->all[cover->where[at->first + i]].covered == 1;
    }
    for (uint32_t i = 0; i < at->n_items && !needed; i++) {
        items->all[cover->where[at->first + i]].covered--;
    }
    if (!needed) {
        at->chosen = false;
        cover->n_chosen--;
    }
}

/* Gives up candidates that others make superfluous, the most complicated ones first. */
static void prune(struct items *items, struct cover *cover)
{
    for (uint64_t below = UINT64_MAX; below > 0;) {
        struct candidate *worst = NULL;
        for (uint32_t i = 0; i < cover->n; i++) {
            struct candidate *at = &cover->all[i];
            if (at->chosen && at->cost < below && (worst == NULL || at->cost > worst->cost)) {
                worst = at;
            }
        }
        if (worst == NULL) {
            return;
        }
        below = worst->cost;
        give_up(items, cover, worst);
    }
}

/* Begins a cover by the families in a set of bits; false if they leave something unexplained. */
static bool restart(struct items *items, uint32_t first, uint32_t end, struct cover *cover,
                    uint32_t families)
{
    for (uint32_t i = 0; i < cover->n; i++) {
        cover->all[i].n = 0;
        cover->all[i].chosen = false;
    }
    cover->n_chosen = 0;
    cover->families = families;
    cover->left = end - first;
    for (uint32_t i = first; i < end; i++) {
        struct item *item = &items->all[i];
        bool possible = false;
        item->covered = 0;
        for (uint32_t s = 0; s < item->n; s++) {
            struct candidate *at = &cover->all[items->symbols[item->first + s]];
            bool allowed = (families >> at->family & 1) != 0;
            at->n += allowed ? 1 : 0;
            possible = possible || allowed;
        }
        if (!possible) {
            return false;
        }
    }
    return true;
}

#define FAMILY(name) (1U << WF_EXT_##name)
#define MOVES        (FAMILY(MOVE) | 1U << BACKWARDS | FAMILY(VECTOR))

/* Programs rarely mix these, and the cover is not the smallest one, or not the same in all
 * counts, if it begins with a symbol of the wrong family. */
static const uint32_t family_sets[] = {
    FAMILY(MOVE),
    1U << BACKWARDS,
    MOVES,
    FAMILY(SET),
    FAMILY(SET_TOP),
    FAMILY(SET) | FAMILY(SET_TOP),
    MOVES | FAMILY(SET) | FAMILY(SET_TOP),
    FAMILY(XOR),
    FAMILY(XOR_TOP),
    FAMILY(FRACTION),
    FAMILY(PARENT) | FAMILY(CHILD),
    MOVES | FAMILY(XOR) | FAMILY(SWAP) | FAMILY(MIRROR),
    UINT32_MAX,
};

static bool is_chosen(const struct cover *cover, const struct wf_ext_symbol *symbol)
{
    const uint64_t *number = wf_map_get(&cover->numbers, wf_ext_symbol_pack(symbol));

    return number != NULL && cover->all[*number - 1].chosen;
}

/* Whether the symbol continues a series: its parameter is one more, or twice as large, as that
 * of another one. */
static bool continues(const struct cover *cover, const struct wf_ext_symbol *symbol)
{
    struct wf_ext_symbol before = *symbol;
    uint32_t which = 0;

    if (!wf_ext_symbol_varies(symbol, &which) || abs(symbol->v[which]) <= 1) {
        return false;
    }
    before.v[which] -= symbol->v[which] > 0 ? 1 : -1;
    bool found = is_chosen(cover, &before);
    before.v[which] = symbol->v[which] / 2;
    return found || (symbol->v[which] % 2 == 0 && is_chosen(cover, &before));
}

/* The price of the chosen symbols: each has a price, simple ones a lower one, and those of a
 * series nearly none. */
static uint32_t price_of(const struct cover *cover)
{
    enum { SYMBOL = 16, EXTRA_MAX = 15 };
    uint32_t price = 0;

    for (uint32_t i = 0; i < cover->n; i++) {
        const struct wf_ext_symbol symbol = wf_ext_symbol_unpack(cover->all[i].packed);
        uint32_t extra = 0;
        if (!cover->all[i].chosen) {
            continue;
        }
        for (uint32_t k = symbol.family == WF_EXT_VECTOR ? 0 : 1; k < 4; k++) {
            extra += (uint32_t)abs(symbol.v[k]);
        }
        extra = extra > EXTRA_MAX ? EXTRA_MAX : extra;
        price += continues(cover, &symbol) ? 1 : SYMBOL + extra;
    }
    return price;
}

/* Whether one symbol explains what ranks do first in every count: then the symbols are those in
 * which the program counts. */
static bool begin_alike(const struct items *items, uint32_t first, uint32_t end,
                        const struct cover *cover)
{
    enum { COUNTS = WF_EXT_COUNTS_MAX };
    const struct item *firsts[COUNTS] = {NULL};

    for (uint32_t i = first; i < end; i++) {
        const struct item *item = &items->all[i], *known = firsts[item->count];
        if (known == NULL || item->rank < known->rank ||
            (item->rank == known->rank && item->order < known->order)) {
            firsts[item->count] = item;
        }
    }
    for (uint32_t s = 0; s < cover->n; s++) {
        bool all = cover->all[s].chosen;
        for (uint32_t c = 0; c < COUNTS && all; c++) {
            bool has = firsts[c] == NULL;
            for (uint32_t k = 0; !has && k < firsts[c]->n; k++) {
                has = items->symbols[firsts[c]->first + k] == s;
            }
            all = has;
        }
        if (all) {
            return true;
        }
    }
    return false;
}

/* Covers the items of one key with at most `most` symbols; false if more are needed. */
static bool cover_key(const struct wf_ext_input *input, struct items *items, uint32_t first,
                      uint32_t end, struct cover *cover, uint32_t most)
{
    uint32_t n_best = UINT32_MAX, best_price = UINT32_MAX;

    list_symbols(input, items, first, end, cover);
    list_items(items, first, end, cover);
    for (size_t f = 0; f < sizeof(family_sets) / sizeof(family_sets[0]); f++) {
        uint32_t limit = n_best < most ? n_best : most;
        if (!restart(items, first, end, cover, family_sets[f])) {
            continue;
        }
        struct candidate *best = best_of(cover);
        /* None of the others explains more than the best one. Pruning makes covers smaller, but
         * hardly by more than half. */
        while (best != NULL && (cover->n_chosen + cover->left / best->n) / 2 <= limit) {
            choose(items, cover, best);
            best = best_of(cover);
        }
        if (best == NULL) {
            prune(items, cover);
        }
        if (best != NULL || cover->n_chosen > limit) {
            continue;
        }
        uint32_t price = 2 * price_of(cover) + (begin_alike(items, first, end, cover) ? 0 : 1);
        if (cover->n_chosen < n_best || price < best_price) {
            n_best = cover->n_chosen;
            best_price = price;
            for (uint32_t i = 0; i < cover->n; i++) {
                cover->all[i].best = cover->all[i].chosen;
            }
        }
    }
    cover->n_chosen = n_best;
    cover->price = best_price / 2;
    return n_best <= most;
}

static void cover_fini(struct cover *cover)
{
    wf_map_fini(&cover->numbers);
    free(cover->all);
    free(cover->where);
    *cover = (struct cover){.all = NULL};
}

static uint32_t end_of_key(const struct items *items, uint32_t first)
{
    uint32_t end = first;

    while (end < items->n && items->all[end].key == items->all[first].key) {
        end++;
    }
    return end;
}

/* The most symbols of a key: an exchange of all with all has as many as ranks. */
static uint32_t most_symbols(const struct wf_ext_input *input)
{
    enum { SPARE = 16 };

    return input->counts[input->n_counts - 1].n + SPARE;
}

/* ---- the grid ---- */

static bool make_grids(struct wf_ext_input *input, const struct wf_ext_rule *rule,
                       uint32_t target)
{
    struct wf_ext_grid grid;
    bool fits = wf_ext_grid_make(rule, target, &grid);

    for (uint32_t c = 0; c < input->n_counts && fits; c++) {
        fits = wf_ext_grid_make(rule, input->counts[c].n, &input->counts[c].grid);
    }
    return fits;
}

/* The price of all symbols with the present grids, or any number above `most`. A communicator
 * without a rule costs as much as very many symbols, and one whose rule is a stride of its own,
 * not a dimension of the grid, as many. */
static uint32_t price(const struct wf_ext_input *input, struct items *items, uint32_t most)
{
    enum { UNKNOWN_GROUP = 100000, SPACED_GROUP = 1000 };
    uint32_t n = 0, groups = wf_ext_groups_count(input), cap = most_symbols(input);

    for (uint32_t i = 1; i < groups && n <= most; i++) {
        struct wf_ext_group group;
        uint32_t count, rank;
        n += !wf_ext_group_find(input, i, &group, &count, &rank) ? UNKNOWN_GROUP
             : group.stride > 1                                  ? SPACED_GROUP
                                                                 : 0;
    }
    for (uint32_t first = 0, end; first < items->n && n <= most; first = end) {
        struct cover cover = {.all = NULL};
        end = end_of_key(items, first);
        n = cover_key(input, items, first, end, &cover, cap) ? n + cover.price : most + 1;
        cover_fini(&cover);
    }
    return n;
}

/* The price of a grid's dimensions: a grid that explains hardly more than a simpler one is a
 * chance. */
static uint32_t price_of_dims(const struct wf_ext_rule *rule)
{
    enum { DIMENSION = 2 };

    return DIMENSION *
           (rule->n_dims - 1 + (rule->fixed > 0 ? 1U : 0U) + (rule->outer > 0 ? 1U : 0U));
}

void wf_ext_choose_grid(struct wf_ext_input *input, uint32_t target, struct wf_ext_rule *rule)
{
    enum { SAMPLE = 6000, MOST = 1 << 30 };
    uint32_t divisor = target, best = MOST;
    struct items items = {.all = NULL};
    struct wf_ext_rule trial;

    for (uint32_t c = 0; c < input->n_counts; c++) {
        for (uint32_t a = input->counts[c].n; a != 0;) {
            uint32_t left = divisor % a;
            divisor = a;
            a = left;
        }
    }
    gather(input, &items);
    thin(&items, SAMPLE);
    *rule = (struct wf_ext_rule){.n_dims = 1};
    for (uint32_t i = 0; wf_ext_rule_at(i, divisor, &trial); i++) {
        uint32_t dims = price_of_dims(&trial);
        if (dims < best && make_grids(input, &trial, target)) {
            uint32_t n = dims + price(input, &items, best - 1 - dims);
            if (n < best) {
                best = n;
                *rule = trial;
            }
        }
    }
    (void)make_grids(input, rule, target);
    free(items.all);
    free(items.symbols);
}

/* ---- sets ---- */

const uint64_t *wf_ext_set_at(const struct wf_ext_sets *sets, uint32_t set, uint32_t *n)
{
    if (set < WF_EXT_SET_FIRST) {
        *n = 0;
        return NULL;
    }
    *n = sets->table.lengths[set - WF_EXT_SET_FIRST] / (uint32_t)sizeof(uint64_t);
    return (const uint64_t *)(const void *)wf_strings_at(&sets->table, set - WF_EXT_SET_FIRST);
}

static uint32_t set_put(struct wf_ext_sets *sets, const uint64_t *symbols, uint32_t n)
{
    return WF_EXT_SET_FIRST +
           wf_strings_put(&sets->table, (const char *)symbols, n * sizeof(*symbols));
}

uint32_t wf_ext_set_common(struct wf_ext_sets *sets, uint32_t a, uint32_t b)
{
    uint64_t common[WF_EXT_SYMBOLS_MAX];
    uint32_t n = 0, n_a = 0, n_b = 0;

    if (a == b || a == WF_EXT_SET_NULL || b == WF_EXT_SET_NULL) {
        return a == WF_EXT_SET_NULL ? b : a;
    }
    const uint64_t *in_a = wf_ext_set_at(sets, a, &n_a), *in_b = wf_ext_set_at(sets, b, &n_b);
    for (uint32_t i = 0; i < n_a; i++) {
        for (uint32_t j = 0; j < n_b; j++) {
            if (in_a[i] == in_b[j]) {
                common[n++] = in_a[i];
            }
        }
    }
    return n > 0 ? set_put(sets, common, n) : WF_EXT_SET_NONE;
}

/* The chosen symbols of an item, the best first. */
static uint32_t set_of(const struct items *items, const struct item *item,
                       const struct cover *cover, struct wf_ext_sets *sets)
{
    uint64_t symbols[WF_EXT_SYMBOLS_MAX];
    uint32_t n = 0;

    for (uint32_t s = 0; s < item->n; s++) {
        const struct candidate *at = &cover->all[items->symbols[item->first + s]];
        uint32_t to = n;
        if (!at->best) {
            continue;
        }
        while (to > 0 && wf_ext_symbol_cost(symbols[to - 1]) > at->cost) {
            symbols[to] = symbols[to - 1];
            to--;
        }
        symbols[to] = at->packed;
        n++;
    }
    return set_put(sets, symbols, n);
}

/* The number of the set of a slot of an op. */
static uint32_t find_set(const struct wf_ext_input *input, const struct items *items,
                         const struct item *of, const struct wf_ext_op *op)
{
    const struct wf_ext_shape *shape = &input->shapes[op->shape];
    uint32_t slot = of->key % WF_EXT_SLOTS;

    if (needs_symbol(shape, op, slot) && items->all != NULL) {
        const struct item *found =
            bsearch(of, items->all, items->n, sizeof(*items->all), by_key);
        return found->covered;
    }
    bool is_null =
        slot < wf_ext_slots(shape) && !wf_ext_rooted(shape) && op->peer[slot] == WF_PROC_NULL;
    return is_null ? WF_EXT_SET_NULL : WF_EXT_SET_NONE;
}

static enum wf_status no_rule(const struct wf_ext_input *input, const struct item *item,
                              struct wf_err *err)
{
    const struct wf_ext_shape *shape = &input->shapes[item->key / WF_EXT_SLOTS];

    return wf_err_set(err, WF_EINVAL,
                      "no rule says which peers %s has: in '%.100s', for example, rank %u has "
                      "the peer %u",
                      wf_op_name((enum wf_op_kind)shape->kind), input->counts[item->count].path,
                      item->rank, item->peer);
}

/* Finds the symbols of each key; then `covered` of an item is the number of its set. */
static enum wf_status cover_all(const struct wf_ext_input *input, struct items *items,
                                struct wf_ext_sets *sets, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    for (uint32_t first = 0, end; first < items->n && status == WF_OK; first = end) {
        struct cover cover = {.all = NULL};
        end = end_of_key(items, first);
        if (!cover_key(input, items, first, end, &cover, most_symbols(input))) {
            status = no_rule(input, &items->all[end - 1], err);
        }
        for (uint32_t i = first; i < end && status == WF_OK; i++) {
            items->all[i].covered = set_of(items, &items->all[i], &cover, sets);
        }
        cover_fini(&cover);
    }
    return status;
}

enum wf_status wf_ext_assign(struct wf_ext_input *input, struct wf_ext_sets *sets,
                             struct wf_err *err)
{
    struct items items = {.all = NULL};

    gather(input, &items);
    enum wf_status status = cover_all(input, &items, sets, err);
    if (status != WF_OK) {
        free(items.all);
        free(items.symbols);
        return status;
    }
    for (uint32_t c = 0; c < input->n_counts; c++) {
        for (uint32_t r = 0; r < input->counts[c].n; r++) {
            struct wf_ext_rank *rank = &input->counts[c].ranks[r];
            for (uint32_t i = 0; i < rank->n * WF_EXT_SLOTS; i++) {
                struct wf_ext_op *op = &rank->ops[i / WF_EXT_SLOTS];
                uint32_t slot = i % WF_EXT_SLOTS;
                const struct item of = {.key = op->shape * WF_EXT_SLOTS + slot,
                                        .count = c,
                                        .rank = r,
                                        .peer = op->peer[slot]};
                op->set[slot] = find_set(input, &items, &of, op);
            }
        }
    }
    free(items.all);
    free(items.symbols);
    return WF_OK;
}
