/* SPDX-License-Identifier: Apache-2.0 */
/* Records of calls on requests. */
#include "base/mem.h"
#include "trace/dumpi/walk.h"

#include <stddef.h>
#include <string.h>

/* How the calls differ: where among the values is what came of it. */
struct completion {
    enum wf_op_kind kind;
    wf_dumpi_handler handler;
    uint8_t flag, index; /* or n_completed */
};

enum { NONE = 0xff };
#define NOT_OPEN UINT32_MAX

static const struct completion *completion_of(uint32_t function);

static void remember(struct wf_dumpi_walk *walk, const struct wf_dumpi_match *match)
{
    if (walk->n_matches == walk->matches_capacity) {
        walk->matches_capacity = walk->matches_capacity * 2 + 64;
        walk->matches =
            wf_xrealloc(walk->matches, walk->matches_capacity, sizeof(*walk->matches));
    }
    walk->matches[walk->n_matches++] = *match;
}

/* A request is complete; `status` may be null. */
static void complete(struct wf_dumpi_step *step, struct wf_open_request *request,
                     const struct wf_dumpi_status *status)
{
    struct wf_dumpi_walk *walk = step->walk;

    if (walk->spool == NULL && request->receives && !request->persistent) {
        bool cancelled = request->cancelled && (status == NULL || status->cancelled);
        if (cancelled || (request->wild && status != NULL)) {
            const struct wf_dumpi_match match = {
                .serial = request->serial,
                .source = status != NULL ? status->source : -1,
                .tag = status != NULL ? status->tag : -1,
                .cancelled = cancelled,
            };
            remember(walk, &match);
        }
    }
    if (!request->persistent) {
        wf_open_requests_remove(&walk->requests, request);
    }
}

static const struct wf_dumpi_status *status_at(const struct wf_dumpi_record *record, uint32_t i)
{
    return i < record->n_statuses ? &record->statuses[i] : NULL;
}

static enum wf_status do_one(struct wf_dumpi_step *step)
{
    const struct wf_dumpi_record *record = step->record;
    const struct completion *call = completion_of(record->function);
    bool done = call->flag == NONE || record->values[call->flag] != 0;

    wf_open_requests_call(&step->walk->requests);
    struct wf_open_request *request =
        wf_open_requests_find(&step->walk->requests, record->values[0]);
    if (request == NULL) {
        return wf_dumpi_step_call(step); /* there was nothing to wait for */
    }
    step->op.request = request->number;
    step->op.recorded = true;
    step->op.outcome = done ? 1 : 0;
    if (done) {
        complete(step, request, status_at(record, 0));
    }
    return wf_dumpi_step_put(step);
}

/* ---- sets ---- */

/* Whether the request at this place was complete, and which status it has. */
static bool was_complete(const struct wf_dumpi_step *step, const struct completion *call,
                         uint32_t place, uint32_t *status)
{
    const struct wf_dumpi_record *record = step->record;
    uint8_t detail = wf_op_info(step->op.kind)->detail;

    *status = place;
    if (call->flag != NONE && record->values[call->flag] == 0) {
        return false;
    }
    if (detail == WF_WAIT_ALL) {
        return true;
    }
    *status = 0;
    return detail == WF_WAIT_ANY && record->values[call->index] == (int64_t)place;
}

/* Waitsome and testsome list the places. */
static enum wf_status read_places(struct wf_dumpi_step *step, uint32_t n_set)
{
    const struct wf_dumpi_record *record = step->record;
    const struct completion *call = completion_of(record->function);
    int64_t n = record->values[call->index];
    struct wf_buf *places = &step->walk->places;

    places->size = 0;
    n = n < 0 ? 0 : n; /* nothing was open */
    if (record->n_arrays < 2 || n > record->arrays[1].n) {
        return n == 0 ? WF_OK : wf_dumpi_step_bad(step, "fewer places than completed requests");
    }
    const uint32_t *kept = (const uint32_t *)(const void *)step->walk->kept.data;
    for (int64_t i = 0; i < n; i++) {
        int32_t place = record->arrays[1].items[i];
        if (place < 0 || (uint32_t)place >= n_set) {
            return wf_dumpi_step_bad(step, "a completed request that is not in its list");
        }
        if (kept[place] != NOT_OPEN) {
            wf_buf_append(places, &kept[place], sizeof(kept[place]));
        }
    }
    step->op.outcome = (uint32_t)(places->size / sizeof(*kept));
    wf_buf_reserve(places, 1);
    step->op.outcomes = (const uint32_t *)(const void *)places->data;
    return WF_OK;
}

/* Whether waitsome or testsome completed the request at this place, and which status it has. */
static bool is_listed(const struct wf_dumpi_record *record, int64_t n, uint32_t place,
                      uint32_t *status)
{
    for (uint32_t k = 0; record->n_arrays > 1 && k < record->arrays[1].n && k < n; k++) {
        if (record->arrays[1].items[k] == (int32_t)place) {
            *status = k;
            return true;
        }
    }
    return false;
}

/* Completes what the call completed. Each of its requests was looked at before, and is found
 * again in the same order. */
static void complete_set(struct wf_dumpi_step *step, const struct wf_dumpi_array *set)
{
    const struct completion *call = completion_of(step->record->function);
    bool some = wf_op_info(step->op.kind)->detail == WF_WAIT_SOME;

    wf_open_requests_call(&step->walk->requests);
    for (uint32_t i = 0; i < set->n; i++) {
        struct wf_open_request *request =
            wf_open_requests_find(&step->walk->requests, set->items[i]);
        uint32_t status = 0;
        bool done = some
                        ? is_listed(step->record, step->record->values[call->index], i, &status)
                        : was_complete(step, call, i, &status);
        if (request != NULL && done) {
            complete(step, request, status_at(step->record, status));
        }
    }
}

