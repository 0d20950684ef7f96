/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Machines from CODES and TraceR: turns their network configuration (run/import/codes_text.h;
 * torus, dragonfly, fat tree, express mesh and slim fly) into a machine file
 * (run/machine/machine.h). Keys that the configuration leaves out get the default values of CODES.
 *
 * Nothing is dropped silently: the notes name every key without a counterpart, with its place.
 */

#include "base/buf.h"
#include "base/status.h"

struct wf_codes_source {
    const char *label; /* name of the configuration in messages */
    const char *name;  /* name of the machine */
    const char *text;
    size_t size;
    /* Checks the machine file that is written: wf_machine_check(). */
    enum wf_status (*check)(const char *text, size_t size, struct wf_err *err);
};

/* Texts without a NUL at the end; the caller releases both. */
struct wf_codes_result {
    struct wf_buf machine; /* the machine file */
    struct wf_buf notes;   /* a line for each thing that was left out or changed */
};

/* Appends to the two buffers. A failure is WF_EINVAL; its message begins with `label:`,
 * followed by line and column if they are known. After a failure the contents of the buffers
 * are undefined. */
enum wf_status wf_codes_import(const struct wf_codes_source *source,
                               struct wf_codes_result *out, struct wf_err *err);

/* A name for the machine: that of the file without directory and extension, reduced to letters,
 * digits, '-' and '_'. The caller frees it. */
char *wf_codes_name(const char *path);
