/* SPDX-License-Identifier: Apache-2.0 */
/* Graph files: the formats, the errors, the numbering, and distances against a search. */
#include "base/units.h"
#include "model/topo/graph.h"
#include "model/topo/hubs.h"

#include "harness/topo_check.h"

#include <sys/stat.h>
#include <unistd.h>

static struct wf_topo *make(const char *text)
{
    struct wf_topo *topo = NULL;
    struct wf_err err = {.text = ""};

    if (wf_topo_graph_create_text("net", text, strlen(text), &topo, &err) != WF_OK) {
        printf("# %s\n", err.text);
        return NULL;
    }
    return topo;
}

/* The numbers of a network's neighbours as text: "1 2|0|0". */
static const char *neighbors(const struct wf_topo *topo, char *buf, size_t size)
{
    size_t used = 0;

    for (uint32_t v = 0; v < topo->n_vertices; v++) {
        for (uint32_t p = 0; p < wf_topo_ports(topo, v); p++) {
            used += (size_t)snprintf(buf + used, size - used, "%s%u", p > 0 ? " " : "",
                                     topo->ops->neighbor(topo, v, p));
        }
        used += (size_t)snprintf(buf + used, size - used, "%s",
                                 v + 1 < topo->n_vertices ? "|" : "");
    }
    return buf;
}

/* Sound networks, and how their vertices are numbered and their ports ordered. */
static const struct sound {
    const char *text;
    uint32_t n_nodes, gate;
    bool oneway;
    const char *neighbors;
} sounds[] = {
    {"a b", 2, 0, false, "1|0"},
    {"# c\n\n a\tb # c\r\nc a\n", 3, 0, false, "1 2|0|0"},
    {"\xef\xbb\xbf"
     "a b\n",
     2, 0, false, "1|0"},
    /* Numbers sort as numbers, as soon as all are: 2 before 10. */
    {"10 2\n2 1\n", 3, 0, false, "1|2 0|1"},
    {"10 2\n2 x\n", 3, 0, false, "1|0 2|1"},
    {"99999999999999999999 2", 2, 0, false, "1|0"},
    /* Undeclared vertices are what the declared ones are not. */
    {"switch s\na s\nb s\n", 2, 0, false, "2|2|0 1"},
    {"node b a\na s\nb s\n", 2, 0, false, "2|2|1 0"},
    {"node a\nswitch s\na s\nb s\n", 2, 0, false, "2|2|0 1"},
    {"a s\ns 7\ns 3\nnode 7 3 11\n11 a\ngate s\n", 3, 4, false, "4|4|3|4 2|3 1 0"},
    {"graph { a -- b -- c; c -- a }", 3, 0, false, "1 2|0 2|1 0"},
    {"strict graph net { 1 -- 0 }", 2, 0, false, "1|0"},
    {"/* c */ // c\n# c\nGRAPH \"a b\" { \"x y\" -- -1.5 ; z:p:n -- \"x y\":q\n; graph [a=b] "
     "c=d }",
     3, 0, false, "1 2|0|0"},
    {"graph { node [kind=switch] s; node [kind=node,shape=box]; a--s--b; s [gate,color=\"#f\"] "
     "}",
     2, 2, false, "2|2|0 1"},
    {"graph { a [label=<<b>x</b>>]; \"a\\\"b\" -- a; \"c\\\nd\" -- a; cd -- \"a\\\"b\" }", 3, 0,
     false, "1 2|0 2|0 1"},
    {"digraph { a -> b -> c -> a; b -> a }", 3, 0, true, "1|2 0|0"},
    {"<graphml><graph edgedefault='undirected'><edge source='b' target='a'/>"
     "<node id='a'/><node id='b'/></graph></graphml>",
     2, 0, false, "1|0"},
    {"<?xml version=\"1.0\"?><!DOCTYPE graphml><!-- < -->\n<graphml a=\"b\"><desc>x</desc>"
     "<key id=\"k\" for=\"node\" attr.name=\"kind\"><default>node</default></key>"
     "<key id=\"g\" attr.name=\"gate\"/><key id=\"x\" for=\"graph\" attr.name=\"bandwidth\"/>"
     "<graph edgedefault=\"undirected\"><data key=\"x\">1</data>"
     "<node id=\"&lt;&#65;&#x42;\"><data key=\"k\"> <!-- -->sw<![CDATA[itch]]>\n</data></node>"
     "<node id=\"a\"><port name=\"p\"/></node><node id=\"b\"><data key=\"g\">true</data></node>"
     "<edge source=\"a\" target=\"&lt;AB\"/><edge source=\"b\" target=\"&lt;AB\"/>"
     "</graph></graphml>\n",
     2, 1, false, "2|2|0 1"},
    /* One edge that has no direction among some that have. */
    {"<graphml><graph edgedefault='directed'><node id='0'/><node id='1'/><node id='2'/>"
     "<edge source='0' target='1'/><edge source='1' target='2' directed='false'/>"
     "<edge source='2' target='0'/></graph></graphml>",
     3, 0, true, "1|2|1 0"},
};

