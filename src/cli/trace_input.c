/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace_input.h"

#include "base/mem.h"
#include "base/units.h"
#include "gen/gen.h"
#include "gen/graphs.h"
#include "sim/world.h"
#include "study/expand.h"
#include "trace/copy.h"
#include "trace/reader.h"
#include "trace/weft/native.h"

#include <weft/weft.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define GEN_PREFIX "gen:"
#define MPI_SCOPE  "mpi."

/* What has parameters: their table, and what is written before their names. */
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
                          "-p %.64s: is for weft replay, and for weft convert with "
                          "--expand-collectives",
                          text);
    }
    if (of->params == NULL || of->params[0].name == NULL) {
        return wf_err_set(err, WF_EUSAGE, "-p %.64s: %s has no parameters", text, of->what);
    }
    return wf_err_set(err, WF_EUSAGE, "-p %.64s: no parameter of %s; expected %s<name>", text,
                      of->what, of->scope);
}

/* Sets parameters from "gen.name=value" texts. */
static enum wf_status set_params(const struct settable *of, const struct wf_opt_list *list,
                                 void *params, struct wf_err *err)
{
    enum wf_status status =
        of->params != NULL ? wf_param_defaults(of->params, params, err) : WF_OK;
    size_t skip = strlen(of->scope);
    uint64_t given = 0;

    for (size_t i = 0; i < list->n && status == WF_OK; i++) {
        const char *text = list->items[i];
        size_t length = strcspn(text, "=");
        char name[128];

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

/* Those of the settings that choose the algorithms of expanded collectives, or the others. */
static struct wf_opt_list part_of(const struct wf_trace_opts *opts, bool of_mpi)
{
    struct wf_opt_list part = {.n = 0};

    part.items = wf_xcalloc(opts->params.n + 1, sizeof(*part.items));
    for (size_t i = 0; i < opts->params.n; i++) {
        bool is_mpi =
            opts->expand && strncmp(opts->params.items[i], MPI_SCOPE, strlen(MPI_SCOPE)) == 0;
        if (is_mpi == of_mpi) {
            part.items[part.n++] = opts->params.items[i];
        }
    }
    return part;
}

static enum wf_status set_some(const struct settable *of, const struct wf_trace_opts *opts,
                               bool of_mpi, void *params, struct wf_err *err)
{
    struct wf_opt_list part = part_of(opts, of_mpi);
    enum wf_status status = set_params(of, &part, params, err);

    free(part.items);
    return status;
}

/* How collectives are expanded. To be released with wf_param_release(). */
static enum wf_status read_choice(const struct wf_trace_opts *opts,
                                  struct wf_expand_choice *choice, struct wf_err *err)
{
    static const struct settable of = {.params = wf_expand_params,
                                       .size = sizeof(*choice),
                                       .scope = MPI_SCOPE,
                                       .what = "the choice of algorithms"};

    memset(choice, 0, sizeof(*choice));
    enum wf_status status = set_some(&of, opts, true, choice, err);
    return status == WF_OK ? wf_expand_check(choice, err) : status;
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

/* What a program does with what it got cannot be written down without running it, and would be
 * right on no network but that of the run. Wildcards alone are written as they are. */
static enum wf_status check_fixed(const struct wf_source *source, struct wf_err *err)
{
    if (!source->follows_matches) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINVAL,
                      "gen:%s is no trace: whom it sends to depends on whose message comes "
                      "first, so only a run can tell; weft replay gen:%s runs it as it is",
                      source->ops->name, source->ops->name);
}

static enum wf_status create(const struct wf_source_ops *ops, const void *params,
                             uint32_t n_ranks, struct wf_source **out, struct wf_err *err)
{
    enum wf_status status = ops->create(params, n_ranks, out, err);

    return status == WF_OK ? check_fixed(*out, err) : status;
}

static enum wf_status generate(const char *name, const struct wf_trace_opts *opts,
                               struct wf_trace *out, struct wf_err *err)
{
    const struct wf_graph_ops *graph = wf_graph_find(name);
    const struct wf_source_ops *ops = NULL;
    uint32_t n = (uint32_t)opts->ranks;

    enum wf_status status = graph != NULL ? WF_OK : wf_gen_find(name, &ops, err);
    if (status != WF_OK) {
        return status;
    }
    if (n == 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "gen:%s: how many ranks? -n gives their number, as in -n 64", name);
    }
    const struct settable of = {.params = graph != NULL ? graph->params : ops->params,
                                .size = graph != NULL ? graph->params_size : ops->params_size,
                                .scope = "gen.",
                                .what = "the generator"};
    void *params = new_params(&of);
    status = set_some(&of, opts, false, params, err);
    if (status == WF_OK) {
        status = graph != NULL ? graph->create(params, n, &out->graph, err)
                               : create(ops, params, n, &out->source, err);
    }
    free_params(&of, params);
    if (status != WF_OK) {
        wf_trace_close(out);
    }
    return status;
}

static enum wf_status open_file(const char *path, const struct wf_trace_opts *opts,
                                struct wf_trace *out, struct wf_err *err)
{
    const struct wf_reader_ops *reader = NULL;
    struct wf_reader_probe probe;
    char what[96];

    enum wf_status status = wf_reader_find(path, &probe, &reader, err);
    if (status != WF_OK) {
        return status;
    }
    (void)snprintf(what, sizeof(what), "a trace of the format %s", reader->name);
    const struct settable of = {
        .params = reader->params, .size = reader->params_size, .scope = "trace.", .what = what};
    void *params = new_params(&of);
    status = set_some(&of, opts, false, params, err);
    if (status == WF_OK) {
        status = wf_reader_open(reader, &probe, params, out, err);
    }
    free_params(&of, params);
    wf_reader_probe_fini(&probe);
    return status;
}

enum wf_status wf_trace_input(const char *word, const struct wf_trace_opts *opts,
                              struct wf_trace *out, struct wf_err *err)
{
    memset(out, 0, sizeof(*out));
    if (strncmp(word, GEN_PREFIX, strlen(GEN_PREFIX)) == 0) {
        return generate(word + strlen(GEN_PREFIX), opts, out, err);
    }
    if (opts->ranks > 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "-n means nothing to a trace; it is for generators, as in gen:ring");
    }
    return open_file(word, opts, out, err);
}

