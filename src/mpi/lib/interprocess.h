/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Data for ranks in other processes, and data that comes from them: messages, parts of
 * collectives, and replies to one-sided operations. */

#include "mpi/lib/coll/exchange.h"

/* Puts a message into the queue of its receiver, in whichever process it runs. Takes the
 * message. */
void wl_message_send(uint32_t to, struct wl_message *message);

/* Sends a copy of a part of a collective. */
void wl_part_send(uint32_t process, const struct wl_part_key *key, struct wl_part part);

/* Sends data back to the origin of a one-sided operation. `to` is an address in that process,
 * at which the origin waits for the data. */
void wl_reply_send(uint32_t process, const void *to, const void *bytes, size_t size);

/* Sends what a checked collective is to another process: see wl_check_notes_arrived(). */
void wl_notes_send(uint32_t process, const void *bytes, size_t size);

/* struct wf_port_library.arrived. */
void wl_interprocess_arrived(const unsigned char *bytes, size_t size);
