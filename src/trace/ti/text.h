/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_TI_TEXT_H
#define WF_TRACE_TI_TEXT_H

/* The lines of a time-independent trace, taken apart. */

#include "base/status.h"
#include "trace/ti/ti.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A file, or the one of its files that is read. */
struct wf_ti_text {
    FILE *in;
    char *path;
    uint64_t line, offset; /* of the line that was read: its number from 1, its first byte */
    uint64_t next;         /* byte of the next */
    char *text;
    size_t capacity;
    uint32_t rank;
    const struct wf_ti_action *action;
    char *rest; /* what of the line is not read yet */
};

WF_NODISCARD
enum wf_status wf_ti_text_open(struct wf_ti_text *text, const char *path, struct wf_err *err);
void wf_ti_text_close(struct wf_ti_text *text); /* zeroed is allowed */

/* Reads the next line that says something: whose action it is and which; *more is false if
 * there is none. */
WF_NODISCARD
enum wf_status wf_ti_text_next(struct wf_ti_text *text, bool *more, struct wf_err *err);

/* The next word of the line as a number; false if there is none. What is no number, or none of
 * the range, is WF_EINVAL. */
WF_NODISCARD
enum wf_status wf_ti_text_real(struct wf_ti_text *text, double *value, bool *has,
                               struct wf_err *err);
/* Likewise, a whole number from `min`. Missing is WF_EINVAL. */
WF_NODISCARD
enum wf_status wf_ti_text_whole(struct wf_ti_text *text, int64_t min, int64_t *value,
                                struct wf_err *err);

/* How many words there still are in the line. */
size_t wf_ti_text_words(const struct wf_ti_text *text);

/* WF_EINVAL with the file, the line and the rank before the words. */
WF_PRINTF(3, 4)
enum wf_status wf_ti_text_bad(const struct wf_ti_text *text, struct wf_err *err,
                              const char *fmt, ...);

#endif
