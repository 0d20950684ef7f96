/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The actions of SimGrid's time-independent traces, for reader and writer. A line of a file is
 * an action of a rank in the world. */

#include "program/ops/op.h"

#include <stddef.h>

enum wf_ti_shape {
    WF_TI_PLAIN,   /* nothing but its kind: init, finalize, barrier */
    WF_TI_COMPUTE, /* an amount */
    WF_TI_SLEEP,   /* seconds */
    WF_TI_IGNORED, /* where the action is in the program */
    WF_TI_CALL,    /* a call that only takes time */
    WF_TI_MESSAGE, /* partner, tag, size, datatype */
    WF_TI_REQUEST, /* source, destination, tag of a request */
    WF_TI_WAITALL,
    WF_TI_SENDRECV,
    WF_TI_COLLECTIVE, /* as `args` says */
};

struct wf_ti_action {
    const char *name;
    enum wf_ti_shape shape;
    enum wf_op_kind kind;
    /* The arguments of a collective, a letter each: n a number of items, N as many as there
     * are ranks, f an amount of computing, x a number that does not matter; after [ all may
     * be missing: r the root, t the datatype, u that of what is received. */
    const char *args;
};

/* All actions; the last has a null name. */
extern const struct wf_ti_action wf_ti_actions[];

/* The action of this name, or null. */
const struct wf_ti_action *wf_ti_find(const char *name, size_t length);