static void formats_are_read(void)
{
    char buf[256];

    for (size_t i = 0; i < sizeof(sounds) / sizeof(sounds[0]); i++) {
        struct wf_topo *topo = make(sounds[i].text);
        CHECK(topo != NULL);
        CHECK_STR(neighbors(topo, buf, sizeof(buf)), sounds[i].neighbors);
        CHECK_U64(topo->n_nodes, sounds[i].n_nodes);
        CHECK_U64(topo->gate, sounds[i].gate);
        CHECK(topo->oneway == sounds[i].oneway);
        topo_check(topo);
        wf_topo_free(topo);
    }
}

/* The same three links in every notation. */
static const char *const with_props[] = {
    "a b 10Gbit/s 1us\nb c 2ns\nc a\n",
    "a b latency=1us bandwidth=10Gbit/s\nb c latency=2ns\nc a\n",
    "a b 1us 10Gbps\nb c latency=2ns # 3ns\nc a\n",
    "graph { a -- b [bandwidth=\"10Gbit/s\", latency=\"1us\"]; b -- c [latency=\"2 ns\"]; c -- "
    "a }",
    "graph { c -- a\n edge [latency=\"2ns\"] b -- c; edge[latency=\"1us\"];"
    "a -- b [color=red][bandwidth=\"10Gbit/s\"] }",
    "<graphml><key id='b' for='edge' attr.name='bandwidth'/>"
    "<key id='l' for='edge' attr.name='latency'/><key id='c' for='edge' attr.name='color'/>"
    "<graph edgedefault='undirected'><node id='a'/><node id='b'/><node id='c'/>"
    "<edge source='a' target='b'><data key='b'>10Gbit/s</data><data key='l'>1us</data></edge>"
    "<edge source='b' target='c'><data key='c'>red</data><data key='l'>2ns</data></edge>"
    "<edge source='c' target='a'/></graph></graphml>",
};

/* The link between two vertices whose numbers are 0 to 2 for a, b, c in any order. */
static struct wf_topo_link_props props_between(const struct wf_topo *topo, uint32_t a,
                                               uint32_t b)
{
    uint32_t port = 0;

    while (topo->ops->neighbor(topo, a, port) != b) {
        port++;
    }
    return topo->ops->link_props(topo, a, port);
}

