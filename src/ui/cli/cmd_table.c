/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "base/clock.h"
#include "base/mem.h"
#include "run/execute/world.h"
#include "run/scenario/scenario.h"
#include "ui/cli/simulate.h"
#include "ui/draw/plot.h"
#include "ui/report/output.h"
#include "ui/study/study.h"

#include <stdlib.h>
#include <string.h>

struct table_opts {
    bool quiet, json, force;
    const char *output, *plot, *sort;
    struct wf_opt_list machines, vary, prices, params;
    uint64_t side_by_side;
};

static const char *const endings[] = {".txt", ".csv", ".json", ".html"};

enum { ENDINGS = sizeof(endings) / sizeof(endings[0]) };

static const char *extension(size_t i)
{
    return i < ENDINGS ? endings[i] : NULL;
}

#define LIST_ROW(member, name_, letter_, arg_, kind_, doc_)      \
    {                                                            \
        .param = {.name = (name_),                               \
                  .offset = offsetof(struct table_opts, member), \
                  .doc = (doc_)},                                \
        .kind = (kind_), .letter = (letter_), .arg = (arg_)      \
    }

static const struct wf_opt rows[] = {
    LIST_ROW(machines, "machine", 0, "<name|file,...>", WF_OPT_LIST,
             "Machines to simulate the programs on, between commas or several times"),
    WF_OPT_SETTING("ranks", 'n', "ranks", NULL),
    WF_OPT_SETTING("ranks-per-node", 0, "ranks_per_node", NULL),
    WF_OPT_SETTING("runs", 0, "runs", NULL),
    LIST_ROW(vary, "vary", 0, "<key=values>", WF_OPT_LIST,
             "A row for each value of a setting too, as in ranks=64,128"),
    LIST_ROW(prices, "price", 0, "<machine=price>", WF_OPT_LIST,
             "What a node of a machine costs for an hour, for the cost of each run; without "
             "<machine>=, of all"),
    LIST_ROW(params, "param", 'p', NULL, WF_OPT_PAIRS,
             "Set a parameter; 'weft help' lists all"),
    WF_OPT_ROW(struct table_opts, sort, TEXT, "sort", 0, "<result>", .def = "time",
               .doc = "Order of the rows: time, energy, cost, another result or a setting; the "
                      "greatest first after -, as in --sort=-MFU"),
    WF_OPT_FILE_ROW(struct table_opts, output, "output", 'o', "<file>", extension,
                    "Write the table to a file instead; .html is a page with plots:"),
    WF_OPT_FILE_ROW(struct table_opts, plot, "plot", 0, "<file>", wf_draw_plot_extension,
                    "Draw the times, in the format of the name:"),
    WF_OPT_FORCE(struct table_opts),
    WF_OPT_ROW(struct table_opts, side_by_side, COUNT, "jobs", 'j', NULL, .def = "0",
               .max = "1024", .doc = "Runs in parallel; 0: one per core"),
    WF_OPT_ROW(struct table_opts, json, BOOL, "json", 0, NULL,
               .doc = "Print the table as JSON"),
    WF_OPT_ROW(struct table_opts, quiet, BOOL, "quiet", 'q', NULL, .doc = "No progress line"),
    WF_OPT_END,
};

/* ---- what to simulate ---- */

/* An axis of all values; machines may stand between commas. */
static void add_axis(struct wf_study_axes *axes, const char *key,
                     const struct wf_opt_list *values, const char *separators)
{
    struct wf_study_axis axis = {.key = wf_xstrdup(key)};
    size_t capacity = 0;

    for (size_t i = 0; i < values->n; i++) {
        char *copy = wf_xstrdup(values->items[i]), *rest = copy, *value;
        while ((value = strsep(&rest, separators)) != NULL) {
            WF_PUSH(axis.texts, axis.n, capacity, wf_xstrdup(value));
        }
        free(copy);
    }
    wf_study_axes_push(axes, axis);
}

