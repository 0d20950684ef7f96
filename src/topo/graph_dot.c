/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the DOT language that describes graphs: all of it but subgraphs. */
#include "topo/graph_format.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum token_kind {
    TOKEN_END,
    TOKEN_ID,     /* a name or a value; `word` has it */
    TOKEN_QUOTED, /* likewise, and never a keyword */
    TOKEN_PUNCT,  /* one of {}[];,=: or the first of -- and -> */
};

struct token {
    enum token_kind kind;
    struct wf_topo_graph_word word; /* decoded text; of a quoted one in the reader's scratch */
    char punct;                     /* '-' for "--", '>' for "->" */
};

struct dot {
    struct wf_topo_graph_reader *reader;
    struct token token; /* the next one, not yet taken */
    bool directed;
    struct wf_topo_graph_attrs node_defaults, edge_defaults;
};

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Moves to after the next `end`; false if the text ends first. */
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

/* Of "text" with \" for a quote; a backslash before the end of a line joins it with the next;
 * any other backslash is a character like others. */
static enum wf_status scan_quoted(struct wf_topo_graph_reader *reader, struct token *token)
{
    size_t start = reader->at++;

    wf_buf_reserve(&reader->scratch, 1); /* an empty word has a place as well */
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

/* <an HTML text>, which some files have for labels: up to the bracket that closes the first. */
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

static enum wf_status advance(struct dot *dot)
{
    struct wf_topo_graph_reader *reader = dot->reader;
    struct token *token = &dot->token;

    enum wf_status status = skip_space(reader);
    if (status != WF_OK) {
        return status;
    }
    char c = wf_topo_graph_peek(reader, 0), next = wf_topo_graph_peek(reader, 1);
    *token = (struct token){.kind = TOKEN_END, .word = {"", 0, reader->at}};
    if (c == '\0') {
        return WF_OK;
    }
    if (c == '"') {
        return scan_quoted(reader, token);
    }
    if (c == '<') {
        return scan_html(reader, token);
    }
    if (c == '-' && (next == '-' || next == '>')) {
        token->kind = TOKEN_PUNCT;
        token->punct = next;
        reader->at += 2;
        return WF_OK;
    }
    if (strchr("{}[];,=:", c) != NULL) {
        token->kind = TOKEN_PUNCT;
        token->punct = c;
        reader->at++;
        return WF_OK;
    }
    if (is_name_byte(c) || c == '.' ||
        (c == '-' && (isdigit((unsigned char)next) || next == '.'))) {
        return scan_plain(reader, token);
    }
    return wf_topo_graph_fail(
        reader, reader->at,
        "unexpected '%c'; names and values other than letters, digits and _ "
        "need quotes",
        c);
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

/* Where the next token is and what it should have been. */
static enum wf_status expected(const struct dot *dot, const char *what)
{
    size_t at = dot->token.word.at;

    if (dot->token.kind == TOKEN_END) {
        return wf_topo_graph_fail(dot->reader, at, "expected %s, but the text ends", what);
    }
    if (dot->token.kind == TOKEN_PUNCT) {
        return wf_topo_graph_fail(dot->reader, at, "expected %s, not '%c'", what,
                                  dot->reader->text[at]);
    }
    return wf_topo_graph_fail(dot->reader, at, "expected %s, not '%.*s'", what,
                              wf_topo_graph_shown(dot->token.word), dot->token.word.text);
}

static enum wf_status take_punct(struct dot *dot, char punct, const char *what)
{
    return at_punct(dot, punct) ? advance(dot) : expected(dot, what);
}

/* name = value, the value being optional as in DOT: alone it is "true". */
static enum wf_status read_attr(struct dot *dot, bool of_link,
                                struct wf_topo_graph_attrs *attrs)
{
    const struct wf_topo_graph_attr *attr = NULL;

