/* SPDX-License-Identifier: Apache-2.0 */
/* Records of calls on requests. */
#include "base/array.h"
#include "program/trace/dumpi/walk.h"

#define NOT_OPEN UINT32_MAX

/* Where the outcome of a call is among its values: a test has a flag; a call on a set has an
 * index, or the number of completed requests, after the size of the set. */
enum { INDEX = 1 };

/* Returns whether the call completed requests: a wait, or a test whose flag is set. */
static bool has_completed(const struct wf_dumpi_step *step)
{
    enum wf_op_kind kind = step->op.kind;
    bool has_flag = kind == WF_OP_TEST || kind == WF_OP_TESTALL || kind == WF_OP_TESTANY;

    return !has_flag || step->record->values[kind == WF_OP_TESTANY ? 2 : 1] != 0;
}

static struct wf_open_request *find_request(struct wf_dumpi_step *step)
{
    wf_open_requests_call(&step->walk->requests);
    return wf_open_requests_find(&step->walk->requests, step->record->values[0]);
}

/* Empties a list and makes sure that its data is not null. */
static void empty(struct wf_buf *list)
{
    list->size = 0;
    wf_buf_reserve(list, 1);
}

static const uint32_t *numbers_in(const struct wf_buf *list)
{
    return (const uint32_t *)(const void *)list->data;
}

/* Notes that a request is complete. `status` may be null. */
static void complete(struct wf_dumpi_step *step, struct wf_open_request *request,
                     const struct wf_dumpi_status *status)
{
    struct wf_dumpi_walk *walk = step->walk;
    bool cancelled = request->cancelled && (status == NULL || status->cancelled);

    if (request->persistent) {
        return;
    }
    if (walk->spool == NULL && request->receives &&
        (cancelled || (request->wild && status != NULL))) {
        WF_PUSH(walk->matches, walk->n_matches, walk->matches_capacity,
                (struct wf_dumpi_match){
                    .serial = request->serial,
                    .source = status != NULL ? status->source : -1,
                    .tag = status != NULL ? status->tag : -1,
                    .cancelled = cancelled,
                });
    }
    wf_open_requests_remove(&walk->requests, request);
}

static const struct wf_dumpi_status *status_at(const struct wf_dumpi_record *record, uint32_t i)
{
    return i < record->n_statuses ? &record->statuses[i] : NULL;
}

void wf_dumpi_on_wait(struct wf_dumpi_step *step)
{
    bool done = has_completed(step);
    struct wf_open_request *request = find_request(step);

    if (request == NULL) {
        wf_dumpi_step_call(step); /* no open request: nothing to wait for */
        return;
    }
    step->op.request = request->number;
    step->op.recorded = true;
    step->op.outcome = done ? 1 : 0;
    if (done) {
        complete(step, request, status_at(step->record, 0));
    }
    wf_dumpi_step_put(step);
}

/* ---- calls on several requests ---- */

/* Reads the indices of the requests that a waitsome or testsome completed. */
static void read_places(struct wf_dumpi_step *step, uint32_t n_set)
{
    const struct wf_dumpi_record *record = step->record;
    int64_t n = record->values[INDEX];
    struct wf_buf *places = &step->walk->places;
    const uint32_t *kept = numbers_in(&step->walk->kept);

    empty(places);
    n = n < 0 ? 0 : n; /* negative: no request was open */
    if (record->n_arrays < 2 || n > record->arrays[1].n) {
        if (n > 0) {
            wf_dumpi_step_bad(step, "fewer indices than completed requests");
        }
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        int32_t place = record->arrays[1].items[i];
        if (place < 0 || (uint32_t)place >= n_set) {
            wf_dumpi_step_bad(step, "the index of a completed request is outside of its list");
            return;
        }
        if (kept[place] != NOT_OPEN) {
            wf_buf_append(places, &kept[place], sizeof(kept[place]));
        }
    }
    step->op.outcome = (uint32_t)(places->size / sizeof(*kept));
    step->op.outcomes = numbers_in(places);
}

