/* SPDX-License-Identifier: Apache-2.0 */
#include "run/machine/yaml.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* A tree under construction. */
struct reader {
    yaml_parser_t parser;
    struct wf_yaml *root;
    struct wf_yaml *open[WF_YAML_DEPTH_MAX]; /* the open lists and mappings, outermost first */
    size_t depth;
    size_t n_nodes;
    char *key; /* key of the next value */
    struct wf_yaml_place key_at;
    bool done; /* the document has ended */
};

static const char *const kind_names[] = {
    [WF_YAML_SCALAR] = "a single value",
    [WF_YAML_LIST] = "a list",
    [WF_YAML_MAP] = "a mapping",
};

const char *wf_yaml_kind_name(enum wf_yaml_kind kind)
{
    return kind_names[kind];
}

static struct wf_yaml_place place_of(const yaml_mark_t *mark)
{
    return (struct wf_yaml_place){
        .line = (uint32_t)mark->line + 1,
        .column = (uint32_t)mark->column + 1,
    };
}

static enum wf_status refuse(struct wf_yaml_place at, const char *what, struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL, "%u:%u: %s", at.line, at.column, what);
}

/* Frees without recursion: the children of a node take its place in the list. */
void wf_yaml_free(struct wf_yaml *root)
{
    while (root != NULL) {
        struct wf_yaml *next = root->next;

        if (root->first != NULL) {
            root->last->next = next;
            next = root->first;
        }
        free(root->text);
        free(root->key);
        free(root);
        root = next;
    }
}

const struct wf_yaml *wf_yaml_get(const struct wf_yaml *map, const char *key)
{
    if (map == NULL || map->kind != WF_YAML_MAP) {
        return NULL;
    }
    for (const struct wf_yaml *node = map->first; node != NULL; node = node->next) {
        if (strcmp(node->key, key) == 0) {
            return node;
        }
    }
    return NULL;
}

static struct wf_yaml *innermost(const struct reader *reader)
{
    return reader->depth > 0 ? reader->open[reader->depth - 1] : NULL;
}

/* Takes a scalar as the key, in a mapping that expects one. */
static enum wf_status take_key(struct reader *reader, const char *text, struct wf_yaml_place at,
                               struct wf_err *err)
{
    if (wf_yaml_get(innermost(reader), text) != NULL) {
        return wf_err_set(err, WF_EINVAL, "%u:%u: the key '%.64s' is given twice", at.line,
                          at.column, text);
    }
    reader->key = wf_xstrdup(text);
    reader->key_at = at;
    return WF_OK;
}

static bool wants_key(const struct reader *reader)
{
    const struct wf_yaml *parent = innermost(reader);

    return parent != NULL && parent->kind == WF_YAML_MAP && reader->key == NULL;
}

/* Adds a node at the current position. `text` is null unless the node is a scalar. */
static enum wf_status add_node(struct reader *reader, enum wf_yaml_kind kind, const char *text,
                               struct wf_yaml_place at, struct wf_err *err)
{
    struct wf_yaml *parent = innermost(reader);

    if (reader->n_nodes++ == WF_YAML_NODES_MAX) {
        return refuse(at, "more than 4096 keys and values", err);
    }
    if (kind != WF_YAML_SCALAR && reader->depth == WF_YAML_DEPTH_MAX) {
        return refuse(at, "nested more than 80 deep", err);
    }
    if (wants_key(reader)) {
        return text != NULL ? take_key(reader, text, at, err)
                            : refuse(at, "a key must be a single value", err);
    }

    struct wf_yaml *node = wf_xcalloc(1, sizeof(*node));
    *node = (struct wf_yaml){
        .kind = kind,
        .at = at,
        .text = text != NULL ? wf_xstrdup(text) : NULL,
        .key = reader->key,
        .key_at = reader->key_at,
    };
    reader->key = NULL;
    if (parent == NULL) {
        reader->root = node;
    } else if (parent->last == NULL) {
        parent->first = parent->last = node;
    } else {
        parent->last->next = node;
        parent->last = node;
    }
    if (kind != WF_YAML_SCALAR) {
        reader->open[reader->depth++] = node;
    }
    return WF_OK;
}

