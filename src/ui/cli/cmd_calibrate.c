/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/mem.h"
#include "base/result/result.h"
#include "base/temp.h"
#include "ui/cli/calibrate_kernels.h"
#include "ui/cli/cli.h"
#include "ui/cli/interrupt.h"
#include "ui/cli/opt.h"
#include "ui/cli/progress.h"
#include "ui/study/bench_fit.h"
#include "ui/study/calibration_kept.h"
#include "ui/study/mpi_library.h"

#include <weft/weft.h>

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 512, POLL_MS = 200, WORDS_MORE = 6 };

struct calibrate_opts {
    const char *output, *topology, *blas;
    struct wf_opt_list from;
    uint64_t processes;
    bool kernels, kernels_part;
    int mpi, net, progress;
    uint64_t repeat, max_bytes;
    int64_t time;
    bool force, json;
};

static const char *const mpis[] = {"auto", "mpich", "openmpi", NULL};
static const char *const nets[] = {"auto", "packet", "latency", "loggp", NULL};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(struct calibrate_opts, output, TEXT, "output", 'o', "<file.yaml>",
               .doc = "The machine file to write, or with --kernels the file of kernels"),
    WF_OPT_FORCE(struct calibrate_opts),
    WF_OPT_ROW(struct calibrate_opts, topology, TEXT, "topology", 't', "<topology>",
               .doc =
                   "How the hosts are connected, rank i on node i; without it all are at one "
                   "switch"),
    {.param = {.name = "from",
               .offset = offsetof(struct calibrate_opts, from),
               .doc =
                   "Measure nothing: fit what is kept in a .yaml file that calibrate wrote, or "
                   "outputs of nccl-tests, OSU, IMB, NetPIPE, STREAM and HPCC"},
     .kind = WF_OPT_LIST,
     .arg = "<file>"},
    WF_OPT_ROW(struct calibrate_opts, time, TIME, "time", 0, NULL, .def = "60s", .min = "1s",
               .max = "24h",
               .doc = "How long to measure; sizes and repetitions are chosen to fit"),
    WF_OPT_ROW(struct calibrate_opts, max_bytes, SIZE, "max-bytes", 0, NULL, .def = "4MiB",
               .min = "1KiB", .max = "256MiB", .doc = "The largest message to measure"),
    WF_OPT_ROW(struct calibrate_opts, repeat, COUNT, "repeat", 0, NULL, .def = "100",
               .min = "1", .max = "100000",
               .doc = "How often each pattern and size is measured at most; medians are used"),
    WF_OPT_ROW(struct calibrate_opts, mpi, ENUM, "mpi", 0, NULL, .def = "auto", .choices = mpis,
               .doc = "The MPI library; auto: the one of the launcher"),
    WF_OPT_ROW(struct calibrate_opts, net, ENUM, "net", 0, NULL, .def = "auto", .choices = nets,
               .doc = "The network model to write; auto: the one that describes the machine "
                      "best. loggp needs no topology, and so takes any number of nodes"),
    WF_OPT_ROW(struct calibrate_opts, kernels, BOOL, "kernels", 0, NULL,
               .doc = "Measure routines of BLAS instead of messages, and write their times as "
                      "formulas for weft run --kernels. A launcher may start one process on "
                      "each of several nodes"),
    WF_OPT_ROW(struct calibrate_opts, blas, TEXT, "blas", 0, "<library>",
               .doc = "With --kernels: the library to measure; without it the first of "
                      "OpenBLAS, MKL, BLIS, FlexiBLAS and the reference BLAS that is there"),
    WF_OPT_ROW(struct calibrate_opts, processes, COUNT, "processes", 0, NULL, .def = "0",
               .min = "0", .max = "4096",
               .doc = "With --kernels: how many cores of each node measure at the same time; "
                      "0: all, as in a run that uses them all"),
    WF_OPT_ROW(struct calibrate_opts, kernels_part, BOOL, "kernels-part", 0, NULL,
               .doc = "What --kernels starts on each node: print the measurements"),
    WF_OPT_ROW(struct calibrate_opts, json, BOOL, "json", 0, NULL,
               .doc = "Print the result as JSON"),
    WF_OPT_ROW(struct calibrate_opts, progress, ENUM, "progress", 0, NULL, .def = "auto",
               .choices = wf_progress_modes,
               .doc = "Whether to show how far it is; auto: on a terminal"),
    WF_OPT_END,
};

