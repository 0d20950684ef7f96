/* SPDX-License-Identifier: Apache-2.0 */
/* GOAL: the schedules of LogGOPSim, as text. */
#include "base/array.h"
#include "base/mem.h"
#include "base/strings.h"
#include "base/units.h"
#include "program/trace/goal/divide.h"
#include "program/trace/goal/goal.h"
#include "program/trace/goal/text.h"
#include "program/trace/kit/kit.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_LETTERS = 4 };
static const char *const op_names[WF_GOAL_KINDS] = {"calc", "send", "recv"};

const struct wf_param wf_goal_params_table[] = {
    WF_PARAM_ROW(struct wf_goal_params, calc_unit, TIME, .def = "1ns", .min = "1ps",
                 .doc = "The time of a unit of local work (calc)"),
    WF_PARAM_END,
};

enum {
    ANY = -1,           /* any sender, any tag: WF_GOAL_ANY as a number without a sign */
    RANK_BYTES_MIN = 8, /* the shortest block: rank 0{} */
    NAME_REQUIRES = WF_GOAL_KINDS,
    NAME_IREQUIRES,
    NAMES
};

#define NO_OP UINT32_MAX

/* The op of a label, and the line of its first use. */
struct label {
    uint32_t op;   /* NO_OP if it is not defined yet */
    uint32_t name; /* number of the name, or, if the label is `counted`, the number in it */
    bool counted;
    uint64_t line;
};

/* The label of a letter and a number in a rank. */
struct counted {
    uint32_t rank; /* number of ranks of the part begun, to which `label` belongs */
    uint32_t label;
};

enum { COUNTED_MAX = 1 << 22 };

/* Reads a schedule, or the part of it that a worker reads: whole ranks. */
struct reading {
    int64_t calc_unit;
    struct wf_goal_text text;
    struct wf_goal *goal;         /* of all parts */
    uint32_t block;               /* of the schedule, for the ops of the part */
    atomic_bool *is_begun;        /* of each rank: some part has it */
    uint32_t *own;                /* the ranks of the part... */
    uint32_t n_own, own_capacity; /* ...of which so many have begun */
    struct label *labels;         /* of the rank */
    uint32_t n_labels, labels_capacity;
    struct wf_strings names; /* names of labels... */
    uint32_t *of_names;      /* ...and their labels */
    uint32_t of_names_capacity;
    /* Labels that are this letter and a number, as programs write them, need no names. */
    char letter;
    struct counted *counted;
    uint32_t n_counted, counted_capacity;
    struct wf_records *records;
    uint32_t record_names[NAMES];
};

static struct wf_goal_rank *rank_of(struct reading *r)
{
    return &r->goal->ranks[r->text.file.place.rank];
}

static struct wf_goal_block *block_of(struct reading *r)
{
    return &r->goal->blocks[r->block];
}

static void count(struct reading *r, uint32_t name, uint64_t bytes)
{
    wf_records_add(r->records, (uint32_t)r->text.file.place.rank, r->record_names[name], bytes);
}

/* ---- ops ---- */

/* Reads the tag, cpu and nic that may follow an op. */
static void read_options(struct wf_goal_text *text, struct wf_goal_op *op, uint64_t *n_streams)
{
    for (;;) {
        bool is_tag = op->kind != WF_GOAL_CALC && wf_goal_text_is(text, "tag");
        if (!is_tag && !wf_goal_text_is(text, "cpu") && !wf_goal_text_is(text, "nic")) {
            return;
        }
        uint8_t *stream = text->word[0] == 'c' ? &op->cpu : &op->nic;
        wf_goal_text_next(text);
        if (is_tag) {
            int64_t min = op->kind == WF_GOAL_RECV ? ANY : 0;
            op->tag = (uint32_t)wf_goal_text_number(text, "a number", "", min, INT32_MAX);
        } else {
            *stream = (uint8_t)wf_goal_text_number(text, "a number", "", 0, UINT8_MAX);
            *n_streams += *stream != 0 ? 1 : 0;
        }
    }
}

