/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/goal/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void wf_goal_text_open(struct wf_goal_text *text, const char *path, struct wf_err *err)
{
    *text = (struct wf_goal_text){.line = 1, .err = err};
    if (wf_intext_open(&text->file, path, err) == WF_OK) {
        wf_goal_text_next(text);
    }
}

void wf_goal_text_close(struct wf_goal_text *text)
{
    wf_intext_close(&text->file);
}

static int take(struct wf_goal_text *text)
{
    int c = getc(text->file.in);

    text->byte += c != EOF ? 1 : 0;
    text->line += c == '\n' ? 1 : 0;
    return c;
}

/* Skips a comment whose first slash has been read. */
static void skip_comment(struct wf_goal_text *text)
{
    int c = take(text), before = 0;

    if (c == '/') {
        while (c != '\n' && c != EOF) {
            c = take(text);
        }
    } else if (c == '*') {
        c = take(text);
        while (c != EOF && !(before == '*' && c == '/')) {
            before = c;
            c = take(text);
        }
        if (c == EOF) {
            wf_trace_bad(&text->file.place, "a comment without end: truncated?");
        }
    } else {
        wf_trace_bad(&text->file.place, "a single slash; comments begin with // or /*");
    }
}

static bool is_word(int c)
{
    return c != EOF && (isalnum(c) != 0 || c == '_' || c == '-' || c == '.');
}

/* Returns the first character of the next word, or EOF, and sets the place for errors. */
static int find_word(struct wf_goal_text *text)
{
    int c;

    do {
        text->file.place.line = text->line;
        text->file.place.byte = text->byte;
        c = take(text);
        if (c == '/') {
            skip_comment(text);
        }
    } while (!wf_trace_failed(text->err) && (c == '/' || (c != EOF && isspace(c) != 0)));
    return c;
}

void wf_goal_text_next(struct wf_goal_text *text)
{
    size_t n = 0;

    text->word[0] = '\0';
    if (wf_trace_failed(text->err)) {
        return;
    }
    int c = find_word(text);
    if (wf_trace_failed(text->err) || c == EOF) {
        return;
    }
    if (c == ':' || c == '{' || c == '}') {
        memcpy(text->word, (char[]){(char)c, '\0'}, 2);
        return;
    }
    for (; is_word(c) && n < WF_GOAL_WORD_BYTES - 1; c = take(text)) {
        text->word[n++] = (char)c;
    }
    text->word[n] = '\0';
    if (n == 0) {
        wf_trace_bad(&text->file.place, "an unexpected sign (0x%02x)", (unsigned)c);
    } else if (is_word(c)) {
        wf_trace_bad(&text->file.place, "a word of more than %d letters",
                     WF_GOAL_WORD_BYTES - 1);
    } else if (c != EOF) {
        (void)ungetc(c, text->file.in);
        text->byte--;
        text->line -= c == '\n' ? 1 : 0;
    }
}

bool wf_goal_text_is(const struct wf_goal_text *text, const char *word)
{
    return strcmp(text->word, word) == 0;
}

void wf_goal_text_expect(struct wf_goal_text *text, const char *word)
{
    if (wf_goal_text_is(text, word)) {
        wf_goal_text_next(text);
    } else if (text->word[0] == '\0') {
        wf_trace_bad(&text->file.place, "the file ends before '%s'; truncated?", word);
    } else {
        wf_trace_bad(&text->file.place, "expected '%s', found '%.40s'", word, text->word);
    }
}

int64_t wf_goal_text_number(struct wf_goal_text *text, const char *what, const char *unit,
                            int64_t min, int64_t max)
{
    char *end = NULL;

    errno = 0;
    long long number = strtoll(text->word, &end, 10);
    if (text->word[0] == '\0') {
        wf_trace_bad(&text->file.place, "the file ends before %s; truncated?", what);
    } else if (end == text->word || (*end != '\0' && strcmp(end, unit) != 0) || errno != 0 ||
               number < min || number > max) {
        wf_trace_bad(&text->file.place,
                     "expected %s from %" PRId64 " to %" PRId64 ", found '%.40s'", what, min,
                     max, text->word);
    } else {
        wf_goal_text_next(text);
        return number;
    }
    return min;
}
