/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CLI_SWEEP_H
#define WF_CLI_SWEEP_H

/* One scenario at several loads, side by side on the cores. */

#include "base/status.h"
#include "cli/curve.h"

struct wf_progress_line;
struct wf_scenario;

enum { WF_SWEEP_MAX = 1000 };

/* The loads of "0.05:0.9:0.05", "0.1,0.2" or "0.3" into `loads` of WF_SWEEP_MAX entries. What
 * is no such text is WF_EUSAGE, a load outside of 0 to 1 WF_EINVAL. */
WF_NODISCARD
enum wf_status wf_sweep_loads(const char *text, double *loads, size_t *n, struct wf_err *err);

/* Runs all points of the curve, whose loads are set, on `jobs` threads, and tells on
 * `progress`, which may be null, how far it is. What fails first in the order of the points is
 * reported. An interrupted sweep is WF_EINTR and leaves the points that are done in the curve.
 */
WF_NODISCARD
enum wf_status wf_sweep_run(const struct wf_scenario *scenario, struct wf_curve *curve,
                            size_t jobs, struct wf_progress_line *progress, struct wf_err *err);

#endif
