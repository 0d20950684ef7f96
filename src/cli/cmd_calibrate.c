/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "cli/capture_library.h"
#include "cli/cli.h"
#include "cli/opt.h"
#include "study/fit.h"

#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLES_MAX = 128 };

struct calibrate_opts {
    const char *output;
    int mpi;
    uint64_t repeat;
    bool force, help;
};

static const char *const mpis[] = {"auto", "mpich", "openmpi", NULL};

static const struct wf_opt rows[] = {
    {.param = {.name = "output",
               .type = WF_PARAM_TEXT,
               .offset = offsetof(struct calibrate_opts, output),
               .doc = "The machine file to write"},
     .letter = 'o',
     .arg = "<file.yaml>"},
    {.param = {.name = "force",
               .type = WF_PARAM_BOOL,
               .offset = offsetof(struct calibrate_opts, force),
               .doc = "Overwrite that file if it exists"},
     .letter = 'f'},
    {.param = {.name = "mpi",
               .type = WF_PARAM_ENUM,
               .offset = offsetof(struct calibrate_opts, mpi),
               .def = "auto",
               .choices = mpis,
               .doc = "The MPI library; auto is that of the launcher"}},
    {.param = {.name = "repeat",
               .type = WF_PARAM_COUNT,
               .offset = offsetof(struct calibrate_opts, repeat),
               .def = "100",
               .min = "1",
               .max = "100000",
               .doc = "How often each size is measured; what a quarter is below counts"}},
    WF_OPT_HELP(struct calibrate_opts),
    WF_OPT_END,
};

#define USAGE "weft calibrate -o host.yaml -- mpirun -n 2"

static void calibrate_help(FILE *out)
{
    static const struct wf_opt_help help = {
        .synopsis = "weft calibrate -o <file.yaml> [options] -- <launcher of two ranks>...",
        .summary =
            "Measure messages between two ranks of a real MPI and write a machine file "
            "with latency, overhead, the time of each size and the limit of the eager protocol",
        .examples =
            {
                {USAGE, "Of this host"},
                {"weft replay run --machine host.yaml", "Then: replay what was captured on it"},
            },
        .table = rows,
    };

    wf_opt_print_help(&help, out);
}

struct measured {
    struct wf_sample samples[SAMPLES_MAX];
    struct wf_measured all; /* of these samples */
};

/* The numbers behind a word at the beginning of a line; null if it is another. */
static const char *behind(const char *line, const char *word)
{
    size_t length = strlen(word);

    return strncmp(line, word, length) == 0 ? line + length : NULL;
}

static void read_size(const char *numbers, bool both, struct measured *measured)
{
    char *rest = NULL;
    uint64_t bytes = strtoull(numbers, &rest, 10);
    double ns = strtod(rest, NULL);
    size_t n = measured->all.n;

    if (both && n > 0 && measured->samples[n - 1].bytes == bytes) {
        measured->samples[n - 1].both = ns;
    } else if (!both && n < SAMPLES_MAX && bytes > 0 && ns > 0) {
        measured->samples[measured->all.n++] = (struct wf_sample){bytes, ns, 0};
    }
}

static void read_line(const char *line, struct measured *measured)
{
    const struct {
        const char *word;
        double *ns;
    } singles[] = {{"send ", &measured->all.send},
                   {"take ", &measured->all.take},
                   {"stream ", &measured->all.stream}};
    const char *half = behind(line, "half "), *both = behind(line, "both "),
               *eager = behind(line, "eager ");

    if (half != NULL || both != NULL) {
        read_size(half != NULL ? half : both, both != NULL, measured);
    } else if (eager != NULL) {
        measured->all.eager_max = strtoull(eager, NULL, 10);
    }
    for (size_t i = 0; i < sizeof(singles) / sizeof(singles[0]); i++) {
        const char *number = behind(line, singles[i].word);
        *singles[i].ns = number != NULL ? strtod(number, NULL) : *singles[i].ns;
    }
}

static void read_lines(FILE *in, struct measured *measured)
{
    char line[256];

    measured->all.samples = measured->samples;
    while (fgets(line, sizeof(line), in) != NULL) {
        read_line(line, measured);
    }
}

static enum wf_status run_pingpong(char *const *command, struct measured *measured,
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
        read_lines(in, measured);
        (void)waitpid(child, &how, 0);
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    if (failed != 0) {
        return wf_err_set(err, WF_EUSAGE, "cannot run '%.200s': %s", command[0],
                          strerror(failed));
    }
    if (how != 0 || measured->all.n < 8) {
        return wf_err_set(
            err, WF_EINVAL,
            "'%.200s' did not run the ping-pong on two ranks; for example: " USAGE, command[0]);
    }
    return WF_OK;
}

/* ---- the machine file ---- */

static void write_samples(FILE *out, const struct measured *measured, const struct wf_fit *fit,
                          const char *mpi)
{
    (void)fprintf(out,
                  "# Measured by weft calibrate: half round trips between two ranks of %s.\n"
                  "# The model differs from them by %.1f %% in the mean, %.1f %% at most:\n#\n"
                  "# %10s %12s %12s %8s %14s %12s\n",
                  mpi, fit->mean_error * 100, fit->max_error * 100, "bytes", "measured us",
                  "model us", "error %", "both ways us", "model us");
    for (size_t i = 0; i < measured->all.n; i++) {
        const struct wf_sample *s = &measured->samples[i];
        double model = wf_fit_time(fit, s->bytes);
        (void)fprintf(out, "# %10" PRIu64 " %12.3f %12.3f %8.1f %14.3f %12.3f\n", s->bytes,
                      s->ns / 1e3, model / 1e3, (model / s->ns - 1) * 100, s->both / 1e3,
                      wf_fit_both(fit, s->bytes) / 1e3);
    }
    (void)fprintf(out,
                  "#\n# A call that sends a byte takes %.0f ns, one that takes in a byte that "
                  "is there %.0f ns,\n# one of a stream of messages %.0f ns.\n",
                  measured->all.send, measured->all.take, measured->all.stream);
}

