/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A YAML text as a tree in which every node knows its position. Supports what a configuration
 * needs: mappings, lists, and scalars, which are texts. Refuses anchors, aliases, tags, further
 * documents, keys that are not scalars, and equal keys in one mapping.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    WF_YAML_BYTES_MAX = 1 << 20,
    WF_YAML_NODES_MAX = 4096, /* keys count too */
    WF_YAML_DEPTH_MAX = 80,   /* enough for the deepest hierarchy of networks, written nested */
};

enum wf_yaml_kind { WF_YAML_SCALAR, WF_YAML_LIST, WF_YAML_MAP };

/* Lines and columns count from 1; columns are characters. */
struct wf_yaml_place {
    uint32_t line, column;
};

struct wf_yaml {
    enum wf_yaml_kind kind;
    struct wf_yaml_place at;
    char *text;                   /* for a scalar; "" if nothing is written */
    char *key;                    /* key in a mapping; else null */
    struct wf_yaml_place key_at;  /* place of the key */
    struct wf_yaml *first, *last; /* children of a list or mapping; null if empty */
    struct wf_yaml *next;         /* next child of the same parent */
};

/* Reads the `size` bytes at `text`. On success the caller owns *out, and frees it with
 * wf_yaml_free(). On failure the status is WF_EINVAL, and the message begins with "line:column:
 * ". */
enum wf_status wf_yaml_parse(const char *text, size_t size, struct wf_yaml **out,
                             struct wf_err *err);
void wf_yaml_free(struct wf_yaml *root); /* null is allowed */

/* The value of a key in a mapping. Null if there is none, or if `map` is null or not a
 * mapping. */
const struct wf_yaml *wf_yaml_get(const struct wf_yaml *map, const char *key);

/* The name of a kind in messages: "a list". */
const char *wf_yaml_kind_name(enum wf_yaml_kind kind);
