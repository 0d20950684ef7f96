/* SPDX-License-Identifier: Apache-2.0 */
/* GraphML (Brandes, Eiglsperger, Herman, Himsolt, Marshall, "GraphML progress report", Graph
 * Drawing 2001) without nested graphs, hyperedges and ports. What is not known is skipped. */
#include "topo/graph_xml.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Where in the document we are. */
enum place {
    OUTSIDE,
    IN_GRAPHML,
    IN_KEY,
    IN_DEFAULT,
    IN_GRAPH,
    IN_NODE,
    IN_EDGE,
    IN_NODE_DATA,
    IN_EDGE_DATA,
    IN_OTHER, /* something that says nothing to us */
};

/* A declared attribute of vertices or links; null if it is none of ours. */
struct key {
    const struct wf_graph_attr *attr;
    bool of_link;
};

struct graphml {
    struct wf_graph_reader *reader;
    struct wf_xml xml;
    enum place places[WF_XML_DEPTH_MAX + 1]; /* by depth */
    struct wf_names key_names;
    struct key *keys; /* by their number in key_names */
    size_t keys_capacity;
    uint32_t key;        /* of the <key> or <data> at hand */
    struct wf_buf value; /* the character data of the <data> or <default> at hand */
    size_t value_at;
    struct wf_graph_attrs node_defaults, edge_defaults;
    bool directed; /* unless an edge says otherwise */
    bool seen;     /* the graph */
    uint32_t node; /* the one at hand */
};

static enum wf_status find_attr(struct graphml *graphml, struct key *key)
{
    struct wf_graph_word word;
    bool any = false;

    enum wf_status status = wf_xml_attr(&graphml->xml, "for", "all", &word);
    if (status != WF_OK) {
        return status;
    }
    key->of_link = wf_graph_is(word, "edge");
    any = wf_graph_is(word, "all");
    if (!any && !key->of_link && !wf_graph_is(word, "node")) {
        return WF_OK; /* of the graph, perhaps */
    }
    status = wf_xml_attr(&graphml->xml, "attr.name", "", &word);
    if (any) {
        key->of_link = !wf_graph_is(word, "kind") && !wf_graph_is(word, "gate");
    }
    return status == WF_OK ? wf_graph_attr_find(graphml->reader, word, key->of_link, &key->attr)
                           : status;
}

static enum wf_status open_key(struct graphml *graphml)
{
    struct wf_graph_word word;
    struct key key = {NULL, false};

    enum wf_status status = wf_xml_attr(&graphml->xml, "id", NULL, &word);
    if (status != WF_OK) {
        return status;
    }
    if (wf_names_find(&graphml->key_names, word.text, word.len) != WF_NAMES_NONE) {
        return wf_graph_fail(graphml->reader, word.at, "the key '%.*s' is declared twice",
                             wf_graph_shown(word), word.text);
    }
    graphml->key = wf_names_add(&graphml->key_names, word.text, word.len);
    status = find_attr(graphml, &key);
    if (graphml->key == graphml->keys_capacity) {
        graphml->keys_capacity = graphml->key < 16 ? 16 : (size_t)graphml->key * 2;
        graphml->keys =
            wf_xrealloc(graphml->keys, graphml->keys_capacity, sizeof(*graphml->keys));
    }
    graphml->keys[graphml->key] = key;
    return status;
}

static enum wf_status open_value(struct graphml *graphml)
{
    graphml->value.size = 0;
    graphml->value_at = graphml->reader->at;
    return WF_OK;
}

static enum wf_status open_data(struct graphml *graphml)
{
    struct wf_graph_word word;

    enum wf_status status = wf_xml_attr(&graphml->xml, "key", NULL, &word);
    if (status != WF_OK) {
        return status;
    }
    graphml->key = wf_names_find(&graphml->key_names, word.text, word.len);
    if (graphml->key == WF_NAMES_NONE) {
        return wf_graph_fail(graphml->reader, word.at,
                             "the key '%.*s' is not declared; add <key id=\"%.*s\" ...> before "
                             "the graph",
                             wf_graph_shown(word), word.text, wf_graph_shown(word), word.text);
    }
    return open_value(graphml);
}

static enum wf_status open_graph(struct graphml *graphml)
{
    struct wf_graph_word word;

