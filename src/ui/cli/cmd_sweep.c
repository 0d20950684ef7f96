/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/mem.h"
#include "run/execute/world.h"
#include "ui/cli/cli.h"
#include "ui/cli/interrupt.h"
#include "ui/cli/opt.h"
#include "ui/cli/progress.h"
#include "ui/draw/plot.h"
#include "ui/report/output.h"
#include "ui/study/study.h"

#include <stdlib.h>
#include <string.h>

struct sweep_opts {
    bool quiet, json, force;
    const char *directory, *table, *exec;
    struct wf_opt_list plots;
    uint64_t side_by_side, memory;
};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(
        struct sweep_opts, directory, TEXT, "output", 'o', "<directory|file.html>",
        .doc = "Directory of the results, one file per point; points with a result there are "
               "not run again. Without this option, the name of the study without .yaml. "
               "A name that ends in .html: a page for a browser"),
    WF_OPT_ROW(struct sweep_opts, table, TEXT, "table", 0, "<file>",
               .doc =
                   "Write the table to a file, .csv or .json, instead of printing it as CSV"),
    {.param = {.name = "plot",
               .offset = offsetof(struct sweep_opts, plots),
               .doc = "Draw a plot to a file, in the format of its name:"},
     .formats = wf_draw_plot_extension,
     .kind = WF_OPT_LIST,
     .arg = "<file>"},
    WF_OPT_ROW(struct sweep_opts, side_by_side, COUNT, "jobs", 'j', NULL,
               .doc = "Points that run in parallel; 0: one per core", .def = "0",
               .max = "1024"),
    WF_OPT_ROW(
        struct sweep_opts, memory, SIZE, "memory", 0, NULL,
        .doc = "Memory for all points that run in parallel; 0: three quarters of the machine",
        .def = "0"),
    WF_OPT_ROW(struct sweep_opts, exec, TEXT, "exec", 0, "<name>",
               .doc = "What executes synthetic traffic on routers, as -p engine.exec: events, "
                      "lockstep or gpu, which executes all points at once; without this "
                      "option, the fastest"),
    WF_OPT_ROW(struct sweep_opts, json, BOOL, "json", 0, NULL,
               .doc = "Print the table as JSON"),
    WF_OPT_ROW(struct sweep_opts, force, BOOL, "force", 'f', NULL,
               .doc = "Run points again that have a result"),
    WF_OPT_ROW(struct sweep_opts, quiet, BOOL, "quiet", 'q', NULL, .doc = "No progress line"),
    WF_OPT_END,
};

/* ---- tables and plots ---- */

/* The page to write, if -o names one instead of a directory; or null. */
static const char *page_of(const struct sweep_opts *opts)
{
    return opts->directory != NULL && wf_extension_is(opts->directory, ".html")
               ? opts->directory
               : NULL;
}

/* A name that another option would take: the directory would surprise. */
static bool is_misplaced(const char *name)
{
    size_t format;

    return wf_extension_is(name, ".csv") || wf_extension_is(name, ".json") ||
           wf_extension_find(wf_draw_plot_extension, "plot", name, &format, NULL) == WF_OK;
}

static enum wf_status check_names(const struct sweep_opts *opts, struct wf_err *err)
{
    if (opts->directory != NULL && page_of(opts) == NULL && is_misplaced(opts->directory)) {
        return wf_err_set(err, WF_EUSAGE,
                          "output '%.200s': expected a directory for the results or a page "
                          "(.html); --plot draws, --table writes .csv and .json",
                          opts->directory);
    }
    if (opts->table != NULL && !wf_extension_is(opts->table, ".csv") &&
        !wf_extension_is(opts->table, ".json")) {
        return wf_err_set(err, WF_EUSAGE, "table '%.200s': the name must end in .csv or .json",
                          opts->table);
    }
    for (size_t i = 0; i < opts->plots.n; i++) {
        size_t format;
        WF_TRY(wf_extension_find(wf_draw_plot_extension, "plot", opts->plots.items[i], &format,
                                 err));
    }
    return WF_OK;
}

static enum wf_status write_table(const struct wf_study *study, const char *path,
                                  struct wf_err *err)
{
    struct wf_output *output = NULL;
    WF_TRY(wf_output_open(path, true, &output, err));
    (wf_extension_is(path, ".csv")    ? wf_study_csv
     : wf_extension_is(path, ".html") ? wf_study_html
                                      : wf_study_json)(study, wf_output_stream(output));
    return wf_output_commit(output, err);
}

