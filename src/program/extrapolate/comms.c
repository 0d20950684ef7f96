/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/comms.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether two ranks are in the same of the pieces of `size` ranks, and a multiple of the group's
 * stride apart. */
static bool in_piece(const struct wf_ext_group *group, uint32_t size, uint32_t rank,
                     uint32_t other)
{
    uint32_t stride = group->stride > 0 ? group->stride : 1;

    return rank / size == other / size && rank % stride == other % stride;
}

static bool belongs(const struct wf_ext_grid *grid, const struct wf_ext_group *group,
                    uint32_t rank, uint32_t other)
{
    switch (group->type) {
    case WF_EXT_GROUP_WORLD:
        return true;
    case WF_EXT_GROUP_SELF:
        return rank == other;
    case WF_EXT_GROUP_BLOCK:
        return in_piece(group, group->k, rank, other);
    case WF_EXT_GROUP_STRIDE:
        return rank % group->k == other % group->k;
    case WF_EXT_GROUP_PART:
        return in_piece(group, grid->n / group->k, rank, other);
    case WF_EXT_GROUP_DIMS:
        break;
    }
    for (uint32_t d = 0; d < grid->n_dims; d++) {
        if ((group->k >> d & 1) == 0 &&
            wf_ext_coord(grid, d, rank) != wf_ext_coord(grid, d, other)) {
            return false;
        }
    }
    return true;
}

uint32_t wf_ext_group_members(const struct wf_ext_grid *grid, const struct wf_ext_group *group,
                              uint32_t rank, uint32_t *members, uint32_t *own)
{
    uint32_t n = 0;
    bool divides =
        group->type < WF_EXT_GROUP_BLOCK || (group->k > 0 && grid->n % group->k == 0);

    for (uint32_t r = 0; divides && r < grid->n; r++) {
        if (belongs(grid, group, rank, r)) {
            *own = r == rank ? n : *own;
            members[n++] = r;
        }
    }
    return n;
}

uint32_t wf_ext_groups_count(const struct wf_ext_input *input)
{
    uint32_t most = 1;

    for (uint32_t c = 0; c < input->n_counts; c++) {
        for (uint32_t r = 0; r < input->counts[c].n; r++) {
            uint32_t n = input->counts[c].ranks[r].n_comms;
            most = n > most ? n : most;
        }
    }
    return most;
}

/* Whether the group is the communicator `i` of all ranks that have it. */
static bool fits(const struct wf_ext_input *input, uint32_t i, const struct wf_ext_group *group,
                 uint32_t *count, uint32_t *rank)
{
    uint32_t largest = input->counts[input->n_counts - 1].n;
    uint32_t *members = wf_xcalloc(largest, sizeof(*members));
    bool same = true;

    for (uint32_t c = 0; c < input->n_counts && same; c++) {
        const struct wf_ext_count *at = &input->counts[c];
        for (uint32_t r = 0; r < at->n && same; r++) {
            uint32_t own = 0;
            if (i >= at->ranks[r].n_comms) {
                continue;
            }
            const struct wf_ext_comm *comm = &at->ranks[r].comms[i];
            uint32_t n = wf_ext_group_members(&at->grid, group, r, members, &own);
            same = n == comm->size && own == comm->rank &&
                   memcmp(members, comm->members, n * sizeof(*members)) == 0;
            *count = c;
            *rank = r;
        }
    }
    free(members);
    return same;
}

/* Tries strided groups within a block or a part: those that the first rank with the communicator
 * shows in the smallest count. */
static bool find_spaced(const struct wf_ext_input *input, uint32_t i, struct wf_ext_group *out,
                        uint32_t *count, uint32_t *rank)
{
    const struct wf_ext_count *first = &input->counts[0];
    uint32_t r = 0;

    while (r < first->n && i >= first->ranks[r].n_comms) {
        r++;
    }
    if (r == first->n || first->ranks[r].comms[i].size < 2) {
        return false;
    }
    const struct wf_ext_comm *comm = &first->ranks[r].comms[i];
    uint32_t stride = comm->members[1] - comm->members[0];
    uint64_t size = (uint64_t)stride * comm->size;
    if (comm->members[1] <= comm->members[0] || size > first->n || first->n % size != 0) {
        return false;
    }
    *out = (struct wf_ext_group){
        .type = WF_EXT_GROUP_BLOCK, .k = (uint32_t)size, .stride = stride};
    if (fits(input, i, out, count, rank)) {
        return true;
    }
    *out = (struct wf_ext_group){
        .type = WF_EXT_GROUP_PART, .k = first->n / (uint32_t)size, .stride = stride};
    return fits(input, i, out, count, rank);
}

bool wf_ext_group_find(const struct wf_ext_input *input, uint32_t i, struct wf_ext_group *out,
                       uint32_t *count, uint32_t *rank)
{
    enum { PARTS_MAX = 64 };
    struct wf_ext_group group = {.type = WF_EXT_GROUP_WORLD};
    bool found = fits(input, i, &group, count, rank);

    if (!found) {
        group.type = WF_EXT_GROUP_SELF;
        found = fits(input, i, &group, count, rank);
    }
    uint32_t sets = 1U << input->counts[0].grid.n_dims;
    for (uint32_t set = 1; set + 1 < sets && !found; set++) {
        group = (struct wf_ext_group){.type = WF_EXT_GROUP_DIMS, .k = set};
        found = fits(input, i, &group, count, rank);
    }
    for (enum wf_ext_group_type type = WF_EXT_GROUP_BLOCK; type <= WF_EXT_GROUP_PART && !found;
         type++) {
        for (uint32_t k = 2; k <= PARTS_MAX && k <= input->counts[0].n && !found; k++) {
            group = (struct wf_ext_group){.type = type, .k = k};
            found = fits(input, i, &group, count, rank);
        }
    }
    *out = group;
    return found || find_spaced(input, i, out, count, rank);
}

const char *wf_ext_group_text(const struct wf_ext_group *group, char *text, size_t size)
{
    char spaced[48] = "";

    if (group->stride > 1) {
        (void)snprintf(spaced, sizeof(spaced), ", every %uth", group->stride);
    }
    switch (group->type) {
    case WF_EXT_GROUP_WORLD:
        (void)snprintf(text, size, "all ranks");
        break;
    case WF_EXT_GROUP_SELF:
        (void)snprintf(text, size, "the rank alone");
        break;
    case WF_EXT_GROUP_BLOCK:
        (void)snprintf(text, size, "%u neighbouring ranks%s", group->k, spaced);
        break;
    case WF_EXT_GROUP_STRIDE:
        (void)snprintf(text, size, "ranks with the same rank mod %u", group->k);
        break;
    case WF_EXT_GROUP_PART:
        (void)snprintf(text, size, "one of %u equal parts%s", group->k, spaced);
        break;
    case WF_EXT_GROUP_DIMS:
        (void)snprintf(text, size, "ranks that differ only in%s%s%s%s",
                       (group->k & 1) != 0 ? " x" : "", (group->k & 2) != 0 ? " y" : "",
                       (group->k & 4) != 0 ? " z" : "", (group->k & 8) != 0 ? " w" : "");
        break;
    }
    return text;
}