static void links_have_their_properties(void)
{
    uint64_t rate = 0;

    CHECK(wf_parse_rate("10Gbit/s", &rate, NULL) == WF_OK);
    for (size_t i = 0; i < sizeof(with_props) / sizeof(with_props[0]); i++) {
        struct wf_topo *topo = make(with_props[i]);
        CHECK(topo != NULL && topo->n_nodes == 3);
        /* In the fifth, c and a are named before b. */
        uint32_t a = i == 4 ? 1 : 0, b = i == 4 ? 2 : 1, c = i == 4 ? 0 : 2;
        struct wf_topo_link_props ab = props_between(topo, a, b),
                                  ba = props_between(topo, b, a);
        struct wf_topo_link_props bc = props_between(topo, b, c),
                                  ca = props_between(topo, c, a);
        CHECK(ab.latency == 1000000 && ab.bandwidth == rate);
        CHECK(ba.latency == 1000000 && ba.bandwidth == rate);
        CHECK(bc.latency == 2000 && bc.bandwidth == 0);
        CHECK(ca.latency == 0 && ca.bandwidth == 0);
        wf_topo_free(topo);
    }
    struct wf_topo *topo = make("a b");
    struct wf_topo_link_props none = topo->ops->link_props(topo, 0, 0);
    CHECK(none.latency == 0 && none.bandwidth == 0);
    wf_topo_free(topo);

    topo = make("<graphml><key id='l' attr.name='latency'><default>3ns</default></key>"
                "<graph edgedefault='directed'><node id='a'/><node id='b'/>"
                "<edge source='a' target='b'/><edge source='b' target='a'>"
                "<data key='l'>4ns</data></edge></graph></graphml>");
    CHECK(topo != NULL);
    CHECK(props_between(topo, 0, 1).latency == 3000);
    CHECK(props_between(topo, 1, 0).latency == 4000);
    wf_topo_free(topo);
}

/* The same classes of links in each format: up for a-b and b-c, "link" for c-a. */
static const char *const classed[] = {
    "a b class=up 1us\nb c class=up\nc a\n",
    "graph { c -- a; edge [class=up]; node [class=other]; a -- b; b -- c }",
    "digraph { a -> b [class=up]; b -> c [class=up]; c -> a [class=link] }",
    "<graphml><key id='k' for='edge' attr.name='class'/><graph edgedefault='undirected'>"
    "<node id='a'/><node id='b'/><node id='c'/>"
    "<edge source='a' target='b'><data key='k'>up</data></edge>"
    "<edge source='b' target='c'><data key='k'> up </data></edge>"
    "<edge source='c' target='a'/></graph></graphml>",
};

/* The name of the class of the link between two vertices. */
static const char *class_between(const struct wf_topo *topo, uint32_t from, uint32_t to)
{
    uint32_t port = 0;

    while (topo->ops->neighbor(topo, from, port) != to) {
        port++;
    }
    return wf_topo_class_name(topo, wf_topo_link_class(topo, from, port));
}

/* The number of the vertex that `text` names first is 0, except in the second text. */
static void links_have_classes(void)
{
    for (size_t i = 0; i < sizeof(classed) / sizeof(classed[0]); i++) {
        struct wf_topo *topo = make(classed[i]);
        uint32_t a = i == 1 ? 1 : 0, b = i == 1 ? 2 : 1, c = i == 1 ? 0 : 2;

        CHECK(topo != NULL);
        CHECK_U64(wf_topo_n_classes(topo), 2);
        CHECK_STR(class_between(topo, a, b), "up");
        CHECK_STR(class_between(topo, b, c), "up");
        CHECK_STR(class_between(topo, c, a), "link");
        topo_check(topo);
        wf_topo_free(topo);
    }
    struct wf_topo *topo = make("a b\nb c\n");
    CHECK_U64(wf_topo_n_classes(topo), 1);
    CHECK_STR(class_between(topo, 0, 1), "link");
    wf_topo_free(topo);
}

