/* SPDX-License-Identifier: Apache-2.0 */
/* Runs what every part of weft has to pass on the parts of a plug-in: the conformance tests, each in
 * a process of its own, so that a crash of the plug-in is an answer too. */
#include "base/install.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "ui/cli/cli.h"
#include "ui/plugin/plugin.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct check_plugin_opts {
    bool quiet;
    const char *sample;
    int64_t time;
};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(struct check_plugin_opts, quiet, BOOL, "quiet", 'q', NULL,
               .doc = "Show only what fails"),
    WF_OPT_ROW(struct check_plugin_opts, sample, TEXT, "sample", 's', "<file|directory>",
               .doc = "A trace in the format of the plug-in, to check how it is read, whole "
                      "and damaged; the original stays as it is"),
    WF_OPT_ROW(struct check_plugin_opts, time, TIME, "time", 0, NULL, .def = "300s",
               .min = "1s", .max = "24h",
               .doc = "How long the check of one part may take: a part that hangs fails"),
    WF_OPT_END,
};

static const char trace_format[] = "trace format"; /* the kind that is checked on a sample */

/* The program that checks a kind. */
static const struct {
    const char *kind, *program;
} checks[] = {
    {"topology", "conformance_topo"},
    {"routing policy", "conformance_route"},
    {"collective algorithm", "conformance_coll"},
    {"generator", "conformance_gen"},
    {trace_format, "conformance_reader"},
    {"scheduling policy", "conformance_queue"},
    {"output format", "conformance_writer"},
};

enum { N_CHECKS = sizeof(checks) / sizeof(checks[0]) };

/* Null: there is none. */
static char *path_of(const char *program)
{
    char name[64];

    if (program == NULL) {
        return NULL;
    }
    (void)snprintf(name, sizeof(name), "tests/%s", program);
    char *built = wf_install_find(name);
    return built != NULL ? built : wf_install_find(program);
}

/* A part of a plug-in. */
struct part {
    const char *plugin, *kind, *name;
    const char *sample; /* for a trace format; or null */
    unsigned seconds;   /* that its check may take */
};

/* In the child: becomes the program, with this plug-in and only this part. */
static void become(const char *program, const struct part *part, int out)
{
    char *argv[] = {wf_unconst(program), NULL};

    if (setenv("WEFT_PLUGINS", part->plugin, 1) == 0 &&
        setenv("WEFT_TEST_ONLY", part->name, 1) == 0 &&
        (part->sample == NULL || setenv("WEFT_TEST_SAMPLE", part->sample, 1) == 0) &&
        dup2(out, STDOUT_FILENO) >= 0) {
        (void)alarm(part->seconds);
        (void)execv(program, argv);
    }
    _exit(127);
}

/* Shows what the program said, unless it passed and nobody wants to see that. */
static void show(struct wf_cli *cli, FILE *said, bool all)
{
    char line[512];

    rewind(said);
    while (all && fread(line, 1, 1, said) == 1) {
        (void)fputc(line[0], cli->out);
    }
}

static void tell(struct wf_cli *cli, const struct part *part, int how)
{
    (void)fprintf(cli->out, "%s %s: ", part->kind, part->name);
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGALRM) {
        (void)fprintf(cli->out, "not done after %u s (--time)\n", part->seconds);
    } else if (WIFSIGNALED(how)) {
        (void)fprintf(cli->out, "crashed, %s\n", strsignal(WTERMSIG(how)));
    } else {
        (void)fprintf(cli->out, "%s\n", WEXITSTATUS(how) == 0 ? "passed" : "failed");
    }
}

static enum wf_status check_part(struct wf_cli *cli, const char *program,
                                 const struct part *part, bool quiet, struct wf_err *err)
{
    int how = 0;
    FILE *said = tmpfile();
    pid_t child = said != NULL ? fork() : -1;

    if (child == 0) {
        become(program, part, fileno(said));
    }
    if (child < 0 || waitpid(child, &how, 0) != child) {
        return wf_err_set(err, WF_EIO, "cannot start '%.200s'", program);
    }
    bool passed = WIFEXITED(how) && WEXITSTATUS(how) == 0;
    show(cli, said, !passed);
    (void)fclose(said);
    if (!quiet || !passed) {
        tell(cli, part, how);
    }
    return passed ? WF_OK
                  : wf_err_set(err, WF_ESIM, "the %s '%.64s' does not keep its contract",
                               part->kind, part->name);
}

