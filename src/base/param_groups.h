/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The text of a parameter of type WF_PARAM_GROUPS: values with a name in a group.
 *
 *   text  = [ item { "," item } ]
 *   item  = [ group ":" ] name "=" value      without a group: that of the item before it
 *
 * as in "global:latency=500ns,bandwidth=25GB/s,local:latency=20ns". Names of groups may have
 * dots. The same value alone is the parameter <group>.<name>. No two items have the same group
 * and name.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* An item; its parts point into the text and do not end with a NUL. */
struct wf_param_groups_item {
    const char *group, *name, *value;
    size_t group_length, name_length, value_length;
};

/* Reads the next item from *at (0 at first) and moves *at past it; false at the end. The text
 * is one that the functions below returned, and `item` is the previous one. */
bool wf_param_groups_next(const char *text, size_t *at, struct wf_param_groups_item *item);

/* Checks a text that a user wrote. Returns its normal form, which the caller frees: items of a
 * group are together. Null, with a message in `err` that shows `syntax`, if the text is wrong
 * or an item is given twice. */
char *wf_param_groups_read(const char *text, const char *syntax, struct wf_err *err);

/* Sets the value called `name`, "<group>.<name>", in a text of normal form. Returns the new
 * text, which the caller frees; null, with a message, if the name or the value is not valid. */
char *wf_param_groups_put(const char *text, const char *name, const char *value,
                          const char *syntax, struct wf_err *err);
