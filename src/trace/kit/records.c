/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/kit/records.h"

#include "base/array.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strings.h"
#include "base/units.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LATEST = 64 };

/* Most ranks of a large program use few of the names, so only pairs of rank and name that occur
 * have a count. */
struct wf_records {
    uint32_t n_ranks;
    struct wf_strings names;
    struct wf_map numbers; /* (rank, name): 1 + index in `counts` */
    struct wf_record_count *counts;
    uint64_t n, capacity;
    /* 1 + the index of counts of the latest rank, by name: records of a rank follow each other
     * in most files. */
    uint32_t latest_rank;
    uint64_t latest[LATEST];
};

struct wf_records *wf_records_new(uint32_t n_ranks)
{
    struct wf_records *records = wf_xcalloc(1, sizeof(*records));

    records->n_ranks = n_ranks;
    return records;
}

void wf_records_free(struct wf_records *records)
{
    if (records == NULL) {
        return;
    }
    wf_strings_fini(&records->names);
    wf_map_fini(&records->numbers);
    free(records->counts);
    free(records);
}

uint32_t wf_records_name(struct wf_records *records, const char *name)
{
    return wf_strings_put(&records->names, name, strlen(name));
}

static uint64_t key_of(uint32_t rank, uint32_t name)
{
    return (uint64_t)rank << 32 | name;
}

/* 1 + the index of the counts of a rank and name. */
static uint64_t find_count(struct wf_records *records, uint32_t rank, uint32_t name)
{
    uint64_t *number = wf_map_put(&records->numbers, key_of(rank, name));

    if (*number == 0) {
        WF_GROW(records->counts, records->n, records->capacity);
        records->counts[records->n] = (struct wf_record_count){0, 0};
        *number = ++records->n;
    }
    if (name < LATEST) {
        records->latest[name] = *number;
    }
    return *number;
}

void wf_records_add_many(struct wf_records *records, uint32_t rank, uint32_t name, uint64_t n,
                         uint64_t bytes)
{
    assert(rank < records->n_ranks && name < records->names.n);
    if (rank != records->latest_rank) {
        memset(records->latest, 0, sizeof(records->latest));
        records->latest_rank = rank;
    }
    uint64_t number = name < LATEST ? records->latest[name] : 0;
    if (number == 0) {
        number = find_count(records, rank, name);
    }
    struct wf_record_count *count = &records->counts[number - 1];
    count->n += n;
    count->bytes = wf_count_add(count->bytes, bytes);
}

void wf_records_add(struct wf_records *records, uint32_t rank, uint32_t name, uint64_t bytes)
{
    wf_records_add_many(records, rank, name, 1, bytes);
}

const char *wf_records_at(const struct wf_records *records, uint32_t name)
{
    return name < records->names.n ? wf_strings_at(&records->names, name) : NULL;
}

struct wf_record_count wf_records_of(const struct wf_records *records, uint32_t rank,
                                     uint32_t name)
{
    const uint64_t *number = wf_map_get(&records->numbers, key_of(rank, name));

    return number != NULL ? records->counts[*number - 1] : (struct wf_record_count){0, 0};
}
