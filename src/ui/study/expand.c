/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/expand.h"

#include "base/array.h"
#include "base/map.h"
#include "base/mem.h"
#include "program/ops/fields.h"
#include "program/ops/groups.h"
#include "program/trace/kit/open_requests.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- one collective as rounds of messages ---- */

/* A collective on one rank. In each round the rank posts all its sends and receives, then waits
 * for them together. Algorithm and order of messages are those of a replay with the same
 * settings. */
struct expansion {
    const struct wf_coll_ops *algorithm;
    struct wf_coll_args args; /* arrays belong to the op */
    uint32_t comm;
    int32_t tag;
    uint32_t n_slots, step;
    bool over; /* no messages are left */
    /* The requests of the round in progress. */
    uint32_t first, n;
};

#define ALGORITHM(kind, text, rooted)                                                     \
    {.name = (text),                                                                      \
     .type = WF_PARAM_TEXT,                                                               \
     .offset =                                                                            \
         offsetof(struct wf_expand_choice, algorithms) + WF_COLL_##kind * sizeof(char *), \
     .def = "auto",                                                                       \
     .doc = "Algorithm of " text "; auto: chosen by the rules"},

const struct wf_param wf_expand_params[] = {
    WF_PARAM_ROW(struct wf_expand_choice, rules, ENUM, .def = "mpich",
                 .choices = wf_coll_rules_names,
                 .doc = "MPI library whose rules choose the algorithms of collectives"),
    WF_COLL_MAP(ALGORITHM) WF_PARAM_END,
};

static bool is_auto(const char *name)
{
    return name == NULL || strcmp(name, "auto") == 0;
}

enum wf_status wf_expand_check(const struct wf_expand_choice *choice, struct wf_err *err)
{
    for (int i = 0; i < WF_COLL_KINDS; i++) {
        enum wf_coll_kind kind = (enum wf_coll_kind)i;
        const char *name = choice->algorithms[kind];

        if (!is_auto(name) && wf_coll_find(kind, name) == NULL) {
            return wf_err_set(
                err, WF_EUSAGE,
                "mpi.%s: no algorithm '%.64s' with messages; 'weft coll list' shows all",
                wf_coll_name(kind), name);
        }
    }
    return WF_OK;
}

/* As in a replay: if the named algorithm does not apply, the rules choose one. */
static const struct wf_coll_ops *choose(const struct wf_expand_choice *choice,
                                        const struct wf_coll_args *args)
{
    const char *name = choice->algorithms[args->kind];
    const struct wf_coll_ops *ops = is_auto(name) ? NULL : wf_coll_find(args->kind, name);

    return ops != NULL && wf_coll_applies(ops, args)
               ? ops
               : wf_coll_choose((enum wf_coll_rules)choice->rules, args);
}

static void begin_expansion(struct expansion *x, const struct wf_op *op,
                            const struct wf_group *group, const struct wf_expand_choice *choice)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    enum wf_coll_kind kind = (enum wf_coll_kind)info->detail;

    *x = (struct expansion){.comm = op->comm};
    x->args = (struct wf_coll_args){.kind = kind,
                                    .rank = group->rank,
                                    .size = group->size,
                                    .root = wf_coll_has_root(kind) ? op->root : 0,
                                    .bytes = kind == WF_COLL_BARRIER ? 0 : op->bytes};
    if (wf_op_layout_of(op->kind)->n_arrays > 0) {
        x->args.counts = op->counts;
        x->args.recv_counts = op->recv_counts;
        x->args.sources = op->sources;
        x->args.destinations = op->destinations;
        x->args.n_sources = op->n_sources;
        x->args.n_destinations = op->n_destinations;
    }
    x->algorithm = choose(choice, &x->args);
    x->n_slots = x->algorithm->n_slots(&x->args);
}

static void add_message(struct expansion *x, enum wf_op_kind kind, uint32_t peer,
                        const struct wf_coll_slots *slots, struct wf_buf *out)
{
    struct wf_op op = {.kind = kind, .peer = peer, .tag = x->tag, .comm = x->comm};

    /* The step has no peer, or the neighbour does not exist. */
    if (peer >= x->args.size) {
        return;
    }
    op.request = x->first + x->n++;
    op.bytes = wf_coll_bytes(&x->args, x->n_slots, slots, kind == WF_OP_IRECV);
    wf_buf_append(out, &op, sizeof(op));
}

