/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_STUDY_SWEEP_H
#define WF_STUDY_SWEEP_H

/* One scenario at several loads, side by side on the cores. */

#include "base/status.h"
#include "study/curve.h"
#include "study/points.h"

struct wf_scenario;

enum { WF_SWEEP_MAX = 1000 };

/* The loads of "0.05:0.9:0.05", "0.1,0.2" or "0.3" into `loads` of WF_SWEEP_MAX entries. What
 * is no such text is WF_EUSAGE, a load outside of 0 to 1 WF_EINVAL. */
WF_NODISCARD
enum wf_status wf_sweep_loads(const char *text, double *loads, size_t *n, struct wf_err *err);

/* Runs all points of the curve, whose loads are set. Reports the failure of the first point, in
 * the order of the points, that failed. An interrupted sweep is WF_EINTR; the curve then holds
 * the points that are done. */
WF_NODISCARD
enum wf_status wf_sweep_run(const struct wf_scenario *scenario, struct wf_curve *curve,
                            const struct wf_points_host *host, struct wf_err *err);

#endif
