/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/otf2/tally.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/units.h"
#include "program/trace/otf2/coll.h"

#include <stdio.h>
#include <stdlib.h>

#define DEVICE "GPU:" /* goes before names of what accelerators recorded */

/* ---- names ---- */

const char *wf_otf2_kind_name(enum wf_otf2_kind kind)
{
    static const char *const texts[] = {
#define X(name, text) text,
        WF_OTF2_EVENT_MAP(X)
#undef X
    };

    return texts[kind];
}

bool wf_otf2_kind_is_passed(enum wf_otf2_kind kind)
{
    return kind >= WF_OTF2_RMA_PUT && kind <= WF_OTF2_OTHER;
}

/* Adds the names that all archives have, and keeps their numbers. */
static void name_records(struct wf_records *records, uint32_t *kinds, uint32_t *collectives)
{
    char text[64];

    for (uint32_t i = 0; i < WF_OTF2_KINDS; i++) {
        kinds[i] = wf_records_name(records, wf_otf2_kind_name((enum wf_otf2_kind)i));
    }
    for (uint32_t i = 0; wf_otf2_coll_name(i) != NULL; i++) {
        (void)snprintf(text, sizeof(text), "COLL_END:%s", wf_otf2_coll_name(i));
        collectives[i] = wf_records_name(records, text);
    }
}

void wf_otf2_tally_names(struct wf_records *records)
{
    struct wf_otf2_tally unused;

    name_records(records, unused.kinds, unused.collectives);
}

static uint32_t name_record(struct wf_otf2_tally *tally, const char *prefix, const char *name)
{
    char text[256];

    (void)snprintf(text, sizeof(text), "%s%s", prefix, name);
    return wf_records_name(tally->records, text);
}

/* The number of a region's name. It is kept in `regions` once it has one. */
static inline uint32_t region_name(struct wf_otf2_tally *tally, uint32_t *regions,
                                   const char *prefix, const struct wf_otf2_region *region)
{
    uint32_t *number = &regions[region - tally->defs->regions];

    if (*number == WF_OTF2_NONE) {
        *number = name_record(tally, prefix, wf_otf2_defs_name(tally->defs, region));
    }
    return *number;
}

/* ---- a tally ---- */

void wf_otf2_tally_init(struct wf_otf2_tally *tally, const struct wf_otf2_defs *defs,
                        struct wf_records *records)
{
    size_t n = (size_t)defs->n_regions + 1;

    *tally = (struct wf_otf2_tally){.records = records, .defs = defs};
    name_records(records, tally->kinds, tally->collectives);
    tally->regions = wf_xmalloc(n * sizeof(*tally->regions));
    tally->device_regions = wf_xmalloc(n * sizeof(*tally->device_regions));
    for (size_t i = 0; i < n; i++) {
        tally->regions[i] = WF_OTF2_NONE;
        tally->device_regions[i] = WF_OTF2_NONE;
    }
    for (uint32_t i = 0; i < WF_OTF2_KINDS; i++) {
        tally->device_kinds[i] = WF_OTF2_NONE;
    }
}

void wf_otf2_tally_fini(struct wf_otf2_tally *tally)
{
    free(tally->regions);
    free(tally->device_regions);
    free(tally->counts);
}

static void count(struct wf_otf2_tally *tally, uint32_t name, const struct wf_otf2_event *event)
{
    uint64_t bytes = event->kind == WF_OTF2_FLUSH ? 0 : event->bytes;

    WF_GROW_ZERO(tally->counts, name, tally->capacity);
    tally->counts[name].n++;
    tally->counts[name].bytes = wf_count_add(tally->counts[name].bytes, bytes);
}

/* The region of an enter; null if there is none. */
static const struct wf_otf2_region *entered(const struct wf_otf2_tally *tally,
                                            const struct wf_otf2_event *event)
{
    return event->kind == WF_OTF2_ENTER ? wf_otf2_defs_find_region(tally->defs, event->region)
                                        : NULL;
}

void wf_otf2_tally_add(struct wf_otf2_tally *tally, const struct wf_otf2_event *event)
{
    const struct wf_otf2_region *region = entered(tally, event);
    uint32_t name = tally->kinds[event->kind];

    if (region != NULL) {
        name = region_name(tally, tally->regions, "ENTER:", region);
    } else if (event->kind == WF_OTF2_COLL_END && wf_otf2_coll_name(event->region) != NULL) {
        name = tally->collectives[event->region];
    }
    count(tally, name, event);
}

void wf_otf2_tally_add_device(struct wf_otf2_tally *tally, const struct wf_otf2_event *event)
{
    const struct wf_otf2_region *region = entered(tally, event);
    uint32_t *kind = &tally->device_kinds[event->kind];

    if (region == NULL && *kind == WF_OTF2_NONE) {
        *kind = name_record(tally, DEVICE, wf_otf2_kind_name(event->kind));
    }
    uint32_t name = region != NULL
                        ? region_name(tally, tally->device_regions, DEVICE "ENTER:", region)
                        : *kind;
    count(tally, name, event);
}

void wf_otf2_tally_end(struct wf_otf2_tally *tally, uint32_t rank)
{
    for (uint32_t name = 0; name < tally->capacity; name++) {
        struct wf_record_count *one = &tally->counts[name];
        if (one->n > 0) {
            wf_records_add_many(tally->records, rank, name, one->n, one->bytes);
            *one = (struct wf_record_count){0, 0};
        }
    }
}
