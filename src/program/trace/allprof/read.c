/* SPDX-License-Identifier: Apache-2.0 */
/* liballprof, the tracer of LogGOPSim: a text file for each rank with a line for each call,
 *
 *     MPI_Isend:<start>:<buffer>:<count>:<type>,<size>,<extent>:<peer>:<tag>:<comm>,<rank>,<size>:
 *         <address of the request>:<end>
 *
 * whose fields are the arguments of the call. The start of MPI_Init and the end of MPI_Finalize are
 * "-", as there is no MPI_Wtime() outside of the two. Lines that begin with # are comments. The
 * names of files have the rank with as many digits as the number of ranks has. */
#include "base/lookup.h"
#include "base/mem.h"
#include "base/units.h"
#include "program/trace/kit/kit.h"
#include "program/trace/spool/spool.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIELDS_MAX = 24, PATH_BYTES = 1024, NAMES_MAX = 512 };

struct allprof_params {
    int64_t time_unit;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct allprof_params, time_unit, TIME, .def = "1us", .min = "1ps",
                 .doc = "The unit of the times in the lines"),
    WF_PARAM_END,
};

/* A call and its arguments, a letter each: n count, d datatype and size, p peer, t tag, R root, c
 * communicator, r request, q array of n requests, - anything. Capitals N D P T belong to the
 * receive of a call that has both. */
struct call {
    const char *name;
    enum wf_op_kind kind;
    const char *fields;
};

static const struct call calls[] = {
    {"MPI_Send", WF_OP_SEND, "-ndptc"},
    {"MPI_Bsend", WF_OP_BSEND, "-ndptc"},
    {"MPI_Ssend", WF_OP_SSEND, "-ndptc"},
    {"MPI_Rsend", WF_OP_RSEND, "-ndptc"},
    {"MPI_Recv", WF_OP_RECV, "-ndptc-"},
    {"MPI_Isend", WF_OP_ISEND, "-ndptcr"},
    {"MPI_Issend", WF_OP_ISSEND, "-ndptcr"},
    {"MPI_Ibsend", WF_OP_IBSEND, "-ndptcr"},
    {"MPI_Irsend", WF_OP_IRSEND, "-ndptcr"},
    {"MPI_Irecv", WF_OP_IRECV, "-ndptcr"},
    {"MPI_Sendrecv", WF_OP_SENDRECV, "-ndpt-NDPTc-"},
    {"MPI_Wait", WF_OP_WAIT, "r-"},
    {"MPI_Waitall", WF_OP_WAITALL, "nq-"},
    {"MPI_Barrier", WF_OP_BARRIER, "c"},
    {"MPI_Bcast", WF_OP_BCAST, "-ndRc"},
    {"MPI_Reduce", WF_OP_REDUCE, "--nd-Rc"},
    {"MPI_Allreduce", WF_OP_ALLREDUCE, "--nd-c"},
    {"MPI_Scan", WF_OP_SCAN, "--nd-c"},
    {"MPI_Exscan", WF_OP_EXSCAN, "--nd-c"},
    {"MPI_Gather", WF_OP_GATHER, "-nd-NDRc"},
    {"MPI_Scatter", WF_OP_SCATTER, "-nd-NDRc"},
    {"MPI_Allgather", WF_OP_ALLGATHER, "-nd-NDc"},
    {"MPI_Alltoall", WF_OP_ALLTOALL, "-nd-NDc"},
    {"MPI_Init", WF_OP_INIT, ""},
    {"MPI_Init_thread", WF_OP_INIT, ""},
    {"MPI_Finalize", WF_OP_FINALIZE, ""},
};

/* A worker that reads some of the files. */
struct reading {
    const struct allprof_params *params;
    const char *trace; /* the file of rank 0 */
    uint32_t n_ranks;
    struct wf_intext file;
    char *fields[FIELDS_MAX];
    uint32_t n_fields;
    double latest; /* when the last call ended, in the unit */
    bool has_begun;
    struct wf_open_requests requests;
    struct wf_buf numbers;
    struct wf_spool *spool;
    struct wf_records *records;           /* its own at first, then those of all ranks */
    uint64_t n_calls, n_comms, n_unknown; /* for notes */
    struct wf_err *err;
};

/* What the fields of a line say. */
struct args {
    int64_t count[2], size[2], peer[2], tag[2]; /* of the send, of the receive */
    int64_t root, request, comm_size;
};

