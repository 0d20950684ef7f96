/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * How graph_*.c read a network from a text: an edge list, a subset of DOT or of GraphML, told
 * apart by how the text begins. docs/reference/graph-files.md describes the formats.
 *
 * The reader of a format goes through the text once and hands over vertices, links and their
 * attributes as it meets them. Places in the text are counted in bytes and become lines and
 * columns only in messages. Then graph_resolve.c numbers the vertices and checks the links.
 */

#include "base/buf.h"
#include "base/status.h"
#include "base/strings.h"
#include "model/topo/csr.h"
#include "model/topo/topo.h"

/* Larger files are refused. A link takes at least four bytes of text, so that the number of
 * links stays far below WF_TOPO_LINK_MAX. */
#define WF_TOPO_GRAPH_TEXT_MAX (UINT32_C(256) << 20)

/* The resulting network. All vertices reach all others, no link leads back to the vertex
 * where it begins, and no two vertices are linked twice. Vertices are numbered as in struct
 * wf_topo. The ports of a vertex are in the order in which the file names its links. */
struct wf_topo_graph_net {
    uint32_t n_nodes;
    uint32_t gate;
    bool oneway;
    struct wf_topo_csr links;
    struct wf_topo_link_props *props; /* [link]; null if the file gives no properties */
    uint16_t *class_of;               /* [link]; null if the file gives no classes */
    char **classes;                   /* their names, in the order of their first links */
    uint32_t n_classes;
    char **names; /* of the vertices; null if they are their numbers */
};

void wf_topo_graph_net_release(struct wf_topo_graph_net *net);

/* Reads at most WF_TOPO_GRAPH_TEXT_MAX bytes at `text`; messages call the text `name`. On
 * success the caller releases *net. On failure (WF_EINVAL, with a message that begins with
 * `name:line:column:`) *net is not changed. */
enum wf_status wf_topo_graph_read(const char *name, const char *text, size_t size,
                                  struct wf_topo_graph_net *net, struct wf_err *err);

/* A word of the text and its position in it; not terminated by a NUL. */
struct wf_topo_graph_word {
    const char *text;
    size_t len;
    size_t at;
};

enum wf_topo_graph_kind { WF_TOPO_GRAPH_UNDECLARED, WF_TOPO_GRAPH_NODE, WF_TOPO_GRAPH_SWITCH };

/* The attributes of a vertex or a link; 0 means not given. */
struct wf_topo_graph_attrs {
    struct wf_topo_link_props props; /* links only */
    uint32_t link_class;             /* links only: number in reader->classes, + 1 */
    enum wf_topo_graph_kind kind;    /* vertices only */
    bool gate;                       /* vertices only */
};

struct wf_topo_graph_vertex {
    struct wf_topo_graph_attrs attrs;
    uint32_t at; /* where the text first names it */
    bool seen;   /* the members above are set */
    bool known;  /* declared, in formats that require a declaration */
};

struct wf_topo_graph_edge {
    struct wf_topo_graph_attrs attrs;
    uint32_t from, to;
    uint32_t at;
    bool oneway;
};

struct wf_topo_graph_reader {
    const char *name; /* name of the file */
    const char *text;
    size_t size;
    size_t at;               /* next byte to read */
    struct wf_buf scratch;   /* the decoded form of the latest word */
    struct wf_strings names; /* names of the vertices */
    struct wf_strings classes;
    struct wf_topo_graph_vertex *vertices;
    size_t vertices_capacity;
    struct wf_topo_graph_edge *edges;
    size_t n_edges, edges_capacity;
    struct wf_err *err;
};

/* An attribute of a vertex or a link. */
struct wf_topo_graph_attr;

/* Reports an error at a position in the text. Always returns WF_EINVAL. */
WF_PRINTF(3, 4)
enum wf_status wf_topo_graph_fail(const struct wf_topo_graph_reader *reader, size_t at,
                                  const char *fmt, ...);

/* The byte `ahead` of the next one; 0 after the end (no text has a NUL). */
static inline char wf_topo_graph_peek(const struct wf_topo_graph_reader *reader, size_t ahead)
{
    if (ahead < reader->size - reader->at) {
        return reader->text[reader->at + ahead];
    }
    return '\0';
}

bool wf_topo_graph_is(struct wf_topo_graph_word word, const char *text);
/* For "%.*s" in messages: the length of the word, at most what a message has space for. */
int wf_topo_graph_shown(struct wf_topo_graph_word word);

/* Finds the number of the vertex called `name`. A new vertex gets the attributes `initial`.
 * An empty name is an error. */
enum wf_status wf_topo_graph_vertex(struct wf_topo_graph_reader *reader,
                                    struct wf_topo_graph_word name,
                                    const struct wf_topo_graph_attrs *initial, uint32_t *out);
/* Adds a link that the text names at position `at`. A link from a vertex to itself is an
 * error. */
enum wf_status wf_topo_graph_link(struct wf_topo_graph_reader *reader, uint32_t from,
                                  uint32_t to, size_t at, bool oneway);

/* Finds an attribute of links (or else of vertices) by its name. The result is null if weft
 * has no such attribute. A name that looks misspelt is an error. */
enum wf_status wf_topo_graph_attr_find(const struct wf_topo_graph_reader *reader,
                                       struct wf_topo_graph_word name, bool of_link,
                                       const struct wf_topo_graph_attr **out);
enum wf_status wf_topo_graph_attr_set(struct wf_topo_graph_reader *reader,
                                      const struct wf_topo_graph_attr *attr,
                                      struct wf_topo_graph_word value,
                                      struct wf_topo_graph_attrs *attrs);

/* The formats. Each reads the whole text from reader->at. */
enum wf_status wf_topo_graph_read_edges(struct wf_topo_graph_reader *reader);
enum wf_status wf_topo_graph_read_dot(struct wf_topo_graph_reader *reader);
enum wf_status wf_topo_graph_read_graphml(struct wf_topo_graph_reader *reader);

/* Builds the network from what was read: numbers the vertices and checks the links. */
enum wf_status wf_topo_graph_resolve(const struct wf_topo_graph_reader *reader,
                                     struct wf_topo_graph_net *net);
