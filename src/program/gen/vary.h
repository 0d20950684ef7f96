/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Amounts that differ from rank to rank or from task to task, and their sums, for
 * generators. They are integers, so that every machine computes the same amounts.
 */

#include "base/arith.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Generators keep a share, from 0 to 1, in millionths. */
#define WF_GEN_SHARE_ONE UINT32_C(1000000)
uint32_t wf_gen_share(double share);

/* An amount between mean * (1 - spread) and mean * (1 + spread), evenly distributed and the
 * same for the same `stream` and `number`. `spread` is a share; mean must not be above
 * INT64_MAX / 2. */
uint64_t wf_gen_vary(uint64_t mean, uint32_t spread, uint64_t stream, uint64_t number);

/* `n` such amounts, for the numbers 0 to n - 1; the caller frees the table. In an all-to-all
 * exchange of uneven blocks, ranks share one table of 2 * n amounts: rank i sends amount i +
 * j to rank j. So table + i is what rank i sends to each rank and, since j sends the same
 * amount to i, also what it receives. */
uint64_t *wf_gen_vary_table(size_t n, uint64_t mean, uint32_t spread);

/* WF_ELIMIT if a table of amounts for so many ranks would be too large. */
enum wf_status wf_gen_check_table(const char *name, uint32_t n_ranks, struct wf_err *err);

/* a * b / c for c > 0, rounded up, or UINT64_MAX if that overflows. */
uint64_t wf_gen_times_over(uint64_t a, uint64_t b, uint64_t c);

/* a * b for messages_expected: 0, which means unknown, if it overflows. */
uint64_t wf_gen_expected(uint64_t a, uint64_t b);

/* WF_ELIMIT unless `times` computations of the duration `compute` can be simulated. If the
 * durations vary, pass twice the number. */
enum wf_status wf_gen_check_computing(const char *name, int64_t compute, uint64_t times,
                                      struct wf_err *err);

/* The smallest k with 2^k >= n: roughly the messages that each of n ranks sends in an
 * allreduce. */
uint32_t wf_gen_log2_up(uint32_t n);
