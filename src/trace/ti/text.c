/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/ti/text.h"

#include "trace/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS    " \t\r\n"
#define WHOLE_MAX 9.0e15 /* doubles represent all integers up to this exactly */

void wf_ti_text_open(struct wf_ti_text *text, const char *path, struct wf_err *err)
{
    *text = (struct wf_ti_text){.err = err};
    if (!wf_trace_failed(err) && wf_intext_open(&text->file, path, err) == WF_OK) {
        text->file.place.unit = "rank";
    }
}

void wf_ti_text_close(struct wf_ti_text *text)
{
    wf_intext_close(&text->file);
    free(text->line);
    text->line = NULL;
}

/* ---- words ---- */

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Returns the next word and its length; null if there is none. */
static char *take_word(struct wf_ti_text *text, size_t *length)
{
    char *word = text->rest;

    while (is_blank(*word)) {
        word++;
    }
    char *end = word;
    while (*end != '\0' && !is_blank(*end)) {
        end++;
    }
    *length = (size_t)(end - word);
    text->rest = end;
    return end > word ? word : NULL;
}

/* The value of a word of 1 to 15 digits, which nearly all numbers are; else false. */
static bool is_short(const char *word, size_t length, int64_t *value)
{
    int64_t number = 0;

    if (length == 0 || length > 15) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned char)word[i] - (unsigned)'0';
        if (digit > 9) {
            return false;
        }
        number = number * 10 + digit;
    }
    *value = number;
    return true;
}

bool wf_ti_text_more(const struct wf_ti_text *text)
{
    const char *at = text->rest;

    while (is_blank(*at)) {
        at++;
    }
    return *at != '\0';
}

/* Limits the length of a word that an error message quotes. */
static int quoted(size_t length)
{
    return length < 40 ? (int)length : 40;
}

size_t wf_ti_text_words(const struct wf_ti_text *text)
{
    size_t n = 0;

    for (const char *at = text->rest + strspn(text->rest, BLANKS); *at != '\0'; n++) {
        at += strcspn(at, BLANKS);
        at += strspn(at, BLANKS);
    }
    return n;
}

void wf_ti_text_skip(struct wf_ti_text *text)
{
    text->rest += strlen(text->rest);
}

double wf_ti_text_real(struct wf_ti_text *text, bool *has)
{
    size_t length = 0;
    char *word = take_word(text, &length), *end = NULL;

    int64_t value;

    *has = word != NULL;
    if (word != NULL && is_short(word, length, &value)) {
        return (double)value;
    }
    double number = word != NULL ? strtod(word, &end) : 0;
    if (word != NULL && (end != word + length || !isfinite(number))) {
        wf_trace_bad(&text->file.place, "%s: expected a number, found '%.*s'",
                     text->action->name, quoted(length), word);
        return 0;
    }
    return number;
}

int64_t wf_ti_text_whole(struct wf_ti_text *text, int64_t min)
{
    bool has = false;
    double number = wf_ti_text_real(text, &has);

    if (!has) {
        wf_trace_bad(&text->file.place, "%s: an argument is missing", text->action->name);
    } else if (number < (double)min || number > WHOLE_MAX || floor(number) != number) {
        wf_trace_bad(&text->file.place,
                     "%s: expected a whole number from %" PRId64 ", found %g",
                     text->action->name, min, number);
    } else {
        return (int64_t)number;
    }
    return 0;
}

/* ---- lines ---- */

static void read_action(struct wf_ti_text *text, bool only_rank)
{
    size_t length = 0;
    char *word = take_word(text, &length);
    int64_t rank = 0;

    text->action = NULL;
    if (!is_short(word, length, &rank) || rank >= WF_RANKS_MAX) {
        wf_trace_bad(&text->file.place, "a line begins with a rank, not with '%.*s'",
                     quoted(length), word);
        return;
    }
    text->file.place.rank = rank;
    if (only_rank) {
        return;
    }
    word = take_word(text, &length);
    text->action = word != NULL ? wf_ti_find(word, length) : NULL;
    if (word == NULL) {
        wf_trace_bad(&text->file.place, "a rank without an action");
    } else if (text->action == NULL) {
        wf_trace_bad(&text->file.place, "unknown action '%.*s'", quoted(length), word);
    }
}

static bool next_line(struct wf_ti_text *text, bool only_rank)
{
    do {
        ssize_t n = wf_trace_failed(text->err)
                        ? 0
                        : getline(&text->line, &text->capacity, text->file.in);
        if (n <= 0) {
            return false;
        }
        text->file.place.line++;
        text->file.place.byte = text->next;
        text->next += (uint64_t)n;
        text->rest = text->line;
        if (memchr(text->line, '\0', (size_t)n) != NULL) {
            wf_trace_bad(&text->file.place, "a NUL byte in the line: this is no text file");
            return false;
        }
    } while (!wf_ti_text_more(text));
    read_action(text, only_rank);
    return !wf_trace_failed(text->err);
}

bool wf_ti_text_next(struct wf_ti_text *text)
{
    return next_line(text, false);
}

bool wf_ti_text_next_rank(struct wf_ti_text *text)
{
    return next_line(text, true);
}
