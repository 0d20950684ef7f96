/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "cli/capture_library.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/opt.h"
#include "study/calibration.h"

#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct calibrate_opts {
    const char *output;
    int mpi;
    uint64_t repeat;
    bool force, help;
};

static const char *const mpis[] = {"auto", "mpich", "openmpi", NULL};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(struct calibrate_opts, output, TEXT, "output", 'o', "<file.yaml>",
               .doc = "The machine file to write"),
    WF_OPT_ROW(struct calibrate_opts, force, BOOL, "force", 'f', NULL,
               .doc = "Overwrite that file if it exists"),
    WF_OPT_ROW(struct calibrate_opts, mpi, ENUM, "mpi", 0, NULL, .def = "auto", .choices = mpis,
               .doc = "The MPI library; auto: the one of the launcher"),
    WF_OPT_ROW(struct calibrate_opts, repeat, COUNT, "repeat", 0, NULL, .def = "100",
               .min = "1", .max = "100000",
               .doc = "How often each size is measured; the first quartile of the repetitions "
                      "is used"),
    WF_OPT_HELP(struct calibrate_opts),
    WF_OPT_END,
};

#define USAGE "weft calibrate -o host.yaml -- mpirun -n 2"

static enum wf_status run_pingpong(char *const *command, struct wf_calibration *calibration,
                                   struct wf_err *err)
{
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    int ends[2], how = 0;

    if (pipe(ends) != 0) {
        return wf_err_set(err, WF_EIO, "cannot make a pipe: %s", strerror(errno));
    }
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_addclose(&actions, ends[0]);
    int failed = posix_spawnp(&child, command[0], &actions, NULL, command, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    if (failed == 0 && in != NULL) {
        wf_interrupt_child(child, false);
        wf_calibration_read(calibration, in);
        (void)waitpid(child, &how, 0);
        wf_interrupt_child(0, false);
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    if (failed != 0) {
        return wf_err_set(err, WF_EUSAGE, "cannot run '%.200s': %s", command[0],
                          strerror(failed));
    }
    if (how != 0 || calibration->input.n < 8) {
        return wf_err_set(
            err, WF_EINVAL,
            "'%.200s' did not run the ping-pong on two ranks; for example: " USAGE, command[0]);
    }
    return WF_OK;
}

static enum wf_status save(const struct calibrate_opts *opts,
                           const struct wf_calibration *calibration, const char *mpi,
                           struct wf_err *err)
{
    char host[256] = "host";
    FILE *out = fopen(opts->output, opts->force ? "we" : "wxe");

    if (out == NULL) {
        return wf_err_set(err, errno == EEXIST ? WF_EUSAGE : WF_EIO,
                          "cannot write '%.300s': %s%s", opts->output, strerror(errno),
                          errno == EEXIST ? "; --force replaces it" : "");
    }
    (void)gethostname(host, sizeof(host) - 1);
    wf_calibration_write(calibration, host, mpi, out);
    return fclose(out) == 0 ? WF_OK
                            : wf_err_set(err, WF_EIO, "cannot write '%.300s': %s", opts->output,
                                         strerror(errno));
}

static void print_fit(const struct wf_fit *fit, FILE *out)
{
    (void)fprintf(out, "latency %.0f ns, overhead %.0f ns, gap %.0f ns, bandwidth %.2f GB/s",
                  fit->L, fit->o, fit->g, fit->G > 0 ? 1 / fit->G : 0);
    if (fit->has_limit) {
        (void)fprintf(out, ", eager up to %" PRIu64 " bytes", fit->eager_max);
    }
    (void)fprintf(out, "; mean error %.1f %%, at most %.1f %%\n", fit->mean_error * 100,
                  fit->max_error * 100);
}

static enum wf_status calibrate_run(struct wf_cli *cli, const void *opts_arg,
                                    const struct wf_operands *operands, struct wf_err *err)
{
    const struct calibrate_opts *opts = opts_arg;
    size_t n = operands->args.n;
    const char *mpi = NULL;
    char *program = NULL;
    char repeat[24];

    if (opts->output == NULL) {
        return wf_err_set(err, WF_EUSAGE, "no file to write; for example: " USAGE);
    }
    const char **words = wf_xcalloc(n + 3, sizeof(*words));
    char **command = (char **)wf_unconst(words);
    struct wf_calibration *calibration = wf_xcalloc(1, sizeof(*calibration));
    memcpy(words, operands->args.items, n * sizeof(*words));
    enum wf_status status = wf_capture_pingpong(mpis[opts->mpi], command, &mpi, &program, err);
    if (status == WF_OK) {
        (void)snprintf(repeat, sizeof(repeat), "%" PRIu64, opts->repeat);
        words[n] = program;
        words[n + 1] = repeat;
        status = run_pingpong(command, calibration, err);
    }
    if (status == WF_OK && !wf_calibration_fit(calibration)) {
        status = wf_err_set(err, WF_EINVAL,
                            "the measured times contradict each other; measure again on a "
                            "machine that is not busy");
    }
    if (status == WF_OK) {
        status = save(opts, calibration, mpi, err);
    }
    if (status == WF_OK) {
        print_fit(&calibration->fit, cli->out);
    }
    free(program);
    free(calibration);
    free(words);
    return status;
}

const struct wf_verb wf_verb_calibrate = {
    .name = "calibrate",
    .summary = "Measure a machine's messages and write a machine file",
    .help = {.synopsis =
                 "weft calibrate -o <file.yaml> [options] -- <launcher of two ranks>...",
             .summary =
                 "Measure messages between two ranks of a real MPI and write a machine file: "
                 "latency, overhead, time by size, and the limit of the eager protocol",
             .examples =
                 {
                     {USAGE, "Measure this host"},
                     {"weft replay run --machine host.yaml",
                      "Then replay a trace that was captured on it"},
                 },
             .table = rows},
    .opts_size = sizeof(struct calibrate_opts),
    .operand = "a launcher of two ranks",
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .run = calibrate_run,
};
