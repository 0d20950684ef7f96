/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/roi.h"

#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The words of a cursor's `outer`. */
enum {
    PHASE, /* enum phase, or WF_CURSOR_AGAIN */
    BEGUN, /* how many iterations have begun */
    DEPTH, /* how many regions of the name are open */
    ROUND, /* how often the iterations were played */
};

enum phase { PHASE_PLAY, PHASE_OVER };

struct start {
    uint64_t word[3];
};

struct source {
    struct wf_source head; /* must be first */
    bool has_region, has_iterations;
    uint32_t region;
    uint32_t first, last, repeat;
    /* Where the first iteration of each rank begins, once the rank has passed it; null if
     * nothing is repeated. */
    struct start *starts;
};

static const struct source *of(const struct wf_source *source)
{
    return (const struct source *)source;
}

/* ---- which ops are inside ---- */

/* Counts the iteration or region that an op begins. */
static void enter(const struct source *self, const struct wf_op *op, struct wf_cursor *cursor)
{
    if (op->kind == WF_OP_ITERATION_BEGIN) {
        cursor->outer[BEGUN]++;
    } else if (op->kind == WF_OP_REGION_BEGIN && self->has_region &&
               (uint32_t)op->tag == self->region) {
        cursor->outer[DEPTH]++;
    }
}

static bool ends_region(const struct source *self, const struct wf_op *op,
                        const struct wf_cursor *cursor)
{
    return op->kind == WF_OP_REGION_END && self->has_region &&
           (uint32_t)op->tag == self->region && cursor->outer[DEPTH] > 0;
}

/* Returns whether the op is played. Call enter() first. */
static bool is_inside(const struct source *self, const struct wf_op *op,
                      const struct wf_cursor *cursor)
{
    enum wf_op_family family = wf_op_info(op->kind)->family;
    uint32_t begun = cursor->outer[BEGUN];

    if (family == WF_FAMILY_PERSISTENT || family == WF_FAMILY_FREE) {
        return true;
    }
    return (!self->has_iterations || (begun > self->first && begun <= self->last + 1)) &&
           (!self->has_region || cursor->outer[DEPTH] > 0);
}

/* Returns whether this op ends the last iteration; the beginning of the next one does too. */
static bool ends_iterations(const struct source *self, const struct wf_op *op,
                            const struct wf_cursor *cursor)
{
    if (!self->has_iterations) {
        return false;
    }
    return (op->kind == WF_OP_ITERATION_END && cursor->outer[BEGUN] == self->last + 1) ||
           (op->kind == WF_OP_ITERATION_BEGIN && cursor->outer[BEGUN] == self->last + 2);
}

/* Ends a round: goes back to the first iteration, or ends the rank after the last round. */
static void end_round(const struct source *self, uint32_t rank, struct wf_cursor *cursor)
{
    cursor->outer[ROUND]++;
    if (cursor->outer[ROUND] >= self->repeat) {
        cursor->outer[PHASE] = PHASE_OVER;
        return;
    }
    memcpy(cursor->word, self->starts[rank].word, sizeof(cursor->word));
    cursor->outer[BEGUN] = self->first;
}

/* Remembers where the first iteration of interest begins. This never changes, so a rollback
 * need not restore it. */
static void remember(const struct source *self, uint32_t rank, const struct wf_op *op,
                     const struct wf_cursor *before)
{
    if (self->starts != NULL && op->kind == WF_OP_ITERATION_BEGIN &&
        before->outer[BEGUN] == self->first) {
        memcpy(self->starts[rank].word, before->word, sizeof(before->word));
    }
}

/* Reads the next op of the inner source, and returns whether to play it. */
enum step { STEP_PLAY, STEP_SKIP, STEP_END };

static enum step step(const struct source *self, uint32_t rank, struct wf_cursor *cursor,
                      struct wf_op *op)
{
    const struct wf_cursor before = *cursor;

    if (cursor->outer[PHASE] == PHASE_OVER ||
        !wf_source_next(self->head.inner, rank, cursor, op)) {
        return STEP_END;
    }
    remember(self, rank, op, &before);
    enter(self, op, cursor);

    bool inside = is_inside(self, op, cursor);
    if (ends_region(self, op, cursor)) {
        cursor->outer[DEPTH]--;
    }
    if (ends_iterations(self, op, cursor)) {
        end_round(self, rank, cursor);
    }
    return inside ? STEP_PLAY : STEP_SKIP;
}

/* A caller may set the cursor back and ask for a played op again. So no call both skips ops and
 * plays one: a call that skips ops returns a compute op of no duration, and leaves the cursor
 * right before the next op to play. */
static bool roi_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                     struct wf_op *op)
{
    const struct source *self = of(source);
    struct wf_cursor at = *cursor, ahead = *cursor;
    struct wf_op got;

    if (cursor->outer[PHASE] == WF_CURSOR_AGAIN) {
        return wf_source_next(self->head.inner, rank, cursor, op);
    }

    enum step now = step(self, rank, &ahead, &got);
    if (now == STEP_PLAY) {
        *cursor = ahead;
        *op = got;
        return true;
    }
    while (now == STEP_SKIP) {
        at = ahead;
        now = step(self, rank, &ahead, &got);
    }
    if (now == STEP_END) {
        return false;
    }
    *cursor = at;
    *op = (struct wf_op){.kind = WF_OP_COMPUTE};
    return true;
}

