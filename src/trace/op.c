/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/op.h"

#include <assert.h>

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

const char *wf_op_name(enum wf_op_kind kind)
{
    return wf_op_info(kind)->name;
}