static const struct bad {
    const char *text;
    const char *words; /* the message, from its start */
} bads[] = {
    {"", "net:1:1: no links"},
    {"\n# only\n", "net:3:1: no links"},
    {"node a\n", "net:2:1: no links"},
    {"a b\n c\n", "net:2:2: 'c' stands alone"},
    {"a b\nc c\n", "net:2:1: 'c' is linked to itself"},
    {"a b\nb c\nb a\n", "net:3:1: the link between 'a' and 'b' is named twice"},
    {"a b\nc d\n", "net:2:1: no path from 'a' to 'c'"},
    {"node z\na b\n", "net:2:1: no path from 'z' to 'a'; link the parts or leave one out"},
    {"switch a b\na b\n", "net:1:8: every vertex is declared a switch"},
    {"node a\nswitch a\na b\n", "net:2:8: 'a' is declared both"},
    {"node\na b\n", "net:1:5: expected the name of a vertex after 'node'"},
    {"gate a b\na b\n", "net:1:8: both 'a' and 'b' are gates"},
    {"a b latency=1\n", "net:1:13: latency: "},
    {"a b latency=0\n", "net:1:13: latency: a latency of 0; leave it out"},
    {"a b 0\n", "net:1:5: latency: a latency of 0"},
    {"a b 1.0\n", "net:1:5: expected a bandwidth as 10Gbit/s or a latency as 1us, not '1.0'"},
    {"a b 1us 2us\n", "net:1:9: latency is given twice"},
    {"a b bandwith=1GB/s\n",
     "net:1:5: unknown attribute 'bandwith'; did you mean 'bandwidth'?"},
    {"a b weight=2\n",
     "net:1:5: unknown attribute 'weight'; a link has bandwidth=, latency= and class="},
    {"a b class=x class=y\n", "net:1:13: class is given twice"},
    {"a b class=x:y\n",
     "net:1:11: class: 'x:y' is no name of a class; expected letters, digits, _, + and -"},
    {"a b clas=x\n", "net:1:5: unknown attribute 'clas'; did you mean 'class'?"},
    {"graph { a -- b [class=\"\"] }",
     "net:1:23: class: '' is no name of a class; expected letters, digits, _, + and -"},
    {"a b kind=node\n", "net:1:5: kind belongs to vertices, not to links"},
    {"a latency=1us\n", "net:1:3: expected a vertex, not 'latency=1us'"},
    {"graph", "net:1:6: expected '{', but the text ends"},
    {"strict {", "net:1:8: expected graph or digraph, not '{'"},
    {"graph { a -- b", "net:1:15: expected a vertex or '}', but the text ends"},
    {"graph { a -- }", "net:1:14: expected a vertex, not '}'"},
    {"graph { a -> b }", "net:1:11: expected -- in a graph"},
    {"digraph { a -- b }", "net:1:13: expected -> in a digraph"},
    {"graph { a -- b } graph { }", "net:1:18: expected nothing after the graph, not 'graph'"},
    {"graph { a -- {b c} }", "net:1:14: subgraphs are not understood"},
    {"graph { subgraph x { a -- b } }", "net:1:9: subgraphs are not understood"},
    {"graph { a -- b [latency=1us] }", "net:1:25: put '1us' in quotes"},
    {"graph { a -- b [bandwidth=\"10\"] }", "net:1:27: bandwidth: "},
    {"graph { a -- b [latency=\"\"] }", "net:1:25: latency: "},
    {"graph { a -- b [lat=\"1us\"] }",
     "net:1:17: unknown attribute 'lat'; did you mean 'latency'?"},
    {"graph { a [kind=router] a -- b }",
     "net:1:17: kind: unknown kind 'router', expected node or switch"},
    {"graph { a [latency=\"1us\"] }", "net:1:12: latency belongs to links, not to vertices"},
    {"graph { a [gate=1] }", "net:1:17: gate: gate is '1', expected true or false"},
    {"graph { latency=\"1us\"; a -- b }", "net:1:9: links have bandwidth and latency"},
    {"graph { graph [latency=\"1us\"]; a -- b }", "net:1:9: links have bandwidth and latency"},
    {"graph { node; a -- b }", "net:1:13: expected '[' after node, edge or graph, not ';'"},
    {"graph { a -- b [", "net:1:17: expected an attribute or ']', but the text ends"},
    {"graph { a -- b [x=] }", "net:1:19: expected a value, not ']'"},
    {"graph { a:; }", "net:1:11: expected a port, not ';'"},
    {"graph { \"\" -- b }", "net:1:9: a vertex without a name"},
    {"graph { \"a -- b }", "net:1:9: this quote has no end"},
    {"graph { a [x=<<b>] }", "net:1:14: this '<' has no end"},
    {"graph { /* a -- b }", "net:1:9: this comment has no end"},
    {"graph { a$ -- b }", "net:1:10: unexpected '$'; names and values other than"},
    {"digraph { a -> b }", "net:1:16: no path from 'b' to 'a'; links lead one way"},
    {"digraph { a -> b -> a -> b }", "net:1:23: the link between 'a' and 'b' is named twice"},
};

