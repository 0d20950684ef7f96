/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A machine file that is being turned into settings; shared by the files that do it. */

#include "sim/machine.h"
#include "sim/machine_file.h"
#include "sim/yaml.h"

struct wf_machine_reader {
    struct wf_machine *machine;
    const struct wf_machine_file *file;
    const struct wf_yaml *network; /* its key `network`; null if there is none */
    bool included;                 /* by another file */
    const char *model;             /* the network model this file names; null if none */
};

/* Puts the place in the file before the message of a failure, which becomes WF_EINVAL. */
enum wf_status wf_machine_blame(const struct wf_machine_reader *reader, struct wf_yaml_place at,
                                struct wf_err *err);

/* WF_EINVAL, with the place, unless the node is of that kind. */
WF_NODISCARD
enum wf_status wf_machine_expect(const struct wf_machine_reader *reader,
                                 const struct wf_yaml *node, enum wf_yaml_kind kind,
                                 struct wf_err *err);

/* WF_EINVAL for an unknown key. `known` are valid keys, null-terminated; `row` is a table of
 * more of them, or null. */
enum wf_status wf_machine_unknown_key(const struct wf_machine_reader *reader,
                                      const struct wf_yaml *node, const char *const *known,
                                      const struct wf_param *row, struct wf_err *err);

/* The value in a mapping; null if there is none, or if `map` is null or no mapping. */
const struct wf_yaml *wf_machine_get(const struct wf_yaml *map, const char *key);

/* The text of a scalar, or of the scalars of a list with the separator between them, to be
 * freed by the caller; null, with a message in `err`, if it is neither. */
char *wf_machine_join(const struct wf_machine_reader *reader, const struct wf_yaml *node,
                      char separator, struct wf_err *err);

/* Adds a setting that stands at `at` in the file; takes ownership of its value. The origin is
 * the name that the user wrote ("network.L"). */
WF_NODISCARD
enum wf_status wf_machine_emit(const struct wf_machine_reader *reader, const char *key,
                               const char *origin, char *value, struct wf_yaml_place at,
                               struct wf_err *err);

/* Reads `topology`: a spec, a mapping, a list of such. */
WF_NODISCARD
enum wf_status wf_machine_read_topology(struct wf_machine_reader *reader,
                                        const struct wf_yaml *node, struct wf_err *err);
