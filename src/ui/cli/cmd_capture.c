/* SPDX-License-Identifier: Apache-2.0 */
#include "base/host_noise.h"
#include "base/mem.h"
#include "ui/cli/cli.h"
#include "ui/cli/interrupt.h"
#include "ui/cli/opt.h"
#include "ui/study/capture_setup.h"
#include "ui/study/mpi_library.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct capture_opts {
    const char *output, *ranks, *region, *counters;
    int mpi, clock; /* indices in the lists below */
    bool force, no_times, pcontrol, compare_clocks, all_polls, stacks, quiet;
};

static const char *const clocks[] = {"cpu", "wall", NULL};
static const char *const mpis[] = {"auto", "mpich", "openmpi", NULL};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(struct capture_opts, output, TEXT, "output", 'o', "<directory>",
               .doc = "Directory of the trace, which gets one file per rank"),
    WF_OPT_ROW(struct capture_opts, force, BOOL, "force", 'f', NULL,
               .doc = "Replace a trace in that directory"),
    WF_OPT_ROW(struct capture_opts, clock, ENUM, "clock", 0, NULL, .def = "cpu",
               .choices = clocks,
               .doc = "Clock for the computing between calls: CPU time of the thread, or "
                      "wall-clock time"),
    WF_OPT_ROW(struct capture_opts, no_times, BOOL, "no-times", 0, NULL,
               .doc = "Record the calls without times"),
    WF_OPT_ROW(struct capture_opts, ranks, TEXT, "ranks", 0, "<list>",
               .doc = "Record these ranks only: 0-3,8"),
    WF_OPT_ROW(struct capture_opts, region, TEXT, "region", 0, "<name>",
               .doc = "Record only the region of this name (weft/mark.h)"),
    WF_OPT_ROW(struct capture_opts, pcontrol, BOOL, "pcontrol", 0, NULL,
               .doc = "Record only from MPI_Pcontrol(1) to MPI_Pcontrol(0); without this "
                      "option these calls mark regions"),
    WF_OPT_ROW(struct capture_opts, all_polls, BOOL, "all-polls", 0, NULL,
               .doc = "Record every unsuccessful call of MPI_Test, MPI_Iprobe and similar "
                      "functions; without this option only the first of a run of equal calls"),
    WF_OPT_ROW(struct capture_opts, stacks, BOOL, "stacks", 0, NULL,
               .doc = "Record which functions of the program make each call; takes 1 to 3 us "
                      "for a call"),
    WF_OPT_ROW(
        struct capture_opts, counters, TEXT, "counters", 0, "<list>",
        .doc =
            "Hardware counters: instructions, cycles, cache_misses, branches, branch_misses, "
            "task_clock, page_faults, context_switches"),
    WF_OPT_ROW(
        struct capture_opts, compare_clocks, BOOL, "compare-clocks", 0, NULL,
        .doc = "Measure the offset of each clock from that of rank 0, by messages in MPI_Init"),
    WF_OPT_ROW(struct capture_opts, mpi, ENUM, "mpi", 0, NULL, .def = "auto", .choices = mpis,
               .doc = "The MPI library of the program; auto: the one it is linked with"),
    WF_OPT_ROW(struct capture_opts, quiet, BOOL, "quiet", 'q', NULL, .doc = "No notes"),
    WF_OPT_END,
};

#define USAGE "weft capture -o run -- mpirun -n 16 ./app"

/* ---- the program ---- */

/* Waits for the program. Meanwhile only the program handles an interrupt from the keyboard; other
 * signals that end weft are passed on to it. */
static int wait_for(pid_t child)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction interrupt, quit;
    int status = 0;

    (void)sigaction(SIGINT, &ignore, &interrupt);
    (void)sigaction(SIGQUIT, &ignore, &quit);
    wf_interrupt_child(child, true);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    wf_interrupt_child(0, false);
    (void)sigaction(SIGINT, &interrupt, NULL);
    (void)sigaction(SIGQUIT, &quit, NULL);
    return status;
}

static enum wf_status run_program(char *const *command, int *how, struct wf_err *err)
{
    wf_interrupt_child(WF_CHILD_STARTING, true);
    pid_t child = fork();

