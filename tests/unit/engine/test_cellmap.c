/* SPDX-License-Identifier: Apache-2.0 */
/* Compares maps with an array that is searched linearly. */
#include "engine/cellmap.h"

#include "harness/cell_model.h"

enum { MOST = 2000 };

/* How a test picks its keys and lets its map grow. */
struct plan {
    uint32_t largest;   /* key */
    uint32_t stride;    /* between keys: what they are multiples of */
    bool in_order;      /* keys are used in ascending order, again and again */
    uint32_t most;      /* entries; at most MOST */
    uint32_t per_event; /* operations */
};

struct entry {
    uint32_t key, value;
};

struct state {
    uint64_t results; /* a mix of them, see cell_model.h */
    struct wf_cellmap map;
    uint32_t n, longest, shrinks, wrong;
    uint32_t next_value, next_key;
    uint64_t found, missed, walked;
    struct entry entry[MOST];
};

static struct entry *naive_find(struct state *own, uint32_t key)
{
    for (uint32_t i = 0; i < own->n; i++) {
        if (own->entry[i].key == key) {
            return &own->entry[i];
        }
    }
    return NULL;
}

/* The entry with the smallest key that is at least `key`. */
static const struct entry *naive_next(const struct state *own, uint32_t key)
{
    const struct entry *best = NULL;

    for (uint32_t i = 0; i < own->n; i++) {
        const struct entry *entry = &own->entry[i];
        if (entry->key >= key && (best == NULL || entry->key < best->key)) {
            best = entry;
        }
    }
    return best;
}

static void compare(struct state *own, uint32_t value, uint32_t expected)
{
    own->wrong |= value != expected;
    own->results = wf_rng_mix(own->results + value);
    own->found += value != 0;
    own->missed += value == 0;
}

/* Some key, of an entry or not. */
static uint32_t some_key(struct state *own, const struct plan *plan, uint64_t random)
{
    uint32_t key = (uint32_t)wf_rng_below(wf_rng_mix(random), plan->largest + UINT64_C(1));

    if (random % 4 != 0 && own->n > 0) {
        key = own->entry[(random >> 8) % own->n].key;
        key += random % 4 == 1 && key < UINT32_MAX - 1;
    }
    return key;
}

static uint32_t new_key(struct state *own, const struct plan *plan, uint64_t random)
{
    uint32_t key = (uint32_t)wf_rng_below(random, plan->largest + UINT64_C(1));

    if (plan->in_order) {
        own->next_key =
            own->next_key > plan->largest - plan->stride ? 0 : own->next_key + plan->stride;
        return own->next_key;
    }
    return random % 64 == 0 ? plan->largest : key / plan->stride * plan->stride;
}

static void put(struct state *own, struct wf_ctx *ctx, uint32_t key)
{
    uint32_t value = ++own->next_value;

    compare(own, wf_cellmap_get(ctx, &own->map, key), 0);
    wf_cellmap_put(ctx, &own->map, key, value);
    compare(own, wf_cellmap_get(ctx, &own->map, key), value);
    if (value % 4 == 0) {
        *wf_cellmap_edit(ctx, &own->map, key) = ++own->next_value;
        value = own->next_value;
        compare(own, wf_cellmap_get(ctx, &own->map, key), value);
    }
    wf_touch(ctx, &own->entry[own->n], sizeof(own->entry[0]));
    own->entry[own->n++] = (struct entry){.key = key, .value = value};
    own->longest = own->n > own->longest ? own->n : own->longest;
}

static void take(struct state *own, struct wf_ctx *ctx, uint32_t key)
{
    struct entry *entry = naive_find(own, key);

    compare(own, wf_cellmap_take(ctx, &own->map, key), entry == NULL ? 0 : entry->value);
    if (entry != NULL) {
        wf_touch(ctx, entry, sizeof(*entry));
        *entry = own->entry[--own->n];
    }
}

static void next(struct state *own, struct wf_ctx *ctx, uint32_t from)
{
    const struct entry *entry = naive_next(own, from);
    uint32_t key = from;

    compare(own, wf_cellmap_next(ctx, &own->map, &key), entry == NULL ? 0 : entry->value);
    own->wrong |= entry != NULL && key != entry->key;
}

