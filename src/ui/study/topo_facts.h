/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Facts about a topology, as text and as the document of docs/reference/topo.md.
 */

#include "base/result/doc.h"
#include "model/topo/topo.h"

#include <stdio.h>

/* Adds the facts about `topo`, which the user wrote as `spec`, to the document. */
void wf_study_topo_facts_add(const struct wf_topo *topo, const char *spec,
                             struct wf_value *doc);
/* Prints them, of such a document. */
void wf_study_topo_facts_print(const struct wf_value *doc, FILE *out);

/* The deterministic route from one node to another, hop by hop. */
void wf_study_topo_route_add(const struct wf_topo *topo, uint32_t from, uint32_t to,
                             struct wf_value *doc);
void wf_study_topo_route_print(const struct wf_topo *topo, uint32_t from, uint32_t to,
                               FILE *out);

/* How topologies are written: all kinds. */
void wf_study_topo_list_add(struct wf_value *doc);
void wf_study_topo_list_print(FILE *out);

/* WF_ELIMIT if distances are too long to be counted. A network has fewer hops than vertices, so
 * the diameter is computed only if there are too many vertices. */
enum wf_status wf_study_topo_check_hops(const struct wf_topo *topo, const char *spec,
                                        struct wf_err *err);
