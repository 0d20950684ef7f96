/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * How often each kind of record of a trace file occurs in each rank, under the names of the
 * format. Users compare these counts with those of other tools, so the ops that a reader makes
 * of the records do not count.
 */

#include <stdint.h>

struct wf_records;

struct wf_record_count {
    uint64_t n, bytes;
};

struct wf_records *wf_records_new(uint32_t n_ranks);
void wf_records_free(struct wf_records *records); /* null is allowed */

/* The number of a name, from 0; a new name is added. The name is copied. */
uint32_t wf_records_name(struct wf_records *records, const char *name);

/* Counts one record of a rank. */
void wf_records_add(struct wf_records *records, uint32_t rank, uint32_t name, uint64_t bytes);

/* Counts `n` records, which have this many bytes together. */
void wf_records_add_many(struct wf_records *records, uint32_t rank, uint32_t name, uint64_t n,
                         uint64_t bytes);

/* Adds the counts of `n` others, each of which counted ranks of its own in rising order, and
 * releases these. None of their ranks has been counted here. New names get the numbers that they
 * would have if all ranks had been counted here in rising order. */
void wf_records_merge(struct wf_records *records, struct wf_records *const *parts, uint32_t n);

/* The counts of all ranks together, for each name; the caller frees them. */
struct wf_record_count *wf_records_totals(const struct wf_records *records);

/* The name with this number, or null after the last. */
const char *wf_records_at(const struct wf_records *records, uint32_t name);

struct wf_record_count wf_records_of(const struct wf_records *records, uint32_t rank,
                                     uint32_t name);
