/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON forms: the one of Chakra's feeder, an object with a list "workload_graph"; the one of
 * chakra_jsonizer, nodes one after the other; files of groups. Keys are compared without case and
 * underscores, because the forms spell them differently.
 */
#include "base/mem.h"
#include "base/scan.h"
#include "base/units.h"
#include "program/trace/chakra/chakra.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_TYPE (UINT32_MAX - 1) /* no type was found */

/* Passes a number, perhaps in quotes, true or false. Anything else is WF_CHAKRA_NOTHING. */
static uint64_t take_number(struct wf_scan *json)
{
    char *end = NULL;
    bool quoted = wf_scan_look(json) == '"';
    const char *at = json->at + (quoted ? 1 : 0);
    uint64_t value = WF_CHAKRA_NOTHING;

    if (strncmp(at, "true", 4) == 0 || strncmp(at, "false", 5) == 0) {
        value = *at == 't' ? 1 : 0;
    } else if (isdigit((unsigned char)*at) != 0 || *at == '-') {
        errno = 0;
        value = (uint64_t)strtoll(at, &end, 10);
        if (errno != 0 || (*end != '\0' && strchr("\",]} \t\r\n", *end) == NULL)) {
            value = WF_CHAKRA_NOTHING; /* a fraction, or too large */
        }
    }
    wf_scan_skip(json, 0);
    return value;
}

/* Passes a time in microseconds, perhaps in quotes and with a fraction, and returns picoseconds: 0
 * if it is no number, UINT64_MAX if it is negative or too long. */
static uint64_t take_micros(struct wf_scan *json)
{
    enum { MICRO = 1000000 };
    bool quoted = wf_scan_look(json) == '"'; /* which passes blanks */
    const char *at = json->at + (quoted ? 1 : 0);
    char *end = NULL;
    bool is_number = isdigit((unsigned char)*at) != 0 || *at == '-';
    double value = is_number ? strtod(at, &end) : 0;
    bool is_whole = is_number && memchr(at, '.', (size_t)(end - at)) == NULL;
    uint64_t micros = take_number(json);

    if (value < 0 || value >= (double)WF_TIME_MAX / MICRO) {
        return UINT64_MAX;
    }
    return is_whole && micros != WF_CHAKRA_NOTHING ? micros * MICRO
                                                   : (uint64_t)(value * MICRO + 0.5);
}

static void take_ids(struct wf_scan *json, struct wf_buf *ids)
{
    bool first = true;

    if (!wf_scan_begin(json, '[')) {
        return;
    }
    while (wf_scan_next(json, ']', &first)) {
        uint64_t id = take_number(json);
        if (id == WF_CHAKRA_NOTHING) {
            json->failed = true;
        } else {
            wf_buf_append(ids, &id, sizeof(id));
        }
    }
}

/* Types are numbers, or the names of protobuf: "COMP_NODE". */
static uint32_t take_type(struct wf_scan *json)
{
    const char *text = NULL;
    size_t length = 0;

    if (wf_scan_look(json) != '"') {
        uint64_t type = take_number(json);
        return type < WF_CHAKRA_TYPES ? (uint32_t)type : UINT32_MAX;
    }
    if (wf_scan_text(json, &text, &length)) {
        for (uint32_t type = 0; type < WF_CHAKRA_TYPES; type++) {
            const char *name = wf_chakra_type_names[type];
            if (strlen(name) == length && memcmp(name, text, length) == 0) {
                return type;
            }
        }
    }
    return UINT32_MAX;
}

static void take_attr_value(struct wf_scan *json, struct wf_chakra_raw *raw,
                            enum wf_chakra_attr attr)
{
    const char *text = NULL;
    size_t length = 0;

    if (attr == WF_CHAKRA_ATTRS || wf_scan_look(json) == '{' || wf_scan_look(json) == '[') {
        wf_scan_skip(json, 0);
    } else if (attr == WF_CHAKRA_PG_NAME && wf_scan_look(json) == '"') {
        if (wf_scan_text(json, &text, &length) && length < sizeof(raw->group)) {
            memcpy(raw->group, text, length);
            raw->group[length] = '\0';
            raw->attrs[attr] = 0;
        }
    } else {
        raw->attrs[attr] = take_number(json);
    }
}