uint32_t wf_trace_n_ranks(const struct wf_trace *trace)
{
    return trace->graph != NULL ? trace->graph->n_pes : trace->source->n_ranks;
}

/* What is written, and how much of it was. */
struct writing {
    struct wf_copy copy;
    const struct wf_graph *graph; /* instead of the copy's source */
    uint64_t n;                   /* ops or tasks */
    const struct wf_trace *trace; /* that all is from */
    struct wf_losses losses;
};

static enum wf_status write_all(struct writing *writing, struct wf_err *err)
{
    struct wf_trace_writer *writer = writing->copy.writer;
    enum wf_status status;

    if (writing->graph != NULL) {
        status = writer->ops->add_graph(writer, writing->graph, &writing->n, err);
        if (status == WF_EINVAL && writing->copy.partial) {
            char why[sizeof(err->text)];

            (void)snprintf(why, sizeof(why), "%s", err->text);
            status = wf_err_set(err, WF_EINVAL,
                                "%.300s; of a program of tasks --partial can take nothing, as "
                                "a part would wait for the rest for ever",
                                why);
        }
    } else {
        status = wf_trace_copy(&writing->copy, err);
        writing->n = writing->copy.n_ops;
    }
    if (status != WF_OK) {
        writer->ops->discard(writer);
        return status;
    }
    return writer->ops->finish(writer, err);
}

static void print_written(struct wf_cli *cli, const char *path, uint32_t n_ranks,
                          const struct writing *writing)
{
    char size[WF_UNITS_TEXT_MAX];
    struct stat st;
    bool tasks = writing->graph != NULL;

    (void)fprintf(cli->out, "%s: %" PRIu32 " %s%s, %" PRIu64 " %s", path, n_ranks,
                  tasks ? "PE" : "rank", n_ranks == 1 ? "" : "s", writing->n,
                  tasks ? "tasks" : "ops");
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        (void)fprintf(cli->out, ", %s", wf_human_size((uint64_t)st.st_size, size));
    }
    (void)fputc('\n', cli->out);
}

enum wf_status wf_trace_output_check(const struct wf_trace_opts *opts, struct wf_err *err)
{
    const struct wf_trace_writer_ops *ops = NULL;
    struct wf_expand_choice choice;

