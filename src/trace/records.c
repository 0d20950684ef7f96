/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/records.h"

#include "base/mem.h"
#include "base/units.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct named {
    char *name;
    struct wf_record_count *ranks; /* null until there is one */
};

struct wf_records {
    uint32_t n_ranks, n;
    struct named *names;
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
    for (uint32_t i = 0; i < records->n; i++) {
        free(records->names[i].name);
        free(records->names[i].ranks);
    }
    free(records->names);
    free(records);
}

uint32_t wf_records_name(struct wf_records *records, const char *name)
{
    for (uint32_t i = 0; i < records->n; i++) {
        if (strcmp(records->names[i].name, name) == 0) {
            return i;
        }
    }
    records->names =
        wf_xrealloc(records->names, (size_t)records->n + 1, sizeof(*records->names));
    records->names[records->n] = (struct named){.name = wf_xstrdup(name)};
    return records->n++;
}

void wf_records_add(struct wf_records *records, uint32_t rank, uint32_t name, uint64_t bytes)
{
    assert(rank < records->n_ranks && name < records->n);
    struct named *named = &records->names[name];

    if (named->ranks == NULL) {
        named->ranks = wf_xcalloc(records->n_ranks, sizeof(*named->ranks));
    }
    named->ranks[rank].n++;
    named->ranks[rank].bytes = wf_count_add(named->ranks[rank].bytes, bytes);
}

const char *wf_records_at(const struct wf_records *records, uint32_t name)
{
    return name < records->n ? records->names[name].name : NULL;
}

struct wf_record_count wf_records_of(const struct wf_records *records, uint32_t rank,
                                     uint32_t name)
{
    assert(rank < records->n_ranks && name < records->n);
    const struct wf_record_count *ranks = records->names[name].ranks;

    return ranks != NULL ? ranks[rank] : (struct wf_record_count){0, 0};
}
