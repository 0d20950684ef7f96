/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Amounts that differ from rank to rank or from task to task, and sums of them, for generators.
 * They are integers, so that every machine
 * computes the same.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* A share as generators keep it: from 0 to 1 in millionths. */
#define WF_GEN_SHARE_ONE UINT32_C(1000000)
uint32_t wf_gen_share(double share);

/* An amount between mean * (1 - spread) and mean * (1 + spread), evenly distributed and the
 * same for the same `stream` and `number`. `spread` is a share; mean must not be above
 * INT64_MAX / 2. */
uint64_t wf_gen_vary(uint64_t mean, uint32_t spread, uint64_t stream, uint64_t number);

/* `n` such amounts, for the numbers 0 to n - 1; the caller frees the table. An all-to-all
 * exchange of uneven blocks needs no table for each rank: with 2 * n amounts, what rank i sends
 * to rank j is amount i + j, so that table + i is what i sends and, as j sends as much to i,
 * what it receives. */
uint64_t *wf_gen_vary_table(size_t n, uint64_t mean, uint32_t spread);

/* WF_ELIMIT if a table of amounts for so many ranks would be beyond reason. */
WF_NODISCARD
enum wf_status wf_gen_check_table(const char *name, uint32_t n_ranks, struct wf_err *err);

/* a * b, or UINT64_MAX if that is too much; and a * b rounded up after division by c > 0. */
uint64_t wf_gen_times(uint64_t a, uint64_t b);
uint64_t wf_gen_times_over(uint64_t a, uint64_t b, uint64_t c);

/* a * b for messages_expected: 0, which is unknown, if it is too much. */
uint64_t wf_gen_expected(uint64_t a, uint64_t b);

/* WF_ELIMIT unless computing `times` times for as long as `compute` can be simulated. Where
 * times vary, ask for twice as many. */
WF_NODISCARD
enum wf_status wf_gen_check_computing(const char *name, int64_t compute, uint64_t times,
                                      struct wf_err *err);

/* The least k with 2^k >= n: messages that each of n ranks sends in an allreduce, roughly. */
uint32_t wf_gen_log2_up(uint32_t n);
