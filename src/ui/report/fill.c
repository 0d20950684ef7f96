/* SPDX-License-Identifier: Apache-2.0 */
/* Texts with values of a document in them. */
#include "base/text.h"
#include "ui/report/phrase.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 96 };

struct filling {
    struct wf_phrase *out;
    const struct wf_value *doc;
    int depth;     /* of brackets */
    bool complete; /* all values of this bracket are there */
};

/* What stands between two braces. */
struct blank {
    char path[NAME_MAX_LENGTH];
    char format[NAME_MAX_LENGTH];
    char fallback[NAME_MAX_LENGTH];
    char condition; /* ? or !, or 0 */
};

/* Copies the characters before any of `ends`. Returns the place where it stopped. */
static const char *copy_until(const char *at, const char *ends, char *to)
{
    size_t n = strcspn(at, ends), kept = n < NAME_MAX_LENGTH ? n : NAME_MAX_LENGTH - 1;

    memcpy(to, at, kept);
    to[kept] = '\0';
    return at + n;
}

/* Reads a blank after its brace. Returns what follows the closing brace. */
static const char *read_blank(const char *at, struct blank *blank)
{
    *blank = (struct blank){.condition = 0};
    at = copy_until(at, ":|?!}", blank->path);
    if (*at == ':') {
        at = copy_until(at + 1, "}", blank->format);
    } else if (*at == '|') {
        at = copy_until(at + 1, "}", blank->fallback);
    } else if (*at != '}' && *at != '\0') {
        blank->condition = *at++;
    }
    return *at == '}' ? at + 1 : at;
}

static bool is_missing(const struct wf_value *value)
{
    return value == NULL || value->type == WF_VALUE_NULL;
}

/* Whether the value is something that a condition asks for. */
static bool is_something(const struct wf_value *value)
{
    return !is_missing(value) && !(value->type == WF_VALUE_BOOL && !value->truth) &&
           !(value->type == WF_VALUE_COUNT && value->count == 0) &&
           !(value->type == WF_VALUE_TEXT && value->text[0] == '\0');
}

static double number_of(const struct wf_value *value)
{
    return value->type == WF_VALUE_REAL    ? value->real
           : value->type == WF_VALUE_COUNT ? (double)value->count
                                           : 0;
}

static uint64_t count_of(const struct wf_value *value)
{
    return value->type == WF_VALUE_COUNT ? value->count : (uint64_t)number_of(value);
}

/* The name that tells the unit: "finish_ps" of "ranks.finish_ps.min". Changes the path. */
static const char *unit_name(char *path)
{
    char *last = strrchr(path, '.');

    if (last != NULL && strchr(last, '_') == NULL) {
        *last = '\0';
        if (wf_phrase_ends_with(path, "_ps")) {
            return path;
        }
        *last = '.';
    }
    return last != NULL ? last + 1 : path;
}

static void put_time(struct wf_phrase *out, const struct wf_value *value)
{
    wf_phrase_time(out, count_of(value));
}

static void put_size(struct wf_phrase *out, const struct wf_value *value)
{
    wf_phrase_size(out, count_of(value));
}

static void put_real(struct wf_phrase *out, const struct wf_value *value)
{
    wf_phrase_real(out, number_of(value));
}

static void put_plain(struct wf_phrase *out, const struct wf_value *value)
{
    wf_phrase_add(out, "%" PRIu64, count_of(value));
}

static const struct {
    const char *name;
    void (*put)(struct wf_phrase *out, const struct wf_value *value);
} formats[] = {
    {"time", put_time},   {"size", put_size},           {"real", put_real},
    {"plain", put_plain}, {"spread", wf_phrase_spread},
};

