/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Where the arguments of a function are when it is called, by the calling conventions of C on
 * x86-64 and aarch64; and which of them have names in formulas.
 */

#include "base/expr.h"
#include "base/status.h"

enum {
    WF_VRANK_NAMED_MAX = 8,
    WF_VRANK_REALS = 8,  /* floating-point registers */
    WF_VRANK_STACK = 12, /* words of the stack that are looked at */
#ifdef __aarch64__
    WF_VRANK_WHOLES = 8, /* registers for whole numbers and addresses */
#else
    WF_VRANK_WHOLES = 6,
#endif
};

/* The arguments of a call: registers, then the stack. */
struct wf_vrank_call {
    uint64_t words[WF_VRANK_WHOLES + WF_VRANK_STACK];
    double reals[WF_VRANK_REALS];
};

struct wf_vrank_argument {
    uint8_t word;  /* index into the words of a call */
    uint8_t bytes; /* 1, 4 or 8 */
    bool is_signed, is_pointer;
    bool
        is_side; /* of a matrix: the value is the first named argument if left, else the second */
};

struct wf_vrank_arguments {
    uint32_t n;
    bool is_of_blas; /* returns at once if one of them is 0 */
    struct wf_vrank_argument named[WF_VRANK_NAMED_MAX];
    char names[WF_VRANK_NAMED_MAX][32];
};

/* Reads declarations such as "int m, double *a, int n)" up to the ')'; *at moves after it. */
enum wf_status wf_vrank_arguments_parse(const char **at, struct wf_vrank_arguments *out,
                                        struct wf_err *err);

/* The arguments of a function of BLAS or LAPACK: its name without the '_' of Fortran or "cblas_".
 * False if it is none that is known, or has no such interface. */
bool wf_vrank_arguments_of_blas(const char *name, bool fortran, struct wf_vrank_arguments *out,
                                bool *is_real);
/* Whether a kernel of this name returns an index of an array, as idamax. */
bool wf_vrank_is_index(const char *name);

/* The values of the named arguments; what is negative counts as 0. False if there is nothing to
 * do. */
bool wf_vrank_arguments_values(const struct wf_vrank_arguments *arguments,
                               const struct wf_vrank_call *call,
                               uint64_t values[WF_VRANK_NAMED_MAX]);
