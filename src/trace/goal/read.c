/* SPDX-License-Identifier: Apache-2.0 */
/* GOAL: the schedules of LogGOPSim, as text. */
#include "base/mem.h"
#include "base/units.h"
#include "trace/goal/goal.h"
#include "trace/goal/labels.h"
#include "trace/goal/text.h"
#include "trace/kit/records.h"
#include "trace/kit/task_table.h"
#include "trace/reader.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const wf_goal_names[WF_GOAL_KINDS] = {"calc", "send", "recv"};

struct goal_params {
    int64_t calc_unit;
};

static const struct wf_param params_table[] = {
    {.name = "calc_unit",
     .type = WF_PARAM_TIME,
     .offset = offsetof(struct goal_params, calc_unit),
     .def = "1ns",
     .min = "1ps",
     .doc = "The time of a unit of local work (calc)"},
    WF_PARAM_END,
};

enum {
    RANK_BYTES_MIN = 8, /* rank 0{} */
    NAME_REQUIRES = WF_GOAL_KINDS,
    NAME_IREQUIRES,
    NAMES
};

struct reading {
    int64_t calc_unit;
    struct wf_goal_text text;
    struct wf_goal goal;
    struct wf_goal_labels labels; /* of the rank */
    uint64_t *lines;              /* where a label is first named, by its number */
    uint32_t lines_room;
    struct wf_records *records;
    uint32_t names[NAMES];
    struct wf_err *err;
};

/* ---- ops ---- */

static struct wf_goal_rank *rank_of(struct reading *r)
{
    return &r->goal.ranks[r->text.rank];
}

static enum wf_status read_peer(struct reading *r, struct wf_goal_op *op)
{
    bool sends = op->kind == WF_GOAL_SEND;

    enum wf_status status = wf_goal_text_expect(&r->text, sends ? "to" : "from", r->err);
    if (status != WF_OK) {
        return status;
    }
    struct wf_goal_text place = r->text;
    status = wf_goal_text_number(&r->text, "", sends ? 0 : WF_GOAL_ANY, &op->peer, r->err);
    if (status == WF_OK && op->peer >= r->goal.n_ranks) {
        status = wf_goal_text_bad(&place, r->err,
                                  "rank %" PRId64 " is not there: the ranks are 0 to %" PRIu32,
                                  op->peer, r->goal.n_ranks - 1);
    }
    return status;
}

/* What may be behind an op. */
static enum wf_status read_extras(struct reading *r, struct wf_goal_op *op)
{
    enum wf_status status = WF_OK;
    int64_t value = 0;

    while (status == WF_OK) {
        bool is_tag = op->kind != WF_GOAL_CALC && strcmp(r->text.word, "tag") == 0;
        if (!is_tag && strcmp(r->text.word, "cpu") != 0 && strcmp(r->text.word, "nic") != 0) {
            break;
        }
        status = wf_goal_text_next(&r->text, r->err);
        if (status == WF_OK) {
            int64_t least = is_tag && op->kind == WF_GOAL_RECV ? WF_GOAL_ANY : 0;
            struct wf_goal_text place = r->text;
            status = wf_goal_text_number(&r->text, "", least, &value, r->err);
            if (status == WF_OK && value > INT32_MAX) {
                status = wf_goal_text_bad(&place, r->err, "%" PRId64 " is too large", value);
            }
        }
        if (is_tag) {
            op->tag = (int32_t)value;
        } else {
            r->goal.n_streams += value != 0 ? 1 : 0;
        }
    }
    return status;
}

