/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: the input is lines of name=value. None may crash; what is set can be printed and
 * set again to the same; what is refused is explained. */
#include "base/param.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct settings {
    bool eager;
    uint64_t ranks;
    uint64_t packet_bytes;
    int64_t latency_ps;
    uint64_t bandwidth;
    double noise;
    int mapping;
    char *label;
};

#define ROW(row_name, row_type, row_member) \
    .name = (row_name), .type = (row_type), .offset = offsetof(struct settings, row_member)

static const char *const mappings[] = {"block", "cyclic", "random", NULL};

static const struct wf_param table[] = {
    {ROW("eager", WF_PARAM_BOOL, eager), .def = "true"},
    {ROW("ranks", WF_PARAM_COUNT, ranks), .min = "1", .max = "1000"},
    {ROW("packet", WF_PARAM_SIZE, packet_bytes), .def = "4KiB", .min = "64"},
    {ROW("latency", WF_PARAM_TIME, latency_ps), .def = "1us", .max = "1s"},
    {ROW("bandwidth", WF_PARAM_RATE, bandwidth), .def = "25GB/s"},
    {ROW("noise", WF_PARAM_REAL, noise), .def = "0", .min = "-0.5", .max = "0.5"},
    {ROW("mapping", WF_PARAM_ENUM, mapping), .def = "cyclic", .choices = mappings},
    {ROW("label", WF_PARAM_TEXT, label), .def = "none"},
    WF_PARAM_END,
};

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static void set_one(struct settings *settings, const char *name, const char *value)
{
    char first[WF_PARAM_TEXT_MAX], second[WF_PARAM_TEXT_MAX];
    struct wf_err err = {.status = WF_OK};

    if (wf_param_set(table, settings, "fuzz.", name, value, &err) != WF_OK) {
        require(err.status == WF_EUSAGE && err.text[0] != '\0');
        return;
    }

    const struct wf_param *row = wf_param_find(table, name);
    require(row != NULL);
    char *given = strdup(wf_param_format(row, settings, first));
    require(given != NULL);
    require(wf_param_set(table, settings, "", name, given, NULL) == WF_OK);
    require(strcmp(given, wf_param_format(row, settings, second)) == 0);
    free(given);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[4096];
    struct settings settings = {0};

    if (size >= sizeof(text)) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';

    require(wf_param_defaults(table, &settings, NULL) == WF_OK);
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *equals = strchr(line, '=');
        if (equals != NULL) {
            *equals = '\0';
            set_one(&settings, line, equals + 1);
        }
    }
    wf_param_release(table, &settings);
    return 0;
}
