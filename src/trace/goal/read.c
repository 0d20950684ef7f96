/* SPDX-License-Identifier: Apache-2.0 */
/* GOAL: the schedules of LogGOPSim, as text. */
#include "base/array.h"
#include "base/mem.h"
#include "base/strings.h"
#include "base/units.h"
#include "trace/goal/goal.h"
#include "trace/kit/kit.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The words of a GOAL schedule: names, numbers and the signs : { }.
 *
 * The first failure is kept in `err`. After it the word is empty, as it is at the end of the
 * file, and numbers are the smallest that are allowed.
 */
enum { WORD_BYTES = 256, BUFFER_BYTES = 1 << 18, SHORT_BYTES = 16 };

struct text {
    struct wf_intext file; /* with the place of the word */
    char word[WORD_BYTES]; /* the current one; "" at the end */
    size_t length;         /* of the word */
    unsigned char *buffer; /* a part of the file, in which reading goes on at `at` */
    size_t at, n;
    uint64_t base; /* where the part begins in the file */
    uint64_t line;
    struct wf_err *err;
};

/* Reads the next part of the file; false at its end. */
static bool fill(struct text *text)
{
    text->base += text->n;
    text->at = 0;
    text->n = wf_intext_block(&text->file, text->buffer, BUFFER_BYTES);
    return text->n > 0;
}

/* The next character, which is not passed; EOF at the end. */
static inline int peek(struct text *text)
{
    return text->at < text->n || fill(text) ? text->buffer[text->at] : EOF;
}

static inline int take(struct text *text)
{
    int c = peek(text);

    text->at += c != EOF ? 1 : 0;
    text->line += c == '\n' ? 1 : 0;
    return c;
}

/* Skips a comment whose first slash has been read. */
static void skip_comment(struct text *text)
{
    int c = take(text), before = 0;

    if (c == '/') {
        while (c != '\n' && c != EOF) {
            c = take(text);
        }
    } else if (c == '*') {
        c = take(text);
        while (c != EOF && !(before == '*' && c == '/')) {
            before = c;
            c = take(text);
        }
        if (c == EOF) {
            wf_trace_bad(&text->file.place, "a comment without end: truncated?");
        }
    } else {
        wf_trace_bad(&text->file.place, "a single slash; comments begin with // or /*");
    }
}

/* What a character can be. Without isalnum(), which asks for the locale at every character. */
enum { OTHER, BLANK, WORD, SIGN };

#define W2  WORD, WORD
#define W8  W2, W2, W2, W2
#define W26 W8, W8, W8, W2
static const unsigned char classes[256] = {
    [' '] = BLANK, ['\t'] = BLANK,
    BLANK,         BLANK,
    BLANK,         BLANK, /* up to '\r' */
    ['0'] = W8,    W2,
    ['A'] = W26,   ['a'] = W26,
    ['_'] = WORD,  ['-'] = WORD,
    ['.'] = WORD,  [':'] = SIGN,
    ['{'] = SIGN,  ['}'] = SIGN,
};

static bool is_word(int c)
{
    return c != EOF && classes[c] == WORD;
}

static bool is_blank(int c)
{
    return c != EOF && classes[c] == BLANK;
}

/* Returns the first character of the next word, or EOF, and sets the place for errors. */
static int find_word(struct text *text)
{
    int c;

    do {
        text->file.place.line = text->line;
        text->file.place.byte = text->base + text->at;
        c = take(text);
        if (c == '/') {
            skip_comment(text);
        }
    } while (!wf_trace_failed(text->err) && (c == '/' || is_blank(c)));
    return c;
}

/* Reads the next word if it and the character after it are in the buffer and no comment comes
 * before it, which is nearly always so. Otherwise reads nothing and returns false. */
static bool next_in_buffer(struct text *text)
{
    const unsigned char *at = text->buffer + text->at, *end = text->buffer + text->n;
    uint64_t line = text->line;

    while (at < end && classes[*at] == BLANK) {
        line += *at++ == '\n' ? 1 : 0;
    }
    const unsigned char *first = at;
    while (at < end && classes[*at] == WORD) {
        at++;
    }
    at += at == first && at < end && classes[*at] == SIGN ? 1 : 0;
    size_t length = (size_t)(at - first);
    if (at == end || length == 0 || length >= WORD_BYTES) {
        return false;
    }
    if (length < SHORT_BYTES) {
        memcpy(text->word, first,
               SHORT_BYTES); /* no call; bytes after the word do not matter */
    } else {
        memcpy(text->word, first, length);
    }
    text->word[length] = '\0';
    text->length = length;
    text->line = line;
    text->file.place.line = line;
    text->file.place.byte = text->base + (uint64_t)(first - text->buffer);
    text->at = (size_t)(at - text->buffer);
    return true;
}

