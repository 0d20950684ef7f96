/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/play.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/rng.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct playing {
    const struct wf_ext_player *player;
    const struct wf_ext_model *model;
    uint32_t rank;
    uint64_t class;
    uint32_t sample; /* the rank of the largest count that it resembles */
    uint32_t *turns; /* by step */
    uint64_t *elements[2];
    uint32_t main_loop; /* number of the step that is repeated; 0: none */
    uint32_t open_bytes[WF_EXT_SCALES_MAX], open_compute[WF_EXT_SCALES_MAX];
    uint64_t n_computes, n_sends;
    uint64_t *n_collectives; /* by communicator */
    uint64_t left;           /* steps that may still be played */
};

/* The steps of a rank are bounded by what the longest rank of the traces has: a rule may say any
 * number of rounds, and rounds without ops would be compared with nothing. */
enum { STEPS_MIN = 1 << 20, STEPS_PER_OP = 1 << 12 };

/* A time or a size as an integer, from 0 on. */
static int64_t whole(double value, int64_t unit)
{
    const double most = 1e18;
    double units = value > 0 ? (value < most ? value : most) / (double)unit : 0;

    return unit * llround(units);
}

/* ---- values ---- */

/* A rank of the largest count of the same class, always the same one for a rank. */
static uint32_t find_sample(const struct wf_ext_model *model, uint64_t class, uint32_t rank)
{
    const uint64_t *first = wf_map_get(&model->samples, class);
    uint32_t n = model->input.counts[model->input.n_counts - 1].n;

    if (first == NULL) {
        return rank % n;
    }
    uint32_t at = (uint32_t)*first - 1;
    uint32_t skip = rank < n && model->classes[model->input.n_counts - 1][rank] == class
                        ? UINT32_MAX
                        : (uint32_t)(wf_rng_mix(rank) % model->class_size[at]);
    if (skip == UINT32_MAX) {
        return rank;
    }
    while (skip-- > 0) {
        at = model->next_sample[at];
    }
    return at;
}

/* The first op of a statement in a rank of the largest count, or of any rank of it. */
static const struct wf_ext_ref *find_ref(const struct wf_ext_model *model, uint32_t statement,
                                         uint32_t rank, uint32_t *n)
{
    uint32_t last = model->input.n_counts - 1;
    uint32_t low = model->first_ref[statement], end = model->first_ref[statement + 1];

    WF_BISECT(low, end, middle,
              model->refs[middle].count < last ||
                  (model->refs[middle].count == last && model->refs[middle].rank < rank));
    if (low == end) {
        if (end == model->first_ref[statement]) {
            return NULL;
        }
        low = end - 1;
        while (low > model->first_ref[statement] && model->refs[low].turn > 0) {
            low--;
        }
    }
    const struct wf_ext_ref *first = &model->refs[low];
    for (*n = 1; low + *n < end && model->refs[low + *n].count == first->count &&
                 model->refs[low + *n].rank == first->rank;) {
        (*n)++;
    }
    return first;
}

/* The turn of the sample to take. A rank that the traces do not have takes turns at random, if they
 * are alike: then the longest of many ranks takes longer than the longest of few, as it does when
 * times have noise. */
static uint32_t turn_of_sample(const struct playing *playing,
                               const struct wf_ext_quantity *quantity, uint32_t turn)
{
    return !quantity->turns_alike || playing->sample == playing->rank
               ? turn
               : (uint32_t)(wf_rng_mix(((uint64_t)playing->rank << 32) + turn) >> 32);
}

/* The op of the sample for this turn, and in *of the rank that has it; null if there is none. */
static const struct wf_ext_op *sample_of(const struct playing *playing,
                                         const struct wf_ext_step *step, uint32_t round,
                                         uint32_t turn, const struct wf_ext_rank **of,
                                         uint32_t rank)
{
    const struct wf_ext_model *model = playing->model;
    uint32_t statement =
        step->statements[round < step->n_statements ? round : step->n_statements - 1];
    uint32_t n = 0;
    const struct wf_ext_ref *ref = find_ref(model, statement, rank, &n);

    if (ref == NULL) {
        return NULL;
    }
    ref += turn % n;
    *of = &model->input.counts[ref->count].ranks[ref->rank];
    return &(*of)->ops[ref->op];
}

