/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CLI_SIMULATE_H
#define WF_CLI_SIMULATE_H

/* What the verbs that simulate have in common: options, the run, the result. */

#include "cli/cli.h"
#include "cli/opt.h"
#include "cli/progress.h"

struct wf_scenario;

/* The options of all these verbs; a verb has the rows for some of them. */
struct wf_simulate_opts {
    bool help, json, quiet, verbose, force, dry_run;
    int progress; /* enum wf_progress_mode */
    const char *output;
    const char *machine;
    struct wf_opt_list params;
    /* run and emulate */
    const char *compute;
    const char *trace; /* the trace to write */
    uint64_t parts;    /* files of that trace; 0: one file */
    bool silent;       /* print no result unless it is asked for */
    /* replay */
    struct wf_opt_list jobs; /* other programs */
    bool what_if;
    /* replay and run: the recording */
    bool record;
    uint64_t record_limit;
    const char *record_ranks, *record_time;
    uint64_t path_memory;
    /* traffic */
    const char *load, *csv, *plot;
    uint64_t side_by_side;
};

#define WF_SIMULATE_MEMBER(name) offsetof(struct wf_simulate_opts, name)

#define WF_SIMULATE_ROW_MACHINE                                                              \
    {                                                                                        \
        .param = {.name = "machine",                                                         \
                  .type = WF_PARAM_TEXT,                                                     \
                  .offset = WF_SIMULATE_MEMBER(machine),                                     \
                  .doc = "Topology, network and processors of a machine: a name of 'weft "   \
                         "machine list' or a .yaml file; other options and -p override it"}, \
        .arg = "<name|file>"                                                                 \
    }

/* The rows that all such verbs have; the first two describe -o. */
#define WF_SIMULATE_ROWS(output_doc, output_arg)                                              \
    {.param = {.name = "param",                                                               \
               .offset = WF_SIMULATE_MEMBER(params),                                          \
               .doc = "Set a parameter; 'weft help' lists all"},                              \
     .kind = WF_OPT_PAIRS,                                                                    \
     .letter = 'p'},                                                                          \
        {.param = {.name = "json",                                                            \
                   .type = WF_PARAM_BOOL,                                                     \
                   .offset = WF_SIMULATE_MEMBER(json),                                        \
                   .doc = "Print the result as one JSON document"}},                          \
        {.param = {.name = "output",                                                          \
                   .type = WF_PARAM_TEXT,                                                     \
                   .offset = WF_SIMULATE_MEMBER(output),                                      \
                   .doc = (output_doc)},                                                      \
         .letter = 'o',                                                                       \
         .arg = (output_arg)},                                                                \
        {.param = {.name = "force",                                                           \
                   .type = WF_PARAM_BOOL,                                                     \
                   .offset = WF_SIMULATE_MEMBER(force),                                       \
                   .doc = "Overwrite that file if it exists"},                                \
         .letter = 'f'},                                                                      \
        {.param = {.name = "dry-run",                                                         \
                   .type = WF_PARAM_BOOL,                                                     \
                   .offset = WF_SIMULATE_MEMBER(dry_run),                                     \
                   .doc = "Check everything, print the scenario as understood, do not run"}}, \
        {.param = {.name = "progress",                                                        \
                   .type = WF_PARAM_ENUM,                                                     \
                   .offset = WF_SIMULATE_MEMBER(progress),                                    \
                   .def = "auto",                                                             \
                   .choices = wf_progress_modes,                                              \
                   .doc = "Show a progress line; auto is on a terminal only"}},               \
        {.param = {.name = "quiet",                                                           \
                   .type = WF_PARAM_BOOL,                                                     \
                   .offset = WF_SIMULATE_MEMBER(quiet),                                       \
                   .doc = "No progress line"},                                                \
         .letter = 'q'},                                                                      \
        {.param = {.name = "verbose",                                                         \
                   .type = WF_PARAM_BOOL,                                                     \
                   .offset = WF_SIMULATE_MEMBER(verbose),                                     \
                   .doc = "Report everything, with all parameters in force"},                 \
         .letter = 'v'},                                                                      \
        WF_OPT_HELP(struct wf_simulate_opts), WF_OPT_END

#define WF_SIMULATE_OUTPUT_DOC                                                          \
    "Write the result to a file instead, in the format of its name: .json, .txt, .csv " \
    "(links), .html (a report to look at), .pftrace, .prv, .otf2 or .timeline.csv"

/* --record and its limits. */
#define WF_SIMULATE_ROWS_RECORDING                                                            \
    {.param = {.name = "record",                                                              \
               .type = WF_PARAM_BOOL,                                                         \
               .offset = WF_SIMULATE_MEMBER(record),                                          \
               .doc = "Add a timeline of the ranks and a matrix of their messages to the "    \
                      "result; -o files that show a timeline have them anyway"}},             \
        {.param = {.name = "record-limit",                                                    \
                   .type = WF_PARAM_COUNT,                                                    \
                   .offset = WF_SIMULATE_MEMBER(record_limit),                                \
                   .def = "100000",                                                           \
                   .max = "50000000",                                                         \
                   .doc = "Keep individual spans and messages of a recording up to this "     \
                          "number; beyond it, keep sums only"}},                              \
        {.param = {.name = "record-ranks",                                                    \
                   .type = WF_PARAM_TEXT,                                                     \
                   .offset = WF_SIMULATE_MEMBER(record_ranks),                                \
                   .doc = "Keep individual spans of these ranks, and messages between them, " \
                          "only; for large runs"},                                            \
         .arg = "<first:last,...>"},                                                          \
        {.param = {.name = "record-time",                                                     \
                   .type = WF_PARAM_TEXT,                                                     \
                   .offset = WF_SIMULATE_MEMBER(record_time),                                 \
                   .doc = "Keep individual spans and messages of this time only, as in "      \
                          "1ms:2ms"},                                                         \
         .arg = "<from:until>"},                                                              \
    {                                                                                         \
        .param = {                                                                            \
            .name = "path-memory",                                                            \
            .type = WF_PARAM_SIZE,                                                            \
            .offset = WF_SIMULATE_MEMBER(path_memory),                                        \
            .def = "64MiB",                                                                   \
            .max = "64GiB",                                                                   \
            .doc = "Memory of each thread for finding the critical path of a recording; 0 "   \
                   "finds none"                                                               \
        }                                                                                     \
    }

/* Adds the settings of the machine to the scenario, then those of the options that were given,
 * then the further jobs, then -p. */
WF_NODISCARD
enum wf_status wf_simulate_apply(const struct wf_simulate_opts *opts,
                                 const struct wf_operands *operands,
                                 struct wf_scenario *scenario, struct wf_err *err);

/* Runs the scenario, prints the result or writes it to the file that is asked for. */
WF_NODISCARD
enum wf_status wf_simulate_scenario(struct wf_cli *cli, const struct wf_simulate_opts *opts,
                                    const struct wf_scenario *scenario, struct wf_err *err);

/* Both, for a scenario that `prepare` begins. */
WF_NODISCARD
enum wf_status wf_simulate(
    struct wf_cli *cli, const struct wf_simulate_opts *opts, const struct wf_operands *operands,
    enum wf_status (*prepare)(const struct wf_cli *cli, const struct wf_simulate_opts *opts,
                              const struct wf_operands *operands, struct wf_scenario *scenario,
                              struct wf_err *err),
    struct wf_err *err);

#endif