/* Steps through all of the map. */
static void walk(struct state *own, struct wf_ctx *ctx)
{
    uint32_t n = 0;

    for (uint32_t key = 0, last = 0, value;
         (value = wf_cellmap_next(ctx, &own->map, &key)) != 0; last = key++) {
        const struct entry *entry = naive_find(own, key);
        own->wrong |= entry == NULL || entry->value != value || (n > 0 && key <= last);
        n++;
    }
    own->wrong |= n != own->n;
    own->walked += n;
}

static void operate(struct state *own, struct wf_ctx *ctx)
{
    const struct plan *plan = cell_plan(ctx);
    uint64_t random = wf_random(ctx);
    uint32_t key = some_key(own, plan, random >> 16);

    own->shrinks = own->n >= plan->most ? 1 : own->n == 0 ? 0 : own->shrinks;
    if (random % 8 == 0) {
        compare(own, wf_cellmap_get(ctx, &own->map, key),
                naive_find(own, key) == NULL ? 0 : naive_find(own, key)->value);
    } else if (random % 8 == 1) {
        next(own, ctx, key);
    } else if (own->shrinks ? random % 8 < 7 : random % 8 < 3) {
        take(own, ctx, key);
    } else {
        key = new_key(own, plan, wf_random(ctx));
        if (naive_find(own, key) == NULL && own->n < plan->most) {
            put(own, ctx, key);
        }
    }
    own->wrong |= own->map.count != own->n;
}

static void step(void *state, struct wf_ctx *ctx)
{
    struct state *own = state;
    const struct plan *plan = cell_plan(ctx);

    wf_touch(ctx, own, offsetof(struct state, entry));
    for (uint32_t i = 0; i < plan->per_event; i++) {
        operate(own, ctx);
    }
    if (wf_random(ctx) % 8 == 0) {
        walk(own, ctx);
    }
}

static void clear(void *state, struct wf_ctx *ctx)
{
    struct state *own = state;

    wf_touch(ctx, own, offsetof(struct state, entry));
    while (own->n > 0) {
        take(own, ctx, own->entry[wf_random(ctx) % own->n].key);
    }
}

static bool is_right(const void *state)
{
    const struct state *own = state;

    return own->wrong == 0 && own->map.root == 0 && own->map.count == 0 && own->found > 100 &&
           own->missed > 100 && own->walked > 10;
}

static struct cell_model model_of(const struct plan *plan, uint32_t processes, uint32_t steps)
{
    return (struct cell_model){.processes = processes,
                               .steps = steps,
                               .state_size = sizeof(struct state),
                               .cell_size = WF_CELLMAP_CELL_SIZE,
                               .step = step,
                               .clear = clear,
                               .is_right = is_right,
                               .plan = plan};
}

static void maps_have_what_the_naive_map_has(void)
{
    static const struct plan plans[] = {
        {.largest = 20, .stride = 1, .most = 7},
        {.largest = 20, .stride = 1, .most = 12},
        {.largest = 300, .stride = 1, .most = 200},
        {.largest = 3000, .stride = 1, .in_order = true, .most = 60},
        {.largest = UINT32_MAX - 1, .stride = 1, .most = 7},
        {.largest = UINT32_MAX - 1, .stride = 1, .most = 150},
        {.largest = UINT32_MAX - 1, .stride = 0x08000000, .most = 30},
        {.largest = UINT32_MAX - 1, .stride = 0x00300000, .in_order = true, .most = 100},
    };

    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        struct plan plan = plans[i];
        plan.per_event = 8;
        struct cell_model model = model_of(&plan, 6, 200);
        printf("# plan %zu\n", i);
        CHECK(cell_model_is_right(&model, SIZE_MAX));
    }
}

static bool is_right_and_large(const void *state)
{
    return is_right(state) && ((const struct state *)state)->longest == MOST;
}

/* Sequential and check-undo only. */
static void large_maps_have_what_the_naive_map_has(void)
{
    static const struct plan plans[] = {
        {.largest = 4000, .stride = 1, .most = MOST},
        {.largest = 10000, .stride = 1, .in_order = true, .most = MOST},
        {.largest = UINT32_MAX - 1, .stride = 1, .most = MOST},
    };

    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        struct plan plan = plans[i];
        plan.per_event = 100;
        struct cell_model model = model_of(&plan, 1, 200);
        model.is_right = is_right_and_large;
        CHECK(cell_model_is_right(&model, 2));
    }
}

int main(void)
{
    RUN(maps_have_what_the_naive_map_has);
    RUN(large_maps_have_what_the_naive_map_has);
    return wf_test_done();
}
