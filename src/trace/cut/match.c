/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/cut/match.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of kept ops as spans, in order and apart from each other. */
struct spans {
    uint64_t (*spans)[2]; /* begin, end */
    uint32_t n, capacity;
};

struct entry {
    struct wf_match_key key;
    bool used;
    uint64_t n_sends, n_receives; /* so far; of calls the first is of the present rank */
    struct spans sends, receives; /* of calls: of the present rank, and of all before */
    uint32_t n_members;           /* of calls: ranks that made some */
    bool touched;                 /* of calls: by the present rank */
};

struct wf_match_table {
    struct entry *entries;
    size_t mask, n;
    size_t *touched; /* calls of the present rank */
    size_t n_touched, touched_capacity;
};

static bool same_key(const struct wf_match_key *a, const struct wf_match_key *b)
{
    return a->from == b->from && a->to == b->to && a->comm == b->comm && a->tag == b->tag;
}

static struct entry *lookup(const struct wf_match_table *table, const struct wf_match_key *key)
{
    uint64_t hash = wf_rng_mix(((uint64_t)key->from << 32 | key->to) + WF_RNG_GOLDEN);
    size_t at = (size_t)wf_rng_mix(hash + ((uint64_t)key->comm << 32 | (uint32_t)key->tag)) &
                table->mask;

    while (table->entries[at].used && !same_key(&table->entries[at].key, key)) {
        at = (at + 1) & table->mask;
    }
    return &table->entries[at];
}

static void grow(struct wf_match_table *table)
{
    struct wf_match_table old = *table;

    table->mask = old.mask * 2 + 1;
    table->entries = wf_xcalloc(table->mask + 1, sizeof(*table->entries));
    table->n_touched = 0;
    for (size_t i = 0; i <= old.mask; i++) {
        if (old.entries[i].used) {
            struct entry *entry = lookup(table, &old.entries[i].key);
            *entry = old.entries[i];
            if (entry->touched) {
                table->touched[table->n_touched++] = (size_t)(entry - table->entries);
            }
        }
    }
    free(old.entries);
}

static struct entry *find(struct wf_match_table *table, const struct wf_match_key *key)
{
    if (table->n * 2 > table->mask) {
        grow(table);
    }
    struct entry *entry = lookup(table, key);
    if (!entry->used) {
        entry->used = true;
        entry->key = *key;
        table->n++;
    }
    return entry;
}

static void touch(struct wf_match_table *table, struct entry *entry)
{
    if (entry->touched) {
        return;
    }
    entry->touched = true;
    entry->n_sends = 0;
    entry->sends.n = 0;
    if (table->n_touched == table->touched_capacity) {
        table->touched_capacity = table->touched_capacity * 2 + 16;
        table->touched =
            wf_xrealloc(table->touched, table->touched_capacity, sizeof(*table->touched));
    }
    table->touched[table->n_touched++] = (size_t)(entry - table->entries);
}

static void add_span(struct spans *spans, uint64_t begin, uint64_t end)
{
    if (spans->n > 0 && spans->spans[spans->n - 1][1] == begin) {
        spans->spans[spans->n - 1][1] = end;
        return;
    }
    if (spans->n == spans->capacity) {
        spans->capacity = spans->capacity * 2 + 2;
        spans->spans = wf_xrealloc(spans->spans, spans->capacity, sizeof(*spans->spans));
    }
    spans->spans[spans->n][0] = begin;
    spans->spans[spans->n++][1] = end;
}

static bool is_in(const struct spans *spans, uint64_t number)
{
    uint32_t low = 0, high = spans->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (spans->spans[middle][1] <= number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < spans->n && spans->spans[low][0] <= number;
}

/* Leaves in `a` what is in both. */
static void intersect(struct spans *a, const struct spans *b)
{
    struct spans both = {NULL, 0, 0};

    for (uint32_t i = 0, k = 0; i < a->n && k < b->n;) {
        uint64_t begin = a->spans[i][0] > b->spans[k][0] ? a->spans[i][0] : b->spans[k][0];
        uint64_t end = a->spans[i][1] < b->spans[k][1] ? a->spans[i][1] : b->spans[k][1];
        if (begin < end) {
            add_span(&both, begin, end);
        }
        if (a->spans[i][1] < b->spans[k][1]) {
            i++;
        } else {
            k++;
        }
    }
    free(a->spans);
    *a = both;
}

struct wf_match_table *wf_match_new(void)
{
    struct wf_match_table *table = wf_xcalloc(1, sizeof(*table));

    table->mask = 63;
    table->entries = wf_xcalloc(table->mask + 1, sizeof(*table->entries));
    return table;
}

void wf_match_free(struct wf_match_table *table)
{
    if (table == NULL) {
        return;
    }
    for (size_t i = 0; i <= table->mask; i++) {
        free(table->entries[i].sends.spans);
        free(table->entries[i].receives.spans);
    }
    free(table->entries);
    free(table->touched);
    free(table);
}

void wf_match_begin(struct wf_match_table *table)
{
    for (size_t i = 0; i < table->n_touched; i++) {
        table->entries[table->touched[i]].touched = false;
    }
    table->n_touched = 0;
}

void wf_match_end(struct wf_match_table *table)
{
    for (size_t i = 0; i < table->n_touched; i++) {
        struct entry *entry = &table->entries[table->touched[i]];
        if (entry->n_members++ == 0) {
            struct spans none = entry->receives;
            entry->receives = entry->sends;
            entry->sends = none;
        } else {
            intersect(&entry->receives, &entry->sends);
        }
        entry->sends.n = 0;
    }
}

void wf_match_note(struct wf_match_table *table, struct wf_match_key key, bool sends, bool kept)
{
    struct entry *entry = find(table, &key);

    if (key.to == WF_MATCH_CALL) {
        touch(table, entry);
        sends = true;
    }
    uint64_t number = sends ? entry->n_sends++ : entry->n_receives++;
    if (kept) {
        add_span(sends ? &entry->sends : &entry->receives, number, number + 1);
    }
}

void wf_match_turn(struct wf_match_table *table)
{
    wf_match_begin(table);
    for (size_t i = 0; i <= table->mask; i++) {
        table->entries[i].n_sends = 0;
        table->entries[i].n_receives = 0;
    }
}

bool wf_match_has(struct wf_match_table *table, struct wf_match_key key, bool sends,
                  uint32_t n_members)
{
    struct entry *entry = find(table, &key);

    if (key.to == WF_MATCH_CALL) {
        touch(table, entry);
        return entry->n_members == n_members && is_in(&entry->receives, entry->n_sends++);
    }
    return sends ? is_in(&entry->receives, entry->n_sends++)
                 : is_in(&entry->sends, entry->n_receives++);
}
