/* SPDX-License-Identifier: Apache-2.0 */
/* Where the OTF2 library was not found. */
#include "trace/otf2_in.h"

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
