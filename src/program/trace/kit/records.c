/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/kit/records.h"

#include "base/array.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strings.h"
#include "base/units.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LATEST = 64, LISTED_MAX = 32 };
#define NOBODY UINT32_MAX

/* What a rank has of a name. */
struct pair {
    struct wf_record_count count;
    uint32_t rank, name;
    uint64_t next; /* 1 + the index of another pair of the rank; 0: the last one */
};

/* Most ranks of a large program use few of the names, so only pairs of rank and name that occur
 * have a count. The first pairs of a rank are a list; a map finds the others. */
struct wf_records {
    uint32_t n_ranks;
    struct wf_strings names;
    uint32_t *first; /* of each name: the rank that was the first to have it, or NOBODY */
    uint32_t first_capacity;
    uint64_t *lists;       /* of each rank: 1 + the index of the first pair in its list, or 0 */
    struct wf_map numbers; /* (rank, name) that are in no list: 1 + index in `pairs` */
    struct pair *pairs;
    uint64_t n, capacity;
    /* 1 + the index of pairs of the latest rank, by name: records of a rank follow each other
     * in most files. */
    uint32_t latest_rank;
    uint64_t latest[LATEST];
};

struct wf_records *wf_records_new(uint32_t n_ranks)
{
    struct wf_records *records = wf_xaligned_zero(sizeof(*records)); /* one for each worker */

    records->n_ranks = n_ranks;
    records->lists = wf_xcalloc((size_t)n_ranks + 1, sizeof(*records->lists));
    return records;
}

void wf_records_free(struct wf_records *records)
{
    if (records == NULL) {
        return;
    }
    wf_strings_fini(&records->names);
    wf_map_fini(&records->numbers);
    free(records->first);
    free(records->lists);
    free(records->pairs);
    free(records);
}

uint32_t wf_records_name(struct wf_records *records, const char *name)
{
    uint32_t n = records->names.n, number = wf_strings_put(&records->names, name, strlen(name));

    if (number == n) {
        WF_GROW(records->first, n, records->first_capacity);
        records->first[n] = NOBODY;
    }
    return number;
}

static uint64_t key_of(uint32_t rank, uint32_t name)
{
    return (uint64_t)rank << 32 | name;
}

/* Looks for a name in the list of a rank: 1 + the index of the pair, or 0. *length becomes the
 * number of pairs in the list if it is not there. */
static uint64_t find_listed(const struct wf_records *records, uint32_t rank, uint32_t name,
                            uint32_t *length)
{
    uint64_t number = records->lists[rank];

    *length = 0;
    while (number != 0 && records->pairs[number - 1].name != name) {
        number = records->pairs[number - 1].next;
        (*length)++;
    }
    return number;
}

/* 1 + the index of a new pair. */
static uint64_t add_pair(struct wf_records *records, uint32_t rank, uint32_t name)
{
    WF_GROW(records->pairs, records->n, records->capacity);
    records->pairs[records->n] = (struct pair){.rank = rank, .name = name};
    records->first[name] = records->first[name] == NOBODY ? rank : records->first[name];
    return ++records->n;
}

/* 1 + the index of the pair of a rank and name, which is added if it is new. */
static uint64_t find_pair(struct wf_records *records, uint32_t rank, uint32_t name)
{
    uint32_t length;
    uint64_t number = find_listed(records, rank, name, &length);

    if (number == 0 && length < LISTED_MAX) {
        number = add_pair(records, rank, name);
        records->pairs[number - 1].next = records->lists[rank];
        records->lists[rank] = number;
    } else if (number == 0) {
        uint64_t *found = wf_map_put(&records->numbers, key_of(rank, name));
        *found = *found == 0 ? add_pair(records, rank, name) : *found;
        number = *found;
    }
    if (name < LATEST) {
        records->latest[name] = number;
    }
    return number;
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
        number = find_pair(records, rank, name);
    }
    struct wf_record_count *count = &records->pairs[number - 1].count;
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
    uint32_t length;
    uint64_t number = find_listed(records, rank, name, &length);

    if (number == 0 && length == LISTED_MAX) {
        const uint64_t *found = wf_map_get(&records->numbers, key_of(rank, name));
        number = found != NULL ? *found : 0;
    }
    return number != 0 ? records->pairs[number - 1].count : (struct wf_record_count){0, 0};
}

struct wf_record_count *wf_records_totals(const struct wf_records *records)
{
    struct wf_record_count *totals = wf_xcalloc((size_t)records->names.n + 1, sizeof(*totals));

    for (uint64_t i = 0; i < records->n; i++) {
        const struct pair *pair = &records->pairs[i];
        totals[pair->name].n += pair->count.n;
        totals[pair->name].bytes = wf_count_add(totals[pair->name].bytes, pair->count.bytes);
    }
    return totals;
}

/* ---- several of them ---- */

/* A name of a part. */
struct part_name {
    const char *name;
    uint32_t first, number;
};

static int by_first(const void *a, const void *b)
{
    const struct part_name *x = a, *y = b;

    return 2 * WF_ORDER(x->first, y->first) + WF_ORDER(x->number, y->number);
}

/* Adds the names that occur. Names with the same first rank are of one part. */
static void merge_names(struct wf_records *records, struct wf_records *const *parts, uint32_t n)
{
    struct part_name *all = NULL;
    uint32_t n_all = 0, capacity = 0;

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < parts[i]->names.n; k++) {
            if (parts[i]->first[k] == NOBODY) {
                continue;
            }
            WF_PUSH(
                all, n_all, capacity,
                (struct part_name){wf_strings_at(&parts[i]->names, k), parts[i]->first[k], k});
        }
    }
    WF_SORT(all, n_all, by_first);
    for (uint32_t i = 0; i < n_all; i++) {
        (void)wf_records_name(records, all[i].name);
    }
    free(all);
}

/* Adds the pairs of a part. Their ranks have none yet, so lists move as they are. */
static void merge_counts(struct wf_records *records, const struct wf_records *part)
{
    uint32_t *numbers = wf_xcalloc((size_t)part->names.n + 1, sizeof(*numbers));
    uint64_t before = records->n;

    for (uint32_t k = 0; k < part->names.n; k++) {
        if (part->first[k] != NOBODY) {
            numbers[k] = wf_records_name(records, wf_strings_at(&part->names, k));
        }
    }
    for (uint64_t i = 0; i < part->n; i++) {
        struct pair pair = part->pairs[i];
        bool listed = wf_map_get(&part->numbers, key_of(pair.rank, pair.name)) == NULL;
        pair.name = numbers[pair.name];
        uint64_t number = add_pair(records, pair.rank, pair.name);
        pair.next += pair.next != 0 ? before : 0;
        records->pairs[number - 1] = pair;
        if (!listed) {
            *wf_map_put(&records->numbers, key_of(pair.rank, pair.name)) = number;
        } else if (part->lists[pair.rank] == i + 1) {
            assert(records->lists[pair.rank] == 0);
            records->lists[pair.rank] = number;
        }
    }
    free(numbers);
}

void wf_records_merge(struct wf_records *records, struct wf_records *const *parts, uint32_t n)
{
    merge_names(records, parts, n);
    for (uint32_t i = 0; i < n; i++) {
        merge_counts(records, parts[i]);
        wf_records_free(parts[i]);
    }
}
