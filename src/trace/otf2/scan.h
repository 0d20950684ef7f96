/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_OTF2_SCAN_H
#define WF_TRACE_OTF2_SCAN_H

/*
 * The files of an OTF2 archive, looked through before the library reads them. The library
 * believes the number of items that a record has: it asks for as much memory (16 GiB for the
 * arguments of a program that was damaged in one byte) and reads so many, beyond the end of the
 * record and of its buffer. So every record is checked to be as long as its number of items
 * needs; what else is wrong with it is left to the library.
 *
 * Only files as they are, without compression and in a file each, can be looked through: the
 * anchor file says whether they are.
 */

#include "trace/otf2/anchor.h"
#include "trace/otf2/defs.h"

/* The definitions of all ranks. WF_EINVAL, WF_EIO. */
WF_NODISCARD
enum wf_status wf_otf2_scan_definitions(const char *anchor, const struct wf_otf2_layout *layout,
                                        struct wf_err *err);

/* The definitions, if there are any, and the events of each rank that the definitions know. */
WF_NODISCARD
enum wf_status wf_otf2_scan_ranks(const char *anchor, const struct wf_otf2_layout *layout,
                                  const struct wf_otf2_defs *defs, struct wf_err *err);

#endif