static uint32_t rank_of(const struct reading *r)
{
    return (uint32_t)r->file.place.rank;
}

static void bad(struct reading *r, const char *what)
{
    wf_trace_bad(&r->file.place, "%s: %s", r->fields[0], what);
}

/* The number at a place; pointers may be hexadecimal. */
static int64_t number_at(struct reading *r, const char *text)
{
    char *end = NULL;

    errno = 0;
    long long value = strtoll(text, &end, 0);
    if (end == text || (*end != '\0' && *end != ',') || errno != 0) {
        bad(r, "a field that must be a number is none");
        return 0;
    }
    return value;
}

/* The second number of "a,b", or `none`. */
static int64_t second_at(struct reading *r, const char *text, int64_t none)
{
    const char *comma = strchr(text, ',');

    return comma != NULL ? number_at(r, comma + 1) : none;
}

static double time_at(struct reading *r, const char *text)
{
    char *end = NULL;
    double time = strtod(text, &end);

    if (end == text || *end != '\0' || !isfinite(time)) {
        bad(r, "its first or last field is no time");
        return 0;
    }
    return time;
}

/* The size of the communicator is the third number of "a,b,c". */
static int64_t comm_size_at(struct reading *r, const char *text)
{
    const char *last = strrchr(text, ',');

    return last != NULL && last != strchr(text, ',') ? number_at(r, last + 1) : 0;
}

static void read_arg(struct reading *r, char letter, const char *text, struct args *args)
{
    static const uint8_t members[] = {
        ['n'] = offsetof(struct args, count[0]), ['N'] = offsetof(struct args, count[1]),
        ['p'] = offsetof(struct args, peer[0]),  ['P'] = offsetof(struct args, peer[1]),
        ['t'] = offsetof(struct args, tag[0]),   ['T'] = offsetof(struct args, tag[1]),
        ['R'] = offsetof(struct args, root),     ['r'] = offsetof(struct args, request),
        ['q'] = offsetof(struct args, request),
    };

    if (letter == 'd' || letter == 'D') {
        args->size[letter == 'D' ? 1 : 0] = second_at(r, text, 1);
    } else if (letter == 'c') {
        args->comm_size = comm_size_at(r, text);
    } else if (letter != '-') {
        int64_t number = number_at(r, text);
        memcpy((char *)args + members[(unsigned char)letter], &number, sizeof(number));
    }
}

static uint64_t bytes_of(struct reading *r, const struct args *args, int side)
{
    int64_t n = args->count[side], size = args->size[side];

    if (n < 0 || size < 0 || (size > 0 && n > INT64_MAX / size)) {
        bad(r, "a count or the size of a datatype makes no sense");
        return 0;
    }
    return (uint64_t)(n * size);
}

/* ---- ops ---- */

static void put(struct reading *r, const struct wf_op *op)
{
    wf_spool_put(r->spool, op, &r->file.place);
}

static void put_call(struct reading *r)
{
    uint32_t name = wf_records_name(r->records, r->fields[0]);
    const struct wf_op op = {.kind = WF_OP_CALL, .tag = (int32_t)name};

    wf_spool_name(r->spool, WF_NAME_CALL, name, r->fields[0]);
    put(r, &op);
}

static void put_wait(struct reading *r, struct wf_open_request *request)
{
    const struct wf_op op = {.kind = WF_OP_WAIT, .request = request->number};

    wf_open_requests_remove(&r->requests, request);
    put(r, &op);
}

/* A request with the same handle was complete before: a call that is not in the file, or a test,
 * has completed it. */
static uint32_t new_request(struct reading *r, int64_t name)
{
    wf_open_requests_call(&r->requests);
    struct wf_open_request *before = wf_open_requests_find(&r->requests, name);
    if (before != NULL) {
        put_wait(r, before);
    }
    return wf_open_requests_add(&r->requests, name)->number;
}

/* A peer and tag of one side; false if there is no message. Negative sources are wildcards but
 * for -2, the MPI_PROC_NULL of Open MPI. */
static bool take_peer(struct reading *r, const struct args *args, int side, bool receives,
                      struct wf_op *op)
{
    int64_t peer = args->peer[side], tag = args->tag[side];

