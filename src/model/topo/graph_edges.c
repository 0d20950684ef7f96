/* SPDX-License-Identifier: Apache-2.0 */
/* Edge lists: one link per line, words separated by spaces. */
#include "base/units.h"
#include "model/topo/graph_format.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Reads the next word of the line; false at the end of the line or at a comment, which is
 * skipped. */
static bool next_word(struct wf_topo_graph_reader *reader, struct wf_topo_graph_word *word)
{
    while (is_blank(wf_topo_graph_peek(reader, 0))) {
        reader->at++;
    }
    if (wf_topo_graph_peek(reader, 0) == '#') {
        const char *from = reader->text + reader->at;
        const char *end = memchr(from, '\n', reader->size - reader->at);
        reader->at = end != NULL ? (size_t)(end - reader->text) : reader->size;
    }

    size_t start = reader->at;
    while (reader->at < reader->size && reader->text[reader->at] != '\n' &&
           !is_blank(reader->text[reader->at])) {
        reader->at++;
    }
    *word = (struct wf_topo_graph_word){reader->text + start, reader->at - start, start};
    return word->len > 0;
}

static enum wf_status get_vertex(struct wf_topo_graph_reader *reader,
                                 struct wf_topo_graph_word name, uint32_t *out)
{
    const struct wf_topo_graph_attrs nothing = {.kind = WF_TOPO_GRAPH_UNDECLARED};

    if (memchr(name.text, '=', name.len) != NULL) {
        return wf_topo_graph_fail(
            reader, name.at,
            "expected a vertex, not '%.*s'; a line is A B bandwidth=10Gbit/s "
            "latency=1us",
            wf_topo_graph_shown(name), name.text);
    }
    return wf_topo_graph_vertex(reader, name, &nothing, out);
}

/* The first words of lines that declare vertices. */
static const struct declaration {
    const char *word;
    enum wf_topo_graph_kind kind;
    bool gate;
} declarations[] = {
    {"node", WF_TOPO_GRAPH_NODE, false},
    {"switch", WF_TOPO_GRAPH_SWITCH, false},
    {"gate", WF_TOPO_GRAPH_UNDECLARED, true},
};

static enum wf_status declare(struct wf_topo_graph_reader *reader, const struct declaration *as)
{
    struct wf_topo_graph_word name;
    uint32_t vertex = 0, n = 0;

    for (; next_word(reader, &name); n++) {
        WF_TRY(get_vertex(reader, name, &vertex));
        struct wf_topo_graph_attrs *attrs = &reader->vertices[vertex].attrs;
        if (as->gate) {
            attrs->gate = true;
            continue;
        }
        if (attrs->kind != WF_TOPO_GRAPH_UNDECLARED && attrs->kind != as->kind) {
            return wf_topo_graph_fail(reader, name.at,
                                      "'%.*s' is declared both a node and a switch; keep one",
                                      wf_topo_graph_shown(name), name.text);
        }
        attrs->kind = as->kind;
    }
    if (n == 0) {
        return wf_topo_graph_fail(reader, name.at, "expected the name of a vertex after '%s'",
                                  as->word);
    }
    return WF_OK;
}

/* The attribute that a value without a key belongs to, as its unit tells; null if the unit
 * is unknown. */
static const char *name_of_value(struct wf_topo_graph_word value)
{
    char text[WF_UNITS_TEXT_MAX];
    int64_t latency = 0;
    uint64_t bandwidth = 0;

    if (value.len >= sizeof(text)) {
        return NULL;
    }
    memcpy(text, value.text, value.len);
    text[value.len] = '\0';
    if (wf_parse_time(text, &latency, NULL) == WF_OK) {
        return "latency";
    }
    return wf_parse_rate(text, &bandwidth, NULL) == WF_OK ? "bandwidth" : NULL;
}

