/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/phrase.h"

#include "base/text.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void wf_phrase_add(struct wf_phrase *out, const char *fmt, ...)
{
    char *end = out->text + out->used;
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(end, sizeof(out->text) - out->used, fmt, ap);
    va_end(ap);
    if (n > 0) {
        (void)wf_text_safe(end); /* documents are foreign */
        size_t room = sizeof(out->text) - out->used - 1;
        out->used += (size_t)n < room ? (size_t)n : room;
    }
}

bool wf_phrase_ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), s = strlen(suffix);

    return n >= s && strcmp(name + n - s, suffix) == 0;
}

void wf_phrase_time(struct wf_phrase *out, uint64_t ps)
{
    char buf[WF_UNITS_TEXT_MAX];

    wf_phrase_add(out, "%s", wf_human_time(ps <= WF_TIME_MAX ? (int64_t)ps : WF_TIME_MAX, buf));
}

void wf_phrase_size(struct wf_phrase *out, uint64_t bytes)
{
    char buf[WF_UNITS_TEXT_MAX];

    wf_phrase_add(out, "%s", wf_human_size(bytes, buf));
}

/* 1234567 as "1,234,567". */
void wf_phrase_count(struct wf_phrase *out, uint64_t count)
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%" PRIu64, count);

    for (int i = 0; i < n; i++) {
        wf_phrase_add(out, "%s%c", i > 0 && (n - i) % 3 == 0 ? "," : "", digits[i]);
    }
}

void wf_phrase_real(struct wf_phrase *out, double real)
{
    char buf[WF_UNITS_TEXT_MAX];

    wf_phrase_add(out, "%s", wf_human_count(real, buf));
}

/* Whether the name is that of a limit, whose largest value stands for none: "eager_max". */
static bool is_limit(const char *name)
{
    return wf_phrase_ends_with(name, "_max") || wf_phrase_ends_with(name, "_limit");
}

/* Writes a single value. The end of its name, or of its parent's name, tells the unit. */
void wf_phrase_value(struct wf_phrase *out, const struct wf_value *value, const char *unit_name)
{
    switch (value->type) {
    case WF_VALUE_NULL:
        wf_phrase_add(out, "-");
        return;
    case WF_VALUE_BOOL:
        wf_phrase_add(out, "%s", value->truth ? "yes" : "no");
        return;
    case WF_VALUE_COUNT:
        if (wf_phrase_ends_with(unit_name, "_ps")) {
            wf_phrase_time(out, value->count);
        } else if (wf_phrase_ends_with(unit_name, "bytes")) {
            wf_phrase_size(out, value->count);
        } else if (is_limit(unit_name) && value->count == UINT64_MAX) {
            wf_phrase_add(out, "unlimited");
        } else {
            wf_phrase_count(out, value->count);
        }
        return;
    case WF_VALUE_REAL:
        wf_phrase_add(out, "%.10g%s", value->real,
                      wf_phrase_ends_with(unit_name, "_percent") ? " %" : "");
        return;
    case WF_VALUE_TEXT:
        wf_phrase_add(out, "%s",
                      is_limit(unit_name) && strcmp(value->text, "18446744073709551615") == 0
                          ? "unlimited"
                          : value->text);
        return;
    case WF_VALUE_SECTION:
    case WF_VALUE_LIST:
        return;
    }
}

void wf_phrase_number_of(struct wf_phrase *out, uint64_t count, const char *one,
                         const char *many)
{
    wf_phrase_count(out, count);
    wf_phrase_add(out, " %s", count == 1 ? one : many);
}

void wf_phrase_spread(struct wf_phrase *out, const struct wf_value *spread)
{
    uint64_t min = wf_doc_get_count(spread, "min", 0);
    uint64_t max = wf_doc_get_count(spread, "max", 0);

    wf_phrase_time(out, min);
    if (min == max) {
        wf_phrase_add(out, " each");
        return;
    }
    wf_phrase_add(out, " to ");
    wf_phrase_time(out, max);
    wf_phrase_add(out, ", mean ");
    wf_phrase_time(out, wf_doc_get_count(spread, "mean", 0));
}
