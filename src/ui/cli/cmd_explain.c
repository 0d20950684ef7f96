/* SPDX-License-Identifier: Apache-2.0 */
#include "run/execute/run.h"
#include "run/scenario/catalog.h"
#include "ui/cli/cli.h"
#include "ui/cli/interrupt.h"
#include "ui/cli/opt.h"
#include "ui/cli/progress.h"
#include "ui/report/explain.h"
#include "ui/study/again.h"

#include <time.h>

struct explain_opts {
    bool efficiency;
};

static const struct wf_opt rows[] = {
    WF_OPT_ROW(struct explain_opts, efficiency, BOOL, "efficiency", 0, NULL,
               .doc = "Run the scenario of the result again, and on an ideal network, however "
                      "long it takes; without this option, only if it took a few seconds"),
    WF_OPT_END,
};

/* A run that nobody asked for ends early. */
enum { UNASKED_SECONDS = 10 };

struct again {
    struct wf_progress_line line;
    volatile sig_atomic_t stop;
    bool asked;
    double began;
};

/* Of the processor, so that the answer is the same on a busy machine. */
static double clock_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void watch(void *arg, const struct wf_sim_progress *progress)
{
    struct again *again = arg;

    wf_progress_draw(&again->line, progress);
    if (*wf_interrupt_watch() != 0 ||
        (!again->asked && clock_seconds() - again->began > UNASKED_SECONDS)) {
        again->stop = WF_SIM_STOP_NOW;
    }
}

/* Adds what a run on an ideal network tells, if the document lacks it. */
static enum wf_status complete(struct wf_cli *cli, bool asked, struct wf_value *doc,
                               struct wf_err *err)
{
    struct again again = {.asked = asked, .began = clock_seconds()};
    const struct wf_sim_host host = {
        .stop = &again.stop, .progress = watch, .progress_arg = &again};
    struct wf_err own = {.status = WF_OK};

    if (wf_doc_find(doc, "result.efficiency") != NULL) {
        return WF_OK;
    }
    if (!wf_study_can_run_again(doc)) {
        return asked ? wf_err_set(err, WF_EINVAL,
                                  "--efficiency: this is no complete result of a replay that "
                                  "names its settings; repeat the run itself with --efficiency")
                     : WF_OK;
    }
    if (!asked && !wf_study_is_quick_again(doc)) {
        return WF_OK;
    }
    wf_progress_init(&again.line, WF_PROGRESS_AUTO, cli->err);
    enum wf_status status = wf_study_add_efficiency(doc, &host, &own);
    wf_progress_erase(&again.line);
    if (status != WF_OK && (asked || *wf_interrupt_watch() != 0)) {
        *err = own;
        return status;
    }
    return WF_OK;
}

static enum wf_status explain_run(struct wf_cli *cli, const void *opts_arg,
                                  const struct wf_operands *operands, struct wf_err *err)
{
    const struct explain_opts *opts = opts_arg;
    struct wf_value *doc = NULL;
    enum wf_status status = wf_cli_read_result(cli, operands->args.items[0], &doc, err);

    WF_THEN(status, complete(cli, opts->efficiency, doc, err));
    if (status == WF_OK) {
        const char *network = wf_doc_get_text(doc, "scenario.network", "");
        struct wf_catalog_entry model = {.limits = NULL};
        bool known = wf_catalog_find("net", network, &model);

        wf_explain(doc, known ? model.limits : NULL, cli->out);
    }
    wf_doc_free(doc);
    return status;
}

const struct wf_verb wf_verb_explain = {
    .name = "explain",
    .summary = "Explain what limits a run and what would make it faster",
    .help = {.synopsis = "weft explain <result.json>",
             .summary = "Explain in a few sentences what limits a run and what would make it "
                        "faster, with numbers",
             .examples =
                 {
                     {"weft replay gen:stencil3d -n 64 -o run.json", "Make a result"},
                     {"weft explain run.json", "What it means"},
                     {"weft replay gen:stencil3d -n 64 --what-if -o again.json",
                      "Simulate what would help, too"},
                     {"weft explain again.json",
                      "What half the latency or twice the bandwidth saves"},
                     {"weft explain run.json --efficiency",
                      "Share of load balance, waiting and transfer in the time"},
                 },
             .table = rows},
    .opts_size = sizeof(struct explain_opts),
    .operand = "a result document",
    .min_operands = 1,
    .max_operands = 1,
    .run = explain_run,
};