/* A price of all machines is a setting; that of one follows the machine. */
static enum wf_status set_price(const char *text, struct wf_scenario *scenario,
                                struct wf_study *study, struct wf_err *err)
{
    static const char key[] = "price.node_hour";
    const char *equals = strrchr(text, '=');

    if (equals == NULL) {
        return wf_scenario_set(scenario, key, text, "--price", err);
    }
    char *machine = wf_xstrdup(text);
    machine[equals - text] = '\0';
    bool found = wf_study_follow(study, key, equals + 1, "machine", machine);
    free(machine);
    return found ? WF_OK
                 : wf_err_set(err, WF_EUSAGE,
                              "--price '%.64s': the table has no such machine; --machine "
                              "names them",
                              text);
}

static enum wf_status plan(const struct table_opts *opts, const struct wf_operands *operands,
                           struct wf_study_axes *axes, struct wf_scenario *scenario,
                           struct wf_study **study, struct wf_err *err)
{
    const struct wf_simulate_opts settings = {.params = opts->params};

    WF_TRY(wf_simulate_apply(&settings, operands, scenario, err));
    add_axis(axes, "source", &operands->args, "");
    if (opts->machines.n > 0) {
        add_axis(axes, "machine", &opts->machines, ",");
    }
    for (size_t i = 0; i < opts->vary.n; i++) {
        WF_TRY(wf_study_axes_add(axes, opts->vary.items[i], err));
    }
    WF_TRY(wf_study_grid(scenario, axes, study, err));
    for (size_t i = 0; i < opts->prices.n; i++) {
        WF_TRY(set_price(opts->prices.items[i], scenario, *study, err));
    }
    return WF_OK;
}

/* The programs, for plots and pages. */
static char *make_title(const struct wf_operands *operands)
{
    enum { TITLE = 160 };
    char *title = wf_xcalloc(1, TITLE);

    for (size_t i = 0; i < operands->args.n; i++) {
        size_t used = strlen(title);
        (void)snprintf(title + used, TITLE - used, "%s%s", i > 0 ? ", " : "",
                       operands->args.items[i]);
    }
    return title;
}

static enum wf_status simulate(const struct wf_cli *cli, const struct table_opts *opts,
                               struct wf_study *study, struct wf_err *err)
{
    struct wf_progress_line line;

    wf_progress_init(&line, opts->quiet ? WF_PROGRESS_NEVER : WF_PROGRESS_AUTO, cli->err);
    const struct wf_study_run how = {
        .what = "runs",
        .memory = wf_clock_memory() / 4 * 3,
        .host = wf_progress_points(&line, "runs", opts->side_by_side),
    };
    enum wf_status status = wf_study_run(study, &how, err);
    wf_progress_erase(&line);
    return status;
}

/* ---- results ---- */

static enum wf_status check_options(const struct wf_cli *cli, const struct table_opts *opts,
                                    bool is_run, struct wf_err *err)
{
    size_t format;

    if (!is_run && (opts->params.n > 0 || opts->prices.n > 0)) {
        return wf_err_set(err, WF_EUSAGE,
                          "table: without --machine or --vary the arguments are results, whose "
                          "settings and prices are those of their runs");
    }
    if (wf_world_size(cli->world) > 1) {
        return wf_err_set(err, WF_EUSAGE,
                          "a table runs in one process; start weft without "
                          "mpirun");
    }
    if (opts->output != NULL) {
        WF_TRY(wf_extension_find(extension, "table", opts->output, &format, err));
        WF_TRY(wf_output_check(opts->output, opts->force, err));
    }
    if (opts->plot != NULL) {
        WF_TRY(wf_extension_find(wf_draw_plot_extension, "plot", opts->plot, &format, err));
        WF_TRY(wf_output_check(opts->plot, opts->force, err));
    }
    return WF_OK;
}

static enum wf_status deliver(struct wf_cli *cli, const struct table_opts *opts,
                              struct wf_study *study, struct wf_err *err)
{
    static void (*const writers[ENDINGS])(const struct wf_study *study, FILE *out) = {
        wf_study_ranking, wf_study_csv, wf_study_json, wf_study_html};
    struct wf_output *output = NULL;
    size_t format = 0;