static double sampled(const struct playing *playing, const struct wf_ext_quantity *quantity,
                      double value)
{
    double grown = wf_ext_law_at(&quantity->law, playing->player->grid);

    return quantity->last > 0 && value > 0 ? value * grown / quantity->last : value;
}

/* The law that applies, or null. */
static const struct wf_ext_law *law_of(const struct playing *playing,
                                       const struct wf_ext_quantity *quantity, uint32_t turn)
{
    if (quantity->kind == WF_EXT_QUANTITY_LAW) {
        return &quantity->law;
    }
    uint64_t group = quantity->by_class ? playing->class : 0;
    group = quantity->by_turn ? wf_rng_mix(group + turn + 1) : group;
    const uint64_t *number = wf_map_get(&quantity->groups, group);
    return number != NULL ? &quantity->laws[*number - 1] : &quantity->laws[0];
}

static int64_t value_at(const struct playing *playing, const struct wf_ext_step *step,
                        enum wf_ext_value value, uint32_t round, uint32_t turn)
{
    const struct wf_ext_quantity *quantity = &step->value[value];
    const struct wf_ext_rank *of = NULL;
    const struct wf_ext_op *like = NULL;
    const struct wf_ext_law *law = NULL;
    double result = 0;

    switch ((enum wf_ext_quantity_kind)quantity->kind) {
    case WF_EXT_QUANTITY_NONE:
        return value == WF_EXT_COMPUTE ? -1 : 0;
    case WF_EXT_QUANTITY_LAW:
    case WF_EXT_QUANTITY_GROUPS:
        law = law_of(playing, quantity, turn);
        result = wf_ext_law_at(law, playing->player->grid);
        result *= quantity->ratio != 1 ? pow(quantity->ratio, round) : 1;
        break;
    case WF_EXT_QUANTITY_SAMPLED:
        if (quantity->capacity_bytes > 0) {
            return quantity->capacity_bytes;
        }
        like = sample_of(playing, step, round, turn_of_sample(playing, quantity, turn), &of,
                         playing->sample);
        if (like != NULL) {
            result = sampled(playing, quantity,
                             value == WF_EXT_COMPUTE ? (double)like->compute
                                                     : (double)like->bytes[value]);
        }
        break;
    }
    if (value == WF_EXT_COMPUTE || (law != NULL && law->form == WF_EXT_BLOCKS)) {
        return result < 0 ? -1 : whole(result, 1);
    }
    return whole(result, quantity->unit);
}

/* Fills the array number `which` of an op. */
static void fill_elements(struct playing *playing, const struct wf_ext_step *step,
                          uint32_t which, uint32_t size, uint32_t turn)
{
    enum wf_ext_value value = which == 0 ? WF_EXT_ELEMENTS : WF_EXT_RECV_ELEMENTS;
    const struct wf_ext_quantity *quantity = &step->value[value];
    const struct wf_ext_model *model = playing->model;
    const struct wf_ext_count *last = &model->input.counts[model->input.n_counts - 1];
    const struct wf_ext_rank *of = NULL;
    const struct wf_ext_op *like = NULL;

    if (quantity->kind == WF_EXT_QUANTITY_SAMPLED) {
        like = sample_of(playing, step, 0, turn, &of, playing->rank % last->n);
    }
    for (uint32_t i = 0; i < size; i++) {
        double value_i = 0;
        if (like != NULL && like->n_elements[which] > 0) {
            const uint64_t *from =
                &of->words[like->arrays + (which == 1 ? like->n_elements[0] : 0)];
            value_i = sampled(playing, quantity, (double)from[i % like->n_elements[which]]);
        } else if (quantity->kind != WF_EXT_QUANTITY_NONE) {
            value_i = wf_ext_law_at(law_of(playing, quantity, turn), playing->player->grid);
        }
        playing->elements[which][i] = (uint64_t)whole(value_i, quantity->unit);
    }
}

/* ---- steps ---- */

static enum wf_status no_comm(const struct playing *playing, const struct wf_ext_shape *shape,
                              struct wf_err *err)
{
    return wf_err_set(
        err, WF_EINVAL,
        "rank %u of %u does not have the communicator of its %s; the rule does not "
        "fit this number of ranks",
        playing->rank, playing->player->grid->n, wf_op_name((enum wf_op_kind)shape->kind));
}

