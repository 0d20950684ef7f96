/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/op.h"

#include <assert.h>

const char *wf_op_name(enum wf_op_kind kind)
{
    static const char *const names[] = {
#define X(name, text) [WF_OP_##name] = (text),
        WF_OP_MAP(X)
#undef X
    };

    assert(kind < WF_OP_KINDS);
    return names[kind];
}
