/* SPDX-License-Identifier: Apache-2.0 */
#include "run/import/codes_text.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *label;
    const char *text;
    size_t size, at;
    uint32_t line, column; /* position of `at` */
    struct wf_buf section; /* names of the open sections, separated by slashes */
    size_t depth;
    struct wf_codes_text *codes;
    size_t capacity;
    struct wf_err *err;
};

static enum wf_status refuse_text(const struct reader *reader, const char *expected)
{
    return wf_err_set(reader->err, WF_EINVAL, "%s:%u:%u: expected %s", reader->label,
                      (unsigned)reader->line, (unsigned)reader->column, expected);
}

/* The next character; 0 at the end. */
static char peek(const struct reader *reader)
{
    return (char)(reader->at < reader->size ? reader->text[reader->at] : '\0');
}

static void advance(struct reader *reader)
{
    bool newline = peek(reader) == '\n';

    reader->at++;
    reader->line += newline ? 1 : 0;
    reader->column = newline ? 1 : reader->column + 1;
}

static void skip_space(struct reader *reader)
{
    while (reader->at < reader->size &&
           (isspace((unsigned char)peek(reader)) != 0 || peek(reader) == '#')) {
        if (peek(reader) == '#') {
            while (reader->at < reader->size && peek(reader) != '\n') {
                advance(reader);
            }
        } else {
            advance(reader);
        }
    }
}

static bool take(struct reader *reader, char wanted)
{
    skip_space(reader);
    if (peek(reader) != wanted || reader->at == reader->size) {
        return false;
    }
    advance(reader);
    return true;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) != 0 || (c != '\0' && strchr("_-.@", c) != NULL);
}

static char *copy(const char *text, size_t len)
{
    char *out = wf_xmalloc(len + 1);

    memcpy(out, text, len);
    out[len] = '\0';
    return out;
}

/* Reads a name, for the caller to free; null if there is none. */
static char *read_name(struct reader *reader)
{
    size_t begin = reader->at;

    while (is_name(peek(reader))) {
        advance(reader);
    }
    return reader->at > begin ? copy(reader->text + begin, reader->at - begin) : NULL;
}

static enum wf_status read_string(struct reader *reader, struct wf_buf *value)
{
    if (!take(reader, '"')) {
        return refuse_text(reader, "a value in double quotes");
    }
    size_t begin = reader->at;
    while (reader->at < reader->size && peek(reader) != '"' && peek(reader) != '\n') {
        advance(reader);
    }
    if (peek(reader) != '"') {
        return refuse_text(reader, "a double quote at the end of the value");
    }
    wf_buf_append(value, reader->text + begin, reader->at - begin);
    advance(reader);
    return WF_OK;
}

static enum wf_status read_list(struct reader *reader, struct wf_buf *value)
{
    WF_TRY(read_string(reader, value));
    while (take(reader, ',')) {
        wf_buf_append(value, ",", 1);
        WF_TRY(read_string(reader, value));
    }
    return take(reader, ')') ? WF_OK : refuse_text(reader, "a comma or a closing parenthesis");
}

static struct wf_codes_entry *add_entry(struct reader *reader)
{
    struct wf_codes_text *codes = reader->codes;

    WF_GROW_ZERO(codes->entries, codes->n, reader->capacity);
    return &codes->entries[codes->n++];
}

/* Reads the value of an entry. Takes ownership of the key. */
static enum wf_status read_entry(struct reader *reader, char *key, uint32_t line,
                                 uint32_t column)
{
    struct wf_buf value = {.data = NULL};
    char *section = copy((const char *)reader->section.data, reader->section.size);
    const struct wf_codes_entry *before = wf_codes_find(reader->codes, section, key);

    if (before != NULL || reader->codes->n == WF_CODES_ENTRIES_MAX) {
        enum wf_status status = before != NULL
                                    ? wf_err_set(reader->err, WF_EINVAL,
                                                 "%s:%u:%u: '%.64s' is given twice, first "
                                                 "in line %u",
                                                 reader->label, (unsigned)line,
                                                 (unsigned)column, key, (unsigned)before->line)
                                    : refuse_text(reader, "at most 4096 entries");
        free(key);
        free(section);
        return status;
    }
    struct wf_codes_entry *entry = add_entry(reader);
    *entry = (struct wf_codes_entry){section, key, NULL, false, line, column};
    entry->is_list = take(reader, '(');
    enum wf_status status =
        entry->is_list ? read_list(reader, &value) : read_string(reader, &value);
    entry->value = copy(value.size > 0 ? (const char *)value.data : "", value.size);
    wf_buf_fini(&value);
    (void)take(reader, ';'); /* some files leave it out */
    return status;
}

