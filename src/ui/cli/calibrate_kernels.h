/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ui/cli/cli.h"
#include "ui/cli/opt.h"

/* weft calibrate --kernels: measures routines of BLAS and writes a file of kernels. */
struct wf_calibrate_kernels {
    const char *output, *library;
    int64_t time;       /* picoseconds */
    uint64_t processes; /* of each node; 0: one for each core */
    bool force;
    bool part; /* measures, and prints what the process that writes the file reads */
};

/* `operands` is the launcher; without one, this host is measured. */
enum wf_status wf_cli_calibrate_kernels(struct wf_cli *cli,
                                        const struct wf_calibrate_kernels *opts,
                                        const struct wf_operands *operands, struct wf_err *err);
