/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/changed.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>

enum { RULE_MAX = 128 };

struct changed {
    struct wf_source head; /* must be first */
    struct wf_changes changes;
};

/* ---- rules ---- */

static enum wf_status parse_value(bool of_compute, const char *text, uint64_t *out,
                                  struct wf_err *err)
{
    int64_t ps = 0;

    if (!of_compute) {
        return wf_parse_size(text, out, err);
    }
    WF_TRY(wf_parse_time(text, &ps, err));
    *out = (uint64_t)ps;
    return WF_OK;
}

static enum wf_status parse_rule(char *rule, struct wf_change *out)
{
    static const struct {
        const char *prefix;
        bool of_compute, at_least;
    } kinds[] = {
        {"compute>=", true, true},
        {"compute=", true, false},
        {"bytes>=", false, true},
        {"bytes=", false, false},
    };
    char *colon = strchr(rule, ':');

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && colon != NULL; i++) {
        size_t len = strlen(kinds[i].prefix);
        if (strncmp(rule, kinds[i].prefix, len) != 0) {
            continue;
        }
        *colon = '\0';
        *out = (struct wf_change){.of_compute = kinds[i].of_compute,
                                  .at_least = kinds[i].at_least};
        WF_TRY(parse_value(out->of_compute, rule + len, &out->limit, NULL));
        return parse_value(out->of_compute, colon + 1, &out->value, NULL);
    }
    return WF_EUSAGE;
}

enum wf_status wf_changes_parse(const char *text, struct wf_changes *out, struct wf_err *err)
{
    out->n = 0;
    for (const char *at = text; at[0] != '\0';) {
        size_t len = strcspn(at, ",");
        char rule[RULE_MAX];

        (void)snprintf(rule, sizeof(rule), "%.*s",
                       (int)(len < sizeof(rule) ? len : sizeof(rule) - 1), at);
        if (out->n == WF_CHANGES_MAX) {
            return wf_err_set(err, WF_ELIMIT, "more than %d changes", WF_CHANGES_MAX);
        }
        if (len >= sizeof(rule) || parse_rule(rule, &out->items[out->n]) != WF_OK) {
            return wf_err_set(err, WF_EUSAGE,
                              "'%.*s' is not a change; expected compute>=<time>:<time>, "
                              "compute=<time>:<time>, bytes>=<size>:<size> or "
                              "bytes=<size>:<size>",
                              (int)(len < 64 ? len : 64), at);
        }
        out->n++;
        at += len + (at[len] == ',' ? 1 : 0);
    }
    return WF_OK;
}

static bool applies(const struct wf_change *change, uint64_t value)
{
    return change->at_least ? value >= change->limit : value == change->limit;
}

static uint64_t changed_value(const struct wf_changes *changes, bool of_compute, uint64_t value)
{
    for (uint32_t i = 0; i < changes->n; i++) {
        const struct wf_change *change = &changes->items[i];
        if (change->of_compute == of_compute && applies(change, value)) {
            value = change->value;
        }
    }
    return value;
}

/* The room that messages of up to `room` bytes need after their changes. */
static uint64_t changed_room(const struct wf_changes *changes, uint64_t room)
{
    uint64_t most = room;

    for (uint32_t i = 0; i < changes->n; i++) {
        const struct wf_change *change = &changes->items[i];
        if (!change->of_compute && change->limit <= most && change->value > most) {
            most = change->value;
        }
    }
    return most;
}

/* ---- the source ---- */

/* Whether `bytes` is all that there is to know of the sizes of a collective. */
static bool has_one_size(const struct wf_op_info *info)
{
    static const enum wf_op_kind others[] = {
        WF_OP_GATHERV,           WF_OP_SCATTERV,       WF_OP_ALLGATHERV,
        WF_OP_ALLTOALLV,         WF_OP_REDUCE_SCATTER, WF_OP_NEIGHBOR_ALLGATHER,
        WF_OP_NEIGHBOR_ALLTOALL,
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (info->detail == wf_op_info(others[i])->detail) {
            return false;
        }
    }
    return info->family == WF_FAMILY_COLLECTIVE;
}

static void change_op(const struct wf_changes *changes, struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool is_recv = info->family == WF_FAMILY_RECV ||
                   (info->family == WF_FAMILY_PERSISTENT && info->detail == WF_PERSISTENT_RECV);
    bool is_sized = info->family == WF_FAMILY_SEND || info->family == WF_FAMILY_SENDRECV ||
                    info->family == WF_FAMILY_PERSISTENT || has_one_size(info);

    if (info->family == WF_FAMILY_COMPUTE) {
        op->duration = (int64_t)changed_value(changes, true, (uint64_t)op->duration);
    } else if (is_recv) {
        op->bytes = changed_room(changes, op->bytes);
    } else if (is_sized) {
        op->bytes = changed_value(changes, false, op->bytes);
    }
    if (info->family == WF_FAMILY_SENDRECV) {
        op->recv_bytes = changed_room(changes, op->recv_bytes);
    }
}

static bool changed_next(const struct wf_source *source, uint32_t rank,
                         struct wf_cursor *cursor, struct wf_op *op)
{
    const struct changed *self = (const struct changed *)source;

    if (!wf_source_next(source->inner, rank, cursor, op)) {
        return false;
    }
    change_op(&self->changes, op);
    return true;
}

static const struct wf_source_ops changed_ops = {
    .name = "changed",
    .summary = "another source with other compute times and sizes",
    .next = changed_next,
    .wall = wf_source_no_wall,
};

struct wf_source *wf_changed_new(struct wf_source *inner, const struct wf_changes *changes)
{
    struct changed *self = wf_source_around(sizeof(*self), &changed_ops, inner, true);

    self->changes = *changes;
    return &self->head;
}