#define USAGE "weft calibrate -o host.yaml -- mpirun -n 2"

/* A run of the measuring program. */
struct job {
    const struct wf_operands *operands; /* the launcher and its options */
    const volatile sig_atomic_t *stop;
    struct wf_progress_line *line;
    struct wf_calibration *measured;
    struct wf_buf lines; /* what was measured, as it was printed */
    pid_t child;
    int how; /* it ended */
};

/* ---- the measuring program ---- */

static enum wf_status start(struct job *job, char *const *command, int *from,
                            struct wf_err *err)
{
    posix_spawn_file_actions_t actions;
    int ends[2];

    if (pipe(ends) != 0) {
        return wf_err_set(err, WF_EIO, "cannot make a pipe: %s", strerror(errno));
    }
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_addclose(&actions, ends[0]);
    (void)posix_spawn_file_actions_addclose(&actions, ends[1]);
    int failed = posix_spawnp(&job->child, command[0], &actions, NULL, command, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    *from = ends[0];
    if (failed != 0) {
        (void)close(ends[0]);
        return wf_err_set(err, WF_EUSAGE, "cannot run '%.200s': %s", command[0],
                          strerror(failed));
    }
    return WF_OK;
}

/* Reads the lines of the program until it closes its output. WF_EINTR if we are interrupted. */
static enum wf_status read_lines(struct job *job, int from, struct wf_err *err)
{
    char line[LINE_MAX_BYTES], bytes[4096];
    size_t length = 0;
    double progress = 0;

    for (;;) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        int n = poll(&ready, 1, POLL_MS);

        if (*job->stop != 0) {
            return wf_err_set(err, WF_EINTR, "interrupted; nothing was written");
        }
        ssize_t got = n > 0 ? read(from, bytes, sizeof(bytes)) : 0;
        if (n > 0 && got <= 0) {
            return WF_OK;
        }
        for (ssize_t i = 0; i < got; i++) {
            if (bytes[i] != '\n') {
                line[length] = bytes[i];
                length += length + 1 < sizeof(line);
                continue;
            }
            line[length] = '\0';
            length = 0;
            wf_calibration_take(job->measured, &job->lines, line, &progress);
        }
        wf_progress_share(job->line, "measuring", progress);
    }
}

/* Runs the program with these arguments, a null-terminated list. If we are interrupted, it has
 * the signal already. */
static enum wf_status run_program(struct job *job, const char *const *arguments,
                                  struct wf_err *err)
{
    size_t n = job->operands->args.n;
    const char **words = wf_xcalloc(n + WORDS_MORE, sizeof(*words));
    int from = -1;

    memcpy(words, job->operands->args.items, n * sizeof(*words));
    for (size_t i = 0; arguments[i] != NULL; i++) {
        words[n + i] = arguments[i];
    }
    *job->measured = (struct wf_calibration){.n = 0};
    job->lines.size = 0;
    wf_interrupt_child(WF_CHILD_STARTING, false);
    enum wf_status status = start(job, (char *const *)wf_unconst(words), &from, err);
    free(words);
    wf_interrupt_child(status == WF_OK ? job->child : 0, false);
    WF_TRY(status);
    status = read_lines(job, from, err);
    (void)close(from);
    while (waitpid(job->child, &job->how, 0) < 0 && errno == EINTR) {
    }
    wf_interrupt_child(0, false);
    return status;
}

/* ---- which MPI ---- */

/* Starts the program of each MPI in turn: under a launcher of another MPI, every process is
 * alone. */
