/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/coll/coll.h"

#include "base/status.h"

#include <stddef.h>

/* The one place that lists collective algorithms. */
static const struct wf_coll_ops *const coll_table[] = {
    &wf_coll_barrier_dissemination,
    &wf_coll_allreduce_recursive_doubling,
    NULL,
};

const struct wf_coll_ops *const *wf_coll_table(void)
{
    return coll_table;
}

uint16_t wf_coll_choose(enum wf_coll_kind kind, uint32_t size, uint64_t bytes)
{
    for (uint16_t i = 0; coll_table[i] != NULL; i++) {
        if (coll_table[i]->kind == kind && coll_table[i]->applies(size, bytes)) {
            return i;
        }
    }
    wf_panic("no algorithm for collective %d of %u ranks", (int)kind, size);
}