    WF_TRY(wf_study_sort(study, opts->sort, err));
    if (opts->output != NULL) {
        WF_TRY(wf_extension_find(extension, "table", opts->output, &format, err));
        WF_TRY(wf_output_open(opts->output, opts->force, &output, err));
        writers[format](study, wf_output_stream(output));
        WF_TRY(wf_output_commit(output, err));
    } else {
        (opts->json ? wf_study_json : wf_study_ranking)(study, cli->out);
        cli->answered = true;
    }
    return opts->plot != NULL ? wf_study_plot_file(study, opts->plot, opts->force, err) : WF_OK;
}

static enum wf_status table_run(struct wf_cli *cli, const void *opts_arg,
                                const struct wf_operands *operands, struct wf_err *err)
{
    const struct table_opts *opts = opts_arg;
    bool is_run = opts->machines.n > 0 || opts->vary.n > 0;
    struct wf_scenario *scenario = wf_scenario_new();
    struct wf_study_axes axes = {.n = 0};
    struct wf_study *study = NULL;
    size_t n_other = 0;

    enum wf_status status = check_options(cli, opts, is_run, err);
    WF_THEN(status, is_run ? plan(opts, operands, &axes, scenario, &study, err)
                           : wf_study_results(operands->args.items, operands->args.n, &study,
                                              &n_other, err));
    if (status == WF_EIO && !is_run && strncmp(operands->args.items[0], "gen:", 4) == 0) {
        status =
            wf_err_set(err, WF_EUSAGE,
                       "table: '%.64s' is a program; --machine or --vary is missing, as in "
                       "--machine frontier,fugaku",
                       operands->args.items[0]);
    }
    if (status == WF_OK && is_run) {
        status = simulate(cli, opts, study, err);
    }
    if (n_other > 0 && !opts->quiet) {
        (void)fprintf(cli->err, "weft: note: %zu other %s in these folders\n", n_other,
                      n_other == 1 ? "file is" : "files are");
    }
    if (study != NULL) {
        study->title = make_title(operands);
        study->plot_x =
            opts->machines.n > 0 && opts->vary.n == 0 ? wf_xstrdup("machine") : NULL;
    }
    bool any = false;
    for (size_t i = 0; study != NULL && i < study->n_points; i++) {
        any = any || study->points[i].doc != NULL;
    }
    if (any) {
        struct wf_err write_err;
        enum wf_status written = deliver(cli, opts, study, &write_err);
        if (written != WF_OK && status == WF_OK) {
            status = written;
            *err = write_err;
        }
    }
    wf_study_free(study);
    wf_study_axes_free(&axes);
    wf_scenario_free(scenario);
    return status;
}

const struct wf_verb wf_verb_table = {
    .name = "table",
    .summary = "Compare programs on machines, or results in folders: time, energy, cost",
    .help =
        {.synopsis = "weft table (<program>... --machine <name,...> | <result|folder>...)",
         .summary =
             "Programs on machines as a table, the fastest first: nodes, time, energy of "
             "the nodes used and cost. Without --machine and --vary, a table of results "
             "that are there: documents, or all in a folder",
         .examples =
             {
                 {"weft table gen:stencil2d -n 64 --machine frontier,fugaku,xc",
                  "The fastest of three machines for a program"},
                 {"weft table gen:fft -n 64 --machine gige,xc --price gige=0.05 --price xc=1",
                  "With what a run costs; --sort cost puts the cheapest first"},
                 {"weft table gen:coll --machine xc --vary ranks=16,32 --plot ranks.svg",
                  "How the time grows with the ranks"},
                 {"weft table . -o results.html",
                  "One page over a folder of results, to sort and to plot"},
                 {"weft table slow.json fast.json", "Results side by side"},
             },
         .table = rows},
    .opts_size = sizeof(struct table_opts),
    .operand = "a program, or a result",
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .run = table_run,
};
