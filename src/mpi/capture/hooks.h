/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The hooks that the rules of calls.txt name. A hook before a call returns the argument to pass
 * to it; a hook after a call records the op. A call that cannot be an op (its communicator is
 * not known, or it is a collective of an intercommunicator) is recorded as a call by name.
 */

#include "mpi/capture/capture.h"

#include <stddef.h>

/* Arguments of a message, of the data of a collective, and of blocks of different lengths.
 * Counts are int or MPI_Count. */
struct wf_cap_message {
    MPI_Count count;
    MPI_Datatype type;
    int peer, tag;
    MPI_Comm comm;
};

struct wf_cap_data {
    MPI_Count count;
    MPI_Datatype type;
    MPI_Comm comm;
};

struct wf_cap_vector {
    const void *counts;
    size_t width;              /* of a count */
    MPI_Datatype type;         /* of all, unless... */
    const MPI_Datatype *types; /* ...each has its own */
    bool in_place;
};

#define MESSAGE(...) (&(const struct wf_cap_message){__VA_ARGS__})
#define DATA(...)    (&(const struct wf_cap_data){__VA_ARGS__})
#define VECTOR(counts, type) \
    (&(const struct wf_cap_vector){counts, sizeof(*(counts)), type, NULL, 0})
#define VECTOR_W(counts, all) \
    (&(const struct wf_cap_vector){counts, sizeof(*(counts)), MPI_BYTE, all, 0})
#define SENT(buffer, vector) (buffer) == MPI_IN_PLACE ? NULL : (vector)
#define OPEN(source, tag)    ((source) == MPI_ANY_SOURCE || (tag) == MPI_ANY_TAG)

/* ---- before ---- */
MPI_Status *wf_cap_on_status(struct wf_cap_call *call, bool wanted, MPI_Status *status);
MPI_Status *wf_cap_on_statuses(struct wf_cap_call *call, MPI_Status *statuses,
                               MPI_Status *ignored);
void wf_cap_on_keep(struct wf_cap_call *call, int n, const MPI_Request *list);
void wf_cap_on_in_order(struct wf_cap_call *call);
void wf_cap_on_keep_message(struct wf_cap_call *call, const MPI_Message *message);
void wf_cap_on_keep_comm(struct wf_cap_call *call, const MPI_Comm *comm);
void wf_cap_on_keep_window(struct wf_cap_call *call, const MPI_Win *window);

/* ---- messages ---- */
void wf_cap_on_send(struct wf_cap_call *call, enum wf_op_kind kind,
                    const struct wf_cap_message *message, const MPI_Request *request);
void wf_cap_on_persistent(struct wf_cap_call *call, enum wf_op_kind kind,
                          const struct wf_cap_message *message, const MPI_Request *request);
void wf_cap_on_recv(struct wf_cap_call *call, const struct wf_cap_message *message,
                    const MPI_Status *status);
void wf_cap_on_irecv(struct wf_cap_call *call, const struct wf_cap_message *message,
                     const MPI_Request *request);
void wf_cap_on_sendrecv(struct wf_cap_call *call, const struct wf_cap_message *sent,
                        const struct wf_cap_message *received, const MPI_Status *status);
void wf_cap_on_isendrecv(struct wf_cap_call *call, const struct wf_cap_message *sent,
                         const struct wf_cap_message *received, const MPI_Request *request);
void wf_cap_on_probe(struct wf_cap_call *call, int source, int tag, MPI_Comm comm,
                     const MPI_Status *status);
void wf_cap_on_iprobe(struct wf_cap_call *call, const struct wf_cap_message *asked,
                      const int *flag, const MPI_Status *status);
void wf_cap_on_mprobe(struct wf_cap_call *call, const struct wf_cap_message *asked,
                      const MPI_Message *message, const MPI_Status *status);
void wf_cap_on_improbe(struct wf_cap_call *call, const struct wf_cap_message *asked,
                       const int *flag, const MPI_Message *message, const MPI_Status *status);
