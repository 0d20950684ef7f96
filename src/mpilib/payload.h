/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_PAYLOAD_H
#define WF_MPILIB_PAYLOAD_H

/* What the user wants of the data that is on its way from rank to rank. */

#include "mpilib/library.h"

/* Whether data of so many bytes has to arrive. */
static inline bool wl_data_wanted(size_t bytes)
{
    return bytes <= wl.port->payload_max;
}

/* A checksum, 0 if data is not checked; and that it is still the same, or the program ends with
 * words. `bytes` may be null. What they use comes first. */
uint64_t wl_data_add_up(const unsigned char *bytes, size_t size);
void wl_data_changed(size_t size);

static inline uint64_t wl_data_sum(const unsigned char *bytes, size_t size)
{
    return wl.port->checks_data && bytes != NULL ? wl_data_add_up(bytes, size) : 0;
}

static inline void wl_data_check(const unsigned char *bytes, size_t size, uint64_t sum)
{
    if (wl.port->checks_data && wl_data_sum(bytes, size) != sum) {
        wl_data_changed(size);
    }
}

#endif
