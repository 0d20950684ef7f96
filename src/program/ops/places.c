/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/places.h"

#include "base/array.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "program/ops/fields.h"

#include <stdlib.h>

/* Variants of a place are separate places if they have this many spans on average. */
enum { SPANS_PER_VARIANT = 8 };

/* A place without and with its variants. */
struct signature {
    uint64_t coarse, fine;
};

static uint64_t join(uint64_t hash, uint64_t value)
{
    return wf_rng_mix(hash + value + WF_RNG_GOLDEN);
}

/* A coarse place, and what was found in it. */
struct coarse {
    uint64_t spans;
    uint32_t variants;
    uint32_t place; /* number plus one; 0: not numbered yet */
};

/* A variant of a coarse place. */
struct variant {
    uint32_t coarse;
    uint32_t place; /* likewise */
};

struct builder {
    const struct wf_source *source;
    struct wf_places *out;
    uint64_t capacity, durations_capacity, disturbances_capacity;
    struct wf_map coarse_numbers, variant_numbers;
    struct coarse *coarse;
    struct variant *variants;
    uint64_t coarse_capacity, variant_capacity;

    /* The rank that is read. */
    uint32_t rank;
    struct wf_map comms; /* number of a communicator -> order of its first use */
    uint64_t *regions;   /* hashes of the open regions, each with those around it */
    uint64_t n_regions, regions_capacity;
    /* The last op that is not a compute op, and its signature. Most ops are not next to a
     * compute op: their signatures are never made. */
    const struct wf_op *last; /* or null */
    struct signature before;
    /* Compute ops since then: their calls' sites. Their place is known with the next op. */
    uint32_t *sites;
    uint64_t n_sites, sites_capacity;
};

/* ---- the signature of an op ---- */

static uint32_t bits_of(uint64_t bytes)
{
    uint32_t bits = 0;

    for (; bytes > 0; bytes /= 2) {
        bits++;
    }
    return bits;
}

static uint64_t comm_order(struct builder *builder, uint32_t comm)
{
    uint64_t *order = wf_map_put(&builder->comms, comm);

    if (*order == 0) {
        *order = builder->comms.n;
    }
    return *order;
}

static bool is_root(const struct builder *builder, const struct wf_op *op)
{
    struct wf_group group;

    return wf_source_group(builder->source, builder->rank, op->comm, &group) &&
           group.rank == op->root;
}

static bool has_message(enum wf_op_family family)
{
    return family == WF_FAMILY_SEND || family == WF_FAMILY_RECV ||
           family == WF_FAMILY_SENDRECV || family == WF_FAMILY_PROBE ||
           family == WF_FAMILY_PERSISTENT || family == WF_FAMILY_ONESIDED;
}

static struct signature signature_of(struct builder *builder, const struct wf_op *op)
{
    enum wf_op_family family = wf_op_info(op->kind)->family;
    bool named = family == WF_FAMILY_MARKER || family == WF_FAMILY_CALL;
    bool rooted = (wf_op_layout_of(op->kind)->flags & WF_HAS_ROOT) != 0;
    uint64_t coarse = join(0, (uint64_t)op->kind);

    coarse = join(coarse, named ? (uint32_t)op->tag : 0);
    coarse = join(coarse, rooted && is_root(builder, op));

    uint64_t fine = coarse;
    if (has_message(family)) {
        fine = join(fine, (uint32_t)op->tag);
    }
    if (has_message(family) || family == WF_FAMILY_COLLECTIVE) {
        fine = join(fine, bits_of(op->bytes));
    }
    if (wf_op_has_comm(op->kind)) {
        fine = join(fine, comm_order(builder, op->comm));
    }
    return (struct signature){coarse, fine};
}

/* ---- spans ---- */

static uint32_t number_of(struct wf_map *map, uint64_t key)
{
    uint64_t *number = wf_map_put(map, key);

    if (*number == 0) {
        *number = map->n;
    }
    return (uint32_t)(*number - 1);
}

static uint32_t variant_of(struct builder *builder, struct signature signature)
{
    uint32_t coarse = number_of(&builder->coarse_numbers, signature.coarse);
    uint32_t variant =
        number_of(&builder->variant_numbers, join(signature.coarse, signature.fine));

    WF_GROW_ZERO(builder->coarse, coarse, builder->coarse_capacity);
    WF_GROW_ZERO(builder->variants, variant, builder->variant_capacity);
    if (builder->variant_numbers.n > builder->out->n_places) {
        builder->out->n_places = (uint32_t)builder->variant_numbers.n; /* so far */
        builder->variants[variant].coarse = coarse;
        builder->coarse[coarse].variants++;
    }
    builder->coarse[coarse].spans++;
    return variant;
}

/* The op after the open spans is known: they get their variants. */
static void close_spans(struct builder *builder, struct signature after)
{
    struct wf_places *out = builder->out;
    uint64_t region = builder->n_regions > 0 ? builder->regions[builder->n_regions - 1] : 0;

    for (uint64_t i = 0; i < builder->n_sites; i++) {
        uint64_t around = join(join(region, builder->sites[i]), i);
        const struct signature signature = {
            join(join(around, builder->before.coarse), after.coarse),
            join(join(around, builder->before.fine), after.fine)};

        out->place_of[out->n_spans - builder->n_sites + i] = variant_of(builder, signature);
    }
    builder->n_sites = 0;
}

