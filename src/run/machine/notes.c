/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures of a machine file with their comments, which say where a figure comes from:
 *
 *     size: [8, 8, 16]        # [1] 1024 nodes a rack
 *     # derived: 5 us to the farthest node [2], which is
 *     # 68 hops away
 *     link_latency: 67ns
 *
 * A figure has the comment at the end of its line, with the lines below it that contain
 * nothing but a comment in the same column; and the lines above it that contain nothing but a
 * comment in the column of its key.
 */
#include "base/array.h"
#include "base/buf.h"
#include "base/mem.h"
#include "run/machine/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- comments ---- */

/* The lines of a file; line i + 1 begins at offset at[i]. */
struct lines {
    const char *text;
    size_t *at, n, capacity;
    size_t size;
};

/* A line without its line break. */
struct line {
    const char *text;
    size_t size;
};

static void find_lines(struct lines *lines, const struct wf_machine_file *file)
{
    lines->text = file->text;
    lines->size = file->size;
    for (size_t i = 0; i < file->size; i++) {
        if (i == 0 || file->text[i - 1] == '\n') {
            WF_PUSH(lines->at, lines->n, lines->capacity, i);
        }
    }
}

/* The line with this number, counted from 1; empty if there is none. */
static struct line line_of(const struct lines *lines, size_t number)
{
    if (number == 0 || number > lines->n) {
        return (struct line){"", 0};
    }
    size_t begin = lines->at[number - 1];
    size_t end = number < lines->n ? lines->at[number] : lines->size;
    while (end > begin && strchr("\r\n", lines->text[end - 1]) != NULL) {
        end--;
    }
    return (struct line){lines->text + begin, end - begin};
}

/* The column of the comment in a line, counted from 0; the size of the line if it has none. A
 * '#' in quotes or inside of a word begins no comment. */
static size_t comment_at(struct line line)
{
    char quote = '\0';

    for (size_t i = 0; i < line.size; i++) {
        char c = line.text[i];
        char before = ' ';

        if (i > 0) {
            before = line.text[i - 1];
        }
        if (quote != '\0' && c == quote) {
            quote = '\0';
        } else if (quote != '\0') {
            continue;
        } else if (c == '#' && (before == ' ' || before == '\t')) {
            return i;
        } else if ((c == '"' || c == '\'') && strchr(" \t[{,", before) != NULL) {
            quote = c;
        }
    }
    return line.size;
}

/* The column of the first character that is not blank. */
static size_t indent_of(struct line line)
{
    size_t i = 0;

    while (i < line.size && (line.text[i] == ' ' || line.text[i] == '\t')) {
        i++;
    }
    return i;
}

/* Whether the line has nothing but a comment, in this column. */
static bool is_comment(struct line line, size_t column)
{
    return column < line.size && line.text[column] == '#' && indent_of(line) == column;
}

/* Appends the comment of a line without its '#', with a blank between it and what is there. */
static void add_comment(struct wf_buf *note, struct line line, size_t column)
{
    while (column < line.size && strchr("# \t", line.text[column]) != NULL) {
        column++;
    }
    while (line.size > column && strchr(" \t", line.text[line.size - 1]) != NULL) {
        line.size--;
    }
    if (line.size > column) {
        wf_buf_append(note, " ", note->size > 0 ? 1 : 0);
        wf_buf_append(note, line.text + column, line.size - column);
    }
}

/* The comment of a figure whose key is at `key` and whose value ends in line `last`. */
static char *note_of(const struct lines *lines, struct wf_yaml_place key, size_t last)
{
    struct wf_buf note = {.data = NULL};
    size_t column = key.column - 1, first = key.line;

    while (first > 1 && is_comment(line_of(lines, first - 1), column)) {
        first--;
    }
    for (size_t i = first; i < key.line; i++) {
        add_comment(&note, line_of(lines, i), column);
    }

    struct line line = line_of(lines, last);
    size_t end = comment_at(line);
    if (end < line.size) {
        add_comment(&note, line, end);
        for (size_t i = last + 1; end > 0 && is_comment(line_of(lines, i), end); i++) {
            add_comment(&note, line_of(lines, i), end);
        }
    }
    wf_buf_append(&note, "", 1);
    return (char *)note.data;
}

/* ---- figures ---- */

const char *const wf_machine_origin_names[] = {
    [WF_MACHINE_UNKNOWN] = "unknown", [WF_MACHINE_PUBLISHED] = "published",
    [WF_MACHINE_DERIVED] = "derived", [WF_MACHINE_ESTIMATE] = "estimate",
    [WF_MACHINE_CHOICE] = "choice",   [WF_MACHINE_MEASURED] = "measured",
    [WF_MACHINE_N_ORIGINS] = NULL,
};

