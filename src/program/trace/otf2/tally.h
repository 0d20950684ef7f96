/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * How many records of which kind the files of an OTF2 archive have. Enters are counted by
 * region, collectives by operation, and those of accelerators apart from those of ranks. One
 * rank is counted at a time: names are few and events are many, so that adding one is cheap.
 */

#include "program/trace/kit/records.h"
#include "program/trace/otf2/defs.h"
#include "program/trace/otf2/event.h"

struct wf_otf2_tally {
    struct wf_records *records;
    const struct wf_otf2_defs *defs;
    /* Numbers of names in the records. Those of regions and of accelerators are WF_OTF2_NONE
     * until they occur. */
    uint32_t kinds[WF_OTF2_KINDS], device_kinds[WF_OTF2_KINDS], collectives[32];
    uint32_t *regions, *device_regions;
    struct wf_record_count *counts; /* of the rank that is counted, by name */
    uint32_t capacity;
};

void wf_otf2_tally_init(struct wf_otf2_tally *tally, const struct wf_otf2_defs *defs,
                        struct wf_records *records);
void wf_otf2_tally_fini(struct wf_otf2_tally *tally);

/* Counts an event of a rank, or of a stream of an accelerator. */
void wf_otf2_tally_add(struct wf_otf2_tally *tally, const struct wf_otf2_event *event);
void wf_otf2_tally_add_device(struct wf_otf2_tally *tally, const struct wf_otf2_event *event);
/* What was counted belongs to this rank: adds it to the records, and begins again. */
void wf_otf2_tally_end(struct wf_otf2_tally *tally, uint32_t rank);

/* Adds the names of the records that all archives have. */
void wf_otf2_tally_names(struct wf_records *records);
/* The name of a kind of event in listings. */
const char *wf_otf2_kind_name(enum wf_otf2_kind kind);
/* Whether events of this kind are passed over in ranks: one-sided operations, files, threads. */
bool wf_otf2_kind_is_passed(enum wf_otf2_kind kind);