static void read_op(struct reading *r, enum wf_goal_kind kind)
{
    struct wf_goal_op op = {.kind = (uint8_t)kind, .match = WF_NO_TASK};
    struct wf_goal_block *block = block_of(r);

    wf_goal_text_next(&r->text);
    if (kind == WF_GOAL_CALC) {
        op.amount = (uint64_t)(wf_goal_text_number(&r->text, "units of local work", "", 0,
                                                   WF_TIME_MAX / r->calc_unit) *
                               r->calc_unit);
    } else {
        op.amount =
            (uint64_t)wf_goal_text_number(&r->text, "a number of bytes", "b", 0, INT64_MAX);
        wf_goal_text_expect(&r->text, kind == WF_GOAL_SEND ? "to" : "from");
        op.peer = (uint32_t)wf_goal_text_number(&r->text, "a rank", "",
                                                kind == WF_GOAL_SEND ? 0 : ANY,
                                                (int64_t)r->goal->n_ranks - 1);
    }
    read_options(&r->text, &op, &block->n_streams);
    WF_PUSH(block->ops, block->n_ops, block->ops_capacity, op);
    rank_of(r)->n++;
    block->n_wildcards += wf_goal_is_wildcard(&op) ? 1 : 0;
    count(r, kind, kind == WF_GOAL_CALC ? 0 : op.amount);
}

/* ---- labels ---- */

static uint32_t add_label(struct reading *r, uint32_t name, bool counted)
{
    WF_GROW(r->labels, r->n_labels, r->labels_capacity);
    r->labels[r->n_labels] = (struct label){
        .op = NO_OP, .name = name, .counted = counted, .line = r->text.file.place.line};
    return r->n_labels++;
}

/* The number in the current word, if that is the letter and a number; else NO_OP. */
static uint32_t number_in_word(struct reading *r)
{
    const struct wf_goal_text *text = &r->text;
    uint32_t number = 0;

    if (text->length < 2 || text->length > 8 || (text->word[1] == '0' && text->length > 2)) {
        return NO_OP;
    }
    for (size_t i = 1; i < text->length; i++) {
        unsigned digit = (unsigned char)text->word[i] - (unsigned)'0';
        if (digit > 9) {
            return NO_OP;
        }
        number = number * 10 + digit;
    }
    if (r->letter == '\0') {
        r->letter = text->word[0];
    }
    /* A large number in a short file must not allocate memory. */
    return r->letter == text->word[0] && number < COUNTED_MAX &&
                   number / 4 <= r->n_counted + (1U << 14)
               ? number
               : NO_OP;
}

static uint32_t counted_label(struct reading *r, uint32_t number)
{
    while (number >= r->n_counted) {
        WF_PUSH(r->counted, r->n_counted, r->counted_capacity, (struct counted){0, 0});
    }
    struct counted *counted = &r->counted[number];
    if (counted->rank != r->n_own) {
        *counted = (struct counted){r->n_own, add_label(r, number, true)};
    }
    return counted->label;
}

/* Returns the number of the label that the current word names. */
static uint32_t read_label(struct reading *r)
{
    uint32_t number = number_in_word(r), label, n = r->names.n;

    if (number != NO_OP) {
        label = counted_label(r, number);
    } else {
        uint32_t name = wf_strings_put(&r->names, r->text.word, r->text.length);
        if (name == n) {
            WF_GROW(r->of_names, n, r->of_names_capacity);
            r->of_names[n] = add_label(r, name, false);
        }
        label = r->of_names[name];
    }
    if (r->labels[label].op == NO_OP) {
        r->labels[label].line = r->text.file.place.line;
    }
    return label;
}

/* The text of a label, for errors. */
static const char *text_of(const struct reading *r, uint32_t label, char *buf, size_t size)
{
    const struct label *of = &r->labels[label];

    if (!of->counted) {
        return wf_strings_at(&r->names, of->name);
    }
    (void)snprintf(buf, size, "%c%" PRIu32, r->letter, of->name);
    return buf;
}

static enum wf_goal_kind kind_of(const struct wf_goal_text *text)
{
    enum wf_goal_kind kind = text->word[0] == 'c'   ? WF_GOAL_CALC
                             : text->word[0] == 's' ? WF_GOAL_SEND
                             : text->word[0] == 'r' ? WF_GOAL_RECV
                                                    : WF_GOAL_KINDS;

    return kind < WF_GOAL_KINDS && text->length == NAME_LETTERS &&
                   memcmp(text->word, op_names[kind], NAME_LETTERS) == 0
               ? kind
               : WF_GOAL_KINDS;
}

