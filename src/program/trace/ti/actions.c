/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/ti/actions.h"

#include <string.h>

const struct wf_ti_action wf_ti_actions[] = {
    {"init", WF_TI_PLAIN, WF_OP_INIT, ""},
    {"finalize", WF_TI_PLAIN, WF_OP_FINALIZE, ""},
    {"compute", WF_TI_COMPUTE, WF_OP_COMPUTE, ""},
    {"sleep", WF_TI_SLEEP, WF_OP_COMPUTE, ""},
    {"location", WF_TI_IGNORED, WF_OP_CALL, ""},
    {"comm_size", WF_TI_CALL, WF_OP_CALL, ""},
    {"comm_split", WF_TI_CALL, WF_OP_CALL, ""},
    {"comm_dup", WF_TI_CALL, WF_OP_CALL, ""},
    {"send", WF_TI_MESSAGE, WF_OP_SEND, ""},
    {"isend", WF_TI_MESSAGE, WF_OP_ISEND, ""},
    {"recv", WF_TI_MESSAGE, WF_OP_RECV, ""},
    {"irecv", WF_TI_MESSAGE, WF_OP_IRECV, ""},
    {"wait", WF_TI_REQUEST, WF_OP_WAIT, ""},
    {"test", WF_TI_REQUEST, WF_OP_TEST, ""},
    {"waitall", WF_TI_WAITALL, WF_OP_WAITALL, ""},
    {"sendRecv", WF_TI_SENDRECV, WF_OP_SENDRECV, ""},
    {"barrier", WF_TI_COLLECTIVE, WF_OP_BARRIER, ""},
    {"bcast", WF_TI_COLLECTIVE, WF_OP_BCAST, "n[rt"},
    {"reduce", WF_TI_COLLECTIVE, WF_OP_REDUCE, "nf[rt"},
    {"allreduce", WF_TI_COLLECTIVE, WF_OP_ALLREDUCE, "nf[t"},
    {"scan", WF_TI_COLLECTIVE, WF_OP_SCAN, "nf[t"},
    {"exscan", WF_TI_COLLECTIVE, WF_OP_EXSCAN, "nf[t"},
    {"gather", WF_TI_COLLECTIVE, WF_OP_GATHER, "nn[rtu"},
    {"scatter", WF_TI_COLLECTIVE, WF_OP_SCATTER, "nn[rtu"},
    {"allgather", WF_TI_COLLECTIVE, WF_OP_ALLGATHER, "nn[tu"},
    {"alltoall", WF_TI_COLLECTIVE, WF_OP_ALLTOALL, "nn[tu"},
    {"gatherv", WF_TI_COLLECTIVE, WF_OP_GATHERV, "nN[rtu"},
    {"allgatherv", WF_TI_COLLECTIVE, WF_OP_ALLGATHERV, "nN[tu"},
    {"scatterv", WF_TI_COLLECTIVE, WF_OP_SCATTERV, "Nn[rtu"},
    {"reducescatter", WF_TI_COLLECTIVE, WF_OP_REDUCE_SCATTER, "Nf[t"},
    {"alltoallv", WF_TI_COLLECTIVE, WF_OP_ALLTOALLV, "xNxN[tu"},
    {NULL, WF_TI_PLAIN, WF_OP_CALL, ""},
};

const struct wf_ti_action *wf_ti_find(const char *name, size_t length)
{
    for (const struct wf_ti_action *action = wf_ti_actions; action->name != NULL; action++) {
        if (action->name[0] == name[0] && strlen(action->name) == length &&
            memcmp(action->name, name, length) == 0) {
            return action;
        }
    }
    return NULL;
}