/* Splits "key=value", or finds the key of a value without one. */
static enum wf_status split_attr(const struct wf_topo_graph_reader *reader,
                                 struct wf_topo_graph_word word, struct wf_topo_graph_word *key,
                                 struct wf_topo_graph_word *value)
{
    const char *equals = memchr(word.text, '=', word.len);

    if (equals != NULL) {
        size_t len = (size_t)(equals - word.text);
        *key = (struct wf_topo_graph_word){word.text, len, word.at};
        *value = (struct wf_topo_graph_word){equals + 1, word.len - len - 1, word.at + len + 1};
        return WF_OK;
    }
    const char *name = name_of_value(word);
    if (name == NULL) {
        return wf_topo_graph_fail(
            reader, word.at, "expected a bandwidth as 10Gbit/s or a latency as 1us, not '%.*s'",
            wf_topo_graph_shown(word), word.text);
    }
    *key = (struct wf_topo_graph_word){name, strlen(name), word.at};
    *value = word;
    return WF_OK;
}

static enum wf_status read_attr(struct wf_topo_graph_reader *reader,
                                struct wf_topo_graph_word word,
                                struct wf_topo_graph_attrs *attrs)
{
    const struct wf_topo_graph_attr *attr = NULL;
    struct wf_topo_graph_attrs one = {.kind = WF_TOPO_GRAPH_UNDECLARED};
    struct wf_topo_graph_word key = {"", 0, 0}, value = key;
    struct wf_topo_link_props *props = &attrs->props;

    WF_TRY(split_attr(reader, word, &key, &value));
    WF_TRY(wf_topo_graph_attr_find(reader, key, true, &attr));
    if (attr == NULL) {
        return wf_topo_graph_fail(
            reader, key.at,
            "unknown attribute '%.*s'; a link has bandwidth=, latency= and class=",
            wf_topo_graph_shown(key), key.text);
    }
    WF_TRY(wf_topo_graph_attr_set(reader, attr, value, &one));
    if ((one.props.latency != 0 && props->latency != 0) ||
        (one.props.bandwidth != 0 && props->bandwidth != 0) ||
        (one.link_class != 0 && attrs->link_class != 0)) {
        return wf_topo_graph_fail(reader, word.at, "%.*s is given twice",
                                  wf_topo_graph_shown(key), key.text);
    }
    props->latency += one.props.latency;
    props->bandwidth += one.props.bandwidth;
    attrs->link_class += one.link_class;
    return WF_OK;
}

static enum wf_status read_link(struct wf_topo_graph_reader *reader,
                                struct wf_topo_graph_word from_name)
{
    struct wf_topo_graph_word to_name, word;
    uint32_t from = 0, to = 0;

    WF_TRY(get_vertex(reader, from_name, &from));
    if (!next_word(reader, &to_name)) {
        return wf_topo_graph_fail(
            reader, from_name.at,
            "'%.*s' stands alone; a line names the two vertices of a link",
            wf_topo_graph_shown(from_name), from_name.text);
    }
    WF_TRY(get_vertex(reader, to_name, &to));
    WF_TRY(wf_topo_graph_link(reader, from, to, from_name.at, false));
    while (next_word(reader, &word)) {
        WF_TRY(read_attr(reader, word, &reader->edges[reader->n_edges - 1].attrs));
    }
    return WF_OK;
}

enum wf_status wf_topo_graph_read_edges(struct wf_topo_graph_reader *reader)
{
    enum wf_status status = WF_OK;

    /* Each iteration reads one line; the increment skips the end of the line. */
    for (; status == WF_OK && reader->at < reader->size; reader->at++) {
        struct wf_topo_graph_word word;
        const struct declaration *as = NULL;
        if (!next_word(reader, &word)) {
            continue;
        }
        for (size_t i = 0; i < sizeof(declarations) / sizeof(declarations[0]); i++) {
            as = wf_topo_graph_is(word, declarations[i].word) ? &declarations[i] : as;
        }
        status = as != NULL ? declare(reader, as) : read_link(reader, word);
    }
    return status;
}