static const struct bad bad_graphml[] = {
    {"<svg/>", "net:1:2: expected <graphml>, not <svg>"},
    {"<graphml/>", "net:1:11: no links"},
    {"<graphml>", "net:1:10: invalid XML: no element found"},
    {"<graphml></graph>", "net:1:12: invalid XML: mismatched tag"},
    {"<graphml/></graphml>", "net:1:12: invalid XML: "},
    {"<graphml/>x", "net:1:11: invalid XML: junk after document element"},
    {"<graphml", "net:1:1: invalid XML: unclosed token"},
    {"<graphml a>", "net:1:11: invalid XML: "},
    {"<graphml a=\"b>", "net:1:1: invalid XML: unclosed token"},
    {"<graphml></graphml x>", "net:1:20: invalid XML: "},
    {"<graphml>1 < 2</graphml>", "net:1:13: invalid XML: "},
    {"<graphml><!-- </graphml>", "net:1:10: invalid XML: unclosed token"},
    {"<graphml><![CDATA[ </graphml>", "net:1:30: invalid XML: unclosed CDATA section"},
    {"<!DOCTYPE graphml [<!ENTITY a \"b\">]><graphml/>",
     "net:1:19: document types with declarations"},
    {"<graphml><graph/></graphml>", "net:1:11: <graph> needs edgedefault=\"...\""},
    {"<graphml><graph edgedefault='x'/></graphml>",
     "net:1:11: edgedefault is 'x', expected directed or undirected"},
    {"<graphml><graph edgedefault='directed'/><graph edgedefault='directed'/></graphml>",
     "net:1:42: a second graph"},
    {"<graphml><key/></graphml>", "net:1:11: <key> needs id=\"...\""},
    {"<graphml><key id='a'/><key id='a'/></graphml>",
     "net:1:24: the key 'a' is declared twice"},
    {"<graphml><key id='a' for='edge' attr.name='latencey'/></graphml>",
     "net:1:11: unknown attribute 'latencey'; did you mean 'latency'?"},
    {"<graphml><key id='a' for='edge' attr.name='latency'><default>1</default></key></graphml>",
     "net:1:62: latency: "},
    {"<graphml><graph edgedefault='directed'><node/></graph></graphml>",
     "net:1:41: <node> needs id=\"...\""},
    {"<graphml><graph edgedefault='directed'><node id=''/></graph></graphml>",
     "net:1:41: a vertex without a name"},
    {"<graphml><graph edgedefault='directed'><node id='a'/><node id='a'/></graph></graphml>",
     "net:1:55: the node 'a' is declared twice"},
    {"<graphml><graph edgedefault='directed'><node id='&a;'/></graph></graphml>",
     "net:1:40: invalid XML: undefined entity"},
    /* A document type that refers to another file, in which entities may be declared. */
    {"<!DOCTYPE graphml SYSTEM 'x'><graphml><graph edgedefault='directed'><node id='&lt;&a;'/>"
     "</graph></graphml>",
     "net:1:70: undefined entity"},
    {"<!DOCTYPE graphml SYSTEM 'x'><graphml>&a;</graphml>", "net:1:39: undefined entity"},
    {"<graphml><graph edgedefault='directed'><node id='&#0;'/></graph></graphml>",
     "net:1:50: invalid XML: reference to invalid character number"},
    {"<graphml><graph edgedefault='directed'><node id='&#x110000;'/></graph></graphml>",
     "net:1:50: invalid XML: reference to invalid character number"},
    {"<graphml><graph edgedefault='directed'><node id='a'><data key='k'>1</data></node></graph>"
     "</graphml>",
     "net:1:54: the key 'k' is not declared"},
    {"<graphml><graph edgedefault='directed'><node id='a'><graph/></node></graph></graphml>",
     "net:1:54: <graph> is not understood here"},
    {"<graphml><graph edgedefault='directed'><hyperedge/></graph></graphml>",
     "net:1:41: <hyperedge> is not understood here"},
    {"<graphml><graph edgedefault='directed'><edge source='a'/></graph></graphml>",
     "net:1:41: <edge> needs target=\"...\""},
    {"<graphml><graph edgedefault='directed'><edge source='a' target='b' directed='x'/></graph>"
     "</graphml>",
     "net:1:41: directed is 'x', expected true or false"},
    {"<graphml><graph edgedefault='directed'><node id='a'/><edge source='a' "
     "target='b'/></graph>"
     "</graphml>",
     "net:1:55: there is no <node id=\"b\"/>"},
};

