/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* An import in progress (run/import/codes.h), shared by its files. */

#include "run/import/codes.h"
#include "run/import/codes_text.h"

struct wf_codes_importer;

/* Links of a network: the keys of their values in CODES, null if there is no such key. */
struct wf_codes_links {
    const char *name; /* of the class in weft; null: all links that are in no other class */
    const char *bandwidth, *bandwidth_def;
    const char *buffer, *delay;
};

enum { WF_CODES_CLASSES_MAX = 3 };

/* A kind of network in CODES. */
struct wf_codes_kind {
    const char *name;                                  /* in modelnet_order */
    const char *terminal;                              /* the LP of a node, in LPGROUPS */
    const char *unit;                                  /* unit of bandwidths */
    struct wf_codes_links links[WF_CODES_CLASSES_MAX]; /* all links, then those of classes */
    bool chunk_latency;           /* links without a delay have the time of a chunk */
    const char *router_delay_def; /* nanoseconds */
    const char *chunk_def;        /* bytes */
    bool is_direct, has_rails;
    /* Pairs of the name in CODES and in weft, null-terminated; the first is the default. */
    const char *const (*routings)[2];
    /* Writes the topology and counts its nodes. */
    enum wf_status (*write_topology)(struct wf_codes_importer *codes, uint64_t *nodes);
};

/* The kind with this name; null if there is none. */
const struct wf_codes_kind *wf_codes_kind_find(const char *name);
/* Writes the names of all kinds to `buf`, separated by commas; returns `buf`. */
char *wf_codes_kind_names(char *buf, size_t size);

struct wf_codes_importer {
    const struct wf_codes_source *source;
    struct wf_codes_text text;
    bool *used; /* [entries]: whether the entry was used */
    const struct wf_codes_kind *kind;
    const char *group; /* the section with the LPs of the nodes; null if there is none */
    uint64_t terminals, repetitions;
    uint64_t rails; /* of a node; 0 if there is one */
    uint64_t chunk; /* bytes */
    struct wf_codes_result *out;
    struct wf_err *err;
};

/* The entry with this key in PARAMS. Marks it as used. Null if there is none. */
const struct wf_codes_entry *wf_codes_param(struct wf_codes_importer *codes, const char *key);

/* Reports a failure at an entry; without a place if the entry is null. */
enum wf_status wf_codes_fail(const struct wf_codes_importer *codes,
                             const struct wf_codes_entry *entry, const char *expected);
/* The number in a parameter, from `least` to 2^31. A missing parameter has the value `def`; if
 * that is 0, the parameter is required. */
enum wf_status wf_codes_count(struct wf_codes_importer *codes, const char *key, uint64_t def,
                              uint64_t *out);

/* A time in nanoseconds, `def` if the parameter is missing: as text for the machine file, of
 * WF_UNITS_TEXT_MAX bytes, and in picoseconds. */
enum wf_status wf_codes_ns(struct wf_codes_importer *codes, const char *key, const char *def,
                           char *text, uint64_t *out);

/* Writes the links of the network model, after the size of chunks is known. */
enum wf_status wf_codes_write_links(struct wf_codes_importer *codes);

/* Writes the sections `node` and `mpi`. */
enum wf_status wf_codes_write_node(struct wf_codes_importer *codes);

WF_PRINTF(2, 3)
void wf_codes_say(struct wf_buf *buf, const char *fmt, ...);
/* Adds a line to the notes, about an entry or, if that is null, about the whole file. */
WF_PRINTF(3, 4)
void wf_codes_note(struct wf_codes_importer *codes, const struct wf_codes_entry *entry,
                   const char *fmt, ...);
