/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/source.h"

bool wf_source_group(const struct wf_source *source, uint32_t rank, uint32_t comm,
                     struct wf_group *out)
{
    if (source->ops->group != NULL) {
        return source->ops->group(source, rank, comm, out);
    }
    if (comm != WF_COMM_WORLD) {
        return false;
    }
    *out = (struct wf_group){.id = WF_COMM_WORLD,
                             .size = source->n_ranks,
                             .rank = rank,
                             .stride = 1,
                             .width = source->n_ranks};
    return true;
}

const char *wf_source_region_name(const struct wf_source *source, uint32_t number)
{
    return source->ops->region_name != NULL ? source->ops->region_name(source, number) : NULL;
}

bool wf_source_wall(const struct wf_source *source, uint32_t rank, int64_t *ps)
{
    return source->ops->wall != NULL && source->ops->wall(source, rank, ps);
}

bool wf_source_cost(const struct wf_source *source, uint32_t rank, int64_t *ps)
{
    return source->ops->cost != NULL && source->ops->cost(source, rank, ps);
}

enum wf_status wf_source_check(const struct wf_source *source, struct wf_err *err)
{
    return source->ops->check != NULL ? source->ops->check(source, err) : WF_OK;
}

void wf_source_free(struct wf_source *source)
{
    if (source != NULL) {
        source->ops->destroy(source);
    }
}
