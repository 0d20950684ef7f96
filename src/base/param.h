/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Parameters as data.
 *
 * A module describes its settings in one table of struct wf_param over a plain struct. From the
 * table weft parses -p name=value and machine files, checks units and ranges, applies defaults,
 * prints help and reference pages, and writes the values into every result. No module parses or
 * prints a setting itself.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wf_param_type {
    WF_PARAM_BOOL,  /* bool: "true" "false" "yes" "no" "on" "off" "1" "0" */
    WF_PARAM_COUNT, /* uint64_t */
    WF_PARAM_SIZE,  /* uint64_t bytes: "64KiB" */
    WF_PARAM_TIME,  /* int64_t picoseconds: "1.5us"; a unit is required */
    WF_PARAM_RATE,  /* uint64_t, see base/units.h: "200Gbit/s", "25GB/s"; likewise */
    WF_PARAM_REAL,  /* double */
    WF_PARAM_ENUM,  /* int: the index in `choices` */
    WF_PARAM_TEXT,  /* char *, allocated; released by wf_param_release() */
    WF_PARAM_TIMES, /* struct wf_list of times: "1us,0.1us"; released likewise */
    WF_PARAM_RATES, /* struct wf_list of rates: "1Gbit/s,10Gbit/s"; likewise */
    /* char *, allocated: named values in groups, "global:latency=1us,bandwidth=25GB/s", or one
     * of them as the parameter <name>.<group>.<name>; see base/param_groups.h. */
    WF_PARAM_GROUPS,
};

/* Values of one kind, at least one. A time in a list is stored as uint64_t. */
struct wf_list {
    uint64_t *items;
    size_t n;
};

/* How a what-if run changes a parameter (run/execute/what_if.c). */
enum wf_param_what_if {
    WF_WHAT_IF_NOTHING,
    WF_WHAT_IF_LATENCY,   /* a time or a count of cycles, halved when latency is halved */
    WF_WHAT_IF_BANDWIDTH, /* a rate or a size per cycle, doubled when bandwidth is doubled */
    WF_WHAT_IF_PREVENTS, /* a text that holds times: unless it is empty, there is no such run */
};

struct wf_param {
    const char *name;
    enum wf_param_type type;
    size_t offset;
    const char *def;            /* in the syntax of the type; null makes it required */
    const char *min, *max;      /* likewise, for each item of a list; null is no bound; unused
                                   for bool, enum, text */
    const char *const *choices; /* of WF_PARAM_ENUM, null-terminated; of WF_PARAM_GROUPS: what
                                   groups and names are, for help */
    enum wf_param_what_if what_if;
    /* A word that is read instead of a number, such as "unlimited", and stored as WF_PARAM_WORD
     * whatever the bounds say. For counts, sizes, times, rates and lists; null: none. */
    const char *word;
    bool
        writes_number; /* the word is read, but documents have the number, as they always had */
    /* A condition without which the parameter has no effect: "buffers=credits", "stats!=off",
     * or "routing=par|ugal_g" for one of several. The name is that of another row; null: none. */
    const char *only_with;
    const char *doc; /* one sentence that starts with a capital, no full stop */
};

/* What a word instead of a number becomes: the largest count, size or rate; -1 as a time. */
#define WF_PARAM_WORD UINT64_MAX

/* A row for a member that has the name of the parameter. `kind` is the type without WF_PARAM_;
 * the other members of struct wf_param follow, as in
 *     WF_PARAM_ROW(struct star_params, size, COUNT, .min = "1", .doc = "Nodes of the star") */
#define WF_PARAM_ROW(params, member, kind, ...)                                       \
    {                                                                                 \
        .name = #member, .type = WF_PARAM_##kind, .offset = offsetof(params, member), \
        __VA_ARGS__                                                                   \
    }

/* A table ends with this row. */
#define WF_PARAM_END \
    {                \
        .name = NULL \
    }

/* Sets every member to its default. The caller has zeroed `params`; required members stay zero.
 */
enum wf_status wf_param_defaults(const struct wf_param *table, void *params,
                                 struct wf_err *err);

/* Sets the member called `name` from `value`. An unknown name is WF_EUSAGE and proposes the
 * nearest known one; a bad value is WF_EUSAGE too and says what was expected. `scope` is put
 * before names in messages ("net.") and may be "". On failure `params` is left alone. */
enum wf_status wf_param_set(const struct wf_param *table, void *params, const char *scope,
                            const char *name, const char *value, struct wf_err *err);

/* WF_EUSAGE if a required member (null default) has no bit in `given`. Bit i of `given` stands
 * for row i; a table has at most 64 rows. */
enum wf_status wf_param_missing(const struct wf_param *table, uint64_t given, const char *scope,
                                struct wf_err *err);

/* The row called `name`, or null. A name of a value in a group, "links.global.latency", finds
 * the row of the parameter. */
const struct wf_param *wf_param_find(const struct wf_param *table, const char *name);

/* Whether the condition of a row of the table (`only_with`) holds; true if it has none. */
bool wf_param_has_effect(const struct wf_param *table, const struct wf_param *row,
                         const void *params);

/* The value as text that wf_param_set() reads back: the text itself, which may have any length,
 * or another value in `buf` of WF_PARAM_TEXT_MAX bytes. */
enum { WF_PARAM_TEXT_MAX = 1024 };
const char *wf_param_format(const struct wf_param *row, const void *params, char *buf);

/* How the type is written in help: "<time>", "<size>", "block|cyclic", ...; `buf` likewise. */
char *wf_param_syntax(const struct wf_param *row, char *buf);

/* Frees texts and lists, and sets them to null and empty. */
void wf_param_release(const struct wf_param *table, void *params);
