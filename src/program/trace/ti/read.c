/* SPDX-License-Identifier: Apache-2.0 */
/* SimGrid's time-independent traces. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/units.h"
#include "program/trace/kit/kit.h"
#include "program/trace/spool/spool.h"
#include "program/trace/ti/blocks.h"
#include "program/trace/ti/files.h"
#include "program/trace/ti/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX

enum { VECTORS = 2 };

struct ti_params {
    double flop_rate;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct ti_params, flop_rate, REAL, .def = "1e9", .min = "1",
                 .doc = "Flops, or whatever amounts of computing are, in a second"),
    WF_PARAM_END,
};

struct rank {
    bool has_lines, is_finished, by_double; /* by_double: the default datatype is double */
    struct wf_open_requests requests;
};

/* The files of a trace and its ranks. */
struct set {
    struct wf_ti_files files;
    struct wf_ti_blocks blocks; /* parts of the one file, if it has been divided */
    uint32_t n_ranks;
    struct rank *ranks;
};

/* A worker that reads some of the files. */
struct reading {
    alignas(WF_CACHE_LINE) double flop_rate; /* aligned: workers share no cache line */
    uint32_t n_ranks;
    struct rank *ranks; /* of the set; those whose files it reads are its own */
    struct wf_records *records;
    struct wf_spool *spool;
    uint64_t n_types;              /* unknown datatypes */
    uint32_t latest;               /* the rank of the line before, or NOBODY */
    uint32_t only;                 /* the rank whose file it is, or NOBODY */
    struct wf_open_requests spare; /* of no rank: memory for the next one */
    struct wf_buf vectors[VECTORS], numbers, path;
    struct wf_ti_text text;
    struct wf_err *err;
};

static uint32_t rank_of(const struct reading *r)
{
    return (uint32_t)r->text.file.place.rank;
}

/* ---- counting the ranks ---- */

/* Notes a rank. Refuses a rank far above all others, so that a wrong number in a line does not
 * allocate much memory. */
static void see_rank(struct set *set, const struct wf_trace_place *place)
{
    uint32_t rank = (uint32_t)place->rank;

    if (rank >= set->n_ranks) {
        uint32_t n = rank + 1;
        if (rank > set->n_ranks * 2 + (1 << 16)) {
            wf_trace_bad(place, "a rank far above all ranks seen before, up to %" PRIu32,
                         set->n_ranks);
            return;
        }
        set->ranks = wf_xrealloc(set->ranks, n, sizeof(*set->ranks));
        memset(set->ranks + set->n_ranks, 0, (n - set->n_ranks) * sizeof(*set->ranks));
        set->n_ranks = n;
    }
    set->ranks[rank].has_lines = true;
}

/* `file` is the rank's own, or null. */
static void check_rank(const struct set *set, const char *path, uint32_t rank, const char *file,
                       struct wf_err *err)
{
    if (!set->ranks[rank].has_lines && !wf_trace_failed(err)) {
        (void)wf_err_set(err, WF_EINVAL,
                         "%.200s: rank %" PRIu32 " of %" PRIu32 " has no action%s%.200s", path,
                         rank, set->n_ranks, file != NULL ? " in its file " : "",
                         file != NULL ? file : "");
    }
}

/* A file of all ranks tells their number only by its lines. */
static void count_ranks(struct set *set, const char *path, struct wf_err *err)
{
    struct wf_ti_text text = {.line = NULL};

    if (set->files.by_rank || wf_ti_blocks_find(&set->blocks, set->files.names[0])) {
        set->n_ranks = set->files.by_rank ? set->files.n : set->blocks.n_ranks;
        set->ranks = wf_xcalloc((size_t)set->n_ranks + 1, sizeof(*set->ranks));
    } else {
        wf_ti_text_open(&text, set->files.names[0], err);
        while (wf_ti_text_next_rank(&text)) {
            see_rank(set, &text.file.place);
        }
        wf_ti_text_close(&text);
        for (uint32_t rank = 0; rank < set->n_ranks; rank++) {
            check_rank(set, path, rank, NULL, err);
        }
    }
    if (set->n_ranks == 0 && !wf_trace_failed(err)) {
        (void)wf_err_set(err, WF_EINVAL, "%.300s: no rank has an action", path);
    }
}

