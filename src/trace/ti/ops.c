/* SPDX-License-Identifier: Apache-2.0 */
/* From the actions of a time-independent trace to ops. */
#include "base/mem.h"
#include "base/units.h"
#include "trace/ti/reading.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- arguments ---- */

static uint64_t type_size(struct wf_ti_reading *r, bool given, int64_t type)
{
    static const uint8_t sizes[] = {8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2};

    if (!given) {
        return r->ranks[r->text.rank].by_double ? 8 : 1;
    }
    if (type >= 0 && type < (int64_t)sizeof(sizes)) {
        return sizes[type];
    }
    r->n_types++;
    return 1;
}

/* A datatype, if there is one. */
static enum wf_status read_type(struct wf_ti_reading *r, uint64_t *size)
{
    int64_t type = 0;
    bool given = wf_ti_text_words(&r->text) > 0;
    enum wf_status status = given ? wf_ti_text_whole(&r->text, -1, &type, r->err) : WF_OK;

    *size = type_size(r, given, type);
    return status;
}

static uint64_t product(uint64_t n, uint64_t size)
{
    return n > UINT64_MAX / size ? UINT64_MAX : n * size;
}

static int64_t ps_of(const struct wf_ti_reading *r, double amount)
{
    double ps = amount / r->flop_rate * 1e12;

    return ps >= (double)WF_TIME_MAX ? WF_TIME_MAX : (int64_t)llround(ps);
}

/* ---- ops ---- */

static enum wf_status put(struct wf_ti_reading *r, const struct wf_op *op)
{
    enum wf_status status = wf_spool_op(r->spool, r->text.rank, op, r->err);

    if (status == WF_EINVAL) {
        wf_err_prefix(r->err, "%.200s: line %" PRIu64 " (byte %" PRIu64 "), rank %" PRIu32 ": ",
                      r->text.path, r->text.line, r->text.offset, r->text.rank);
    }
    return status;
}

static enum wf_status put_amount(struct wf_ti_reading *r, double amount)
{
    struct wf_op op = {.kind = WF_OP_COMPUTE, .duration = ps_of(r, amount), .n_counters = 1};

    if (amount <= 0) {
        return WF_OK;
    }
    op.counters[0] = amount < 9.2e18 ? (uint64_t)amount : (uint64_t)INT64_MAX;
    return put(r, &op);
}

static enum wf_status do_plain(struct wf_ti_reading *r)
{
    struct wf_ti_rank *state = &r->ranks[r->text.rank];
    const struct wf_op op = {.kind = r->text.action->kind};

    if (op.kind == WF_OP_INIT) {
        state->by_double = wf_ti_text_words(&r->text) > 0;
        r->text.rest += strlen(r->text.rest);
    }
    state->is_finished = op.kind == WF_OP_FINALIZE;
    return put(r, &op);
}

static enum wf_status do_compute(struct wf_ti_reading *r)
{
    double amount = 0;
    bool has = false;

    enum wf_status status = wf_ti_text_real(&r->text, &amount, &has, r->err);
    if (status != WF_OK) {
        return status;
    }
    if (!has || amount < 0) {
        return wf_ti_text_bad(&r->text, r->err, "%s: an amount that is missing or negative",
                              r->text.action->name);
    }
    if (r->text.action->shape == WF_TI_SLEEP) {
        double ps = amount * 1e12;
        return wf_spool_compute(r->spool, r->text.rank,
                                ps >= (double)WF_TIME_MAX ? WF_TIME_MAX : (int64_t)llround(ps),
                                r->err);
    }
    return put_amount(r, amount);
}

static enum wf_status do_call(struct wf_ti_reading *r)
{
    struct wf_trace_writer *writer = wf_spool_writer(r->spool);
    uint32_t number = (uint32_t)(r->text.action - wf_ti_actions);
    const struct wf_op op = {.kind = WF_OP_CALL, .tag = (int32_t)number};

    r->text.rest += strlen(r->text.rest);
    writer->ops->name_of(writer, WF_NAME_CALL, number, r->text.action->name);
    return put(r, &op);
}

/* The name of a request: which way, with whom, which tag. */
static int64_t request_name(bool receives, int64_t peer, int64_t tag)
{
    return (int64_t)((uint64_t)receives << 62 | (uint64_t)(peer & 0x3fffffff) << 32 |
                     (uint64_t)(tag & 0xffffffff));
}

static struct wf_open_requests *requests_of(struct wf_ti_reading *r)
{
    struct wf_ti_rank *state = &r->ranks[r->text.rank];

    if (state->requests == NULL) {
        state->requests = wf_xcalloc(1, sizeof(*state->requests));
    }
    return state->requests;
}

/* Negative partners and tags of receives are open. */
static enum wf_status do_message(struct wf_ti_reading *r)
{
    struct wf_op op = {.kind = r->text.action->kind};
    bool receives = wf_op_info(op.kind)->family == WF_FAMILY_RECV;
    int64_t peer = 0, tag = 0, n = 0, least = receives ? INT32_MIN : 0;
    uint64_t size = 1;