/* Writes the messages of the next round to `out`, a list of struct wf_op that is emptied first,
 * with requests from `first` on. Sets x->n to their number, and x->over if this is the last
 * round. */
static void next_round(struct expansion *x, uint32_t first, struct wf_buf *out)
{
    struct wf_coll_step step = {.go_on = true};

    out->size = 0;
    x->first = first;
    x->n = 0;
    /* Skip rounds without messages. */
    while ((step.go_on || x->n == 0) && !x->over) {
        if (x->algorithm->step(&x->args, x->step++, &step)) {
            add_message(x, WF_OP_ISEND, step.send_to, &step.send, out);
            add_message(x, WF_OP_IRECV, step.recv_from, &step.recv, out);
        } else {
            x->over = true;
        }
    }
}

/* ---- the writer ---- */

/* The lowest bits of a tag are the kind of the collective; the others are the number of the
 * call on its communicator. So messages of different nonblocking collectives never match. */
enum { KIND_BITS = 5, CALLS = 1 << (16 - KIND_BITS) };
_Static_assert(WF_COLL_KINDS <= 1 << KIND_BITS, "a kind fits into its bits");

/* A nonblocking collective in progress. */
struct open {
    uint32_t request; /* the program's; WF_REQUEST_MAX if the program freed it */
    bool waits;       /* the program waits for it */
    bool is_split;    /* sends more messages after those of the call */
    struct wf_op op;  /* owns its arrays */
    struct expansion x;
};

struct expander {
    struct wf_trace_writer writer;
    struct wf_trace_writer_ops ops; /* those of the inner writer, with some replaced */
    struct wf_trace_writer *inner;
    struct wf_groups *groups;
    const struct wf_expand_choice *choice;
    struct wf_buf round, requests; /* lists of struct wf_op, of uint32_t */
    struct wf_buf others, places;  /* requests and outcomes of a wait, without collectives */
    /* State of the rank whose ops are being written: */
    uint32_t rank;
    struct open *open;
    uint32_t n_open, open_capacity;
    uint32_t next_request; /* after the requests of the open collectives */
    /* Requests of completed collectives. No op that is written may name them. */
    struct wf_open_requests former;
    bool has_former;     /* a nonblocking collective has occurred */
    struct wf_map calls; /* collectives begun so far, by communicator */
};

static void name_of(struct wf_trace_writer *writer, enum wf_source_name kind, uint32_t number,
                    const char *name)
{
    struct wf_trace_writer *inner = ((struct expander *)writer)->inner;

    inner->ops->name_of(inner, kind, number, name);
}

static void wall(struct wf_trace_writer *writer, uint32_t rank, int64_t ps)
{
    struct wf_trace_writer *inner = ((struct expander *)writer)->inner;

    inner->ops->wall(inner, rank, ps);
}

static void cost(struct wf_trace_writer *writer, uint32_t rank, int64_t ps)
{
    struct wf_trace_writer *inner = ((struct expander *)writer)->inner;

    inner->ops->cost(inner, rank, ps);
}

static enum wf_status learn_group(struct wf_trace_writer *writer, uint32_t rank, uint32_t comm,
                                  const struct wf_group *group, struct wf_err *err)
{
    struct expander *e = (struct expander *)writer;
    enum wf_status status = wf_groups_tell(e->groups, rank, comm, group, err);

    return status == WF_OK && e->inner->ops->group != NULL
               ? e->inner->ops->group(e->inner, rank, comm, group, err)
               : status;
}

/* ---- messages ---- */

static enum wf_status put(struct expander *e, const struct wf_op *op, struct wf_err *err)
{
    return e->inner->ops->add(e->inner, e->rank, op, err);
}

/* Writes the next round of a collective. */
static enum wf_status put_round(struct expander *e, struct expansion *x, uint32_t first,
                                struct wf_err *err)
{
    enum wf_status status = WF_OK;

    next_round(x, first, &e->round);
    const struct wf_op *ops = (const struct wf_op *)(const void *)e->round.data;
    for (uint32_t i = 0; i < x->n && status == WF_OK; i++) {
        status = put(e, &ops[i], err);
    }
    return status;
}