static const char *program_for(const char *kind)
{
    size_t i = WF_LOOKUP_INDEX(checks, N_CHECKS, kind);

    return i < N_CHECKS ? checks[i].program : NULL;
}

static enum wf_status check_number(struct wf_cli *cli, const char *plugin, size_t i,
                                   const struct check_plugin_opts *opts, struct wf_err *err)
{
    struct part part = {.plugin = plugin,
                        .kind = "",
                        .sample = opts->sample,
                        .seconds = (unsigned)(opts->time / INT64_C(1000000000000))};
    part.name = wf_plugin_added(i, &part.kind);

    if (strcmp(part.kind, trace_format) == 0 && opts->sample == NULL) {
        (void)fprintf(cli->out, "%s %s: loaded; --sample names a trace to check it with\n",
                      part.kind, part.name);
        return WF_OK;
    }
    char *program = path_of(program_for(part.kind));
    if (program == NULL) {
        return wf_err_set(
            err, WF_EIO,
            "the check of a %s is not installed beside this program; 'make' builds it",
            part.kind);
    }
    enum wf_status status = check_part(cli, program, &part, opts->quiet, err);
    free(program);
    return status;
}

static enum wf_status check_plugin_run(struct wf_cli *cli, const void *opts_arg,
                                       const struct wf_operands *operands, struct wf_err *err)
{
    const struct check_plugin_opts *opts = opts_arg;
    char *plugin = realpath(operands->args.items[0], NULL);
    enum wf_status status = WF_OK;
    const char *kind;
    size_t before = 0;

    if (opts->sample != NULL && access(opts->sample, R_OK) != 0) {
        free(plugin);
        return wf_err_set(err, WF_EINVAL, "cannot read the sample '%.200s'", opts->sample);
    }
    if (plugin == NULL) {
        return wf_err_set(err, WF_EINVAL, "there is no file '%.200s'", operands->args.items[0]);
    }
    while (wf_plugin_added(before, &kind) != NULL) {
        before++; /* of other plug-ins */
    }
    status = wf_plugin_load(plugin, err);
    if (status == WF_OK && wf_plugin_added(before, &kind) == NULL) {
        status = wf_err_set(err, WF_EINVAL, "plug-in '%.200s' adds nothing", plugin);
    }
    for (size_t i = before; status == WF_OK && wf_plugin_added(i, &kind) != NULL; i++) {
        status = check_number(cli, plugin, i, opts, err);
    }
    free(plugin);
    return status;
}

const struct wf_verb wf_verb_check_plugin = {
    .name = "check-plugin",
    .summary = "Check that a plug-in keeps the contracts",
    .help = {.synopsis = "weft check-plugin [options] <shared object>",
             .summary =
                 "Load a plug-in and run the conformance tests on all that it adds: the same "
                 "ones that weft's own topologies, routing policies, collective algorithms, "
                 "generators, trace formats, scheduling policies and outputs pass",
             .examples =
                 {
                     {"weft check-plugin ./mine.so", "All parts of mine.so"},
                     {"weft check-plugin ./mine.so --sample trace.calls",
                      "A trace format, with a trace of it"},
                     {"weft check-plugin ./mine.so -q", "Only what fails"},
                     {"WEFT_PLUGINS=./mine.so weft topo chordal:12,chord=3", "Then use it"},
                     {"WEFT_PLUGINS=./mine.so weft help topo.chordal",
                      "Its parameters, as those of any topology"},
                 },
             .table = rows},
    .opts_size = sizeof(struct check_plugin_opts),
    .operand = "a plug-in",
    .min_operands = 1,
    .max_operands = 1,
    .run = check_plugin_run,
};