/* ---- the requests of ranks ---- */

/* Ranks take turns in a file, and may be many. So a rank without open requests leaves the memory
 * for them to the next. */
static void turn_to(struct reading *r, uint32_t rank)
{
    if (r->latest != NOBODY && r->spare.items == NULL) {
        wf_open_requests_hand_over(&r->ranks[r->latest].requests, &r->spare);
    }
    if (r->ranks[rank].requests.items == NULL) {
        r->ranks[rank].requests = r->spare;
        r->spare = (struct wf_open_requests){.n = 0};
    }
    r->latest = rank;
}

/* Releases what the rank needs as long as it has actions: of many ranks this is much memory. */
static void end_rank(struct reading *r, uint32_t rank)
{
    if (r->spare.items == NULL) {
        wf_open_requests_hand_over(&r->ranks[rank].requests, &r->spare);
    }
    wf_open_requests_fini(&r->ranks[rank].requests);
    wf_spool_rank_ends(r->spool, rank);
}

/* ---- arguments ---- */

/* The size of SimGrid's datatypes by their ids, from -1 on, on 64-bit Linux
 * (src/smpi/mpi/smpi_datatype.cpp of SimGrid). Some differ from MPI: MPI_COMPLEX32 has 16 bytes
 * there, and MPI_INTEGER1 has 4. */
static const uint8_t type_sizes[] = {
    0,                              /* DATATYPE_NULL */
    8,  4,  1,  2,  8,  4,  1,      /* 0: DOUBLE, INT, CHAR, SHORT, LONG, FLOAT, BYTE */
    8,  1,  1,  2,  4,  8,  8,      /* 7: LONG_LONG, SIGNED_CHAR, UNSIGNED_CHAR to _LONG_LONG */
    16, 4,  1,                      /* 14: LONG_DOUBLE, WCHAR, C_BOOL */
    1,  2,  4,  8,  1,  2,  4,  8,  /* 17: INT8_T to INT64_T, UINT8_T to UINT64_T */
    8,  16, 32, 8,  8,              /* 25: C_FLOAT_COMPLEX to C_LONG_DOUBLE_, AINT, OFFSET */
    8,  16, 16, 8,  8,  8,  16, 16, /* 30: FLOAT_INT, LONG_, DOUBLE_, SHORT_, 2INT to 2LONG */
    4,  4,  8,  16, 8,  16, 16,     /* 38: REAL, REAL4 to 16, COMPLEX8 to 32 */
    4,  2,  4,  8,  16,             /* 45: INTEGER1 to 16 */
    32, 1,  8,  16, 32,             /* 50: LONG_DOUBLE_INT, CXX_BOOL, CXX_..._COMPLEX */
    0,  0,  1,  8,  8,              /* 55: UB, LB, PACKED, PTR, COUNT */
};

static uint64_t type_size(struct reading *r, bool given, int64_t type)
{
    if (!given) {
        return r->ranks[rank_of(r)].by_double ? 8 : 1;
    }
    if (type >= -1 && type + 1 < (int64_t)sizeof(type_sizes)) {
        return type_sizes[type + 1];
    }
    r->n_types++;
    return 1;
}

/* Returns the size of the datatype that follows, or of the default one. */
static uint64_t read_type(struct reading *r)
{
    bool given = wf_ti_text_more(&r->text);

    return type_size(r, given, given ? wf_ti_text_whole(&r->text, -1) : 0);
}

static uint64_t product(uint64_t n, uint64_t size)
{
    return size > 0 && n > UINT64_MAX / size ? UINT64_MAX : n * size;
}

static int64_t ps_of(double seconds)
{
    double ps = seconds * 1e12;

    return ps >= (double)WF_TIME_MAX ? WF_TIME_MAX : (int64_t)llround(ps);
}

/* ---- ops ---- */

static void put(struct reading *r, const struct wf_op *op)
{
    wf_spool_put(r->spool, op, &r->text.file.place);
}

