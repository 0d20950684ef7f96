/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TOPO_GRAPH_XML_H
#define WF_TOPO_GRAPH_XML_H

/* As much XML as GraphML needs, piece by piece: tags, attributes, character data, the
 * predefined entities. Comments, processing instructions and document types without
 * declarations of their own are skipped. Tags must nest. Not for others than graph_graphml.c.
 */

#include "topo/graph_format.h"

enum { WF_XML_DEPTH_MAX = 64 };

enum wf_xml_kind {
    WF_XML_OPEN,  /* <name ...>; <name/> is an open and a close */
    WF_XML_CLOSE, /* </name> */
    WF_XML_TEXT,  /* character data, perhaps one of several pieces */
    WF_XML_END,   /* of the document, all tags closed */
};

struct wf_xml {
    struct wf_graph_reader *reader;
    enum wf_xml_kind kind;
    struct wf_graph_word word; /* the tag's name, or the data: valid until the next call */
    size_t attrs, attrs_end;   /* where the attributes of an open tag are in the text */
    bool close_next;           /* after <name/> */
    uint32_t depth;
    struct wf_graph_word open[WF_XML_DEPTH_MAX]; /* names of the open tags */
};

/* Goes to the next piece. */
WF_NODISCARD
enum wf_status wf_xml_next(struct wf_xml *xml);

/* The value of an attribute of the open tag at hand; an error if it has none, unless `fallback`
 * is given. Valid until the next call of any function here. */
WF_NODISCARD
enum wf_status wf_xml_attr(struct wf_xml *xml, const char *name, const char *fallback,
                           struct wf_graph_word *out);

#endif