static enum wf_status probe(struct job *job, const char **mpi, struct wf_err *err)
{
    const char *name = NULL;

    for (size_t i = 0; (name = wf_study_mpi_name(i)) != NULL; i++) {
        char *program = wf_study_mpi_patterns(name);
        const char *const arguments[] = {program, "probe", NULL};
        enum wf_status status = program != NULL ? run_program(job, arguments, err) : WF_OK;
        bool found = program != NULL && job->how == 0 && job->measured->n_ranks > 1;

        free(program);
        WF_TRY(status);
        if (found) {
            *mpi = name;
            return WF_OK;
        }
    }
    return wf_err_set(err, WF_EUSAGE,
                      "'%.100s' starts two or more ranks with none of the MPI libraries that "
                      "weft was built for; for example: " USAGE,
                      job->operands->args.items[0]);
}

static enum wf_status find_mpi(struct job *job, const struct calibrate_opts *opts,
                               const char **mpi, struct wf_err *err)
{
    size_t n = job->operands->args.n;

    *mpi = mpis[opts->mpi];
    if (opts->mpi != 0) {
        return WF_OK;
    }
    const char **words = wf_xcalloc(n + 1, sizeof(*words));
    memcpy(words, job->operands->args.items, n * sizeof(*words));
    *mpi = wf_study_mpi_of((char *const *)wf_unconst(words));
    free(words);
    return *mpi != NULL ? WF_OK : probe(job, mpi, err);
}

/* ---- what to measure ---- */

static enum wf_status measure(struct job *job, const struct calibrate_opts *opts,
                              const char *mpi, struct wf_err *err)
{
    char seconds[32], bytes[24], repeat[24], pairs[WF_CALIBRATION_PAIRS_TEXT];

    WF_TRY(wf_calibration_pairs(opts->topology, pairs, err));
    char *program = wf_study_mpi_patterns(mpi);
    if (program == NULL) {
        return wf_study_mpi_not_built(mpi, err);
    }
    (void)snprintf(seconds, sizeof(seconds), "%.3f", (double)opts->time / 1e12);
    (void)snprintf(bytes, sizeof(bytes), "%" PRIu64, opts->max_bytes);
    (void)snprintf(repeat, sizeof(repeat), "%" PRIu64, opts->repeat);
    const char *const arguments[] = {program, seconds, bytes, repeat, pairs, NULL};
    enum wf_status status = run_program(job, arguments, err);
    free(program);
    WF_TRY(status);
    if (job->how != 0 || job->measured->n_ranks < 2 ||
        job->measured->n < WF_CALIBRATION_MEASURES_MIN) {
        return wf_err_set(
            err, WF_EINVAL,
            "'%.200s' did not measure messages on two ranks or more; for example: " USAGE,
            job->operands->args.items[0]);
    }
    return WF_OK;
}

/* ---- results ---- */

static enum wf_status fail_to_write(const char *path, struct wf_err *err)
{
    return wf_err_set(err, errno == EEXIST ? WF_EUSAGE : WF_EIO, "cannot write '%.300s': %s%s",
                      path, strerror(errno), errno == EEXIST ? "; --force replaces it" : "");
}

/* Writes the machine file as `temporary` and moves it to its place. */
static enum wf_status save(const struct calibrate_opts *opts, const char *temporary,
                           const struct job *job, const struct wf_calibration_fit *fit,
                           const char *mpi, struct wf_err *err)
{
    FILE *out = fopen(temporary, "we");

    if (out == NULL) {
        return fail_to_write(opts->output, err);
    }
    wf_calibration_write(job->measured, fit, mpi, out);
    wf_calibration_kept_write(&job->lines, mpi, out);
    bool written = ferror(out) == 0;
    written = fclose(out) == 0 && written;
    if (!written || !wf_temp_move(temporary, opts->output, opts->force)) {
        return fail_to_write(opts->output, err);
    }
    return WF_OK;
}