static void put_amount(struct reading *r, double amount)
{
    struct wf_op op = {
        .kind = WF_OP_COMPUTE, .duration = ps_of(amount / r->flop_rate), .n_counters = 1};

    if (amount > 0) {
        op.counters[0] = amount < 9.2e18 ? (uint64_t)amount : (uint64_t)INT64_MAX;
        put(r, &op);
    }
}

static void do_plain(struct reading *r)
{
    struct rank *rank = &r->ranks[rank_of(r)];
    const struct wf_op op = {.kind = r->text.action->kind};

    if (op.kind == WF_OP_INIT) {
        rank->by_double = wf_ti_text_more(&r->text);
        wf_ti_text_skip(&r->text);
    }
    rank->is_finished = op.kind == WF_OP_FINALIZE;
    put(r, &op);
    if (rank->is_finished) {
        end_rank(r, rank_of(r));
    }
}

static void do_compute(struct reading *r)
{
    bool has = false;
    double amount = wf_ti_text_real(&r->text, &has);

    if (!has || amount < 0) {
        wf_trace_bad(&r->text.file.place, "%s: an amount that is missing or negative",
                     r->text.action->name);
    } else if (r->text.action->shape == WF_TI_SLEEP) {
        wf_spool_compute(r->spool, rank_of(r), ps_of(amount), r->err);
    } else {
        put_amount(r, amount);
    }
}

static void do_call(struct reading *r)
{
    uint32_t number = (uint32_t)(r->text.action - wf_ti_actions);
    const struct wf_op op = {.kind = WF_OP_CALL, .tag = (int32_t)number};

    wf_ti_text_skip(&r->text);
    wf_spool_name(r->spool, WF_NAME_CALL, number, r->text.action->name);
    put(r, &op);
}

/* Packs the direction, the peer and the tag of a request, which identify it. */
static int64_t request_name(bool receives, int64_t peer, int64_t tag)
{
    return (int64_t)((uint64_t)receives << 62 | (uint64_t)(peer & 0x3fffffff) << 32 |
                     (uint64_t)(tag & 0xffffffff));
}

/* A receive with a negative peer or tag is a wildcard receive. */
static void do_message(struct reading *r)
{
    struct wf_op op = {.kind = r->text.action->kind};
    bool receives = wf_op_info(op.kind)->family == WF_FAMILY_RECV;
    int64_t min = receives ? INT32_MIN : 0;
    int64_t peer = wf_ti_text_whole(&r->text, min), tag = wf_ti_text_whole(&r->text, min);
    uint64_t n = (uint64_t)wf_ti_text_whole(&r->text, 0);

    op.bytes = product(n, read_type(r));
    if (peer >= r->n_ranks || tag > INT32_MAX) {
        wf_trace_bad(&r->text.file.place,
                     "%s: expected a rank below %" PRIu32 " and a tag, found %" PRId64
                     " and %" PRId64,
                     r->text.action->name, r->n_ranks, peer, tag);
    }
    if (wf_trace_failed(r->err)) {
        return;
    }
    op.peer = peer < 0 ? WF_ANY_SOURCE : (uint32_t)peer;
    op.tag = tag < 0 ? WF_ANY_TAG : (int32_t)tag;
    if (wf_op_info(op.kind)->returns_request) {
        op.request = wf_open_requests_add(&r->ranks[rank_of(r)].requests,
                                          request_name(receives, peer, tag))
                         ->number;
    }
    wf_records_add(r->records, rank_of(r), (uint32_t)(r->text.action - wf_ti_actions),
                   op.bytes);
    put(r, &op);
}

/* A wait or test names its request by sender, receiver and tag. A test is assumed to find
 * nothing, since a wait follows later. */
