/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Matches messages with receives as MPI does: a message meets the first posted receive that
 * accepts its sender and tag, a receive the first such message. What finds no partner waits.
 * The caller names messages and receives by values of its own.
 *
 * A call takes constant time, and time proportional to what waits on the host where receives
 * have wildcards. Takes 40 bytes for each message or receive that waits, and up to 36 for each
 * different header among them.
 */

#include <stdint.h>

#define WF_MATCHING_ANY  UINT32_MAX /* any sender, any tag; only of receives */
#define WF_MATCHING_NONE UINT64_MAX

struct wf_matching;

/* Where a message arrives, from whom, and with which tag. */
struct wf_matching_header {
    uint32_t host, peer, tag;
};

struct wf_matching *wf_matching_new(uint32_t n_hosts);
void wf_matching_free(struct wf_matching *matching); /* null is allowed */

/* A message arrives. Returns the value of the receive that it meets, which waits no more, or
 * WF_MATCHING_NONE: then the message waits. */
uint64_t wf_matching_message(struct wf_matching *matching,
                             const struct wf_matching_header *header, uint64_t value);
/* A receive is posted. Returns the value of the message that it meets, likewise. */
uint64_t wf_matching_receive(struct wf_matching *matching,
                             const struct wf_matching_header *header, uint64_t value);

/* The number of messages that wait on a host. */
uint32_t wf_matching_messages(const struct wf_matching *matching, uint32_t host);
