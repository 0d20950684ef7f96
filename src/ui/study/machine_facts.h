/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Machines for people and for documents: what a file says, figure by figure, with the origin of
 * each. */

#include "base/status.h"

#include <stdint.h>
#include <stdio.h>

struct wf_machine;
struct wf_value;

/* The number of nodes of the machine; 0 if it has no topology. */
enum wf_status wf_study_machine_nodes(const struct wf_machine *machine, uint64_t *nodes,
                                      struct wf_err *err);

/* Prints all of a machine that has `nodes` nodes (0: no topology). */
void wf_study_machine_print(const struct wf_machine *machine, uint64_t nodes, FILE *out);
/* Prints the list of sources; nothing if there are none. */
void wf_study_machine_sources(const struct wf_machine *machine, FILE *out);
/* Prints one line about it. */
void wf_study_machine_line(const struct wf_machine *machine, uint64_t nodes, FILE *out);

/* Adds what a list of machines has of each to a section of a document. */
enum wf_status wf_study_machine_describe(const struct wf_machine *machine,
                                         struct wf_value *section, struct wf_err *err);
/* Adds that and all settings, figures, sources and residuals. */
enum wf_status wf_study_machine_document(const struct wf_machine *machine, struct wf_value *doc,
                                         struct wf_err *err);