static void do_request(struct reading *r)
{
    struct wf_op op = {.kind = r->text.action->kind, .recorded = true};
    int64_t source = wf_ti_text_whole(&r->text, INT32_MIN);
    int64_t destination = wf_ti_text_whole(&r->text, INT32_MIN);
    int64_t tag = wf_ti_text_whole(&r->text, INT32_MIN);
    struct wf_open_requests *requests = &r->ranks[rank_of(r)].requests;
    struct wf_open_request *request = NULL;

    wf_open_requests_call(requests);
    if (destination == rank_of(r)) {
        request = wf_open_requests_find(requests, request_name(true, source, tag));
    }
    if (request == NULL && source == rank_of(r)) {
        request = wf_open_requests_find(requests, request_name(false, destination, tag));
    }
    if (request == NULL) {
        wf_trace_bad(&r->text.file.place, "%s: no such request is open", r->text.action->name);
        return;
    }
    op.request = request->number;
    if (op.kind == WF_OP_WAIT) {
        wf_open_requests_remove(requests, request);
    }
    put(r, &op);
}

static void do_waitall(struct reading *r)
{
    struct wf_op op = {.kind = WF_OP_WAITALL};

    /* SimGrid's tracer writes how many requests there were, empty ones too; its replayer waits
     * for all that are open, whatever the number. */
    if (wf_ti_text_more(&r->text)) {
        (void)wf_ti_text_whole(&r->text, 0);
    }
    r->numbers.size = 0;
    wf_buf_reserve(&r->numbers, 1);
    op.count = wf_open_requests_clear(&r->ranks[rank_of(r)].requests, &r->numbers);
    op.requests = (const uint32_t *)(const void *)r->numbers.data;
    put(r, &op);
}

static void do_sendrecv(struct reading *r)
{
    struct wf_op op = {.kind = WF_OP_SENDRECV};
    uint64_t sent = (uint64_t)wf_ti_text_whole(&r->text, 0);
    int64_t to = wf_ti_text_whole(&r->text, 0);
    uint64_t received = (uint64_t)wf_ti_text_whole(&r->text, 0);
    int64_t from = wf_ti_text_whole(&r->text, 0);

    op.peer = to < r->n_ranks ? (uint32_t)to : UINT32_MAX / 2;
    op.recv_peer = from < r->n_ranks ? (uint32_t)from : UINT32_MAX / 2;
    op.bytes = product(sent, read_type(r));
    op.recv_bytes = product(received, read_type(r));
    put(r, &op);
}

/* ---- collectives ---- */

struct coll_args {
    int64_t n, root;
    double amount;
    uint32_t n_vectors;
    uint64_t size, recv_size;
    bool has_n;
};

static void read_vector(struct reading *r, struct coll_args *args)
{
    struct wf_buf *vector = &r->vectors[args->n_vectors++];

    vector->size = 0;
    for (uint32_t i = 0; i < r->n_ranks && !wf_trace_failed(r->err); i++) {
        int64_t n = wf_ti_text_whole(&r->text, 0);
        wf_buf_append(vector, &n, sizeof(n));
    }
}

