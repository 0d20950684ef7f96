/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/cli/measured.h"

#include "base/result/result.h"
#include "run/scenario/scenario.h"
#include "ui/cli/interrupt.h"

#include <weft/weft.h>

static enum wf_status answer(struct wf_cli *cli, const struct wf_cli_measured_opts *opts,
                             const struct wf_measured_pairs *pairs, struct wf_err *err)
{
    if (opts->json) {
        struct wf_value *doc = wf_result_new_as("weft-curves-1", weft_version());

        wf_measured_add(pairs, opts->print == NULL, doc);
        wf_cli_answer(cli, doc);
    } else if (opts->print != NULL) {
        opts->print(&pairs->pairs[0], cli->out);
    } else {
        wf_measured_print_errors(pairs, cli->out);
    }
    return opts->plot != NULL ? wf_measured_plot(pairs, opts->plot, opts->force, err) : WF_OK;
}

enum wf_status wf_cli_measured_run(struct wf_cli *cli, const struct wf_cli_measured_opts *opts,
                                   const struct wf_operands *operands,
                                   struct wf_measured_log *log, struct wf_err *err)
{
    const struct wf_simulate_opts sim = {.machine = opts->machine, .params = opts->params};
    struct wf_progress_line line;
    struct wf_measured_pairs pairs = {.n = 0};
    struct wf_scenario *scenario = wf_scenario_new();
    enum wf_status status = wf_simulate_apply(&sim, operands, scenario, err);

    for (size_t i = 0; i < opts->logs.n && status == WF_OK; i++) {
        status = wf_measured_log_read(log, opts->logs.items[i], err);
    }
    if (status == WF_OK) {
        (void)wf_interrupt_watch();
        wf_progress_init(&line, WF_PROGRESS_AUTO, cli->err);
        const struct wf_points_host host = wf_progress_points(&line, "sizes", 1);
        const struct wf_measured_on on = {scenario, opts->ranks, opts->ranks_per_node};
        status = wf_measured_predict(log, &on, &host, &pairs, err);
        wf_progress_erase(&line);
    }
    if (status == WF_OK && pairs.n == 0) {
        status = wf_err_set(err, WF_EINVAL,
                            "%s: no times of messages or collectives, which could be compared",
                            opts->logs.n > 0 ? opts->logs.items[0] : "coll");
    }
    WF_THEN(status, answer(cli, opts, &pairs, err));
    wf_measured_pairs_fini(&pairs);
    wf_measured_log_fini(log);
    wf_scenario_free(scenario);
    return status;
}
