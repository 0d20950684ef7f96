/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/ti/text.h"

#include "base/mem.h"
#include "trace/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BLANKS    " \t\r\n"
#define WHOLE_MAX 9.0e15 /* so far every whole number is a double */

enum wf_status wf_ti_text_bad(const struct wf_ti_text *text, struct wf_err *err,
                              const char *fmt, ...)
{
    char words[256];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    return wf_err_set(err, WF_EINVAL,
                      "%.200s: line %" PRIu64 " (byte %" PRIu64 "), rank %" PRIu32 ": %s",
                      text->path, text->line, text->offset, text->rank, words);
}

enum wf_status wf_ti_text_open(struct wf_ti_text *text, const char *path, struct wf_err *err)
{
    struct stat st;

    *text = (struct wf_ti_text){.line = 0};
    bool is_file = stat(path, &st) == 0 && S_ISREG(st.st_mode);
    text->in = is_file ? fopen(path, "rbe") : NULL;
    if (text->in == NULL) {
        return wf_err_set(err, WF_EIO, "cannot read '%.300s': %s", path,
                          is_file || errno == ENOENT ? strerror(errno) : "it is no file");
    }
    text->path = wf_xstrdup(path);
    return WF_OK;
}

void wf_ti_text_close(struct wf_ti_text *text)
{
    if (text->in != NULL) {
        (void)fclose(text->in);
    }
    free(text->path);
    free(text->text);
    *text = (struct wf_ti_text){.line = 0};
}

/* The next word and its length; null if there is none. */
static char *take_word(struct wf_ti_text *text, size_t *length)
{
    char *word = text->rest + strspn(text->rest, BLANKS);

    *length = strcspn(word, BLANKS);
    text->rest = word + *length;
    return *length > 0 ? word : NULL;
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

enum wf_status wf_ti_text_real(struct wf_ti_text *text, double *value, bool *has,
                               struct wf_err *err)
{
    size_t length = 0;
    char *word = take_word(text, &length);
    char *end = NULL;

    *has = word != NULL;
    if (word == NULL) {
        return WF_OK;
    }
    double number = strtod(word, &end);
    if (end != word + length || !isfinite(number)) {
        return wf_ti_text_bad(text, err, "'%.*s' is no number",
                              (int)(length < 40 ? length : 40), word);
    }
    *value = number;
    return WF_OK;
}

enum wf_status wf_ti_text_whole(struct wf_ti_text *text, int64_t min, int64_t *value,
                                struct wf_err *err)
{
    double number = 0;
    bool has = false;

    enum wf_status status = wf_ti_text_real(text, &number, &has, err);
    if (status != WF_OK) {
        return status;
    }
    if (!has) {
        return wf_ti_text_bad(text, err, "%s: an argument is missing", text->action->name);
    }
    if (number < (double)min || number > WHOLE_MAX || floor(number) != number) {
        return wf_ti_text_bad(text, err, "%s: %g is no whole number from %lld",
                              text->action->name, number, (long long)min);
    }
    *value = (int64_t)number;
    return WF_OK;
}

static enum wf_status read_action(struct wf_ti_text *text, struct wf_err *err)
{
    size_t length = 0;
    char *word = take_word(text, &length), *end = NULL;

    errno = 0;
    unsigned long long rank = strtoull(word, &end, 10);
    if (end != word + length || *word == '-' || errno != 0 || rank >= WF_RANKS_MAX) {
        return wf_ti_text_bad(text, err, "a line begins with a rank, not with '%.*s'",
                              (int)(length < 40 ? length : 40), word);
    }
    text->rank = (uint32_t)rank;
    word = take_word(text, &length);
    if (word == NULL) {
        return wf_ti_text_bad(text, err, "a rank without an action");
    }
    text->action = wf_ti_find(word, length);
    if (text->action == NULL) {
        return wf_ti_text_bad(text, err, "unknown action '%.*s'",
                              (int)(length < 40 ? length : 40), word);
    }
    return WF_OK;
}

enum wf_status wf_ti_text_next(struct wf_ti_text *text, bool *more, struct wf_err *err)
{
    ssize_t n;

    do {
        n = getline(&text->text, &text->capacity, text->in);
        *more = n > 0;
        if (!*more) {
            return WF_OK;
        }
        text->line++;
        text->offset = text->next;
        text->next += (uint64_t)n;
        text->rest = text->text;
        if (memchr(text->text, '\0', (size_t)n) != NULL) {
            return wf_ti_text_bad(text, err, "the line has a byte that is no text");
        }
    } while (text->text[strspn(text->text, BLANKS)] == '\0');
    return read_action(text, err);
}
