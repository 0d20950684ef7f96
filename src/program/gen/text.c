/* SPDX-License-Identifier: Apache-2.0 */
#include "program/gen/text.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "program/gen/make.h"
#include "program/gen/text_program.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest number of instructions between two ops, so that a loop without ops ends, too. */
enum { IDLE_MAX = 1000000, ROUNDS_MAX = 10000000 };

/* The error of the lowest rank that had one. It is the only state that changes after
 * creation; programs without errors never touch it. */
struct trouble {
    pthread_mutex_t mutex;
    bool happened;
    uint32_t rank;
    char what[WF_ERR_TEXT_MAX];
};

struct text {
    struct wf_source source;
    struct wf_gen_text_program program;
    uint64_t max_rounds;
    uint32_t *ranks; /* 0 to n_ranks - 1, for the lists of neighbours; null without such ops */
    struct trouble *trouble;
};

/* The contents of the cursor. */
struct position {
    uint32_t at;         /* number of the next instruction */
    uint32_t n_requests; /* requests that wait for a waitall */
    uint32_t counters[WF_GEN_TEXT_LOOPS_MAX];
};

WF_GEN_IS_CURSOR(struct position);

/* The state of a rank between two ops. */
struct run {
    const struct text *text;
    struct position at;
    struct wf_gen_calc_state state;
    struct wf_gen_calc_fault fault;
};

static const struct wf_param params_table[] = {
    WF_PARAM_ROW(struct wf_gen_text_params, file, TEXT,
                 .doc = "The program, in the workload language"),
    WF_PARAM_ROW(struct wf_gen_text_params, set, TEXT, .def = "",
                 .doc = "Values of the program's parameters, as in n=10,bytes=1MiB"),
    WF_PARAM_ROW(
        struct wf_gen_text_params, max_rounds, COUNT, .def = "10000000", .min = "1",
        .doc = "Rounds that loops inside each other, or all while together, may make on a "
               "rank; more are an error"),
    WF_PARAM_END,
};

enum wf_status wf_gen_text_create(const struct wf_gen_text_input *input, uint32_t n_ranks,
                                  struct wf_source **out, struct wf_err *err)
{
    struct wf_gen_text_program program;

    if (input->size > WF_GEN_TEXT_SIZE_MAX) {
        return wf_err_set(err, WF_EINVAL, "%.128s:1:1: a program has at most 1 MiB",
                          input->name);
    }
    WF_TRY(wf_gen_text_parse(&program, input, n_ranks, err));
    struct text *source = wf_xcalloc(1, sizeof(*source));
    source->program = program;
    source->max_rounds = input->max_rounds > 0 ? input->max_rounds : ROUNDS_MAX;
    source->source = (struct wf_source){
        .ops = &wf_gen_text_ops,
        .n_ranks = n_ranks,
        .acts_in_background = program.in_background,
        .depends_on_time = program.depends_on_time,
        .follows_matches = program.follows_matches,
    };
    if (program.has_neighbors) {
        source->ranks = wf_xmalloc(n_ranks * sizeof(*source->ranks));
        for (uint32_t i = 0; i < n_ranks; i++) {
            source->ranks[i] = i;
        }
    }
    source->trouble = wf_xcalloc(1, sizeof(*source->trouble));
    (void)pthread_mutex_init(&source->trouble->mutex, NULL);
    *out = &source->source;
    return WF_OK;
}

static enum wf_status text_create(const void *params, uint32_t n_ranks, struct wf_source **out,
                                  struct wf_err *err)
{
    const struct wf_gen_text_params *given = params;
    const char *path = given->file;

    if (path == NULL || *path == '\0') {
        return wf_err_set(err, WF_EUSAGE,
                          "gen:text: no program; give its file with -p gen.file=FILE");
    }
    struct wf_buf text = {.data = NULL};
    enum wf_status status = wf_file_read(path, WF_GEN_TEXT_SIZE_MAX, &text, err);
    if (status == WF_OK) {
        const char *begin = wf_text_past_mark((const char *)text.data);
        const struct wf_gen_text_input input = {
            path, begin, text.size - (size_t)(begin - (const char *)text.data), given->set,
            given->max_rounds};
        status = wf_gen_text_create(&input, n_ranks, out, err);
    } else {
        wf_err_prefix(err, "gen:text: file: ");
    }
    wf_buf_fini(&text);
    return status;
}

static void text_destroy(struct wf_source *source)
{
    struct text *text = (struct text *)source;

    (void)pthread_mutex_destroy(&text->trouble->mutex);
    free(text->trouble);
    free(text->ranks);
    wf_gen_text_program_fini(&text->program);
    free(text);
}

