/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CLI_TRACE_INPUT_H
#define WF_CLI_TRACE_INPUT_H

/*
 * What the commands on traces have in common: where ops come from, and the rows of options that
 * say so.
 */

#include "cli/cli.h"
#include "cli/opt.h"
#include "trace/copy.h"
#include "trace/reader.h"

/* A part of the options of each of these commands; not every one has all rows. */
struct wf_trace_opts {
    bool help, json, force, partial, expand;
    const char *output;
    uint64_t ranks; /* 0: not given */
    uint64_t parts;
    struct wf_opt_list params;
};

/* Rows over struct wf_trace_opts at the beginning of a struct. */
#define WF_TRACE_ROW_RANKS                                                \
    {                                                                     \
        .param = {.name = "ranks",                                        \
                  .type = WF_PARAM_COUNT,                                 \
                  .offset = offsetof(struct wf_trace_opts, ranks),        \
                  .min = "1",                                             \
                  .max = "67108864",                                      \
                  .doc = "Ranks of the program, if it is a generator's"}, \
        .letter = 'n'                                                     \
    }
#define WF_TRACE_ROW_PARAMS                                                               \
    {                                                                                     \
        .param = {.name = "param",                                                        \
                  .offset = offsetof(struct wf_trace_opts, params),                       \
                  .doc = "Set a parameter of the generator or of the trace's format: -p " \
                         "gen.bytes=1MiB"},                                               \
        .kind = WF_OPT_PAIRS, .letter = 'p', .arg = "<name>=<value>"                      \
    }
#define WF_TRACE_ROW_OUTPUT                                                             \
    {                                                                                   \
        .param = {.name = "output",                                                     \
                  .type = WF_PARAM_TEXT,                                                \
                  .offset = offsetof(struct wf_trace_opts, output),                     \
                  .doc = "The trace to write: a name that ends in .weft, .csv or .ti"}, \
        .letter = 'o', .arg = "<trace>"                                                 \
    }
#define WF_TRACE_ROW_PARTS                                                       \
    {                                                                            \
        .param = {                                                               \
            .name = "parts",                                                     \
            .type = WF_PARAM_COUNT,                                              \
            .offset = offsetof(struct wf_trace_opts, parts),                     \
            .min = "1",                                                          \
            .max = "256",                                                        \
            .doc = "Make a directory of so many files instead of one .weft file" \
        }                                                                        \
    }
#define WF_TRACE_ROW_FORCE                                         \
    {                                                              \
        .param = {.name = "force",                                 \
                  .type = WF_PARAM_BOOL,                           \
                  .offset = offsetof(struct wf_trace_opts, force), \
                  .doc = "Overwrite the output if it exists"},     \
        .letter = 'f'                                              \
    }
#define WF_TRACE_ROW_EXPAND                                                                    \
    {                                                                                          \
        .param = {                                                                             \
            .name = "expand-collectives",                                                      \
            .type = WF_PARAM_BOOL,                                                             \
            .offset = offsetof(struct wf_trace_opts, expand),                                  \
            .doc = "Write collectives as the messages that their algorithms make of them, "    \
                   "which -p mpi.rules=openmpi or -p mpi.bcast=binomial choose as in a replay" \
        }                                                                                      \
    }
#define WF_TRACE_ROW_PARTIAL                                                       \
    {                                                                              \
        .param = {                                                                 \
            .name = "partial",                                                     \
            .type = WF_PARAM_BOOL,                                                 \
            .offset = offsetof(struct wf_trace_opts, partial),                     \
            .doc = "Take what can be read of a trace that is truncated or damaged" \
        }                                                                          \
    }

/* What `word` means: a trace, or gen:<name>. Of success the caller closes it. */
WF_NODISCARD
enum wf_status wf_trace_input(const char *word, const struct wf_trace_opts *opts,
                              struct wf_trace *out, struct wf_err *err);

/* Ranks or PEs. */
uint32_t wf_trace_n_ranks(const struct wf_trace *trace);

/* What is written. */
struct wf_trace_piece {
    const struct wf_trace *trace;
    uint32_t n_ranks; /* of the trace that is written */
    struct wf_copy_changes changes;
    const char *creator; /* is put into the trace */
};

/* WF_EUSAGE if there is no output, or none that can be written, for the time before any work.
 */
WF_NODISCARD
enum wf_status wf_trace_output_check(const struct wf_trace_opts *opts, struct wf_err *err);

/* Writes all of it to opts->output, and a line about it to `cli`. */
WF_NODISCARD
enum wf_status wf_trace_output(struct wf_cli *cli, const struct wf_trace_piece *piece,
                               const struct wf_trace_opts *opts, struct wf_err *err);

/* Checks that there are `n` operands. `usage` is shown otherwise. */
WF_NODISCARD
enum wf_status wf_trace_operands(const struct wf_operands *operands, size_t n,
                                 const char *usage, struct wf_err *err);

#endif