static enum wf_status find_peers(const struct playing *playing, const struct wf_ext_step *step,
                                 const struct wf_ext_where *where, struct wf_ext_played *out,
                                 struct wf_err *err)
{
    const struct wf_ext_player *player = playing->player;
    const struct wf_ext_shape *shape = out->shape;

    for (uint32_t slot = 0; slot < wf_ext_slots(shape); slot++) {
        struct wf_ext_grid line = {.n_dims = 1};
        const struct wf_ext_grid *grid = player->grid;
        const struct wf_ext_symbol symbol = wf_ext_step_symbol(step, slot, where->round);
        uint32_t rank = playing->rank;

        out->op.peer[slot] = (shape->any >> slot & 1) != 0 ? WF_ANY_SOURCE : WF_PROC_NULL;
        if (!step->has_symbol[slot] || wf_ext_guard_holds(&step->null_guard[slot], where)) {
            continue;
        }
        if (wf_ext_rooted(shape)) {
            line.n = player->comm_size(player->arg, rank, shape->comm);
            if (line.n == 0) {
                return no_comm(playing, shape, err);
            }
            line.size[WF_EXT_WHOLE] = line.n;
            line.stride[WF_EXT_WHOLE] = 1;
            grid = &line;
            rank = 0;
        }
        if (!wf_ext_peer(grid, &symbol, rank, &out->op.peer[slot])) {
            char text[64];
            return wf_err_set(err, WF_EINVAL,
                              "rank %u of %u has no peer '%s' for its %s; the rule does "
                              "not fit this number of ranks",
                              playing->rank, player->grid->n,
                              wf_ext_symbol_text(&symbol, NULL, text, sizeof(text)),
                              wf_op_name((enum wf_op_kind)shape->kind));
        }
    }
    return WF_OK;
}

static uint64_t scaled(uint64_t bytes, double factor)
{
    double result = (double)bytes * factor;

    return factor == 1 ? bytes : result < 1e18 ? (uint64_t)llround(result) : (uint64_t)1e18;
}

/* Random numbers of a rank's own... */
static uint64_t own_random(const struct playing *playing, uint64_t number)
{
    return wf_rng_mix(wf_rng_mix(playing->rank + UINT64_C(1)) + number);
}

/* ...and of all members of a communicator that call a collective together. */
static uint64_t common_random(struct playing *playing, uint32_t comm)
{
    uint32_t at = comm < playing->model->n_groups ? comm : 0;

    return wf_rng_mix(wf_rng_mix(~(uint64_t)comm) + playing->n_collectives[at]++);
}

/* Whether ranks of a collective have sizes of their own, of which others know only some:
 * allgatherv, alltoallw and the like. */
static bool has_counts(const struct wf_ext_shape *shape)
{
    const char *name = wf_op_name((enum wf_op_kind)shape->kind);

    return shape->arrays != 0 ||
           (wf_op_info((enum wf_op_kind)shape->kind)->family == WF_FAMILY_COLLECTIVE &&
            strchr("vw", name[strlen(name) - 1]) != NULL);
}

/* The factor for the bytes of a slot of an op. Messages get one of their own, and receives hold
 * the largest of them. All ranks of a collective have the same. */
static double bytes_factor(struct playing *playing, const struct wf_ext_shape *shape,
                           uint32_t slot)
{
    const struct wf_ext_scales *scales = &playing->player->changes->bytes;
    enum wf_op_kind kind = (enum wf_op_kind)shape->kind;
    enum wf_op_family family = wf_op_info(kind)->family;
    bool receives = family == WF_FAMILY_RECV || kind == WF_OP_RECV_INIT ||
                    (family == WF_FAMILY_SENDRECV && slot == 1);

    if (receives) {
        return wf_ext_scale_most(scales, playing->open_bytes);
    }
    uint64_t random = family == WF_FAMILY_COLLECTIVE ? common_random(playing, shape->comm)
                                                     : ~own_random(playing, playing->n_sends++);
    return has_counts(shape) ? wf_ext_scale_mean(scales, playing->open_bytes)
                             : wf_ext_scale_now(scales, playing->open_bytes, random);
}