/* Anchors and tags are not supported. */
static enum wf_status refuse_decorated(const yaml_char_t *anchor, const yaml_char_t *tag,
                                       struct wf_yaml_place at, struct wf_err *err)
{
    if (anchor != NULL) {
        return refuse(at, "anchors (&name) are not supported; repeat the value", err);
    }
    return tag == NULL ? WF_OK
                       : refuse(at, "tags (!name) are not supported; leave it out", err);
}

static bool has_controls(const char *text)
{
    for (; *text != '\0'; text++) {
        if (((unsigned char)*text < ' ' && *text != '\n' && *text != '\t') || *text == 0x7f) {
            return true;
        }
    }
    return false;
}

static enum wf_status add_scalar(struct reader *reader, const yaml_event_t *event,
                                 struct wf_err *err)
{
    struct wf_yaml_place at = place_of(&event->start_mark);
    const char *text = (const char *)event->data.scalar.value;
    WF_TRY(refuse_decorated(event->data.scalar.anchor, event->data.scalar.tag, at, err));
    if (strlen(text) != event->data.scalar.length || has_controls(text)) {
        WF_TRY(refuse(at, "a value must not contain control characters", err));
    }
    return add_node(reader, WF_YAML_SCALAR, text, at, err);
}

static enum wf_status open_node(struct reader *reader, enum wf_yaml_kind kind,
                                const yaml_event_t *event, struct wf_err *err)
{
    bool map = kind == WF_YAML_MAP;
    struct wf_yaml_place at = place_of(&event->start_mark);
    WF_TRY(refuse_decorated(
        map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor,
        map ? event->data.mapping_start.tag : event->data.sequence_start.tag, at, err));
    return add_node(reader, kind, NULL, at, err);
}

static enum wf_status take_event(struct reader *reader, const yaml_event_t *event,
                                 struct wf_err *err)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return add_scalar(reader, event, err);
    case YAML_SEQUENCE_START_EVENT:
        return open_node(reader, WF_YAML_LIST, event, err);
    case YAML_MAPPING_START_EVENT:
        return open_node(reader, WF_YAML_MAP, event, err);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        reader->depth--;
        return WF_OK;
    case YAML_ALIAS_EVENT:
        return refuse(place_of(&event->start_mark),
                      "aliases (*name) are not supported; repeat the value", err);
    case YAML_DOCUMENT_START_EVENT:
        return reader->root == NULL
                   ? WF_OK
                   : refuse(place_of(&event->start_mark), "a second document begins", err);
    case YAML_STREAM_END_EVENT:
        reader->done = true;
        return WF_OK;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
    return WF_OK;
}

/* Reports the error of libyaml. For bytes that are not text, libyaml knows only its own
 * position. */
static enum wf_status syntax_error(const yaml_parser_t *parser, struct wf_err *err)
{
    bool unread = parser->error == YAML_READER_ERROR;
    struct wf_yaml_place at = place_of(unread ? &parser->mark : &parser->problem_mark);

    return wf_err_set(err, WF_EINVAL, "%u:%u: not valid YAML: %.128s", at.line, at.column,
                      parser->problem != NULL ? parser->problem : "out of memory");
}

static enum wf_status read_events(struct reader *reader, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    while (status == WF_OK && !reader->done) {
        yaml_event_t event;

        if (yaml_parser_parse(&reader->parser, &event) == 0) {
            return syntax_error(&reader->parser, err);
        }
        status = take_event(reader, &event, err);
        yaml_event_delete(&event);
    }
    if (status == WF_OK && reader->root == NULL) {
        status = refuse((struct wf_yaml_place){1, 1}, "there is nothing in it", err);
    }
    return status;
}

enum wf_status wf_yaml_parse(const char *text, size_t size, struct wf_yaml **out,
                             struct wf_err *err)
{
    struct reader reader = {.root = NULL};

    if (size > WF_YAML_BYTES_MAX) {
        return refuse((struct wf_yaml_place){1, 1}, "longer than 1MiB", err);
    }
    if (yaml_parser_initialize(&reader.parser) == 0) {
        wf_panic("no memory for a YAML parser");
    }
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, size);
    enum wf_status status = read_events(&reader, err);
    yaml_parser_delete(&reader.parser);
    free(reader.key);
    if (status == WF_OK) {
        *out = reader.root;
    } else {
        wf_yaml_free(reader.root);
    }
    return status;
}
