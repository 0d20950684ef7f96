/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Turns a machine file into settings; shared by the files that do so. */

#include "model/topo/nested.h"
#include "run/machine/file.h"
#include "run/machine/machine.h"
#include "run/machine/yaml.h"

struct wf_machine_reader {
    struct wf_machine *machine;
    const struct wf_machine_file *file;
    const struct wf_yaml *network; /* the file's key `network`; null if there is none */
    bool included;                 /* included by another file */
    const char *model;             /* the network model this file names; null if none */
    size_t n_levels;               /* levels of the topology; 0 if the file has none... */
    const struct wf_yaml
        *level_links[WF_TOPO_NESTED_LEVELS_MAX]; /* ...and their keys `links` */
};

/* Puts the place in the file in front of an error message. The status becomes WF_EINVAL. */
enum wf_status wf_machine_blame(const struct wf_machine_reader *reader, struct wf_yaml_place at,
                                struct wf_err *err);

/* "bgp.yaml:12:3", for the caller to free. */
char *wf_machine_place(const struct wf_machine_reader *reader, struct wf_yaml_place at);

/* WF_EINVAL, with the place, unless the node has that kind. */
enum wf_status wf_machine_expect(const struct wf_machine_reader *reader,
                                 const struct wf_yaml *node, enum wf_yaml_kind kind,
                                 struct wf_err *err);

/* WF_EINVAL for an unknown key. `known` is the null-terminated list of valid keys; `row` is a
 * table with more of them, or null. */
enum wf_status wf_machine_unknown_key(const struct wf_machine_reader *reader,
                                      const struct wf_yaml *node, const char *const *known,
                                      const struct wf_param *row, struct wf_err *err);

/* The text of a scalar, or the scalars of a list joined by the separator; the caller frees it.
 * Null, with a message in `err`, if the node is neither. */
char *wf_machine_join(const struct wf_machine_reader *reader, const struct wf_yaml *node,
                      char separator, struct wf_err *err);

/* Adds a setting whose place in the file is `at`; takes ownership of its value. Its origin is
 * the name that the user wrote ("network.L"). */
enum wf_status wf_machine_emit(const struct wf_machine_reader *reader, const char *key,
                               const char *origin, char *value, struct wf_yaml_place at,
                               struct wf_err *err);

/* Reads the link classes under `network` and in the levels of the topology. To be called after
 * the topology was read: the settings belong to it, so they follow it. */
enum wf_status wf_machine_read_links(const struct wf_machine_reader *reader,
                                     struct wf_err *err);

/* Reads `topology`: a spec, a mapping, or a list of them. */
enum wf_status wf_machine_read_topology(struct wf_machine_reader *reader,
                                        const struct wf_yaml *node, struct wf_err *err);

/* Reads `published`, a list of measurements. Those of included files are only checked. */
enum wf_status wf_machine_read_published(struct wf_machine_reader *reader,
                                         const struct wf_yaml *node, struct wf_err *err);

/* Reads an item of a list, a mapping of the parameters of `table`, into `entry`, which the
 * caller releases with wf_param_release(), also after an error. Messages call them `prefix` and
 * their name. */
enum wf_status wf_machine_read_entry(const struct wf_machine_reader *reader,
                                     const struct wf_yaml *node, const char *prefix,
                                     const struct wf_param *table, void *entry,
                                     struct wf_err *err);

/* Reads `residuals`, a list; those of included files are only checked. */
enum wf_status wf_machine_read_residuals(struct wf_machine_reader *reader,
                                         const struct wf_yaml *node, struct wf_err *err);

/* Reads `sources`, a mapping of labels and texts; likewise. */
enum wf_status wf_machine_read_sources(struct wf_machine_reader *reader,
                                       const struct wf_yaml *node, struct wf_err *err);

/* Reads `uncertainty`, a mapping of settings and percentages (run/scenario/uncertainty.h). */
enum wf_status wf_machine_read_uncertainty(struct wf_machine_reader *reader,
                                           const struct wf_yaml *node, struct wf_err *err);

/* Collects the figures of a file and their comments; `root` has been read without an error. */
void wf_machine_read_figures(struct wf_machine_reader *reader, const struct wf_yaml *root);