void wf_cap_on_mrecv(struct wf_cap_call *call, MPI_Count count, MPI_Datatype type);
void wf_cap_on_imrecv(struct wf_cap_call *call, MPI_Count count, MPI_Datatype type,
                      const MPI_Request *request);

/* ---- requests ---- */
void wf_cap_on_start(struct wf_cap_call *call);
void wf_cap_on_startall(struct wf_cap_call *call);
void wf_cap_on_request_free(struct wf_cap_call *call);
void wf_cap_on_cancel(struct wf_cap_call *call, uint32_t name);
void wf_cap_on_wait(struct wf_cap_call *call, const MPI_Status *status);
void wf_cap_on_waitall(struct wf_cap_call *call, const MPI_Status *statuses);
void wf_cap_on_test(struct wf_cap_call *call, const int *flag, const MPI_Status *status);
void wf_cap_on_testall(struct wf_cap_call *call, const int *flag, const MPI_Status *statuses);
void wf_cap_on_any(struct wf_cap_call *call, enum wf_op_kind kind, const int *place,
                   const int *flag, const MPI_Status *status);
void wf_cap_on_some(struct wf_cap_call *call, enum wf_op_kind kind, const int *count,
                    const int *places, const MPI_Status *statuses);

/* The operation of the reduction that one of the following hooks records. */
void wf_cap_on_reduces(struct wf_cap_call *call, MPI_Op op);

/* ---- collectives; `request` is null for blocking ones ---- */
void wf_cap_on_data(struct wf_cap_call *call, enum wf_op_kind kind,
                    const struct wf_cap_data *data, int root, const MPI_Request *request);
void wf_cap_on_rooted(struct wf_cap_call *call, enum wf_op_kind kind,
                      const struct wf_cap_data *data, const struct wf_cap_data *at_root,
                      int root, const MPI_Request *request);
void wf_cap_on_rooted_v(struct wf_cap_call *call, enum wf_op_kind kind,
                        const struct wf_cap_data *data, const struct wf_cap_vector *at_root,
                        int root, const MPI_Request *request);
void wf_cap_on_vector(struct wf_cap_call *call, enum wf_op_kind kind,
                      const struct wf_cap_vector *vector, MPI_Comm comm,
                      const MPI_Request *request);
void wf_cap_on_exchange(struct wf_cap_call *call, enum wf_op_kind kind,
                        const struct wf_cap_vector *sent, const struct wf_cap_vector *received,
                        MPI_Comm comm, const MPI_Request *request);
void wf_cap_on_near(struct wf_cap_call *call, enum wf_op_kind kind,
                    const struct wf_cap_data *data, const struct wf_cap_vector *sent,
                    const struct wf_cap_vector *received, const MPI_Request *request);

/* ---- communicators and windows ---- */
void wf_cap_on_new_comm(struct wf_cap_call *call, enum wf_op_kind kind, MPI_Comm parent,
                        const MPI_Comm *comm);
void wf_cap_on_new_comm_later(struct wf_cap_call *call, MPI_Comm parent, const MPI_Comm *comm,
                              const MPI_Request *request);
void wf_cap_on_new_comm_of_some(struct wf_cap_call *call, uint32_t name, const MPI_Comm *comm);
void wf_cap_on_comm_free(struct wf_cap_call *call);
void wf_cap_on_new_window(struct wf_cap_call *call, MPI_Comm comm, const MPI_Win *window);
void wf_cap_on_window_free(struct wf_cap_call *call);
void wf_cap_on_fence(struct wf_cap_call *call, MPI_Win window);
void wf_cap_on_flush(struct wf_cap_call *call, MPI_Win window);
void wf_cap_on_one_sided(struct wf_cap_call *call, enum wf_op_kind kind,
                         const struct wf_cap_data *data, int target, MPI_Win window);
void wf_cap_on_one_sided_request(struct wf_cap_call *call, enum wf_op_kind kind,
                                 const struct wf_cap_data *data, int target, MPI_Win window,
                                 const MPI_Request *request);

/* ---- anything else ---- */
void wf_cap_on_named(struct wf_cap_call *call, uint32_t name);

extern const char *const wf_cap_call_names[];
extern const unsigned wf_cap_n_call_names;
