/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The program's malloc() and the like with weft run --spill: large blocks are in a file. They take
 * the place of the C library's as interpose.h says. */

#include "mpi/lib/threads/openmp.h"
#include "mpi/port.h"

/* As in struct wf_port_library. */
void wl_spill(const struct wf_port_memory *spill);
/* The replacement of a function; null if there is none, or if nothing is spilled. */
const struct wl_replacement *wl_spill_replacement(const char *name);
