/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Measured curves beside simulations of the same benchmarks: times of collectives as
 * nccl-tests and the OSU micro-benchmarks print them, errors by row, plots. */

#include "base/points.h"
#include "ui/study/bench_log.h"

#include <stdio.h>

struct wf_scenario;
struct wf_value;

/* A curve and what a simulation gives for each of its rows, in the unit of the curve. */
struct wf_measured_pair {
    const struct wf_measured_curve *curve;
    uint32_t ranks;   /* simulated */
    uint64_t largest; /* the most bytes of a row that is simulated */
    double *predicted;
};

/* The bytes of a row of this size: the whole data, or the blocks of all ranks. */
uint64_t wf_measured_parts(enum wf_coll_kind kind, uint32_t ranks);

/* Where curves are simulated. */
struct wf_measured_on {
    const struct wf_scenario *base; /* the machine */
    uint32_t ranks, ranks_per_node; /* 0: what the log says */
};

struct wf_measured_pairs {
    struct wf_measured_pair *pairs;
    size_t n;
    size_t n_skipped; /* curves that are no messages (STREAM, HPL) or have no weft collective */
};

/* Simulates each row of each curve. From a size on that packets take long for (gigabytes, in all messages of a
 * row together), the time goes on in a straight line; pair->largest says from which. If nothing says how many ranks took part in a collective:
 * WF_EUSAGE. WF_EINTR if host->stop ended it. The caller releases *out with
 * wf_measured_pairs_fini(), also after an error. */
enum wf_status wf_measured_predict(const struct wf_measured_log *log,
                                   const struct wf_measured_on *on,
                                   const struct wf_points_host *host,
                                   struct wf_measured_pairs *out, struct wf_err *err);
void wf_measured_pairs_fini(struct wf_measured_pairs *pairs);

/* Times of one collective as nccl-tests print them, or as the OSU micro-benchmarks do. */
void wf_measured_print_nccl(const struct wf_measured_pair *pair, FILE *out);
void wf_measured_print_osu(const struct wf_measured_pair *pair, FILE *out);

/* Measured against predicted: every row with its error, then how many are near. The same for programs, and
 * as a picture in the format of the name of `path`. */
void wf_measured_print_errors(const struct wf_measured_pairs *pairs, FILE *out);
void wf_measured_add(const struct wf_measured_pairs *pairs, bool measured,
                     struct wf_value *doc);
enum wf_status wf_measured_plot(const struct wf_measured_pairs *pairs, const char *path,
                                bool force, struct wf_err *err);