/* ---- other functions of the source; the inner source has those not defined here ---- */

static void roi_destroy(struct wf_source *source)
{
    struct source *self = (struct source *)source;

    free(self->starts);
    wf_source_end(source);
}

static const struct wf_source_ops roi_ops = {
    .name = "roi",
    .summary = "parts of another source",
    .destroy = roi_destroy,
    .next = roi_next,
    .wall = wf_source_no_wall, /* the trace has that of the whole program only */
};

/* ---- creation ---- */

enum wf_status wf_roi_parse_iterations(const char *text, struct wf_roi *roi, struct wf_err *err)
{
    char first[32];
    size_t len = strcspn(text, ":");
    const char *last = text[len] == ':' ? text + len + 1 : text;
    uint64_t a = 0, b = 0;

    (void)snprintf(first, sizeof(first), "%.*s", len < 31 ? (int)len : 31, text);
    if (wf_parse_count(first, &a, NULL) != WF_OK || wf_parse_count(last, &b, NULL) != WF_OK ||
        a > b || b >= UINT32_MAX - 2) {
        return wf_err_set(err, WF_EUSAGE,
                          "'%.64s' are no iterations; expected first:last or one number, "
                          "counted from 0",
                          text);
    }
    roi->has_iterations = true;
    roi->first = (uint32_t)a;
    roi->last = (uint32_t)b;
    return WF_OK;
}

/* Finds the region among those that rank 0 enters: traces of other tools have numbers that do
 * not begin at 0 and have gaps. */
static bool find_entered(const struct wf_source *inner, const char *name,
                         struct wf_nearest *nearest, uint32_t *out)
{
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op;
    uint32_t last = UINT32_MAX;

    while (wf_source_next(inner, 0, &cursor, &op)) {
        if (op.kind != WF_OP_REGION_BEGIN || (uint32_t)op.tag == last) {
            continue;
        }
        last = (uint32_t)op.tag;
        const char *known = wf_source_name_of(inner, WF_NAME_REGION, last);
        if (known != NULL && strcmp(known, name) == 0) {
            *out = last;
            return true;
        }
        if (known != NULL) {
            wf_nearest_add(nearest, known);
        }
    }
    return false;
}

static enum wf_status find_region(const struct wf_source *inner, const char *name,
                                  uint32_t *out, struct wf_err *err)
{
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;
    const char *known;

    wf_nearest_begin(&nearest, name);
    for (uint32_t i = 0; (known = wf_source_name_of(inner, WF_NAME_REGION, i)) != NULL; i++) {
        if (strcmp(known, name) == 0) {
            *out = i;
            return WF_OK;
        }
        wf_nearest_add(&nearest, known);
    }
    if (find_entered(inner, name, &nearest, out)) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINVAL, "the program has no region '%.64s'%s", name,
                      wf_nearest_hint(&nearest, hint));
}

/* Checks that rank 0 has the region and the iterations that the user asked for. Otherwise
 * nothing would be played. */
static enum wf_status try_first_rank(const struct source *self, const struct wf_roi *roi,
                                     struct wf_err *err)
{
    struct wf_cursor cursor = {.word = {0}};
    struct wf_op op;
    uint32_t iterations = 0;
    bool inside = !self->has_region;

    while (wf_source_next(self->head.inner, 0, &cursor, &op)) {
        iterations += op.kind == WF_OP_ITERATION_BEGIN;
        inside |= op.kind == WF_OP_REGION_BEGIN && (uint32_t)op.tag == self->region;
        if (inside && (!self->has_iterations || iterations > self->last)) {
            return WF_OK;
        }
    }

    WF_TRY(wf_source_check(self->head.inner, err));
    if (!inside) {
        return wf_err_set(err, WF_EINVAL, "rank 0 never enters the region '%.64s'",
                          roi->region);
    }
    if (iterations == 0) {
        return wf_err_set(err, WF_EINVAL,
                          "there is no iteration %" PRIu32 ": the program marks none",
                          self->last);
    }
    return wf_err_set(err, WF_EINVAL,
                      "there is no iteration %" PRIu32 ": rank 0 has %" PRIu32 " iteration%s, "
                      "counted from 0",
                      self->last, iterations, iterations == 1 ? "" : "s");
}

enum wf_status wf_roi_new(struct wf_source *inner, const struct wf_roi *roi,
                          struct wf_source **out, struct wf_err *err)
{
    struct source *self = wf_source_around(sizeof(*self), &roi_ops, inner, true);
    enum wf_status status = WF_OK;

    self->head.messages_expected = 0;
    self->has_region = roi->region != NULL && roi->region[0] != '\0';
    self->has_iterations = roi->has_iterations;
    self->first = roi->first;
    self->last = roi->last;
    self->repeat = roi->repeat;
    if (self->has_region) {
        status = find_region(inner, roi->region, &self->region, err);
    }
    WF_THEN(status, try_first_rank(self, roi, err));
    if (status != WF_OK) {
        free(self);
        return status;
    }
    if (self->has_iterations && self->repeat > 1) {
        self->starts = wf_xcalloc(inner->n_ranks, sizeof(*self->starts));
    }
    *out = &self->head;
    return WF_OK;
}
