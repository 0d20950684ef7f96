/* SPDX-License-Identifier: Apache-2.0 */
/* Where the OTF2 library was not found. */
#include "trace/otf2/out.h"

#include <stddef.h>

enum wf_status wf_otf2_check(const char *path, struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL,
                      "'%.200s' is an OTF2 archive, and this weft was built without the OTF2 "
                      "library; install it (Debian: libotf2-trace-dev) and build again",
                      path);
}

enum wf_status wf_otf2_in_open(const char *path, struct wf_otf2_defs *defs,
                               struct wf_otf2_in **out, struct wf_err *err)
{
    (void)defs;
    (void)out;
    return wf_otf2_check(path, err);
}

void wf_otf2_in_close(struct wf_otf2_in *in)
{
    (void)in;
}

enum wf_status wf_otf2_in_open_ranks(struct wf_otf2_in *in, struct wf_err *err)
{
    (void)in;
    return wf_otf2_check("", err);
}

enum wf_status wf_otf2_in_rank(struct wf_otf2_in *in, uint32_t rank, struct wf_err *err)
{
    (void)in;
    (void)rank;
    return wf_otf2_check("", err);
}

enum wf_status wf_otf2_in_next(struct wf_otf2_in *in, struct wf_otf2_event *event, bool *more,
                               struct wf_err *err)
{
    (void)in;
    (void)event;
    *more = false;
    return wf_otf2_check("", err);
}

/* ---- written ---- */

enum wf_status wf_otf2_out_open(const char *directory, uint32_t n_ranks, const char *creator,
                                struct wf_otf2_out **out, struct wf_err *err)
{
    (void)directory;
    (void)n_ranks;
    (void)creator;
    (void)out;
    return wf_err_set(err, WF_EINVAL,
                      "this weft was built without the OTF2 library, which OTF2 archives are "
                      "written with; install it (Debian: libotf2-trace-dev) and build again");
}

uint32_t wf_otf2_out_region(struct wf_otf2_out *out, const char *name, bool is_mpi)
{
    (void)out;
    (void)name;
    (void)is_mpi;
    return 0;
}

uint32_t wf_otf2_out_comm(struct wf_otf2_out *out, const uint32_t *ranks, uint32_t n)
{
    (void)out;
    (void)ranks;
    (void)n;
    return 0;
}

void wf_otf2_out_place(struct wf_otf2_out *out, uint32_t rank, const char *name, uint64_t node)
{
    (void)out;
    (void)rank;
    (void)name;
    (void)node;
}

void wf_otf2_out_marker(struct wf_otf2_out *out, uint64_t time, const char *text)
{
    (void)out;
    (void)time;
    (void)text;
}

void wf_otf2_out_rank(struct wf_otf2_out *out, uint32_t rank)
{
    (void)out;
    (void)rank;
}

void wf_otf2_out_event(struct wf_otf2_out *out, const struct wf_otf2_event *event)
{
    (void)out;
    (void)event;
}

enum wf_status wf_otf2_out_finish(struct wf_otf2_out *out, struct wf_err *err)
{
    return wf_otf2_out_open("", 0, NULL, &out, err);
}

void wf_otf2_out_discard(struct wf_otf2_out *out)
{
    (void)out;
}
