/* SPDX-License-Identifier: Apache-2.0 */
#include "model/failure/failure.h"

const struct wf_failure_law wf_failure_law_list = {
    .name = "list",
    .summary = "The times in a file (times=), a line each: 12.5h, or 12.5h and a node",
};
