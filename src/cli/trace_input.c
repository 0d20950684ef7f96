/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace_input.h"

#include "base/mem.h"
#include "base/units.h"
#include "gen/gen.h"
#include "sim/world.h"
#include "trace/copy.h"
#include "trace/native.h"
#include "trace/reader.h"

#include <weft/weft.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define GEN_PREFIX "gen:"
#define GEN_SCOPE  "gen."

/* Sets the parameters of a generator from "gen.name=value" texts. */
static enum wf_status set_params(const struct wf_source_ops *ops,
                                 const struct wf_opt_list *list, void *params,
                                 struct wf_err *err)
{
    enum wf_status status = wf_param_defaults(ops->params, params, err);
    uint64_t given = 0;

    for (size_t i = 0; i < list->n && status == WF_OK; i++) {
        const char *text = list->items[i];
        size_t length = strcspn(text, "=");
        char name[128];

        if (strncmp(text, GEN_SCOPE, strlen(GEN_SCOPE)) != 0) {
            return wf_err_set(err, WF_EUSAGE,
                              "-p %.64s: no parameter of the generator; expected gen.<name>",
                              text);
        }
        length = length < sizeof(name) ? length : sizeof(name) - 1;
        (void)snprintf(name, sizeof(name), "%.*s", (int)(length - strlen(GEN_SCOPE)),
                       text + strlen(GEN_SCOPE));
        status = wf_param_set(ops->params, params, GEN_SCOPE, name,
                              text + strcspn(text, "=") + 1, err);
        for (size_t row = 0; status == WF_OK && ops->params[row].name != NULL; row++) {
            given |= strcmp(ops->params[row].name, name) == 0 ? UINT64_C(1) << row : 0;
        }
    }
    return status == WF_OK ? wf_param_missing(ops->params, given, GEN_SCOPE, err) : status;
}

/* A program that waits to see what happens cannot be written down without running it. */
static enum wf_status check_fixed(const struct wf_source *source, struct wf_err *err)
{
    if (!source->depends_on_time) {
        return WF_OK;
    }
    return wf_err_set(err, WF_EINVAL,
                      "gen:%s decides what it does by what it receives first: only a run can "
                      "tell, with weft replay",
                      source->ops->name);
}

static enum wf_status generate(const char *name, const struct wf_trace_opts *opts,
                               struct wf_source **out, struct wf_err *err)
{
    const struct wf_source_ops *ops = NULL;
    struct wf_source *source = NULL;

    enum wf_status status = wf_gen_find(name, &ops, err);
    if (status != WF_OK) {
        return status;
    }
    if (opts->ranks == 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "gen:%s: how many ranks? -n gives their number, as in -n 64", name);
    }
    void *params = wf_xcalloc(1, ops->params_size > 0 ? ops->params_size : 1);
    status = set_params(ops, &opts->params, params, err);
    if (status == WF_OK) {
        status = ops->create(params, (uint32_t)opts->ranks, &source, err);
    }
    if (status == WF_OK) {
        status = check_fixed(source, err);
    }
    wf_param_release(ops->params, params);
    free(params);
    if (status != WF_OK) {
        wf_source_free(source);
        return status;
    }
    *out = source;
    return WF_OK;
}

enum wf_status wf_trace_input(const char *word, const struct wf_trace_opts *opts,
                              struct wf_source **out, struct wf_err *err)
{
    if (strncmp(word, GEN_PREFIX, strlen(GEN_PREFIX)) == 0) {
        return generate(word + strlen(GEN_PREFIX), opts, out, err);
    }
    if (opts->ranks > 0 || opts->params.n > 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "%s means nothing to a trace; it is for generators, as in gen:ring",
                          opts->ranks > 0 ? "-n" : "-p");
    }
    return wf_trace_open(word, out, err);
}

static enum wf_status write_all(struct wf_copy *copy, struct wf_err *err)
{
    enum wf_status status = wf_trace_copy(copy, err);

    if (status != WF_OK) {
        copy->writer->ops->discard(copy->writer);
        return status;
    }
    return copy->writer->ops->finish(copy->writer, err);
}

static void print_written(struct wf_cli *cli, const char *path, uint32_t n_ranks,
                          uint64_t n_ops)
{
    char size[WF_UNITS_TEXT_MAX];
    struct stat st;

    (void)fprintf(cli->out, "%s: %" PRIu32 " %s, %" PRIu64 " ops", path, n_ranks,
                  n_ranks == 1 ? "rank" : "ranks", n_ops);
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        (void)fprintf(cli->out, ", %s", wf_human_size((uint64_t)st.st_size, size));
    }
    (void)fputc('\n', cli->out);
}

enum wf_status wf_trace_output_check(const struct wf_trace_opts *opts, struct wf_err *err)
{
    const struct wf_trace_writer_ops *ops = NULL;

    if (opts->output == NULL) {
        return wf_err_set(err, WF_EUSAGE, "no output; -o gives its name, as in -o x.weft");
    }
    return wf_trace_writer_for_path(opts->output, &ops, err);
}

static void print_notes(struct wf_cli *cli, const struct wf_copy *copy,
                        const struct wf_trace_writer_ops *ops)
{
    struct wf_err err;

    if (copy->partial && wf_source_check(copy->source, &err) != WF_OK) {
        wf_err_tame(&err);
        (void)fprintf(cli->err, "weft: note: %s\n", err.text);
    }
    if (ops->lacks != NULL) {
        (void)fprintf(cli->err, "weft: note: not in a %s: %s\n", ops->extension, ops->lacks);
    }
}

enum wf_status wf_trace_output(struct wf_cli *cli, const struct wf_trace_piece *piece,
                               const struct wf_trace_opts *opts, struct wf_err *err)
{
    const struct wf_trace_writer_ops *ops = NULL;
    char words[256];
    struct wf_copy copy = {
        .source = piece->source,
        .partial = opts->partial,
        .changes = piece->changes,
        .wall_of = wf_native_wall,
    };

    enum wf_status status = wf_trace_output_check(opts, err);
    if (status == WF_OK) {
        status = wf_trace_writer_for_path(opts->output, &ops, err);
    }
    if (status != WF_OK || !wf_world_is_first(cli->world)) {
        return status;
    }
    (void)snprintf(words, sizeof(words), "weft %s: %.200s", weft_version(), piece->creator);
    const struct wf_trace_writer_options options = {
        .n_ranks = piece->n_ranks,
        .force = opts->force,
        .n_parts = (uint32_t)opts->parts,
        .creator = words,
    };
    status = ops->create(opts->output, &options, &copy.writer, err);
    if (status != WF_OK) {
        return status;
    }
    status = write_all(&copy, err);
    if (status == WF_OK) {
        print_notes(cli, &copy, ops);
        print_written(cli, opts->output, piece->n_ranks, copy.n_ops);
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