    if (peer >= r->n_ranks || tag > INT32_MAX) {
        bad(r, "its peer is no rank, or its tag is too large");
        return false;
    }
    if (peer < 0 && (!receives || peer == -2)) {
        return false;
    }
    uint32_t who = peer < 0 ? WF_ANY_SOURCE : (uint32_t)peer;
    int32_t what = tag < 0 ? WF_ANY_TAG : (int32_t)tag;
    if (side == 0) {
        op->peer = who;
        op->tag = what;
    } else {
        op->recv_peer = who;
        op->recv_tag = what;
    }
    return true;
}

static void do_message(struct reading *r, const struct call *call, const struct args *args)
{
    bool receives = call->kind == WF_OP_RECV || call->kind == WF_OP_IRECV;
    struct wf_op op = {.kind = call->kind, .bytes = bytes_of(r, args, 0)};

    if (wf_trace_failed(r->err) || !take_peer(r, args, 0, receives, &op)) {
        return;
    }
    if (wf_op_info(call->kind)->returns_request) {
        op.request = new_request(r, args->request);
    }
    put(r, &op);
}

static void do_sendrecv(struct reading *r, const struct args *args)
{
    struct wf_op op = {.kind = WF_OP_SENDRECV};

    op.bytes = bytes_of(r, args, 0);
    op.recv_bytes = bytes_of(r, args, 1);
    bool sends = take_peer(r, args, 0, false, &op), receives = take_peer(r, args, 1, true, &op);
    if (wf_trace_failed(r->err)) {
        return;
    }
    if (sends && receives) {
        put(r, &op);
    } else if (sends) {
        put(r, &(struct wf_op){
                   .kind = WF_OP_SEND, .peer = op.peer, .tag = op.tag, .bytes = op.bytes});
    } else if (receives) {
        put(r, &(struct wf_op){.kind = WF_OP_RECV,
                               .peer = op.recv_peer,
                               .tag = op.recv_tag,
                               .bytes = op.recv_bytes});
    }
}

static void do_wait(struct reading *r, const struct args *args)
{
    wf_open_requests_call(&r->requests);
    struct wf_open_request *request = wf_open_requests_find(&r->requests, args->request);
    if (request != NULL) {
        put_wait(r, request);
    } else {
        r->n_unknown++;
    }
}

/* The address of a handle in an array. It wraps around: a file may say anything. */
static int64_t handle_at(const struct args *args, int64_t i, int64_t width)
{
    return (int64_t)((uint64_t)args->request + (uint64_t)(i * width));
}

/* The requests of an array; handles have 8 bytes, or 4 with MPICH. */
static uint32_t find_array(struct reading *r, const struct args *args, int64_t width)
{
    uint32_t n = 0;

    r->numbers.size = 0;
    wf_open_requests_call(&r->requests);
    for (int64_t i = 0; i < args->count[0]; i++) {
        struct wf_open_request *request =
            wf_open_requests_find(&r->requests, handle_at(args, i, width));
        if (request != NULL) {
            wf_buf_append(&r->numbers, &request->number, sizeof(request->number));
            n++;
        }
    }
    return n;
}

static void do_waitall(struct reading *r, const struct args *args)
{
    if (args->count[0] < 0 || args->count[0] > (int64_t)r->requests.n_open * 64 + 1024) {
        bad(r, "so many requests cannot be open");
        return;
    }
    uint32_t wide = find_array(r, args, 8), narrow = find_array(r, args, 4);
    int64_t width = wide >= narrow ? 8 : 4;
    uint32_t n = find_array(r, args, width);

    r->n_unknown += (uint64_t)args->count[0] - n;
    for (int64_t i = 0; i < args->count[0]; i++) {
        wf_open_requests_call(&r->requests);
        struct wf_open_request *request =
            wf_open_requests_find(&r->requests, handle_at(args, i, width));
        if (request != NULL) {
            wf_open_requests_remove(&r->requests, request);
        }
    }
    if (n > 0) {
        wf_spool_waits(r->spool, &r->numbers, &r->file.place);
    }
}

static void do_collective(struct reading *r, const struct call *call, const struct args *args)
{
    struct wf_op op = {.kind = call->kind, .root = (uint32_t)args->root};
    bool by_receiver = call->kind == WF_OP_SCATTER;

    if (args->root < 0 || args->root >= r->n_ranks) {
        bad(r, "its root is no rank");
        return;
    }
    op.bytes = bytes_of(r, args, by_receiver ? 1 : 0);
    put(r, &op);
}

