/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Shared by the commands on traces: options, input, output and the messages about them. */

#include "ui/cli/cli.h"
#include "ui/cli/opt.h"
#include "ui/study/trace_io.h"

/* The first part of the options of each of these commands. Not every command has all rows. */
struct wf_trace_opts {
    bool json, force, partial, expand;
    const char *output;
    uint64_t ranks; /* 0: not given */
    uint64_t parts;
    struct wf_opt_list params;
};

/* Rows over struct wf_trace_opts at the beginning of a struct. */
#define WF_TRACE_ROW_RANKS                                                         \
    WF_OPT_ROW(struct wf_trace_opts, ranks, COUNT, "ranks", 'n', NULL, .min = "1", \
               .max = "67108864", .doc = "Ranks of the program, for a generator")
#define WF_TRACE_ROW_PARAMS                                                               \
    {                                                                                     \
        .param = {.name = "param",                                                        \
                  .offset = offsetof(struct wf_trace_opts, params),                       \
                  .doc = "Set a parameter of the generator or of the trace's format: -p " \
                         "gen.bytes=1MiB"},                                               \
        .kind = WF_OPT_PAIRS, .letter = 'p', .arg = "<name>=<value>"                      \
    }
#define WF_TRACE_ROW_OUTPUT                                                  \
    WF_OPT_ROW(struct wf_trace_opts, output, TEXT, "output", 'o', "<trace>", \
               .doc = "The trace to write, in the format that the ending of its name chooses")
#define WF_TRACE_ROW_PARTS                                                                     \
    WF_OPT_ROW(struct wf_trace_opts, parts, COUNT, "parts", 0, NULL, .min = "1", .max = "256", \
               .doc = "Write a directory with this many files instead of one .weft "           \
                      "file; a .ti has a file for each rank, and a list of them")
#define WF_TRACE_ROW_FORCE                                            \
    WF_OPT_ROW(struct wf_trace_opts, force, BOOL, "force", 'f', NULL, \
               .doc = "Overwrite the output if it exists")
#define WF_TRACE_ROW_EXPAND                                                                 \
    WF_OPT_ROW(struct wf_trace_opts, expand, BOOL, "expand-collectives", 0, NULL,           \
               .doc = "Write collectives as point-to-point messages; -p mpi.rules=openmpi " \
                      "or -p mpi.bcast=binomial choose the algorithms, as in a replay")
#define WF_TRACE_ROW_PARTIAL                                            \
    WF_OPT_ROW(struct wf_trace_opts, partial, BOOL, "partial", 0, NULL, \
               .doc = "Take what can be read of a trace that is truncated or damaged")

/* Prints the formats that traces are written in, for the help of these commands. */
void wf_cli_trace_list_written(FILE *out);

/* Opens the trace or generator (gen:<name>) `word`; a terminal shows how far reading is. The
 * caller closes it with wf_trace_close(). */
enum wf_status wf_cli_trace_input(struct wf_cli *cli, const char *word,
                                  const struct wf_trace_opts *opts, struct wf_trace *out,
                                  struct wf_err *err);

/* WF_EUSAGE if no output was given, or one that cannot be written. Call it before any work. */
enum wf_status wf_cli_trace_output_check(const struct wf_trace_opts *opts, struct wf_err *err);

/* Writes the part to opts->output and prints a line about it, with notes for the user. A
 * terminal shows how far it is. */
enum wf_status wf_cli_trace_output(struct wf_cli *cli, const struct wf_study_trace_part *part,
                                   const struct wf_trace_opts *opts, struct wf_err *err);

/* Prints notes about the parts of a trace that the format cannot hold. */
void wf_cli_trace_print_losses(struct wf_cli *cli, const struct wf_trace_writer_ops *format,
                               const struct wf_losses *losses);
/* Ends a line about a trace with its size, if the trace is a single file. */
void wf_cli_trace_print_size(const char *path, FILE *out);

/* Writes all of the trace or generator `word` to opts->output. */
enum wf_status wf_cli_trace_rewrite(struct wf_cli *cli, const char *word,
                                    const struct wf_trace_opts *opts, struct wf_err *err);
