/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/requests.h"

#include "base/array.h"
#include "base/mem.h"

#include <stdlib.h>

/* The type of a request, enum wf_ext_wait, is in the lowest bits of its sort. */
enum { TYPE_BITS = 4, KIND_BITS = 12 };
/* A longer list of positions is a name only if there is no other. */
enum { NAMES_MAX = 8, POSITIONS_MAX = 64 };

static uint32_t type_of(uint32_t sort)
{
    return sort & ((1U << TYPE_BITS) - 1);
}

uint32_t wf_ext_sort(const struct wf_ext_shape *shape)
{
    const struct wf_op_info *info = wf_op_info((enum wf_op_kind)shape->kind);
    uint32_t which = shape->comm << KIND_BITS | shape->kind;

    if (info->family == WF_FAMILY_COLLECTIVE) {
        return which << TYPE_BITS | WF_EXT_WAIT_OTHERS;
    }
    return info->family == WF_FAMILY_RECV ||
                   (info->family == WF_FAMILY_PERSISTENT && info->detail == WF_PERSISTENT_RECV)
               ? WF_EXT_WAIT_RECEIVES
               : WF_EXT_WAIT_SENDS;
}

void wf_ext_requests_add(struct wf_ext_requests *list, uint32_t number, uint32_t sort)
{
    WF_PUSH(list->items, list->n, list->capacity,
            (struct wf_ext_request){.number = number, .sort = sort});
}

uint32_t wf_ext_requests_find(const struct wf_ext_requests *list, uint32_t number)
{
    uint32_t i = 0;

    while (i < list->n && list->items[i].number != number) {
        i++;
    }
    return i;
}

/* ---- naming ---- */

/* How many requests of a sort are in the list before place `end`. */
static uint32_t count_sort(const struct wf_ext_requests *list, uint32_t sort, uint32_t end)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < end; i++) {
        n += list->items[i].sort == sort ? 1 : 0;
    }
    return n;
}

/* Whether the places are exactly those of the requests of a type, or all. */
static bool are_type(const struct wf_ext_requests *list, const uint32_t *places, uint32_t n,
                     uint32_t type)
{
    uint32_t there = 0;

    for (uint32_t i = 0; i < list->n; i++) {
        there += type == WF_EXT_WAIT_ALL || type_of(list->items[i].sort) == type ? 1 : 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (type != WF_EXT_WAIT_ALL && type_of(list->items[places[i]].sort) != type) {
            return false;
        }
    }
    return there == n;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return WF_ORDER(*x, *y);
}

/* The sorts of the requests at the places, each once, in order. Returns how many there are. */
static uint32_t sorts_of(const struct wf_ext_requests *list, const uint32_t *places, uint32_t n,
                         uint32_t *sorts)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        sorts[i] = list->items[places[i]].sort;
    }
    WF_SORT(sorts, n, by_number);
    for (uint32_t i = 0; i < n; i++) {
        if (kept == 0 || sorts[i] != sorts[kept - 1]) {
            sorts[kept++] = sorts[i];
        }
    }
    return kept;
}

static uint32_t put(struct wf_strings *table, const uint32_t *words, uint32_t n)
{
    return 1 + wf_strings_put(table, (const char *)words, n * sizeof(*words));
}

/* The words that a shape has in the table. */
static const uint32_t *words_of(const struct wf_strings *table,
                                const struct wf_ext_shape *shape, uint32_t *n)
{
    *n = shape->positions > 0
             ? table->lengths[shape->positions - 1] / (uint32_t)sizeof(uint32_t)
             : 0;
    return *n > 0 ? (const uint32_t *)(const void *)wf_strings_at(table, shape->positions - 1)
                  : NULL;
}

/* All names of some requests; a name is a word of enum wf_ext_wait and its positions. */
struct names {
    uint32_t words[2 * NAMES_MAX];
    uint32_t n;
};

static void add_name(struct names *names, uint32_t wait, uint32_t positions)
{
    uint32_t *name = &names->words[(size_t)names->n * 2];

    name[0] = wait;
    name[1] = positions;
    names->n++;
}

