/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/cut/parse.h"

#include "base/units.h"
#include "program/ops/roi.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum wf_status bad(const char *option, const char *text, const char *expected,
                          struct wf_err *err)
{
    return wf_err_set(err, WF_EUSAGE, "--%s %.64s: expected %s", option, text, expected);
}

/* Splits "a:b", "a:" or ":b" into two texts of `size` bytes. */
static bool split(const char *text, char *first, char *second, size_t size)
{
    const char *colon = strchr(text, ':');

    if (colon == NULL || (size_t)(colon - text) >= size || strlen(colon + 1) >= size) {
        return false;
    }
    (void)snprintf(first, size, "%.*s", (int)(colon - text), text);
    (void)snprintf(second, size, "%s", colon + 1);
    return true;
}

enum wf_status wf_cut_parse_time(const char *text, struct wf_cut_options *options,
                                 struct wf_err *err)
{
    static const char expected[] = "two times, as in 1ms:2ms, the first before the second";
    char first[64], second[64];

    options->has_time = true;
    options->end = WF_TIME_MAX;
    if (!split(text, first, second, sizeof(first)) ||
        (first[0] != '\0' && wf_parse_time(first, &options->begin, NULL) != WF_OK) ||
        (second[0] != '\0' && wf_parse_time(second, &options->end, NULL) != WF_OK) ||
        options->begin >= options->end) {
        return bad("time", text, expected, err);
    }
    return WF_OK;
}

enum wf_status wf_cut_parse_iterations(const char *text, struct wf_cut_options *options,
                                       struct wf_err *err)
{
    struct wf_roi roi = {.region = NULL};
    enum wf_status status = wf_roi_parse_iterations(text, &roi, err);

    if (status != WF_OK) {
        wf_err_prefix(err, "--iterations: ");
        return status;
    }
    options->has_iterations = true;
    options->first = roi.first;
    options->last = roi.last;
    return WF_OK;
}

enum wf_status wf_cut_parse_ranks(const char *text, uint32_t n_ranks, bool *kept,
                                  struct wf_err *err)
{
    static const char expected[] = "ranks and ranges of ranks, as in 0-15,20";
    const char *at = text;

    while (*at != '\0') {
        char range[64], *end = NULL;
        size_t length = strcspn(at, ",");
        uint64_t first = 0, last = 0;

        if (length == 0 || length >= sizeof(range)) {
            return bad("ranks", text, expected, err);
        }
        (void)snprintf(range, sizeof(range), "%.*s", (int)length, at);
        end = strchr(range, '-');
        if (end != NULL) {
            *end++ = '\0';
        }
        if (wf_parse_count(range, &first, NULL) != WF_OK ||
            wf_parse_count(end != NULL ? end : range, &last, NULL) != WF_OK || first > last) {
            return bad("ranks", text, expected, err);
        }
        if (last >= n_ranks) {
            return wf_err_set(err, WF_EUSAGE,
                              "--ranks %.64s: the trace has the ranks 0 to %" PRIu32, text,
                              n_ranks - 1);
        }
        memset(kept + first, true, (size_t)(last - first + 1));
        at += length;
        at += *at == ',' && at[1] != '\0' ? 1 : 0;
        if (*at == ',') {
            return bad("ranks", text, expected, err);
        }
    }
    return text[0] == '\0' ? bad("ranks", text, expected, err) : WF_OK;
}
