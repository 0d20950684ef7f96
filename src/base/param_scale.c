/* SPDX-License-Identifier: Apache-2.0 */
#include "base/param_scale.h"

#include "base/int128.h"
#include "base/param_groups.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_whole(enum wf_param_type type)
{
    return type == WF_PARAM_TIME || type == WF_PARAM_RATE || type == WF_PARAM_SIZE;
}

static bool is_list(enum wf_param_type type)
{
    return type == WF_PARAM_TIMES || type == WF_PARAM_RATES;
}

bool wf_param_scale_fits(const struct wf_param *row, const char *name)
{
    if (row->type == WF_PARAM_GROUPS) {
        return name[strlen(row->name)] == '.';
    }
    return is_whole(row->type) || is_list(row->type) || row->type == WF_PARAM_REAL;
}

/* The value of a bound of the row; `otherwise` if it has none. */
static uint64_t bound(const struct wf_param *row, const char *text, uint64_t otherwise)
{
    struct wf_param one[] = {*row, WF_PARAM_END};
    uint64_t value = otherwise;

    one[0].offset = 0;
    one[0].min = one[0].max = NULL;
    one[0].type = row->type == WF_PARAM_TIMES   ? WF_PARAM_TIME
                  : row->type == WF_PARAM_RATES ? WF_PARAM_RATE
                                                : row->type;
    if (text == NULL || wf_param_set(one, &value, "", row->name, text, NULL) != WF_OK) {
        return otherwise;
    }
    return value;
}

static uint64_t multiply(uint64_t value, uint64_t factor, uint64_t min, uint64_t max)
{
    wf_u128 product = ((wf_u128)value * factor + WF_PARAM_SCALE_ONE / 2) >> 32;
    uint64_t scaled = product > max ? max : (uint64_t)product;

    if (value == 0) {
        return 0;
    }
    scaled = scaled < min ? min : scaled;
    return scaled > 0 ? scaled : 1;
}

/* Multiplies a time, rate or size. */
static uint64_t scale_whole(const struct wf_param *row, uint64_t value, uint64_t factor)
{
    bool is_time = row->type == WF_PARAM_TIME || row->type == WF_PARAM_TIMES;
    /* The largest number stands for a word such as "unlimited". */
    uint64_t most = is_time ? (uint64_t)WF_TIME_MAX : UINT64_MAX - 1;

    if (value == WF_PARAM_WORD) {
        return value;
    }
    return multiply(value, factor, bound(row, row->min, 0), bound(row, row->max, most));
}

static double real_bound(const struct wf_param *row, const char *text, double otherwise)
{
    double value = otherwise;

    return text != NULL && wf_parse_real(text, &value, NULL) == WF_OK ? value : otherwise;
}

static double scale_real(const struct wf_param *row, double value, uint64_t factor)
{
    double scaled = value * ((double)factor / (double)WF_PARAM_SCALE_ONE);
    double min = real_bound(row, row->min, scaled);

    scaled = scaled < min ? min : scaled;
    double max = real_bound(row, row->max, scaled);
    return scaled > max ? max : scaled;
}

/* ---- values in groups ---- */

/* Finds the value called `name`, "<group>.<name>", and copies its text; false if it is not
 * there. */
static bool find_in_groups(const char *text, const char *name, char *out, size_t size)
{
    struct wf_param_groups_item item = {.group = NULL};
    const char *dot = strrchr(name, '.');
    size_t at = 0;

    while (dot != NULL && text != NULL && wf_param_groups_next(text, &at, &item)) {
        if (item.group_length == (size_t)(dot - name) &&
            memcmp(item.group, name, item.group_length) == 0 &&
            item.name_length == strlen(dot + 1) &&
            memcmp(item.name, dot + 1, item.name_length) == 0 && item.value_length < size) {
            (void)snprintf(out, size, "%.*s", (int)item.value_length, item.value);
            return true;
        }
    }
    return false;
}

/* Multiplies a text with a unit; false if it is not a number with one. */
static bool scale_text(const char *text, uint64_t factor, char *out)
{
    uint64_t whole;
    int64_t time;

    if (wf_parse_time(text, &time, NULL) == WF_OK) {
        (void)wf_format_time(
            (int64_t)multiply((uint64_t)time, factor, 0, (uint64_t)WF_TIME_MAX), out);
    } else if (wf_parse_rate(text, &whole, NULL) == WF_OK) {
        (void)wf_format_rate(multiply(whole, factor, 0, UINT64_MAX), out);
    } else if (wf_parse_size(text, &whole, NULL) == WF_OK) {
        (void)wf_format_size(multiply(whole, factor, 0, UINT64_MAX), out);
    } else {
        return false;
    }
    return true;
}

static void scale_in_groups(const struct wf_param *row, const char *name, char **text,
                            uint64_t factor)
{
    const char *inside = name + strlen(row->name) + 1;
    char before[WF_UNITS_TEXT_MAX], after[WF_UNITS_TEXT_MAX];

    if (!find_in_groups(*text, inside, before, sizeof(before)) ||
        !scale_text(before, factor, after)) {
        return;
    }
    char *all = wf_param_groups_put(*text, inside, after, "", NULL);
    if (all != NULL) {
        free(*text);
        *text = all;
    }
}

/* ---- all kinds ---- */

bool wf_param_scale_matters(const struct wf_param *row, const char *name, const void *params)
{
    const char *at = (const char *)params + row->offset;
    char before[WF_UNITS_TEXT_MAX], after[WF_UNITS_TEXT_MAX];

    if (row->type == WF_PARAM_GROUPS) {
        return find_in_groups(*(char *const *)(const void *)at, name + strlen(row->name) + 1,
                              before, sizeof(before)) &&
               scale_text(before, 2 * WF_PARAM_SCALE_ONE, after) && strcmp(before, after) != 0;
    }
    if (row->type == WF_PARAM_REAL) {
        return *(const double *)(const void *)at > 0 || *(const double *)(const void *)at < 0;
    }
    if (is_list(row->type)) {
        const struct wf_list *list = (const void *)at;
        bool any = false;
        for (size_t i = 0; i < list->n; i++) {
            any |= list->items[i] != 0 && list->items[i] != WF_PARAM_WORD;
        }
        return any;
    }
    uint64_t value = *(const uint64_t *)(const void *)at;
    return value != 0 && value != WF_PARAM_WORD;
}

void wf_param_scale(const struct wf_param *row, const char *name, void *params, uint64_t factor)
{
    void *at = (char *)params + row->offset;

    if (row->type == WF_PARAM_GROUPS) {
        scale_in_groups(row, name, at, factor);
    } else if (row->type == WF_PARAM_REAL) {
        *(double *)at = scale_real(row, *(double *)at, factor);
    } else if (is_list(row->type)) {
        struct wf_list *list = at;
        for (size_t i = 0; i < list->n; i++) {
            list->items[i] = scale_whole(row, list->items[i], factor);
        }
    } else if (is_whole(row->type)) {
        *(uint64_t *)at = scale_whole(row, *(uint64_t *)at, factor);
    }
}
