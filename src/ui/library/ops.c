/* SPDX-License-Identifier: Apache-2.0 */
/* Traces op by op (weft/trace.h), written and read. */
#include "base/mem.h"
#include "base/temp.h"
#include "program/trace/writer.h"
#include "run/scenario/scenario.h"
#include "ui/library/library.h"
#include "ui/library/objects.h"
#include "ui/study/trace_io.h"

#include <weft/trace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers of names ---- */

int weft_op_kind(const char *name)
{
    int kind = 0;

    while (kind < WF_OP_KINDS && strcmp(wf_op_name((enum wf_op_kind)kind), name) != 0) {
        kind++;
    }
    return kind < WF_OP_KINDS ? kind : -1;
}

const char *weft_op_name(int kind)
{
    return kind >= 0 && kind < WF_OP_KINDS ? wf_op_name((enum wf_op_kind)kind) : NULL;
}

int weft_op_reduction(const char *name)
{
    int reduction = 0;

    while (reduction < WF_REDUCTIONS &&
           strcmp(wf_reduction_name((uint32_t)reduction), name) != 0) {
        reduction++;
    }
    return reduction < WF_REDUCTIONS ? reduction : -1;
}

/* ---- ops ---- */

static enum wf_status op_from(const struct weft_op *given, struct wf_op *op, struct wf_err *err)
{
    struct weft_op own;

    WF_TRY(wf_library_options(&own, sizeof(own), given, "weft_op", err));
    if (own.kind < 0 || own.kind >= WF_OP_KINDS) {
        return wf_err_set(err, WF_EINVAL,
                          "an op has kind %d, which weft_op_kind() never returns", own.kind);
    }
    *op = (struct wf_op){.kind = (enum wf_op_kind)own.kind,
                         .peer = own.peer,
                         .tag = own.tag,
                         .comm = own.comm,
                         .request = own.request,
                         .count = own.count,
                         .root = own.root,
                         .reduction = own.reduction,
                         .new_comm = own.new_comm,
                         .bytes = own.bytes,
                         .duration = own.duration_ps,
                         .recv_peer = own.recv_peer,
                         .recv_tag = own.recv_tag,
                         .recv_bytes = own.recv_bytes,
                         .requests = own.requests,
                         .counts = own.counts,
                         .recv_counts = own.recv_counts};
    return WF_OK;
}

static void op_to(const struct wf_op *op, struct weft_op *out)
{
    struct weft_op whole = {.size = sizeof(whole),
                            .kind = (int)op->kind,
                            .peer = op->peer,
                            .tag = op->tag,
                            .comm = op->comm,
                            .request = op->request,
                            .count = op->count,
                            .root = op->root,
                            .reduction = op->reduction,
                            .new_comm = op->new_comm,
                            .bytes = op->bytes,
                            .duration_ps = op->duration,
                            .recv_peer = op->recv_peer,
                            .recv_tag = op->recv_tag,
                            .recv_bytes = op->recv_bytes,
                            .requests = op->requests,
                            .counts = op->counts,
                            .recv_counts = op->recv_counts};
    size_t size = out->size < sizeof(whole) ? out->size : sizeof(whole);

    whole.size = out->size;
    memcpy(out, &whole, size);
}

/* ---- writing ---- */

struct weft_trace_writer {
    struct wf_trace_writer *writer;
    uint32_t n_ranks;
    bool failed; /* a call has failed: the trace lacks something, and can only be discarded */
    bool lent;   /* to a callback, which cannot end it */
};

/* A call on a writer begins, and does not end if it fails, or if memory runs out. */
static enum wf_status begin(struct weft_trace_writer *writer, struct wf_err *err)
{
    bool failed = writer->failed;

    writer->failed = true;
    return failed ? wf_err_set(err, WF_EINVAL,
                               "a call has failed before: the trace can only be discarded")
                  : WF_OK;
}

static enum wf_status end(struct weft_trace_writer *writer, enum wf_status status)
{
    writer->failed = status != WF_OK;
    return status;
}