/* Returns whether the request at this index was completed. Sets the index of its status. */
static bool was_completed(const struct wf_dumpi_step *step, uint32_t place, uint32_t *status)
{
    const struct wf_dumpi_record *record = step->record;
    uint8_t detail = wf_op_info(step->op.kind)->detail;

    if (detail == WF_WAIT_SOME) {
        const struct wf_dumpi_array *list = &record->arrays[1];
        *status = 0;
        while (*status < list->n && *status < record->values[INDEX] &&
               list->items[*status] != (int32_t)place) {
            ++*status;
        }
        return *status < list->n && *status < record->values[INDEX];
    }
    *status = detail == WF_WAIT_ALL ? place : 0;
    return has_completed(step) &&
           (detail == WF_WAIT_ALL || record->values[INDEX] == (int64_t)place);
}

/* Marks the requests that the call completed as complete. Must look them up in the same order
 * as set_requests(). */
static void complete_set(struct wf_dumpi_step *step, const struct wf_dumpi_array *set)
{
    wf_open_requests_call(&step->walk->requests);
    for (uint32_t i = 0; i < set->n; i++) {
        struct wf_open_request *request =
            wf_open_requests_find(&step->walk->requests, set->items[i]);
        uint32_t status = 0;
        if (request != NULL && was_completed(step, i, &status)) {
            complete(step, request, status_at(step->record, status));
        }
    }
}

/* Sets the op's requests to the open requests of a list. walk->kept translates an index in the
 * list, which DUMPI uses for outcomes, to an index in the op. */
static void set_requests(struct wf_dumpi_step *step, const struct wf_dumpi_array *set,
                         bool only_persistent)
{
    struct wf_dumpi_walk *walk = step->walk;

    empty(&walk->numbers);
    empty(&walk->kept);
    uint32_t *numbers = wf_buf_extend(&walk->numbers, set->n * sizeof(*numbers));
    uint32_t *kept = wf_buf_extend(&walk->kept, set->n * sizeof(*kept));
    uint32_t n = 0;
    wf_open_requests_call(&walk->requests);
    for (uint32_t i = 0; i < set->n; i++) {
        const struct wf_open_request *request =
            wf_open_requests_find(&walk->requests, set->items[i]);
        bool is_open = request != NULL && (request->persistent || !only_persistent);

        kept[i] = is_open ? n : NOT_OPEN;
        if (is_open) {
            numbers[n++] = request->number;
        }
    }
    step->op.requests = numbers_in(&walk->numbers);
    step->op.count = n;
}

void wf_dumpi_on_wait_set(struct wf_dumpi_step *step)
{
    const struct wf_dumpi_record *record = step->record;
    const struct wf_dumpi_array *set = &record->arrays[0];
    uint8_t detail = wf_op_info(step->op.kind)->detail;
    bool done = has_completed(step);

    set_requests(step, set, false);
    step->op.recorded = true;
    step->op.outcome = done ? 1 : 0;
    if (detail == WF_WAIT_ANY) {
        const uint32_t *kept = numbers_in(&step->walk->kept);
        int64_t index = record->values[INDEX];
        bool known = done && index >= 0 && index < set->n && kept[index] != NOT_OPEN;
        step->op.outcome = known ? kept[index] : step->op.count;
    } else if (detail == WF_WAIT_SOME) {
        read_places(step, set->n);
    }
    complete_set(step, set);
    if (step->op.count > 0) {
        wf_dumpi_step_put(step);
    } else {
        wf_dumpi_step_call(step);
    }
}

/* ---- starting and freeing requests ---- */

void wf_dumpi_on_start(struct wf_dumpi_step *step)
{
    int32_t one = (int32_t)step->record->values[0];
    struct wf_dumpi_array set = {&one, 1};

    set_requests(step, step->op.kind == WF_OP_STARTALL ? &step->record->arrays[0] : &set, true);
    if (step->op.count == 0) {
        wf_dumpi_step_call(step);
        return;
    }
    step->op.request = step->op.requests[0];
    wf_dumpi_step_put(step);
}

void wf_dumpi_on_free(struct wf_dumpi_step *step)
{
    struct wf_open_request *request = find_request(step);

    if (request == NULL) {
        wf_dumpi_step_call(step);
        return;
    }
    step->op.request = request->number;
    wf_open_requests_forget(&step->walk->requests, request);
    wf_dumpi_step_put(step);
}

void wf_dumpi_on_cancel(struct wf_dumpi_step *step)
{
    struct wf_open_request *request = find_request(step);

    if (request != NULL) {
        request->cancelled = true;
    }
    wf_dumpi_step_call(step);
}
