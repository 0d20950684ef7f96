/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/goal/text.h"

#include "base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum wf_status wf_goal_text_bad(const struct wf_goal_text *text, struct wf_err *err,
                                const char *fmt, ...)
{
    char words[256], rank[32] = "";
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    if (text->rank >= 0) {
        (void)snprintf(rank, sizeof(rank), ", rank %" PRId64, text->rank);
    }
    return wf_err_set(err, WF_EINVAL, "%.200s: line %" PRIu64 " (byte %" PRIu64 ")%s: %s",
                      text->path, text->line, text->offset, rank, words);
}

enum wf_status wf_goal_text_open(struct wf_goal_text *text, const char *path,
                                 struct wf_err *err)
{
    struct stat st = {.st_size = 0};

    *text = (struct wf_goal_text){.line = 1, .at_line = 1, .rank = -1};
    text->in = fopen(path, "rbe");
    if (text->in == NULL || fstat(fileno(text->in), &st) != 0) {
        enum wf_status status =
            wf_err_set(err, WF_EIO, "cannot read '%.300s': %s", path, strerror(errno));
        wf_goal_text_close(text);
        return status;
    }
    text->size = (uint64_t)st.st_size;
    text->path = wf_xstrdup(path);
    return WF_OK;
}

void wf_goal_text_close(struct wf_goal_text *text)
{
    if (text->in != NULL) {
        (void)fclose(text->in);
    }
    free(text->path);
    *text = (struct wf_goal_text){.line = 0};
}

static int take(struct wf_goal_text *text)
{
    int c = getc(text->in);

    text->at += c != EOF ? 1 : 0;
    text->at_line += c == '\n' ? 1 : 0;
    return c;
}

static void put_back(struct wf_goal_text *text, int c)
{
    if (c != EOF) {
        (void)ungetc(c, text->in);
        text->at--;
        text->at_line -= c == '\n' ? 1 : 0;
    }
}

/* Passes a comment behind its first slash. */
static enum wf_status skip_comment(struct wf_goal_text *text, struct wf_err *err)
{
    int c = take(text), before = 0;

    if (c == '/') {
        while (c != '\n' && c != EOF) {
            c = take(text);
        }
        return WF_OK;
    }
    if (c != '*') {
        return wf_goal_text_bad(text, err, "a single slash");
    }
    c = take(text);
    while (c != EOF && !(before == '*' && c == '/')) {
        before = c;
        c = take(text);
    }
    return c != EOF ? WF_OK : wf_goal_text_bad(text, err, "a comment without end: truncated?");
}

static bool is_word(int c)
{
    return c != EOF && (isalnum(c) != 0 || c == '_' || c == '-' || c == '.');
}

/* The first sign of the next word, with its place; EOF at the end. */
static enum wf_status find_word(struct wf_goal_text *text, int *first, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    *first = '/';
    while (status == WF_OK && (*first == '/' || (*first != EOF && isspace(*first) != 0))) {
        text->line = text->at_line;
        text->offset = text->at;
        *first = take(text);
        if (*first == '/') {
            status = skip_comment(text, err);
        }
    }
    return status;
}

enum wf_status wf_goal_text_next(struct wf_goal_text *text, struct wf_err *err)
{
    size_t n = 0;
    int c = 0;

    enum wf_status status = find_word(text, &c, err);
    if (status != WF_OK) {
        return status;
    }
    while (is_word(c) && n < WF_GOAL_WORD_BYTES - 1) {
        text->word[n++] = (char)c;
        c = take(text);
    }
    text->word[n] = '\0';
    if (n > 0) {
        put_back(text, c);
        return is_word(c) ? wf_goal_text_bad(text, err, "a word that is too long") : WF_OK;
    }
    if (c == EOF || c == ':' || c == '{' || c == '}') {
        text->word[0] = '\0';
        if (c != EOF) {
            text->word[0] = (char)c;
        }
        text->word[1] = '\0';
        return WF_OK;
    }
    return wf_goal_text_bad(text, err, "a sign that is not expected (0x%02x)", (unsigned)c);
}

enum wf_status wf_goal_text_expect(struct wf_goal_text *text, const char *word,
                                   struct wf_err *err)
{
    if (strcmp(text->word, word) != 0) {
        return text->word[0] == '\0'
                   ? wf_goal_text_bad(text, err, "the file ends before '%s'; truncated?", word)
                   : wf_goal_text_bad(text, err, "expected '%s', found '%.40s'", word,
                                      text->word);
    }
    return wf_goal_text_next(text, err);
}

enum wf_status wf_goal_text_number(struct wf_goal_text *text, const char *unit, int64_t min,
                                   int64_t *value, struct wf_err *err)
{
    char *end = NULL;

    errno = 0;
    long long number = strtoll(text->word, &end, 10);
    if (end == text->word || (*end != '\0' && strcmp(end, unit) != 0) || errno != 0 ||
        number < min) {
        return text->word[0] == '\0'
                   ? wf_goal_text_bad(text, err, "the file ends before a number; truncated?")
                   : wf_goal_text_bad(text, err, "'%.40s' is no whole number from %" PRId64,
                                      text->word, min);
    }
    *value = number;
    return wf_goal_text_next(text, err);
}
