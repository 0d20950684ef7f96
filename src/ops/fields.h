/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_OPS_FIELDS_H
#define WF_OPS_FIELDS_H

/*
 * Which members of an op mean something, by kind, in a fixed order: what a trace file holds of
 * it. The orders are part of the file format (docs/reference/trace-format.md): to those of
 * kinds that exist fields may be added at the end, if there are no arrays behind; anything else
 * needs another version.
 */

#include "ops/source.h"

#include <stddef.h>

enum {
    WF_FIELDS_MAX = 10, /* of a kind */
    WF_ARRAYS_MAX = 4,  /* likewise */
};

enum wf_field_width { WF_FIELD_32, WF_FIELD_64, WF_FIELD_BOOL };

struct wf_field {
    const char *name;
    uint16_t offset; /* in struct wf_op */
    uint8_t width;   /* enum wf_field_width */
};

struct wf_array {
    const char *name;
    uint16_t offset; /* of the pointer */
    uint8_t width;   /* of an element: WF_FIELD_32 or WF_FIELD_64 */
};

enum wf_layout_flag { WF_HAS_COMM = 1, WF_HAS_ROOT = 2, WF_HAS_RECORD = 4, WF_HAS_SET = 8 };

struct wf_layout {
    uint8_t shape; /* the implementation's own */
    uint8_t flags;
    uint8_t n_fields, n_arrays;
    struct wf_field fields[WF_FIELDS_MAX];
    struct wf_array arrays[WF_ARRAYS_MAX];
};

/* An op taken apart. Values of 32-bit members are their bits. */
struct wf_parts {
    const struct wf_layout *layout;
    uint64_t values[WF_FIELDS_MAX];
    const void *arrays[WF_ARRAYS_MAX]; /* or null */
    uint32_t lengths[WF_ARRAYS_MAX];
};

const struct wf_layout *wf_layout_of(enum wf_op_kind kind);

/* ...as it was in files of versions before 3. */
const struct wf_layout *wf_layout_before_3(enum wf_op_kind kind);

/* Takes an op of a rank apart; `comm_size` is the number of ranks in its communicator, which
 * says how long some arrays are. Members that mean nothing in this op (the match of a receive
 * that is not recorded) become 0, so that equal ops have equal parts. */
void wf_op_take_apart(const struct wf_op *op, uint32_t comm_size, struct wf_parts *parts);

/* How many elements an array of the op has, unless it is null. */
uint32_t wf_op_length(const struct wf_op *op, const struct wf_array *array, uint32_t comm_size);

/* What is wrong with the values of an op, as a text that names the member; null if nothing.
 * `group` is its communicator, null if the rank has no such one. */
const char *wf_op_fault(const struct wf_op *op, const struct wf_group *group);

/* Whether the member `comm` of this kind means something. */
bool wf_op_has_comm(enum wf_op_kind kind);

#endif