static void do_call(struct reading *r, const struct call *call)
{
    struct args args = {.size = {1, 1}};
    uint32_t n = (uint32_t)strlen(call->fields);

    if (r->n_fields < n + 3 && n > 0) {
        bad(r, "a field is missing");
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        read_arg(r, call->fields[i], r->fields[2 + i], &args);
    }
    if (wf_trace_failed(r->err)) {
        return;
    }
    if (args.comm_size > r->n_ranks) {
        wf_trace_bad(&r->file.place,
                     "%s: a communicator of %" PRId64
                     " ranks, but the trace has files of ranks "
                     "0 to %" PRIu32 " only: the next one is missing",
                     r->fields[0], args.comm_size, r->n_ranks - 1);
        return;
    }
    if (args.comm_size != 0 && args.comm_size != r->n_ranks) {
        r->n_comms++;
        put_call(r);
        return;
    }
    enum wf_op_family family = wf_op_info(call->kind)->family;
    if (family == WF_FAMILY_SEND || family == WF_FAMILY_RECV) {
        do_message(r, call, &args);
    } else if (family == WF_FAMILY_SENDRECV) {
        do_sendrecv(r, &args);
    } else if (family == WF_FAMILY_COLLECTIVE) {
        do_collective(r, call, &args);
    } else if (call->kind == WF_OP_WAIT) {
        do_wait(r, &args);
    } else if (call->kind == WF_OP_WAITALL) {
        do_waitall(r, &args);
    } else {
        put(r, &(struct wf_op){.kind = call->kind});
    }
}

/* ---- lines ---- */

static void check_names(const struct wf_records *records, const char *path, struct wf_err *err)
{
    if (!wf_trace_failed(err) && wf_records_at(records, NAMES_MAX) != NULL) {
        (void)wf_err_set(err, WF_EINVAL, "%.300s: the trace has more than %d different calls",
                         path, NAMES_MAX);
    }
}

static const struct call *find_call(const char *name)
{
    return WF_LOOKUP_AMONG(calls, sizeof(calls) / sizeof(calls[0]), name);
}

/* Computing since the last call, in picoseconds. */
static void put_computing(struct reading *r, double begin)
{
    double ps = (begin - r->latest) * (double)r->params->time_unit;

    if (r->has_begun && ps > 0) {
        int64_t whole = ps < (double)WF_TIME_MAX ? (int64_t)llround(ps) : WF_TIME_MAX;
        wf_spool_compute(r->spool, rank_of(r), whole, r->err);
    }
}

static void do_line(struct reading *r, char *line)
{
    r->n_fields = 0;
    for (char *at = line; at != NULL && r->n_fields < FIELDS_MAX;) {
        char *colon = strchr(at, ':');
        r->fields[r->n_fields++] = at;
        if (colon != NULL) {
            *colon = '\0';
        }
        at = colon != NULL ? colon + 1 : NULL;
    }
    const char *first = r->fields[1], *last = r->fields[r->n_fields - 1];
    bool has_begin = strcmp(first, "-") != 0, has_end = strcmp(last, "-") != 0;
    double begin = time_at(r, has_begin ? first : last);
    double end = has_end ? time_at(r, last) : begin;
    const struct call *call = find_call(line);
    if (wf_trace_failed(r->err)) {
        return;
    }
    put_computing(r, begin);
    if (call != NULL) {
        do_call(r, call);
    } else {
        r->n_calls++;
        put_call(r);
    }
    r->latest = end > r->latest || !r->has_begun ? end : r->latest;
    r->has_begun = true;
}

/* Counts the call of a line. */
static void count_line(struct reading *r, char *line)
{
    char *colon = strchr(line, ':');
    size_t length = colon != NULL ? (size_t)(colon - line) : 0;

    if (strncmp(line, "MPI_", 4) != 0 || length == 0 || length > 64 ||
        strchr(colon + 1, ':') == NULL) {
        wf_trace_bad(&r->file.place, "a line is no call of MPI with its times");
        return;
    }
    *colon = '\0';
    wf_records_add(r->records, rank_of(r), wf_records_name(r->records, line), 0);
    check_names(r->records, r->trace, r->err);
}

