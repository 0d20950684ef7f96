/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Changes of a program that is played: the number of iterations, sizes and times. */

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { WF_EXT_SCALES_MAX = 16 };

/* How factors are distributed. None is negative or larger than wf_ext_scale_most(). */
enum wf_ext_scale_kind {
    WF_EXT_ALWAYS,      /* a */
    WF_EXT_UNIFORM,     /* from a to b */
    WF_EXT_NORMAL,      /* with mean a and standard deviation b, at most 4 of them away */
    WF_EXT_EXPONENTIAL, /* with mean a, at most 8 a */
    WF_EXT_SCALE_KINDS,
};

/* A factor for all of the program, or while a region is open. */
struct wf_ext_scale {
    const char *region; /* null: everywhere */
    enum wf_ext_scale_kind kind;
    double a, b;
};

struct wf_ext_scales {
    struct wf_ext_scale all[WF_EXT_SCALES_MAX];
    uint32_t n;
    char *text; /* owns the names */
};

/* Zeroed: nothing. */
struct wf_ext_changes {
    double repeat; /* factor of the rounds of the main loop; 0: none */
    struct wf_ext_scales bytes, compute;
    double spread; /* compute times differ from what they were by up to this share */
};

/* Reads "2", "solve=2,io=0.5" or "normal:1:0.1", "solve=uniform:0.8:1.2". The caller releases the scales with
 * wf_ext_scales_fini(). */
enum wf_status wf_ext_scales_read(const char *option, const char *text,
                                  struct wf_ext_scales *out, struct wf_err *err);
void wf_ext_scales_fini(struct wf_ext_scales *scales);

/* The product of the factors that apply: those without a region, and those whose region is
 * open. `random` chooses those that are distributed. */
double wf_ext_scale_now(const struct wf_ext_scales *scales, const uint32_t *open,
                        uint64_t random);
/* The largest that it can be, and its mean. */
double wf_ext_scale_most(const struct wf_ext_scales *scales, const uint32_t *open);
double wf_ext_scale_mean(const struct wf_ext_scales *scales, const uint32_t *open);

/* Counts a region as opened (1) or closed (-1), if it is one of the scales'. */
void wf_ext_scale_enter(const struct wf_ext_scales *scales, uint32_t *open, const char *region,
                        int change);

/* A factor from 1 - spread to 1 + spread that depends on the rank and the number of the time. */
double wf_ext_spread(double spread, uint32_t rank, uint64_t number);