/* A note begins with "[", "derived:", "estimate:" or "choice:". */
static enum wf_machine_origin origin_of(const char *note)
{
    for (int i = WF_MACHINE_DERIVED; i < WF_MACHINE_N_ORIGINS; i++) {
        size_t len = strlen(wf_machine_origin_names[i]);
        if (strncmp(note, wf_machine_origin_names[i], len) == 0 && note[len] == ':') {
            return (enum wf_machine_origin)i;
        }
    }
    return note[0] == '[' ? WF_MACHINE_PUBLISHED : WF_MACHINE_UNKNOWN;
}

static bool is_list_of_scalars(const struct wf_yaml *node)
{
    for (const struct wf_yaml *at = node->first; at != NULL; at = at->next) {
        if (at->kind != WF_YAML_SCALAR) {
            return false;
        }
    }
    return node->kind == WF_YAML_LIST;
}

static void add_figure(struct wf_machine_reader *reader, const struct lines *lines,
                       const struct wf_yaml *node, const char *path, struct wf_yaml_place key)
{
    struct wf_machine *machine = reader->machine;
    const struct wf_yaml *last = node->last != NULL ? node->last : node;
    struct wf_machine_figure figure = {.path = wf_xstrdup(path)};

    figure.value = wf_machine_join(reader, node, ',', NULL);
    figure.note = note_of(lines, key, last->at.line);
    figure.origin = origin_of(figure.note);
    WF_PUSH(machine->figures, machine->n_figures, machine->figures_capacity, figure);
}

/* Adds the figures below a node: single values, and lists of them. Parts of a path are keys, or
 * numbers in a list from 1 on. The depth of a file is limited (run/machine/yaml.h). */
static void add_figures(struct wf_machine_reader *reader, const struct lines *lines,
                        const struct wf_yaml *node, const char *path, struct wf_yaml_place key)
{
    if (node->kind == WF_YAML_SCALAR || is_list_of_scalars(node)) {
        add_figure(reader, lines, node, path, key);
        return;
    }

    int number = 0;
    for (const struct wf_yaml *at = node->first; at != NULL; at = at->next) {
        char below[256];

        number++;
        if (at->key != NULL) {
            (void)snprintf(below, sizeof(below), "%.180s.%.64s", path, at->key);
        } else {
            (void)snprintf(below, sizeof(below), "%.180s.%d", path, number);
        }
        add_figures(reader, lines, at, below, at->key != NULL ? at->key_at : at->at);
    }
}

void wf_machine_read_figures(struct wf_machine_reader *reader, const struct wf_yaml *root)
{
    /* Keys that describe the file instead of the machine. */
    static const char *const others[] = {"include",   "name",      "summary", "year",
                                         "published", "residuals", "sources"};
    struct lines lines = {.at = NULL};

    find_lines(&lines, reader->file);
    for (const struct wf_yaml *node = root->first; node != NULL; node = node->next) {
        bool is_figure = true;

        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
            is_figure = is_figure && strcmp(node->key, others[i]) != 0;
        }
        if (is_figure) {
            add_figures(reader, &lines, node, node->key, node->key_at);
        }
    }
    free(lines.at);
}

/* ---- sources ---- */

/* Figures of an included file have its labels; the file's own texts replace those with the same label. */
static void add_source(struct wf_machine *machine, const char *label, const char *text)
{
    for (size_t i = 0; i < machine->n_sources; i++) {
        if (strcmp(machine->sources[i].label, label) == 0) {
            free(machine->sources[i].text);
            machine->sources[i].text = wf_xstrdup(text);
            return;
        }
    }
    WF_PUSH(machine->sources, machine->n_sources, machine->sources_capacity,
            (struct wf_machine_source){.label = wf_xstrdup(label), .text = wf_xstrdup(text)});
}

enum wf_status wf_machine_read_sources(struct wf_machine_reader *reader,
                                       const struct wf_yaml *node, struct wf_err *err)
{
    WF_TRY(wf_machine_expect(reader, node, WF_YAML_MAP, err));
    for (const struct wf_yaml *at = node->first; at != NULL; at = at->next) {
        WF_TRY(wf_machine_expect(reader, at, WF_YAML_SCALAR, err));
        add_source(reader->machine, at->key, at->text);
    }
    return WF_OK;
}