static void check_bad(const struct bad *bad)
{
    struct wf_topo *topo = NULL;
    struct wf_err err = {.text = ""};

    CHECK(wf_topo_graph_create_text("net", bad->text, strlen(bad->text), &topo, &err) ==
          WF_EINVAL);
    CHECK(topo == NULL);
    if (strncmp(err.text, bad->words, strlen(bad->words)) != 0) {
        CHECK_STR(err.text, bad->words);
    }
}

static void errors_say_what_and_where(void)
{
    for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
        check_bad(&bads[i]);
    }
    for (size_t i = 0; i < sizeof(bad_graphml) / sizeof(bad_graphml[0]); i++) {
        check_bad(&bad_graphml[i]);
    }
}

/* Texts that make careless readers of XML expand entities, open files or recurse. */
static void hostile_xml_is_refused(void)
{
    static const char *const heads[] = {
        ("<!DOCTYPE graphml [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;\">"
         "<!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;\"><!ENTITY d \"&c;&c;&c;&c;&c;&c;&c;&c;\">]>"),
        "<!DOCTYPE graphml [<!ENTITY d SYSTEM \"file:///etc/passwd\">]>",
        "<!DOCTYPE graphml [<!ENTITY % d SYSTEM \"/dev/zero\"> %d;]>",
        "<!DOCTYPE graphml SYSTEM \"/dev/zero\" [<!ATTLIST graphml x CDATA \"y\">]>",
    };
    char text[1024];

    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        struct wf_topo *topo = NULL;
        struct wf_err err = {.text = ""};
        (void)snprintf(text, sizeof(text), "%s<graphml>&d;</graphml>", heads[i]);
        CHECK(wf_topo_graph_create_text("net", text, strlen(text), &topo, &err) == WF_EINVAL);
        CHECK(strstr(err.text, "document types with declarations") != NULL);
    }
    CHECK(make("<!DOCTYPE graphml SYSTEM '/dev/zero'><graphml/>") == NULL);
}

/* A node with an attribute of a MiB, or with very many attributes, is a node like others. */
static void huge_tags_are_read(void)
{
    static const char head[] = "<graphml><graph edgedefault='directed'><node id='a' ";
    static const char tail[] = "/><node id='b'/><edge source='a' target='b'/>"
                               "<edge source='b' target='a'/></graph></graphml>";
    enum { SIZE = 1 << 20 };
    char *text = malloc(SIZE + sizeof(head) + sizeof(tail));

    for (int many = 0; many < 2; many++) {
        size_t used = (size_t)sprintf(text, "%s%s", head, many ? "" : "x='");
        size_t start = used;
        for (uint32_t i = 0; used - start < SIZE - 32; i++) {
            used += (size_t)sprintf(text + used, many ? "x%u='' " : "y%u", i);
        }
        (void)sprintf(text + used, "%s%s", many ? "" : "'", tail);
        struct wf_topo *topo = make(text);
        CHECK(topo != NULL && topo->n_nodes == 2);
        wf_topo_free(topo);
    }
    free(text);
}