static enum wf_status create_trace(const char *path,
                                   const struct wf_trace_writer_options *options,
                                   struct weft_trace_writer **out, struct wf_err *err)
{
    const struct wf_trace_writer_ops *format;
    struct wf_trace_writer *writer;

    if (options->n_ranks == 0 || options->n_ranks > WF_RANKS_MAX) {
        return wf_err_set(err, WF_EUSAGE, "a trace has 1 to %d ranks, not %u",
                          (int)WF_RANKS_MAX, options->n_ranks);
    }
    WF_TRY(wf_trace_writer_for_path(path, &format, err));
    if (format->add == NULL) {
        return wf_err_set(err, WF_EUSAGE, "%s holds tasks, no ops", format->extension);
    }
    WF_TRY(format->create(path, options, &writer, err));
    *out = wf_xmalloc(sizeof(**out));
    **out = (struct weft_trace_writer){.writer = writer, .n_ranks = options->n_ranks};
    return WF_OK;
}

enum weft_code weft_trace_create(const char *path, uint32_t ranks, bool force,
                                 struct weft_trace_writer **out, struct weft_error *error)
{
    const struct wf_trace_writer_options options = {.n_ranks = ranks, .force = force};

    *out = NULL;
    WF_LIBRARY_CALL(WF_GUARD_RELEASE, create_trace(path, &options, out, &err), error);
}

static enum wf_status check_rank(uint32_t rank, uint32_t n_ranks, struct wf_err *err)
{
    return rank < n_ranks ? WF_OK
                          : wf_err_set(err, WF_EUSAGE, "there is no rank %u: the trace has %u",
                                       rank, n_ranks);
}

static enum wf_status tell_name(struct weft_trace_writer *writer, enum weft_name kind,
                                uint32_t number, const char *name, struct wf_err *err)
{
    WF_TRY(begin(writer, err));
    if ((int)kind < 0 || (int)kind >= WF_NAME_KINDS) {
        return wf_err_set(err, WF_EUSAGE, "there is no kind %d of names", (int)kind);
    }
    if (writer->writer->ops->name_of != NULL) {
        writer->writer->ops->name_of(writer->writer, (enum wf_source_name)kind, number, name);
    }
    return end(writer, WF_OK);
}

enum weft_code weft_trace_name(struct weft_trace_writer *writer, enum weft_name kind,
                               uint32_t number, const char *name, struct weft_error *error)
{
    WF_LIBRARY_CALL(WF_GUARD_KEEP, tell_name(writer, kind, number, name, &err), error);
}

static enum wf_status tell_group(struct weft_trace_writer *writer, uint32_t rank, uint32_t comm,
                                 const struct weft_group *given, struct wf_err *err)
{
    struct weft_group own;
    struct wf_group group;

    WF_TRY(begin(writer, err));
    WF_TRY(check_rank(rank, writer->n_ranks, err));
    WF_TRY(wf_library_options(&own, sizeof(own), given, "weft_group", err));
    for (uint32_t i = 0; i < own.n; i++) {
        WF_TRY(check_rank(own.members[i], writer->n_ranks, err));
    }
    if (!wf_group_of(own.id, own.n, own.members, rank, &group)) {
        return wf_err_set(err, WF_EINVAL, "rank %u is no member of its communicator %u", rank,
                          comm);
    }
    if (writer->writer->ops->group == NULL) {
        return end(writer, WF_OK); /* add() refuses what the format cannot hold */
    }
    return end(writer, writer->writer->ops->group(writer->writer, rank, comm, &group, err));
}

enum weft_code weft_trace_group(struct weft_trace_writer *writer, uint32_t rank, uint32_t comm,
                                const struct weft_group *group, struct weft_error *error)
{
    WF_LIBRARY_CALL(WF_GUARD_KEEP, tell_group(writer, rank, comm, group, &err), error);
}

static enum wf_status add_op(struct weft_trace_writer *writer, uint32_t rank,
                             const struct weft_op *given, struct wf_err *err)
{
    struct wf_op op;

    WF_TRY(begin(writer, err));
    WF_TRY(check_rank(rank, writer->n_ranks, err));
    WF_TRY(op_from(given, &op, err));
    return end(writer, writer->writer->ops->add(writer->writer, rank, &op, err));
}

