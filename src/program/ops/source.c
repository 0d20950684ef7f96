/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/source.h"

#include "base/mem.h"

#include <stdlib.h>

/* Moves to the outermost source whose ops define the member; null if none does. */
#define ANSWERS(source, member)                              \
    while ((source) != NULL && (source)->ops->member == 0) { \
        (source) = (source)->inner;                          \
    }

bool wf_source_group(const struct wf_source *source, uint32_t rank, uint32_t comm,
                     struct wf_group *out)
{
    uint32_t n_ranks = source->n_ranks;

    ANSWERS(source, group)
    if (source != NULL) {
        return source->ops->group(source, rank, comm, out);
    }
    *out = (struct wf_group){
        .id = WF_COMM_WORLD, .size = n_ranks, .rank = rank, .stride = 1, .width = n_ranks};
    return comm == WF_COMM_WORLD;
}

const char *wf_source_name_of(const struct wf_source *source, enum wf_source_name kind,
                              uint32_t number)
{
    ANSWERS(source, name_of)
    return source != NULL ? source->ops->name_of(source, kind, number) : NULL;
}

bool wf_source_wall(const struct wf_source *source, uint32_t rank, int64_t *ps)
{
    ANSWERS(source, wall)
    return source != NULL && source->ops->wall(source, rank, ps);
}

bool wf_source_cost(const struct wf_source *source, uint32_t rank, int64_t *ps)
{
    ANSWERS(source, cost)
    return source != NULL && source->ops->cost(source, rank, ps);
}

bool wf_source_work(const struct wf_source *source, struct wf_source_work *out)
{
    return source->ops->work != NULL && source->ops->work(source, out);
}

enum wf_status wf_source_check(const struct wf_source *source, struct wf_err *err)
{
    ANSWERS(source, check)
    return source != NULL ? source->ops->check(source, err) : WF_OK;
}

void wf_source_free(struct wf_source *source)
{
    if (source != NULL && source->ops->destroy != NULL) {
        source->ops->destroy(source);
    } else if (source != NULL) {
        wf_source_end(source);
    }
}

void *wf_source_around(size_t size, const struct wf_source_ops *ops, struct wf_source *inner,
                       bool owned)
{
    struct wf_source *source = wf_xcalloc(1, size);

    *source = *inner;
    source->ops = ops;
    source->inner = inner;
    source->owns_inner = owned;
    return source;
}

void wf_source_end(struct wf_source *source)
{
    if (source->owns_inner) {
        wf_source_free(source->inner);
    }
    free(source);
}

bool wf_source_no_wall(const struct wf_source *source, uint32_t rank, int64_t *ps)
{
    return (void)source, (void)rank, (void)ps, false;
}
