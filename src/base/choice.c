/* SPDX-License-Identifier: Apache-2.0 */
#include "base/choice.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a number at *at and moves *at behind it. */
static bool read_rank(const char **at, uint32_t *rank)
{
    char *end;

    if (**at < '0' || **at > '9') {
        return false;
    }
    unsigned long long value = strtoull(*at, &end, 10);
    *at = end;
    *rank = (uint32_t)value;
    return value < UINT32_MAX;
}

/* Adds a range; merges it with the ranges that it overlaps or touches. */
static bool add_range(struct wf_choice *choice, struct wf_rank_range range)
{
    uint32_t at = 0, n = choice->n_ranges;
    struct wf_rank_range *list = choice->ranges;

    while (at < n && (uint64_t)list[at].last + 1 < range.first) {
        at++;
    }
    uint32_t end = at;
    while (end < n && list[end].first <= (uint64_t)range.last + 1) {
        range.first = list[end].first < range.first ? list[end].first : range.first;
        range.last = list[end].last > range.last ? list[end].last : range.last;
        end++;
    }
    if (n + 1 - (end - at) > WF_CHOICE_RANGES) {
        return false;
    }
    memmove(&list[at + 1], &list[end], (n - end) * sizeof(*list));
    list[at] = range;
    choice->n_ranges = n + 1 - (end - at);
    return true;
}

enum wf_status wf_choice_ranks(const char *option, const char *text, struct wf_choice *choice,
                               struct wf_err *err)
{
    choice->n_ranges = 0;
    for (const char *at = text;; at++) {
        struct wf_rank_range range;
        bool good = read_rank(&at, &range.first);

        range.last = range.first;
        if (good && (*at == ':' || *at == '-')) {
            at++;
            good = read_rank(&at, &range.last) && range.first <= range.last;
        }
        if (!good || (*at != '\0' && *at != ',')) {
            return wf_err_set(err, WF_EUSAGE,
                              "%s '%.64s': expected ranks and ranges of ranks, as in 0:15,20",
                              option, text);
        }
        if (!add_range(choice, range)) {
            return wf_err_set(err, WF_EUSAGE, "%s: more than %d ranges of ranks", option,
                              WF_CHOICE_RANGES);
        }
        if (*at == '\0') {
            return WF_OK;
        }
    }
}

enum wf_status wf_choice_time(const char *option, const char *text, struct wf_choice *choice,
                              struct wf_err *err)
{
    const char *colon = strchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : 0;
    char first[32] = "";
    bool good = colon != NULL && length < sizeof(first);

    if (good) {
        memcpy(first, text, length);
    }
    choice->from = 0;
    choice->until = INT64_MAX;
    if (!good || (length > 0 && wf_parse_time(first, &choice->from, NULL) != WF_OK) ||
        (colon[1] != '\0' && wf_parse_time(colon + 1, &choice->until, NULL) != WF_OK) ||
        choice->from >= choice->until) {
        return wf_err_set(
            err, WF_EUSAGE,
            "%s '%.64s': expected two times, as in 1ms:2ms, the first before the second",
            option, text);
    }
    return WF_OK;
}

char *wf_choice_words(const struct wf_choice *choice, char *buf)
{
    size_t used = 0;

    buf[0] = '\0';
    for (uint32_t i = 0; i < choice->n_ranges; i++) {
        const struct wf_rank_range *range = &choice->ranges[i];
        int n = range->first == range->last
                    ? snprintf(buf + used, WF_CHOICE_TEXT_MAX - used, "%s%" PRIu32,
                               i == 0 ? "" : ",", range->first)
                    : snprintf(buf + used, WF_CHOICE_TEXT_MAX - used, "%s%" PRIu32 ":%" PRIu32,
                               i == 0 ? "" : ",", range->first, range->last);
        used += (size_t)n;
    }
    return buf;
}

bool wf_choice_has_any(const struct wf_choice *choice, uint64_t first, uint64_t n)
{
    bool found = choice->n_ranges == 0;

    for (uint32_t i = 0; i < choice->n_ranges && !found; i++) {
        found = first <= choice->ranges[i].last && first + n > choice->ranges[i].first;
    }
    return found;
}

bool wf_choice_has_rank(const struct wf_choice *choice, uint64_t rank)
{
    return wf_choice_has_any(choice, rank, 1);
}