    if (!at_id(dot)) {
        return expected(dot, "an attribute or ']'");
    }
    struct wf_topo_graph_word value = {"true", strlen("true"), dot->token.word.at};
    enum wf_status status =
        wf_topo_graph_attr_find(dot->reader, dot->token.word, of_link, &attr);
    if (status == WF_OK) {
        status = advance(dot);
    }
    if (status == WF_OK && at_punct(dot, '=')) {
        status = advance(dot);
        if (status == WF_OK && !at_id(dot)) {
            status = expected(dot, "a value");
        }
        value = dot->token.word;
        if (status == WF_OK && attr != NULL) {
            status = wf_topo_graph_attr_set(dot->reader, attr, value, attrs);
        }
        return status == WF_OK ? advance(dot) : status;
    }
    if (status == WF_OK && attr != NULL) {
        status = wf_topo_graph_attr_set(dot->reader, attr, value, attrs);
    }
    return status;
}

/* Any number of [a=b, c=d; e=f]. */
static enum wf_status read_attrs(struct dot *dot, bool of_link,
                                 struct wf_topo_graph_attrs *attrs)
{
    enum wf_status status = WF_OK;

    while (status == WF_OK && at_punct(dot, '[')) {
        status = advance(dot);
        while (status == WF_OK && !at_punct(dot, ']')) {
            status = read_attr(dot, of_link, attrs);
            if (status == WF_OK && (at_punct(dot, ',') || at_punct(dot, ';'))) {
                status = advance(dot);
            }
        }
        if (status == WF_OK) {
            status = advance(dot);
        }
    }
    return status;
}

/* The ports of a drawing, which mean nothing here: ":name:compass". */
static enum wf_status skip_ports(struct dot *dot)
{
    enum wf_status status = WF_OK;

    while (status == WF_OK && at_punct(dot, ':')) {
        status = advance(dot);
        if (status == WF_OK && !at_id(dot)) {
            return expected(dot, "a port");
        }
        if (status == WF_OK) {
            status = advance(dot);
        }
    }
    return status;
}

static enum wf_status no_subgraphs(const struct dot *dot)
{
    return wf_topo_graph_fail(dot->reader, dot->token.word.at,
                              "subgraphs are not understood; name the links one by one");
}

/* The vertex that is the next token. */
static enum wf_status read_vertex(struct dot *dot, uint32_t *out)
{
    if (at_punct(dot, '{') || at_keyword(dot, "subgraph")) {
        return no_subgraphs(dot);
    }
    if (!at_id(dot)) {
        return expected(dot, "a vertex");
    }
    enum wf_status status =
        wf_topo_graph_vertex(dot->reader, dot->token.word, &dot->node_defaults, out);
    if (status == WF_OK) {
        status = advance(dot);
    }
    return status == WF_OK ? skip_ports(dot) : status;
}

/* The rest of "a -- b -- c" after a. */
static enum wf_status read_chain(struct dot *dot, uint32_t from)
{
    enum wf_status status = WF_OK;

    while (status == WF_OK && (at_punct(dot, '-') || at_punct(dot, '>'))) {
        size_t at = dot->token.word.at;
        uint32_t to = 0;
        if (at_punct(dot, '>') != dot->directed) {
            return wf_topo_graph_fail(dot->reader, at, "expected %s in a %s",
                                      dot->directed ? "->" : "--",
                                      dot->directed ? "digraph" : "graph");
        }
        status = advance(dot);
        if (status == WF_OK) {
            status = read_vertex(dot, &to);
        }
        if (status == WF_OK) {
            status = wf_topo_graph_link(dot->reader, from, to, at, dot->directed);
        }
        from = to;
    }
    return status;
}

/* A vertex or a chain of links, with attributes. */
static enum wf_status read_vertex_statement(struct dot *dot, uint32_t from)
{
    struct wf_topo_graph_reader *reader = dot->reader;
    size_t first = reader->n_edges;
    struct wf_topo_graph_attrs attrs = dot->edge_defaults;

