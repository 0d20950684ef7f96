/* SPDX-License-Identifier: Apache-2.0 */
/* GraphML (Brandes, Eiglsperger, Herman, Himsolt, Marshall, "GraphML progress report", Graph
 * Drawing 2001) without nested graphs, hyperedges and ports. Unknown elements are skipped.
 *
 * Expat splits the text into tags and character data. Documents that declare entities are
 * refused before expat expands any, so the memory in use is proportional to the file. */
#include "model/topo/graph_format.h"

#include "base/array.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

/* The kind of an open element. */
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
    IN_OTHER, /* an element that is skipped */
};

/* A declared attribute of vertices or links. */
struct key {
    const struct wf_topo_graph_attr *attr; /* null if weft does not use it */
    bool of_link;
};

struct graphml {
    struct wf_topo_graph_reader *reader;
    XML_Parser parser;
    enum wf_status status; /* status of the first handler that failed */
    const char *tag;       /* name and attributes (name, value, ..., null) of the tag */
    const char **attrs;    /* that is being opened */
    size_t tag_at;
    bool external;                    /* the document type refers to another file */
    enum place places[DEPTH_MAX + 1]; /* [depth] */
    uint32_t depth;
    struct wf_strings key_names;
    struct key *keys; /* [number in key_names] */
    size_t keys_capacity;
    uint32_t key;        /* key of the current <key> or <data> */
    struct wf_buf value; /* the character data of the current <data> or <default> */
    size_t value_at;
    struct wf_topo_graph_attrs node_defaults, edge_defaults;
    bool directed; /* default direction of edges */
    bool seen;     /* a <graph> was seen */
    uint32_t node; /* the current <node> */
};

/* The position in the file where the current tag or text begins. */
static size_t place_of(const struct graphml *graphml)
{
    return graphml->reader->at + (size_t)XML_GetCurrentByteIndex(graphml->parser);
}

/* Keeps the status of a failure and stops the parser. Expat may still call handlers; they do
 * nothing after a failure, so that its message stays. */
static void keep(struct graphml *graphml, enum wf_status status)
{
    if (status != WF_OK && graphml->status == WF_OK) {
        graphml->status = status;
        (void)XML_StopParser(graphml->parser, XML_FALSE);
    }
}

/* The value of an attribute of the tag, or `fallback`. If both are absent, this reports an
 * error and returns an empty value. */
static struct wf_topo_graph_word get_attr(struct graphml *graphml, const char *name,
                                          const char *fallback)
{
    const char *value = fallback;

    for (const char **attr = graphml->attrs; *attr != NULL; attr += 2) {
        value = strcmp(attr[0], name) == 0 ? attr[1] : value;
    }
    if (value == NULL && graphml->status == WF_OK) {
        keep(graphml, wf_topo_graph_fail(graphml->reader, graphml->tag_at,
                                         "<%.64s> needs %s=\"...\"", graphml->tag, name));
    }
    value = value != NULL ? value : "";
    return (struct wf_topo_graph_word){value, strlen(value), graphml->tag_at};
}

static void find_attr(struct graphml *graphml, struct key *key)
{
    struct wf_topo_graph_word target = get_attr(graphml, "for", "all");
    struct wf_topo_graph_word name = get_attr(graphml, "attr.name", "");
    bool any = wf_topo_graph_is(target, "all");

    key->of_link = any ? !wf_topo_graph_is(name, "kind") && !wf_topo_graph_is(name, "gate")
                       : wf_topo_graph_is(target, "edge");
    if (any || key->of_link || wf_topo_graph_is(target, "node")) {
        keep(graphml, wf_topo_graph_attr_find(graphml->reader, name, key->of_link, &key->attr));
    }
}

static void open_key(struct graphml *graphml)
{
    struct wf_topo_graph_word id = get_attr(graphml, "id", NULL);
    uint32_t n = graphml->key_names.n;

    if (graphml->status != WF_OK) {
        return;
    }
    graphml->key = wf_strings_put(&graphml->key_names, id.text, id.len);
    if (graphml->key < n) {
        keep(graphml, wf_topo_graph_fail(graphml->reader, id.at,
                                         "the key '%.64s' is declared twice", id.text));
        return;
    }
    WF_GROW(graphml->keys, graphml->key, graphml->keys_capacity);
    graphml->keys[graphml->key] = (struct key){NULL, false};
    find_attr(graphml, &graphml->keys[graphml->key]);
}

/* The character data that follow belong to a value. */
static void open_value(struct graphml *graphml)
{
    graphml->value.size = 0;
    graphml->value_at = place_of(graphml) + (size_t)XML_GetCurrentByteCount(graphml->parser);
}

static void open_data(struct graphml *graphml)
{
    struct wf_topo_graph_word key = get_attr(graphml, "key", NULL);

    graphml->key = wf_strings_find(&graphml->key_names, key.text, key.len);
    if (graphml->key == WF_STRINGS_NONE && graphml->status == WF_OK) {
        keep(graphml, wf_topo_graph_fail(graphml->reader, key.at,
                                         "the key '%.64s' is not declared; add <key "
                                         "id=\"%.64s\" ...> before the graph",
                                         key.text, key.text));
    }
    open_value(graphml);
}

