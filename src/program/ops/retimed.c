/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/retimed.h"

#include "base/mem.h"

#include <stdlib.h>

struct retimed {
    struct wf_source head; /* must be first */
    struct wf_source *inner;
    struct wf_retimed_config config;
    bool owned;
};

static bool retimed_next(const struct wf_source *source, uint32_t rank,
                         struct wf_cursor *cursor, struct wf_op *op)
{
    const struct retimed *self = (const struct retimed *)source;

    if (!wf_source_next(self->inner, rank, cursor, op)) {
        return false;
    }
    if (op->kind == WF_OP_COMPUTE) {
        op->duration =
            self->config.duration(self->config.arg, rank, cursor->span++, op->duration);
    }
    return true;
}

static void retimed_destroy(struct wf_source *source)
{
    struct retimed *self = (struct retimed *)source;

    if (self->owned) {
        wf_source_free(self->inner);
    }
    free(self);
}

static const struct wf_source_ops retimed_ops = {
    .name = "retimed",
    .summary = "another source with other compute times",
    .destroy = retimed_destroy,
    .next = retimed_next,
};

struct wf_source *wf_retimed_new(struct wf_source *inner, bool owned,
                                 const struct wf_retimed_config *config)
{
    struct retimed *self = wf_xcalloc(1, sizeof(*self));

    self->head = *inner;
    self->head.ops = &retimed_ops;
    self->head.inner = inner;
    self->inner = inner;
    self->config = *config;
    self->owned = owned;
    return &self->head;
}