/* Applies the changes that the user wants to an op. */
static void change_op(struct playing *playing, struct wf_ext_played *out)
{
    const struct wf_ext_changes *changes = playing->player->changes;
    const struct wf_ext_shape *shape = out->shape;
    bool marker = shape->kind == WF_OP_REGION_BEGIN || shape->kind == WF_OP_REGION_END;
    double first = 1;

    if (out->op.compute >= 0) {
        double factor = wf_ext_scale_now(&changes->compute, playing->open_compute,
                                         own_random(playing, playing->n_computes)) *
                        wf_ext_spread(changes->spread, playing->rank, playing->n_computes);
        playing->n_computes++;
        out->op.compute = (int64_t)scaled((uint64_t)out->op.compute, factor);
    }
    if (marker && shape->name > 0) {
        const char *name = wf_strings_at(&playing->model->input.names, shape->name - 1);
        int change = shape->kind == WF_OP_REGION_BEGIN ? 1 : -1;
        wf_ext_scale_enter(&changes->bytes, playing->open_bytes, name, change);
        wf_ext_scale_enter(&changes->compute, playing->open_compute, name, change);
        return;
    }
    for (uint32_t i = 0; i < WF_EXT_SLOTS && changes->bytes.n > 0; i++) {
        double factor =
            i == 0 || wf_op_info((enum wf_op_kind)shape->kind)->family == WF_FAMILY_SENDRECV
                ? bytes_factor(playing, shape, i)
                : first;
        first = factor;
        out->op.bytes[i] = scaled(out->op.bytes[i], factor);
        for (uint32_t j = 0; out->elements[i] != NULL && j < out->op.n_elements[i]; j++) {
            playing->elements[i][j] = scaled(playing->elements[i][j], factor);
        }
    }
}

/* The value of a rule at a step. Fails if the rule depends on the place of the rank and no traced
 * rank has this one's. */
static enum wf_status integer_at(const struct playing *playing, const struct wf_ext_step *step,
                                 const struct wf_ext_integer *integer,
                                 const struct wf_ext_at *at, int64_t *out, struct wf_err *err)
{
    char why[128];

    if (wf_ext_integer_at(playing->model, integer, at, out)) {
        return WF_OK;
    }
    (void)snprintf(why, sizeof(why),
                   "rank %" PRIu32 " of %" PRIu32 " does what no traced rank does, and the "
                   "%s depend on that",
                   playing->rank, playing->player->grid->n,
                   integer == &step->rounds ? "rounds" : "tags");
    return wf_ext_refuse(playing->model, step->statements[0], why, err);
}

static enum wf_status tag_at(const struct playing *playing, const struct wf_ext_step *step,
                             const struct wf_ext_integer *integer, const struct wf_ext_at *at,
                             int32_t *out, struct wf_err *err)
{
    int64_t tag = 0;
    char why[128];

    WF_TRY(integer_at(playing, step, integer, at, &tag, err));
    *out = (int32_t)tag;
    if ((tag >= 0 && tag <= INT32_MAX) || tag == WF_ANY_TAG) {
        return WF_OK;
    }
    (void)snprintf(why, sizeof(why),
                   "with %" PRIu32 " ranks, rank %" PRIu32 " would use the tag %" PRId64
                   ": the rules do not fit",
                   playing->player->grid->n, playing->rank, tag);
    return wf_ext_refuse(playing->model, step->statements[0], why, err);
}

static enum wf_status play_op(struct playing *playing, uint32_t number, uint32_t round,
                              struct wf_err *err)
{
    const struct wf_ext_model *model = playing->model;
    const struct wf_ext_player *player = playing->player;
    const struct wf_ext_step *step = &model->steps[number];
    const struct wf_ext_where where = wf_ext_where(step, player->grid, playing->rank, round);
    struct wf_ext_played out = {.step = step, .shape = &model->input.shapes[step->shape]};
    uint32_t turn = 0;

