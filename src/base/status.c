/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include "base/guard.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum wf_status wf_err_set(struct wf_err *err, enum wf_status status, const char *fmt, ...)
{
    if (err == NULL) {
        return status;
    }

    va_list ap;
    va_start(ap, fmt);
    err->status = status;
    (void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    return status;
}

void wf_err_prefix(struct wf_err *err, const char *fmt, ...)
{
    if (err == NULL) {
        return;
    }

    char words[WF_ERR_TEXT_MAX];
    memcpy(words, err->text, sizeof(words));

    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof(err->text)) {
        size_t room = sizeof(err->text) - (size_t)n;
        (void)snprintf(err->text + n, room, "%.*s", (int)room - 1, words);
    }
}

void wf_err_tame(struct wf_err *err)
{
    (void)wf_text_safe(err->text);
}

const char *wf_status_text(enum wf_status status)
{
    switch (status) {
#define X(name, text, exit_code) \
    case WF_##name:              \
        return text;
        WF_STATUS_MAP(X)
#undef X
    }
    return "unknown status";
}

int wf_status_exit_code(enum wf_status status)
{
    switch (status) {
#define X(name, text, exit_code) \
    case WF_##name:              \
        return exit_code;
        WF_STATUS_MAP(X)
#undef X
    }
    return 70;
}

void wf_panic(const char *fmt, ...)
{
    char text[WF_ERR_TEXT_MAX];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    wf_give_up(WF_EINTERNAL, "internal error: %s", text);
}
