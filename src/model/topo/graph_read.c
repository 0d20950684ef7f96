/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/graph_format.h"

#include "base/array.h"
#include "base/text.h"
#include "base/units.h"
#include "model/topo/classes.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Messages repeat at most this many characters of what users wrote. */
enum { SHOWN_MAX = 64, NAME_SHOWN_MAX = 128 };

_Static_assert(WF_TOPO_GRAPH_TEXT_MAX / 4 * 2 < WF_TOPO_LINK_MAX,
               "a text could have too many links");

/* The end of a path tells more than its beginning. */
static const char *end_of(const char *name)
{
    size_t len = strlen(name);

    return len > NAME_SHOWN_MAX ? name + len - NAME_SHOWN_MAX : name;
}

enum wf_status wf_topo_graph_fail(const struct wf_topo_graph_reader *reader, size_t at,
                                  const char *fmt, ...)
{
    size_t line = 1, column = 1;
    char words[WF_ERR_TEXT_MAX];
    va_list ap;

    for (size_t i = 0; i < at && i < reader->size; i++) {
        column++;
        if (reader->text[i] == '\n') {
            line++;
            column = 1;
        }
    }
    va_start(ap, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, ap);
    va_end(ap);
    return wf_err_set(reader->err, WF_EINVAL, "%s:%zu:%zu: %.360s", end_of(reader->name), line,
                      column, words);
}

bool wf_topo_graph_is(struct wf_topo_graph_word word, const char *text)
{
    return strlen(text) == word.len && memcmp(word.text, text, word.len) == 0;
}

int wf_topo_graph_shown(struct wf_topo_graph_word word)
{
    return (int)(word.len < SHOWN_MAX ? word.len : SHOWN_MAX);
}

enum wf_status wf_topo_graph_vertex(struct wf_topo_graph_reader *reader,
                                    struct wf_topo_graph_word name,
                                    const struct wf_topo_graph_attrs *initial, uint32_t *out)
{
    if (name.len == 0) {
        return wf_topo_graph_fail(reader, name.at, "a vertex without a name");
    }
    uint32_t number = wf_strings_put(&reader->names, name.text, name.len);
    WF_GROW_ZERO(reader->vertices, number, reader->vertices_capacity);
    struct wf_topo_graph_vertex *vertex = &reader->vertices[number];
    if (!vertex->seen) {
        *vertex = (struct wf_topo_graph_vertex){
            .attrs = *initial, .at = (uint32_t)name.at, .seen = true};
    }
    *out = number;
    return WF_OK;
}

enum wf_status wf_topo_graph_link(struct wf_topo_graph_reader *reader, uint32_t from,
                                  uint32_t to, size_t at, bool oneway)
{
    if (from == to) {
        return wf_topo_graph_fail(reader, at,
                                  "'%.64s' is linked to itself; leave that link out",
                                  wf_strings_at(&reader->names, from));
    }
    WF_PUSH(reader->edges, reader->n_edges, reader->edges_capacity,
            (struct wf_topo_graph_edge){
                .from = from, .to = to, .at = (uint32_t)at, .oneway = oneway});
    return WF_OK;
}

/* Values are short: a longer text is not a valid value. */
enum { VALUE_MAX = 64, CLASSES_MAX = 1000 };
_Static_assert((int)VALUE_MAX <= (int)WF_TOPO_CLASS_NAME_MAX + 1, "names of classes");

struct wf_topo_graph_attr {
    const char *name;
    bool of_link;
    /* Sets only the text of `err` on failure; the caller adds the position. */
    enum wf_status (*set)(struct wf_topo_graph_reader *reader,
                          struct wf_topo_graph_attrs *attrs, const char *value,
                          struct wf_err *err);
};

static enum wf_status set_bandwidth(struct wf_topo_graph_reader *reader,
                                    struct wf_topo_graph_attrs *attrs, const char *value,
                                    struct wf_err *err)
{
    return wf_parse_rate(value, &attrs->props.bandwidth, err);
}

