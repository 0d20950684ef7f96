/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the trace of a machine that nobody has: the program runs as on a network that costs
 * nothing. */
#include "cli/run_options.h"
#include "sim/scenario.h"
#include "sim/trace_out.h"

#include <string.h>
#include <sys/stat.h>

static const struct wf_shortcut shortcuts[] = {
    {"ranks", 'n', "ranks", NULL},      {"stack", 0, "run.stack", NULL},
    {"labels", 0, "run.labels", NULL},  {"no-payload", 0, "run.no_payload", NULL},
    {"sched", 0, "engine.sched", NULL}, {"threads", 0, "engine.threads", NULL},
};

static const struct wf_opt parts_row = {
    .param = {.name = "parts",
              .type = WF_PARAM_COUNT,
              .offset = offsetof(struct wf_simulate_opts, parts),
              .min = "1",
              .max = "256",
              .doc = "Make a directory of so many files instead of one .weft file"},
};

/* The rows that all have, but for what the output is. */
static void make_table(struct wf_simulate_table *table)
{
    wf_simulate_table_init(table);
    wf_simulate_table_add_row(table, &wf_run_compute_row);
    wf_simulate_table_add_row(table, &parts_row);
    for (size_t i = 0; i < sizeof(shortcuts) / sizeof(shortcuts[0]); i++) {
        wf_simulate_table_add(table, &shortcuts[i]);
    }
    wf_simulate_table_end(table);
    for (size_t i = 0; i < table->n; i++) {
        struct wf_opt *row = &table->rows[i];
        if (strcmp(row->param.name, "output") == 0) {
            row->param.doc = "The trace to write, of the format that its name says, as 'weft "
                             "convert' does; without an ending it is a .weft";
            row->arg = "<trace>";
        }
    }
}

static void print_help(const struct wf_simulate_table *table, FILE *out)
{
    const struct wf_opt_help help = {
        .synopsis = "weft emulate -n <ranks> -o <trace> [options] -- <program> [arguments]",
        .summary = "Write the trace of an MPI program that was built with weftcc, as many "
                   "virtual ranks without a network: the trace of a machine you do not have",
        .examples =
            {
                {"weft emulate -n 4096 -o app.weft -- ./app",
                 "The trace of 4096 ranks, for 'weft replay' on any network"},
                {"weft emulate -n 64 --compute none -o app.csv -- ./app",
                 "Only what is communicated, as a table"},
            },
        .table = table->rows,
    };

    wf_opt_print_help(&help, out);
}

/* A trace without an ending may well have the name of the program. */
static bool is_same_file(const char *one, const char *other)
{
    struct stat a, b;

    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static enum wf_status check_output(const struct wf_simulate_opts *opts, const char *program,
                                   struct wf_err *err)
{
    const struct wf_trace_writer_ops *format;

    if (opts->output == NULL) {
        return wf_err_set(err, WF_EUSAGE,
                          "emulate: no output; -o gives its name, as in -o app.weft");
    }
    if (is_same_file(opts->output, program)) {
        return wf_err_set(err, WF_EUSAGE, "emulate: '%.200s' is the program itself",
                          opts->output);
    }
    return wf_trace_out_format(opts->output, &format, err);
}

static enum wf_status set_network(struct wf_scenario *scenario, struct wf_err *err)
{
    enum wf_status status = wf_scenario_set(scenario, "network", "none", NULL, err);

    return status == WF_OK ? wf_scenario_set(scenario, "mpi.local", "no", NULL, err) : status;
}

static enum wf_status emulate(struct wf_cli *cli, const struct wf_simulate_table *table,
                              const struct wf_simulate_opts *opts,
                              const struct wf_operands *operands, struct wf_err *err)
{
    struct wf_scenario *scenario = wf_scenario_new();
    struct wf_simulate_opts own = *opts;

    own.trace = opts->output;
    own.output = NULL;
    own.silent = !opts->dry_run;
    enum wf_status status = wf_run_set_program("emulate", operands, scenario, err);
    if (status == WF_OK) {
        status = check_output(opts, operands->args.items[0], err);
    }
    if (status == WF_OK) {
        status = set_network(scenario, err);
    }
    if (status == WF_OK) {
        status = wf_run_set_compute(opts->compute, scenario, err);
    }
    if (status == WF_OK) {
        status = wf_simulate_apply(table, opts, operands->given, scenario, err);
    }
    if (status == WF_OK) {
        status = wf_simulate(cli, &own, scenario, err);
    }
    wf_scenario_free(scenario);
    return status;
}

static const struct wf_simulate_verb verb = {make_table, print_help, emulate};

static enum wf_status emulate_run(struct wf_cli *cli, int argc, char **argv, struct wf_err *err)
{
    return wf_simulate_verb_run(&verb, cli, argc, argv, err);
}

static void emulate_help(FILE *out)
{
    wf_simulate_verb_help(&verb, out);
}

const struct wf_verb wf_verb_emulate = {
    .name = "emulate",
    .summary = "Write the trace of an MPI program on a machine you do not have",
    .run = emulate_run,
    .help = emulate_help,
};