/* If the places are all requests of some sorts. */
static void name_sorts(const struct wf_ext_requests *list, const uint32_t *places, uint32_t n,
                       struct wf_strings *table, struct names *names)
{
    uint32_t *sorts = wf_xcalloc((size_t)n + 1, sizeof(*sorts)), there = 0;
    uint32_t n_sorts = sorts_of(list, places, n, sorts);

    for (uint32_t i = 0; i < n_sorts; i++) {
        there += count_sort(list, sorts[i], list->n);
    }
    if (there == n) {
        add_name(names, WF_EXT_WAIT_SORTS, put(table, sorts, n_sorts));
    }
    free(sorts);
}

/* By the sort of each request and how many older ones of this sort there are. */
static void name_oldest(const struct wf_ext_requests *list, const uint32_t *places, uint32_t n,
                        struct wf_strings *table, struct names *names)
{
    uint32_t *words = wf_xcalloc(2 * (size_t)n + 1, sizeof(*words));

    for (uint32_t i = 0; i < n; i++) {
        uint32_t sort = list->items[places[i]].sort;
        words[(size_t)i * 2] = sort;
        words[(size_t)i * 2 + 1] = count_sort(list, sort, places[i]);
    }
    add_name(names, WF_EXT_WAIT_OLDEST, put(table, words, 2 * n));
    free(words);
}

static void name_newest(const struct wf_ext_requests *list, uint32_t place,
                        struct wf_strings *table, struct names *names)
{
    uint32_t sort = list->items[place].sort;

    if (count_sort(list, sort, place) + 1 == count_sort(list, sort, list->n)) {
        add_name(names, WF_EXT_WAIT_NEWEST, put(table, &sort, 1));
    }
}

void wf_ext_requests_name(const struct wf_ext_requests *list, const uint32_t *places,
                          uint32_t n, bool single, struct wf_strings *table,
                          struct wf_ext_shape *shape)
{
    struct names names = {.n = 0};

    /* The most specific name first. */
    if (n == 1) {
        name_oldest(list, places, n, table, &names);
    }
    if (n == 1 && single) {
        name_newest(list, places[0], table, &names);
    }
    if (!single) {
        name_sorts(list, places, n, table, &names);
    }
    if (n != 1 && (n <= POSITIONS_MAX || names.n == 0)) {
        name_oldest(list, places, n, table, &names);
    }
    for (uint32_t type = WF_EXT_WAIT_OTHERS; !single && type >= WF_EXT_WAIT_ALL; type--) {
        if (are_type(list, places, n, type)) {
            add_name(&names, type, 0);
        }
    }
    shape->wait = WF_EXT_WAIT_OPEN;
    shape->positions = put(table, names.words, 2 * names.n);
}

/* ---- deciding on names ---- */

/* The names of a shape, as shapes; the most specific first. */
struct open_shape {
    uint32_t names[NAMES_MAX];
    uint32_t n;    /* 0: its name is decided from the beginning */
    uint64_t uses; /* ops that have it */
    bool covered;  /* one of its names is chosen */
};

struct deciding {
    struct open_shape *shapes;
    uint32_t n;
    uint64_t *uses; /* by name: ops that could have it, of those that are not covered */
    bool *chosen;   /* by name */
    uint32_t n_names;
};

static void find_names(struct wf_ext_input *input, uint32_t shape, struct open_shape *out)
{
    struct wf_ext_shape name = input->shapes[shape];
    uint32_t n = 0;

    if (name.wait != WF_EXT_WAIT_OPEN) {
        return;
    }
    const uint32_t *words = words_of(&input->positions, &name, &n);
    for (size_t i = 0; i + 1 < n; i += 2) {
        name.wait = words[i];
        name.positions = words[i + 1];
        out->names[out->n++] = wf_ext_shape_put(input, &name);
    }
}

static void count_uses(const struct wf_ext_input *input, struct deciding *deciding)
{
    for (uint32_t c = 0; c < input->n_counts; c++) {
        for (uint32_t r = 0; r < input->counts[c].n; r++) {
            const struct wf_ext_rank *rank = &input->counts[c].ranks[r];
            for (uint32_t i = 0; i < rank->n; i++) {
                deciding->shapes[rank->ops[i].shape].uses++;
            }
        }
    }
    for (uint32_t s = 0; s < deciding->n; s++) {
        for (uint32_t i = 0; i < deciding->shapes[s].n; i++) {
            deciding->uses[deciding->shapes[s].names[i]] += deciding->shapes[s].uses;
        }
    }
}

