/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Prints machines for people: what a file says, figure by figure, with the origin of each. */

#include <stdint.h>
#include <stdio.h>

struct wf_machine;

/* Prints all of a machine that has `nodes` nodes (0: no topology). */
void wf_cli_machine_show(const struct wf_machine *machine, uint64_t nodes, FILE *out);

/* Prints the list of sources; nothing if there are none. */
void wf_cli_machine_sources(const struct wf_machine *machine, FILE *out);
