/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Where the text of a machine comes from: a file, or the library. */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_machine_file {
    char *label; /* name in messages */
    char *path;  /* path of a file; null in the library */
    char *text;  /* ends with a NUL */
    size_t size;
    uint64_t device, inode; /* identify a file */
};

/* Finds and reads the machine that `which` names (run/machine/machine.h). A path is relative to the
 * file `from`, or to the working directory if that is null. If `from` is in the library,
 * "x.yaml" names the machine x of the library. On failure nothing is left to release. */
enum wf_status wf_machine_file_open(const char *which, const struct wf_machine_file *from,
                                    struct wf_machine_file *out, struct wf_err *err);
void wf_machine_file_fini(struct wf_machine_file *file);

bool wf_machine_file_same(const struct wf_machine_file *a, const struct wf_machine_file *b);

/* The name of the file without directory and extension, for the caller to free. */
char *wf_machine_file_stem(const struct wf_machine_file *file);
