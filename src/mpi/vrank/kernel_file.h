/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A file of kernels: functions that are not executed but take the time of a formula of their
 * arguments (docs/reference/kernels.md). Reading it checks all of it; what is read never
 * changes.
 */

#include "base/expr.h"
#include "base/status.h"
#include "mpi/vrank/kernel_arguments.h"

enum {
    WF_VRANK_KERNELS_MAX = 96, /* functions: each has code of its own (kernel_calls.c) */
    WF_VRANK_SHARES_MAX = 16,
    WF_VRANK_KERNEL_NONE = 0xffff
};

enum wf_vrank_kernel_spread {
    WF_VRANK_SPREAD_NONE,
    WF_VRANK_SPREAD_NORMAL,
    WF_VRANK_SPREAD_HALFNORMAL,
    WF_VRANK_SPREAD_EXPONENTIAL,
    WF_VRANK_SPREAD_UNIFORM,
};

/* How long a kernel takes, in one section of the file. */
struct wf_vrank_kernel_time {
    struct wf_expr_program *time;   /* null: it takes no time */
    struct wf_expr_program *spread; /* of the random part; null: none */
    enum wf_vrank_kernel_spread kind;
    struct wf_expr_program *result; /* a number; null: 0 */
    bool below;                     /* ...or a random one below it */
    uint32_t every;                 /* this one of so many calls is executed; 0: none */
    uint32_t line;                  /* of the file; 0: the section does not have this kernel */
};

struct wf_vrank_kernel {
    char *name;
    struct wf_vrank_arguments arguments; /* as declared; empty if those of BLAS are used */
    bool is_real;                        /* returns a floating-point number */
};

/* A symbol of the program or its libraries. */
struct wf_vrank_kernel_function {
    char name[64];
    uint32_t kernel;
    uint32_t base; /* smallest result of a random whole number: 1 in Fortran */
    struct wf_vrank_arguments arguments;
    bool is_real;
};

struct wf_vrank_range {
    uint32_t first, last;
};

/* Times for some ranks or nodes. The first section is for all. */
struct wf_vrank_kernel_section {
    bool of_nodes;
    struct wf_vrank_range *ranges;
    uint32_t n_ranges, max_ranges;
    struct wf_vrank_kernel_time *times; /* [WF_VRANK_KERNELS_MAX] */
};

/* Blocks of memory that all share the same pages. */
struct wf_vrank_share {
    uint64_t least;    /* bytes */
    char function[64]; /* that allocates them; empty: any */
    bool keeps;        /* pages that a rank writes to are its own from then on */
};

struct wf_vrank_kernels {
    struct wf_vrank_share shares[WF_VRANK_SHARES_MAX];
    uint32_t n_shares;
    struct wf_vrank_kernel kernels[WF_VRANK_KERNELS_MAX];
    uint32_t n_kernels;
    struct wf_vrank_kernel_function functions[WF_VRANK_KERNELS_MAX];
    uint32_t n_functions;
    struct wf_vrank_kernel_section *sections;
    uint32_t n_sections, max_sections;
};

/* On success the caller owns *out. Otherwise `err` names the file, the line and what to do. */
enum wf_status wf_vrank_kernels_read(const char *path, struct wf_vrank_kernels **out,
                                     struct wf_err *err);
void wf_vrank_kernels_free(struct wf_vrank_kernels *kernels); /* null is allowed */

/* The number of a function, or WF_VRANK_KERNEL_NONE. */
uint32_t wf_vrank_kernels_find(const struct wf_vrank_kernels *kernels, const char *name);

/* The section of a rank on a node: the last one that names it. */
uint32_t wf_vrank_kernels_section(const struct wf_vrank_kernels *kernels, uint32_t rank,
                                  uint32_t node);
/* The time of a kernel there: that of the section for all if the other does not have it. */
const struct wf_vrank_kernel_time *wf_vrank_kernels_time(const struct wf_vrank_kernels *kernels,
                                                         uint32_t section, uint32_t kernel);

/* In picoseconds, with the random part for this number. Negative times are 0. */
int64_t wf_vrank_kernel_duration(const struct wf_vrank_kernel_time *time,
                                 const uint64_t *values, uint64_t random);
/* What the kernel returns. */
uint64_t wf_vrank_kernel_result(const struct wf_vrank_kernel_time *time, const uint64_t *values,
                                uint64_t base, uint64_t random);
