/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_SIM_MACHINE_READER_H
#define WF_SIM_MACHINE_READER_H

/* What the parts that read a machine file share: a file on its way into settings. */

#include "sim/machine.h"
#include "sim/machine_file.h"
#include "sim/yaml.h"

struct wf_machine_reader {
    struct wf_machine *machine;
    const struct wf_machine_file *file;
    const struct wf_yaml *network; /* what the file says of it; null if nothing */
    bool included;                 /* by another file */
    const char *model;             /* the network model this file names; null if none */
};

/* Puts the place in the file before the words of a failure, which becomes WF_EINVAL. */
enum wf_status wf_machine_blame(const struct wf_machine_reader *reader, struct wf_yaml_place at,
                                struct wf_err *err);

/* WF_EINVAL, with the place, unless the node is of that kind. */
WF_NODISCARD
enum wf_status wf_machine_expect(const struct wf_machine_reader *reader,
                                 const struct wf_yaml *node, enum wf_yaml_kind kind,
                                 struct wf_err *err);

/* WF_EINVAL for a key that nobody knows; `known` are those that would be right,
 * null-terminated, `row` more of them or null. */
enum wf_status wf_machine_unknown_key(const struct wf_machine_reader *reader,
                                      const struct wf_yaml *node, const char *const *known,
                                      const struct wf_param *row, struct wf_err *err);

/* The value in a mapping; null if there is none, or if `map` is null or no mapping. */
const struct wf_yaml *wf_machine_get(const struct wf_yaml *map, const char *key);

/* The text of a scalar, or of the scalars of a list with the separator between them, to be
 * freed by the caller; null, and words in `err`, if it is neither. */
char *wf_machine_join(const struct wf_machine_reader *reader, const struct wf_yaml *node,
                      char separator, struct wf_err *err);

/* Makes a setting of what stands at `at`; its value is taken. The origin is what the user wrote
 * ("network.L"), of which the key may be another form. */
WF_NODISCARD
enum wf_status wf_machine_emit(const struct wf_machine_reader *reader, const char *key,
                               const char *origin, char *value, struct wf_yaml_place at,
                               struct wf_err *err);

/* Reads `topology`: a spec, a mapping, a list of such. */
WF_NODISCARD
enum wf_status wf_machine_read_topology(struct wf_machine_reader *reader,
                                        const struct wf_yaml *node, struct wf_err *err);

#endif