/* Reads an edge. It holds labels until resolve() replaces them by ops. */
static void read_edge(struct reading *r, uint32_t after)
{
    struct wf_goal_block *block = block_of(r);
    bool for_start = r->text.word[0] == 'i';

    wf_goal_text_next(&r->text);
    if (isalpha((unsigned char)r->text.word[0]) == 0) {
        wf_trace_bad(&r->text.file.place, "expected a label after %srequires",
                     for_start ? "i" : "");
        return;
    }
    WF_PUSH(block->edges, block->n_edges, block->edges_capacity,
            (struct wf_goal_edge){read_label(r), after, for_start ? 0 : 1,
                                  (uint32_t)rank_of(r)->n_edges & (WF_GOAL_EDGES_MAX - 1)});
    rank_of(r)->n_edges++;
    count(r, for_start ? NAME_IREQUIRES : NAME_REQUIRES, 0);
    wf_goal_text_next(&r->text);
}

/* Reads a statement that begins with a label: an op or a dependency. */
static void read_labelled(struct reading *r)
{
    uint32_t label = read_label(r);
    char text[32];

    wf_goal_text_next(&r->text);
    if (wf_goal_text_is(&r->text, "requires") || wf_goal_text_is(&r->text, "irequires")) {
        read_edge(r, label);
        return;
    }
    wf_goal_text_expect(&r->text, ":");
    enum wf_goal_kind kind = kind_of(&r->text);
    if (r->labels[label].op != NO_OP) {
        wf_trace_bad(&r->text.file.place, "the label %.40s is defined for the second time",
                     text_of(r, label, text, sizeof(text)));
    } else if (kind == WF_GOAL_KINDS) {
        wf_trace_bad(&r->text.file.place, "expected calc, send or recv, found '%.40s'",
                     r->text.word);
    } else {
        r->labels[label].op = (uint32_t)rank_of(r)->n;
        read_op(r, kind);
    }
}

/* Replaces labels by ops, after the whole rank is read. */
static void resolve(struct reading *r)
{
    struct wf_goal_rank *rank = rank_of(r);
    char text[32];

    if (rank->n_edges == 0) {
        return;
    }
    struct wf_goal_edge *edges = block_of(r)->edges + rank->first_edge;
    for (uint64_t i = 0; i < rank->n_edges; i++) {
        uint32_t before = r->labels[edges[i].before].op, after = r->labels[edges[i].after].op;
        if (before == NO_OP || after == NO_OP) {
            uint32_t label = before == NO_OP ? edges[i].before : edges[i].after;
            r->text.file.place.line = r->labels[label].line;
            wf_trace_bad(&r->text.file.place, "there is no op with the label %.40s",
                         text_of(r, label, text, sizeof(text)));
            return;
        }
        edges[i].before = before;
        edges[i].after = after;
    }
}

/* ---- ranks ---- */

static void read_rank(struct reading *r)
{
    wf_goal_text_expect(&r->text, "rank");
    struct wf_trace_place place = r->text.file.place;
    int64_t number =
        wf_goal_text_number(&r->text, "a rank", "", 0, (int64_t)r->goal->n_ranks - 1);
    if (wf_trace_failed(r->text.err)) {
        return;
    }
    if (atomic_exchange_explicit(&r->is_begun[number], true, memory_order_relaxed)) {
        wf_trace_bad(&place, "rank %" PRId64 " begins for the second time", number);
        return;
    }
    r->text.file.place.unit = "rank";
    r->text.file.place.rank = number;
    *rank_of(r) = (struct wf_goal_rank){.block = r->block,
                                        .first = block_of(r)->n_ops,
                                        .first_edge = block_of(r)->n_edges,
                                        .is_there = true};
    wf_strings_fini(&r->names);
    r->n_labels = 0;
    WF_PUSH(r->own, r->n_own, r->own_capacity, (uint32_t)number);
    wf_goal_text_expect(&r->text, "{");
    while (!wf_trace_failed(r->text.err) && !wf_goal_text_is(&r->text, "}")) {
        enum wf_goal_kind kind = kind_of(&r->text);
        if (kind < WF_GOAL_KINDS) {
            read_op(r, kind);
        } else if (isalpha((unsigned char)r->text.word[0]) != 0) {
            read_labelled(r);
        } else {
            wf_goal_text_expect(&r->text, "}");
        }
        if (rank_of(r)->n >= WF_NO_TASK / 2 || rank_of(r)->n_edges >= WF_GOAL_EDGES_MAX) {
            wf_trace_bad(&r->text.file.place, "a rank with too many ops or dependencies");
        }
    }
    if (!wf_trace_failed(r->text.err)) {
        resolve(r);
    }
    r->text.file.place.unit = NULL;
    wf_goal_text_next(&r->text);
}

