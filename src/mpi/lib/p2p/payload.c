/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums of data, and the ends of data that need not arrive. */
#include "mpi/lib/p2p/payload.h"

#include <string.h>

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

/* The run of memory in which byte number `packed` of elements is. */
static size_t locate(const struct wl_type *type, size_t packed, MPI_Aint *at)
{
    size_t run = SIZE_MAX;

    *at = (MPI_Aint)packed;
    if (!type->contiguous) {
        *at = wl_type_locate(type, packed % type->size, &run) +
              (MPI_Aint)(packed / type->size) * type->extent;
    }
    return run;
}

/* A run of bytes from number i of the ends on, which is at `at` in memory. */
static size_t run_of(const struct wl_type *type, size_t bytes, size_t i, MPI_Aint *at)
{
    size_t end = wl_payload_end(), left = i < end ? end - i : 2 * end - i;
    size_t run = locate(type, i < end ? i : bytes - left, at);

    return run < left ? run : left;
}

void wl_payload_take_ends(const struct wl_type *type, const void *from, size_t count,
                          unsigned char *ends)
{
    for (size_t i = 0, run; i < 2 * wl_payload_end(); i += run) {
        MPI_Aint at;
        run = run_of(type, count * type->size, i, &at);
        memcpy(ends + i, (const unsigned char *)from + at, run);
    }
}

void wl_payload_put_ends(const struct wl_type *type, void *to, size_t bytes,
                         const unsigned char *ends)
{
    for (size_t i = 0, run; i < 2 * wl_payload_end(); i += run) {
        MPI_Aint at;
        run = run_of(type, bytes, i, &at);
        memcpy((unsigned char *)to + at, ends + i, run);
    }
}
