/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Formulas that users write: "2.1us*n", "max(t, 5us) + size*0.3ns".
 *
 *   sum      = product { ("+" | "-") product }
 *   product  = factor { ("*" | "/") factor }
 *   factor   = ["-"] ( number [unit] | name | "(" sum ")" | function )
 *   function = ("min" | "max") "(" sum "," sum ")"
 *
 * A number may have a power of ten, as in 7.9e-11.
 * Units are those of time (ps ns us ms s min h) and follow their number without a space. A name
 * has letters, digits, "_", ".", ":" and begins with a letter or "_". Every value is a number
 * or a time, which is known when a formula is compiled. Times are added to times, and
 * multiplied and divided by numbers; a time divided by a time is a number; a literal 0 is
 * either.
 *
 * Values are the same on every machine: fixed-point integers with 87 bits before the point and
 * 40 after it; times are in picoseconds. Literals, products and quotients are rounded to the
 * nearest value, halves away from zero; sums are exact. Values that are too large become the
 * largest.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WF_EXPR_TEXT_MAX = 1000, /* characters of a formula */
    WF_EXPR_NUMBER_BITS = 32 /* binary places of the result of wf_expr_number() */
};

struct wf_expr_variable {
    const char *name;
    bool is_time; /* in picoseconds */
};

struct wf_expr_program;

/* Compiles a formula over these variables, which are not kept. On success the caller owns *out
 * and releases it with wf_expr_free(). On failure the status is WF_EINVAL, *out is unchanged,
 * and `err` names the column, counted from 1. */
enum wf_status wf_expr_compile(const char *text, const struct wf_expr_variable *variables,
                               uint32_t n_variables, struct wf_expr_program **out,
                               struct wf_err *err);
void wf_expr_free(struct wf_expr_program *program); /* null is allowed */

bool wf_expr_is_time(const struct wf_expr_program *program); /* else the result is a number */
bool wf_expr_is_constant(const struct wf_expr_program *program);

/* Whether a formula has a usable value. */
enum WF_NODISCARD_TYPE wf_expr_outcome {
    WF_EXPR_FINE,
    WF_EXPR_BY_ZERO,  /* it divides by zero */
    WF_EXPR_NEGATIVE, /* the result is negative after rounding */
};

/* The value of a formula that is a time: in picoseconds, rounded to the nearest, at most
 * WF_TIME_MAX. `values` are those of the variables, in the order of compilation. *out is set
 * only for WF_EXPR_FINE. Allocates nothing. */
enum wf_expr_outcome wf_expr_time(const struct wf_expr_program *program, const uint64_t *values,
                                  int64_t *out);
/* The value of a formula that is a number, with WF_EXPR_NUMBER_BITS binary places, at most
 * UINT64_MAX. */
enum wf_expr_outcome wf_expr_number(const struct wf_expr_program *program,
                                    const uint64_t *values, uint64_t *out);

/* The outcome as the end of a sentence about the formula; never null. */
const char *wf_expr_outcome_text(enum wf_expr_outcome outcome);