static int32_t next_tag(struct expander *e, uint32_t comm, enum wf_coll_kind kind)
{
    uint32_t call = (uint32_t)((*wf_map_put(&e->calls, comm))++ % CALLS);

    return (int32_t)(WF_EXPAND_TAG + (call << KIND_BITS | (uint32_t)kind));
}

static enum wf_status blocking(struct expander *e, struct expansion *x, struct wf_err *err)
{
    while (!x->over) {
        WF_TRY(put_round(e, x, e->next_request, err));
        const struct wf_op wait = {.kind = WF_OP_WAITALL, .request = x->first, .count = x->n};
        if (x->n > 0) {
            WF_TRY(put(e, &wait, err));
        }
    }
    return WF_OK;
}

/* ---- nonblocking collectives ---- */

static bool is_former(struct expander *e, uint32_t request)
{
    wf_open_requests_call(&e->former);
    return wf_open_requests_find(&e->former, request) != NULL;
}

/* An op that creates a request reuses its number. */
static void no_longer_former(struct expander *e, uint32_t request)
{
    wf_open_requests_call(&e->former);
    struct wf_open_request *known = wf_open_requests_find(&e->former, request);
    if (known != NULL) {
        wf_open_requests_remove(&e->former, known);
    }
}

static struct open *find_open(const struct expander *e, uint32_t request)
{
    for (uint32_t i = 0; i < e->n_open; i++) {
        if (e->open[i].request == request) {
            return &e->open[i];
        }
    }
    return NULL;
}

/* Copies the arrays of an op, which are valid only until its source goes on. */
static void keep_arrays(struct wf_op *op, uint32_t comm_size)
{
    const struct wf_op_layout *layout = wf_op_layout_of(op->kind);

    for (int i = 0; i < layout->n_arrays; i++) {
        size_t width = layout->arrays[i].width == WF_FIELD_64 ? 8 : 4;
        size_t bytes = wf_op_length(op, &layout->arrays[i], comm_size) * width;
        void *array = NULL;
        memcpy(&array, (char *)op + layout->arrays[i].offset, sizeof(array));
        if (array != NULL) {
            array = memcpy(wf_xmalloc(bytes > 0 ? bytes : 1), array, bytes);
            memcpy((char *)op + layout->arrays[i].offset, &array, sizeof(array));
        }
    }
}

static void release(struct open *open)
{
    const struct wf_op_layout *layout = wf_op_layout_of(open->op.kind);

    for (int i = 0; i < layout->n_arrays; i++) {
        void *array = NULL;
        memcpy(&array, (char *)&open->op + layout->arrays[i].offset, sizeof(array));
        free(array);
    }
}

static enum wf_status begin(struct expander *e, const struct wf_op *op,
                            const struct wf_group *group, struct wf_err *err)
{
    WF_GROW(e->open, e->n_open, e->open_capacity);
    struct open *open = &e->open[e->n_open++];
    no_longer_former(e, op->request);
    e->has_former = true;
    *open = (struct open){.request = op->request, .op = *op};
    keep_arrays(&open->op, group->size);
    begin_expansion(&open->x, &open->op, group, e->choice);
    open->x.tag = next_tag(e, op->comm, open->x.args.kind);
    enum wf_status status = put_round(e, &open->x, e->next_request, err);
    e->next_request += open->x.n;
    return status;
}

/* Waits for the pending messages of all collectives that are being completed; false if there
 * are none. */
static bool wait_for_round(struct expander *e, struct wf_err *err, enum wf_status *status)
{
    e->requests.size = 0;
    for (uint32_t i = 0; i < e->n_open; i++) {
        struct expansion *x = &e->open[i].x;
        for (uint32_t k = 0; e->open[i].waits && k < x->n; k++) {
            uint32_t request = x->first + k;
            wf_buf_append(&e->requests, &request, sizeof(request));
        }
    }
    if (e->requests.size == 0) {
        return false;
    }
    const uint32_t *list = (const uint32_t *)(const void *)e->requests.data;
    const struct wf_op wait = {.kind = WF_OP_WAITALL,
                               .request = list[0],
                               .count = (uint32_t)(e->requests.size / sizeof(*list)),
                               .requests = list};
    *status = put(e, &wait, err);
    return true;
}

