/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/ti/text.h"

#include "trace/reader.h"

#include <errno.h>
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

/* Returns the next word and its length; null if there is none. */
static char *take_word(struct wf_ti_text *text, size_t *length)
{
    char *word = text->rest + strspn(text->rest, BLANKS);

    *length = strcspn(word, BLANKS);
    text->rest = word + *length;
    return *length > 0 ? word : NULL;
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

    *has = word != NULL;
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

static void read_action(struct wf_ti_text *text)
{
    size_t length = 0;
    char *word = take_word(text, &length), *end = NULL;

    errno = 0;
    unsigned long long rank = strtoull(word, &end, 10);
    if (end != word + length || *word == '-' || errno != 0 || rank >= WF_RANKS_MAX) {
        wf_trace_bad(&text->file.place, "a line begins with a rank, not with '%.*s'",
                     quoted(length), word);
        return;
    }
    text->file.place.rank = (int64_t)rank;
    word = take_word(text, &length);
    text->action = word != NULL ? wf_ti_find(word, length) : NULL;
    if (word == NULL) {
        wf_trace_bad(&text->file.place, "a rank without an action");
    } else if (text->action == NULL) {
        wf_trace_bad(&text->file.place, "unknown action '%.*s'", quoted(length), word);
    }
}

bool wf_ti_text_next(struct wf_ti_text *text)
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
    } while (text->line[strspn(text->line, BLANKS)] == '\0');
    read_action(text);
    return !wf_trace_failed(text->err);
}
