/* SPDX-License-Identifier: Apache-2.0 */
#include "vrank/lib/data.h"

#include "vrank/lib/lib.h"

bool wl_data_wanted(size_t bytes)
{
    return bytes <= wl.port->payload_max;
}

/* FNV-1a, 64 bits. */
uint64_t wl_data_sum(const unsigned char *bytes, size_t size)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    if (!wl.port->checks_data || bytes == NULL) {
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return sum;
}

void wl_data_check(const unsigned char *bytes, size_t size, uint64_t sum)
{
    const struct wf_vr_self *self = wl.port->self();

    if (wl.port->checks_data && wl_data_sum(bytes, size) != sum && self != NULL) {
        wl_fatal(self->lib, "data",
                 "%zu bytes have changed on their way: the program writes where it must not",
                 size);
    }
}
