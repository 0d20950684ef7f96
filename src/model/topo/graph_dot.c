/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the DOT language that describes graphs: all of it but subgraphs. */
#include "model/topo/graph_format.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum token_kind {
    TOKEN_END,
    TOKEN_ID,     /* a name or a value, in `word` */
    TOKEN_QUOTED, /* likewise, but never a keyword */
    TOKEN_PUNCT,  /* one of {}[];,=: or the first of -- and -> */
};

struct token {
    enum token_kind kind;
    struct wf_topo_graph_word word; /* decoded text; a quoted one is in the reader's scratch */
    char punct;                     /* '-' for "--", '>' for "->" */
};

/* The first error is kept in `status`. After it, every token is the end of the text, so that
 * callers need not check every step. */
struct dot {
    struct wf_topo_graph_reader *reader;
    enum wf_status status;
    struct token token; /* the next token, not yet taken */
    bool directed;
    struct wf_topo_graph_attrs node_defaults, edge_defaults;
};

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Keeps the status of a failure. Always returns false. */
static bool stop(struct dot *dot, enum wf_status status)
{
    dot->status = status;
    dot->token.kind = TOKEN_END;
    return false;
}

/* Keeps the status of a call that may have failed. Returns whether no error has occurred. */
static bool keep(struct dot *dot, enum wf_status status)
{
    return status == WF_OK || stop(dot, status);
}

/* Moves past the next `end`; false if the text ends first. */
static bool skip_past(struct wf_topo_graph_reader *reader, const char *end)
{
    const char *found =
        memmem(reader->text + reader->at, reader->size - reader->at, end, strlen(end));

    reader->at = found != NULL ? (size_t)(found - reader->text) + strlen(end) : reader->size;
    return found != NULL;
}

static enum wf_status skip_space(struct wf_topo_graph_reader *reader)
{
    for (;;) {
        char c = wf_topo_graph_peek(reader, 0), next = wf_topo_graph_peek(reader, 1);
        bool line_start = reader->at == 0 || reader->text[reader->at - 1] == '\n';
        size_t at = reader->at;
        if (c != '\0' && isspace((unsigned char)c)) {
            reader->at++;
        } else if ((c == '#' && line_start) || (c == '/' && next == '/')) {
            (void)skip_past(reader, "\n");
        } else if (c == '/' && next == '*') {
            reader->at += 2;
            if (!skip_past(reader, "*/")) {
                return wf_topo_graph_fail(reader, at, "this comment has no end; expected */");
            }
        } else {
            return WF_OK;
        }
    }
}

/* "text" with \" for a quote. A backslash before the end of a line joins the line with the
 * next one; any other backslash is an ordinary character. */
static enum wf_status scan_quoted(struct wf_topo_graph_reader *reader, struct token *token)
{
    size_t start = reader->at++;

    wf_buf_reserve(&reader->scratch, 1); /* an empty word needs an address, too */
    reader->scratch.size = 0;
    for (;; reader->at++) {
        char c = wf_topo_graph_peek(reader, 0), next = wf_topo_graph_peek(reader, 1);
        if (c == '\0') {
            return wf_topo_graph_fail(reader, start, "this quote has no end; expected \"");
        }
        if (c == '"') {
            break;
        }
        if (c == '\\' && (next == '"' || next == '\n')) {
            reader->at++;
            if (next == '\n') {
                continue;
            }
            c = next;
        }
        wf_buf_append(&reader->scratch, &c, 1);
    }
    reader->at++;
    token->kind = TOKEN_QUOTED;
    token->word = (struct wf_topo_graph_word){(const char *)reader->scratch.data,
                                              reader->scratch.size, start};
    return WF_OK;
}

/* <an HTML text>, which some files have as labels: up to the bracket that closes the first
 * one. */
static enum wf_status scan_html(struct wf_topo_graph_reader *reader, struct token *token)
{
    size_t start = reader->at, depth = 0;

    do {
        char c = wf_topo_graph_peek(reader, 0);
        if (c == '\0') {
            return wf_topo_graph_fail(reader, start, "this '<' has no end; expected '>'");
        }
        depth += c == '<' ? 1 : 0;
        depth -= c == '>' ? 1 : 0;
        reader->at++;
    } while (depth > 0);
    token->kind = TOKEN_QUOTED;
    token->word = (struct wf_topo_graph_word){reader->text + start, reader->at - start, start};
    return WF_OK;
}

/* A name (letters, digits, _, not beginning with a digit) or a number (-1.5). */
static enum wf_status scan_plain(struct wf_topo_graph_reader *reader, struct token *token)
{
    size_t start = reader->at;
    char first = wf_topo_graph_peek(reader, 0);
    bool number = isdigit((unsigned char)first) || first == '.' || first == '-';