static void answer(struct wf_cli *cli, const struct calibrate_opts *opts,
                   const struct wf_calibration *measured, const struct wf_calibration_fit *fit,
                   const char *mpi)
{
    wf_calibration_warn(measured, cli->err);
    if (!opts->json) {
        wf_calibration_print(measured, fit, cli->out);
        return;
    }
    struct wf_value *doc = wf_result_new_as("weft-calibration-1", weft_version());
    wf_doc_text(doc, "file", opts->output);
    wf_doc_text(doc, "mpi", mpi);
    wf_calibration_add(measured, fit, doc);
    wf_cli_answer(cli, doc);
}

/* ---- outputs of benchmarks ---- */

/* Whether --from names something else than a file that calibrate wrote. */
static bool is_log(const struct calibrate_opts *opts)
{
    const char *dot = opts->from.n > 0 ? strrchr(opts->from.items[0], '.') : NULL;

    return opts->from.n > 0 &&
           (dot == NULL || (strcmp(dot, ".yaml") != 0 && strcmp(dot, ".yml") != 0));
}

static enum wf_status save_logs(const struct calibrate_opts *opts, const char *temporary,
                                const struct wf_measured_fit *fit, struct wf_err *err)
{
    FILE *out = fopen(temporary, "we");

    if (out == NULL) {
        return fail_to_write(opts->output, err);
    }
    wf_measured_fit_write(fit, out);
    bool written = ferror(out) == 0;
    written = fclose(out) == 0 && written;
    return written && wf_temp_move(temporary, opts->output, opts->force)
               ? WF_OK
               : fail_to_write(opts->output, err);
}

/* Further files may follow as operands: --from a.log b.log. */
static enum wf_status from_logs(struct wf_cli *cli, const struct calibrate_opts *opts,
                                const struct wf_operands *operands, const char *temporary,
                                struct wf_err *err)
{
    struct wf_measured_log log = {.n = 0};
    struct wf_measured_fit *fit = wf_xcalloc(1, sizeof(*fit));
    enum wf_status status = WF_OK;

    for (size_t i = 0; i < opts->from.n && status == WF_OK; i++) {
        status = wf_measured_log_read(&log, opts->from.items[i], err);
    }
    for (size_t i = 0; i < operands->args.n && status == WF_OK; i++) {
        status = wf_measured_log_read(&log, operands->args.items[i], err);
    }
    WF_THEN(status, wf_measured_fit(&log, fit, err));
    WF_THEN(status, save_logs(opts, temporary, fit, err));
    if (status != WF_OK) {
        wf_temp_remove(temporary);
    } else if (opts->json) {
        struct wf_value *doc = wf_result_new_as("weft-parameters-1", weft_version());
        wf_doc_text(doc, "file", opts->output);
        wf_measured_fit_add(fit, doc);
        wf_cli_answer(cli, doc);
    } else {
        wf_measured_fit_print(fit, cli->out);
    }
    free(fit);
    wf_measured_log_fini(&log);
    return status;
}

/* Makes the file that becomes the output: nobody should measure for a minute and then learn
 * that it cannot be written. */
static enum wf_status open_output(const struct calibrate_opts *opts, size_t n_operands,
                                  char **temporary, struct wf_err *err)
{
    if (opts->output == NULL) {
        return wf_err_set(err, WF_EUSAGE, "no file to write; for example: " USAGE);
    }
    if (opts->from.n == 0 && n_operands == 0) {
        return wf_err_set(err, WF_EUSAGE,
                          "calibrate: a launcher of two or more ranks is missing; for "
                          "example: " USAGE);
    }
    if (opts->from.n > 0 && n_operands > 0 && !is_log(opts)) {
        return wf_err_set(err, WF_EUSAGE,
                          "calibrate: --from measures nothing, so it takes no launcher");
    }
    if (!opts->force && access(opts->output, F_OK) == 0) {
        errno = EEXIST;
        return fail_to_write(opts->output, err);
    }
    *temporary = wf_temp_beside(opts->output, false);
    return *temporary != NULL ? WF_OK : fail_to_write(opts->output, err);
}