    if (graphml->seen) {
        return wf_graph_fail(graphml->reader, graphml->xml.word.at,
                             "a second graph; one file describes one network");
    }
    graphml->seen = true;
    enum wf_status status = wf_xml_attr(&graphml->xml, "edgedefault", NULL, &word);
    if (status != WF_OK) {
        return status;
    }
    graphml->directed = wf_graph_is(word, "directed");
    if (!graphml->directed && !wf_graph_is(word, "undirected")) {
        return wf_graph_fail(graphml->reader, word.at,
                             "edgedefault is '%.*s', expected directed or undirected",
                             wf_graph_shown(word), word.text);
    }
    return WF_OK;
}

static enum wf_status open_node(struct graphml *graphml)
{
    struct wf_graph_word word;

    enum wf_status status = wf_xml_attr(&graphml->xml, "id", NULL, &word);
    if (status == WF_OK) {
        status =
            wf_graph_vertex(graphml->reader, word, &graphml->node_defaults, &graphml->node);
    }
    if (status != WF_OK) {
        return status;
    }
    struct wf_graph_vertex *vertex = &graphml->reader->vertices[graphml->node];
    if (vertex->known) {
        return wf_graph_fail(graphml->reader, word.at, "the node '%.*s' is declared twice",
                             wf_graph_shown(word), word.text);
    }
    vertex->known = true;
    return WF_OK;
}

static enum wf_status read_end(struct graphml *graphml, const char *name, uint32_t *out)
{
    struct wf_graph_word word;

    enum wf_status status = wf_xml_attr(&graphml->xml, name, NULL, &word);
    return status == WF_OK
               ? wf_graph_vertex(graphml->reader, word, &graphml->node_defaults, out)
               : status;
}

static enum wf_status open_edge(struct graphml *graphml)
{
    struct wf_graph_reader *reader = graphml->reader;
    struct wf_graph_word word = {"", 0, 0};
    size_t at = graphml->xml.word.at;
    uint32_t from = 0, to = 0;

    enum wf_status status = read_end(graphml, "source", &from);
    if (status == WF_OK) {
        status = read_end(graphml, "target", &to);
    }
    if (status == WF_OK) {
        status =
            wf_xml_attr(&graphml->xml, "directed", graphml->directed ? "true" : "false", &word);
    }
    if (status == WF_OK && !wf_graph_is(word, "true") && !wf_graph_is(word, "false")) {
        status = wf_graph_fail(reader, word.at, "directed is '%.*s', expected true or false",
                               wf_graph_shown(word), word.text);
    }
    if (status == WF_OK) {
        status = wf_graph_link(reader, from, to, at, wf_graph_is(word, "true"));
    }
    if (status == WF_OK) {
        reader->edges[reader->n_edges - 1].attrs = graphml->edge_defaults;
    }
    return status;
}

static enum wf_status refuse(struct graphml *graphml)
{
    struct wf_graph_word tag = graphml->xml.word;

    return wf_graph_fail(graphml->reader, tag.at, "<%.*s> is not understood here",
                         wf_graph_shown(tag), tag.text);
}

/* Applies the value at hand to `attrs` if it is for vertices or links as they are. */
static enum wf_status set_value(struct graphml *graphml, bool of_link,
                                struct wf_graph_attrs *attrs)
{
    static const char spaces[] = " \t\r\n";
    const struct key *key = &graphml->keys[graphml->key];
    struct wf_graph_word value = {(const char *)graphml->value.data, graphml->value.size,
                                  graphml->value_at};

    if (key->attr == NULL || key->of_link != of_link) {
        return WF_OK;
    }
    while (value.len > 0 && strchr(spaces, value.text[0]) != NULL) {
        value.text++;
        value.len--;
    }
    while (value.len > 0 && strchr(spaces, value.text[value.len - 1]) != NULL) {
        value.len--;
    }
    if (value.len == 0) {
        value.text = "";
    }
    return wf_graph_attr_set(graphml->reader, key->attr, value, attrs);
}

static enum wf_status close_default(struct graphml *graphml)
{
    bool of_link = graphml->keys[graphml->key].of_link;

    return set_value(graphml, of_link,
                     of_link ? &graphml->edge_defaults : &graphml->node_defaults);
}

static enum wf_status close_node_data(struct graphml *graphml)
{
    return set_value(graphml, false, &graphml->reader->vertices[graphml->node].attrs);
}

static enum wf_status close_edge_data(struct graphml *graphml)
{
    struct wf_graph_reader *reader = graphml->reader;

    return set_value(graphml, true, &reader->edges[reader->n_edges - 1].attrs);
}