    reader->at++;
    while (is_name_byte(wf_topo_graph_peek(reader, 0)) ||
           (number && wf_topo_graph_peek(reader, 0) == '.')) {
        reader->at++;
    }
    token->kind = TOKEN_ID;
    token->word = (struct wf_topo_graph_word){reader->text + start, reader->at - start, start};
    for (size_t i = 0; number && i < token->word.len; i++) {
        char c = token->word.text[i];
        if (!isdigit((unsigned char)c) && c != '.' && !(c == '-' && i == 0)) {
            return wf_topo_graph_fail(reader, start,
                                      "put '%.*s' in quotes: only numbers begin like this",
                                      wf_topo_graph_shown(token->word), token->word.text);
        }
    }
    return WF_OK;
}

static enum wf_status scan(struct wf_topo_graph_reader *reader, struct token *token)
{
    enum wf_status status = skip_space(reader);
    char c = wf_topo_graph_peek(reader, 0), next = wf_topo_graph_peek(reader, 1);
    bool is_edge = c == '-' && (next == '-' || next == '>');

    *token = (struct token){.kind = TOKEN_END, .word = {"", 0, reader->at}};
    if (status != WF_OK || c == '\0') {
        return status;
    }
    if (c == '"') {
        return scan_quoted(reader, token);
    }
    if (c == '<') {
        return scan_html(reader, token);
    }
    if (is_edge || strchr("{}[];,=:", c) != NULL) {
        token->kind = TOKEN_PUNCT;
        token->punct = c;
        if (is_edge) {
            token->punct = next;
        }
        reader->at += is_edge ? 2 : 1;
        return WF_OK;
    }
    if (is_name_byte(c) || c == '.' ||
        (c == '-' && (isdigit((unsigned char)next) || next == '.'))) {
        return scan_plain(reader, token);
    }
    return wf_topo_graph_fail(reader, reader->at,
                              "unexpected '%c'; names and values other than letters, digits "
                              "and _ need quotes",
                              c);
}

/* Goes on to the next token. */
static void advance(struct dot *dot)
{
    if (dot->status == WF_OK) {
        (void)keep(dot, scan(dot->reader, &dot->token));
    }
}

static bool at_punct(const struct dot *dot, char punct)
{
    return dot->token.kind == TOKEN_PUNCT && dot->token.punct == punct;
}

static bool at_id(const struct dot *dot)
{
    return dot->token.kind == TOKEN_ID || dot->token.kind == TOKEN_QUOTED;
}

static bool at_keyword(const struct dot *dot, const char *keyword)
{
    return dot->token.kind == TOKEN_ID && strlen(keyword) == dot->token.word.len &&
           strncasecmp(dot->token.word.text, keyword, dot->token.word.len) == 0;
}

/* Moves past the token if it is this punctuation. Returns whether it was. */
static bool take(struct dot *dot, char punct)
{
    bool taken = at_punct(dot, punct);

    if (taken) {
        advance(dot);
    }
    return taken;
}

/* Reports that the token is not what was expected. Always returns false. */
static bool expected(struct dot *dot, const char *what)
{
    size_t at = dot->token.word.at;

    if (dot->status != WF_OK) {
        return false;
    }
    if (dot->token.kind == TOKEN_END) {
        return stop(
            dot, wf_topo_graph_fail(dot->reader, at, "expected %s, but the text ends", what));
    }
    if (dot->token.kind == TOKEN_PUNCT) {
        return stop(dot, wf_topo_graph_fail(dot->reader, at, "expected %s, not '%c'", what,
                                            dot->reader->text[at]));
    }
    return stop(dot,
                wf_topo_graph_fail(dot->reader, at, "expected %s, not '%.*s'", what,
                                   wf_topo_graph_shown(dot->token.word), dot->token.word.text));
}

/* name = value. The value is optional, as in DOT: without a value, the attribute is "true". */
static void read_attr(struct dot *dot, bool of_link, struct wf_topo_graph_attrs *attrs)
{
    const struct wf_topo_graph_attr *attr = NULL;
    struct wf_topo_graph_word value = {"true", strlen("true"), dot->token.word.at};

    if (!at_id(dot)) {
        (void)expected(dot, "an attribute or ']'");
        return;
    }
    (void)keep(dot, wf_topo_graph_attr_find(dot->reader, dot->token.word, of_link, &attr));
    advance(dot);
    bool given = take(dot, '=');
    if (given && !at_id(dot)) {
        (void)expected(dot, "a value");
    }
    value = given ? dot->token.word : value;
    if (dot->status == WF_OK && attr != NULL) {
        (void)keep(dot, wf_topo_graph_attr_set(dot->reader, attr, value, attrs));
    }
    if (given) {
        advance(dot);
    }
}

/* Any number of [a=b, c=d; e=f]. */
static void read_attrs(struct dot *dot, bool of_link, struct wf_topo_graph_attrs *attrs)
{
    while (take(dot, '[')) {
        while (dot->status == WF_OK && !take(dot, ']')) {
            read_attr(dot, of_link, attrs);
            if (!take(dot, ',')) {
                (void)take(dot, ';');
            }
        }
    }
}

static bool at_subgraph(const struct dot *dot)
{
    return at_punct(dot, '{') || at_keyword(dot, "subgraph");
}

static bool no_subgraphs(struct dot *dot)
{
    return stop(dot,
                wf_topo_graph_fail(dot->reader, dot->token.word.at,
                                   "subgraphs are not understood; name the links one by one"));
}

