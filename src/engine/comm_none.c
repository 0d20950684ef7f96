/* SPDX-License-Identifier: Apache-2.0 */
/* A build without MPI: every run has one process. */
#include "engine/comm.h"

enum wf_status wf_comm_open(struct wf_comm **out, struct wf_err *err)
{
    *out = NULL;
    return WF_OK;
}

void wf_comm_close(struct wf_comm *comm)
{
}

const char *wf_comm_library(void)
{
    return "none";
}

uint32_t wf_comm_rank(const struct wf_comm *comm)
{
    return 0;
}

uint32_t wf_comm_size(const struct wf_comm *comm)
{
    return 1;
}

void wf_comm_exchange(struct wf_comm *comm, const struct wf_buf *out, struct wf_buf *in)
{
}

void wf_comm_post(struct wf_comm *comm, uint32_t to, const void *bytes, size_t size)
{
    wf_panic("%zu bytes posted to process %u of a run of one process", size, to);
}

bool wf_comm_poll(struct wf_comm *comm, struct wf_buf *in)
{
    return false;
}

int64_t wf_comm_in_flight(struct wf_comm *comm, int64_t also_add)
{
    return also_add;
}

void wf_comm_reduce(struct wf_comm *comm, enum wf_comm_op op, int64_t *values, size_t n)
{
}

void wf_comm_collect(struct wf_comm *comm, const void *bytes, size_t size,
                     void (*take)(void *arg, const void *bytes), void *arg)
{
    (void)take;
}

void wf_comm_share(struct wf_comm *comm, void *bytes, size_t size)
{
}
