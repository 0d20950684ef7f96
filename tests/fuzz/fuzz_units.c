/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: no text may crash the number parsers; what one reads, it reads again from what the
 * formatter writes; what it refuses, it explains and leaves the value alone. */
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static void check_refusal(const struct wf_err *err, enum wf_status status)
{
    require(status == WF_EINVAL && err->status == WF_EINVAL);
    require(err->text[0] != '\0' && memchr(err->text, '\0', sizeof(err->text)) != NULL);
}

static void check_whole(const char *text,
                        enum wf_status (*parse)(const char *, uint64_t *, struct wf_err *),
                        char *(*format)(uint64_t, char *))
{
    char buf[WF_UNITS_TEXT_MAX];
    struct wf_err err = {.status = WF_OK};
    uint64_t value = 77, back = 78;
    enum wf_status status = parse(text, &value, &err);

    if (status == WF_OK) {
        require(parse(format(value, buf), &back, NULL) == WF_OK && back == value);
    } else {
        check_refusal(&err, status);
        require(value == 77);
    }
}

static void check_time(const char *text)
{
    char buf[WF_UNITS_TEXT_MAX];
    struct wf_err err = {.status = WF_OK};
    int64_t value = -77, back = -78;
    enum wf_status status = wf_parse_time(text, &value, &err);

    if (status == WF_OK) {
        require(value >= 0);
        require(wf_parse_time(wf_format_time(value, buf), &back, NULL) == WF_OK);
        require(back == value);
        require(strlen(wf_human_time(value, buf)) < WF_UNITS_TEXT_MAX);
    } else {
        check_refusal(&err, status);
        require(value == -77);
    }
}

static void check_real(const char *text)
{
    char buf[WF_UNITS_TEXT_MAX];
    struct wf_err err = {.status = WF_OK};
    double value = 77.0, back = 78.0;
    enum wf_status status = wf_parse_real(text, &value, &err);

    if (status == WF_OK) {
        require(wf_parse_real(wf_format_real(value, buf), &back, NULL) == WF_OK);
        require(back == value);
        require(strlen(wf_human_count(value, buf)) < WF_UNITS_TEXT_MAX);
    } else {
        check_refusal(&err, status);
        require(value == 77.0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[512];

    if (size >= sizeof(text)) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';

    check_whole(text, wf_parse_count, wf_format_count);
    check_whole(text, wf_parse_size, wf_format_size);
    check_whole(text, wf_parse_rate, wf_format_rate);
    check_time(text);
    check_real(text);
    return 0;
}
