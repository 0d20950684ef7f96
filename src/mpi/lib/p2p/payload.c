/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums of data. */
#include "mpi/lib/p2p/payload.h"

/* FNV-1a, 64 bits. */
uint64_t wl_payload_hash(const unsigned char *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

void wl_payload_changed(size_t size)
{
    const struct wf_port_rank *self = wl.port->self();

    if (self != NULL) {
        wl_fatal(
            self->lib,
            "%zu bytes of data have changed on their way; the program writes to memory that "
            "is not its own",
            size);
    }
}