/* Calls `visit` for all lines of a rank that are neither empty nor a comment. */
static void each_line(struct reading *r, const char *path, uint32_t rank,
                      void (*visit)(struct reading *r, char *line))
{
    size_t length = 0;

    if (wf_intext_open(&r->file, path, r->err) != WF_OK) {
        return;
    }
    r->file.place.unit = "rank";
    r->file.place.rank = rank;
    for (char *line; (line = wf_intext_line(&r->file, &length)) != NULL;) {
        if (line[0] != '\0' && line[0] != '#') {
            visit(r, line);
        }
    }
    wf_intext_close(&r->file);
}

/* ---- files ---- */

static const char banner[] = "# htor's PMPI Tracer";

/* Whether the file begins as liballprof begins it, or its first line that is no comment is a call
 * with its times. */
static bool is_trace(const unsigned char *bytes, size_t n)
{
    char text[WF_PROBE_BYTES + 1];
    const char *at = text;

    memcpy(text, bytes, n);
    text[n] = '\0';
    if (strncmp(text, banner, strlen(banner)) == 0) {
        return true;
    }
    while (*at == '#' || *at == '\n' || *at == '\r') {
        at += strcspn(at, "\n");
        at += *at == '\n' ? 1 : 0;
    }
    size_t name = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
    if (strncmp(at, "MPI_", 4) != 0 || at[name] != ':') {
        return false;
    }
    const char *time = at + name + 1;
    return (*time >= '0' && *time <= '9') || (time[0] == '-' && time[1] == ':');
}

/* Where the name of rank 0's file has the number: "-0", "-00", ... before the last point. */
struct number {
    size_t at, digits;
};

static bool find_number(const char *first, struct number *out)
{
    const char *name = strrchr(first, '/');
    const char *point = strrchr(name != NULL ? name : first, '.');
    size_t end = point != NULL ? (size_t)(point - first) : 0;

    out->at = end;
    while (out->at > 0 && first[out->at - 1] == '0') {
        out->at--;
    }
    out->digits = end - out->at;
    return out->digits > 0 && out->digits < 10 && out->at > 0 && first[out->at - 1] == '-';
}

/* Whether an entry of the directory is a trace in a file with one of liballprof's endings. */
static bool is_entry(const struct wf_reader_probe *probe, const char *name)
{
    unsigned char bytes[WF_PROBE_BYTES];
    size_t length = strlen(name);
    const char *ending = length > 4 ? name + length - 4 : "";

    return (strcmp(ending, ".txt") == 0 || strcmp(ending, ".dat") == 0) &&
           is_trace(bytes, wf_probe_read(probe, name, bytes, sizeof(bytes)));
}

/* The file of rank 0 in a directory, or null. */
static const char *first_entry(const struct wf_reader_probe *probe)
{
    struct number number;

    for (size_t i = 0; i < probe->n_entries; i++) {
        if (find_number(probe->entries[i], &number) && is_entry(probe, probe->entries[i])) {
            return probe->entries[i];
        }
    }
    return NULL;
}

/* Whether a directory has the file of any rank: the first file with one of the endings. */
static bool has_others(const struct wf_reader_probe *probe)
{
    const char *text = wf_probe_entry(probe, ".txt", NULL);
    const char *data = wf_probe_entry(probe, ".dat", NULL);

    return (text != NULL && is_entry(probe, text)) || (data != NULL && is_entry(probe, data));
}

static bool detect(const struct wf_reader_probe *probe)
{
    return probe->is_directory ? first_entry(probe) != NULL || has_others(probe)
                               : is_trace(probe->bytes, probe->n);
}

/* The path of a rank's file, which differs from that of rank 0 in its number. */
static bool path_of(const char *first, uint32_t rank, char *path)
{
    struct number number;

    if (!find_number(first, &number)) {
        return false;
    }
    int n = snprintf(path, PATH_BYTES, "%.*s%0*" PRIu32 "%s", (int)number.at, first,
                     (int)number.digits, rank, first + number.at + number.digits);
    return n > 0 && n < PATH_BYTES;
}

static enum wf_status count_files(const char *first, uint32_t *n, struct wf_err *err)
{
    char path[PATH_BYTES];
    struct number number;

    if (!find_number(first, &number)) {
        return wf_err_set(err, WF_EINVAL,
                          "%.300s: name the file of rank 0, which ends in -0.txt or -0.dat, or "
                          "the directory of the trace",
                          first);
    }
    for (*n = 1; *n < WF_RANKS_MAX && path_of(first, *n, path) && access(path, F_OK) == 0;) {
        ++*n;
    }
    return WF_OK;
}