    enum wf_status status = wf_ti_text_whole(&r->text, least, &peer, r->err);
    if (status == WF_OK) {
        status = wf_ti_text_whole(&r->text, least, &tag, r->err);
    }
    if (status == WF_OK) {
        status = wf_ti_text_whole(&r->text, 0, &n, r->err);
    }
    if (status == WF_OK) {
        status = read_type(r, &size);
    }
    if (status != WF_OK) {
        return status;
    }
    if (peer >= r->n_ranks || tag > INT32_MAX) {
        return wf_ti_text_bad(&r->text, r->err, "%s: no rank %" PRId64 ", or no tag %" PRId64,
                              r->text.action->name, peer, tag);
    }
    op.peer = peer < 0 ? WF_ANY_SOURCE : (uint32_t)peer;
    op.tag = tag < 0 ? WF_ANY_TAG : (int32_t)tag;
    op.bytes = product((uint64_t)n, size);
    if (wf_op_info(op.kind)->returns_request) {
        op.request =
            wf_open_requests_add(requests_of(r), request_name(receives, peer, tag))->number;
    }
    uint32_t name = r->names[r->text.action - wf_ti_actions];
    wf_records_add(r->records, r->text.rank, name, op.bytes);
    return put(r, &op);
}

/* A wait or test names the two ends and the tag of its request. A test is read as one that
 * finds nothing: a wait comes later. */
static enum wf_status do_request(struct wf_ti_reading *r)
{
    struct wf_op op = {.kind = r->text.action->kind, .recorded = true};
    int64_t source = 0, destination = 0, tag = 0;

    enum wf_status status = wf_ti_text_whole(&r->text, INT32_MIN, &source, r->err);
    if (status == WF_OK) {
        status = wf_ti_text_whole(&r->text, INT32_MIN, &destination, r->err);
    }
    if (status == WF_OK) {
        status = wf_ti_text_whole(&r->text, INT32_MIN, &tag, r->err);
    }
    if (status != WF_OK) {
        return status;
    }
    struct wf_open_requests *requests = requests_of(r);
    wf_open_requests_call(requests);
    struct wf_open_request *request = NULL;
    if (destination == r->text.rank) {
        request = wf_open_requests_find(requests, request_name(true, source, tag));
    }
    if (request == NULL && source == r->text.rank) {
        request = wf_open_requests_find(requests, request_name(false, destination, tag));
    }
    if (request == NULL) {
        return wf_ti_text_bad(&r->text, r->err, "%s: no such request is open",
                              r->text.action->name);
    }
    op.request = request->number;
    if (op.kind == WF_OP_WAIT) {
        wf_open_requests_remove(requests, request);
    }
    return put(r, &op);
}

static enum wf_status do_waitall(struct wf_ti_reading *r)
{
    struct wf_op op = {.kind = WF_OP_WAITALL};

    r->numbers.size = 0;
    wf_buf_reserve(&r->numbers, 1);
    op.count = wf_open_requests_clear(requests_of(r), &r->numbers);
    op.requests = (const uint32_t *)(const void *)r->numbers.data;
    return put(r, &op);
}

static enum wf_status do_sendrecv(struct wf_ti_reading *r)
{
    struct wf_op op = {.kind = WF_OP_SENDRECV};
    int64_t sent = 0, to = 0, received = 0, from = 0;
    uint64_t size = 1, recv_size = 1;

    enum wf_status status = wf_ti_text_whole(&r->text, 0, &sent, r->err);
    if (status == WF_OK) {
        status = wf_ti_text_whole(&r->text, 0, &to, r->err);
    }
    if (status == WF_OK) {
        status = wf_ti_text_whole(&r->text, 0, &received, r->err);
    }
    if (status == WF_OK) {
        status = wf_ti_text_whole(&r->text, 0, &from, r->err);
    }
    if (status == WF_OK) {
        status = read_type(r, &size);
    }
    if (status == WF_OK) {
        status = read_type(r, &recv_size);
    }
    if (status != WF_OK) {
        return status;
    }
    op.peer = to < r->n_ranks ? (uint32_t)to : UINT32_MAX / 2;
    op.recv_peer = from < r->n_ranks ? (uint32_t)from : UINT32_MAX / 2;
    op.bytes = product((uint64_t)sent, size);
    op.recv_bytes = product((uint64_t)received, recv_size);
    return put(r, &op);
}

/* ---- collectives ---- */

struct coll_args {
    int64_t n, root;
    double amount;
    uint32_t n_vectors;
    uint64_t size, recv_size;
    bool has_n;
};

static enum wf_status read_vector(struct wf_ti_reading *r, struct coll_args *args)
{
    struct wf_buf *vector = &r->vectors[args->n_vectors++];

    vector->size = 0;
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        int64_t n = 0;
        enum wf_status status = wf_ti_text_whole(&r->text, 0, &n, r->err);
        if (status != WF_OK) {
            return status;
        }
        wf_buf_append(vector, &n, sizeof(n));
    }
    return WF_OK;
}

