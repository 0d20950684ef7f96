/* SPDX-License-Identifier: Apache-2.0 */
#include "mpilib/payload.h"

/* FNV-1a, 64 bits. */
uint64_t wl_data_add_up(const unsigned char *bytes, size_t size)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++) {
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return sum;
}

void wl_data_changed(size_t size)
{
    const struct wf_port_rank *self = wl.port->self();

    if (self != NULL) {
        wl_fatal(self->lib, "data",
                 "%zu bytes have changed on their way: the program writes where it must not",
                 size);
    }
}