static void read_head(struct reading *r)
{
    wf_goal_text_expect(&r->text, "num_ranks");
    struct wf_trace_place place = r->text.file.place;
    int64_t n = wf_goal_text_number(&r->text, "a number of ranks", "", 1, WF_RANKS_MAX - 1);
    /* Every rank has a block in the file. A wrong number must not allocate memory. */
    if ((uint64_t)n > r->text.file.size / RANK_BYTES_MIN) {
        wf_trace_bad(&place, "%" PRId64 " ranks, but the file ends before so many; truncated?",
                     n);
        return;
    }
    r->goal->n_ranks = (uint32_t)n;
    r->goal->ranks = wf_xcalloc((size_t)n, sizeof(*r->goal->ranks));
    r->is_begun = wf_xcalloc((size_t)n, sizeof(*r->is_begun));
}

static struct wf_records *new_records(uint32_t n_ranks, uint32_t *names)
{
    struct wf_records *records = wf_records_new(n_ranks);

    for (uint32_t i = 0; i < WF_GOAL_KINDS; i++) {
        names[i] = wf_records_name(records, op_names[i]);
    }
    names[NAME_REQUIRES] = wf_records_name(records, "requires");
    names[NAME_IREQUIRES] = wf_records_name(records, "irequires");
    return records;
}

static void read_ranks(struct reading *r)
{
    r->records = new_records(r->goal->n_ranks, r->record_names);
    while (!wf_trace_failed(r->text.err) && r->text.word[0] != '\0') {
        read_rank(r);
    }
}

static void check_ranks(struct reading *r)
{
    for (uint32_t rank = 0; rank < r->goal->n_ranks; rank++) {
        if (!r->goal->ranks[rank].is_there) {
            wf_trace_bad(&r->text.file.place,
                         "the file ends before rank %" PRIu32 " of %" PRIu32 "; truncated?",
                         rank, r->goal->n_ranks);
            return;
        }
    }
}

/* Releases what is needed to read, but neither ranks nor records nor the goal. */
static void end_reading(struct reading *r)
{
    wf_goal_text_close(&r->text);
    wf_strings_fini(&r->names);
    free(r->of_names);
    free(r->counted);
    free(r->labels);
    free(r->own);
}

/* ---- several parts ---- */

/* A schedule that several workers read. */
struct opening {
    const char *path;
    uint32_t n; /* parts */
    struct wf_goal_part places[WF_TRACE_WORKERS_MAX];
    struct reading parts[WF_TRACE_WORKERS_MAX];
};

static void read_part(void *arg, uint32_t worker, uint32_t item, struct wf_err *err)
{
    struct opening *o = arg;
    struct reading *r = &o->parts[item];

    (void)worker;
    wf_goal_text_open(&r->text, o->path, err);
    wf_goal_text_part(&r->text, o->places[item].begin, o->places[item].end);
    read_ranks(r);
}

/* As if nothing had been read. */
static void forget_ranks(struct reading *whole)
{
    struct wf_goal *goal = whole->goal;

    for (uint32_t i = 0; i < WF_TRACE_WORKERS_MAX; i++) {
        free(goal->blocks[i].ops);
        free(goal->blocks[i].edges);
        goal->blocks[i] = (struct wf_goal_block){.n_ops = 0};
    }
    memset(whole->is_begun, 0, goal->n_ranks * sizeof(*whole->is_begun));
    memset(goal->ranks, 0, goal->n_ranks * sizeof(*goal->ranks));
}

/* Reads the ranks, which begin at a byte of the file, in several parts. Returns false, and nothing
 * has changed, if the file is short or something in it is wrong: who reads it from the beginning
 * finds out what and where. */