static enum wf_status set_latency(struct wf_topo_graph_reader *reader,
                                  struct wf_topo_graph_attrs *attrs, const char *value,
                                  struct wf_err *err)
{
    int64_t latency = 0;
    WF_TRY(wf_parse_time(value, &latency, err));
    if (latency == 0) {
        return wf_err_set(err, WF_EINVAL,
                          "a latency of 0; leave it out for that of the network model");
    }
    attrs->props.latency = latency;
    return WF_OK;
}

/* Settings name classes, so that their names consist of characters without a meaning there. */
static enum wf_status set_class(struct wf_topo_graph_reader *reader,
                                struct wf_topo_graph_attrs *attrs, const char *value,
                                struct wf_err *err)
{
    size_t len = 0;

    while (isalnum((unsigned char)value[len]) ||
           (value[len] != '\0' && strchr("_+-", value[len]) != NULL)) {
        len++;
    }
    if (len == 0 || value[len] != '\0') {
        return wf_err_set(err, WF_EINVAL,
                          "'%s' is no name of a class; expected letters, digits, _, + and -",
                          value);
    }
    attrs->link_class = wf_strings_put(&reader->classes, value, len) + 1;
    return attrs->link_class <= CLASSES_MAX
               ? WF_OK
               : wf_err_set(err, WF_EINVAL, "more than %d classes", CLASSES_MAX);
}

static enum wf_status set_kind(struct wf_topo_graph_reader *reader,
                               struct wf_topo_graph_attrs *attrs, const char *value,
                               struct wf_err *err)
{
    if (strcmp(value, "node") != 0 && strcmp(value, "switch") != 0) {
        return wf_err_set(err, WF_EINVAL, "unknown kind '%s', expected node or switch", value);
    }
    attrs->kind = value[0] == 'n' ? WF_TOPO_GRAPH_NODE : WF_TOPO_GRAPH_SWITCH;
    return WF_OK;
}

static enum wf_status set_gate(struct wf_topo_graph_reader *reader,
                               struct wf_topo_graph_attrs *attrs, const char *value,
                               struct wf_err *err)
{
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0) {
        return wf_err_set(err, WF_EINVAL, "gate is '%s', expected true or false", value);
    }
    attrs->gate = value[0] == 't';
    return WF_OK;
}

static const struct wf_topo_graph_attr attr_table[] = {
    {"bandwidth", true, set_bandwidth}, {"latency", true, set_latency},
    {"class", true, set_class},         {"kind", false, set_kind},
    {"gate", false, set_gate},          {NULL, false, NULL},
};

/* Files for other programs are full of attributes that weft does not use. A name that
 * differs from one of ours by one slip is taken for misspelt, since the slip would otherwise
 * go unnoticed. */
enum wf_status wf_topo_graph_attr_find(const struct wf_topo_graph_reader *reader,
                                       struct wf_topo_graph_word name, bool of_link,
                                       const struct wf_topo_graph_attr **out)
{
    char text[WF_HINT_MAX], hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    *out = NULL;
    (void)snprintf(text, sizeof(text), "%.*s", wf_topo_graph_shown(name), name.text);
    wf_nearest_begin(&nearest, text);
    for (const struct wf_topo_graph_attr *attr = attr_table; attr->name != NULL; attr++) {
        if (attr->set == set_class && !of_link) {
            continue; /* Graphviz has an attribute of that name for vertices, too */
        }
        if (wf_topo_graph_is(name, attr->name)) {
            *out = attr;
            return attr->of_link == of_link
                       ? WF_OK
                       : wf_topo_graph_fail(reader, name.at, "%s belongs to %s, not to %s",
                                            attr->name, of_link ? "vertices" : "links",
                                            of_link ? "links" : "vertices");
        }
        /* "gate" resembles too many words. */
        if (attr->of_link == of_link && attr->set != set_gate) {
            wf_nearest_add(&nearest, attr->name);
        }
    }
    if (nearest.best != NULL && nearest.distance <= 1) {
        return wf_topo_graph_fail(reader, name.at, "unknown attribute '%s'%s", text,
                                  wf_nearest_hint(&nearest, hint));
    }
    return WF_OK;
}