    enum wf_status status = read_chain(dot, from);
    if (status == WF_OK && reader->n_edges == first) {
        return read_attrs(dot, false, &reader->vertices[from].attrs);
    }
    if (status == WF_OK) {
        status = read_attrs(dot, true, &attrs);
    }
    for (size_t i = first; status == WF_OK && i < reader->n_edges; i++) {
        reader->edges[i].attrs = attrs;
    }
    return status;
}

/* What "node [...]" and the like set; what belongs to the whole graph goes nowhere. */
static enum wf_status read_defaults(struct dot *dot, bool of_link,
                                    struct wf_topo_graph_attrs *attrs)
{
    enum wf_status status = advance(dot);

    if (status == WF_OK && !at_punct(dot, '[')) {
        return expected(dot, "'[' after node, edge or graph");
    }
    return status == WF_OK ? read_attrs(dot, of_link, attrs) : status;
}

/* Attributes of the whole graph mean nothing here. Somebody may have hoped otherwise. */
static enum wf_status check_graph_attrs(const struct dot *dot, size_t at,
                                        const struct wf_topo_graph_attrs *attrs)
{
    if (attrs->props.latency != 0 || attrs->props.bandwidth != 0) {
        return wf_topo_graph_fail(dot->reader, at,
                                  "links have bandwidth and latency, not the graph; write edge "
                                  "[bandwidth=...]");
    }
    return WF_OK;
}

static enum wf_status read_statement(struct dot *dot)
{
    struct wf_topo_graph_attrs nowhere = {.kind = WF_TOPO_GRAPH_UNDECLARED};
    size_t at = dot->token.word.at;
    enum wf_status status = WF_OK;

    if (at_keyword(dot, "node")) {
        return read_defaults(dot, false, &dot->node_defaults);
    }
    if (at_keyword(dot, "edge")) {
        return read_defaults(dot, true, &dot->edge_defaults);
    }
    if (at_keyword(dot, "graph")) {
        status = read_defaults(dot, true, &nowhere);
        return status == WF_OK ? check_graph_attrs(dot, at, &nowhere) : status;
    }
    if (at_punct(dot, '{') || at_keyword(dot, "subgraph")) {
        return no_subgraphs(dot);
    }
    if (!at_id(dot)) {
        return expected(dot, "a vertex or '}'");
    }

    /* A name before "=" is an attribute of the graph, and no vertex: look before it becomes
     * one. */
    struct wf_topo_graph_reader ahead = *dot->reader;
    uint32_t vertex = 0;
    status = skip_space(&ahead);
    if (status == WF_OK && wf_topo_graph_peek(&ahead, 0) == '=') {
        status = read_attr(dot, true, &nowhere);
        return status == WF_OK ? check_graph_attrs(dot, at, &nowhere) : status;
    }
    if (status == WF_OK) {
        status = read_vertex(dot, &vertex);
    }
    return status == WF_OK ? read_vertex_statement(dot, vertex) : status;
}

/* [strict] (graph | digraph) [name] {: the caller saw how it begins. */
static enum wf_status read_head(struct dot *dot)
{
    enum wf_status status = advance(dot);

    if (status == WF_OK && at_keyword(dot, "strict")) {
        status = advance(dot);
    }
    if (status == WF_OK && !at_keyword(dot, "graph") && !at_keyword(dot, "digraph")) {
        return expected(dot, "graph or digraph");
    }
    if (status == WF_OK) {
        dot->directed = at_keyword(dot, "digraph");
        status = advance(dot);
    }
    if (status == WF_OK && at_id(dot)) {
        status = advance(dot);
    }
    return status == WF_OK ? take_punct(dot, '{', "'{'") : status;
}

enum wf_status wf_topo_graph_read_dot(struct wf_topo_graph_reader *reader)
{
    struct dot dot = {.reader = reader};

    enum wf_status status = read_head(&dot);
    while (status == WF_OK && !at_punct(&dot, '}')) {
        status = at_punct(&dot, ';') ? advance(&dot) : read_statement(&dot);
    }
    if (status == WF_OK) {
        status = advance(&dot);
    }
    if (status == WF_OK && dot.token.kind != TOKEN_END) {
        status = expected(&dot, "nothing after the graph");
    }
    return status;
}
