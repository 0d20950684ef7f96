/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TOPO_NAMES_H
#define WF_TOPO_NAMES_H

/* Names and their numbers, from 0 in the order in which they were added. A zeroed struct is an
 * empty table. Names hold no NUL. */

#include "base/buf.h"

#include <stdint.h>

#define WF_NAMES_NONE UINT32_MAX

struct wf_names {
    uint32_t n;
    struct wf_buf text;    /* the names, each with a NUL behind it; below 4 GiB */
    struct wf_buf offsets; /* uint32_t: where each begins */
    uint32_t *slots;       /* hash table of number + 1; 0 is a free slot */
    uint32_t n_slots;      /* a power of two, or 0 */
};

void wf_names_release(struct wf_names *names);
/* The number of a name, or WF_NAMES_NONE. */
uint32_t wf_names_find(const struct wf_names *names, const char *name, size_t len);
/* The number of a name, which is added if it is new: then it is the old `n`. */
uint32_t wf_names_add(struct wf_names *names, const char *name, size_t len);
/* Valid until a name is added. */
const char *wf_names_text(const struct wf_names *names, uint32_t number);

#endif