    if (!wf_ext_executes(model, step, player->grid, playing->rank, round)) {
        return WF_OK;
    }
    turn = playing->turns[number]++;
    /* In a loop whose rounds differ, turns are counted for each round. */
    if (step->n_statements > 1) {
        turn = 0;
    }
    out.op.shape = step->shape;
    out.op.site = step->site;
    WF_TRY(find_peers(playing, step, &where, &out, err));
    out.op.compute = value_at(playing, step, WF_EXT_COMPUTE, round, turn);
    for (uint32_t slot = 0; slot < WF_EXT_SLOTS; slot++) {
        bool empty = step->value[slot].needs_peer && out.op.peer[slot] == WF_PROC_NULL;
        out.op.bytes[slot] =
            empty ? 0 : (uint64_t)value_at(playing, step, (enum wf_ext_value)slot, round, turn);
    }
    for (uint32_t slot = 0; slot < WF_EXT_SLOTS; slot++) {
        const struct wf_ext_at at = {.grid = player->grid,
                                     .rank = playing->rank,
                                     .class = playing->class,
                                     .peer = out.op.peer[slot],
                                     .round = round,
                                     .turn = turn};
        WF_TRY(tag_at(playing, step, &step->tag[slot], &at, &out.op.tag[slot], err));
    }
    for (uint32_t which = 0; which < 2; which++) {
        if ((out.shape->arrays >> which & 1) != 0) {
            uint32_t size = player->comm_size(player->arg, playing->rank, out.shape->comm);
            fill_elements(playing, step, which, size, turn);
            out.elements[which] = playing->elements[which];
            out.op.n_elements[which] = size;
        }
    }
    if (player->changes != NULL) {
        change_op(playing, &out);
    }
    const struct wf_ext_quantity *bytes = &step->value[WF_EXT_BYTES];
    out.sized = bytes->kind < WF_EXT_QUANTITY_GROUPS && bytes->law.exact;
    return player->play(player->arg, playing->rank, &out, err);
}

static enum wf_status rounds_of(const struct playing *playing, const struct wf_ext_step *step,
                                uint32_t *out, struct wf_err *err)
{
    const struct wf_ext_player *player = playing->player;
    const struct wf_ext_at at = {
        .grid = player->grid, .rank = playing->rank, .class = playing->class};
    int64_t rounds = 0;

    if (player->count != WF_EXT_NO_COUNT && step->type == WF_EXT_STEP_LOOP &&
        !step->rounds.law.exact) {
        *out = wf_ext_times(playing->model, player->count, playing->rank, step->statements[0]);
        return WF_OK;
    }
    WF_TRY(integer_at(playing, step, &step->rounds, &at, &rounds, err));
    *out = rounds < 0 ? 0 : rounds < UINT32_MAX ? (uint32_t)rounds : UINT32_MAX;
    if (rounds < 0 && step->type == WF_EXT_STEP_LOOP && step->rounds.law.exact) {
        char why[160];
        (void)snprintf(why, sizeof(why),
                       "with %" PRIu32 " ranks, rank %" PRIu32 " would repeat it %" PRId64
                       " times: all traces repeat it, and what they do before and after is "
                       "already too much",
                       player->grid->n, playing->rank, rounds);
        return wf_ext_refuse(playing->model, step->statements[0], why, err);
    }
    return WF_OK;
}

static enum wf_status play_step(struct playing *playing, uint32_t number, uint32_t round,
                                struct wf_err *err)
{
    const struct wf_ext_step *step = &playing->model->steps[number];
    uint32_t rounds = 1;

    if (playing->left-- == 0) {
        return wf_err_set(err, WF_EINVAL,
                          "with %" PRIu32 " ranks, rank %" PRIu32
                          " would do %d times as much as "
                          "any traced rank: the rules for its rounds do not fit",
                          playing->player->grid->n, playing->rank, STEPS_PER_OP);
    }

    if (step->type == WF_EXT_STEP_OP) {
        return play_op(playing, number, round, err);
    }
    if (!wf_ext_executes(playing->model, step, playing->player->grid, playing->rank, round)) {
        return WF_OK;
    }
    if (number != 0) {
        WF_TRY(rounds_of(playing, step, &rounds, err));
    }
    if (number == playing->main_loop && number != 0) {
        rounds = (uint32_t)scaled(rounds, playing->player->changes->repeat);
    }
    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t inner = step->backwards ? rounds - 1 - i : i;
        for (uint32_t j = 0; j < step->n_children; j++) {
            WF_TRY(play_step(playing, step->children[j],
                             step->type == WF_EXT_STEP_ROUNDS ? inner : 0, err));
        }
    }
    return WF_OK;
}

uint32_t wf_ext_main_loop(const struct wf_ext_model *model)
{
    const struct wf_ext_step *all = &model->steps[0];
    uint32_t best = 0;
    double most = 0;

    for (uint32_t i = 0; i < all->n_children; i++) {
        const struct wf_ext_step *step = &model->steps[all->children[i]];
        double size = step->type == WF_EXT_STEP_LOOP
                          ? model->merged.all[step->statements[0]].size *
                                wf_ext_law_at(&step->rounds.law, &model->target)
                          : 0;
        if (size > most) {
            most = size;
            best = all->children[i];
        }
    }
    return best;
}