static enum wf_status deliver(struct wf_cli *cli, const struct sweep_opts *opts,
                              const struct wf_study *study, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    if (opts->json) {
        wf_study_json(study, cli->out);
        cli->answered = true;
    } else if (opts->table == NULL && page_of(opts) == NULL) {
        wf_study_csv(study, cli->out);
    }
    if (opts->table != NULL) {
        status = write_table(study, opts->table, err);
    }
    if (status == WF_OK && page_of(opts) != NULL) {
        status = write_table(study, page_of(opts), err);
    }
    for (size_t i = 0; i < opts->plots.n && status == WF_OK; i++) {
        status = wf_study_plot_file(study, opts->plots.items[i], true, err);
    }
    return status;
}

/* ---- the run ---- */

/* "dir/study" for "dir/study.yaml". */
static char *default_directory(const char *path)
{
    char *name = wf_xstrdup(path);
    char *dot = strrchr(name, '.');

    if (dot != NULL && dot > name && strchr(dot, '/') == NULL) {
        *dot = '\0';
        return name;
    }
    free(name);
    return wf_xstrdup("results");
}

static enum wf_status run_study(struct wf_cli *cli, const struct sweep_opts *opts,
                                const char *path, struct wf_study *study, struct wf_err *err)
{
    char *directory = opts->directory != NULL && page_of(opts) == NULL
                          ? wf_xstrdup(opts->directory)
                          : default_directory(path);
    const uint64_t jobs = opts->side_by_side > 0          ? opts->side_by_side
                          : wf_world_size(cli->world) > 1 ? wf_world_local_cores(cli->world)
                                                          : 0;
    struct wf_progress_line line;

    wf_progress_init(&line, opts->quiet ? WF_PROGRESS_NEVER : WF_PROGRESS_AUTO, cli->err);
    struct wf_study_run how = {
        .directory = directory,
        .again = opts->force,
        .memory = (opts->memory > 0 ? opts->memory : wf_clock_memory() / 4 * 3) /
                  wf_world_local_size(cli->world),
        .exec = opts->exec,
        .host = wf_progress_points(&line, "points", jobs),
        .world = cli->world,
    };
    how.host.cores = wf_world_local_cores(cli->world);
    wf_world_listen(cli->world, NULL); /* points take as long as they take */
    enum wf_status status = wf_study_run(study, &how, err);
    wf_progress_erase(&line);
    free(directory);
    return status;
}

/* Processes that srun starts without MPI do not know of each other: each would run all points. */
static enum wf_status check_launcher(const struct wf_cli *cli, struct wf_err *err)
{
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    long n = tasks != NULL ? strtol(tasks, NULL, 10) : 0;

    return n < 2 || wf_world_size(cli->world) > 1
               ? WF_OK
               : wf_err_set(err, WF_EUSAGE,
                            "srun started %ld processes that do not know of each other; start "
                            "them with srun --mpi=pmi2 or --mpi=pmix ('srun --mpi=list' shows "
                            "what there is), or with mpirun",
                            n);
}

static enum wf_status sweep_run(struct wf_cli *cli, const void *opts_arg,
                                const struct wf_operands *operands, struct wf_err *err)
{
    const struct sweep_opts *opts = opts_arg;
    const char *path = operands->args.items[0];
    struct wf_study *study = NULL;

    enum wf_status status = check_names(opts, err);
    WF_THEN(status, check_launcher(cli, err));
    WF_THEN(status, wf_study_read(path, &study, err));
    status = wf_world_first_error(cli->world, status, err);
    if (status != WF_OK) {
        wf_study_free(study);
        return status;
    }
    status = run_study(cli, opts, path, study, err);
    if (status != WF_EIO && wf_world_is_first(cli->world)) {
        struct wf_err write_err;
        enum wf_status written = deliver(cli, opts, study, &write_err);
        if (written != WF_OK && status == WF_OK) {
            status = written;
            *err = write_err;
        }
    }
    status = wf_world_agree(cli->world, status, err);
    wf_study_free(study);
    return status;
}

const struct wf_verb wf_verb_sweep = {
    .name = "sweep",
    .summary = "Run a scenario at many points, for a table and plots",
    .help =
        {.synopsis = "weft sweep <study.yaml> [options]",
         .summary =
             "Run a scenario at many points in parallel: a grid or a list over any parameters. "
             "Processes that an MPI launcher starts, on one host or many, share the points",
         .examples =
             {
                 {"weft sweep study.yaml --plot study.svg", "All points, a table and a plot"},
                 {"weft sweep study.yaml -o results -j 4 --table study.csv",
                  "Four at a time; the same command continues after an interruption"},
                 {"mpirun -n 2 weft sweep study.yaml -o shared",
                  "Two processes that share the points; srun starts them as well"},
                 {"weft sweep study.yaml -o page.html", "A page to choose axes on"},
                 {"weft sweep study.yaml --plot study.pdf --plot study.png -q",
                  "Pictures for a paper and for slides"},
             },
         .table = rows},
    .opts_size = sizeof(struct sweep_opts),
    .operand = "a study",
    .min_operands = 1,
    .max_operands = 1,
    .run = sweep_run,
};