static void add_op(struct reading *r, const struct wf_goal_op *op)
{
    struct wf_goal *goal = &r->goal;
    bool calc = op->kind == WF_GOAL_CALC;

    if (goal->n_ops == goal->ops_room) {
        goal->ops_room = goal->ops_room * 2 + 64;
        goal->ops = wf_xrealloc(goal->ops, goal->ops_room, sizeof(*goal->ops));
    }
    goal->ops[goal->n_ops++] = *op;
    rank_of(r)->n++;
    goal->n_open +=
        op->kind == WF_GOAL_RECV && (op->peer == WF_GOAL_ANY || op->tag == WF_GOAL_ANY) ? 1 : 0;
    wf_records_add(r->records, (uint32_t)r->text.rank, r->names[op->kind],
                   calc ? 0 : op->amount);
}

static enum wf_status read_op(struct reading *r, enum wf_goal_kind kind)
{
    struct wf_goal_op op = {.kind = kind, .match = WF_GOAL_NOBODY};
    int64_t amount = 0;

    enum wf_status status = wf_goal_text_next(&r->text, r->err);
    struct wf_goal_text place = r->text;
    if (status == WF_OK) {
        status =
            wf_goal_text_number(&r->text, kind == WF_GOAL_CALC ? "" : "b", 0, &amount, r->err);
    }
    if (status == WF_OK && kind == WF_GOAL_CALC && amount > WF_TIME_MAX / r->calc_unit) {
        status = wf_goal_text_bad(&place, r->err, "a time of more than 106 days");
    }
    if (status == WF_OK && kind != WF_GOAL_CALC) {
        status = read_peer(r, &op);
    }
    if (status == WF_OK) {
        op.amount = (uint64_t)(kind == WF_GOAL_CALC ? amount * r->calc_unit : amount);
        status = read_extras(r, &op);
    }
    if (status == WF_OK) {
        add_op(r, &op);
    }
    return status;
}

/* ---- labels ---- */

static uint32_t label_of(struct reading *r, const char *name)
{
    uint32_t label = wf_goal_labels_find(&r->labels, name);

    if (label >= r->lines_room) {
        r->lines_room = r->lines_room * 2 + 64;
        r->lines = wf_xrealloc(r->lines, r->lines_room, sizeof(*r->lines));
    }
    if (r->labels.items[label].op == WF_GOAL_UNDEFINED) {
        r->lines[label] = r->text.line;
    }
    return label;
}

static enum wf_goal_kind kind_of(const char *word)
{
    enum wf_goal_kind kind = WF_GOAL_CALC;

    while (kind < WF_GOAL_KINDS && strcmp(word, wf_goal_names[kind]) != 0) {
        kind++;
    }
    return kind;
}

/* Edges hold labels until the rank is read. */
static enum wf_status read_edge(struct reading *r, uint32_t after)
{
    struct wf_goal *goal = &r->goal;
    bool for_start = r->text.word[0] == 'i';

    enum wf_status status = wf_goal_text_next(&r->text, r->err);
    if (status != WF_OK) {
        return status;
    }
    if (isalpha((unsigned char)r->text.word[0]) == 0) {
        return wf_goal_text_bad(&r->text, r->err, "a label is missing");
    }
    uint32_t before = label_of(r, r->text.word);
    if (goal->n_edges == goal->edges_room) {
        goal->edges_room = goal->edges_room * 2 + 64;
        goal->edges = wf_xrealloc(goal->edges, goal->edges_room, sizeof(*goal->edges));
    }
    goal->edges[goal->n_edges++] = (struct wf_goal_edge){before, after, for_start};
    rank_of(r)->n_edges++;
    wf_records_add(r->records, (uint32_t)r->text.rank,
                   r->names[for_start ? NAME_IREQUIRES : NAME_REQUIRES], 0);
    return wf_goal_text_next(&r->text, r->err);
}

/* What begins with a label: an op, or what one waits for. */
static enum wf_status read_labelled(struct reading *r)
{
    uint32_t label = label_of(r, r->text.word);

