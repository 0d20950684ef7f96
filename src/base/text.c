/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include "base/arith.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer names are compared by this many leading characters. */
enum { NAME_MAX_LEN = 64 };

/* The number of bytes of the UTF-8 character at `text`, up to 4; 0 if there is no valid one, or
 * if it is a control character. */
static size_t printable_bytes(const unsigned char *text)
{
    static const uint32_t least[] = {0, 0xa0, 0x800, 0x10000}; /* by the number of bytes */
    unsigned n = text[0] < 0x80   ? 1
                 : text[0] < 0xc2 ? 0
                 : text[0] < 0xe0 ? 2
                 : text[0] < 0xf0 ? 3
                 : text[0] < 0xf5 ? 4
                                  : 0;

    if (n <= 1) {
        return n == 1 && text[0] >= ' ' && text[0] != 0x7f ? 1 : 0;
    }
    uint32_t code = text[0] & (0x7fU >> n);
    for (unsigned i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (text[i] & 0x3fU);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    /* These reverse the order of the text after them. */
    bool turns = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return code >= least[n - 1] && code <= 0x10ffff && !surrogate && !turns ? n : 0;
}

char *wf_text_safe(char *text)
{
    for (char *at = text; *at != '\0';) {
        size_t n = printable_bytes((const unsigned char *)at);

        if (n == 0) {
            *at = *at == '\t' ? ' ' : '?';
        }
        at += n > 0 ? n : 1;
    }
    return text;
}

const char *wf_text_past_mark(const char *text)
{
    static const char mark[] = "\xef\xbb\xbf";

    return text + (strncmp(text, mark, sizeof(mark) - 1) == 0 ? sizeof(mark) - 1 : 0);
}

char *wf_text_make(const char *fmt, ...)
{
    va_list args, again;

    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    size_t size = (size_t)(n > 0 ? n : 0) + 1;
    char *text = wf_xmalloc(size);
    text[0] = '\0';
    (void)vsnprintf(text, size, fmt, again);
    va_end(again);
    va_end(args);
    return text;
}

void wf_text_print(FILE *out, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    wf_text_vprint(out, fmt, args);
    va_end(args);
}

void wf_text_vprint(FILE *out, const char *fmt, va_list args)
{
    char *line = NULL;
    int n = vasprintf(&line, fmt, args);

    if (n < 0) {
        return;
    }
    bool ends = n > 0 && line[n - 1] == '\n';
    if (ends) {
        line[n - 1] = '\0';
    }
    (void)fputs(wf_text_safe(line), out);
    if (ends) {
        (void)fputc('\n', out);
    }
    free(line);
}

static bool is_number(const char *text)
{
    char *end = NULL;

    (void)strtod(text, &end);
    return end != text && *end == '\0';
}

void wf_text_csv(FILE *out, const char *text)
{
    char *safe = wf_text_safe(wf_xstrdup(text));
    const char *guard = strchr("=+-@", safe[0]) != NULL && !is_number(safe) ? "'" : "";

    if (safe[0] == '\0' || strpbrk(safe, ",;\"") == NULL) {
        (void)fprintf(out, "%s%s", safe[0] == '\0' ? "" : guard, safe);
    } else {
        (void)fprintf(out, "\"%s", guard);
        for (const char *p = safe; *p != '\0'; p++) {
            (void)fprintf(out, *p == '"' ? "\"\"" : "%c", *p);
        }
        (void)fputc('"', out);
    }
    free(safe);
}

void wf_text_markup(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        const char *entity = *text == '<'   ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '&' ? "&amp;"
                                            : NULL;
        if (entity != NULL) {
            (void)fputs(entity, out);
        } else {
            (void)fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
        }
    }
}

static size_t name_length(const char *name)
{
    return strnlen(name, NAME_MAX_LEN);
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* `beginning` has at least `length` characters; `name` may be shorter. */
static bool begins(const char *name, const char *beginning, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!same_letter(name[i], beginning[i])) {
            return false;
        }
    }
    return true;
}

/* Optimal string alignment distance: edits of one character, and swaps of two neighbours. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t n_a = name_length(a), n_b = name_length(b);
    size_t rows[3][NAME_MAX_LEN + 1];

    for (size_t j = 0; j <= n_b; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= n_a; i++) {
        const size_t *before = rows[(i + 1) % 3]; /* row i - 2 */
        const size_t *above = rows[(i + 2) % 3];
        size_t *row = rows[i % 3];

        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            size_t replaced = above[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
            row[j] = wf_min_u64(replaced, wf_min_u64(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1])) {
                row[j] = wf_min_u64(row[j], before[j - 2] + 1);
            }
        }
    }
    return rows[n_a % 3][n_b];
}

/* One error in three characters is allowed, but never as many as the name has characters. */
void wf_nearest_begin(struct wf_nearest *nearest, const char *wanted)
{
    size_t length = name_length(wanted);

    nearest->wanted = wanted;
    nearest->best = NULL;
    nearest->distance = wf_min_u64((length + 2) / 3 + 1, length);
}

void wf_nearest_add(struct wf_nearest *nearest, const char *known)
{
    size_t length = name_length(nearest->wanted);
    size_t distance = edit_distance(nearest->wanted, known);

    /* "--topology" for "--topo", and the other way round. */
    if (distance > 1 &&
        ((length >= 2 && begins(known, nearest->wanted, length)) ||
         (strlen(known) >= 4 && begins(nearest->wanted, known, strlen(known))))) {
        distance = 1;
    }
    if (distance < nearest->distance) {
        nearest->distance = distance;
        nearest->best = known;
    }
}

char *wf_nearest_hint(const struct wf_nearest *nearest, char *buf)
{
    buf[0] = '\0';
    if (nearest->best != NULL) {
        (void)snprintf(buf, WF_HINT_MAX, "; did you mean '%.*s'?", (int)NAME_MAX_LEN,
                       nearest->best);
    }
    return buf;
}
