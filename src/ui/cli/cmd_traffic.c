/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "run/execute/world.h"
#include "run/scenario/scenario.h"
#include "ui/cli/simulate.h"
#include "ui/draw/plot.h"
#include "ui/report/output.h"
#include "ui/study/curve.h"

#include <stdio.h>
#include <stdlib.h>

#define NETWORK "router" /* the default */

static const struct wf_opt rows[] = {
    WF_OPT_ROW(struct wf_simulate_opts, load, TEXT, "load", 0, "<load>",
               .doc = "Offered load in phits per node and cycle, or a sweep of several: 0.3, "
                      "0.1,0.2 or first:last:step"),
    {.param = {.name = "vary",
               .offset = WF_SIMULATE_MEMBER(vary),
               .doc =
                   "A curve for each value of a setting, as in "
                   "net.routing=minimal,valiant; or of `topology`, between ';', or `machine`"},
     .kind = WF_OPT_LIST,
     .arg = "<key=values>"},
    WF_OPT_ROW(struct wf_simulate_opts, csv, TEXT, "csv", 0, "<file>",
               .doc = "Write the curve of a sweep as a table for spreadsheets"),
    WF_OPT_FILE_ROW(struct wf_simulate_opts, plot, "plot", 0, "<file>", wf_draw_plot_extension,
                    "Draw the curve of a sweep, in the format of the name:"),
    WF_OPT_ROW(struct wf_simulate_opts, side_by_side, COUNT, "jobs", 0, NULL, .def = "0",
               .max = "1024",
               .doc = "Loads of a sweep that are simulated in parallel; 0: one per core"),
    WF_OPT_ROW(struct wf_simulate_opts, machine, TEXT, "machine", 0, "<name|file>",
               .doc = "Topology and network of a machine; other options and -p override it"),
    WF_OPT_SETTING("topo", 0, "topology", "<spec>"),
    {.param = {.name = "net", .def = NETWORK}, .arg = "<model>", .key = "network"},
    WF_OPT_SETTING("cycles", 0, "traffic.cycles", NULL),
    WF_OPT_SETTING("exec", 0, "engine.exec", NULL),
    WF_OPT_SETTING("sched", 0, "engine.sched", NULL),
    WF_OPT_SETTING("threads", 0, "engine.threads", NULL),
    WF_OPT_SETTING("seed", 0, "seed", NULL),
    WF_SIMULATE_ROWS(
        "Write the result to a file instead, in the format of its name, pictures of "
        "curves only:",
        "<file>", wf_curve_extension),
};

static enum wf_status set_source(const struct wf_operands *operands,
                                 struct wf_scenario *scenario, struct wf_err *err)
{
    char source[80];

    (void)snprintf(source, sizeof(source), "traffic:%.64s", operands->args.items[0]);
    WF_TRY(wf_scenario_set(scenario, "source", source, NULL, err));
    return wf_scenario_set(scenario, "network", NETWORK, NULL, err);
}

/* A file to which a curve is written; path is null if it is not wanted. */
struct curve_file {
    const char *path, *format; /* a name that ends as files of that format do */
};

enum { FILE_OUTPUT, FILE_CSV, FILE_PLOT, FILES };

/* Whether the user wants a curve. A single load is an ordinary run, unless something varies or its file
 * has a format that only curves have. Finds the files. */
static enum wf_status find_files(const struct wf_simulate_opts *opts, size_t n_loads,
                                 struct curve_file files[FILES], bool *is_sweep,
                                 struct wf_err *err)
{
    size_t format;

    files[FILE_OUTPUT] = (struct curve_file){opts->output, opts->output};
    files[FILE_CSV] = (struct curve_file){opts->csv, "curve.csv"};
    files[FILE_PLOT] = (struct curve_file){opts->plot, opts->plot};
    *is_sweep = n_loads > 1 || opts->vary.n > 0 ||
                (n_loads == 1 && (opts->csv != NULL || opts->plot != NULL));
    if (opts->plot != NULL) {
        WF_TRY(wf_extension_find(wf_draw_plot_extension, "plot", opts->plot, &format, err));
    }
    if (opts->output != NULL && n_loads > 0) {
        WF_TRY(wf_extension_find(wf_curve_extension, "curve", opts->output, &format, err));
        *is_sweep = *is_sweep || (n_loads == 1 && wf_curve_is_only(opts->output));
    }
    return WF_OK;
}