    enum wf_status status = wf_goal_text_next(&r->text, r->err);
    if (status != WF_OK) {
        return status;
    }
    if (strcmp(r->text.word, "requires") == 0 || strcmp(r->text.word, "irequires") == 0) {
        return read_edge(r, label);
    }
    status = wf_goal_text_expect(&r->text, ":", r->err);
    if (status != WF_OK) {
        return status;
    }
    if (r->labels.items[label].op != WF_GOAL_UNDEFINED) {
        return wf_goal_text_bad(&r->text, r->err, "the label %.40s for the second time",
                                wf_goal_labels_name(&r->labels, label));
    }
    enum wf_goal_kind kind = kind_of(r->text.word);
    if (kind == WF_GOAL_KINDS) {
        return wf_goal_text_bad(&r->text, r->err, "expected calc, send or recv, found '%.40s'",
                                r->text.word);
    }
    r->labels.items[label].op = (uint32_t)rank_of(r)->n;
    return read_op(r, kind);
}

static int by_before(const void *a, const void *b)
{
    const struct wf_goal_edge *x = a, *y = b;

    if (x->before != y->before) {
        return x->before < y->before ? -1 : 1;
    }
    return x->after < y->after ? -1 : x->after > y->after;
}

/* The rank is read: labels become ops. */
static enum wf_status resolve(struct reading *r)
{
    struct wf_goal_rank *rank = rank_of(r);
    struct wf_goal_edge *edges = r->goal.edges + rank->first_edge;
    const struct wf_goal_label *labels = r->labels.items;

    for (uint64_t i = 0; i < rank->n_edges; i++) {
        uint32_t before = labels[edges[i].before].op, after = labels[edges[i].after].op;
        if (before == WF_GOAL_UNDEFINED || after == WF_GOAL_UNDEFINED) {
            uint32_t label = before == WF_GOAL_UNDEFINED ? edges[i].before : edges[i].after;
            r->text.line = r->lines[label];
            return wf_goal_text_bad(&r->text, r->err, "there is no op with the label %.40s",
                                    wf_goal_labels_name(&r->labels, label));
        }
        edges[i].before = before;
        edges[i].after = after;
        if (edges[i].for_start) {
            r->goal.ops[rank->first + before].has_start = true;
        }
    }
    if (rank->n_edges > 1) {
        qsort(edges, rank->n_edges, sizeof(*edges), by_before);
    }
    return WF_OK;
}

/* ---- ranks ---- */

static enum wf_status begin_rank(struct reading *r)
{
    int64_t number = 0;

    enum wf_status status = wf_goal_text_expect(&r->text, "rank", r->err);
    struct wf_goal_text place = r->text;
    if (status == WF_OK) {
        status = wf_goal_text_number(&r->text, "", 0, &number, r->err);
    }
    if (status != WF_OK) {
        return status;
    }
    if (number >= r->goal.n_ranks || r->goal.ranks[number].is_there) {
        return wf_goal_text_bad(&place, r->err,
                                number >= r->goal.n_ranks
                                    ? "rank %" PRId64 " is not below num_ranks"
                                    : "rank %" PRId64 " for the second time",
                                number);
    }
    r->text.rank = number;
    *rank_of(r) = (struct wf_goal_rank){
        .first = r->goal.n_ops, .first_edge = r->goal.n_edges, .is_there = true};
    wf_goal_labels_clear(&r->labels);
    return wf_goal_text_expect(&r->text, "{", r->err);
}

static enum wf_status read_rank(struct reading *r)
{
    enum wf_status status = begin_rank(r);

    while (status == WF_OK && strcmp(r->text.word, "}") != 0) {
        enum wf_goal_kind kind = kind_of(r->text.word);
        if (kind < WF_GOAL_KINDS) {
            status = read_op(r, kind);
        } else if (isalpha((unsigned char)r->text.word[0]) != 0) {
            status = read_labelled(r);
        } else {
            status = wf_goal_text_expect(&r->text, "}", r->err);
        }
        if (status == WF_OK && rank_of(r)->n >= WF_NO_TASK / 2) {
            status = wf_goal_text_bad(&r->text, r->err, "too many ops");
        }
    }
    if (status == WF_OK) {
        status = resolve(r);
    }
    if (status == WF_OK) {
        status = wf_goal_text_next(&r->text, r->err);
    }
    r->text.rank = status == WF_OK ? -1 : r->text.rank;
    return status;
}

