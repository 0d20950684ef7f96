/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_VRANK_LIB_DATA_H
#define WF_VRANK_LIB_DATA_H

/* What the user wants of the data that is on its way from rank to rank. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether data of so many bytes has to arrive. */
bool wl_data_wanted(size_t bytes);

/* A checksum, 0 if data is not checked; and that it is still the same, or the program ends with
 * words. `bytes` may be null. */
uint64_t wl_data_sum(const unsigned char *bytes, size_t size);
void wl_data_check(const unsigned char *bytes, size_t size, uint64_t sum);

#endif