/* Tags in tags in tags, names of any length, NUL bytes. */
static void odd_texts_are_refused(void)
{
    struct wf_topo *topo = NULL;
    struct wf_err err = {.text = ""};
    enum { SIZE = 3 * 1000 + 9 };
    char *text = malloc(SIZE);

    memcpy(text, "<graphml>", 9);
    for (size_t i = 9; i < SIZE; i += 3) {
        memcpy(text + i, "<a>", 3);
    }
    CHECK(wf_topo_graph_create_text("net", text, SIZE, &topo, &err) == WF_EINVAL);
    CHECK(strstr(err.text, "more than 64 tags in each other") != NULL);

    memset(text, 'x', SIZE);
    text[1000] = ' ';
    CHECK(wf_topo_graph_create_text("net", text, SIZE, &topo, &err) == WF_OK);
    wf_topo_free(topo);
    memcpy(text + SIZE / 2, " y ", 3);
    text[SIZE - 1] = '\0'; /* it is the name as well */
    CHECK(wf_topo_graph_create_text(text, text, SIZE - 1, &topo, &err) == WF_EINVAL);
    CHECK(strlen(err.text) < 400 && strstr(err.text, ":1:1506: expected a band") != NULL);
    free(text);

    CHECK(wf_topo_graph_create_text("net", "a b\nb\0c", 7, &topo, &err) == WF_EINVAL);
    CHECK(strncmp(err.text, "net:2:2: not a text", 19) == 0);
}

/* Files, from the spec on. */
static char directory[] = "/tmp/weft-test-XXXXXX";

/* The topology `outer`graph:<a file with this text>. */
static enum wf_status create_from_file(const char *outer, const char *text,
                                       struct wf_topo **out, struct wf_err *err)
{
    char path[64], spec[80];

    (void)snprintf(path, sizeof(path), "%s/a.net", directory);
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(text, file) == EOF || fclose(file) != 0) {
        abort();
    }
    (void)snprintf(spec, sizeof(spec), "%sgraph:%s", outer, path);
    enum wf_status status = wf_topo_create(spec, out, err);
    (void)unlink(path);
    return status;
}

static void files_are_read(void)
{
    struct wf_topo *topo = NULL;
    struct wf_err err = {.text = ""};
    char spec[80];

    CHECK(mkdtemp(directory) != NULL);
    CHECK(create_from_file("", "a s\nb s\nswitch s\n", &topo, &err) == WF_OK);
    CHECK_STR(topo->ops->name, "graph");
    topo_check(topo);
    wf_topo_free(topo);
    /* Nested in another network, with a gate that is neither node 0 nor a leaf. */
    CHECK(create_from_file("torus:3x2/", "a s\nb s\nswitch s\nc b\ngate s\n", &topo, &err) ==
          WF_OK);
    CHECK_U64(topo->n_nodes, 18);
    topo_check(topo);
    wf_topo_free(topo);
    topo = NULL;
    CHECK(create_from_file("", "a b\nc\n", &topo, &err) == WF_EINVAL);
    CHECK(strstr(err.text, "/a.net:2:1: 'c' stands alone") != NULL);

    (void)snprintf(spec, sizeof(spec), "graph:%s/none", directory);
    CHECK(wf_topo_create(spec, &topo, &err) == WF_EIO);
    CHECK(strstr(err.text, "/none': No such file") != NULL);
    (void)snprintf(spec, sizeof(spec), "graph:%s", directory);
    CHECK(wf_topo_create(spec, &topo, &err) == WF_EIO);
    CHECK(strstr(err.text, "Is a directory") != NULL);
    CHECK(wf_topo_create("graph:/dev/zero", &topo, &err) == WF_EIO);
    CHECK_STR(err.text, "cannot read '/dev/zero': it is a device; expected a file");
    CHECK(topo == NULL);
    CHECK(rmdir(directory) == 0);
}