static void read_arg(struct reading *r, char letter, struct coll_args *args)
{
    bool more = wf_ti_text_more(&r->text);

    if (letter == 'N') {
        read_vector(r, args);
    } else if (letter == 'f') {
        args->amount = wf_ti_text_real(&r->text, &more);
        if (!more) {
            wf_trace_bad(&r->text.file.place, "%s: the amount of computing is missing",
                         r->text.action->name);
        }
    } else if (letter == 'r') {
        args->root = more ? wf_ti_text_whole(&r->text, 0) : args->root;
    } else if (letter == 't') {
        args->size = read_type(r);
        args->recv_size = args->size;
    } else if (letter == 'u') {
        args->recv_size = more ? read_type(r) : args->recv_size;
    } else if (letter == 'n' && !args->has_n) { /* a second n is the count of the other side */
        args->n = wf_ti_text_whole(&r->text, 0);
        args->has_n = true;
    } else {
        (void)wf_ti_text_whole(&r->text, 0);
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

static void set_blocks(struct reading *r, const struct coll_args *args, struct wf_op *op)
{
    bool at_root = op->root == rank_of(r);

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

static void do_collective(struct reading *r)
{
    struct coll_args args = {.size = type_size(r, false, 0)};
    struct wf_op op = {.kind = r->text.action->kind};

    args.recv_size = args.size;
    for (const char *letter = r->text.action->args; *letter != '\0'; letter++) {
        /* Displacements may be given without datatypes. */
        bool is_type = *letter == 't' || *letter == 'u';
        if (*letter == '[' || (is_type && op.kind == WF_OP_ALLGATHERV && r->n_ranks != 2 &&
                               wf_ti_text_words(&r->text) == r->n_ranks)) {
            continue;
        }
        read_arg(r, *letter, &args);
    }
    if (wf_trace_failed(r->err)) {
        return;
    }
    if (op.kind == WF_OP_ALLGATHERV && wf_ti_text_words(&r->text) == r->n_ranks) {
        wf_ti_text_skip(&r->text);
    }
    op.root = args.root < r->n_ranks ? (uint32_t)args.root : UINT32_MAX;
    set_blocks(r, &args, &op);
    put(r, &op);
    put_amount(r, args.amount);
}

/* ---- the reader ---- */

static void do_line(struct reading *r)
{
    static void (*const handlers[])(struct reading * r) = {
        [WF_TI_PLAIN] = do_plain,           [WF_TI_COMPUTE] = do_compute,
        [WF_TI_SLEEP] = do_compute,         [WF_TI_CALL] = do_call,
        [WF_TI_MESSAGE] = do_message,       [WF_TI_REQUEST] = do_request,
        [WF_TI_WAITALL] = do_waitall,       [WF_TI_SENDRECV] = do_sendrecv,
        [WF_TI_COLLECTIVE] = do_collective,
    };
    const struct wf_ti_action *action = r->text.action;

    if (action->shape != WF_TI_MESSAGE) {
        wf_records_add(r->records, rank_of(r), (uint32_t)(action - wf_ti_actions), 0);
    }
    if (action->shape == WF_TI_IGNORED) {
        return;
    }
    handlers[action->shape](r);
    if (wf_ti_text_more(&r->text)) {
        wf_trace_bad(&r->text.file.place, "%s: too many arguments", action->name);
    }
}

/* What the workers share, and the workers. */
struct opening {
    struct set set;
    const char *path; /* of the trace */
    uint32_t n_workers;
    struct reading workers[WF_TRACE_WORKERS_MAX];
};

/* Reads lines of the file up to its end or that of a part. */
static void read_lines(struct reading *r)
{
    while (wf_ti_text_next(&r->text)) {
        uint32_t rank = rank_of(r);
        if (r->only != NOBODY && rank != r->only) {
            wf_trace_bad(&r->text.file.place,
                         "an action of another rank in the file of rank %" PRIu32, r->only);
            return;
        }
        r->ranks[rank].has_lines = true;
        if (rank != r->latest) {
            turn_to(r, rank);
        }
        do_line(r);
    }
}

/* Reads the file of a rank. */
static void visit_file(void *arg, uint32_t worker, uint32_t file, struct wf_err *err)
{
    struct opening *o = arg;
    struct reading *r = &o->workers[worker];

    r->err = err;
    r->only = file;
    wf_ti_files_open(&o->set.files, file, &r->path, &r->text, err);
    read_lines(r);
    check_rank(&o->set, o->path, file, r->text.file.place.path, err);
    end_rank(r, file);
}

/* Reads a part of the file of all ranks. */
static void visit_block(void *arg, uint32_t worker, uint32_t number, struct wf_err *err)
{
    struct opening *o = arg;
    struct reading *r = &o->workers[worker];

    r->err = err;
    r->only = NOBODY;
    wf_ti_text_open(&r->text, o->set.files.names[0], err);
    if (o->set.blocks.n > 0 && !wf_trace_failed(err)) {
        const struct wf_ti_block *block = &o->set.blocks.items[number];
        wf_intext_part(&r->text.file, block->begin, block->end, block->line);
    }
    read_lines(r);
}

static uint32_t n_items(const struct set *set)
{
    return set->files.by_rank ? set->files.n : set->blocks.n > 0 ? set->blocks.n : 1;
}

/* Records in which each action has the number of its row in wf_ti_actions. */
static struct wf_records *new_records(uint32_t n_ranks)
{
    struct wf_records *records = wf_records_new(n_ranks);

    for (uint32_t k = 0; wf_ti_actions[k].name != NULL; k++) {
        (void)wf_records_name(records, wf_ti_actions[k].name);
    }
    return records;
}

static void begin_workers(struct opening *o, double flop_rate, struct wf_spool *spool)
{
    for (uint32_t i = 0; i < o->n_workers; i++) {
        struct reading *r = &o->workers[i];
        *r = (struct reading){.flop_rate = flop_rate,
                              .n_ranks = o->set.n_ranks,
                              .ranks = o->set.ranks,
                              .latest = NOBODY,
                              .spool = wf_spool_part(spool, i),
                              .records = new_records(o->set.n_ranks)};
    }
}

static void end_workers(struct opening *o, struct wf_trace *out)
{
    struct wf_records *records[WF_TRACE_WORKERS_MAX];
    uint64_t n_types = 0;

    for (uint32_t i = 0; i < o->n_workers; i++) {
        struct reading *r = &o->workers[i];
        n_types += r->n_types;
        for (uint32_t k = 0; k < VECTORS; k++) {
            wf_buf_fini(&r->vectors[k]);
        }
        wf_buf_fini(&r->numbers);
        wf_buf_fini(&r->path);
        wf_ti_text_close(&r->text);
        wf_open_requests_fini(&r->spare);
        records[i] = r->records;
    }
    out->records = records[0];
    if (o->n_workers > 1) {
        out->records = new_records(o->set.n_ranks);
        wf_records_merge(out->records, records, o->n_workers);
    }
    wf_trace_note_count(out, n_types,
                        "actions have a datatype that is not known; it counts as 1 byte");
}

static void release(struct set *set)
{
    for (uint32_t rank = 0; rank < set->n_ranks; rank++) {
        wf_open_requests_fini(&set->ranks[rank].requests);
    }
    wf_ti_files_fini(&set->files);
    wf_ti_blocks_fini(&set->blocks);
    free(set->ranks);
}

/* A file that is truncated between two lines is valid, but lacks the last actions: note it. */
static void note_unfinished(const struct set *set, struct wf_trace *out)
{
    uint32_t n = 0, first = 0;

    for (uint32_t rank = set->n_ranks; rank-- > 0;) {
        if (!set->ranks[rank].is_finished) {
            first = rank;
            n++;
        }
    }
    if (n > 0) {
        wf_trace_note(out,
                      "the actions of %" PRIu32 " ranks, the first of them %" PRIu32
                      ", do not end in finalize: the trace may be truncated",
                      n, first);
    }
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    double flop_rate = ((const struct ti_params *)params)->flop_rate;
    struct opening o = {.path = probe->path};
    struct wf_spool *spool = NULL;

    wf_ti_files_find(&o.set.files, probe, err);
    if (!wf_trace_failed(err)) {
        count_ranks(&o.set, probe->path, err);
    }
    o.n_workers = wf_trace_workers(n_items(&o.set));
    if (!wf_trace_failed(err) &&
        wf_spool_new_parts(o.set.n_ranks, o.n_workers, &spool, err) == WF_OK) {
        begin_workers(&o, flop_rate, spool);
        wf_spool_name(spool, WF_NAME_COUNTER, 0, "flops");
        wf_trace_visit_all(n_items(&o.set), o.n_workers,
                           o.set.files.by_rank ? visit_file : visit_block, &o, err);
        if (wf_trace_failed(err) && o.set.files.by_rank) {
            wf_ti_files_report_missing(&o.set.files, err);
        }
        note_unfinished(&o.set, out);
        end_workers(&o, out);
    }
    (void)wf_spool_end(spool, "ti", &out->source, err);
    release(&o.set);
    return err->status;
}

const struct wf_reader_ops wf_ti_reader_ops = {
    .name = "ti",
    .summary = "SimGrid's time-independent actions: a file, or a list of one for each rank",
    .params = params_table,
    .params_size = sizeof(struct ti_params),
    .detect = wf_ti_detect,
    .open = open_trace,
};