enum weft_code weft_trace_add(struct weft_trace_writer *writer, uint32_t rank,
                              const struct weft_op *op, struct weft_error *error)
{
    WF_LIBRARY_CALL(WF_GUARD_KEEP, add_op(writer, rank, op, &err), error);
}

/* Releases the writer in any case, but for what it holds when memory runs out. */
static enum wf_status finish(struct weft_trace_writer *writer, struct wf_err *err)
{
    struct wf_trace_writer *inner = writer->writer;
    enum wf_status status = begin(writer, err);

    if (writer->lent) {
        return wf_err_set(err, WF_EUSAGE, "the callback of a program does not end its trace");
    }
    free(writer);
    if (status != WF_OK) {
        inner->ops->discard(inner);
        return status;
    }
    return inner->ops->finish(inner, err);
}

enum weft_code weft_trace_finish(struct weft_trace_writer *writer, struct weft_error *error)
{
    WF_LIBRARY_CALL(WF_GUARD_KEEP, finish(writer, &err), error);
}

void weft_trace_discard(struct weft_trace_writer *writer)
{
    if (writer != NULL && writer->lent) {
        writer->failed = true;
    } else if (writer != NULL) {
        writer->writer->ops->discard(writer->writer);
        free(writer);
    }
}

/* ---- reading ---- */

struct weft_trace {
    struct wf_trace trace;
    struct wf_cursor *cursors; /* of each rank */
    bool reading;              /* true after a call: it ran out of memory */
    bool no_size;              /* a caller has not set that of its op */
};

static enum wf_status open_trace(const char *path, const struct weft_convert *given,
                                 struct weft_trace **out, struct wf_err *err)
{
    struct weft_convert how;
    struct wf_study_trace_options options;
    struct wf_trace trace = {.source = NULL};

    WF_TRY(wf_library_options(&how, sizeof(how), given, "weft_convert", err));
    WF_TRY(wf_library_trace_options(&how, &options, err));
    WF_TRY(wf_study_trace_open(path, &options, &trace, err));
    if (trace.source == NULL) {
        wf_trace_close(&trace);
        return wf_err_set(err, WF_EINVAL, "'%.200s' has tasks, no ops of ranks", path);
    }
    struct weft_trace *opened = wf_xmalloc(sizeof(*opened));
    *opened = (struct weft_trace){
        .trace = trace, .cursors = wf_xcalloc(trace.source->n_ranks, sizeof(struct wf_cursor))};
    *out = opened;
    return WF_OK;
}

enum weft_code weft_trace_open(const char *path, const struct weft_convert *how,
                               struct weft_trace **out, struct weft_error *error)
{
    *out = NULL;
    WF_LIBRARY_CALL(WF_GUARD_RELEASE, open_trace(path, how, out, &err), error);
}

uint32_t weft_trace_ranks(const struct weft_trace *trace)
{
    return trace->trace.source->n_ranks;
}

static enum wf_status next(struct weft_trace *trace, uint32_t rank, struct weft_op *out,
                           bool *found)
{
    const struct wf_source *source = trace->trace.source;
    struct wf_op op = {.kind = WF_OP_COMPUTE};

    trace->no_size = trace->no_size || out->size <= sizeof(out->size);
    if (rank < source->n_ranks && !trace->reading && !trace->no_size) {
        trace->reading = true;
        *found = wf_source_next(source, rank, &trace->cursors[rank], &op);
        trace->reading = false;
    }
    if (*found) {
        op_to(&op, out);
    }
    return WF_OK;
}

static enum weft_code try_next(struct weft_trace *trace, uint32_t rank, struct weft_op *out,
                               bool *found)
{
    WF_LIBRARY_CALL(WF_GUARD_KEEP, next(trace, rank, out, found), NULL);
}

bool weft_trace_next(struct weft_trace *trace, uint32_t rank, struct weft_op *out)
{
    bool found = false;

    return try_next(trace, rank, out, &found) == WEFT_OK && found;
}

