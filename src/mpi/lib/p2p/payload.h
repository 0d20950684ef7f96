/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The user's options for the data of messages and collectives: weft run --no-payload and
 * -p run.check=yes. */

#include "mpi/lib/library.h"
#include "mpi/lib/type/datatype.h"

/* Whether data of so many bytes has to arrive. */
static inline bool wl_payload_wanted(size_t bytes)
{
    return bytes <= wl.port->payload_max;
}

/* Of large data that need not arrive, the beginning and the end do, since programs put there what
 * controls them: so many bytes each. */
static inline size_t wl_payload_end(void)
{
    return (size_t)wl.port->payload_max / 2;
}

/* Copies both ends of `count` elements, which are longer than both together, to `ends`... */
void wl_payload_take_ends(const struct wl_type *type, const void *from, size_t count,
                          unsigned char *ends);
/* ...and from there to elements with the same number of bytes. */
void wl_payload_put_ends(const struct wl_type *type, void *to, size_t bytes,
                         const unsigned char *ends);

uint64_t wl_payload_hash(const unsigned char *bytes, size_t size);
void wl_payload_changed(size_t size);

/* A checksum of the data, or 0 if data is not checked. `bytes` may be null. */
static inline uint64_t wl_payload_checksum(const unsigned char *bytes, size_t size)
{
    return wl.port->checks_data && bytes != NULL ? wl_payload_hash(bytes, size) : 0;
}

/* Ends the program if the data has another checksum. */
static inline void wl_payload_check(const unsigned char *bytes, size_t size, uint64_t checksum)
{
    if (wl.port->checks_data && wl_payload_checksum(bytes, size) != checksum) {
        wl_payload_changed(size);
    }
}