static enum wf_status calibrate_run(struct wf_cli *cli, const void *opts_arg,
                                    const struct wf_operands *operands, struct wf_err *err)
{
    const struct calibrate_opts *opts = opts_arg;
    struct wf_progress_line line;
    const char *mpi = NULL;
    char *temporary = NULL;

    if (opts->kernels || opts->kernels_part) {
        const struct wf_calibrate_kernels kernels = {.output = opts->output,
                                                     .library = opts->blas,
                                                     .time = opts->time,
                                                     .processes = opts->processes,
                                                     .force = opts->force,
                                                     .part = opts->kernels_part};
        return wf_cli_calibrate_kernels(cli, &kernels, operands, err);
    }
    WF_TRY(open_output(opts, operands->args.n, &temporary, err));
    if (is_log(opts)) {
        enum wf_status done = from_logs(cli, opts, operands, temporary, err);
        free(temporary);
        return done;
    }
    wf_progress_init(&line, (enum wf_progress_mode)opts->progress, cli->err);
    struct wf_calibration *measured = wf_xcalloc(1, sizeof(*measured));
    struct wf_calibration_fit *fit = wf_xcalloc(1, sizeof(*fit));
    struct job job = {.operands = operands,
                      .stop = wf_interrupt_watch(),
                      .line = &line,
                      .measured = measured};
    enum wf_status status = opts->from.n > 0
                                ? wf_calibration_kept_read(opts->from.items[0], mpis + 1,
                                                           measured, &job.lines, &mpi, err)
                                : find_mpi(&job, opts, &mpi, err);
    if (status == WF_OK && opts->from.n == 0) {
        status = measure(&job, opts, mpi, err);
    }
    if (status == WF_OK) {
        struct wf_points_host host = wf_progress_points(&line, "models fitted", 0);
        status = wf_calibration_fit(measured, opts->topology, &host, fit, err);
    }
    if (opts->net > 0) {
        wf_calibration_choose(fit, nets[opts->net]);
    }
    wf_progress_erase(&line);
    WF_THEN(status, save(opts, temporary, &job, fit, mpi, err));
    if (status != WF_OK) {
        wf_temp_remove(temporary);
    }
    free(temporary);
    if (status == WF_OK) {
        answer(cli, opts, measured, fit, mpi);
    }
    wf_calibration_fit_release(fit);
    wf_buf_fini(&job.lines);
    free(fit);
    free(measured);
    return status;
}

const struct wf_verb wf_verb_calibrate = {
    .name = "calibrate",
    .summary = "Measure a machine: its messages, or its BLAS",
    .help =
        {.synopsis = "weft calibrate -o <file.yaml> [options] [-- <launcher of ranks>...]",
         .summary =
             "Measure patterns of messages between two or more ranks of a real MPI, fit the "
             "network models to them by simulating the same patterns, and write a machine "
             "file with the model that describes the machine best. With --kernels: measure "
             "BLAS "
             "and write a file of kernels",
         .examples =
             {
                 {USAGE, "Measure this host"},
                 {"weft calibrate -o again.yaml --from host.yaml",
                  "Fit the same measurements again, as after an update of weft"},
                 {"weft calibrate -o cluster.yaml --from osu.log nccl.log",
                  "A machine file from what benchmarks printed"},
                 {"weft calibrate -o kernels.yaml --kernels -- mpirun -n 2",
                  "Routines of BLAS instead of messages"},
                 {"weft calibrate -o tree.yaml --from osu.log -t fattree:4x4",
                  "With the topology of the cluster"},
             },
         .table = rows},
    .opts_size = sizeof(struct calibrate_opts),
    .operand = "a launcher of two or more ranks",
    .min_operands = 0, /* with --from */
    .max_operands = SIZE_MAX,
    .run = calibrate_run,
};
