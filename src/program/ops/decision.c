/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/decision.h"

#include "base/array.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *wf_decision_name(uint32_t kind)
{
    static const char *const names[] = {
#define X(name, text) [WF_DECISION_##name] = #text,
        WF_DECISION_MAP(X)
#undef X
    };

    return names[kind];
}

/* Reads a number that ends before `end`, and goes past that. */
static bool take_number(const char **at, char end, uint32_t *out)
{
    uint64_t value = 0;
    const char *begin = *at;

    for (; **at >= '0' && **at <= '9' && value <= INT32_MAX; (*at)++) {
        value = 10 * value + (uint64_t)(**at - '0');
    }
    bool is_number = *at > begin && value <= INT32_MAX && **at == end;
    *at += is_number && end != '\0';
    *out = (uint32_t)value;
    return is_number;
}

static bool read_word(const char *word, struct wf_fixed_decision *out)
{
    uint32_t outcome = 0;

    if (!take_number(&word, '.', &out->rank) || !take_number(&word, '=', &out->number)) {
        return false;
    }
    bool nothing = strcmp(word, "none") == 0;
    bool valid = nothing || take_number(&word, '\0', &outcome);
    out->outcome = nothing ? WF_DECISION_NOTHING : (int32_t)outcome;
    return valid;
}

static int compare(const void *one, const void *other)
{
    const struct wf_fixed_decision *a = one, *b = other;

    return a->rank != b->rank       ? (a->rank > b->rank) - (a->rank < b->rank)
           : a->number != b->number ? (a->number > b->number) - (a->number < b->number)
                                    : 0;
}

enum wf_status wf_schedule_parse(const char *text, struct wf_schedule *out, struct wf_err *err)
{
    static const char blanks[] = " \t\n,";
    struct wf_schedule schedule = {.n = 0};
    struct wf_fixed_decision fixed;
    char word[40];

    for (text += strspn(text, blanks); *text != '\0'; text += strspn(text, blanks)) {
        size_t length = strcspn(text, blanks);
        (void)snprintf(word, sizeof(word), "%.*s", (int)(length < 39 ? length : 39), text);
        text += length;
        if (strcmp(word, "default") == 0) {
            continue;
        }
        if (!read_word(word, &fixed)) {
            wf_schedule_fini(&schedule);
            return wf_err_set(err, WF_EUSAGE,
                              "run.schedule: '%s' is not of the form rank.number=outcome",
                              word);
        }
        WF_PUSH(schedule.items, schedule.n, schedule.capacity, fixed);
    }
    if (schedule.n > 0) {
        qsort(schedule.items, schedule.n, sizeof(fixed), compare);
    }
    *out = schedule;
    return WF_OK;
}

char *wf_schedule_text(const struct wf_schedule *schedule)
{
    enum { WORD = 40 };
    char *text = wf_xmalloc((schedule->n + 1) * WORD), *to = text;

    (void)snprintf(text, WORD, "default");
    for (size_t i = 0; i < schedule->n; i++) {
        const struct wf_fixed_decision *fixed = &schedule->items[i];
        to += snprintf(to, WORD, "%s%" PRIu32 ".%" PRIu32 "=", i > 0 ? " " : "", fixed->rank,
                       fixed->number);
        to += fixed->outcome == WF_DECISION_NOTHING
                  ? snprintf(to, WORD / 2, "none")
                  : snprintf(to, WORD / 2, "%" PRId32, fixed->outcome);
    }
    return text;
}

void wf_schedule_add(struct wf_schedule *schedule, const struct wf_decision *decision)
{
    if (decision->outcome >= WF_DECISION_NOTHING) {
        WF_PUSH(schedule->items, schedule->n, schedule->capacity,
                (struct wf_fixed_decision){decision->call.rank, decision->number,
                                           decision->outcome});
    }
}

void wf_schedule_fini(struct wf_schedule *schedule)
{
    free(schedule->items);
    *schedule = (struct wf_schedule){.n = 0};
}
