/* SPDX-License-Identifier: Apache-2.0 */
#include "topo/graph_xml.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool begins(const struct wf_graph_reader *reader, const char *with)
{
    size_t len = strlen(with);

    return reader->size - reader->at >= len &&
           memcmp(reader->text + reader->at, with, len) == 0;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || strchr("_:.-", c) != NULL || (unsigned char)c >= 0x80;
}

static size_t name_length(const struct wf_graph_reader *reader, size_t at)
{
    size_t len = 0;

    while (at + len < reader->size && is_name_byte(reader->text[at + len])) {
        len++;
    }
    return len;
}

/* Appends the character with this number as UTF-8. */
static void append_character(struct wf_buf *buf, uint32_t code)
{
    unsigned char bytes[4];
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (size_t i = n; i-- > 1; code >>= 6) {
        bytes[i] = (unsigned char)(0x80 | (code & 0x3f));
    }
    bytes[0] = (unsigned char)(marks[n] | code);
    wf_buf_append(buf, bytes, n);
}

/* Of "amp" or "#38" or "#x26" in `name`; 0 if it is nothing we know. */
static uint32_t character_of(const char *name, size_t len)
{
    static const struct {
        const char *name;
        char character;
    } entities[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    bool hex = len >= 2 && name[0] == '#' && name[1] == 'x';
    uint32_t code = 0;

    for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++) {
        if (strlen(entities[i].name) == len && memcmp(entities[i].name, name, len) == 0) {
            return (uint32_t)entities[i].character;
        }
    }
    if (len < 2 || name[0] != '#') {
        return 0;
    }
    for (size_t i = hex ? 2 : 1; i < len && code <= 0x10ffff; i++) {
        unsigned char c = (unsigned char)name[i];
        if (!(hex ? isxdigit(c) : isdigit(c))) {
            return 0;
        }
        uint32_t digit = isdigit(c) ? (uint32_t)(c - '0') : (uint32_t)(tolower(c) - 'a' + 10);
        code = code * (hex ? 16 : 10) + digit;
    }
    return code <= 0x10ffff ? code : 0;
}

/* Decodes text[from..to) into the scratch. */
static enum wf_status decode(struct wf_graph_reader *reader, size_t from, size_t to,
                             struct wf_graph_word *out)
{
    enum { ENTITY_MAX = 10 };
    struct wf_buf *buf = &reader->scratch;

    wf_buf_reserve(buf, 1); /* an empty word has a place as well */
    buf->size = 0;
    for (size_t at = from; at < to; at++) {
        if (reader->text[at] != '&') {
            wf_buf_append(buf, reader->text + at, 1);
            continue;
        }
        size_t left = to - at - 1;
        const char *name = reader->text + at + 1;
        const char *end = memchr(name, ';', left < ENTITY_MAX ? left : ENTITY_MAX);
        uint32_t code = end != NULL ? character_of(name, (size_t)(end - name)) : 0;
        if (code == 0) {
            return wf_graph_fail(reader, at, "unknown entity; write &amp; for '&'");
        }
        append_character(buf, code);
        at = (size_t)(end - reader->text);
    }
    *out = (struct wf_graph_word){(const char *)buf->data, buf->size, from};
    return WF_OK;
}

/* Moves behind the next `end`. */
static enum wf_status skip_past(struct wf_graph_reader *reader, const char *end,
                                const char *what)
{
    const char *found =
        memmem(reader->text + reader->at, reader->size - reader->at, end, strlen(end));

    if (found == NULL) {
        return wf_graph_fail(reader, reader->at, "this %s has no end; expected %s", what, end);
    }
    reader->at = (size_t)(found - reader->text) + strlen(end);
    return WF_OK;
}

