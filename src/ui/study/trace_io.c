/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/trace_io.h"

#include "base/mem.h"
#include "program/gen/gen.h"
#include "program/gen/graphs.h"
#include "ui/study/expand.h"

#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GEN_PREFIX "gen:"
#define MPI_SCOPE  "mpi."

/* Something with parameters, a generator or a format: their table and scope. */
struct settable {
    const struct wf_param *params;
    size_t size;
    const char *scope; /* "gen." */
    const char *what;
};

static enum wf_status no_parameter(const struct settable *of, const char *text,
                                   struct wf_err *err)
{
    if (strncmp(text, MPI_SCOPE, strlen(MPI_SCOPE)) == 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "-p %.64s: only weft replay, and weft convert with "
                          "--expand-collectives, take this parameter",
                          text);
    }
    if (of->params == NULL || of->params[0].name == NULL) {
        return wf_err_set(err, WF_EUSAGE, "-p %.64s: %s has no parameters", text, of->what);
    }
    return wf_err_set(err, WF_EUSAGE, "-p %.64s: no parameter of %s; expected %s<name>", text,
                      of->what, of->scope);
}

/* Whether the setting chooses the algorithms of expanded collectives. */
static bool is_mpi(const struct wf_study_trace_options *options, size_t i)
{
    return options->expand && strncmp(options->params[i], MPI_SCOPE, strlen(MPI_SCOPE)) == 0;
}

/* Sets parameters from texts such as "gen.name=value": either those for expanded collectives,
 * or all others. */
static enum wf_status set_params(const struct settable *of,
                                 const struct wf_study_trace_options *options, bool mpi,
                                 void *params, struct wf_err *err)
{
    enum wf_status status =
        of->params != NULL ? wf_param_defaults(of->params, params, err) : WF_OK;
    size_t skip = strlen(of->scope);
    uint64_t given = 0;

    for (size_t i = 0; i < options->n_params && status == WF_OK; i++) {
        const char *text = options->params[i];
        size_t length = strcspn(text, "=");
        char name[128];

        if (is_mpi(options, i) != mpi) {
            continue;
        }
        if (of->params == NULL || strncmp(text, of->scope, skip) != 0) {
            return no_parameter(of, text, err);
        }
        length = length < sizeof(name) ? length : sizeof(name) - 1;
        (void)snprintf(name, sizeof(name), "%.*s", (int)(length - skip), text + skip);
        status = wf_param_set(of->params, params, of->scope, name,
                              text + strcspn(text, "=") + 1, err);
        for (size_t row = 0; status == WF_OK && of->params[row].name != NULL; row++) {
            given |= strcmp(of->params[row].name, name) == 0 ? UINT64_C(1) << row : 0;
        }
    }
    return status == WF_OK && of->params != NULL
               ? wf_param_missing(of->params, given, of->scope, err)
               : status;
}

/* Reads how collectives are expanded. The caller releases the choice with
 * wf_param_release(). */
static enum wf_status read_choice(const struct wf_study_trace_options *options,
                                  struct wf_expand_choice *choice, struct wf_err *err)
{
    static const struct settable of = {.params = wf_expand_params,
                                       .size = sizeof(*choice),
                                       .scope = MPI_SCOPE,
                                       .what = "the choice of algorithms"};

    memset(choice, 0, sizeof(*choice));
    WF_TRY(set_params(&of, options, true, choice, err));
    return wf_expand_check(choice, err);
}

static void *new_params(const struct settable *of)
{
    return wf_xcalloc(1, of->size > 0 ? of->size : 1);
}

static void free_params(const struct settable *of, void *params)
{
    if (of->params != NULL) {
        wf_param_release(of->params, params);
    }
    free(params);
}

/* The ops of a program that reacts to the messages it matched depend on the run and its
 * network, so they cannot be written. Wildcard receives without such reactions can. */
static enum wf_status check_fixed(const struct wf_source *source, struct wf_err *err)
{
    if (!source->follows_matches) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINVAL,
                      "gen:%s cannot be written as a trace: its messages depend on the order "
                      "in which others arrive; 'weft replay gen:%s' runs it",
                      source->ops->name, source->ops->name);
}

static enum wf_status create(const struct wf_source_ops *ops, const void *params,
                             uint32_t n_ranks, struct wf_source **out, struct wf_err *err)
{
    WF_TRY(ops->create(params, n_ranks, out, err));
    return check_fixed(*out, err);
}

static enum wf_status generate(const char *name, const struct wf_study_trace_options *options,
                               struct wf_trace *out, struct wf_err *err)
{
    const struct wf_graph_ops *graph = wf_gen_graph_find(name);
    const struct wf_source_ops *ops = NULL;
    uint32_t n = (uint32_t)options->ranks;

    WF_TRY(graph != NULL ? WF_OK : wf_gen_find(name, &ops, err));
    if (n == 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "gen:%s: the number of ranks is missing; for example: -n 64", name);
    }
    const struct settable of = {.params = graph != NULL ? graph->params : ops->params,
                                .size = graph != NULL ? graph->params_size : ops->params_size,
                                .scope = "gen.",
                                .what = "the generator"};
    void *params = new_params(&of);
    enum wf_status status = set_params(&of, options, false, params, err);
    WF_THEN(status, graph != NULL ? graph->create(params, n, &out->graph, err)
                                  : create(ops, params, n, &out->source, err));
    free_params(&of, params);
    if (status != WF_OK) {
        wf_trace_close(out);
    }
    return status;
}

