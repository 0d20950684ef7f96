/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/grid.h"

#include "program/gen/grid.h"

#include <stdio.h>
#include <string.h>

enum { FIXED_MAX = 64 };

const char *const wf_ext_coord_names[] = {"x", "y", "z", "w", "rank"};
const char *const wf_ext_size_names[] = {"X", "Y", "Z", "W", "n"};

bool wf_ext_grid_make(const struct wf_ext_rule *rule, uint32_t n, struct wf_ext_grid *out)
{
    uint32_t variable[WF_GEN_GRID_DIMS_MAX] = {1, 1, 1, 1};
    uint32_t fixed = (rule->fixed > 0 ? rule->fixed : 1) * (rule->outer > 0 ? rule->outer : 1);
    uint32_t at = 0, stride = 1;

    if (n % fixed != 0) {
        return false;
    }
    memset(out, 0, sizeof(*out));
    wf_gen_grid_factor(n / fixed, rule->n_dims, variable);
    out->n = n;
    out->n_dims = rule->n_dims + (rule->fixed > 0 ? 1 : 0) + (rule->outer > 0 ? 1 : 0);
    if (rule->fixed > 0 && rule->fixed_inside) {
        out->size[at++] = rule->fixed;
    }
    for (uint32_t d = 0; d < rule->n_dims; d++) {
        out->size[at++] = variable[rule->small_first ? rule->n_dims - 1 - d : d];
    }
    if (rule->fixed > 0 && !rule->fixed_inside) {
        out->size[at++] = rule->fixed;
    }
    if (rule->outer > 0) {
        out->size[at++] = rule->outer;
    }
    for (uint32_t d = 0; d < out->n_dims; d++) {
        out->stride[d] = stride;
        stride *= out->size[d];
    }
    for (uint32_t d = out->n_dims; d < WF_EXT_DIMS; d++) {
        out->size[d] = 1;
        out->stride[d] = 1;
    }
    out->size[WF_EXT_WHOLE] = n;
    out->stride[WF_EXT_WHOLE] = 1;
    return true;
}

bool wf_ext_rule_at(uint32_t i, uint32_t divisor, struct wf_ext_rule *out)
{
    static const struct wf_ext_rule balanced[] = {
        {.n_dims = 1},
        {.n_dims = 2},
        {.n_dims = 2, .small_first = true},
        {.n_dims = 3},
        {.n_dims = 3, .small_first = true},
        {.n_dims = 4},
        {.n_dims = 4, .small_first = true},
    };
    enum { BALANCED = sizeof(balanced) / sizeof(balanced[0]) };

    if (i < BALANCED) {
        *out = balanced[i];
        return true;
    }
    i -= BALANCED;
    for (uint32_t k = 2; k <= FIXED_MAX && k <= divisor; k++) {
        if (divisor % k != 0) {
            continue;
        }
        for (uint32_t shape = 0; shape < 6; shape++, i--) {
            if (i == 0) {
                *out = (struct wf_ext_rule){.n_dims = shape < 2 ? 1 : 2,
                                            .small_first = shape >= 4,
                                            .fixed = k,
                                            .fixed_inside = shape % 2 == 0};
                return true;
            }
        }
    }
    for (uint32_t inner = 2; inner <= FIXED_MAX && inner <= divisor; inner++) {
        for (uint32_t outer = 2; outer <= FIXED_MAX && inner * outer <= divisor; outer++) {
            if (divisor % (inner * outer) == 0 && i-- == 0) {
                *out = (struct wf_ext_rule){
                    .n_dims = 1, .fixed = inner, .fixed_inside = true, .outer = outer};
                return true;
            }
        }
    }
    return false;
}

const char *wf_ext_grid_text(const struct wf_ext_grid *grid, char *text, size_t size)
{
    size_t at = 0;

    text[0] = '\0';
    for (uint32_t d = 0; d < grid->n_dims && at < size; d++) {
        at += (size_t)snprintf(text + at, size - at, "%s%u", d > 0 ? "x" : "", grid->size[d]);
    }
    return text;
}

const char *wf_ext_rule_text(const struct wf_ext_rule *rule, char *text, size_t size)
{
    static const char *const shapes[] = {"", "a line", "as square as possible",
                                         "as cubic as possible", "as cubic as possible in 4D"};
    char fixed[96] = "";

    if (rule->fixed > 0) {
        (void)snprintf(fixed, sizeof(fixed), ", with %s dimension of size %u",
                       rule->fixed_inside ? "an inner" : "an outer", rule->fixed);
    }
    if (rule->outer > 0) {
        (void)snprintf(fixed, sizeof(fixed),
                       ", with an inner dimension of size %u and an outer one of size %u",
                       rule->fixed, rule->outer);
    }
    (void)snprintf(text, size, "%s%s%s", shapes[rule->n_dims],
                   rule->n_dims > 1 ? (rule->small_first ? ", smallest dimension first"
                                                         : ", largest dimension first")
                                    : "",
                   fixed);
    return text;
}