/* Chooses the name that most ops could have; false if all ops have one. */
static bool choose_name(struct deciding *deciding)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < deciding->n_names; i++) {
        best = deciding->uses[i] > deciding->uses[best] ? i : best;
    }
    if (deciding->n_names == 0 || deciding->uses[best] == 0) {
        return false;
    }
    deciding->chosen[best] = true;
    for (uint32_t s = 0; s < deciding->n; s++) {
        struct open_shape *shape = &deciding->shapes[s];
        bool has = false;
        for (uint32_t i = 0; i < shape->n && !shape->covered; i++) {
            has = has || shape->names[i] == best;
        }
        for (uint32_t i = 0; i < shape->n && has; i++) {
            deciding->uses[shape->names[i]] -= shape->uses;
        }
        shape->covered = shape->covered || has;
    }
    return true;
}

void wf_ext_requests_decide(struct wf_ext_input *input)
{
    struct deciding deciding = {.n = input->n_shapes};
    uint32_t *to = wf_xcalloc((size_t)deciding.n + 1, sizeof(*to));

    deciding.shapes = wf_xcalloc((size_t)deciding.n + 1, sizeof(*deciding.shapes));
    for (uint32_t s = 0; s < deciding.n; s++) {
        find_names(input, s, &deciding.shapes[s]);
    }
    deciding.n_names = input->n_shapes;
    deciding.uses = wf_xcalloc((size_t)deciding.n_names + 1, sizeof(*deciding.uses));
    deciding.chosen = wf_xcalloc((size_t)deciding.n_names + 1, sizeof(*deciding.chosen));
    count_uses(input, &deciding);
    while (choose_name(&deciding)) {
    }
    for (uint32_t s = 0; s < deciding.n; s++) {
        const struct open_shape *shape = &deciding.shapes[s];
        to[s] = s;
        for (uint32_t i = shape->n; i-- > 0;) {
            to[s] = deciding.chosen[shape->names[i]] ? shape->names[i] : to[s];
        }
    }
    wf_ext_remap(input, to);
    free(deciding.shapes);
    free(deciding.uses);
    free(deciding.chosen);
    free(to);
}

/* ---- choosing ---- */

/* The place of the request of a sort that has so many older ones; list->n if there is none. */
static uint32_t place_in_sort(const struct wf_ext_requests *list, uint32_t sort, uint32_t older)
{
    uint32_t n = 0, i = 0;

    for (; i < list->n; i++) {
        if (list->items[i].sort == sort && n++ == older) {
            break;
        }
    }
    return i;
}

static bool has_word(const uint32_t *words, uint32_t n, uint32_t word)
{
    for (uint32_t i = 0; i < n; i++) {
        if (words[i] == word) {
            return true;
        }
    }
    return false;
}

bool wf_ext_requests_choose(const struct wf_ext_requests *list,
                            const struct wf_ext_shape *shape, const struct wf_strings *table,
                            void (*choose)(void *arg, uint32_t place), void *arg)
{
    uint32_t n = 0;
    const uint32_t *words = words_of(table, shape, &n);

    if (shape->wait == WF_EXT_WAIT_NEWEST) {
        uint32_t there = count_sort(list, words[0], list->n);
        if (there > 0) {
            choose(arg, place_in_sort(list, words[0], there - 1));
        }
        return there > 0;
    }
    for (uint32_t i = 0; shape->wait != WF_EXT_WAIT_OLDEST && i < list->n; i++) {
        uint32_t sort = list->items[i].sort;
        if (shape->wait == WF_EXT_WAIT_ALL || type_of(sort) == shape->wait ||
            (shape->wait == WF_EXT_WAIT_SORTS && has_word(words, n, sort))) {
            choose(arg, i);
        }
    }
    for (uint32_t i = 0; shape->wait == WF_EXT_WAIT_OLDEST && i + 1 < n; i += 2) {
        uint32_t place = place_in_sort(list, words[i], words[i + 1]);
        if (place == list->n) {
            return false;
        }
        choose(arg, place);
    }
    return true;
}
