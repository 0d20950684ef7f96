/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/lib/abi/adapter.h"

#include "mpi/lib/coll/reduction.h"
#include "mpi/lib/comm/properties.h"
#include "mpi/lib/errors.h"

static const struct wl_adapter **op_adapter(const struct wl_rank *rank, int handle)
{
    struct wl_op *own = wl_table_get(&rank->ops, WL_OP, handle);

    return own != NULL ? &own->adapter : NULL;
}

void weft_mpi_adapt(int handle, const struct wl_adapter *adapter)
{
    struct wl_rank *rank = wl_enter();
    uint32_t kind = (uint32_t)handle >> WL_KIND_SHIFT;
    const struct wl_adapter **place = kind == WL_OP       ? op_adapter(rank, handle)
                                      : kind == WL_KEYVAL ? wl_keyval_adapter(rank, handle)
                                                          : wl_errhandler_adapter(rank, handle);

    if (place != NULL) {
        *place = adapter;
    }
    wl_leave(rank);
}