/* Reads the next word. */
static void text_next(struct text *text)
{
    size_t n = 0;

    if (!wf_trace_failed(text->err) && next_in_buffer(text)) {
        return;
    }
    text->word[0] = '\0';
    text->length = 0;
    if (wf_trace_failed(text->err)) {
        return;
    }
    int c = find_word(text);
    if (wf_trace_failed(text->err) || c == EOF) {
        return;
    }
    if (c == ':' || c == '{' || c == '}') {
        memcpy(text->word, (char[]){(char)c, '\0'}, 2);
        text->length = 1;
        return;
    }
    /* Words have no line ends. */
    if (is_word(c)) {
        text->word[n++] = (char)c;
        while (is_word(c = peek(text)) && n < WORD_BYTES - 1) {
            text->word[n++] = (char)c;
            text->at++;
        }
    }
    text->word[n] = '\0';
    text->length = n;
    if (n == 0) {
        wf_trace_bad(&text->file.place, "an unexpected sign (0x%02x)", (unsigned)c);
    } else if (is_word(c)) {
        wf_trace_bad(&text->file.place, "a word of more than %d letters", WORD_BYTES - 1);
    }
}

/* Whether the word is this one. */
static inline bool text_is(const struct text *text, const char *word)
{
    size_t length = strlen(word);

    return text->length == length && memcmp(text->word, word, length) == 0;
}

/* The word must be this one, and is passed. */
static void text_expect(struct text *text, const char *word)
{
    if (text_is(text, word)) {
        text_next(text);
    } else if (text->word[0] == '\0') {
        wf_trace_bad(&text->file.place, "the file ends before '%s'; truncated?", word);
    } else {
        wf_trace_bad(&text->file.place, "expected '%s', found '%.40s'", word, text->word);
    }
}

/* The word must be a whole number of this range, perhaps with `unit` after it, and is passed.
 * `what` is it, for errors: "a rank". */
static int64_t text_number(struct text *text, const char *what, const char *unit, int64_t min,
                           int64_t max)
{
    char *end = NULL;
    int64_t number = 0;
    size_t n = 0;

    /* Nearly all numbers are short and have no sign. */
    while (n < text->length && n < 18 && (unsigned)text->word[n] - '0' < 10) {
        number = number * 10 + (text->word[n++] - '0');
    }
    if (n > 0 && strcmp(text->word + n, text->word[n] == '\0' ? "" : unit) == 0 &&
        number >= min && number <= max) {
        text_next(text);
        return number;
    }
    errno = 0;
    number = strtoll(text->word, &end, 10);
    if (text->word[0] == '\0') {
        wf_trace_bad(&text->file.place, "the file ends before %s; truncated?", what);
    } else if (end == text->word || (*end != '\0' && strcmp(end, unit) != 0) || errno != 0 ||
               number < min || number > max) {
        wf_trace_bad(&text->file.place,
                     "expected %s from %" PRId64 " to %" PRId64 ", found '%.40s'", what, min,
                     max, text->word);
    } else {
        text_next(text);
        return number;
    }
    return min;
}

/* Opens the file and reads the first word. */
static void text_open(struct text *text, const char *path, struct wf_err *err)
{
    *text = (struct text){
        .line = 1, .err = err, .buffer = wf_xcalloc(1, BUFFER_BYTES + SHORT_BYTES)};
    if (wf_intext_open(&text->file, path, err) == WF_OK) {
        text_next(text);
    }
}

static void text_close(struct text *text)
{
    wf_intext_close(&text->file);
    free(text->buffer);
}

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
    uint32_t rank; /* number of ranks begun, to which `label` belongs */
    uint32_t label;
};

enum { COUNTED_MAX = 1 << 22 };

struct reading {
    int64_t calc_unit;
    struct text text;
    struct wf_goal *goal;
    struct label *labels; /* of the rank */
    uint32_t n_labels, labels_capacity;
    struct wf_strings names; /* names of labels... */
    uint32_t *of_names;      /* ...and their labels */
    uint32_t of_names_capacity;
    /* Labels that are this letter and a number, as programs write them, need no names. */
    char letter;
    struct counted *counted;
    uint32_t n_counted, counted_capacity;
    uint32_t n_begun; /* ranks */
    struct wf_records *records;
    uint32_t record_names[NAMES];
};