/* Writes a value in a format; in that of its unit if there is no such format. */
static void put_formatted(struct wf_phrase *out, const struct wf_value *value,
                          const char *format, const char *unit)
{
    const char *digits = format + strspn(format, "%+");

    if (*digits == '.') {
        char *end;
        int precision = (int)strtol(digits + 1, &end, 10);
        double number = number_of(value) * (format[0] == '%' ? 100 : 1);
        if (*end == 'g') {
            wf_phrase_add(out, "%.*g", precision, number);
        } else {
            wf_phrase_add(out, format[0] == '+' ? "%+.*f" : "%.*f", precision, number);
        }
        return;
    }
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(formats[i].name, format) == 0) {
            formats[i].put(out, value);
            return;
        }
    }
    wf_phrase_value(out, value, unit);
}

/* Moves what was added since `begin` into a column. */
static void align(struct wf_phrase *out, size_t begin, long width)
{
    size_t n = out->used - begin, wide = (size_t)labs(width);

    if (n < wide && begin + wide < sizeof(out->text)) {
        size_t blanks = wide - n;
        memmove(out->text + begin + (width > 0 ? blanks : 0), out->text + begin, n);
        memset(out->text + begin + (width > 0 ? 0 : n), ' ', blanks);
        out->used += blanks;
        out->text[out->used] = '\0';
    }
}

static void put_value(struct wf_phrase *out, const struct wf_value *value, struct blank *blank)
{
    char *format = blank->format, *bar = strchr(format, '|');
    size_t begin = out->used;

    if (bar != NULL) {
        *bar = '\0';
        wf_phrase_number_of(out, count_of(value), format, bar + 1);
        return;
    }
    long width = strtol(format, &format, 10);
    put_formatted(out, value, format, unit_name(blank->path));
    align(out, begin, width);
}

static void fill_blank(struct filling *filling, struct blank *blank)
{
    const struct wf_value *value =
        blank->path[0] != '\0' ? wf_doc_find(filling->doc, blank->path) : filling->doc;
    /* Zero is worth a word if it has decimals: it was measured. */
    bool may_be_zero = filling->depth == 0 || strchr(blank->format, '.') != NULL;
    bool there = may_be_zero ? !is_missing(value) : is_something(value);

    if (blank->condition != 0) {
        filling->complete &= is_something(value) == (blank->condition == '?');
    } else if (there) {
        put_value(filling->out, value, blank);
    } else if (blank->fallback[0] != '\0') {
        wf_phrase_add(filling->out, "%s", blank->fallback);
    } else {
        filling->complete = false;
    }
}

/* Fills the text up to the bracket that ends it. Returns what follows. */
static const char *fill(struct filling *filling, const char *at)
{
    while (*at != '\0' && *at != ']') {
        size_t n = strcspn(at, "{[]");
        wf_phrase_add(filling->out, "%.*s", (int)n, at);
        at += n;
        if (*at == '{') {
            struct blank blank;
            at = read_blank(at + 1, &blank);
            fill_blank(filling, &blank);
        } else if (*at == '[') {
            struct filling inner = {filling->out, filling->doc, filling->depth + 1, true};
            size_t before = filling->out->used;
            at = fill(&inner, at + 1);
            if (!inner.complete) {
                filling->out->used = before;
                filling->out->text[before] = '\0';
            }
        }
    }
    return *at == ']' ? at + 1 : at;
}

bool wf_phrase_fill(struct wf_phrase *out, const struct wf_value *doc, const char *text)
{
    struct filling filling = {out, doc, 0, true};

    (void)fill(&filling, text);
    return filling.complete;
}

bool wf_phrase_line(const struct wf_phrase_line *line, const struct wf_value *doc,
                    struct wf_phrase *out)
{
    const struct wf_value *value = line->path != NULL ? wf_doc_find(doc, line->path) : doc;
    bool wanted =
        value != NULL && (line->write != NULL ? line->write(value, out)
                                              : wf_phrase_fill(out, value, line->text));

    return wanted && out->used > 0;
}

void wf_phrase_print_lines(const struct wf_phrase_line *lines, const struct wf_value *doc,
                           int label_width, FILE *out)
{
    for (; lines->label != NULL; lines++) {
        struct wf_phrase phrase = {.used = 0};
        if (wf_phrase_line(lines, doc, &phrase)) {
            (void)fprintf(out, "%-*s%s\n", label_width, lines->label, phrase.text);
        }
    }
}