/* Skips one thing that says nothing, if there is one; sets *skipped. */
static enum wf_status skip_silent(struct wf_graph_reader *reader, bool *skipped)
{
    static const struct {
        const char *begin, *end, *what;
    } silent[] = {
        {"<?", "?>", "instruction"},
        {"<!--", "-->", "comment"},
        {"<!DOCTYPE", ">", "document type"},
    };

    *skipped = false;
    for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
        if (begins(reader, silent[i].begin)) {
            size_t start = reader->at;
            enum wf_status status = skip_past(reader, silent[i].end, silent[i].what);
            *skipped = true;
            if (status == WF_OK && silent[i].begin[2] == 'D' &&
                memchr(reader->text + start, '[', reader->at - start) != NULL) {
                status = wf_graph_fail(reader, start,
                                       "document types with declarations are not understood; "
                                       "take this one out");
            }
            return status;
        }
    }
    return WF_OK;
}

static enum wf_status read_cdata(struct wf_xml *xml)
{
    struct wf_graph_reader *reader = xml->reader;
    size_t start = reader->at + strlen("<![CDATA[");

    enum wf_status status = skip_past(reader, "]]>", "CDATA section");
    if (status == WF_OK) {
        xml->kind = WF_XML_TEXT;
        xml->word = (struct wf_graph_word){reader->text + start,
                                           reader->at - strlen("]]>") - start, start};
    }
    return status;
}

static enum wf_status close_tag(struct wf_xml *xml, struct wf_graph_word name)
{
    if (xml->depth == 0) {
        return wf_graph_fail(xml->reader, name.at, "</%.*s> closes nothing",
                             wf_graph_shown(name), name.text);
    }
    struct wf_graph_word open = xml->open[--xml->depth];
    if (open.len != name.len || memcmp(open.text, name.text, name.len) != 0) {
        return wf_graph_fail(xml->reader, name.at, "expected </%.*s>, not </%.*s>",
                             wf_graph_shown(open), open.text, wf_graph_shown(name), name.text);
    }
    xml->kind = WF_XML_CLOSE;
    xml->word = name;
    return WF_OK;
}

static enum wf_status read_close(struct wf_xml *xml)
{
    struct wf_graph_reader *reader = xml->reader;
    size_t start = reader->at + 2, len = name_length(reader, start);

    reader->at = start + len;
    while (is_space(wf_graph_peek(reader, 0))) {
        reader->at++;
    }
    if (wf_graph_peek(reader, 0) != '>') {
        return wf_graph_fail(reader, reader->at, "expected '>' at the end of the tag");
    }
    reader->at++;
    return close_tag(xml, (struct wf_graph_word){reader->text + start, len, start});
}

/* Moves over name="value" and the space before it; *name is its name, of no length if there is
 * none, and *value what is between the quotes. */
static enum wf_status scan_attr(struct wf_graph_reader *reader, struct wf_graph_word *name,
                                struct wf_graph_word *value)
{
    while (is_space(wf_graph_peek(reader, 0))) {
        reader->at++;
    }
    size_t len = name_length(reader, reader->at);
    *name = (struct wf_graph_word){reader->text + reader->at, len, reader->at};
    if (len == 0) {
        return WF_OK;
    }
    reader->at += len;
    while (is_space(wf_graph_peek(reader, 0))) {
        reader->at++;
    }
    bool equals = wf_graph_peek(reader, 0) == '=';
    reader->at += equals ? 1 : 0;
    while (is_space(wf_graph_peek(reader, 0))) {
        reader->at++;
    }
    char quote = wf_graph_peek(reader, 0);
    if (!equals || (quote != '"' && quote != '\'')) {
        return wf_graph_fail(reader, reader->at, "expected =\"...\" after '%.*s'",
                             wf_graph_shown(*name), name->text);
    }
    size_t start = ++reader->at;
    const char *end = memchr(reader->text + start, quote, reader->size - start);
    if (end == NULL) {
        return wf_graph_fail(reader, start - 1, "this quote has no end");
    }
    reader->at = (size_t)(end - reader->text) + 1;
    *value = (struct wf_graph_word){reader->text + start, reader->at - 1 - start, start};
    return WF_OK;
}

