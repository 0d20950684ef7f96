/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* An import in progress (sim/codes_import.h), shared by its files. */

#include "sim/codes_import.h"
#include "sim/codes_text.h"

struct wf_codes_job;

/* A network of CODES. */
struct wf_codes_kind {
    const char *name;     /* in modelnet_order */
    const char *terminal; /* the LP of a node, in LPGROUPS */
    const char *unit;     /* of bandwidths */
    /* Bandwidths, sizes of buffers and delays of links; null where there is none. */
    const char *bandwidth[2], *buffer[2], *delay[2];
    const char *bandwidth_def[2], *cn_bandwidth_def;
    const char *router_delay_def; /* nanoseconds */
    const char *chunk_def;        /* bytes */
    bool is_direct;
    const char *const (*routings)[2]; /* theirs and ours; ends with a null; the first is the
                                         default */
    /* Writes the topology and counts its nodes. */
    enum wf_status (*write_topology)(struct wf_codes_job *job, uint64_t *nodes);
};

/* Null if there is none. */
const struct wf_codes_kind *wf_codes_kind_find(const char *name);
/* The names of all, with commas between them, into `buf`; returns it. */
char *wf_codes_kind_names(char *buf, size_t size);

struct wf_codes_job {
    const struct wf_codes_source *source;
    struct wf_codes_text text;
    bool *used; /* by entry */
    const struct wf_codes_kind *kind;
    const char *group; /* the section of its LPs; null if there is none */
    uint64_t terminals, repetitions;
    struct wf_codes_result *out;
    struct wf_err *err;
};

/* The entry of PARAMS, which counts as used; null if there is none. */
const struct wf_codes_entry *wf_codes_param(struct wf_codes_job *job, const char *key);

/* A failure at an entry, or in general if that is null. */
enum wf_status wf_codes_fail(const struct wf_codes_job *job, const struct wf_codes_entry *entry,
                             const char *expected);
/* The number in a parameter, from `least` on: `def` if it is not given, which is an error if
 * that is 0. At most 2^31. */
WF_NODISCARD
enum wf_status wf_codes_count(struct wf_codes_job *job, const char *key, uint64_t def,
                              uint64_t *out);

WF_PRINTF(2, 3)
void wf_codes_say(struct wf_buf *buf, const char *fmt, ...);
/* A line of notes about an entry, or about all if that is null. */
WF_PRINTF(3, 4)
void wf_codes_note(struct wf_codes_job *job, const struct wf_codes_entry *entry,
                   const char *fmt, ...);
