/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces out.c in a build without the OTF2 library: nothing can be written. */
#include "program/trace/otf2/out.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
/* NOLINTBEGIN(misc-unused-parameters) */

enum wf_status wf_otf2_has_library(struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL,
                      "this weft was built without the OTF2 library, which OTF2 archives are "
                      "written with; install it (Debian: libotf2-trace-dev) and build again");
}

enum wf_status wf_otf2_out_open(const char *directory, const char *name, uint32_t n_ranks,
                                const char *creator, struct wf_otf2_out **result,
                                struct wf_err *err)
{
    return wf_otf2_has_library(err);
}

uint32_t wf_otf2_out_region(struct wf_otf2_out *out, const char *name, bool is_mpi)
{
    return 0;
}

uint32_t wf_otf2_out_comm(struct wf_otf2_out *out, const uint32_t *ranks, uint32_t n)
{
    return 0;
}

void wf_otf2_out_place(struct wf_otf2_out *out, uint32_t rank, const char *name, uint64_t node)
{
}

void wf_otf2_out_marker(struct wf_otf2_out *out, uint64_t time, const char *text)
{
}

void wf_otf2_out_rank(struct wf_otf2_out *out, uint32_t rank)
{
}

void wf_otf2_out_event(struct wf_otf2_out *out, const struct wf_otf2_event *event)
{
}

enum wf_status wf_otf2_out_finish(struct wf_otf2_out *out, struct wf_err *err)
{
    return wf_otf2_has_library(err);
}

void wf_otf2_out_discard(struct wf_otf2_out *out)
{
}

/* NOLINTEND(misc-unused-parameters) */