static void close_complete(struct expander *e)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < e->n_open; i++) {
        if (e->open[i].waits) {
            if (e->open[i].is_split) {
                wf_losses_add(e->writer.losses,
                              "nonblocking collectives that overlap with computing: all "
                              "messages but the first are sent at the wait");
            }
            if (e->open[i].request != WF_REQUEST_MAX) {
                (void)wf_open_requests_add(&e->former, e->open[i].request);
            }
            release(&e->open[i]);
        } else {
            e->open[n++] = e->open[i];
        }
    }
    e->n_open = n;
    e->next_request = n > 0 ? e->next_request : WF_EXPAND_REQUEST;
}

/* Completes all marked collectives, round by round. */
static enum wf_status complete(struct expander *e, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    while (status == WF_OK && wait_for_round(e, err, &status)) {
        for (uint32_t i = 0; i < e->n_open && status == WF_OK; i++) {
            struct open *open = &e->open[i];
            if (open->waits) {
                status = put_round(e, &open->x, e->next_request, err);
                e->next_request += open->x.n;
                open->is_split = open->is_split || open->x.n > 0;
            }
        }
    }
    close_complete(e);
    return status;
}

/* Called at the end of a rank. */
static enum wf_status complete_all(struct expander *e, struct wf_err *err)
{
    for (uint32_t i = 0; i < e->n_open; i++) {
        e->open[i].waits = true;
    }
    wf_map_fini(&e->calls);
    enum wf_status status = complete(e, err);
    wf_open_requests_fini(&e->former);
    e->has_former = false;
    return status;
}

/* ---- waits and tests ---- */

static uint32_t size_of_set(const struct wf_op *op)
{
    return wf_op_info(op->kind)->detail == WF_WAIT_ONE ? 1 : op->count;
}

/* Whether the request at this position of the set was complete. If the outcome was not
 * recorded, a wait completes collectives only if it waits for nothing else. */
static bool is_complete(const struct wf_op *op, uint32_t place, bool has_others)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool waits = info->family == WF_FAMILY_WAIT;

    if (info->detail == WF_WAIT_ONE || info->detail == WF_WAIT_ALL) {
        return waits || (op->recorded && op->outcome == 1);
    }
    if (!op->recorded) {
        return waits && !has_others;
    }
    if (info->detail == WF_WAIT_ANY) {
        return op->outcome == place;
    }
    bool found = false;
    for (uint32_t i = 0; i < op->outcome; i++) {
        found = found || op->outcomes[i] == place;
    }
    return found;
}

/* A wait without its collectives: puts the other requests into e->others and, if outcomes were
 * recorded, the positions of the complete ones into e->places. False if nothing remains. */
static bool rest_of(struct expander *e, const struct wf_op *op, struct wf_op *rest)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    uint32_t n = 0, n_complete = 0, last = 0;

    *rest = *op;
    e->others.size = 0;
    e->places.size = 0;
    for (uint32_t i = 0; i < size_of_set(op); i++) {
        uint32_t request = wf_op_request_at(op, i);
        if (find_open(e, request) != NULL || is_former(e, request)) {
            continue;
        }
        wf_buf_append(&e->others, &request, sizeof(request));
        if (op->recorded && info->detail >= WF_WAIT_ANY && is_complete(op, i, true)) {
            wf_buf_append(&e->places, &n, sizeof(n));
            last = n;
            n_complete++;
        }
        n++;
    }
    rest->count = n;
    rest->requests = (const uint32_t *)(const void *)e->others.data;
    rest->outcomes = (const uint32_t *)(const void *)e->places.data;
    if (info->detail < WF_WAIT_ANY || !op->recorded) {
        return n > 0;
    }
    rest->outcome = info->detail == WF_WAIT_SOME ? n_complete : last;
    return n_complete > 0;
}

static enum wf_status on_completion(struct expander *e, const struct wf_op *op,
                                    struct wf_err *err)
{
    uint32_t n = size_of_set(op), n_ours = 0, n_complete = 0;
    struct wf_op rest;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t request = wf_op_request_at(op, i);
        n_ours += find_open(e, request) != NULL || is_former(e, request) ? 1 : 0;
    }
    if (n_ours == 0) {
        return put(e, op, err);
    }
    bool has_rest = rest_of(e, op, &rest);
    for (uint32_t i = 0; i < n; i++) {
        struct open *open = find_open(e, wf_op_request_at(op, i));
        if (open != NULL && is_complete(op, i, n_ours < n)) {
            open->waits = true;
            n_complete++;
        }
    }
    if (n_complete == 0 && !has_rest) {
        wf_losses_add(e->writer.losses,
                      "waits and tests that found no nonblocking collective complete");
    }
    enum wf_status status = complete(e, err);
    return status == WF_OK && has_rest ? put(e, &rest, err) : status;
}

