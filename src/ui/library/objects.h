/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the pointers that users of the library hold point to. */

#include <stdint.h>

struct wf_scenario;
struct wf_value;

struct weft_scenario {
    struct wf_scenario *scenario;
    char *program; /* temporary trace of what callbacks said; null: none */
};

struct weft_result {
    struct wf_value *doc;
    int64_t predicted_time_ps;
    char *json;
};
