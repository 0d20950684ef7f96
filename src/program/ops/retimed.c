/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/retimed.h"

struct retimed {
    struct wf_source head; /* must be first */
    struct wf_retimed_config config;
};

static bool retimed_next(const struct wf_source *source, uint32_t rank,
                         struct wf_cursor *cursor, struct wf_op *op)
{
    const struct retimed *self = (const struct retimed *)source;

    if (!wf_source_next(source->inner, rank, cursor, op)) {
        return false;
    }
    if (op->kind == WF_OP_COMPUTE) {
        op->duration =
            self->config.duration(self->config.arg, rank, cursor->span++, op->duration);
    }
    return true;
}

static const struct wf_source_ops retimed_ops = {
    .name = "retimed",
    .summary = "another source with other compute times",
    .next = retimed_next,
};

struct wf_source *wf_retimed_new(struct wf_source *inner, bool owned,
                                 const struct wf_retimed_config *config)
{
    struct retimed *self = wf_source_around(sizeof(*self), &retimed_ops, inner, owned);

    self->config = *config;
    return &self->head;
}