static enum wf_status read_head(struct reading *r)
{
    int64_t n = 0;

    enum wf_status status = wf_goal_text_next(&r->text, r->err);
    if (status == WF_OK) {
        status = wf_goal_text_expect(&r->text, "num_ranks", r->err);
    }
    struct wf_goal_text place = r->text;
    if (status == WF_OK) {
        status = wf_goal_text_number(&r->text, "", 1, &n, r->err);
    }
    /* Every rank has a block: a number costs no memory by itself. */
    if (status == WF_OK && ((uint64_t)n > r->text.size / RANK_BYTES_MIN || n >= WF_RANKS_MAX)) {
        status = wf_goal_text_bad(&place, r->err,
                                  "%" PRId64 " ranks, but the file ends before so many; "
                                  "truncated?",
                                  n);
    }
    if (status == WF_OK) {
        r->goal.n_ranks = (uint32_t)n;
        r->goal.ranks = wf_xcalloc((size_t)n, sizeof(*r->goal.ranks));
    }
    return status;
}

static enum wf_status read_all(struct reading *r, struct wf_trace *out)
{
    enum wf_status status = read_head(r);

    if (status != WF_OK) {
        return status;
    }
    out->records = wf_records_new(r->goal.n_ranks);
    r->records = out->records;
    r->goal.ops_room = 64;
    r->goal.ops = wf_xcalloc(r->goal.ops_room, sizeof(*r->goal.ops));
    r->goal.edges_room = 64;
    r->goal.edges = wf_xcalloc(r->goal.edges_room, sizeof(*r->goal.edges));
    for (uint32_t i = 0; i < WF_GOAL_KINDS; i++) {
        r->names[i] = wf_records_name(r->records, wf_goal_names[i]);
    }
    r->names[NAME_REQUIRES] = wf_records_name(r->records, "requires");
    r->names[NAME_IREQUIRES] = wf_records_name(r->records, "irequires");
    while (status == WF_OK && r->text.word[0] != '\0') {
        status = read_rank(r);
    }
    for (uint32_t rank = 0; rank < r->goal.n_ranks && status == WF_OK; rank++) {
        if (!r->goal.ranks[rank].is_there) {
            status = wf_goal_text_bad(&r->text, r->err,
                                      "the file ends before rank %" PRIu32 " of %" PRIu32
                                      "; truncated?",
                                      rank, r->goal.n_ranks);
        }
    }
    return status;
}

/* ---- tasks ---- */

static void put_next(struct wf_task_table *table, const struct wf_goal *goal,
                     const struct wf_goal_rank *rank, uint64_t *edge, uint32_t op)
{
    const struct wf_goal_op *ops = goal->ops + rank->first;
    const struct wf_goal_edge *edges = goal->edges + rank->first_edge;

    for (uint64_t i = *edge; i < rank->n_edges && edges[i].before == op; i++) {
        if (edges[i].for_start) {
            const struct wf_goal_op *after = &ops[edges[i].after];
            wf_task_table_next(table, after->task - (after->has_start ? 1 : 0));
        }
    }
}

