/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "base/mem.h"
#include "program/extrapolate/program.h"
#include "program/extrapolate/requests.h"

#include <stdlib.h>

/* Tags tell the messages of a program apart, unless the program counts with them. A tag is a part
 * of the shape of an op if all counts have the same few tags for it. */
enum { TAGS_MAX = 32 };

static struct wf_ext_shape without_tags(const struct wf_ext_shape *shape)
{
    struct wf_ext_shape out = *shape;

    out.tag = out.recv_tag = WF_EXT_NO_TAG;
    return out;
}

/* Marks the shapes that each count uses: one bit for each count. */
static void find_uses(const struct wf_ext_input *input, uint32_t *uses)
{
    for (uint32_t c = 0; c < input->n_counts; c++) {
        for (uint32_t r = 0; r < input->counts[c].n; r++) {
            const struct wf_ext_rank *rank = &input->counts[c].ranks[r];
            for (uint32_t i = 0; i < rank->n; i++) {
                uses[rank->ops[i].shape] |= 1U << c;
            }
        }
    }
}

void wf_ext_remap(struct wf_ext_input *input, const uint32_t *to)
{
    for (uint32_t c = 0; c < input->n_counts; c++) {
        for (uint32_t r = 0; r < input->counts[c].n; r++) {
            struct wf_ext_rank *rank = &input->counts[c].ranks[r];
            for (uint32_t i = 0; i < rank->n; i++) {
                rank->ops[i].shape = to[rank->ops[i].shape];
            }
        }
    }
}

static void strip_tags(struct wf_ext_input *input)
{
    uint32_t n = input->n_shapes, all = (1U << input->n_counts) - 1;
    uint32_t *uses = wf_xcalloc(n, sizeof(*uses));
    uint32_t *to = wf_xcalloc(n, sizeof(*to));
    uint32_t *base = wf_xcalloc(n, sizeof(*base));
    uint32_t *members = NULL;

    find_uses(input, uses);
    for (uint32_t i = 0; i < n; i++) {
        const struct wf_ext_shape plain = without_tags(&input->shapes[i]);
        base[i] = wf_ext_shape_put(input, &plain);
    }
    /* Bit 31: the tags of this base are not the same in all counts. */
    members = wf_xcalloc(input->n_shapes, sizeof(*members));
    for (uint32_t i = 0; i < n; i++) {
        members[base[i]]++;
        members[base[i]] |= uses[i] != all ? 1U << 31 : 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        to[i] = members[base[i]] > TAGS_MAX ? base[i] : i;
    }
    wf_ext_remap(input, to);
    free(uses);
    free(to);
    free(base);
    free(members);
}

static int by_count(const void *a, const void *b)
{
    const struct wf_ext_count *x = a, *y = b;

    return WF_ORDER(x->n, y->n);
}

enum wf_status wf_ext_read_end(struct wf_ext_input *input, struct wf_err *err)
{
    WF_SORT(input->counts, input->n_counts, by_count);
    for (uint32_t i = 1; i < input->n_counts; i++) {
        if (input->counts[i].n == input->counts[i - 1].n) {
            return wf_err_set(err, WF_EUSAGE,
                              "'%.100s' and '%.100s' both have %u ranks; give traces with "
                              "different numbers of ranks",
                              input->counts[i - 1].path, input->counts[i].path,
                              input->counts[i].n);
        }
    }
    wf_ext_requests_decide(input);
    strip_tags(input);
    return WF_OK;
}
