/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The outcomes of replicas, and what the document says about them; for replicas.c. */

#include "run/document/document.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_efficiency_times;
struct wf_value;

enum { WF_REPLICAS_EFFICIENCIES = 4 };

/* One row for each replica. Columns: the predicted time, the efficiencies (in 1e-6 percent), the
 * times of the jobs if there are several, and the ends of some ranks. A row whose first value is
 * WF_REPLICAS_MISSING was not run; WF_REPLICAS_FAILED: the program did not end. */
struct wf_replicas_table {
    size_t n_rows, n_columns;
    bool efficiency; /* the columns of efficiencies are used */
    uint32_t n_jobs; /* 0 if there is one job */
    uint32_t n_ranks;
    uint32_t *ranks; /* ranks of the run */
    int64_t *values;
};

#define WF_REPLICAS_MISSING (-2)
#define WF_REPLICAS_FAILED  (-1)

/* Ranks are all ranks if the table stays within its limits, else some of them at equal
 * distances. */
void wf_replicas_table_init(struct wf_replicas_table *table, size_t n_rows, uint64_t all_ranks,
                            uint32_t n_jobs, bool efficiency);
void wf_replicas_table_fini(struct wf_replicas_table *table);

/* What the replicas were drawn from. */
struct wf_replicas_drawn {
    size_t settings; /* uncertain settings */
    bool noise;      /* nodes have noise */
    /* Compute spans, those drawn from different values, and their share of the time. */
    uint64_t spans, varied, varied_percent;
    const char *kept; /* why no span is drawn; null: spans are drawn */
};

void wf_replicas_set_efficiency(int64_t *row, const struct wf_efficiency_times *times);

/* Adds quantiles and the section `uncertainty` to the document. `table` null: nothing is
 * uncertain, and no replica was run. */
void wf_replicas_describe(const struct wf_replicas_table *table, size_t runs,
                          const struct wf_replicas_drawn *drawn,
                          const struct wf_document_jobs *jobs, struct wf_value *root);
