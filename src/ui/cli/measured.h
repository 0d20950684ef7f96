/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Curves that were simulated, alone or against what was measured (ui/study/bench.h). */

#include "ui/cli/simulate.h"
#include "ui/study/bench.h"

struct wf_cli_measured_opts {
    const char *machine, *plot; /* may be null */
    struct wf_opt_list params;
    struct wf_opt_list logs;        /* what benchmarks printed */
    uint32_t ranks, ranks_per_node; /* 0: what logs and machine say */
    bool json, force;
    /* Prints what has no measurements to compare with. Null: print errors. */
    void (*print)(const struct wf_measured_pair *pair, FILE *out);
};

/* Simulates the curves of the logs, and of `log` before them, which it releases. */
enum wf_status wf_cli_measured_run(struct wf_cli *cli, const struct wf_cli_measured_opts *opts,
                                   const struct wf_operands *operands,
                                   struct wf_measured_log *log, struct wf_err *err);