static void open_graph(struct graphml *graphml)
{
    if (graphml->seen) {
        keep(graphml, wf_topo_graph_fail(graphml->reader, graphml->tag_at,
                                         "a second graph; one file describes one network"));
        return;
    }
    graphml->seen = true;
    struct wf_topo_graph_word word = get_attr(graphml, "edgedefault", NULL);
    graphml->directed = wf_topo_graph_is(word, "directed");
    if (graphml->status == WF_OK && !graphml->directed &&
        !wf_topo_graph_is(word, "undirected")) {
        keep(graphml,
             wf_topo_graph_fail(graphml->reader, word.at,
                                "edgedefault is '%.64s', expected directed or undirected",
                                word.text));
    }
}

/* The vertex named by an attribute of the tag. */
static uint32_t get_vertex(struct graphml *graphml, const char *name)
{
    struct wf_topo_graph_word word = get_attr(graphml, name, NULL);
    uint32_t vertex = 0;

    if (graphml->status == WF_OK) {
        keep(graphml,
             wf_topo_graph_vertex(graphml->reader, word, &graphml->node_defaults, &vertex));
    }
    return vertex;
}

static void open_node(struct graphml *graphml)
{
    struct wf_topo_graph_reader *reader = graphml->reader;

    graphml->node = get_vertex(graphml, "id");
    if (graphml->status != WF_OK) {
        return;
    }
    if (reader->vertices[graphml->node].known) {
        keep(graphml,
             wf_topo_graph_fail(reader, graphml->tag_at, "the node '%.64s' is declared twice",
                                wf_strings_at(&reader->names, graphml->node)));
    }
    reader->vertices[graphml->node].known = true;
}

static void open_edge(struct graphml *graphml)
{
    struct wf_topo_graph_reader *reader = graphml->reader;
    uint32_t from = get_vertex(graphml, "source"), to = get_vertex(graphml, "target");
    struct wf_topo_graph_word directed =
        get_attr(graphml, "directed", graphml->directed ? "true" : "false");
    bool oneway = wf_topo_graph_is(directed, "true");

    if (graphml->status == WF_OK && !oneway && !wf_topo_graph_is(directed, "false")) {
        keep(graphml,
             wf_topo_graph_fail(reader, directed.at,
                                "directed is '%.64s', expected true or false", directed.text));
    }
    if (graphml->status == WF_OK) {
        keep(graphml, wf_topo_graph_link(reader, from, to, graphml->tag_at, oneway));
    }
    if (graphml->status == WF_OK) {
        reader->edges[reader->n_edges - 1].attrs = graphml->edge_defaults;
    }
}

static void refuse(struct graphml *graphml)
{
    keep(graphml, wf_topo_graph_fail(graphml->reader, graphml->tag_at,
                                     "<%.64s> is not understood here", graphml->tag));
}

/* Applies the current value to `attrs` if its key belongs to links (`of_link`) or else to
 * vertices. */
