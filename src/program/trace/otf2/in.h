/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What weft asks of the OTF2 library to read an archive, without its types: program/trace/otf2/in.c
 * answers it with the library and program/trace/otf2/none.c without.
 */

#include "program/trace/otf2/defs.h"

/* Reads the definitions of all ranks of an archive, which is named by its anchor file. Does
 * nothing if `err` holds a failure. */
void wf_otf2_in_read(const char *path, struct wf_otf2_defs *defs, struct wf_err *err);

/* WF_OK if this build has the library, otherwise WF_EINVAL and what to do about it. */
WF_NODISCARD
enum wf_status wf_otf2_has_library(const char *path, struct wf_err *err);
