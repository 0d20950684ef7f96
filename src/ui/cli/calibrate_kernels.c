/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/cli/calibrate_kernels.h"

#include "base/mem.h"
#include "ui/cli/interrupt.h"
#include "ui/study/calibration_kernels.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static enum wf_status fail_to_write(const char *path, struct wf_err *err)
{
    return wf_err_set(err, errno == EEXIST ? WF_EUSAGE : WF_EIO, "cannot write '%.300s': %s%s",
                      path, strerror(errno), errno == EEXIST ? "; --force replaces it" : "");
}

static enum wf_status measure(struct wf_cli *cli, const struct wf_calibrate_kernels *opts,
                              struct wf_err *err)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t processes = opts->processes > 0 ? opts->processes
                         : cores > 0         ? (uint64_t)cores
                                             : 1;

    return wf_calibration_kernels_measure(opts->library, (double)opts->time / 1e12,
                                          (uint32_t)processes, cli->out, err);
}

/* Starts the launcher with this program, whose lines come out of *from. */
static enum wf_status start(const struct wf_calibrate_kernels *opts,
                            const struct wf_operands *operands, pid_t *child, FILE **from,
                            struct wf_err *err)
{
    char self[4096], seconds[32], processes[32];
    posix_spawn_file_actions_t actions;
    size_t n = operands->args.n;
    int ends[2];

    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length <= 0 || pipe(ends) != 0) {
        return wf_err_set(err, WF_EIO, "cannot start the measurement: %s", strerror(errno));
    }
    self[length] = '\0';
    (void)snprintf(seconds, sizeof(seconds), "%" PRId64 "ms", opts->time / 1000000000);
    (void)snprintf(processes, sizeof(processes), "%" PRIu64, opts->processes);
    const char *const more[] = {
        self,      "calibrate", "--kernels-part",
        "--time",  seconds,     "--processes",
        processes, "--blas",    opts->library != NULL ? opts->library : ""};
    const size_t n_more = sizeof(more) / sizeof(more[0]);
    const char **words = wf_xcalloc(n + n_more + 1, sizeof(*words));
    if (n > 0) {
        memcpy(words, operands->args.items, n * sizeof(*words));
    }
    memcpy(words + n, more, sizeof(more));
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_addclose(&actions, ends[0]);
    (void)posix_spawn_file_actions_addclose(&actions, ends[1]);
    int failed = posix_spawnp(child, words[0], &actions, NULL, (char *const *)wf_unconst(words),
                              environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    *from = fdopen(ends[0], "r");
    enum wf_status status = failed != 0 ? wf_err_set(err, WF_EUSAGE, "cannot run '%.200s': %s",
                                                     words[0], strerror(failed))
                                        : WF_OK;
    free(words);
    return status;
}

static enum wf_status collect(const struct wf_calibrate_kernels *opts,
                              const struct wf_operands *operands,
                              struct wf_calibration_calls *calls, struct wf_err *err)
{
    char line[512];
    FILE *from = NULL;
    pid_t child = 0;
    int how = 0;

    wf_interrupt_child(WF_CHILD_STARTING, false);
    enum wf_status status = start(opts, operands, &child, &from, err);
    wf_interrupt_child(status == WF_OK ? child : 0, false);
    while (status == WF_OK && from != NULL && fgets(line, sizeof(line), from) != NULL) {
        wf_calibration_kernels_take(calls, line);
    }
    if (from != NULL) {
        (void)fclose(from);
    }
    while (status == WF_OK && waitpid(child, &how, 0) < 0 && errno == EINTR) {
    }
    wf_interrupt_child(0, false);
    if (status == WF_OK && (how != 0 || calls->n == 0)) {
        status = wf_err_set(err, WF_EINVAL,
                            "no routine of BLAS was measured; the message above says why");
    }
    return status;
}

static bool has_formula(struct wf_calibration_calls *calls)
{
    struct wf_calibration_formula formula;
    uint32_t k = 0;

    while (wf_calibration_kernels[k].name != NULL &&
           !wf_calibration_kernels_fit(calls, k, UINT32_MAX, &formula)) {
        k++;
    }
    return wf_calibration_kernels[k].name != NULL;
}

static enum wf_status save(const struct wf_calibrate_kernels *opts,
                           struct wf_calibration_calls *calls, struct wf_err *err)
{
    if (!has_formula(calls)) {
        return wf_err_set(
            err, WF_EINVAL,
            "no routine was measured often enough: %" PRIu32 " calls, and %" PRIu32
            " that other programs interrupted; give more --time, or wait until the "
            "machine is quiet",
            calls->n, calls->n_interrupted);
    }
    FILE *out = fopen(opts->output, opts->force ? "we" : "wxe");

    if (out == NULL) {
        return fail_to_write(opts->output, err);
    }
    wf_calibration_kernels_write(calls, out);
    bool written = ferror(out) == 0;
    written = fclose(out) == 0 && written;
    return written ? WF_OK : fail_to_write(opts->output, err);
}

static void answer(struct wf_cli *cli, const struct wf_calibrate_kernels *opts,
                   struct wf_calibration_calls *calls)
{
    const double worth = 0.03;
    double drift = wf_calibration_kernels_drift(calls);

    (void)fprintf(cli->out, "%-8s %8s %10s %8s\n", "routine", "calls", "left out", "error");
    for (uint32_t k = 0; wf_calibration_kernels[k].name != NULL; k++) {
        struct wf_calibration_formula formula;
        if (wf_calibration_kernels_fit(calls, k, UINT32_MAX, &formula)) {
            (void)fprintf(cli->out, "%-8s %8" PRIu32 " %10" PRIu32 " %6.1f %%\n",
                          wf_calibration_kernels[k].name, formula.n, formula.n_left_out,
                          100 * formula.error);
        }
    }
    if (calls->missing[0] != '\0') {
        (void)fprintf(cli->err, "weft: warning: %s does not have%s\n", calls->library,
                      calls->missing);
    }
    if (calls->n_interrupted > calls->n / 10) {
        (void)fprintf(cli->err,
                      "weft: warning: other programs interrupted %" PRIu32 " of %" PRIu32
                      " calls; measure again when the machine is quiet\n",
                      calls->n_interrupted, calls->n + calls->n_interrupted);
    }
    if (fabs(drift - 1) > worth) {
        (void)fprintf(
            cli->err,
            "weft: warning: the last third of the measurement was %.0f %% %s than the "
            "first (turbo, heat or other programs): measure longer with --time, or fix "
            "the frequency\n",
            100 * fabs(drift - 1), drift > 1 ? "slower" : "faster");
    }
}

enum wf_status wf_cli_calibrate_kernels(struct wf_cli *cli,
                                        const struct wf_calibrate_kernels *opts,
                                        const struct wf_operands *operands, struct wf_err *err)
{
    struct wf_calibration_calls calls = {.n = 0};

    if (opts->part) {
        return measure(cli, opts, err);
    }
    if (opts->output == NULL) {
        return wf_err_set(err, WF_EUSAGE,
                          "no file to write; for example: weft calibrate --kernels -o "
                          "host.kernels");
    }
    if (!opts->force && access(opts->output, F_OK) == 0) {
        errno = EEXIST;
        return fail_to_write(opts->output, err);
    }
    enum wf_status status = collect(opts, operands, &calls, err);
    WF_THEN(status, save(opts, &calls, err));
    if (status == WF_OK) {
        answer(cli, opts, &calls);
    }
    wf_calibration_kernels_release(&calls);
    return status;
}
