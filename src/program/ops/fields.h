/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The layout of each kind of op: which members it uses, in the order of trace files. The order
 * is part of the file format (docs/reference/trace-format.md). A new field may be added at the
 * end of a layout without arrays; any other change needs a new version of the format.
 */

#include "program/ops/source.h"

#include <stddef.h>

enum {
    WF_FIELDS_MAX = 10, /* of one kind */
    WF_ARRAYS_MAX = 4,
};

enum wf_op_field_width { WF_FIELD_32, WF_FIELD_64, WF_FIELD_BOOL };

struct wf_op_field {
    const char *name;
    uint16_t offset; /* in struct wf_op */
    uint8_t width;   /* enum wf_op_field_width */
};

struct wf_op_array {
    const char *name;
    uint16_t offset; /* of the pointer */
    uint8_t width;   /* of an element: WF_FIELD_32 or WF_FIELD_64 */
};

enum wf_op_layout_flag { WF_HAS_COMM = 1, WF_HAS_ROOT = 2, WF_HAS_RECORD = 4, WF_HAS_SET = 8 };

struct wf_op_layout {
    uint8_t shape; /* enum wf_op_shape of program/ops/fields_inline.h */
    uint8_t flags;
    uint8_t n_fields, n_arrays;
    struct wf_op_field fields[WF_FIELDS_MAX];
    struct wf_op_array arrays[WF_ARRAYS_MAX];
};

/* The members that an op uses. The value of a 32-bit member is its bits. */
struct wf_op_parts {
    const struct wf_op_layout *layout;
    uint64_t values[WF_FIELDS_MAX];
    const void *arrays[WF_ARRAYS_MAX]; /* or null */
    uint32_t lengths[WF_ARRAYS_MAX];
};

const struct wf_op_layout *wf_op_layout_of(enum wf_op_kind kind);

/* The layout in files of a version before 3. */
const struct wf_op_layout *wf_op_layout_before_3(enum wf_op_kind kind);

/* Takes an op apart. `comm_size` is the number of ranks in its communicator: the length of some
 * arrays. Members that this op does not use, such as the match of a receive that is not
 * recorded, become 0, so that equal ops have equal parts. */
void wf_op_take_apart(const struct wf_op *op, uint32_t comm_size, struct wf_op_parts *parts);

/* The number of elements of an array of the op, if the array is not null. */
uint32_t wf_op_length(const struct wf_op *op, const struct wf_op_array *array,
                      uint32_t comm_size);

/* Null, or a text that says which member of the op is wrong. `group` is the communicator; null
 * if the rank does not have it. */
const char *wf_op_fault(const struct wf_op *op, const struct wf_group *group);

/* Whether ops of this kind use the member `comm`. */
bool wf_op_has_comm(enum wf_op_kind kind);