/* A list of objects like {"name": "comm_size", "int64Val": "1024"}. */
static void take_attrs(struct wf_scan *json, struct wf_chakra_raw *raw)
{
    const char *text = NULL;
    size_t length = 0;
    bool first = true;

    if (!wf_scan_pass(json, '[')) {
        return;
    }
    while (wf_scan_next(json, ']', &first)) {
        enum wf_chakra_attr attr = WF_CHAKRA_ATTRS;
        bool first_key = true;
        if (!wf_scan_pass(json, '{')) {
            return;
        }
        while (wf_scan_next(json, '}', &first_key) && wf_scan_key(json)) {
            if (strcmp(json->key, "name") == 0 && wf_scan_look(json) == '"') {
                if (wf_scan_text(json, &text, &length)) {
                    attr = wf_chakra_attr_of(text, length);
                }
            } else {
                take_attr_value(json, raw, attr);
            }
        }
    }
}

/* The text of {"values": "..."}. */
static void take_inputs(struct wf_scan *json, struct wf_chakra_raw *raw)
{
    const char *text = NULL;
    size_t length = 0;
    bool first = true;

    if (!wf_scan_begin(json, '{')) {
        return;
    }
    while (wf_scan_next(json, '}', &first) && wf_scan_key(json)) {
        if (strcmp(json->key, "values") == 0 && wf_scan_look(json) == '"') {
            if (wf_scan_text(json, &text, &length)) {
                raw->group_values.size = 0;
                wf_buf_append(&raw->group_values, text, length);
            }
        } else {
            wf_scan_skip(json, 0);
        }
    }
}

static bool is_key(const struct wf_scan *json, const char *one, const char *other)
{
    return strcmp(json->key, one) == 0 || strcmp(json->key, other) == 0;
}

static void take_member(struct wf_scan *json, struct wf_chakra_raw *raw)
{
    const char *text = NULL;
    size_t length = 0;

    if (is_key(json, "id", "nodeid")) {
        raw->id = take_number(json);
        json->failed |= raw->id == WF_CHAKRA_NOTHING;
    } else if (is_key(json, "type", "nodetype")) {
        raw->type = take_type(json);
    } else if (is_key(json, "ctrldeps", "parent")) {
        take_ids(json, &raw->ctrl);
    } else if (is_key(json, "datadeps", "deps")) {
        take_ids(json, &raw->data);
    } else if (is_key(json, "runtime", "durationmicros")) {
        raw->duration_ps = take_micros(json);
    } else if (is_key(json, "name", "name") && wf_scan_look(json) == '"') {
        if (wf_scan_text(json, &text, &length)) {
            raw->defines_groups = memmem(text, length, "process_group:init", 18) != NULL;
        }
    } else if (is_key(json, "inputs", "inputs")) {
        take_inputs(json, raw);
    } else if (is_key(json, "attr", "attr") && wf_scan_look(json) == '[') {
        take_attrs(json, raw);
    } else {
        take_attr_value(json, raw, wf_chakra_attr_of(json->key, strlen(json->key)));
    }
}

/* Where reading is, for errors. */
static void set_place(const struct wf_scan *json, struct wf_trace_place *place)
{
    place->byte = (uint64_t)(json->at - json->begin);
}

static void take_graph(struct wf_scan *json, const struct wf_chakra *trace, uint32_t rank,
                       struct wf_chakra_raw *raw, struct wf_trace_place *place)
{
    bool first = true;

    if (!wf_scan_pass(json, '[')) {
        return;
    }
    while (wf_scan_next(json, ']', &first) && wf_scan_pass(json, '{') &&
           !wf_trace_failed(place->err)) {
        bool first_key = true;
        set_place(json, place);
        wf_chakra_raw_reset(raw);
        while (wf_scan_next(json, '}', &first_key) && wf_scan_key(json)) {
            take_member(json, raw);
        }
        if (!json->failed) {
            wf_chakra_add(trace, rank, raw, place);
        }
    }
}

/* An object with a list of nodes, or a node itself; metadata of chakra_jsonizer is neither. */
static void take_object(struct wf_scan *json, const struct wf_chakra *trace, uint32_t rank,
                        struct wf_chakra_raw *raw, struct wf_trace_place *place)
{
    struct wf_chakra_raw listed = {.id = 0};
    bool first = true;

    set_place(json, place);
    wf_chakra_raw_reset(raw);
    raw->type = NO_TYPE;
    (void)wf_scan_pass(json, '{');
    while (!wf_trace_failed(place->err) && wf_scan_next(json, '}', &first) &&
           wf_scan_key(json)) {
        if (strcmp(json->key, "workloadgraph") == 0) {
            take_graph(json, trace, rank, &listed, place);
        } else if (strcmp(json->key, "nodes") == 0) {
            wf_trace_bad(place, "a host trace of PyTorch; make an execution trace of it with "
                                "chakra_trace_link and chakra_converter");
        } else {
            take_member(json, raw);
        }
    }
    if (raw->type != NO_TYPE && !json->failed) {
        wf_chakra_add(trace, rank, raw, place);
    }
    wf_chakra_raw_fini(&listed);
}