/* Reads a vertex name. Its port in a drawing, ":name:compass", is ignored. */
static bool read_vertex(struct dot *dot, uint32_t *out)
{
    if (at_subgraph(dot)) {
        return no_subgraphs(dot);
    }
    if (!at_id(dot)) {
        return expected(dot, "a vertex");
    }
    (void)keep(dot,
               wf_topo_graph_vertex(dot->reader, dot->token.word, &dot->node_defaults, out));
    advance(dot);
    while (take(dot, ':')) {
        if (!at_id(dot)) {
            return expected(dot, "a port");
        }
        advance(dot);
    }
    return dot->status == WF_OK;
}

/* The rest of "a -- b -- c" after a. */
static void read_chain(struct dot *dot, uint32_t from)
{
    while (at_punct(dot, '-') || at_punct(dot, '>')) {
        size_t at = dot->token.word.at;
        uint32_t to = 0;
        if (at_punct(dot, '>') != dot->directed) {
            (void)stop(dot, wf_topo_graph_fail(dot->reader, at, "expected %s in a %s",
                                               dot->directed ? "->" : "--",
                                               dot->directed ? "digraph" : "graph"));
            return;
        }
        advance(dot);
        if (read_vertex(dot, &to)) {
            (void)keep(dot, wf_topo_graph_link(dot->reader, from, to, at, dot->directed));
        }
        from = to;
    }
}

/* A vertex or a chain of links, with attributes. */
static void read_vertex_statement(struct dot *dot)
{
    struct wf_topo_graph_reader *reader = dot->reader;
    size_t first = reader->n_edges;
    struct wf_topo_graph_attrs attrs = dot->edge_defaults;
    uint32_t from = 0;

    if (!read_vertex(dot, &from)) {
        return;
    }
    read_chain(dot, from);
    if (reader->n_edges == first) {
        read_attrs(dot, false, &reader->vertices[from].attrs);
        return;
    }
    read_attrs(dot, true, &attrs);
    for (size_t i = first; i < reader->n_edges; i++) {
        reader->edges[i].attrs = attrs;
    }
}

/* Reads the attributes of "node [...]" and similar statements. */
static void read_defaults(struct dot *dot, bool of_link, struct wf_topo_graph_attrs *attrs)
{
    advance(dot);
    if (!at_punct(dot, '[')) {
        (void)expected(dot, "'[' after node, edge or graph");
    }
    read_attrs(dot, of_link, attrs);
}

/* Whether "=" follows a name: the name is then an attribute of the graph, not a vertex. */
static bool before_equals(struct dot *dot)
{
    struct wf_topo_graph_reader ahead = *dot->reader;

    return keep(dot, skip_space(&ahead)) && wf_topo_graph_peek(&ahead, 0) == '=';
}

static void read_statement(struct dot *dot)
{
    struct wf_topo_graph_attrs of_graph = {.kind = WF_TOPO_GRAPH_UNDECLARED};
    size_t at = dot->token.word.at;

    if (at_keyword(dot, "node")) {
        read_defaults(dot, false, &dot->node_defaults);
    } else if (at_keyword(dot, "edge")) {
        read_defaults(dot, true, &dot->edge_defaults);
    } else if (at_keyword(dot, "graph")) {
        read_defaults(dot, true, &of_graph);
    } else if (at_subgraph(dot)) {
        (void)no_subgraphs(dot);
    } else if (!at_id(dot)) {
        (void)expected(dot, "a vertex or '}'");
    } else if (before_equals(dot)) {
        read_attr(dot, true, &of_graph);
    } else {
        read_vertex_statement(dot);
    }
    /* Attributes of the whole graph are ignored, but a user may expect them to have an
     * effect. */
    if (dot->status == WF_OK &&
        (of_graph.props.latency != 0 || of_graph.props.bandwidth != 0)) {
        (void)stop(dot, wf_topo_graph_fail(dot->reader, at,
                                           "links have bandwidth and latency, not the graph; "
                                           "write edge [bandwidth=...]"));
    }
}

/* [strict] (graph | digraph) [name] {. The caller has already checked how it begins. */
static void read_head(struct dot *dot)
{
    advance(dot);
    if (at_keyword(dot, "strict")) {
        advance(dot);
    }
    dot->directed = at_keyword(dot, "digraph");
    if (!dot->directed && !at_keyword(dot, "graph")) {
        (void)expected(dot, "graph or digraph");
    }
    advance(dot);
    if (at_id(dot)) {
        advance(dot);
    }
    if (!take(dot, '{')) {
        (void)expected(dot, "'{'");
    }
}

enum wf_status wf_topo_graph_read_dot(struct wf_topo_graph_reader *reader)
{
    struct dot dot = {.reader = reader, .status = WF_OK};

    read_head(&dot);
    while (dot.status == WF_OK && !take(&dot, '}')) {
        if (!take(&dot, ';')) {
            read_statement(&dot);
        }
    }
    if (dot.token.kind != TOKEN_END) {
        (void)expected(&dot, "nothing after the graph");
    }
    return dot.status;
}