static void add_span(struct builder *builder, const struct wf_op *op)
{
    struct wf_places *out = builder->out;

    WF_GROW(out->place_of, out->n_spans, builder->capacity);
    WF_GROW(out->durations, out->n_spans, builder->durations_capacity);
    WF_GROW(out->disturbances, out->n_spans, builder->disturbances_capacity);
    WF_GROW(builder->sites, builder->n_sites, builder->sites_capacity);
    if (builder->n_sites == 0) {
        builder->before = builder->last != NULL ? signature_of(builder, builder->last)
                                                : (struct signature){.coarse = 0};
    }
    builder->sites[builder->n_sites++] = op->site;
    out->durations[out->n_spans] = op->duration;
    out->disturbances[out->n_spans] = op->disturbances;
    out->n_spans++;
}

static void follow_region(struct builder *builder, const struct wf_op *op)
{
    uint64_t n = builder->n_regions;

    if (op->kind == WF_OP_REGION_BEGIN) {
        WF_GROW(builder->regions, n, builder->regions_capacity);
        builder->regions[n] = join(n > 0 ? builder->regions[n - 1] : 0, (uint32_t)op->tag);
        builder->n_regions++;
    } else if (op->kind == WF_OP_REGION_END && n > 0) {
        builder->n_regions--;
    }
}

static void read_rank(struct builder *builder, uint32_t rank)
{
    const struct signature edge = {.coarse = 0}; /* the beginning and the end of a rank */
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op ops[2] = {{.kind = WF_OP_COMPUTE}}, *op = &ops[0]; /* the last, and the next */

    builder->rank = rank;
    builder->n_regions = 0;
    builder->last = NULL;
    wf_map_fini(&builder->comms);
    builder->comms = (struct wf_map){.n = 0};
    builder->out->first[rank] = builder->out->n_spans;
    while (wf_source_next(builder->source, rank, &cursor, op)) {
        if (op->kind == WF_OP_COMPUTE) {
            add_span(builder, op);
            continue;
        }
        if (builder->n_sites > 0) {
            close_spans(builder, signature_of(builder, op));
        }
        follow_region(builder, op);
        builder->last = op;
        op = op == &ops[0] ? &ops[1] : &ops[0];
    }
    close_spans(builder, edge);
    builder->last = NULL;
}

/* ---- places ---- */

static bool is_divided(const struct coarse *coarse)
{
    return coarse->spans / SPANS_PER_VARIANT >= coarse->variants;
}

/* Replaces the variant of each span by the number of its place. */
static void number_places(struct builder *builder)
{
    struct wf_places *out = builder->out;

    out->n_places = 0;
    for (uint64_t span = 0; builder->variants != NULL && span < out->n_spans; span++) {
        struct variant *variant = &builder->variants[out->place_of[span]];
        struct coarse *coarse = &builder->coarse[variant->coarse];
        uint32_t *place = is_divided(coarse) ? &variant->place : &coarse->place;

        if (*place == 0) {
            *place = ++out->n_places;
        }
        out->place_of[span] = *place - 1;
    }
}

static void list_members(struct wf_places *places)
{
    uint64_t *at = wf_xcalloc((size_t)places->n_places + 1, sizeof(*at));

    places->members_first = wf_xcalloc((size_t)places->n_places + 1, sizeof(*at));
    places->members = wf_xcalloc(places->n_spans + 1, sizeof(*places->members));
    for (uint64_t span = 0; span < places->n_spans; span++) {
        places->members_first[places->place_of[span] + 1]++;
    }
    for (uint32_t place = 0; place < places->n_places; place++) {
        places->members_first[place + 1] += places->members_first[place];
        at[place] = places->members_first[place];
    }
    for (uint64_t span = 0; span < places->n_spans; span++) {
        places->members[at[places->place_of[span]]++] = span;
    }
    free(at);
}

static void builder_fini(struct builder *builder)
{
    wf_map_fini(&builder->coarse_numbers);
    wf_map_fini(&builder->variant_numbers);
    wf_map_fini(&builder->comms);
    free(builder->coarse);
    free(builder->variants);
    free(builder->regions);
    free(builder->sites);
}

enum wf_status wf_places_init(struct wf_places *places, const struct wf_source *source,
                              struct wf_err *err)
{
    struct builder builder = {.source = source, .out = places};

    *places = (struct wf_places){.n_ranks = source->n_ranks};
    places->first = wf_xcalloc((size_t)source->n_ranks + 1, sizeof(*places->first));
    for (uint32_t rank = 0; rank < source->n_ranks; rank++) {
        read_rank(&builder, rank);
    }
    places->first[source->n_ranks] = places->n_spans;
    number_places(&builder);
    builder_fini(&builder);

    enum wf_status status = wf_source_check(source, err);
    if (status != WF_OK) {
        wf_places_fini(places);
        return status;
    }
    list_members(places);
    return WF_OK;
}

void wf_places_fini(struct wf_places *places)
{
    free(places->first);
    free(places->place_of);
    free(places->durations);
    free(places->disturbances);
    free(places->members_first);
    free(places->members);
    *places = (struct wf_places){.n_ranks = 0};
}

uint32_t wf_places_rank(const struct wf_places *places, uint64_t span)
{
    uint32_t low = 0;

    WF_BISECT_LAST(low, places->n_ranks, middle, places->first[middle] <= span);
    return low;
}