static struct wf_goal_rank *rank_of(struct reading *r)
{
    return &r->goal->ranks[r->text.file.place.rank];
}

static void count(struct reading *r, uint32_t name, uint64_t bytes)
{
    wf_records_add(r->records, (uint32_t)r->text.file.place.rank, r->record_names[name], bytes);
}

/* ---- ops ---- */

/* Reads the tag, cpu and nic that may follow an op. */
static void read_options(struct text *text, struct wf_goal_op *op, uint64_t *n_streams)
{
    for (;;) {
        bool is_tag = op->kind != WF_GOAL_CALC && text_is(text, "tag");
        if (!is_tag && !text_is(text, "cpu") && !text_is(text, "nic")) {
            return;
        }
        uint8_t *stream = text->word[0] == 'c' ? &op->cpu : &op->nic;
        text_next(text);
        if (is_tag) {
            int64_t min = op->kind == WF_GOAL_RECV ? ANY : 0;
            op->tag = (uint32_t)text_number(text, "a number", "", min, INT32_MAX);
        } else {
            *stream = (uint8_t)text_number(text, "a number", "", 0, UINT8_MAX);
            *n_streams += *stream != 0 ? 1 : 0;
        }
    }
}

static void read_op(struct reading *r, enum wf_goal_kind kind)
{
    struct wf_goal_op op = {.kind = (uint8_t)kind, .match = WF_NO_TASK};
    struct wf_goal *goal = r->goal;

    text_next(&r->text);
    if (kind == WF_GOAL_CALC) {
        op.amount = (uint64_t)(text_number(&r->text, "units of local work", "", 0,
                                           WF_TIME_MAX / r->calc_unit) *
                               r->calc_unit);
    } else {
        op.amount = (uint64_t)text_number(&r->text, "a number of bytes", "b", 0, INT64_MAX);
        text_expect(&r->text, kind == WF_GOAL_SEND ? "to" : "from");
        op.peer = (uint32_t)text_number(&r->text, "a rank", "", kind == WF_GOAL_SEND ? 0 : ANY,
                                        (int64_t)goal->n_ranks - 1);
    }
    read_options(&r->text, &op, &goal->n_streams);
    WF_GROW(goal->ops, goal->n_ops, goal->ops_capacity);
    goal->ops[goal->n_ops++] = op;
    rank_of(r)->n++;
    goal->n_wildcards += wf_goal_is_wildcard(&op) ? 1 : 0;
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
    const struct text *text = &r->text;
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
        WF_GROW(r->counted, r->n_counted, r->counted_capacity);
        r->counted[r->n_counted++] = (struct counted){0, 0};
    }
    struct counted *counted = &r->counted[number];
    if (counted->rank != r->n_begun) {
        *counted = (struct counted){r->n_begun, add_label(r, number, true)};
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

static enum wf_goal_kind kind_of(const struct text *text)
{
    enum wf_goal_kind kind = text->word[0] == 'c'   ? WF_GOAL_CALC
                             : text->word[0] == 's' ? WF_GOAL_SEND
                             : text->word[0] == 'r' ? WF_GOAL_RECV
                                                    : WF_GOAL_KINDS;

    return kind < WF_GOAL_KINDS && text_is(text, op_names[kind]) ? kind : WF_GOAL_KINDS;
}

/* Reads an edge. It holds labels until resolve() replaces them by ops. */
static void read_edge(struct reading *r, uint32_t after)
{
    struct wf_goal *goal = r->goal;
    bool for_start = r->text.word[0] == 'i';

    text_next(&r->text);
    if (isalpha((unsigned char)r->text.word[0]) == 0) {
        wf_trace_bad(&r->text.file.place, "expected a label after %srequires",
                     for_start ? "i" : "");
        return;
    }
    WF_GROW(goal->edges, goal->n_edges, goal->edges_capacity);
    goal->edges[goal->n_edges++] =
        (struct wf_goal_edge){read_label(r), after, for_start ? 0 : 1,
                              (uint32_t)rank_of(r)->n_edges & (WF_GOAL_EDGES_MAX - 1)};
    rank_of(r)->n_edges++;
    count(r, for_start ? NAME_IREQUIRES : NAME_REQUIRES, 0);
    text_next(&r->text);
}

/* Reads a statement that begins with a label: an op or a dependency. */
static void read_labelled(struct reading *r)
{
    uint32_t label = read_label(r);
    char text[32];

    text_next(&r->text);
    if (text_is(&r->text, "requires") || text_is(&r->text, "irequires")) {
        read_edge(r, label);
        return;
    }
    text_expect(&r->text, ":");
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
    struct wf_goal_edge *edges = r->goal->edges + rank->first_edge;
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
    text_expect(&r->text, "rank");
    struct wf_trace_place place = r->text.file.place;
    int64_t number = text_number(&r->text, "a rank", "", 0, (int64_t)r->goal->n_ranks - 1);
    if (r->goal->ranks[number].is_there) {
        wf_trace_bad(&place, "rank %" PRId64 " begins for the second time", number);
        return;
    }
    r->text.file.place.unit = "rank";
    r->text.file.place.rank = number;
    *rank_of(r) = (struct wf_goal_rank){
        .first = r->goal->n_ops, .first_edge = r->goal->n_edges, .is_there = true};
    wf_strings_fini(&r->names);
    r->n_labels = 0;
    r->n_begun++;
    text_expect(&r->text, "{");
    while (!wf_trace_failed(r->text.err) && !text_is(&r->text, "}")) {
        enum wf_goal_kind kind = kind_of(&r->text);
        if (kind < WF_GOAL_KINDS) {
            read_op(r, kind);
        } else if (isalpha((unsigned char)r->text.word[0]) != 0) {
            read_labelled(r);
        } else {
            text_expect(&r->text, "}");
        }
        if (rank_of(r)->n >= WF_NO_TASK / 2 || rank_of(r)->n_edges >= WF_GOAL_EDGES_MAX) {
            wf_trace_bad(&r->text.file.place, "a rank with too many ops or dependencies");
        }
    }
    if (!wf_trace_failed(r->text.err)) {
        resolve(r);
    }
    r->text.file.place.unit = NULL;
    text_next(&r->text);
}

static void read_head(struct reading *r)
{
    text_expect(&r->text, "num_ranks");
    struct wf_trace_place place = r->text.file.place;
    int64_t n = text_number(&r->text, "a number of ranks", "", 1, WF_RANKS_MAX - 1);
    /* Every rank has a block in the file. A wrong number must not allocate memory. */
    if ((uint64_t)n > r->text.file.size / RANK_BYTES_MIN) {
        wf_trace_bad(&place, "%" PRId64 " ranks, but the file ends before so many; truncated?",
                     n);
        return;
    }
    r->goal->n_ranks = (uint32_t)n;
    r->goal->ranks = wf_xcalloc((size_t)n, sizeof(*r->goal->ranks));
}

static void read_all(struct reading *r, struct wf_trace *out)
{
    read_head(r);
    if (wf_trace_failed(r->text.err)) {
        return;
    }
    out->records = wf_records_new(r->goal->n_ranks);
    r->records = out->records;
    for (uint32_t i = 0; i < WF_GOAL_KINDS; i++) {
        r->record_names[i] = wf_records_name(r->records, op_names[i]);
    }
    r->record_names[NAME_REQUIRES] = wf_records_name(r->records, "requires");
    r->record_names[NAME_IREQUIRES] = wf_records_name(r->records, "irequires");
    while (!wf_trace_failed(r->text.err) && r->text.word[0] != '\0') {
        read_rank(r);
    }
    for (uint32_t rank = 0; rank < r->goal->n_ranks; rank++) {
        if (!r->goal->ranks[rank].is_there) {
            wf_trace_bad(&r->text.file.place,
                         "the file ends before rank %" PRIu32 " of %" PRIu32 "; truncated?",
                         rank, r->goal->n_ranks);
            return;
        }
    }
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

void wf_goal_finish(struct wf_goal *goal, struct wf_trace *out)
{
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
                        .goal = wf_xcalloc(1, sizeof(*r.goal))};

    text_open(&r.text, probe->path, err);
    read_all(&r, out);
    if (!wf_trace_failed(err)) {
        wf_goal_finish(r.goal, out);
        r.goal = NULL;
    }
    text_close(&r.text);
    wf_strings_fini(&r.names);
    free(r.of_names);
    free(r.counted);
    free(r.labels);
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