/* ---- workers ---- */

struct opening {
    uint32_t n_workers;
    struct reading workers[WF_TRACE_WORKERS_MAX];
};

static void count_rank(void *arg, uint32_t worker, uint32_t rank, struct wf_err *err)
{
    struct reading *r = &((struct opening *)arg)->workers[worker];
    char path[PATH_BYTES];

    r->err = err;
    if (path_of(r->trace, rank, path)) {
        each_line(r, path, rank, count_line);
    }
}

static void read_rank(void *arg, uint32_t worker, uint32_t rank, struct wf_err *err)
{
    struct reading *r = &((struct opening *)arg)->workers[worker];
    char path[PATH_BYTES];

    r->err = err;
    r->has_begun = false;
    if (path_of(r->trace, rank, path)) {
        each_line(r, path, rank, do_line);
    }
    wf_open_requests_fini(&r->requests);
    wf_spool_rank_ends(r->spool, rank);
}

static void add_notes(const struct opening *o, struct wf_trace *out)
{
    uint64_t n_calls = 0, n_comms = 0, n_unknown = 0;

    for (uint32_t i = 0; i < o->n_workers; i++) {
        n_calls += o->workers[i].n_calls;
        n_comms += o->workers[i].n_comms;
        n_unknown += o->workers[i].n_unknown;
    }
    wf_trace_note_count(out, n_calls, "calls are read as calls without messages");
    wf_trace_note_count(out, n_comms,
                        "calls on communicators of other sizes than the world are read as "
                        "calls without messages");
    wf_trace_note_count(out, n_unknown,
                        "requests that calls wait for were never begun, and are taken as "
                        "MPI_REQUEST_NULL");
}

/* Counts the calls of all ranks first: ops name calls by the numbers that these get. */
static void count_all(struct opening *o, const struct reading *like, struct wf_trace *out,
                      struct wf_err *err)
{
    struct wf_records *records[WF_TRACE_WORKERS_MAX];

    for (uint32_t i = 0; i < o->n_workers; i++) {
        o->workers[i] = *like;
        records[i] = o->workers[i].records = wf_records_new(like->n_ranks);
    }
    wf_trace_visit_all(like->n_ranks, o->n_workers, count_rank, o, err);
    out->records = wf_records_new(like->n_ranks);
    wf_records_merge(out->records, records, o->n_workers);
    check_names(out->records, like->trace, err);
}

static void read_all(const struct reading *like, struct wf_trace *out, struct wf_err *err)
{
    struct opening o = {.n_workers = wf_trace_workers(like->n_ranks)};
    struct wf_spool *spool = NULL;

    count_all(&o, like, out, err);
    if (!wf_trace_failed(err) &&
        wf_spool_new_parts(like->n_ranks, o.n_workers, &spool, err) == WF_OK) {
        for (uint32_t i = 0; i < o.n_workers; i++) {
            o.workers[i].records = out->records;
            o.workers[i].spool = wf_spool_part(spool, i);
        }
        wf_trace_visit_all(like->n_ranks, o.n_workers, read_rank, &o, err);
        add_notes(&o, out);
    }
    (void)wf_spool_end(spool, "allprof", &out->source, err);
    for (uint32_t i = 0; i < o.n_workers; i++) {
        wf_buf_fini(&o.workers[i].numbers);
    }
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    const char *entry = probe->is_directory ? first_entry(probe) : NULL;

    if (probe->is_directory && entry == NULL) {
        return wf_err_set(err, WF_EINVAL,
                          "%.300s: the file of rank 0, which ends in -0.txt or -0.dat, is "
                          "missing",
                          probe->path);
    }
    char *first = entry != NULL ? wf_probe_path(probe, entry) : wf_xstrdup(probe->path);
    struct reading like = {.params = params, .trace = first};

    if (count_files(first, &like.n_ranks, err) == WF_OK) {
        read_all(&like, out, err);
    }
    free(first);
    return err->status;
}

const struct wf_reader_ops wf_allprof_reader_ops = {
    .name = "allprof",
    .summary = "liballprof of LogGOPSim: a directory, or the file of rank 0",
    .params = params_table,
    .params_size = sizeof(struct allprof_params),
    .detect = detect,
    .open = open_trace,
};
