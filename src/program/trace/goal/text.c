/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/goal/text.h"

#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFER_BYTES = 1 << 18, SHORT_BYTES = 16 };

/* Reads the next part of the file; false at its end. */
static bool fill(struct wf_goal_text *text)
{
    text->base += text->n;
    text->at = 0;
    text->n = wf_intext_block(&text->file, text->buffer, BUFFER_BYTES);
    return text->n > 0;
}

/* The next character, which is not passed; EOF at the end. */
static inline int peek(struct wf_goal_text *text)
{
    return text->at < text->n || fill(text) ? text->buffer[text->at] : EOF;
}

static inline int take(struct wf_goal_text *text)
{
    int c = peek(text);

    text->at += c != EOF ? 1 : 0;
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

/* What a character can be. Without isalnum(), which asks for the locale at every character. */
enum { OTHER, BLANK, WORD, SIGN };

#define W2  WORD, WORD
#define W8  W2, W2, W2, W2
#define W26 W8, W8, W8, W2
static const unsigned char classes[256] = {
    [' '] = BLANK, ['\t'] = BLANK,
    BLANK,         BLANK,
    BLANK,         BLANK, /* up to '\r' */
    ['0'] = W8,    W2,
    ['A'] = W26,   ['a'] = W26,
    ['_'] = WORD,  ['-'] = WORD,
    ['.'] = WORD,  [':'] = SIGN,
    ['{'] = SIGN,  ['}'] = SIGN,
};

static bool is_word(int c)
{
    return c != EOF && classes[c] == WORD;
}

static bool is_blank(int c)
{
    return c != EOF && classes[c] == BLANK;
}

/* Returns the first character of the next word, or EOF, and sets the place for errors. */
static int find_word(struct wf_goal_text *text)
{
    int c;

    do {
        text->file.place.line = text->line;
        text->file.place.byte = text->base + text->at;
        c = take(text);
        if (c == '/') {
            skip_comment(text);
        }
    } while (!wf_trace_failed(text->err) && (c == '/' || is_blank(c)));
    return c;
}

/* Reads the next word if it and the character after it are in the buffer and no comment comes
 * before it, which is nearly always so. Otherwise reads nothing and returns false. */
static bool next_in_buffer(struct wf_goal_text *text)
{
    const unsigned char *at = text->buffer + text->at, *end = text->buffer + text->n;
    uint64_t line = text->line;

    while (at < end && classes[*at] == BLANK) {
        line += *at++ == '\n' ? 1 : 0;
    }
    const unsigned char *first = at;
    while (at < end && classes[*at] == WORD) {
        at++;
    }
    at += at == first && at < end && classes[*at] == SIGN ? 1 : 0;
    size_t length = (size_t)(at - first);
    if (at == end || length == 0 || length >= WF_GOAL_WORD_BYTES) {
        return false;
    }
    if (length < SHORT_BYTES) {
        memcpy(text->word, first,
               SHORT_BYTES); /* no call; bytes after the word do not matter */
    } else {
        memcpy(text->word, first, length);
    }
    text->word[length] = '\0';
    text->length = length;
    text->line = line;
    text->file.place.line = line;
    text->file.place.byte = text->base + (uint64_t)(first - text->buffer);
    text->at = (size_t)(at - text->buffer);
    return true;
}

void wf_goal_text_next(struct wf_goal_text *text)
{
    size_t n = 0;

    if (!wf_trace_failed(text->err) && next_in_buffer(text)) {
        return;
    }
    text->word[0] = '\0';
    text->length = 0;
    if (wf_trace_failed(text->err)) {
        return;
    }
    int c = find_word(text);
    if (wf_trace_failed(text->err) || c == EOF) {
        return;
    }
    if (c == ':' || c == '{' || c == '}') {
        memcpy(text->word, (char[]){(char)c, '\0'}, 2);
        text->length = 1;
        return;
    }
    /* Words have no line ends. */
    if (is_word(c)) {
        text->word[n++] = (char)c;
        while (is_word(c = peek(text)) && n < WF_GOAL_WORD_BYTES - 1) {
            text->word[n++] = (char)c;
            text->at++;
        }
    }
    text->word[n] = '\0';
    text->length = n;
    if (n == 0) {
        wf_trace_bad(&text->file.place, "an unexpected sign (0x%02x)", (unsigned)c);
    } else if (is_word(c)) {
        wf_trace_bad(&text->file.place, "a word of more than %d letters",
                     WF_GOAL_WORD_BYTES - 1);
    }
}

void wf_goal_text_unexpected(struct wf_goal_text *text, const char *word)
{
    if (text->word[0] == '\0') {
        wf_trace_bad(&text->file.place, "the file ends before '%s'; truncated?", word);
    } else {
        wf_trace_bad(&text->file.place, "expected '%s', found '%.40s'", word, text->word);
    }
}

int64_t wf_goal_text_number(struct wf_goal_text *text, const char *what, const char *unit,
                            int64_t min, int64_t max)
{
    char *end = NULL;
    int64_t number = 0;
    size_t n = 0;

    /* Nearly all numbers are short and have no sign. */
    while (n < text->length && n < 18 && (unsigned)text->word[n] - '0' < 10) {
        number = number * 10 + (text->word[n++] - '0');
    }
    const char *rest = text->word + n;
    bool has_unit = rest[0] == unit[0] && rest[0] != '\0' && rest[1] == '\0' && unit[1] == '\0';
    if (n > 0 && (rest[0] == '\0' || has_unit) && number >= min && number <= max) {
        wf_goal_text_next(text);
        return number;
    }
    errno = 0;
    number = strtoll(text->word, &end, 10);
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

void wf_goal_text_open(struct wf_goal_text *text, const char *path, struct wf_err *err)
{
    *text = (struct wf_goal_text){
        .line = 1, .err = err, .buffer = wf_xcalloc(1, BUFFER_BYTES + SHORT_BYTES)};
    if (wf_intext_open(&text->file, path, err) == WF_OK) {
        wf_goal_text_next(text);
    }
}

void wf_goal_text_part(struct wf_goal_text *text, uint64_t begin, uint64_t end)
{
    wf_intext_part(&text->file, begin, end, 0);
    text->base = begin;
    text->at = 0;
    text->n = 0;
    text->line = 1;
    wf_goal_text_next(text);
}

void wf_goal_text_close(struct wf_goal_text *text)
{
    wf_intext_close(&text->file);
    free(text->buffer);
}