    if (child < 0) {
        wf_interrupt_child(0, false);
        return wf_err_set(err, WF_EIO, "cannot start a process: %s", strerror(errno));
    }
    if (child == 0) {
        (void)execvp(command[0], command);
        (void)fprintf(stderr, "weft: cannot run '%s': %s\n", command[0], strerror(errno));
        _Exit(127);
    }
    *how = wait_for(child);
    return WF_OK;
}

/* Ends this process in the same way as the program ended. */
static _Noreturn void end_like(int how)
{
    if (WIFSIGNALED(how)) {
        (void)signal(WTERMSIG(how), SIG_DFL);
        (void)raise(WTERMSIG(how));
    }
    _Exit(WIFEXITED(how) ? WEXITSTATUS(how) : 1);
}

/* Times that are recorded on a noisy host will not repeat. Other hosts are not measured. */
static void warn_about_noise(FILE *out, const struct capture_opts *opts)
{
    const struct wf_host_noise noise = wf_host_noise_measure();
    char text[WF_HOST_NOISE_TEXT_MAX];

    if (wf_host_noise_warning(&noise, opts->clock == 0, text)) {
        (void)fprintf(out, "weft: note: %s; use a quiet host\n", text);
    }
}

static enum wf_status capture_run(struct wf_cli *cli, const void *opts_arg,
                                  const struct wf_operands *operands, struct wf_err *err)
{
    const struct capture_opts *opts = opts_arg;
    char *const *command = (char *const *)wf_unconst(operands->args.items);
    char *library = NULL;
    int how = 0;

    if (opts->output == NULL || opts->output[0] == '\0') {
        return wf_err_set(err, WF_EUSAGE, "no directory for the trace; for example: " USAGE);
    }
    enum wf_status status = wf_study_capture_library(mpis[opts->mpi], command, &library, err);
    WF_THEN(status, wf_study_capture_directory(opts->output, opts->force, err));
    char *directory = status == WF_OK ? realpath(opts->output, NULL) : NULL;
    if (status == WF_OK && directory == NULL) {
        status =
            wf_err_set(err, WF_EIO, "cannot find '%.300s': %s", opts->output, strerror(errno));
    }
    if (status == WF_OK) {
        if (!opts->no_times && !opts->quiet) {
            warn_about_noise(cli->err, opts);
        }
        const struct wf_study_capture settings = {
            .clock = opts->no_times ? "none" : clocks[opts->clock],
            .ranks = opts->ranks,
            .region = opts->region,
            .counters = opts->counters,
            .pcontrol = opts->pcontrol,
            .compare_clocks = opts->compare_clocks,
            .all_polls = opts->all_polls,
            .stacks = opts->stacks,
        };
        wf_study_capture_environment(&settings, directory, library);
        status = run_program(command, &how, err);
    }
    if (status == WF_OK && how == 0 && wf_study_capture_count(directory) == 0) {
        status = wf_err_set(err, WF_EINVAL,
                            "nothing was recorded: the program did not call MPI_Init of the "
                            "expected MPI library; choose it with --mpi");
    }
    if (status == WF_OK) {
        (void)fflush(NULL);
        end_like(how);
    }
    free(directory);
    free(library);
    return status;
}

const struct wf_verb wf_verb_capture = {
    .name = "capture",
    .summary = "Run an MPI program and record it",
    .help = {.synopsis = "weft capture -o <directory> [options] -- <command>...",
             .summary = "Run an unmodified MPI program and record its MPI calls",
             .examples =
                 {
                     {USAGE, "Record all ranks, with the CPU time between calls"},
                     {"weft replay run --machine gige",
                      "Then predict its time on another machine"},
                     {"weft capture -o quiet -q -- mpirun -n 2 ./app",
                      "Without notes, as in a batch job"},
                     {"weft capture -o first --ranks 0 -- mpirun -n 2 ./app",
                      "Some ranks of a large program only"},
                     {"weft capture -o counts --no-times -- mpirun -n 2 ./app",
                      "The calls alone: equal bytes in every run"},
                 },
             .table = rows},
    .opts_size = sizeof(struct capture_opts),
    .operand = "a command to run",
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .run = capture_run,
};