/* Remembers why a rank stops early. Always returns false. */
static bool give_up(const struct text *text, uint32_t rank, struct wf_gen_text_place place,
                    const char *what)
{
    struct trouble *trouble = text->trouble;

    (void)pthread_mutex_lock(&trouble->mutex);
    if (!trouble->happened || rank < trouble->rank) {
        trouble->happened = true;
        trouble->rank = rank;
        (void)snprintf(trouble->what, sizeof(trouble->what), "%.128s:%u:%u: on rank %u: %s",
                       text->program.name, place.line, place.column, rank, what);
    }
    (void)pthread_mutex_unlock(&trouble->mutex);
    return false;
}

static enum wf_status text_check(const struct wf_source *source, struct wf_err *err)
{
    struct trouble *trouble = ((const struct text *)source)->trouble;
    enum wf_status status = WF_OK;

    (void)pthread_mutex_lock(&trouble->mutex);
    if (trouble->happened) {
        status = wf_err_set(err, WF_EINVAL, "%s", trouble->what);
    }
    (void)pthread_mutex_unlock(&trouble->mutex);
    if (status != WF_OK && err != NULL) {
        wf_err_tame(err);
    }
    return status;
}

static bool fault(struct run *run, uint32_t node, const char *what)
{
    run->fault = (struct wf_gen_calc_fault){run->text->program.calc.nodes[node].place, what};
    return false;
}

static bool value(struct run *run, uint32_t node, int64_t *out)
{
    return wf_gen_calc_value(run->text->program.calc.nodes, node, &run->state, out,
                             &run->fault);
}

/* Evaluates an expression that must be a number from 0 to `most`. */
static bool amount(struct run *run, uint32_t node, int64_t most, int64_t *out, const char *what)
{
    return value(run, node, out) && ((*out >= 0 && *out <= most) || fault(run, node, what));
}

static bool peer(struct run *run, uint32_t node, bool any, uint32_t *out)
{
    int64_t number;

    if (!value(run, node, &number)) {
        return false;
    }
    if (number == WF_GEN_CALC_NONE || (any && number == WF_GEN_CALC_ANY)) {
        *out = number == WF_GEN_CALC_NONE ? WF_PROC_NULL : WF_ANY_SOURCE;
        return true;
    }
    *out = (uint32_t)number;
    return (number >= 0 && number < run->text->source.n_ranks) ||
           fault(run, node, "the peer is no rank; they are 0 to size - 1");
}

static bool tag(struct run *run, uint32_t node, bool any, int32_t *out)
{
    int64_t number;

    if (!value(run, node, &number)) {
        return false;
    }
    if (any && number == WF_GEN_CALC_ANY) {
        *out = WF_ANY_TAG;
        return true;
    }
    *out = (int32_t)number;
    return (number >= 0 && number <= INT32_MAX) ||
           fault(run, node, "a tag is a number from 0 to 2^31 - 1");
}

/* Computes the ranks of the group as seen from this rank, since groups may differ by rank. */
static bool find_group(struct run *run, uint32_t number, struct wf_group *out)
{
    const struct wf_gen_text_group *group = &run->text->program.groups[number];
    int64_t n = run->text->source.n_ranks, first, stride, size;

    if (!amount(run, group->first, n - 1, &first, "the first rank of a group is no rank") ||
        !amount(run, group->stride, n, &stride, "ranks of a group are 1 to size apart") ||
        !amount(run, group->size, n, &size, "a group has 1 to size ranks")) {
        return false;
    }
    if (stride < 1 || size < 1 || first + (size - 1) * stride >= n) {
        return fault(run, size < 1 ? group->size : group->stride,
                     "a group has a rank at least, and its last must be below size");
    }
    int64_t ahead = (int64_t)run->state.rank - first;
    if (ahead < 0 || ahead % stride != 0 || ahead / stride >= size) {
        run->fault = (struct wf_gen_calc_fault){group->place, "the rank is not in its group"};
        return false;
    }
    return wf_gen_make_group(out, number + 1, (uint32_t)size, (uint32_t)(ahead / stride),
                             (uint32_t)first, (uint32_t)stride);
}

static bool make_message(struct run *run, const struct wf_gen_instr *instr, struct wf_op *op)
{
    enum wf_op_family family = wf_op_info(instr->op)->family;
    bool receives = family == WF_FAMILY_RECV;
    int64_t bytes;

    if (!peer(run, instr->peer, receives, &op->peer) ||
        !tag(run, instr->tag, receives, &op->tag) ||
        !amount(run, instr->bytes, INT64_MAX, &bytes, "the number of bytes is negative")) {
        return false;
    }
    op->bytes = (uint64_t)bytes;
    if (family == WF_FAMILY_SENDRECV) {
        op->recv_tag = op->tag;
        op->recv_bytes = op->bytes;
        return peer(run, instr->from, true, &op->recv_peer);
    }
    return true;
}

