/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/op.h"

#include <assert.h>
#include <string.h>

static const struct wf_op_info infos[] = {
#define X(name, text, family, detail, returns) \
    [WF_OP_##name] = {(text), WF_FAMILY_##family, (detail), (returns) != 0},
    WF_OP_MAP(X)
#undef X
};

const struct wf_op_info *wf_op_info(enum wf_op_kind kind)
{
    assert(kind < WF_OP_KINDS);
    return &infos[kind];
}

/* Details of collectives are values of enum wf_coll_kind (model/coll/coll.h): 2 and 3 are reduce and
 * allreduce, 12 to 15 are reduce_scatter to exscan. */
bool wf_op_reduces(enum wf_op_kind kind)
{
    const struct wf_op_info *info = wf_op_info(kind);
    uint8_t detail = info->detail;

    return kind == WF_OP_ACCUMULATE ||
           (info->family == WF_FAMILY_COLLECTIVE &&
            (detail == 2 || detail == 3 || (detail >= 12 && detail <= 15)));
}

const char *wf_reduction_name(uint32_t reduction)
{
    static const char *const names[] = {"unknown", "max",     "min",   "sum",  "prod", "land",
                                        "band",    "lor",     "bor",   "lxor", "bxor", "minloc",
                                        "maxloc",  "replace", "no_op", "user"};

    return names[reduction < WF_REDUCTIONS ? reduction : WF_REDUCE_UNKNOWN];
}

const char *wf_op_name(enum wf_op_kind kind)
{
    return wf_op_info(kind)->name;
}

enum wf_op_kind wf_op_of_call(const char *name)
{
    enum wf_op_kind kind = 0;

    if (strncmp(name, "MPI_", 4) != 0) {
        return WF_OP_CALL;
    }
    if (strcmp(name, "MPI_Sendrecv_replace") == 0 || strcmp(name, "MPI_Init_thread") == 0) {
        return strcmp(name, "MPI_Init_thread") == 0 ? WF_OP_INIT : WF_OP_SENDRECV;
    }
    while (kind < WF_OP_KINDS && (name[4] != infos[kind].name[0] - 'a' + 'A' ||
                                  strcmp(name + 5, infos[kind].name + 1) != 0)) {
        kind++;
    }
    return kind < WF_OP_KINDS ? kind : WF_OP_CALL;
}