/* Which tags mean something where. */
static const struct element {
    enum place inside;
    const char *tag;
    enum place place;
    enum wf_status (*open)(struct graphml *graphml);
    enum wf_status (*close)(struct graphml *graphml);
} elements[] = {
    {OUTSIDE, "graphml", IN_GRAPHML, NULL, NULL},
    {IN_GRAPHML, "key", IN_KEY, open_key, NULL},
    {IN_KEY, "default", IN_DEFAULT, open_value, close_default},
    {IN_GRAPHML, "graph", IN_GRAPH, open_graph, NULL},
    {IN_GRAPH, "node", IN_NODE, open_node, NULL},
    {IN_GRAPH, "edge", IN_EDGE, open_edge, NULL},
    {IN_GRAPH, "hyperedge", IN_OTHER, refuse, NULL},
    {IN_NODE, "data", IN_NODE_DATA, open_data, close_node_data},
    {IN_NODE, "graph", IN_OTHER, refuse, NULL},
    {IN_EDGE, "data", IN_EDGE_DATA, open_data, close_edge_data},
    {IN_EDGE, "graph", IN_OTHER, refuse, NULL},
};

enum { N_ELEMENTS = sizeof(elements) / sizeof(elements[0]) };

static enum wf_status open_element(struct graphml *graphml)
{
    const struct wf_xml *xml = &graphml->xml;
    enum place inside = graphml->places[xml->depth - 1];

    graphml->places[xml->depth] = IN_OTHER;
    for (size_t i = 0; i < N_ELEMENTS; i++) {
        if (elements[i].inside == inside && wf_graph_is(xml->word, elements[i].tag)) {
            graphml->places[xml->depth] = elements[i].place;
            return elements[i].open != NULL ? elements[i].open(graphml) : WF_OK;
        }
    }
    if (inside == OUTSIDE) {
        return wf_graph_fail(graphml->reader, xml->word.at,
                             "expected <graphml>, not <%.*s>: no other XML is understood",
                             wf_graph_shown(xml->word), xml->word.text);
    }
    return WF_OK;
}

static enum wf_status close_element(struct graphml *graphml)
{
    enum place place = graphml->places[graphml->xml.depth + 1];

    for (size_t i = 0; i < N_ELEMENTS; i++) {
        if (elements[i].place == place && elements[i].close != NULL) {
            return elements[i].close(graphml);
        }
    }
    return WF_OK;
}

static enum wf_status read_text(struct graphml *graphml)
{
    const struct wf_xml *xml = &graphml->xml;
    enum place place = graphml->places[xml->depth];

    if (place == IN_NODE_DATA || place == IN_EDGE_DATA || place == IN_DEFAULT) {
        wf_buf_append(&graphml->value, xml->word.text, xml->word.len);
    }
    for (size_t i = 0; place == OUTSIDE && i < xml->word.len; i++) {
        if (strchr(" \t\r\n", xml->word.text[i]) == NULL) {
            return wf_graph_fail(graphml->reader, xml->word.at, "text outside of <graphml>");
        }
    }
    return WF_OK;
}

/* Edges may come before the nodes they join; in the end all must be there. */
static enum wf_status check_nodes(const struct graphml *graphml)
{
    const struct wf_graph_reader *reader = graphml->reader;

    for (uint32_t v = 0; v < reader->names.n; v++) {
        if (!reader->vertices[v].known) {
            return wf_graph_fail(reader, reader->vertices[v].at,
                                 "there is no <node id=\"%.64s\"/>",
                                 wf_names_text(&reader->names, v));
        }
    }
    return WF_OK;
}

static enum wf_status read_document(struct graphml *graphml)
{
    enum wf_status status = wf_xml_next(&graphml->xml);

    while (status == WF_OK && graphml->xml.kind != WF_XML_END) {
        if (graphml->xml.kind == WF_XML_OPEN) {
            status = open_element(graphml);
        } else if (graphml->xml.kind == WF_XML_CLOSE) {
            status = close_element(graphml);
        } else {
            status = read_text(graphml);
        }
        if (status == WF_OK) {
            status = wf_xml_next(&graphml->xml);
        }
    }
    return status == WF_OK ? check_nodes(graphml) : status;
}

enum wf_status wf_graph_read_graphml(struct wf_graph_reader *reader)
{
    struct graphml graphml = {.reader = reader, .xml = {.reader = reader}};

    enum wf_status status = read_document(&graphml);
    wf_names_release(&graphml.key_names);
    wf_buf_fini(&graphml.value);
    free(graphml.keys);
    return status;
}