/* ---- ops ---- */

static enum wf_status on_collective(struct expander *e, const struct wf_op *op,
                                    struct wf_err *err)
{
    struct expansion x;
    struct wf_group group;

    if (!wf_groups_find(e->groups, e->rank, op->comm, &group) ||
        wf_op_fault(op, &group) != NULL) {
        return wf_err_set(err, WF_EINVAL, "a %s of rank %" PRIu32 " makes no sense",
                          wf_op_name(op->kind), e->rank);
    }
    if (wf_op_info(op->kind)->returns_request) {
        return begin(e, op, &group, err);
    }
    begin_expansion(&x, op, &group, e->choice);
    x.tag = next_tag(e, op->comm, x.args.kind);
    return blocking(e, &x, err);
}

static enum wf_status add(struct wf_trace_writer *writer, uint32_t rank, const struct wf_op *op,
                          struct wf_err *err)
{
    struct expander *e = (struct expander *)writer;
    enum wf_op_family family = wf_op_info(op->kind)->family;
    enum wf_status status = WF_OK;

    e->inner->losses = e->writer.losses;
    if (rank != e->rank || op->kind == WF_OP_FINALIZE) {
        status = complete_all(e, err);
        e->rank = rank;
    }
    if (status != WF_OK) {
        return status;
    }
    if (family == WF_FAMILY_COLLECTIVE) {
        return on_collective(e, op, err);
    }
    if (e->has_former && (family == WF_FAMILY_WAIT || family == WF_FAMILY_TEST)) {
        return on_completion(e, op, err);
    }
    if (e->has_former &&
        (wf_op_info(op->kind)->returns_request || family == WF_FAMILY_PERSISTENT)) {
        no_longer_former(e, op->request);
    }
    struct open *given_up = family == WF_FAMILY_FREE ? find_open(e, op->request) : NULL;
    if (given_up != NULL) {
        given_up->request = WF_REQUEST_MAX;
        return WF_OK;
    }
    return put(e, op, err);
}

static void free_expander(struct expander *e)
{
    for (uint32_t i = 0; i < e->n_open; i++) {
        release(&e->open[i]);
    }
    wf_open_requests_fini(&e->former);
    free(e->open);
    wf_map_fini(&e->calls);
    wf_buf_fini(&e->round);
    wf_buf_fini(&e->requests);
    wf_buf_fini(&e->others);
    wf_buf_fini(&e->places);
    wf_groups_free(e->groups);
    free(e);
}

static enum wf_status finish(struct wf_trace_writer *writer, struct wf_err *err)
{
    struct expander *e = (struct expander *)writer;
    enum wf_status status = complete_all(e, err);

    if (status == WF_OK) {
        status = e->inner->ops->finish(e->inner, err);
    } else {
        e->inner->ops->discard(e->inner);
    }
    free_expander(e);
    return status;
}

static void discard(struct wf_trace_writer *writer)
{
    struct expander *e = (struct expander *)writer;

    e->inner->ops->discard(e->inner);
    free_expander(e);
}

struct wf_trace_writer *wf_expand_writer(struct wf_trace_writer *inner, uint32_t n_ranks,
                                         const struct wf_expand_choice *choice)
{
    struct expander *e = wf_xcalloc(1, sizeof(*e));

    e->ops = *inner->ops;
    e->ops.name_of = inner->ops->name_of != NULL ? name_of : NULL;
    e->ops.wall = inner->ops->wall != NULL ? wall : NULL;
    e->ops.cost = inner->ops->cost != NULL ? cost : NULL;
    e->ops.any_sizes = NULL; /* no collective is left */
    e->ops.group = learn_group;
    e->ops.add = add;
    e->ops.rank_ends = NULL; /* the last messages of a rank follow when the next one begins */
    e->ops.add_graph = NULL;
    e->ops.finish = finish;
    e->ops.discard = discard;
    e->writer.ops = &e->ops;
    e->inner = inner;
    e->choice = choice;
    e->groups = wf_groups_new(n_ranks);
    e->next_request = WF_EXPAND_REQUEST;
    return &e->writer;
}
