/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The user's options for the data of messages and collectives: weft run --no-payload and
 * -p run.check=yes. */

#include "mpi/lib/library.h"

/* Whether data of so many bytes has to arrive. */
static inline bool wl_payload_wanted(size_t bytes)
{
    return bytes <= wl.port->payload_max;
}

/* Of large data that need not arrive, the beginning and the end do, since programs put there what
 * controls them: so many bytes each. */
enum { WL_PAYLOAD_END = 2048 };

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