enum wf_status wf_topo_graph_attr_set(struct wf_topo_graph_reader *reader,
                                      const struct wf_topo_graph_attr *attr,
                                      struct wf_topo_graph_word value,
                                      struct wf_topo_graph_attrs *attrs)
{
    char text[VALUE_MAX];
    struct wf_err inner;

    if (value.len >= sizeof(text)) {
        return wf_topo_graph_fail(reader, value.at, "the value of %s is too long: '%.*s'...",
                                  attr->name, wf_topo_graph_shown(value), value.text);
    }
    memcpy(text, value.text, value.len);
    text[value.len] = '\0';
    if (attr->set(reader, attrs, text, &inner) != WF_OK) {
        return wf_topo_graph_fail(reader, value.at, "%s: %s", attr->name, inner.text);
    }
    return WF_OK;
}

/* The position of the first text that is neither space nor a comment in any of the formats. */
static size_t first_word(const struct wf_topo_graph_reader *reader)
{
    const char *text = reader->text, *end = text + reader->size, *at = text + reader->at;

    while (at < end) {
        const char *close = NULL;
        size_t left = (size_t)(end - at);
        if (isspace((unsigned char)*at)) {
            at++;
            continue;
        }
        if (*at == '#' || (left >= 2 && memcmp(at, "//", 2) == 0)) {
            close = memchr(at, '\n', left);
            at = close != NULL ? close + 1 : end;
            continue;
        }
        if (left < 2 || memcmp(at, "/*", 2) != 0) {
            break;
        }
        close = memmem(at + 2, left - 2, "*/", 2);
        at = close != NULL ? close + 2 : end;
    }
    return (size_t)(at - text);
}

static enum wf_status read_format(struct wf_topo_graph_reader *reader)
{
    static const char *const dot_words[] = {"strict", "graph", "digraph", NULL};
    size_t at = first_word(reader), len = 0;

    while (at + len < reader->size && isalpha((unsigned char)reader->text[at + len])) {
        len++;
    }
    for (const char *const *word = dot_words; *word != NULL; word++) {
        if (strlen(*word) == len && strncasecmp(reader->text + at, *word, len) == 0) {
            return wf_topo_graph_read_dot(reader);
        }
    }
    if (at < reader->size && reader->text[at] == '<') {
        return wf_topo_graph_read_graphml(reader);
    }
    return wf_topo_graph_read_edges(reader);
}

static enum wf_status check_text(const struct wf_topo_graph_reader *reader)
{
    const char *nul = reader->size > 0 ? memchr(reader->text, '\0', reader->size) : NULL;
    if (nul != NULL) {
        return wf_topo_graph_fail(reader, (size_t)(nul - reader->text),
                                  "not a text: expected an edge list, DOT or GraphML");
    }
    return WF_OK;
}

enum wf_status wf_topo_graph_read(const char *name, const char *text, size_t size,
                                  struct wf_topo_graph_net *net, struct wf_err *err)
{
    struct wf_topo_graph_reader reader = {.name = name, .text = text, .size = size, .err = err};
    enum wf_status status = check_text(&reader);

    if (status == WF_OK) {
        /* The byte order mark that some editors put before UTF-8. */
        reader.at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        status = read_format(&reader);
    }
    WF_THEN(status, wf_topo_graph_resolve(&reader, net));
    wf_buf_fini(&reader.scratch);
    wf_strings_fini(&reader.names);
    wf_strings_fini(&reader.classes);
    free(reader.vertices);
    free(reader.edges);
    return status;
}

void wf_topo_graph_net_release(struct wf_topo_graph_net *net)
{
    wf_topo_csr_release(&net->links);
    for (uint32_t i = 0; i < net->n_classes; i++) {
        free(net->classes[i]);
    }
    free(net->classes);
    for (char **name = net->names; name != NULL && *name != NULL; name++) {
        free(*name);
    }
    free(net->names);
    free(net->class_of);
    free(net->props);
    net->props = NULL;
}