static enum wf_status open_file(const char *path, const struct wf_study_trace_options *options,
                                struct wf_trace *out, struct wf_err *err)
{
    const struct wf_reader_ops *reader = NULL;
    struct wf_reader_probe probe;
    char what[96];

    WF_TRY(wf_reader_find(path, &probe, &reader, err));
    (void)snprintf(what, sizeof(what), "a trace of the format %s", reader->name);
    const struct settable of = {
        .params = reader->params, .size = reader->params_size, .scope = "trace.", .what = what};
    void *params = new_params(&of);
    enum wf_status status = set_params(&of, options, false, params, err);
    WF_THEN(status, wf_reader_open(reader, &probe, params, out, err));
    free_params(&of, params);
    wf_reader_probe_fini(&probe);
    return status;
}

enum wf_status wf_study_trace_open(const char *word,
                                   const struct wf_study_trace_options *options,
                                   struct wf_trace *out, struct wf_err *err)
{
    memset(out, 0, sizeof(*out));
    if (strncmp(word, GEN_PREFIX, strlen(GEN_PREFIX)) == 0) {
        return generate(word + strlen(GEN_PREFIX), options, out, err);
    }
    if (options->ranks > 0) {
        return wf_err_set(
            err, WF_EUSAGE,
            "a trace has its own number of ranks; -n is only for generators, as in gen:ring");
    }
    return open_file(word, options, out, err);
}

uint32_t wf_study_trace_n_ranks(const struct wf_trace *trace)
{
    return trace->graph != NULL ? trace->graph->n_pes : trace->source->n_ranks;
}

/* ---- writing ---- */

enum wf_status wf_study_trace_check(const char *path,
                                    const struct wf_study_trace_options *options,
                                    struct wf_err *err)
{
    const struct wf_trace_writer_ops *ops = NULL;
    struct wf_expand_choice choice;

    enum wf_status status = read_choice(options, &choice, err);
    wf_param_release(wf_expand_params, &choice);
    return status == WF_OK ? wf_trace_writer_for_path(path, &ops, err) : status;
}

static enum wf_status find_writer(const char *path, const struct wf_study_trace_part *part,
                                  const struct wf_trace_writer_ops **out, struct wf_err *err)
{
    bool tasks = part->trace->graph != NULL;

    WF_TRY(wf_trace_writer_for_path(path, out, err));
    if (tasks && (*out)->add_graph == NULL) {
        return wf_err_set(err, WF_EINVAL,
                          "a %s cannot hold the tasks of '%.200s', only operations; .weft can",
                          (*out)->extension, part->creator);
    }
    if (!tasks && (*out)->add == NULL) {
        return wf_err_set(err, WF_EINVAL, "a %s cannot hold operations; .weft can",
                          (*out)->extension);
    }
    return WF_OK;
}

static enum wf_status write_tasks(struct wf_trace_writer *writer, const struct wf_graph *graph,
                                  bool partial, uint64_t *n, struct wf_err *err)
{
    enum wf_status status = writer->ops->add_graph(writer, graph, n, err);

    if (status == WF_EINVAL && partial) {
        char why[sizeof(err->text)];

        (void)snprintf(why, sizeof(why), "%s", err->text);
        status = wf_err_set(err, WF_EINVAL,
                            "%.300s; --partial cannot take a part of a program of tasks, "
                            "because the part would wait for the rest for ever",
                            why);
    }
    return status;
}

static enum wf_status write_all(struct wf_trace_writer *writer,
                                const struct wf_study_trace_part *part, bool partial,
                                uint64_t *n, struct wf_err *err)
{
    struct wf_copy copy = {.source = part->trace->source,
                           .writer = writer,
                           .partial = partial,
                           .tidy = part->trace->reader == NULL,
                           .changes = part->changes,
                           .pass = part->pass,
                           .wall_of = wf_source_wall};
    enum wf_status status = part->trace->graph != NULL
                                ? write_tasks(writer, part->trace->graph, partial, n, err)
                                : wf_trace_copy(&copy, err);

    if (status != WF_OK) {
        writer->ops->discard(writer);
        return status;
    }
    *n = part->trace->graph != NULL ? *n : copy.n_ops;
    return writer->ops->finish(writer, err);
}

enum wf_status wf_study_trace_write(const char *path, const struct wf_study_trace_part *part,
                                    const struct wf_study_trace_options *options,
                                    struct wf_study_trace_written *written, struct wf_err *err)
{
    struct wf_trace_writer *writer = NULL;
    struct wf_expand_choice choice;
    char creator[256];
    const struct wf_trace_writer_options how = {
        .n_ranks = part->n_ranks,
        .tasks = part->trace->graph != NULL,
        .streams = part->trace->graph != NULL && wf_graph_has_streams(part->trace->graph),
        .force = options->force,
        .n_parts = options->parts,
        .creator = creator,
    };

    *written = (struct wf_study_trace_written){.n = 0};
    (void)snprintf(creator, sizeof(creator), "weft %s: %.200s", weft_version(), part->creator);
    enum wf_status status = read_choice(options, &choice, err);
    WF_THEN(status, find_writer(path, part, &written->format, err));
    WF_THEN(status, written->format->create(path, &how, &writer, err));
    if (status == WF_OK) {
        /* Tasks have no collectives. */
        if (options->expand && !how.tasks) {
            writer = wf_expand_writer(writer, part->n_ranks, &choice);
        }
        writer->losses = &written->losses;
        status = write_all(writer, part, options->partial, &written->n, err);
    }
    wf_param_release(wf_expand_params, &choice);
    return status;
}