static void set_value(struct graphml *graphml, bool of_link, struct wf_topo_graph_attrs *attrs)
{
    static const char spaces[] = " \t\r\n";
    const struct key *key = &graphml->keys[graphml->key];
    struct wf_topo_graph_word value = {(const char *)graphml->value.data, graphml->value.size,
                                       graphml->value_at};

    if (key->attr == NULL || key->of_link != of_link) {
        return;
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
    keep(graphml, wf_topo_graph_attr_set(graphml->reader, key->attr, value, attrs));
}

static void close_default(struct graphml *graphml)
{
    bool of_link = graphml->keys[graphml->key].of_link;

    set_value(graphml, of_link, of_link ? &graphml->edge_defaults : &graphml->node_defaults);
}

static void close_node_data(struct graphml *graphml)
{
    set_value(graphml, false, &graphml->reader->vertices[graphml->node].attrs);
}

static void close_edge_data(struct graphml *graphml)
{
    struct wf_topo_graph_reader *reader = graphml->reader;

    set_value(graphml, true, &reader->edges[reader->n_edges - 1].attrs);
}

/* The tags with a meaning, and the elements in which they have it. */
static const struct element {
    enum place inside;
    const char *tag;
    enum place place;
    void (*open)(struct graphml *graphml), (*close)(struct graphml *graphml);
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

/* If the document type refers to another file, which might declare entities, expat silently
 * leaves out unknown entities. A truncated name would then be taken for a whole one. */
static bool has_unknown_entity(const struct graphml *graphml)
{
    static const char *const known[] = {"#", "amp;", "lt;", "gt;", "quot;", "apos;"};
    const char *at = graphml->reader->text + place_of(graphml);
    const char *end = at + XML_GetCurrentByteCount(graphml->parser);

    while (graphml->external && (at = memchr(at, '&', (size_t)(end - at))) != NULL) {
        size_t i = 0;
        at++;
        while (i < sizeof(known) / sizeof(known[0]) &&
               strncmp(at, known[i], strlen(known[i])) != 0) {
            i++;
        }
        if (i == sizeof(known) / sizeof(known[0])) {
            return true;
        }
    }
    return false;
}

static void open_element(struct graphml *graphml)
{
    enum place inside = graphml->places[graphml->depth];

    if (graphml->depth == DEPTH_MAX || has_unknown_entity(graphml)) {
        keep(graphml,
             wf_topo_graph_fail(graphml->reader, graphml->tag_at,
                                graphml->depth == DEPTH_MAX ? "more than 64 tags in each other"
                                                            : "undefined entity"));
        return;
    }
    graphml->places[++graphml->depth] = IN_OTHER;
    for (size_t i = 0; i < N_ELEMENTS; i++) {
        if (elements[i].inside == inside && strcmp(graphml->tag, elements[i].tag) == 0) {
            graphml->places[graphml->depth] = elements[i].place;
            if (elements[i].open != NULL) {
                elements[i].open(graphml);
            }
            return;
        }
    }
    if (inside == OUTSIDE) {
        keep(graphml,
             wf_topo_graph_fail(graphml->reader, graphml->tag_at,
                                "expected <graphml>, not <%.64s>: no other XML is understood",
                                graphml->tag));
    }
}

static void on_open(void *data, const char *tag, const char **attrs)
{
    struct graphml *graphml = data;

    if (graphml->status == WF_OK) {
        graphml->tag = tag;
        graphml->attrs = attrs;
        graphml->tag_at = place_of(graphml) + 1;
        open_element(graphml);
    }
}

static void on_close(void *data, const char *tag)
{
    struct graphml *graphml = data;

    if (graphml->status != WF_OK) {
        return;
    }
    enum place place = graphml->places[graphml->depth--];
    for (size_t i = 0; i < N_ELEMENTS; i++) {
        if (elements[i].place == place && elements[i].close != NULL) {
            elements[i].close(graphml);
        }
    }
}

static void on_text(void *data, const char *text, int length)
{
    struct graphml *graphml = data;
    enum place place = graphml->places[graphml->depth];

    if (place == IN_NODE_DATA || place == IN_EDGE_DATA || place == IN_DEFAULT) {
        wf_buf_append(&graphml->value, text, (size_t)length);
    }
}

static void on_doctype(void *data, const char *name, const char *system, const char *public,
                       int has_declarations)
{
    struct graphml *graphml = data;

    graphml->external = system != NULL || public != NULL;
    if (has_declarations) {
        keep(graphml, wf_topo_graph_fail(graphml->reader, place_of(graphml),
                                         "document types with declarations are not "
                                         "understood; take this one out"));
    }
}

static void on_skipped_entity(void *data, const char *name, int is_parameter)
{
    struct graphml *graphml = data;

    if (graphml->status != WF_OK) {
        return;
    }
    keep(graphml, wf_topo_graph_fail(graphml->reader, place_of(graphml), "undefined entity"));
}

/* Edges may come before the nodes that they join. At the end all nodes must be declared. */
static enum wf_status check_nodes(const struct graphml *graphml)
{
    const struct wf_topo_graph_reader *reader = graphml->reader;

    for (uint32_t v = 0; v < reader->names.n; v++) {
        if (!reader->vertices[v].known) {
            return wf_topo_graph_fail(reader, reader->vertices[v].at,
                                      "there is no <node id=\"%.64s\"/>",
                                      wf_strings_at(&reader->names, v));
        }
    }
    return WF_OK;
}

static enum wf_status read_document(struct graphml *graphml)
{
    struct wf_topo_graph_reader *reader = graphml->reader;
    XML_Parser parser = graphml->parser;

    XML_SetUserData(parser, graphml);
    XML_SetElementHandler(parser, on_open, on_close);
    XML_SetCharacterDataHandler(parser, on_text);
    XML_SetStartDoctypeDeclHandler(parser, on_doctype);
    XML_SetSkippedEntityHandler(parser, on_skipped_entity);
    /* Unlike XML, we allow space before the declaration. */
    while (strchr(" \t\r\n", wf_topo_graph_peek(reader, 0)) != NULL) {
        reader->at++;
    }
    if (XML_Parse(parser, reader->text + reader->at, (int)(reader->size - reader->at), 1) ==
            XML_STATUS_ERROR &&
        graphml->status == WF_OK) {
        return wf_topo_graph_fail(reader, place_of(graphml), "invalid XML: %s",
                                  XML_ErrorString(XML_GetErrorCode(parser)));
    }
    return graphml->status == WF_OK ? check_nodes(graphml) : graphml->status;
}

enum wf_status wf_topo_graph_read_graphml(struct wf_topo_graph_reader *reader)
{
    struct graphml graphml = {.reader = reader, .parser = XML_ParserCreate(NULL)};

    if (graphml.parser == NULL) {
        return wf_err_set(reader->err, WF_ELIMIT, "%.128s: no memory for an XML parser",
                          reader->name);
    }
    enum wf_status status = read_document(&graphml);
    XML_ParserFree(graphml.parser);
    wf_strings_fini(&graphml.key_names);
    wf_buf_fini(&graphml.value);
    free(graphml.keys);
    return status;
}
