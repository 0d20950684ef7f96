/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/ti/text.h"

#include "base/rng.h"
#include "program/trace/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS    " \t\r\n"
#define WHOLE_MAX 9.0e15 /* doubles represent all integers up to this exactly */

void wf_ti_text_open(struct wf_ti_text *text, const char *path, struct wf_err *err)
{
    text->err = err;
    text->head_length = 0;
    if (!wf_trace_failed(err) && wf_intext_turn_to(&text->file, path, err) == WF_OK) {
        text->file.place.unit = "rank";
    }
}

void wf_ti_text_close(struct wf_ti_text *text)
{
    wf_intext_close(&text->file);
}

/* ---- words ---- */

/* Returns the next word and its length; null if there is none. */
static char *take_word(struct wf_ti_text *text, size_t *length)
{
    char *word = text->rest;

    while (wf_ti_is_blank(*word)) {
        word++;
    }
    char *end = word;
    while (*end != '\0' && !wf_ti_is_blank(*end)) {
        end++;
    }
    *length = (size_t)(end - word);
    text->rest = end;
    return end > word ? word : NULL;
}

/* Takes the next word if it has 1 to 15 digits and nothing else but perhaps a point among them, as
 * nearly all numbers have: then it is *digits / 10^(*places). Otherwise takes nothing and returns
 * false. */
static inline bool take_digits(struct wf_ti_text *text, int64_t *digits, int64_t *places)
{
    char *at = text->rest;
    uint64_t number = 0; /* too many digits may overflow; then it is not used */

    while (wf_ti_is_blank(*at)) {
        at++;
    }
    const char *first = at, *point = NULL;
    for (;; at++) {
        unsigned digit = (unsigned char)*at - (unsigned)'0';
        if (digit <= 9) {
            number = number * 10 + digit;
        } else if (*at == '.' && point == NULL && at > first) {
            point = at;
        } else {
            break;
        }
    }
    int64_t length = at - first;
    if (length == 0 || length > 16 || (point == NULL && length > 15) || point == at - 1 ||
        (*at != '\0' && !wf_ti_is_blank(*at))) {
        return false;
    }
    text->rest = at;
    *digits = (int64_t)number;
    *places = point != NULL ? at - point - 1 : 0;
    return true;
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
    /* Both these and 15 digits are exact as double, so the quotient is what strtod() returns. */
    static const double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    size_t length = 0;
    char *end = NULL;
    int64_t digits, places;

    *has = true;
    if (take_digits(text, &digits, &places)) {
        return places == 0 ? (double)digits : (double)digits / powers[places];
    }
    char *word = take_word(text, &length);
    *has = word != NULL;
    double number = word != NULL ? strtod(word, &end) : 0;
    if (word != NULL && (end != word + length || !isfinite(number))) {
        wf_trace_bad(&text->file.place, "%s: expected a number, found '%.*s'",
                     text->action->name, quoted(length), word);
        return 0;
    }
    return number;
}

int64_t wf_ti_text_any_whole(struct wf_ti_text *text, int64_t min)
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

/* Takes the next word and looks for its action. Returns null if there is no word. */
static const char *take_action(struct wf_ti_text *text, size_t *length)
{
    char *word = text->rest;
    uint64_t name = 0; /* the letters; if they are many, the last ones */

    while (wf_ti_is_blank(*word)) {
        word++;
    }
    char *end = word;
    for (; *end != '\0' && !wf_ti_is_blank(*end); end++) {
        name = name << 8 | (unsigned char)*end;
    }
    *length = (size_t)(end - word);
    text->rest = end;
    if (*length > sizeof(name) || *length == 0) {
        text->action = wf_ti_find(word, *length);
        return *length > 0 ? word : NULL;
    }
    struct wf_ti_recent *recent = &text->recent[(name * WF_RNG_GOLDEN >> 32) % WF_TI_RECENT];
    if (recent->name != name) {
        *recent = (struct wf_ti_recent){name, wf_ti_find(word, *length)};
    }
    text->action = recent->action;
    return word;
}

static void read_action(struct wf_ti_text *text, bool only_rank)
{
    size_t length = 0;
    int64_t rank = 0;

    text->action = NULL;
    char *line = text->rest;
    if (!wf_ti_text_short(text, &rank) || rank >= WF_RANKS_MAX) {
        text->rest = line;
        const char *first = take_word(text, &length);
        wf_trace_bad(&text->file.place, "a line begins with a rank, not with '%.*s'",
                     quoted(length), first);
        return;
    }
    text->file.place.rank = rank;
    if (only_rank) {
        return;
    }
    const char *word = take_action(text, &length);
    if (word == NULL) {
        wf_trace_bad(&text->file.place, "a rank without an action");
    } else if (text->action == NULL) {
        wf_trace_bad(&text->file.place, "unknown action '%.*s'", quoted(length), word);
    }
}

static bool next_line(struct wf_ti_text *text, bool only_rank)
{
    size_t length = 0;

    do {
        text->line = wf_trace_failed(text->err) ? NULL : wf_intext_line(&text->file, &length);
        text->rest = text->line;
        if (text->line == NULL) {
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
    if (text->head_length > 0) {
        wf_intext_skip_like(&text->file, text->head, text->head_length);
    }
    if (!next_line(text, true)) {
        return false;
    }
    size_t length = (size_t)(text->rest - text->line) + 1;
    text->head_length = *text->rest != '\0' && length <= WF_TI_HEAD ? length : 0;
    memcpy(text->head, text->line, text->head_length);
    return true;
}