/* Reads what begins with a name: a section or an entry. */
static enum wf_status read_item(struct reader *reader)
{
    uint32_t line = reader->line, column = reader->column;
    char *name = read_name(reader);

    if (name == NULL) {
        return refuse_text(reader,
                           reader->depth > 0 ? "a name or a closing brace" : "a section");
    }
    if (reader->depth > 0 && take(reader, '=')) {
        return read_entry(reader, name, line, column);
    }
    bool opens = take(reader, '{');
    if (opens && reader->depth < WF_CODES_DEPTH_MAX) {
        if (reader->depth++ > 0) {
            wf_buf_append(&reader->section, "/", 1);
        }
        wf_buf_append(&reader->section, name, strlen(name));
    }
    free(name);
    if (opens && reader->depth == WF_CODES_DEPTH_MAX) {
        return refuse_text(reader, "less than 8 sections inside each other");
    }
    return opens ? WF_OK : refuse_text(reader, reader->depth > 0 ? "'=' or '{'" : "'{'");
}

static void close_section(struct reader *reader)
{
    size_t size = reader->section.size;

    while (size > 0 && reader->section.data[size - 1] != '/') {
        size--;
    }
    reader->section.size = size > 0 ? size - 1 : 0;
    reader->depth--;
}

static enum wf_status read_all(struct reader *reader)
{
    for (skip_space(reader); reader->at < reader->size; skip_space(reader)) {
        if (reader->depth > 0 && take(reader, '}')) {
            close_section(reader);
            (void)take(reader, ';');
        } else {
            WF_TRY(read_item(reader));
        }
    }
    return reader->depth > 0 ? refuse_text(reader, "a closing brace") : WF_OK;
}

bool wf_codes_is(const char *text, size_t size)
{
    struct reader reader = {.text = text, .size = size};

    skip_space(&reader);
    size_t begin = reader.at;
    while (is_name(peek(&reader))) {
        advance(&reader);
    }
    return reader.at > begin && take(&reader, '{');
}

enum wf_status wf_codes_read(const char *label, const char *text, size_t size,
                             struct wf_codes_text *out, struct wf_err *err)
{
    struct wf_codes_text codes = {.entries = NULL};
    struct reader reader = {
        .label = label,
        .text = text,
        .size = size,
        .line = 1,
        .column = 1,
        .codes = &codes,
        .err = err,
    };

    if (size > WF_CODES_BYTES_MAX || (size > 0 && memchr(text, '\0', size) != NULL)) {
        return refuse_text(&reader, "a text of at most 1 MiB");
    }
    wf_buf_reserve(&reader.section, 64);
    enum wf_status status = read_all(&reader);
    wf_buf_fini(&reader.section);
    if (status != WF_OK) {
        wf_codes_fini(&codes);
        return status;
    }
    *out = codes;
    return WF_OK;
}

void wf_codes_fini(struct wf_codes_text *codes)
{
    for (size_t i = 0; i < codes->n; i++) {
        free(codes->entries[i].section);
        free(codes->entries[i].key);
        free(codes->entries[i].value);
    }
    free(codes->entries);
    *codes = (struct wf_codes_text){.entries = NULL};
}

struct wf_codes_entry *wf_codes_find(const struct wf_codes_text *codes, const char *section,
                                     const char *key)
{
    for (size_t i = 0; i < codes->n; i++) {
        struct wf_codes_entry *entry = &codes->entries[i];
        if (strcmp(entry->section, section) == 0 && strcmp(entry->key, key) == 0) {
            return entry;
        }
    }
    return NULL;
}