static void write_points(FILE *out, const char *name, const struct wf_fit_points *points)
{
    (void)fprintf(out, "  %s: \"", name);
    for (size_t i = 0; i < points->n; i++) {
        (void)fprintf(out, "%s%" PRIu64 ":%.0fps", i > 0 ? "," : "", points->at[i].bytes,
                      points->at[i].ns * 1e3);
    }
    (void)fprintf(out, "\"\n");
}

static void write_machine(FILE *out, const struct measured *measured, const struct wf_fit *fit,
                          const char *mpi)
{
    char host[256] = "host";

    (void)gethostname(host, sizeof(host) - 1);
    write_samples(out, measured, fit, mpi);
    (void)fprintf(out, "name: %s\nsummary: as measured, two ranks of %s\n", host, mpi);
    (void)fprintf(out, "network:\n  model: loggp\n  L: %.0fps\n  o: %.0fps\n  g: %.0fps\n",
                  fit->L * 1e3, fit->o * 1e3, fit->g * 1e3);
    (void)fprintf(out, "  bandwidth: %.0fMB/s\n", fit->G > 1e-6 ? 1e3 / fit->G : 1e9);
    (void)fprintf(out, "  shared: %.3f\n", fit->shared);
    write_points(out, "sizes", &fit->tail);
    if (fit->held.n > 0) {
        write_points(out, "held", &fit->held);
    }
    (void)fprintf(out, "mpi:\n  rules: %s\n", mpi);
    if (fit->has_limit) {
        (void)fprintf(out, "  eager_max: %" PRIu64 "\n", fit->eager_max);
    }
}

static enum wf_status save(const struct calibrate_opts *opts, const struct measured *measured,
                           const struct wf_fit *fit, const char *mpi, struct wf_err *err)
{
    FILE *out = fopen(opts->output, opts->force ? "we" : "wxe");

    if (out == NULL) {
        return wf_err_set(err, errno == EEXIST ? WF_EUSAGE : WF_EIO,
                          "cannot write '%.300s': %s%s", opts->output, strerror(errno),
                          errno == EEXIST ? "; --force replaces it" : "");
    }
    write_machine(out, measured, fit, mpi);
    return fclose(out) == 0 ? WF_OK
                            : wf_err_set(err, WF_EIO, "cannot write '%.300s': %s", opts->output,
                                         strerror(errno));
}

static enum wf_status calibrate(struct wf_cli *cli, const struct calibrate_opts *opts,
                                struct wf_operands *operands, struct wf_err *err)
{
    struct measured *measured = wf_xcalloc(1, sizeof(*measured));
    const char *mpi = NULL;
    char *program = NULL;
    struct wf_fit fit = {.L = 0};
    char repeat[24];

    operands->args.items =
        wf_xrealloc(operands->args.items, operands->args.n + 3, sizeof(*operands->args.items));
    operands->args.items[operands->args.n] = NULL;
    char **command = (char **)wf_unconst(operands->args.items);
    enum wf_status status = wf_capture_pingpong(mpis[opts->mpi], command, &mpi, &program, err);
    if (status == WF_OK) {
        operands->args.items[operands->args.n] = program;
        (void)snprintf(repeat, sizeof(repeat), "%" PRIu64, opts->repeat);
        operands->args.items[operands->args.n + 1] = repeat;
        operands->args.items[operands->args.n + 2] = NULL;
        status = run_pingpong(command, measured, err);
    }
    if (status == WF_OK && !wf_fit(&measured->all, &fit)) {
        status = wf_err_set(err, WF_EINVAL,
                            "the times that were measured make no sense; is the "
                            "machine busy?");
    }
    if (status == WF_OK) {
        status = save(opts, measured, &fit, mpi, err);
    }
    if (status == WF_OK) {
        (void)fprintf(cli->out,
                      "latency %.0f ns, overhead %.0f ns, gap %.0f ns, bandwidth %.2f GB/s",
                      fit.L, fit.o, fit.g, fit.G > 0 ? 1 / fit.G : 0);
        if (fit.has_limit) {
            (void)fprintf(cli->out, ", eager up to %" PRIu64 " bytes", fit.eager_max);
        }
        (void)fprintf(cli->out, "; off by %.1f %% in the mean, %.1f %% at most\n",
                      fit.mean_error * 100, fit.max_error * 100);
    }
    free(program);
    free(measured);
    return status;
}

static enum wf_status calibrate_run(struct wf_cli *cli, int argc, char **argv,
                                    struct wf_err *err)
{
    struct calibrate_opts opts = {.help = false};
    struct wf_operands operands;

    enum wf_status status = wf_opt_parse(rows, argc, argv, &opts, &operands, err);
    if (status != WF_OK) {
        return status;
    }
    if (opts.help) {
        calibrate_help(cli->out);
    } else if (opts.output == NULL || operands.args.n == 0) {
        status = wf_err_set(err, WF_EUSAGE, "no %s; for example: " USAGE,
                            opts.output == NULL ? "file to write" : "launcher of two ranks");
    } else {
        status = calibrate(cli, &opts, &operands, err);
    }
    wf_opt_release(rows, &opts, &operands);
    return status;
}

const struct wf_verb wf_verb_calibrate = {
    .name = "calibrate",
    .summary = "Measure a machine's messages and write a machine file",
    .run = calibrate_run,
    .help = calibrate_help,
};