/* The neighbour whom a rank sends to or receives from: a list of one rank of the group, or an
 * empty one. */
static bool neighbor(struct run *run, uint32_t node, uint32_t group_size, const uint32_t **list,
                     uint32_t *n)
{
    int64_t number;

    if (!value(run, node, &number)) {
        return false;
    }
    *n = number == WF_GEN_CALC_NONE ? 0 : 1;
    if (*n == 1 && (number < 0 || number >= group_size)) {
        return fault(run, node, "the neighbour is no rank of the group");
    }
    *list = run->text->ranks + (*n == 1 ? number : 0);
    return true;
}

static bool make_collective(struct run *run, const struct wf_gen_instr *instr, struct wf_op *op)
{
    struct wf_group group = {.size = run->text->source.n_ranks};
    int64_t bytes, root;

    if (instr->comm != WF_COMM_WORLD && !find_group(run, instr->comm - 1, &group)) {
        return false;
    }
    if (!amount(run, instr->bytes, INT64_MAX, &bytes, "the number of bytes is negative") ||
        !amount(run, instr->root, (int64_t)group.size - 1, &root,
                "the root is no rank of the group")) {
        return false;
    }
    op->comm = instr->comm;
    op->bytes = (uint64_t)bytes;
    op->root = (uint32_t)root;
    if (!wf_gen_text_has_neighbors(instr->op)) {
        return true;
    }
    return neighbor(run, instr->peer, group.size, &op->destinations, &op->n_destinations) &&
           neighbor(run, instr->from, group.size, &op->sources, &op->n_sources);
}

static bool make_file_op(struct run *run, const struct wf_gen_instr *instr, struct wf_op *op)
{
    int64_t number, bytes, offset;

    if (!amount(run, instr->tag, INT32_MAX, &number,
                "the number of a file is from 0 to 2^31 - 1") ||
        !amount(run, instr->bytes, INT64_MAX, &bytes, "the number of bytes is negative") ||
        !amount(run, instr->root, INT64_MAX - bytes, &offset,
                "the place in the file is negative or too large")) {
        return false;
    }
    op->tag = (int32_t)number;
    op->bytes = (uint64_t)bytes;
    op->offset = (uint64_t)offset;
    return true;
}

/* Sets the op and counts its request. */
static bool make_op(struct run *run, const struct wf_gen_instr *instr, struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(instr->op);
    bool made = true;

    *op = (struct wf_op){.kind = instr->op, .comm = WF_COMM_WORLD};
    if (info->family == WF_FAMILY_COMPUTE) {
        made = amount(run, instr->bytes, INT64_MAX, &op->duration, "the time is negative");
    } else if (info->family == WF_FAMILY_COLLECTIVE) {
        made = make_collective(run, instr, op);
    } else if (info->family == WF_FAMILY_WAIT) {
        op->count = run->at.n_requests;
        run->at.n_requests = 0;
    } else if (info->family == WF_FAMILY_MARKER) {
        int64_t number;

        made = amount(run, instr->bytes, INT64_MAX, &number, "the region's n is negative");
        op->tag = (int32_t)instr->comm;
        op->bytes = (uint64_t)number;
    } else if (info->family == WF_FAMILY_FILE) {
        made = make_file_op(run, instr, op);
    } else {
        made = make_message(run, instr, op);
    }
    if (made && info->returns_request) {
        op->request = run->at.n_requests++;
        if (op->request >= WF_REQUEST_MAX) {
            run->fault = (struct wf_gen_calc_fault){instr->place, "too many requests; waitall"};
            made = false;
        }
    }
    return made;
}

static bool too_many(struct run *run, const struct wf_gen_instr *instr)
{
    run->fault = (struct wf_gen_calc_fault){
        instr->place, "this makes more rounds than gen.max_rounds allows; if that is meant, "
                      "give a larger one: -p gen.max_rounds=<count>"};
    return false;
}

/* At the beginning of a loop, whether it and those around it, all of which make the rounds that they would make
 * now, end in a time that can be waited for. A few bytes ask for any number of rounds. */
static bool check_rounds(struct run *run, const struct wf_gen_instr *loop, uint64_t rounds)
{
    const struct text *text = run->text;
    int64_t a, b;

    rounds *=
        text->program.has_while ? run->state.counters[WF_GEN_TEXT_WHILES] + UINT64_C(1) : 1;
    for (const struct wf_gen_instr *at = loop; at->level > 0 && rounds <= text->max_rounds;) {
        at = &text->program.code[at->outer];
        if (!value(run, at->a, &a) || !value(run, at->b, &b)) {
            return false;
        }
        rounds *= b > a ? (uint64_t)b - (uint64_t)a : 1;
    }
    return rounds <= text->max_rounds || too_many(run, loop);
}