/* Appends a random connected graph: a tree and some more links, each named once. */
static void random_links(char *text, size_t size, uint32_t n, uint64_t seed, bool directed)
{
    if (n < 2) {
        abort();
    }
    bool *linked = calloc((size_t)n * n, sizeof(*linked));
    uint64_t extra = wf_test_rand(seed, 1, 0) % ((uint64_t)n + n);
    size_t used = strlen(text);

    for (uint32_t i = 0; i < n + extra; i++) {
        uint32_t a = i < n ? i : (uint32_t)(wf_test_rand(seed, 2, i) % n);
        uint32_t b = (uint32_t)(wf_test_rand(seed, 3, i) % (i < n && i > 0 ? i : n));
        /* Directed, a ring makes all reach all. */
        b = directed && i < n ? (i + 1) % n : b;
        if (a == b || linked[a * n + b] || (!directed && linked[b * n + a])) {
            continue;
        }
        linked[a * n + b] = true;
        used += (size_t)snprintf(text + used, size - used, directed ? "v%u->v%u;" : "v%u v%u\n",
                                 a, b);
    }
    free(linked);
}

static void distances_of_random_graphs_are_exact(void)
{
    enum { SIZE = 1 << 14 };
    char *text = malloc(SIZE);

    for (uint64_t seed = 0; seed < 200; seed++) {
        uint32_t n = 2 + (uint32_t)(wf_test_rand(seed, 0, 0) % 60);
        bool directed = seed % 2 == 1;
        size_t used = (size_t)snprintf(text, SIZE, directed ? "digraph {" : "");
        for (uint32_t v = 0; v < n; v++) {
            if (wf_test_rand(seed, 4, v) % 4 == 0 && v > 0) {
                used += (size_t)snprintf(text + used, SIZE - used,
                                         directed ? "v%u [kind=switch];" : "switch v%u\n", v);
            }
        }
        random_links(text, SIZE - 2, n, seed, directed);
        used = strlen(text);
        (void)snprintf(text + used, SIZE - used, directed ? "}" : "");
        struct wf_topo *topo = make(text);
        CHECK(topo != NULL && topo->n_vertices == n && topo->oneway == directed);
        topo_check(topo);
        wf_topo_free(topo);
    }
    free(text);
}

/* A line is where a careless order of the hubs needs labels that grow with its square. */
static void a_long_line_has_short_labels(void)
{
    enum { N = 20000 };
    struct wf_topo_csr line = {.n_vertices = N,
                               .first = malloc((N + 1) * sizeof(uint32_t)),
                               .to = malloc((size_t)2 * N * sizeof(uint32_t))};
    uint32_t used = 0;

    for (uint32_t v = 0; v < N; v++) {
        line.first[v] = used;
        if (v > 0) {
            line.to[used++] = v - 1;
        }
        if (v + 1 < N) {
            line.to[used++] = v + 1;
        }
    }
    line.first[N] = used;
    struct wf_topo_hubs *hubs = wf_topo_hubs_create(&line, NULL, (size_t)N * 64);
    CHECK(hubs != NULL);
    CHECK(wf_topo_hubs_size(hubs) >= N);
    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t a = (uint32_t)(wf_test_rand(1, 0, i) % N);
        uint32_t b = (uint32_t)(wf_test_rand(1, 1, i) % N);
        CHECK_U64(wf_topo_hubs_distance(hubs, a, b), a < b ? b - a : a - b);
    }
    wf_topo_hubs_free(hubs);
    CHECK(wf_topo_hubs_create(&line, NULL, 1000) == NULL);
    wf_topo_csr_release(&line);
}

int main(void)
{
    RUN(formats_are_read);
    RUN(links_have_their_properties);
    RUN(links_have_classes);
    RUN(errors_say_what_and_where);
    RUN(hostile_xml_is_refused);
    RUN(huge_tags_are_read);
    RUN(odd_texts_are_refused);
    RUN(files_are_read);
    RUN(distances_of_random_graphs_are_exact);
    RUN(a_long_line_has_short_labels);
    return wf_test_done();
}