/* The numbers of those that are open: others are complete, and no request of anybody. Where
 * each is in the list then is kept, since the call speaks of places. */
static void collect_open(struct wf_dumpi_walk *walk, const struct wf_dumpi_array *set)
{
    walk->numbers.size = 0;
    walk->kept.size = 0;
    wf_buf_reserve(&walk->numbers, 1);
    wf_buf_reserve(&walk->kept, 1);
    wf_open_requests_call(&walk->requests);
    for (uint32_t i = 0; i < set->n; i++) {
        const struct wf_open_request *request =
            wf_open_requests_find(&walk->requests, set->items[i]);
        uint32_t place = NOT_OPEN;

        if (request != NULL) {
            place = (uint32_t)(walk->numbers.size / sizeof(place));
            wf_buf_append(&walk->numbers, &request->number, sizeof(request->number));
        }
        wf_buf_append(&walk->kept, &place, sizeof(place));
    }
}

static enum wf_status do_set(struct wf_dumpi_step *step)
{
    const struct wf_dumpi_record *record = step->record;
    const struct completion *call = completion_of(record->function);
    const struct wf_dumpi_array *set = &record->arrays[0];
    struct wf_dumpi_walk *walk = step->walk;
    uint8_t detail = wf_op_info(step->op.kind)->detail;
    bool flag = call->flag == NONE || record->values[call->flag] != 0;
    enum wf_status status = WF_OK;

    collect_open(walk, set);
    step->op.requests = (const uint32_t *)(const void *)walk->numbers.data;
    step->op.count = (uint32_t)(walk->numbers.size / sizeof(uint32_t));
    step->op.recorded = true;
    step->op.outcome = flag ? 1 : 0;
    if (detail == WF_WAIT_ANY) {
        const uint32_t *kept = (const uint32_t *)(const void *)walk->kept.data;
        int64_t index = record->values[call->index];
        bool known = flag && index >= 0 && index < set->n && kept[index] != NOT_OPEN;
        step->op.outcome = known ? kept[index] : step->op.count;
    } else if (detail == WF_WAIT_SOME) {
        status = read_places(step, set->n);
    }
    if (status != WF_OK) {
        return status;
    }
    complete_set(step, set);
    return step->op.count > 0 ? wf_dumpi_step_put(step) : wf_dumpi_step_call(step);
}

/* ---- the rest ---- */

static enum wf_status do_start(struct wf_dumpi_step *step)
{
    struct wf_dumpi_walk *walk = step->walk;
    int32_t one = (int32_t)step->record->values[0];
    struct wf_dumpi_array set = {&one, 1};

    if (step->op.kind == WF_OP_STARTALL) {
        set = step->record->arrays[0];
    }
    walk->numbers.size = 0;
    wf_buf_reserve(&walk->numbers, 1);
    wf_open_requests_call(&walk->requests);
    for (uint32_t i = 0; i < set.n; i++) {
        const struct wf_open_request *request =
            wf_open_requests_find(&walk->requests, set.items[i]);
        if (request != NULL && request->persistent) {
            wf_buf_append(&walk->numbers, &request->number, sizeof(request->number));
        }
    }
    step->op.count = (uint32_t)(walk->numbers.size / sizeof(uint32_t));
    step->op.requests = (const uint32_t *)(const void *)walk->numbers.data;
    if (step->op.count == 0) {
        return wf_dumpi_step_call(step);
    }
    step->op.request = step->op.requests[0];
    return wf_dumpi_step_put(step);
}

static enum wf_status do_free(struct wf_dumpi_step *step)
{
    struct wf_dumpi_walk *walk = step->walk;

    wf_open_requests_call(&walk->requests);
    struct wf_open_request *request =
        wf_open_requests_find(&walk->requests, step->record->values[0]);
    if (request == NULL) {
        return wf_dumpi_step_call(step);
    }
    step->op.request = request->number;
    wf_open_requests_forget(&walk->requests, request);
    return wf_dumpi_step_put(step);
}

static enum wf_status do_cancel(struct wf_dumpi_step *step)
{
    wf_open_requests_call(&step->walk->requests);
    struct wf_open_request *request =
        wf_open_requests_find(&step->walk->requests, step->record->values[0]);

    if (request != NULL) {
        request->cancelled = true;
    }
    return wf_dumpi_step_call(step);
}

static const struct completion completions[] = {
    [13] = {WF_OP_WAIT, do_one, NONE, NONE},
    [14] = {WF_OP_TEST, do_one, 1, NONE},
    [15] = {WF_OP_REQUEST_FREE, do_free, NONE, NONE},
    [16] = {WF_OP_WAITANY, do_set, NONE, 1},
    [17] = {WF_OP_TESTANY, do_set, 2, 1},
    [18] = {WF_OP_WAITALL, do_set, NONE, NONE},
    [19] = {WF_OP_TESTALL, do_set, 1, NONE},
    [20] = {WF_OP_WAITSOME, do_set, NONE, 1},
    [21] = {WF_OP_TESTSOME, do_set, NONE, 1},
    [24] = {WF_OP_CALL, do_cancel, NONE, NONE},
    [31] = {WF_OP_START, do_start, NONE, NONE},
    [32] = {WF_OP_STARTALL, do_start, NONE, NONE},
};

static const struct completion *completion_of(uint32_t function)
{
    return &completions[function];
}

wf_dumpi_handler wf_dumpi_completion(uint32_t function, enum wf_op_kind *kind)
{
    if (function >= sizeof(completions) / sizeof(completions[0]) ||
        completions[function].handler == NULL) {
        return NULL;
    }
    *kind = completions[function].kind;
    return completions[function].handler;
}