/* An op is a task; if somebody waits for its start, that is one of its own before it. */
static void put_op(struct wf_task_table *table, const struct wf_goal *goal,
                   const struct wf_goal_rank *rank, uint64_t *edge, uint32_t number)
{
    const struct wf_goal_op *ops = goal->ops + rank->first, *op = &ops[number];
    const struct wf_goal_edge *edges = goal->edges + rank->first_edge;

    if (op->has_start) {
        wf_task_table_task(table, 0);
        wf_task_table_next(table, op->task);
        put_next(table, goal, rank, edge, number);
    }
    wf_task_table_task(table, op->kind == WF_GOAL_CALC ? (int64_t)op->amount : 0);
    if (op->kind == WF_GOAL_SEND) {
        const struct wf_task_send send = {
            .bytes = op->amount,
            .pe = (uint32_t)op->peer,
            .id = op->match != WF_GOAL_NOBODY ? goal->ops[op->match].task : WF_NO_TASK};
        wf_task_table_send(table, &send);
    }
    for (; *edge < rank->n_edges && edges[*edge].before == number; ++*edge) {
        if (!edges[*edge].for_start) {
            const struct wf_goal_op *after = &ops[edges[*edge].after];
            wf_task_table_next(table, after->task - (after->has_start ? 1 : 0));
        }
    }
}

static void number_tasks(struct wf_goal *goal)
{
    for (uint32_t r = 0; r < goal->n_ranks; r++) {
        struct wf_goal_op *ops = goal->ops + goal->ranks[r].first;
        uint32_t next = 0;
        for (uint64_t i = 0; i < goal->ranks[r].n; i++) {
            next += ops[i].has_start ? 1 : 0;
            ops[i].task = next++;
        }
    }
}

static struct wf_graph *make_graph(struct wf_goal *goal)
{
    struct wf_task_table *table = wf_task_table_new(goal->n_ranks);

    number_tasks(goal);
    for (uint32_t r = 0; r < goal->n_ranks; r++) {
        const struct wf_goal_rank *rank = &goal->ranks[r];
        uint64_t edge = 0;
        if (r > 0) {
            wf_task_table_pe(table);
        }
        for (uint64_t i = 0; i < rank->n; i++) {
            put_op(table, goal, rank, &edge, (uint32_t)i);
        }
        for (uint64_t i = 0; i < rank->n; i++) {
            if (goal->ops[rank->first + i].kind == WF_GOAL_RECV) {
                wf_task_table_need(table, r, goal->ops[rank->first + i].task);
            }
        }
    }
    return wf_task_table_graph(table, "goal");
}

/* ---- all ---- */

static bool detect(const struct wf_reader_probe *probe)
{
    char text[WF_PROBE_BYTES + 1];
    const char *at = text;

    memcpy(text, probe->bytes, probe->n);
    text[probe->n] = '\0';
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (strncmp(at, "//", 2) == 0) {
            at += strcspn(at, "\n");
        } else if (strncmp(at, "/*", 2) == 0) {
            const char *end = strstr(at + 2, "*/");
            at = end != NULL ? end + 2 : "";
        } else {
            break;
        }
    }
    return strncmp(at, "num_ranks", 9) == 0;
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    struct reading r = {.calc_unit = ((const struct goal_params *)params)->calc_unit,
                        .err = err};

    enum wf_status status = wf_goal_text_open(&r.text, probe->path, err);
    if (status == WF_OK) {
        status = read_all(&r, out);
    }
    if (status == WF_OK) {
        wf_goal_match(&r.goal);
        out->graph = make_graph(&r.goal);
        if (r.goal.n_open > 0) {
            wf_trace_note(out,
                          "%" PRIu64 " receives are open: each gets the message it would get "
                          "if nothing took time",
                          r.goal.n_open);
        }
        if (r.goal.n_streams > 0) {
            wf_trace_note(out,
                          "%" PRIu64 " ops are on another cpu or nic than 0: a rank is read as "
                          "having one of each",
                          r.goal.n_streams);
        }
    }
    wf_goal_text_close(&r.text);
    wf_goal_labels_fini(&r.labels);
    free(r.lines);
    free(r.goal.ranks);
    free(r.goal.ops);
    free(r.goal.edges);
    return status;
}

const struct wf_reader_ops wf_goal_reader_ops = {
    .name = "goal",
    .summary = "GOAL schedules of LogGOPSim, as text; tasks",
    .params = params_table,
    .params_size = sizeof(struct goal_params),
    .detect = detect,
    .open = open_trace,
};
