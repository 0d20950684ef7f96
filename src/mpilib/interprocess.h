/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_INTERPROCESS_H
#define WF_MPILIB_INTERPROCESS_H

/* What goes to ranks in other processes, and what comes from them. */

#include "mpilib/collective_exchange.h"

/* Puts a message into the box of its receiver, wherever that is; it is no longer the caller's.
 */
void wl_message_send(uint32_t to, struct wl_message *message);

/* A copy of a part of a collective. */
void wl_part_ship(uint32_t process, const struct wl_part_name *name, struct wl_part part);

/* What an origin in another process gets back, where it is waiting for it: an address there. */
void wl_reply_ship(uint32_t process, const void *to, const void *bytes, size_t size);

/* A parcel, as in mpilib/port.h. */
void wl_arrived(const unsigned char *bytes, size_t size);

#endif