void wf_chakra_read_json(const struct wf_chakra *trace, uint32_t rank,
                         const struct wf_buf *file, struct wf_trace_place *place)
{
    const char *text = (const char *)file->data;
    struct wf_scan json = {.begin = text, .at = text, .end = text + file->size};
    struct wf_chakra_raw raw = {.id = 0};

    while (wf_scan_look(&json) == '{' && !json.failed && !wf_trace_failed(place->err)) {
        take_object(&json, trace, rank, &raw, place);
    }
    set_place(&json, place);
    if (json.failed || wf_scan_look(&json) != '\0') {
        wf_trace_bad(place, "no JSON of nodes; truncated?");
    }
    wf_chakra_raw_fini(&raw);
}

/* ---- groups ---- */

static void take_group(struct wf_scan *json, struct wf_chakra *trace, const char *name,
                       const struct wf_trace_place *place)
{
    struct wf_buf ids = {.size = 0};
    uint32_t n = 0;

    take_ids(json, &ids);
    const uint64_t *list = (const uint64_t *)(const void *)ids.data;
    size_t n_ids = ids.size / sizeof(*list);
    uint32_t *members = wf_xcalloc(n_ids + 1, sizeof(*members));
    for (; n < n_ids && !json->failed; n++) {
        if (list[n] >= (trace->replicated ? UINT32_MAX / 2 : trace->n_ranks)) {
            wf_trace_bad(place,
                         "group %.40s has rank %" PRIu64 ", but the trace has %" PRIu32
                         " ranks%s",
                         name, list[n], trace->n_ranks,
                         trace->n_ranks == 1 ? "; -n lets more ranks execute its nodes" : "");
        }
        members[n] = (uint32_t)list[n];
    }
    if (!json->failed && !wf_trace_failed(place->err)) {
        wf_chakra_define(trace, name, members, n, place);
    }
    free(members);
    wf_buf_fini(&ids);
}

void wf_chakra_read_groups(struct wf_chakra *trace, const struct wf_buf *file,
                           struct wf_trace_place *place)
{
    const char *text = (const char *)file->data, *name = NULL;
    struct wf_scan json = {.begin = text, .at = text, .end = text + file->size};
    size_t length = 0;
    bool first = true;

    (void)wf_scan_pass(&json, '{');
    while (!wf_trace_failed(place->err) && wf_scan_next(&json, '}', &first) &&
           wf_scan_text(&json, &name, &length) && wf_scan_pass(&json, ':')) {
        char key[WF_SCAN_KEY_BYTES] = "";
        memcpy(key, name, length < WF_SCAN_KEY_BYTES - 1 ? length : WF_SCAN_KEY_BYTES - 1);
        set_place(&json, place);
        take_group(&json, trace, key, place);
    }
    set_place(&json, place);
    if (json.failed) {
        wf_trace_bad(place, "no JSON of groups, like {\"1\": [0, 1]}");
    }
}

/* The text is JSON in a string: quotes may have backslashes before them, and there may be
 * brackets and quotes around it. */
void wf_chakra_read_pg(struct wf_chakra *trace, const char *text, size_t size,
                       struct wf_trace_place *place)
{
    char *plain = wf_xmalloc(size + 1);
    size_t n = 0;

    for (size_t i = 0; i < size; i++) {
        plain[n] = text[i];
        n += text[i] != '\\' ? 1 : 0;
    }
    plain[n] = '\0';
    struct wf_scan json = {.begin = plain, .at = strchr(plain, '{'), .end = plain + n};
    while (json.at != NULL && !json.failed && !wf_trace_failed(place->err)) {
        char name[WF_SCAN_KEY_BYTES] = "";
        const char *ranks = NULL, *value = NULL;
        size_t length = 0;
        bool first = true;

        (void)wf_scan_pass(&json, '{');
        while (wf_scan_next(&json, '}', &first) && wf_scan_key(&json)) {
            if (strcmp(json.key, "pgname") == 0 && wf_scan_look(&json) == '"') {
                if (wf_scan_text(&json, &value, &length)) {
                    memcpy(name, value,
                           length < WF_SCAN_KEY_BYTES - 1 ? length : WF_SCAN_KEY_BYTES - 1);
                }
            } else {
                ranks = strcmp(json.key, "ranks") == 0 ? json.at : ranks;
                wf_scan_skip(&json, 0);
            }
        }
        if (name[0] != '\0' && ranks != NULL && !json.failed) {
            struct wf_scan list = json;
            list.at = ranks;
            take_group(&list, trace, name, place);
        }
        json.at = strchr(json.at, '{');
    }
    free(plain);
}
