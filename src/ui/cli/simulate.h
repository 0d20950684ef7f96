/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Shared by the verbs that simulate: options, the run and the output of the result. */

#include "ui/cli/cli.h"
#include "ui/cli/opt.h"
#include "ui/cli/progress.h"
#include "ui/report/writer.h"

struct wf_scenario;

/* The options of all these verbs. Each verb has rows for some of them. */
struct wf_simulate_opts {
    bool json, quiet, verbose, force, dry_run;
    int progress; /* enum wf_progress_mode */
    const char *output;
    const char *machine;
    struct wf_opt_list params;
    /* run and emulate */
    const char *compute;
    const char *trace; /* the trace to write */
    uint64_t parts;    /* number of files of that trace; 0: one file */
    bool libraries;    /* print those of the program instead of running it */
    bool silent;       /* print no result unless the user asks for it */
    /* replay */
    struct wf_opt_list jobs; /* other programs */
    bool what_if;
    bool live, no_live; /* whether an HTML report simulates; neither: if it is cheap */
    /* replay and run: options of the recording */
    bool record, record_calls;
    uint64_t record_limit;
    const char *record_ranks, *record_time;
    uint64_t path_memory;
    /* traffic */
    const char *load, *csv, *plot;
    struct wf_opt_list vary;
    uint64_t side_by_side;
};

#define WF_SIMULATE_MEMBER(name) offsetof(struct wf_simulate_opts, name)

#define WF_SIMULATE_ROW(member, kind, ...) \
    WF_OPT_ROW(struct wf_simulate_opts, member, kind, __VA_ARGS__)

#define WF_SIMULATE_ROW_MACHINE                                                        \
    WF_SIMULATE_ROW(                                                                   \
        machine, TEXT, "machine", 0, "<name|file>",                                    \
        .doc = "Topology, network and processors of a machine: a name of 'weft "       \
               "machine list', a .yaml file, or a .conf file of CODES; other options " \
               "and -p override it")

#define WF_SIMULATE_ROW_WHAT_IF                                                             \
    WF_SIMULATE_ROW(what_if, BOOL, "what-if", 0, NULL,                                      \
                    .doc = "Simulate again with half the latency, twice the bandwidth and " \
                           "processors twice as fast, and report what each saves; .html "   \
                           "reports of short runs have that anyway")

#define WF_SIMULATE_ROWS_LIVE                                                                 \
    WF_SIMULATE_ROW(live, BOOL, "live", 0, NULL,                                              \
                    .doc =                                                                    \
                        "Put the simulator into the .html report, so that its reader can "    \
                        "change the machine; reports of generators and of traces below 2 MB " \
                        "have it anyway"),                                                    \
        WF_SIMULATE_ROW(no_live, BOOL, "no-live", 0, NULL,                                    \
                        .doc = "Leave the simulator out of the .html report")

/* The rows that all these verbs have, and the end of the table. The arguments describe -o. */
#define WF_SIMULATE_ROWS(output_doc, output_arg, output_formats)                             \
    {.param = {.name = "param",                                                              \
               .offset = WF_SIMULATE_MEMBER(params),                                         \
               .doc = "Set a parameter; 'weft help' lists all"},                             \
     .kind = WF_OPT_PAIRS,                                                                   \
     .letter = 'p'},                                                                         \
        WF_SIMULATE_ROW(json, BOOL, "json", 0, NULL,                                         \
                        .doc = "Print the result as one JSON document; with -o file.json, "  \
                               "write only that"),                                           \
        WF_OPT_FILE_ROW(struct wf_simulate_opts, output, "output", 'o', (output_arg),        \
                        (output_formats), (output_doc)),                                     \
        WF_OPT_FORCE(struct wf_simulate_opts),                                               \
        WF_SIMULATE_ROW(dry_run, BOOL, "dry-run", 0, NULL,                                   \
                        .doc = "Check everything, print the scenario as understood, do not " \
                               "run"),                                                       \
        WF_SIMULATE_ROW(progress, ENUM, "progress", 0, NULL, .def = "auto",                  \
                        .choices = wf_progress_modes,                                        \
                        .doc = "Show a progress line; auto is on a terminal only"),          \
        WF_SIMULATE_ROW(quiet, BOOL, "quiet", 'q', NULL, .doc = "No progress line"),         \
        WF_SIMULATE_ROW(verbose, BOOL, "verbose", 'v', NULL,                                 \
                        .doc = "Report everything, with all parameters in force"),           \
        WF_OPT_END

#define WF_SIMULATE_OUTPUT_DOC                                                           \
    "Write the result to a file instead, in the format of its name, which 'weft report " \
    "--help' explains:"

/* --record and its limits. */
#define WF_SIMULATE_ROWS_RECORDING                                                            \
    WF_SIMULATE_ROW(record, BOOL, "record", 0, NULL,                                          \
                    .doc = "Add a timeline of the ranks and a matrix of their messages to "   \
                           "the result; -o files that show a timeline have them anyway"),     \
        WF_SIMULATE_ROW(record_calls, BOOL, "record-calls", 0, NULL,                          \
                        .doc = "Record the calls and regions too, with peer, tag, "           \
                               "communicator and bytes; reports and timelines always do"),    \
        WF_SIMULATE_ROW(record_limit, COUNT, "record-limit", 0, NULL, .def = "100000",        \
                        .max = "50000000",                                                    \
                        .doc = "Keep individual spans and messages of a recording up to "     \
                               "this number; beyond it, keep sums only"),                     \
        WF_SIMULATE_ROW(record_ranks, TEXT, "record-ranks", 0, "<first:last,...>",            \
                        .doc = "Keep individual spans of these ranks, and messages between "  \
                               "them, only; for large runs"),                                 \
        WF_SIMULATE_ROW(record_time, TEXT, "record-time", 0, "<from:until>",                  \
                        .doc = "Keep individual spans and messages of this time only, as in " \
                               "1ms:2ms"),                                                    \
        WF_SIMULATE_ROW(path_memory, SIZE, "path-memory", 0, NULL, .def = "64MiB",            \
                        .max = "64GiB",                                                       \
                        .doc = "Memory of each thread for finding the critical path of a "    \
                               "recording; 0 finds none")

/* Adds settings to the scenario: first those of the machine, then those of the given options,
 * then the further jobs, then -p. */
enum wf_status wf_simulate_apply(const struct wf_simulate_opts *opts,
                                 const struct wf_operands *operands,
                                 struct wf_scenario *scenario, struct wf_err *err);

/* Runs the scenario, then prints the result or writes it to the output file. */
enum wf_status wf_simulate_scenario(struct wf_cli *cli, const struct wf_simulate_opts *opts,
                                    const struct wf_scenario *scenario, struct wf_err *err);

/* Both of the above, for a scenario that `prepare` begins. */
enum wf_status wf_simulate(
    struct wf_cli *cli, const struct wf_simulate_opts *opts, const struct wf_operands *operands,
    enum wf_status (*prepare)(const struct wf_cli *cli, const struct wf_simulate_opts *opts,
                              const struct wf_operands *operands, struct wf_scenario *scenario,
                              struct wf_err *err),
    struct wf_err *err);
