/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_MPILIB_POINT_TO_POINT_H
#define WF_MPILIB_POINT_TO_POINT_H

/* Sends and receives, as the functions of MPI describe them. */

#include "mpilib/request.h"

struct wl_sending {
    const void *buffer;
    int count;
    MPI_Datatype type;
    int to, tag;
    MPI_Comm comm;
    const char *function;
};

struct wl_receiving {
    void *buffer;
    int count;
    MPI_Datatype type;
    int from, tag;
    MPI_Comm comm;
    const char *function;
};

/* All of these set `nobody` if the other side is MPI_PROC_NULL, and then nothing else; and
 * return MPI_SUCCESS or an error that the program gets. */

/* Puts the data where its receiver will find it, and fills in the op. */
int wl_hand_over(struct wl_rank *rank, const struct wl_sending *what, struct wf_op *op,
                 bool *nobody);
/* Fills in where messages come from. */
int wl_find_stream(struct wl_rank *rank, const struct wl_receiving *what, struct wl_recv *recv,
                   struct wf_op *op, bool *nobody);
/* Likewise, and where the data goes. */
int wl_make_recv(struct wl_rank *rank, const struct wl_receiving *what, struct wl_recv *recv,
                 struct wf_op *op, bool *nobody);

/* What a probe has found: of what was left open, the simulation knows. */
const struct wl_message *wl_probed(struct wl_rank *rank, const struct wl_recv *asked,
                                   const struct wf_port_answer *answer,
                                   struct wl_stream *stream);

#endif
