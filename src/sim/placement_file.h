/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_SIM_PLACEMENT_FILE_H
#define WF_SIM_PLACEMENT_FILE_H

/*
 * A placement as a text file: the number of a node on each line, that of rank 0 first. Empty
 * lines and what follows a '#' do not count.
 */

#include "base/status.h"

#include <stdint.h>

/* Reads the nodes of exactly `n_ranks` ranks, all below `n_nodes`. Failures name the line:
 * WF_EINVAL, or WF_EIO if the file cannot be read. */
WF_NODISCARD
enum wf_status wf_placement_file_read(const char *path, uint32_t n_ranks, uint32_t n_nodes,
                                      uint32_t *node_of, struct wf_err *err);

#endif