static enum wf_status check(const struct weft_trace *trace, struct wf_err *err)
{
    if (trace->no_size) {
        return wf_library_options(&(struct weft_op){.size = 0}, sizeof(struct weft_op),
                                  &(struct weft_op){.size = 0}, "weft_op", err);
    }
    return trace->reading ? wf_err_set(err, WF_ELIMIT, "out of memory")
                          : wf_source_check(trace->trace.source, err);
}

enum weft_code weft_trace_check(const struct weft_trace *trace, struct weft_error *error)
{
    WF_LIBRARY_CALL(WF_GUARD_KEEP, check(trace, &err), error);
}

const char *weft_trace_name_of(const struct weft_trace *trace, enum weft_name kind,
                               uint32_t number)
{
    bool known = (int)kind >= 0 && (int)kind < WF_NAME_KINDS;

    return known ? wf_source_name_of(trace->trace.source, (enum wf_source_name)kind, number)
                 : NULL;
}

void weft_trace_close(struct weft_trace *trace)
{
    if (trace != NULL) {
        wf_trace_close(&trace->trace);
        free(trace->cursors);
        free(trace);
    }
}

/* ---- programs of callbacks ---- */

static enum wf_status write_ranks(const struct weft_program *program,
                                  struct weft_trace_writer *writer, struct wf_err *err)
{
    struct weft_error error = {.code = WEFT_OK};

    for (uint32_t rank = 0; rank < program->ranks; rank++) {
        enum weft_code code = program->write(program->arg, writer, rank, &error);
        if (code == WEFT_INTERRUPTED) {
            return wf_err_set(err, WF_EINTR, "the program ended itself at rank %u", rank);
        }
        if (code != WEFT_OK || writer->failed) {
            error.text[sizeof(error.text) - 1] = '\0';
            return wf_err_set(err, WF_EINVAL, "rank %u of the program: %.400s", rank,
                              error.text[0] != '\0' ? error.text : "its callback failed");
        }
    }
    return WF_OK;
}

static enum wf_status write_program(const struct weft_program *program, const char *path,
                                    struct wf_err *err)
{
    const struct wf_trace_writer_options options = {
        .n_ranks = program->ranks, .force = true, .temporary = true, .by_rank = true};
    struct weft_trace_writer *writer = NULL;

    enum wf_status status = create_trace(path, &options, &writer, err);
    if (writer == NULL) {
        return status;
    }
    writer->lent = true;
    status = write_ranks(program, writer, err);
    writer->lent = false;
    if (status != WF_OK) {
        weft_trace_discard(writer);
        return status;
    }
    return finish(writer, err);
}

/* Keeps the program as a temporary trace, in a folder that the scenario removes in the end. */
static enum wf_status keep_program(struct weft_scenario *scenario,
                                   const struct weft_program *given, struct wf_err *err)
{
    struct weft_program program;

    WF_TRY(wf_library_options(&program, sizeof(program), given, "weft_program", err));
    if (program.write == NULL) {
        return wf_err_set(err, WF_EUSAGE, "the member write of struct weft_program is not set");
    }
    char *folder = wf_temp_directory();
    if (folder == NULL) {
        return wf_err_set(err, WF_EIO, "cannot make a temporary folder in %.200s",
                          wf_temp_parent());
    }
    size_t size = strlen(folder) + sizeof("/program.weft");
    char *path = wf_xmalloc(size);
    (void)snprintf(path, size, "%s/program.weft", folder);
    enum wf_status status = write_program(&program, path, err);
    WF_THEN(status, wf_scenario_set(scenario->scenario, "source", path, NULL, err));
    free(path);
    char *unused = status == WF_OK ? scenario->program : folder;
    if (status == WF_OK) {
        scenario->program = folder;
    }
    wf_temp_remove(unused);
    free(unused);
    return status;
}

enum weft_code weft_scenario_program(struct weft_scenario *scenario,
                                     const struct weft_program *program,
                                     struct weft_error *error)
{
    WF_LIBRARY_CALL(WF_GUARD_KEEP, keep_program(scenario, program, &err), error);
}