enum wf_status wf_ext_play(const struct wf_ext_player *player, uint32_t rank,
                           struct wf_err *err)
{
    const struct wf_ext_model *model = player->model;
    struct playing playing = {.player = player, .model = model, .rank = rank};

    playing.class = wf_ext_class(model, player->grid, rank);
    playing.sample = find_sample(model, playing.class, rank);
    playing.main_loop =
        player->changes != NULL && player->changes->repeat > 0 ? wf_ext_main_loop(model) : 0;
    playing.left = STEPS_MIN + (uint64_t)STEPS_PER_OP * model->input.n_ops_max;
    if (playing.main_loop != 0 && player->changes->repeat > 1) {
        playing.left = scaled(playing.left, player->changes->repeat);
    }
    playing.turns = wf_xcalloc(model->n_steps, sizeof(*playing.turns));
    playing.n_collectives = wf_xcalloc(model->n_groups + 1, sizeof(*playing.n_collectives));
    for (uint32_t i = 0; i < 2; i++) {
        playing.elements[i] = wf_xcalloc(player->grid->n, sizeof(*playing.elements[i]));
    }
    enum wf_status status = play_step(&playing, 0, 0, err);
    free(playing.turns);
    free(playing.n_collectives);
    free(playing.elements[0]);
    free(playing.elements[1]);
    return status;
}

/* ---- the check against the traces ---- */

struct checking {
    const struct wf_ext_model *model;
    const struct wf_ext_count *count;
    uint32_t at;
};

static uint32_t checked_size(void *arg, uint32_t rank, uint32_t comm)
{
    const struct checking *checking = arg;

    const struct wf_ext_rank *of = &checking->count->ranks[rank];

    return comm < of->n_comms ? of->comms[comm].size : 0;
}

static enum wf_status differs(const struct checking *checking, uint32_t rank, const char *what,
                              struct wf_err *err)
{
    const struct wf_ext_rank *of = &checking->count->ranks[rank];
    const char *name = "end";

    if (checking->at < of->n) {
        const struct wf_ext_op *op = &of->ops[checking->at];
        name = wf_op_name((enum wf_op_kind)checking->model->input.shapes[op->shape].kind);
    }
    return wf_err_set(err, WF_EINVAL,
                      "the program is not understood: op %u of rank %u in '%.100s' (%s) is not "
                      "what the rules of the other ranks and counts say: %s",
                      checking->at, rank, checking->count->path, name, what);
}

static enum wf_status compare_op(void *arg, uint32_t rank, const struct wf_ext_played *played,
                                 struct wf_err *err)
{
    struct checking *checking = arg;
    const struct wf_ext_rank *of = &checking->count->ranks[rank];
    const struct wf_ext_op *op = &of->ops[checking->at];

    if (checking->at >= of->n || op->shape != played->op.shape) {
        return differs(checking, rank, "another op is expected", err);
    }
    uint32_t slots = wf_ext_slots(played->shape);
    for (uint32_t slot = 0; slot < slots; slot++) {
        if (op->peer[slot] != played->op.peer[slot]) {
            return differs(checking, rank, "another peer is expected", err);
        }
        if (!wf_ext_rooted(played->shape) && op->tag[slot] != played->op.tag[slot]) {
            return differs(checking, rank, "another tag is expected", err);
        }
    }
    if (played->sized && op->bytes[0] != played->op.bytes[0]) {
        return differs(checking, rank, "another size is expected", err);
    }
    checking->at++;
    return WF_OK;
}

enum wf_status wf_ext_check(const struct wf_ext_model *model, struct wf_err *err)
{
    for (uint32_t c = 0; c < model->input.n_counts; c++) {
        struct checking checking = {.model = model, .count = &model->input.counts[c]};
        const struct wf_ext_player player = {.model = model,
                                             .grid = &checking.count->grid,
                                             .count = c,
                                             .comm_size = checked_size,
                                             .play = compare_op,
                                             .arg = &checking};
        for (uint32_t r = 0; r < checking.count->n; r++) {
            checking.at = 0;
            WF_TRY(wf_ext_play(&player, r, err));
            if (checking.at != checking.count->ranks[r].n) {
                return differs(&checking, r, "nothing is expected", err);
            }
        }
    }
    return WF_OK;
}