/* A curve needs loads, and a closed loop has none. */
static enum wf_status check_loads(const struct wf_simulate_opts *opts,
                                  const struct wf_scenario *scenario, size_t n_loads,
                                  struct wf_err *err)
{
    const struct wf_setting *rounds = wf_scenario_find(scenario, "traffic.rounds");

    if (n_loads > 0 && rounds != NULL && strtod(rounds->value, NULL) > 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "--load and traffic.rounds exclude each other: nodes of a closed "
                          "loop wait for their messages instead of offering a load");
    }
    if (n_loads == 0 && (opts->csv != NULL || opts->plot != NULL || opts->vary.n > 0)) {
        return wf_err_set(err, WF_EUSAGE, "%s needs the loads of a curve: --load 0.05:0.9:0.05",
                          opts->csv != NULL    ? "--csv"
                          : opts->plot != NULL ? "--plot"
                                               : "--vary");
    }
    return WF_OK;
}

/* Reports mistakes early that a sweep would report only at its end. */
static enum wf_status check_sweep(const struct wf_cli *cli, const struct wf_simulate_opts *opts,
                                  const struct curve_file files[FILES], struct wf_err *err)
{
    enum wf_status status = WF_OK;

    if (opts->dry_run) {
        return wf_err_set(err, WF_EUSAGE, "--dry-run does not work with a sweep; use one load");
    }
    if (wf_world_size(cli->world) > 1) {
        return wf_err_set(err, WF_EUSAGE,
                          "a sweep runs in one process, with its loads in parallel; start weft "
                          "without mpirun");
    }
    for (int i = 0; status == WF_OK && i < FILES; i++) {
        if (files[i].path != NULL) {
            status = wf_output_check(files[i].path, opts->force, err);
        }
    }
    return status;
}

/* Writes the curve to its files, and to the terminal unless a file replaces that. */
static enum wf_status deliver(struct wf_cli *cli, const struct wf_simulate_opts *opts,
                              const struct curve_file files[FILES],
                              const struct wf_curve *curve, struct wf_err *err)
{
    for (int i = 0; i < FILES; i++) {
        if (files[i].path != NULL) {
            WF_TRY(wf_curve_save(curve, files[i].path, files[i].format, opts->force, err));
        }
    }
    if (opts->output == NULL) {
        (opts->json ? wf_curve_json : wf_curve_text)(curve, cli->out);
        cli->answered = true;
    }
    return WF_OK;
}

/* The loads of a sweep. */
struct loads {
    double values[WF_CURVE_LOADS_MAX];
    size_t n;
};

static char *make_title(const struct wf_scenario *scenario, const struct wf_study *study)
{
    enum { TITLE = 256 };
    const struct wf_setting *topo = wf_scenario_find(scenario, "topology");
    char *title = wf_xmalloc(TITLE);
    bool varies = wf_study_text(study, 0, "topology") != NULL ||
                  wf_study_text(study, 0, "machine") != NULL;

    (void)snprintf(title, TITLE, "%.80s%s%.120s", wf_scenario_find(scenario, "source")->value,
                   topo != NULL && !varies ? " on " : "",
                   topo != NULL && !varies ? topo->value : "");
    return title;
}

/* What is drawn of the curves. */
static void set_plot(const struct wf_scenario *scenario, struct wf_study *study)
{
    study->title = make_title(scenario, study);
    study->plot_x = wf_xstrdup("traffic.load");
    study->plot_y[0] = wf_xstrdup("latency_cycles.mean");
    study->plot_y[1] = wf_xstrdup("accepted_load");
}