    if (opts->output == NULL) {
        return wf_err_set(err, WF_EUSAGE, "no output; -o gives its name, as in -o x.weft");
    }
    enum wf_status status = read_choice(opts, &choice, err);
    wf_param_release(wf_expand_params, &choice);
    return status == WF_OK ? wf_trace_writer_for_path(opts->output, &ops, err) : status;
}

static void print_notes(struct wf_cli *cli, const struct writing *writing,
                        const struct wf_trace_writer_ops *ops)
{
    struct wf_err err;

    if (writing->graph == NULL && writing->copy.partial &&
        wf_source_check(writing->copy.source, &err) != WF_OK) {
        wf_err_tame(&err);
        (void)fprintf(cli->err, "weft: note: %s\n", err.text);
    }
    for (size_t i = 0; i < writing->trace->n_notes; i++) {
        (void)fprintf(cli->err, "weft: note: %s\n", writing->trace->notes[i]);
    }
    if (ops->lacks != NULL) {
        (void)fprintf(cli->err, "weft: note: not in a %s: %s\n", ops->extension, ops->lacks);
    }
    for (uint32_t i = 0; i < writing->losses.n; i++) {
        (void)fprintf(cli->err, "weft: note: not carried over: %" PRIu64 " %s\n",
                      writing->losses.items[i].count, writing->losses.items[i].what);
    }
}

static enum wf_status find_writer(const struct wf_trace_piece *piece,
                                  const struct wf_trace_opts *opts,
                                  const struct wf_trace_writer_ops **out, struct wf_err *err)
{
    enum wf_status status = wf_trace_output_check(opts, err);

    if (status == WF_OK) {
        status = wf_trace_writer_for_path(opts->output, out, err);
    }
    if (status == WF_OK && piece->trace->graph != NULL && (*out)->add_graph == NULL) {
        status =
            wf_err_set(err, WF_EINVAL,
                       "a %s cannot hold the tasks of '%.200s', only operations; .weft can",
                       (*out)->extension, piece->creator);
    }
    if (status == WF_OK && piece->trace->graph == NULL && (*out)->add == NULL) {
        status = wf_err_set(err, WF_EINVAL, "a %s cannot hold operations; .weft can",
                            (*out)->extension);
    }
    return status;
}

enum wf_status wf_trace_output(struct wf_cli *cli, const struct wf_trace_piece *piece,
                               const struct wf_trace_opts *opts, struct wf_err *err)
{
    const struct wf_trace_writer_ops *ops = NULL;
    char words[256];
    struct writing writing = {
        .copy = {.source = piece->trace->source,
                 .partial = opts->partial,
                 .tidy = piece->trace->reader == NULL,
                 .changes = piece->changes,
                 .wall_of = wf_source_wall},
        .graph = piece->trace->graph,
        .trace = piece->trace,
    };

    enum wf_status status = find_writer(piece, opts, &ops, err);
    if (status != WF_OK || !wf_world_is_first(cli->world)) {
        return status;
    }
    (void)snprintf(words, sizeof(words), "weft %s: %.200s", weft_version(), piece->creator);
    const struct wf_trace_writer_options options = {
        .n_ranks = piece->n_ranks,
        .tasks = writing.graph != NULL,
        .force = opts->force,
        .n_parts = (uint32_t)opts->parts,
        .creator = words,
    };
    struct wf_expand_choice choice;
    status = read_choice(opts, &choice, err);
    if (status == WF_OK) {
        status = ops->create(opts->output, &options, &writing.copy.writer, err);
    }
    if (status == WF_OK) {
        /* Tasks have no collectives. */
        if (opts->expand && writing.graph == NULL) {
            writing.copy.writer =
                wf_expand_writer(writing.copy.writer, piece->n_ranks, &choice);
        }
        writing.copy.writer->losses = &writing.losses;
        status = write_all(&writing, err);
    }
    wf_param_release(wf_expand_params, &choice);
    if (status == WF_OK) {
        print_notes(cli, &writing, ops);
        print_written(cli, opts->output, piece->n_ranks, &writing);
    }
    return status;
}

enum wf_status wf_trace_operands(const struct wf_operands *operands, size_t n,
                                 const char *usage, struct wf_err *err)
{
    if (operands->args.n < n) {
        return wf_err_set(err, WF_EUSAGE, "too few words; for example: %s", usage);
    }
    if (operands->args.n > n) {
        return wf_err_set(err, WF_EUSAGE, "'%.64s' is a word too much; for example: %s",
                          operands->args.items[n], usage);
    }
    return WF_OK;
}