static enum wf_status read_arg(struct wf_ti_reading *r, char letter, struct coll_args *args)
{
    int64_t ignored = 0;
    bool has = false;
    enum wf_status status = WF_OK;

    switch (letter) {
    case 'n': /* the second is the same on the other side */
        status = wf_ti_text_whole(&r->text, 0, args->has_n ? &ignored : &args->n, r->err);
        args->has_n = true;
        return status;
    case 'N':
        return read_vector(r, args);
    case 'f':
        status = wf_ti_text_real(&r->text, &args->amount, &has, r->err);
        return status == WF_OK && !has
                   ? wf_ti_text_bad(&r->text, r->err, "%s: the amount of computing is missing",
                                    r->text.action->name)
                   : status;
    case 'r':
        return wf_ti_text_words(&r->text) > 0
                   ? wf_ti_text_whole(&r->text, 0, &args->root, r->err)
                   : WF_OK;
    case 't':
        status = read_type(r, &args->size);
        args->recv_size = args->size;
        return status;
    case 'u':
        return wf_ti_text_words(&r->text) > 0 ? read_type(r, &args->recv_size) : WF_OK;
    default:
        return wf_ti_text_whole(&r->text, 0, &ignored, r->err);
    }
}

static const uint64_t *scale(struct wf_buf *vector, uint32_t n, uint64_t size)
{
    uint64_t *items = (uint64_t *)(void *)vector->data;

    for (uint32_t i = 0; i < n; i++) {
        items[i] = product(items[i], size);
    }
    return items;
}

static void set_blocks(struct wf_ti_reading *r, const struct coll_args *args, struct wf_op *op)
{
    bool at_root = op->root == r->text.rank;

    op->bytes = product((uint64_t)args->n, args->size);
    if (op->kind == WF_OP_SCATTERV) {
        op->bytes = product((uint64_t)args->n, args->recv_size);
        op->counts = at_root ? scale(&r->vectors[0], r->n_ranks, args->size) : NULL;
    } else if (op->kind == WF_OP_GATHERV) {
        op->counts = at_root ? scale(&r->vectors[0], r->n_ranks, args->recv_size) : NULL;
    } else if (op->kind == WF_OP_ALLGATHERV) {
        op->counts = scale(&r->vectors[0], r->n_ranks, args->recv_size);
    } else if (args->n_vectors > 0) {
        op->counts = scale(&r->vectors[0], r->n_ranks, args->size);
    }
    if (args->n_vectors > 1) {
        op->recv_counts = scale(&r->vectors[1], r->n_ranks, args->recv_size);
    }
}

static enum wf_status do_collective(struct wf_ti_reading *r)
{
    struct coll_args args = {.size = type_size(r, false, 0)};
    struct wf_op op = {.kind = r->text.action->kind};
    enum wf_status status = WF_OK;

    args.recv_size = args.size;
    for (const char *letter = r->text.action->args; *letter != '\0' && status == WF_OK;
         letter++) {
        /* Displacements may come without datatypes. */
        bool is_type = *letter == 't' || *letter == 'u';
        if (*letter == '[' || (is_type && op.kind == WF_OP_ALLGATHERV && r->n_ranks != 2 &&
                               wf_ti_text_words(&r->text) == r->n_ranks)) {
            continue;
        }
        status = read_arg(r, *letter, &args);
    }
    if (status != WF_OK) {
        return status;
    }
    if (op.kind == WF_OP_ALLGATHERV && wf_ti_text_words(&r->text) == r->n_ranks) {
        r->text.rest += strlen(r->text.rest);
    }
    op.root = args.root < r->n_ranks ? (uint32_t)args.root : UINT32_MAX;
    set_blocks(r, &args, &op);
    status = put(r, &op);
    return status == WF_OK ? put_amount(r, args.amount) : status;
}

/* ---- all ---- */

static enum wf_status do_ignored(struct wf_ti_reading *r)
{
    r->text.rest += strlen(r->text.rest);
    return WF_OK;
}

typedef enum wf_status (*action_fn)(struct wf_ti_reading *r);

enum wf_status wf_ti_line(struct wf_ti_reading *r)
{
    static const action_fn lines[] = {
        [WF_TI_PLAIN] = do_plain,       [WF_TI_COMPUTE] = do_compute,
        [WF_TI_SLEEP] = do_compute,     [WF_TI_IGNORED] = do_ignored,
        [WF_TI_CALL] = do_call,         [WF_TI_MESSAGE] = do_message,
        [WF_TI_REQUEST] = do_request,   [WF_TI_WAITALL] = do_waitall,
        [WF_TI_SENDRECV] = do_sendrecv, [WF_TI_COLLECTIVE] = do_collective,
    };

    if (r->text.action->shape != WF_TI_MESSAGE) {
        wf_records_add(r->records, r->text.rank, r->names[r->text.action - wf_ti_actions], 0);
    }
    enum wf_status status = lines[r->text.action->shape](r);
    if (status == WF_OK && wf_ti_text_words(&r->text) > 0) {
        status =
            wf_ti_text_bad(&r->text, r->err, "%s: too many arguments", r->text.action->name);
    }
    return status;
}
