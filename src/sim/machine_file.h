/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Where the text of a machine comes from: a file, or the library. */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_machine_file {
    char *label; /* what messages call it */
    char *path;  /* of a file; null in the library */
    char *text;  /* with a NUL after its end */
    size_t size;
    uint64_t device, inode; /* of a file */
};

/* Finds and reads what `which` names in a machine file (sim/machine.h); a path is relative to
 * the file `from`, or to the working directory if that is null. Of a machine of the library,
 * "x.yaml" is the machine x of the library. On failure nothing is left to release. */
WF_NODISCARD
enum wf_status wf_machine_file_open(const char *which, const struct wf_machine_file *from,
                                    struct wf_machine_file *out, struct wf_err *err);
void wf_machine_file_fini(struct wf_machine_file *file);

bool wf_machine_file_same(const struct wf_machine_file *a, const struct wf_machine_file *b);

/* Its name without directory and ending, to be freed. */
char *wf_machine_file_stem(const struct wf_machine_file *file);
