/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/finding.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

const char *wf_finding_name(enum wf_finding_kind kind)
{
    static const char *const names[] = {
#define X(name, text) [WF_FINDING_##name] = #text,
        WF_FINDING_MAP(X)
#undef X
    };

    return names[kind];
}

static int order_of_calls(const struct wf_finding_call *one,
                          const struct wf_finding_call *other)
{
    int sites = WF_ORDER(one->site, other->site);

    return sites != 0 ? sites : strcmp(one->call, other->call);
}

/* The order of findings that are one; those of equal ranks by their words. */
static int order_within(const struct wf_finding *one, const struct wf_finding *other)
{
    int order = 2 * WF_ORDER(one->own.rank, other->own.rank) +
                WF_ORDER(one->other.rank, other->other.rank);

    return order != 0 ? order : strcmp(one->what, other->what);
}

static bool is_same(const struct wf_finding *one, const struct wf_finding *other)
{
    return one->kind == other->kind && order_of_calls(&one->own, &other->own) == 0 &&
           order_of_calls(&one->other, &other->other) == 0;
}

void wf_findings_add(struct wf_findings *list, const struct wf_finding *finding)
{
    for (uint32_t i = 0; i < list->n; i++) {
        struct wf_finding *known = &list->items[i];
        if (is_same(known, finding)) {
            uint64_t count = known->count + finding->count;
            if (order_within(finding, known) < 0) {
                *known = *finding;
            }
            known->count = count;
            return;
        }
    }
    if (list->n < WF_FINDINGS_MAX) {
        WF_PUSH(list->items, list->n, list->capacity, *finding);
    }
}

static int order_in_list(const void *a, const void *b)
{
    const struct wf_finding *one = a, *other = b;
    int order = 2 * WF_ORDER(one->own.rank, other->own.rank) + WF_ORDER(one->kind, other->kind);

    order = order != 0 ? order : order_of_calls(&one->own, &other->own);
    return order != 0 ? order : order_of_calls(&one->other, &other->other);
}

void wf_findings_sort(struct wf_findings *list)
{
    WF_SORT(list->items, list->n, order_in_list);
}

void wf_findings_fini(struct wf_findings *list)
{
    free(list->items);
    *list = (struct wf_findings){.items = NULL};
}
