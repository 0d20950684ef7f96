/* SPDX-License-Identifier: Apache-2.0 */
#include "base/param_groups.h"

#include "base/buf.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_same(const char *a, size_t a_length, const char *b, size_t b_length)
{
    return a_length == b_length && memcmp(a, b, a_length) == 0;
}

/* Finds the parts of the item of `length` bytes; false if it has not all of them. */
static bool split(const char *text, size_t length, struct wf_param_groups_item *item)
{
    const char *equals = memchr(text, '=', length), *end = text + length;
    const char *colon = equals != NULL ? memchr(text, ':', (size_t)(equals - text)) : NULL;

    if (equals == NULL) {
        return false;
    }
    if (colon != NULL) {
        item->group = text;
        item->group_length = (size_t)(colon - text);
    }
    item->name = colon != NULL ? colon + 1 : text;
    item->name_length = (size_t)(equals - item->name);
    item->value = equals + 1;
    item->value_length = (size_t)(end - item->value);
    return item->group_length > 0 && item->name_length > 0 && item->value_length > 0;
}

bool wf_param_groups_next(const char *text, size_t *at, struct wf_param_groups_item *item)
{
    size_t length = strcspn(text + *at, ",");

    if (length == 0) {
        return false;
    }
    (void)split(text + *at, length, item);
    *at += length + (text[*at + length] == ',' ? 1 : 0);
    return true;
}

static bool is_name(const char *text, size_t length, const char *more)
{
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)text[i]) && strchr(more, text[i]) == NULL) {
            return false;
        }
    }
    return length > 0;
}

static enum wf_status check_item(const struct wf_param_groups_item *item, const char *syntax,
                                 struct wf_err *err)
{
    if (!is_name(item->group, item->group_length, "_+-.")) {
        return wf_err_set(err, WF_EINVAL, "'%.*s' is no name; expected %s",
                          (int)(item->group_length < 64 ? item->group_length : 64), item->group,
                          syntax);
    }
    if (!is_name(item->name, item->name_length, "_")) {
        return wf_err_set(err, WF_EINVAL, "'%.*s' is no name; expected %s",
                          (int)(item->name_length < 64 ? item->name_length : 64), item->name,
                          syntax);
    }
    for (size_t i = 0; i < item->value_length; i++) {
        if (strchr(",:=", item->value[i]) != NULL) {
            return wf_err_set(err, WF_EINVAL, "'%.*s': a value has no '%c'; expected %s",
                              (int)(item->value_length < 64 ? item->value_length : 64),
                              item->value, item->value[i], syntax);
        }
    }
    return WF_OK;
}

/* Appends an item after one of the group `last`. */
static void append(struct wf_buf *buf, const struct wf_param_groups_item *last,
                   const struct wf_param_groups_item *item)
{
    if (buf->size > 0) {
        wf_buf_append(buf, ",", 1);
    }
    if (!is_same(last->group, last->group_length, item->group, item->group_length)) {
        wf_buf_append(buf, item->group, item->group_length);
        wf_buf_append(buf, ":", 1);
    }
    wf_buf_append(buf, item->name, item->name_length);
    wf_buf_append(buf, "=", 1);
    wf_buf_append(buf, item->value, item->value_length);
}

/* The text with the item: in the place of the old one, at the end of its group, or at the end.
 * *was_there tells whether there was an old one. */
static char *put(const char *text, const struct wf_param_groups_item *item, bool *was_there)
{
    struct wf_buf buf = {.data = NULL};
    struct wf_param_groups_item one = {.group = ""}, last = {.group = ""};
    bool is_done = false;
    size_t at = 0;

    *was_there = false;
    while (wf_param_groups_next(text, &at, &one)) {
        bool was_group =
            is_same(last.group, last.group_length, item->group, item->group_length);
        bool is_group = is_same(one.group, one.group_length, item->group, item->group_length);
        bool is_item =
            is_group && is_same(one.name, one.name_length, item->name, item->name_length);
        if (was_group && !is_group && !is_done) {
            append(&buf, &last, item);
            is_done = true;
        }
        append(&buf, &last, is_item ? item : &one);
        *was_there = *was_there || is_item;
        is_done = is_done || is_item;
        last = one;
    }
    if (!is_done) {
        append(&buf, &last, item);
    }
    wf_buf_append(&buf, "", 1);
    return (char *)buf.data;
}

char *wf_param_groups_read(const char *text, const char *syntax, struct wf_err *err)
{
    struct wf_param_groups_item item = {.group = ""};
    char *all = wf_xstrdup("");
    bool twice = false;

    for (size_t at = 0; text[0] != '\0' && at <= strlen(text);) {
        size_t length = strcspn(text + at, ",");
        enum wf_status status = WF_OK;
        if (!split(text + at, length, &item)) {
            status = wf_err_set(err, WF_EINVAL, "'%.*s': expected %s",
                                (int)(length < 64 ? length : 64), text + at, syntax);
        } else {
            status = check_item(&item, syntax, err);
        }
        if (status != WF_OK) {
            free(all);
            return NULL;
        }
        char *more = put(all, &item, &twice);
        free(all);
        all = more;
        if (twice) {
            (void)wf_err_set(err, WF_EINVAL, "%.*s of %.*s is given twice",
                             (int)(item.name_length < 64 ? item.name_length : 64), item.name,
                             (int)(item.group_length < 64 ? item.group_length : 64),
                             item.group);
            free(all);
            return NULL;
        }
        at += length + 1;
    }
    return all;
}

char *wf_param_groups_put(const char *text, const char *name, const char *value,
                          const char *syntax, struct wf_err *err)
{
    const char *dot = strrchr(name, '.');
    bool was_there = false;

    if (dot == NULL) {
        (void)wf_err_set(err, WF_EINVAL, "'%.64s' is not complete; expected %s", name, syntax);
        return NULL;
    }
    const struct wf_param_groups_item item = {
        .group = name,
        .group_length = (size_t)(dot - name),
        .name = dot + 1,
        .name_length = strlen(dot + 1),
        .value = value,
        .value_length = strlen(value),
    };
    if (item.value_length == 0) {
        (void)wf_err_set(err, WF_EINVAL, "a value is missing");
        return NULL;
    }
    return check_item(&item, syntax, err) == WF_OK ? put(text, &item, &was_there) : NULL;
}
