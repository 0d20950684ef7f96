/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_OPS_REDUCTION_H
#define WF_OPS_REDUCTION_H

#include <stdint.h>

/* What a reduction combines its operands with; the numbers are in trace files. */
enum wf_reduction {
    WF_REDUCE_UNKNOWN, /* nobody said */
    WF_REDUCE_MAX,
    WF_REDUCE_MIN,
    WF_REDUCE_SUM,
    WF_REDUCE_PROD,
    WF_REDUCE_LAND,
    WF_REDUCE_BAND,
    WF_REDUCE_LOR,
    WF_REDUCE_BOR,
    WF_REDUCE_LXOR,
    WF_REDUCE_BXOR,
    WF_REDUCE_MINLOC,
    WF_REDUCE_MAXLOC,
    WF_REDUCE_REPLACE,
    WF_REDUCE_NO_OP,
    WF_REDUCE_USER, /* an operation of the program's own */
    WF_REDUCTIONS,
};

/* The name, as MPI has it without MPI_, in lower case; never null. */
const char *wf_reduction_name(uint32_t reduction);

#endif