/* Executes an instruction that is no op. Returns false after a fault. */
static bool follow(struct run *run, const struct wf_gen_instr *instr)
{
    int64_t a = 0, b;

    run->at.at++;
    if (instr->kind == WF_GEN_INSTR_JUMP) {
        run->at.at = instr->target;
    } else if (instr->kind == WF_GEN_INSTR_AGAIN) {
        run->at.at = instr->target;
        return run->state.counters[WF_GEN_TEXT_WHILES]++ < run->text->max_rounds ||
               too_many(run, instr);
    } else if (instr->kind == WF_GEN_INSTR_UNLESS) {
        if (!value(run, instr->a, &a)) {
            return false;
        }
        run->at.at = a == 0 ? instr->target : run->at.at;
    } else if (instr->kind == WF_GEN_INSTR_LOOP) {
        uint32_t *counter = &run->state.counters[instr->level];
        if (!value(run, instr->a, &a) || !value(run, instr->b, &b)) {
            return false;
        }
        if (b > a && (uint64_t)b - (uint64_t)a >= UINT32_MAX) {
            run->fault =
                (struct wf_gen_calc_fault){instr->place, "a loop has below 2^32 - 1 rounds"};
            return false;
        }
        if (*counter == 0 && b > a && !check_rounds(run, instr, (uint64_t)b - (uint64_t)a)) {
            return false;
        }
        if (__builtin_add_overflow(a, *counter, &a) || a >= b) {
            *counter = 0;
            run->at.at = instr->target;
        }
    } else {
        run->state.counters[instr->level]++;
        run->at.at = instr->target;
    }
    return true;
}

/* Goes on to the next op. Returns false at the end and after a fault, which is then
 * reported. */
static bool find_op(struct run *run, struct wf_op *op)
{
    const struct wf_gen_instr *code = run->text->program.code;

    for (uint32_t idle = 0; idle < IDLE_MAX; idle++) {
        const struct wf_gen_instr *instr = &code[run->at.at];
        if (instr->kind == WF_GEN_INSTR_OP) {
            run->at.at++;
            return make_op(run, instr, op);
        }
        if (instr->kind == WF_GEN_INSTR_END) {
            if (run->at.n_requests > 0) {
                run->fault = (struct wf_gen_calc_fault){
                    instr->place, "the program ends before a waitall for its requests"};
            }
            return false;
        }
        if (!follow(run, instr)) {
            return false;
        }
    }
    run->fault = (struct wf_gen_calc_fault){
        code[run->at.at].place, "a million steps without anything to do; is this loop meant?"};
    return false;
}

static bool text_next(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                      struct wf_op *op)
{
    struct run run = {.text = (const struct text *)source,
                      .state = {.rank = rank,
                                .seen_source = cursor->seen_source,
                                .seen_tag = cursor->seen_tag}};

    assert(source->ops == &wf_gen_text_ops && rank < source->n_ranks);
    memcpy(&run.at, cursor->word, sizeof(run.at));
    memcpy(run.state.counters, run.at.counters, sizeof(run.at.counters));

    struct wf_op made;
    if (!find_op(&run, &made)) {
        return run.fault.what != NULL &&
               give_up(run.text, rank, run.fault.place, run.fault.what);
    }
    *op = made;
    memcpy(run.at.counters, run.state.counters, sizeof(run.at.counters));
    memcpy(cursor->word, &run.at, sizeof(run.at));
    return true;
}

static bool text_group(const struct wf_source *source, uint32_t rank, uint32_t comm,
                       struct wf_group *out)
{
    struct run run = {.text = (const struct text *)source, .state = {.rank = rank}};

    if (comm == WF_COMM_WORLD) {
        return wf_gen_make_group(out, comm, source->n_ranks, rank, 0, 1);
    }
    if (comm > run.text->program.n_groups) {
        return false;
    }
    return find_group(&run, comm - 1, out);
}

static const char *text_name_of(const struct wf_source *source, enum wf_source_name kind,
                                uint32_t number)
{
    const struct wf_strings *regions = &((const struct text *)source)->program.regions;

    if (kind != WF_NAME_REGION || number >= regions->n) {
        return NULL;
    }
    return wf_strings_at(regions, number);
}

const struct wf_source_ops wf_gen_text_ops = {
    .name = "text",
    .summary = "your own program, from a file in the workload language",
    .params = params_table,
    .params_size = sizeof(struct wf_gen_text_params),
    .create = text_create,
    .destroy = text_destroy,
    .next = text_next,
    .group = text_group,
    .name_of = text_name_of,
    .check = text_check,
};