static bool read_parts(struct reading *whole, const char *path, uint64_t begin)
{
    struct opening *o = wf_xcalloc(1, sizeof(*o));
    struct wf_err err = {.status = WF_OK};
    struct wf_records *records[WF_TRACE_WORKERS_MAX];

    o->path = path;
    o->n = wf_goal_divide(path, begin, o->places);
    for (uint32_t i = 0; i < o->n; i++) {
        o->parts[i] = (struct reading){.calc_unit = whole->calc_unit,
                                       .goal = whole->goal,
                                       .block = i,
                                       .is_begun = whole->is_begun};
    }
    if (o->n > 1) {
        wf_trace_visit_all(o->n, o->n, read_part, o, &err);
    }
    uint64_t n_ranks = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        n_ranks += o->parts[i].n_own;
    }
    bool good = o->n > 1 && !wf_trace_failed(&err) && n_ranks == whole->goal->n_ranks;
    for (uint32_t i = 0; i < o->n; i++) {
        records[i] = o->parts[i].records;
        end_reading(&o->parts[i]);
    }
    if (good) {
        whole->records = new_records(whole->goal->n_ranks, whole->record_names);
        wf_records_merge(whole->records, records, o->n);
    } else {
        for (uint32_t i = 0; i < o->n; i++) {
            wf_records_free(records[i]);
        }
        forget_ranks(whole);
    }
    free(o);
    return good;
}

static void read_all(struct reading *r, const char *path, struct wf_trace *out)
{
    read_head(r);
    if (wf_trace_failed(r->text.err)) {
        return;
    }
    if (!read_parts(r, path, r->text.file.place.byte)) {
        read_ranks(r);
    }
    out->records = r->records;
    check_ranks(r);
}

/* ---- the reader ---- */

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

/* Tells ranks where their ops are, and numbers the ops of all blocks together. */
static void join_blocks(struct wf_goal *goal)
{
    uint64_t first[WF_TRACE_WORKERS_MAX], first_edge[WF_TRACE_WORKERS_MAX];

    for (uint32_t i = 0; i < WF_TRACE_WORKERS_MAX; i++) {
        const struct wf_goal_block *block = &goal->blocks[i];
        first[i] = goal->n_ops;
        first_edge[i] = goal->n_edges;
        goal->n_ops += block->n_ops;
        goal->n_edges += block->n_edges;
        goal->n_streams += block->n_streams;
        goal->n_wildcards += block->n_wildcards;
    }
    for (uint32_t r = 0; r < goal->n_ranks; r++) {
        struct wf_goal_rank *rank = &goal->ranks[r];
        const struct wf_goal_block *block = &goal->blocks[rank->block];
        rank->ops = rank->n > 0 ? block->ops + rank->first : NULL;
        rank->edges = rank->n_edges > 0 ? block->edges + rank->first_edge : NULL;
        rank->first += first[rank->block];
        rank->first_edge += first_edge[rank->block];
    }
}

void wf_goal_finish(struct wf_goal *goal, struct wf_trace *out)
{
    join_blocks(goal);
    wf_goal_sort(goal);
    wf_goal_match(goal);
    wf_trace_note_count(out, goal->n_wildcards,
                        "receives have wildcards: each matches the message that it would "
                        "match if nothing took time, unless net.preset is loggopsim");
    wf_trace_note_count(out, goal->n_streams,
                        "ops are on another cpu or nic than 0: a rank has as many cpus as "
                        "it names, and the network interfaces that node.nics gives it");
    out->graph = wf_goal_graph(goal);
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    struct reading r = {.calc_unit = ((const struct wf_goal_params *)params)->calc_unit,
                        .goal = wf_goal_new()};

    wf_goal_text_open(&r.text, probe->path, err);
    read_all(&r, probe->path, out);
    if (!wf_trace_failed(err)) {
        wf_goal_finish(r.goal, out);
        r.goal = NULL;
    }
    end_reading(&r);
    free(r.is_begun);
    wf_goal_free(r.goal);
    return err->status;
}

const struct wf_reader_ops wf_goal_reader_ops = {
    .name = "goal",
    .summary = "GOAL schedules of LogGOPSim, as text; tasks",
    .params = wf_goal_params_table,
    .params_size = sizeof(struct wf_goal_params),
    .detect = detect,
    .open = open_trace,
};