static enum wf_status sweep(struct wf_cli *cli, const struct wf_simulate_opts *opts,
                            const struct curve_file files[FILES],
                            const struct wf_scenario *scenario, const struct loads *loads,
                            struct wf_err *err)
{
    struct wf_study_axes axes = {.n = 0};
    struct wf_curve curve = {.n = 0};
    struct wf_progress_line line;
    enum wf_status status = WF_OK;

    for (size_t i = 0; i < opts->vary.n && status == WF_OK; i++) {
        status = wf_study_axes_add(&axes, opts->vary.items[i], err);
    }
    wf_progress_init(&line,
                     opts->quiet ? WF_PROGRESS_NEVER : (enum wf_progress_mode)opts->progress,
                     cli->err);
    const struct wf_points_host host = wf_progress_points(&line, "loads", opts->side_by_side);
    if (status == WF_OK) {
        status = wf_curve_run(scenario, &axes, (struct wf_curve_loads){loads->values, loads->n},
                              &host, &curve, err);
    }
    wf_progress_erase(&line);
    if (status == WF_OK || (status == WF_EINTR && curve.n > 0)) {
        struct wf_err write_err;
        set_plot(scenario, curve.study);
        enum wf_status written = deliver(cli, opts, files, &curve, &write_err);
        if (written != WF_OK) {
            status = written;
            *err = write_err;
        }
    }
    wf_curve_fini(&curve);
    wf_study_axes_free(&axes);
    return status;
}

static enum wf_status run_loads(struct wf_cli *cli, const struct wf_simulate_opts *opts,
                                struct wf_scenario *scenario, struct wf_err *err)
{
    struct loads loads = {.n = 0};
    struct curve_file files[FILES];
    bool is_sweep = false;

    if (opts->load != NULL) {
        WF_TRY(wf_curve_loads(opts->load, loads.values, &loads.n, err));
    }
    WF_TRY(check_loads(opts, scenario, loads.n, err));
    WF_TRY(find_files(opts, loads.n, files, &is_sweep, err));
    if (is_sweep) {
        WF_TRY(check_sweep(cli, opts, files, err));
        return sweep(cli, opts, files, scenario, &loads, err);
    }
    if (loads.n == 1) {
        WF_TRY(wf_scenario_set(scenario, "traffic.load", opts->load, "--load", err));
    }
    return wf_simulate_scenario(cli, opts, scenario, err);
}

static enum wf_status traffic_run(struct wf_cli *cli, const void *opts,
                                  const struct wf_operands *operands, struct wf_err *err)
{
    struct wf_scenario *scenario = wf_scenario_new();

    enum wf_status status = set_source(operands, scenario, err);
    WF_THEN(status, wf_simulate_apply(opts, operands, scenario, err));
    WF_THEN(status, run_loads(cli, opts, scenario, err));
    wf_scenario_free(scenario);
    return status;
}

const struct wf_verb wf_verb_traffic = {
    .name = "traffic",
    .summary = "Load a network with synthetic traffic",
    .help =
        {.synopsis = "weft traffic <pattern> --topo <spec> [options]",
         .summary = "Load a network with synthetic traffic: latency and accepted load",
         .examples =
             {
                 {"weft traffic uniform --topo torus:8x8 --load 0.3", "One load"},
                 {"weft traffic transpose --topo torus:8x8 --load 0.05:0.9:0.05 -o curve.png",
                  "A curve as a picture; .svg, .pdf, .csv and .json work too"},
                 {"weft traffic uniform --topo star:9 --load 0.3 --vary net.vcs=1,2 -o vcs.pdf",
                  "A curve for each number of virtual channels, in one picture"},
                 {"weft traffic uniform --topo star:8 -p traffic.rounds=4 -p traffic.burst=8",
                  "A closed loop: everybody waits for what it has sent"},
                 {"weft traffic uniform --machine frontier --load 0.2 --cycles 999 -o net.html",
                  "The network of a machine, as a page for a browser"},
             },
         .table = rows},
    .opts_size = sizeof(struct wf_simulate_opts),
    .operand = "a pattern",
    .min_operands = 1,
    .max_operands = 1,
    .run = traffic_run,
};
