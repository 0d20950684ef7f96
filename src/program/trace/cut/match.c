/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/cut/match.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/strings.h"

#include <stdlib.h>

/* The numbers of the kept ops, as sorted spans that neither overlap nor touch. */
struct spans {
    uint64_t (*spans)[2]; /* begin, end */
    uint32_t n, capacity;
};

/* The messages of a channel, or the calls on a communicator. For calls, the rank that is being
 * read uses the members of sends, and `receives` is the intersection of the ranks before it. */
struct entry {
    uint64_t n_sends, n_receives; /* numbers so far */
    struct spans sends, receives; /* the kept ones */
    uint32_t n_members;           /* calls only: ranks that made some */
    bool touched;                 /* calls only: the present rank made some */
};

struct wf_cut_matches {
    struct wf_strings keys; /* a key's number is its index in `entries` */
    struct entry *entries;
    size_t capacity;
    uint32_t *touched; /* entries with calls of the present rank */
    size_t n_touched, touched_capacity;
};

static uint32_t entry_of(struct wf_cut_matches *table, const struct wf_cut_key *key)
{
    uint32_t number = wf_strings_put(&table->keys, (const char *)key, sizeof(*key));

    WF_GROW_ZERO(table->entries, number, table->capacity);
    return number;
}

static void touch(struct wf_cut_matches *table, uint32_t number)
{
    struct entry *entry = &table->entries[number];

    if (!entry->touched) {
        entry->touched = true;
        entry->n_sends = 0;
        entry->sends.n = 0;
        WF_PUSH(table->touched, table->n_touched, table->touched_capacity, number);
    }
}

static void add_span(struct spans *spans, uint64_t begin, uint64_t end)
{
    if (spans->n > 0 && spans->spans[spans->n - 1][1] == begin) {
        spans->spans[spans->n - 1][1] = end;
        return;
    }
    WF_GROW(spans->spans, spans->n, spans->capacity);
    spans->spans[spans->n][0] = begin;
    spans->spans[spans->n++][1] = end;
}

static bool is_in(const struct spans *spans, uint64_t number)
{
    uint32_t low = 0;

    WF_BISECT(low, spans->n, middle, spans->spans[middle][1] <= number);
    return low < spans->n && spans->spans[low][0] <= number;
}

/* Replaces `a` by the intersection of `a` and `b`. */
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

struct wf_cut_matches *wf_cut_match_new(void)
{
    return wf_xcalloc(1, sizeof(struct wf_cut_matches));
}

void wf_cut_match_free(struct wf_cut_matches *table)
{
    if (table == NULL) {
        return;
    }
    for (uint32_t i = 0; i < table->keys.n; i++) {
        free(table->entries[i].sends.spans);
        free(table->entries[i].receives.spans);
    }
    wf_strings_fini(&table->keys);
    free(table->entries);
    free(table->touched);
    free(table);
}

void wf_cut_match_begin(struct wf_cut_matches *table)
{
    for (size_t i = 0; i < table->n_touched; i++) {
        table->entries[table->touched[i]].touched = false;
    }
    table->n_touched = 0;
}

void wf_cut_match_end(struct wf_cut_matches *table)
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

void wf_cut_match_note(struct wf_cut_matches *table, struct wf_cut_key key, bool sends,
                       bool kept)
{
    uint32_t at = entry_of(table, &key);
    struct entry *entry = &table->entries[at];

    if (key.to == WF_CUT_CALL) {
        touch(table, at);
        sends = true;
    }
    uint64_t number = sends ? entry->n_sends++ : entry->n_receives++;
    if (kept) {
        add_span(sends ? &entry->sends : &entry->receives, number, number + 1);
    }
}

void wf_cut_match_turn(struct wf_cut_matches *table)
{
    wf_cut_match_begin(table);
    for (uint32_t i = 0; i < table->keys.n; i++) {
        table->entries[i].n_sends = 0;
        table->entries[i].n_receives = 0;
    }
}

bool wf_cut_match_has(struct wf_cut_matches *table, struct wf_cut_key key, bool sends,
                      uint32_t n_members)
{
    uint32_t at = entry_of(table, &key);
    struct entry *entry = &table->entries[at];

    if (key.to == WF_CUT_CALL) {
        touch(table, at);
        return entry->n_members == n_members && is_in(&entry->receives, entry->n_sends++);
    }
    return sends ? is_in(&entry->receives, entry->n_sends++)
                 : is_in(&entry->sends, entry->n_receives++);
}