static enum wf_status read_open(struct wf_xml *xml)
{
    struct wf_graph_reader *reader = xml->reader;
    size_t start = ++reader->at, len = name_length(reader, start);
    struct wf_graph_word name, value;

    if (len == 0) {
        return wf_graph_fail(reader, start, "expected the name of a tag; write &lt; for '<'");
    }
    if (xml->depth == WF_XML_DEPTH_MAX) {
        return wf_graph_fail(reader, start, "more than %d tags in each other",
                             WF_XML_DEPTH_MAX);
    }
    reader->at += len;
    xml->attrs = reader->at;
    do {
        enum wf_status status = scan_attr(reader, &name, &value);
        if (status != WF_OK) {
            return status;
        }
    } while (name.len > 0);
    xml->attrs_end = reader->at;
    xml->close_next = wf_graph_peek(reader, 0) == '/';
    reader->at += xml->close_next ? 1 : 0;
    if (wf_graph_peek(reader, 0) != '>') {
        return wf_graph_fail(reader, reader->at, "expected '>' at the end of the tag");
    }
    reader->at++;
    xml->kind = WF_XML_OPEN;
    xml->word = (struct wf_graph_word){reader->text + start, len, start};
    xml->open[xml->depth++] = xml->word;
    return WF_OK;
}

static enum wf_status read_text(struct wf_xml *xml)
{
    struct wf_graph_reader *reader = xml->reader;
    size_t start = reader->at;
    const char *end = memchr(reader->text + start, '<', reader->size - start);

    reader->at = end != NULL ? (size_t)(end - reader->text) : reader->size;
    xml->kind = WF_XML_TEXT;
    return decode(reader, start, reader->at, &xml->word);
}

enum wf_status wf_xml_next(struct wf_xml *xml)
{
    struct wf_graph_reader *reader = xml->reader;
    bool skipped = true;

    if (xml->close_next) {
        xml->close_next = false;
        return close_tag(xml, xml->open[xml->depth - 1]);
    }
    while (skipped) {
        enum wf_status status = skip_silent(reader, &skipped);
        if (status != WF_OK) {
            return status;
        }
    }
    if (reader->at == reader->size) {
        xml->kind = WF_XML_END;
        if (xml->depth > 0) {
            struct wf_graph_word open = xml->open[xml->depth - 1];
            return wf_graph_fail(reader, reader->at, "expected </%.*s>, but the text ends",
                                 wf_graph_shown(open), open.text);
        }
        return WF_OK;
    }
    if (begins(reader, "<![CDATA[")) {
        return read_cdata(xml);
    }
    if (begins(reader, "</")) {
        return read_close(xml);
    }
    return begins(reader, "<") ? read_open(xml) : read_text(xml);
}

enum wf_status wf_xml_attr(struct wf_xml *xml, const char *name, const char *fallback,
                           struct wf_graph_word *out)
{
    struct wf_graph_word key = {"", 0, 0}, value = key;
    struct wf_graph_reader *reader = xml->reader;
    size_t at = reader->at;
    enum wf_status status = WF_OK;

    /* The attributes were scanned once already: this cannot fail. */
    reader->at = xml->attrs;
    do {
        status = scan_attr(reader, &key, &value);
    } while (status == WF_OK && key.len > 0 && !wf_graph_is(key, name));
    reader->at = at;
    if (status != WF_OK) {
        return status;
    }
    if (key.len > 0) {
        return decode(reader, value.at, value.at + value.len, out);
    }
    if (fallback == NULL) {
        return wf_graph_fail(reader, xml->word.at, "<%.*s> needs %s=\"...\"",
                             wf_graph_shown(xml->word), xml->word.text, name);
    }
    *out = (struct wf_graph_word){fallback, strlen(fallback), xml->word.at};
    return WF_OK;
}
