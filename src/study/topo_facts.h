/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Facts about a topology, as text and as the document of docs/reference/topo.md.
 */

#include "result/doc.h"
#include "topo/topo.h"

#include <stdio.h>

/* Adds the facts about `topo`, which the user wrote as `spec`, to the document. */
void wf_study_topo_facts_add(const struct wf_topo *topo, const char *spec,
                             struct wf_value *doc);
void wf_study_topo_facts_print(const struct wf_topo *topo, const char *spec, FILE *out);

/* The deterministic route from one node to another, hop by hop. */
void wf_study_topo_route_add(const struct wf_topo *topo, uint32_t from, uint32_t to,
                             struct wf_value *doc);
void wf_study_topo_route_print(const struct wf_topo *topo, uint32_t from, uint32_t to,
                               FILE *out);
