/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "engine/barrier.h"
#include "engine/comm.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_EXCHANGE = 1, TAG_POST = 2, TAG_COLLECT = 3 };

/* Messages are sent in units of this many bytes, so that an int count of MPI reaches 128
 * GiB. The first 8 bytes are the true length. */
enum { UNIT = 64 };

/* Larger buffers are freed when they have been sent. */
enum { KEPT_BYTES = 1 << 20 };

struct in_flight {
    struct in_flight *next;
    MPI_Request request;
    struct wf_buf buf;
};

struct wf_comm {
    MPI_Comm mpi;
    MPI_Datatype unit;
    uint32_t rank, size;
    struct in_flight *sending;
    struct in_flight *idle;
    struct wf_buf incoming;
    int64_t posted, received;
};

/* Environment variables that launchers set. */
static const char *const launcher_sizes[] = {
    "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_SIZE", "MPI_LOCALNRANKS", "PMIX_RANK", NULL};

/* The number of processes that a launcher reports; 0 without a launcher. */
static long launched(void)
{
    long most = 0;

    for (const char *const *name = launcher_sizes; *name != NULL; name++) {
        const char *value = getenv(*name);
        if (value != NULL) {
            long n = strstr(*name, "RANK") != NULL ? 1 : strtol(value, NULL, 10);
            most = n > most ? n : most;
        }
    }
    return most;
}

enum wf_status wf_comm_open(struct wf_comm **out, struct wf_err *err)
{
    long expected = launched();
    int provided = 0, rank = 0, size = 0;

    *out = NULL;
    if (expected == 0) {
        return WF_OK;
    }
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_FUNNELED) {
        return wf_err_set(err, WF_EIO,
                          "MPI_Init_thread failed, or this MPI does not support threads");
    }
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == 1 && expected > 1) {
        (void)MPI_Finalize();
        return wf_err_set(err, WF_EUSAGE,
                          "started as one of %ld processes by the launcher of another MPI; "
                          "weft was built with %s: use its mpirun",
                          expected, wf_comm_library());
    }

    struct wf_comm *comm = wf_xcalloc(1, sizeof(*comm));
    comm->mpi = MPI_COMM_WORLD;
    comm->rank = (uint32_t)rank;
    comm->size = (uint32_t)size;
    (void)MPI_Type_contiguous(UNIT, MPI_BYTE, &comm->unit);
    (void)MPI_Type_commit(&comm->unit);
    *out = comm;
    return WF_OK;
}

static void free_list(struct in_flight *list)
{
    while (list != NULL) {
        struct in_flight *next = list->next;
        wf_buf_fini(&list->buf);
        free(list);
        list = next;
    }
}

static void wait_for(MPI_Request *request)
{
    uint32_t spins = 0;
    int done = 0;

    for (;;) {
        (void)MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done) {
            return;
        }
        wf_relax(&spins);
    }
}

void wf_comm_close(struct wf_comm *comm)
{
    if (comm == NULL) {
        return;
    }
    for (struct in_flight *send = comm->sending; send != NULL; send = send->next) {
        wait_for(&send->request);
    }
    free_list(comm->sending);
    free_list(comm->idle);
    wf_buf_fini(&comm->incoming);
    (void)MPI_Type_free(&comm->unit);
    (void)MPI_Finalize();
    free(comm);
}

const char *wf_comm_library(void)
{
#if defined(MPICH_VERSION)
    return "MPICH " MPICH_VERSION;
#elif defined(OMPI_MAJOR_VERSION)
    return "Open MPI";
#else
    return "MPI";
#endif
}

uint32_t wf_comm_rank(const struct wf_comm *comm)
{
    return comm == NULL ? 0 : comm->rank;
}

uint32_t wf_comm_size(const struct wf_comm *comm)
{
    return comm == NULL ? 1 : comm->size;
}

/* Moves completed sends to the idle list. */
static void reap(struct wf_comm *comm)
{
    for (struct in_flight **at = &comm->sending; *at != NULL;) {
        struct in_flight *send = *at;
        int done = 0;
        (void)MPI_Test(&send->request, &done, MPI_STATUS_IGNORE);
        if (!done) {
            at = &send->next;
            continue;
        }
        *at = send->next;
        if (send->buf.capacity > KEPT_BYTES) {
            wf_buf_fini(&send->buf);
        }
        send->next = comm->idle;
        comm->idle = send;
    }
}

static void send_copy(struct wf_comm *comm, uint32_t to, int tag, const void *bytes,
                      size_t size)
{
    struct in_flight *send = comm->idle;
    uint64_t length = size;
    size_t padded = (sizeof(length) + size + UNIT - 1) / UNIT * UNIT;

    if (send != NULL) {
        comm->idle = send->next;
    } else {
        send = wf_xcalloc(1, sizeof(*send));
    }
    send->buf.size = 0;
    wf_buf_append(&send->buf, &length, sizeof(length));
    wf_buf_append(&send->buf, bytes, size);
    memset(wf_buf_extend(&send->buf, padded - send->buf.size), 0,
           padded - sizeof(length) - size);
    (void)MPI_Isend(send->buf.data, (int)(padded / UNIT), comm->unit, (int)to, tag, comm->mpi,
                    &send->request);
    send->next = comm->sending;
    comm->sending = send;
}

/* Receives a message that MPI_Improbe() found. */
static void receive(struct wf_comm *comm, MPI_Message *message, const MPI_Status *status,
                    struct wf_buf *in)
{
    int units = 0;
    uint64_t length = 0;
    MPI_Request request;

    (void)MPI_Get_count(status, comm->unit, &units);
    comm->incoming.size = 0;
    wf_buf_reserve(&comm->incoming, (size_t)units * UNIT);
    (void)MPI_Imrecv(comm->incoming.data, units, comm->unit, message, &request);
    wait_for(&request);
    memcpy(&length, comm->incoming.data, sizeof(length));
    in->size = 0;
    wf_buf_append(in, comm->incoming.data + sizeof(length), (size_t)length);
}

static void receive_from(struct wf_comm *comm, uint32_t from, int tag, struct wf_buf *in)
{
    MPI_Message message;
    MPI_Status status;
    uint32_t spins = 0;
    int there = 0;

    for (;;) {
        (void)MPI_Improbe((int)from, tag, comm->mpi, &there, &message, &status);
        if (there) {
            break;
        }
        wf_relax(&spins);
    }
    receive(comm, &message, &status, in);
}

void wf_comm_exchange(struct wf_comm *comm, const struct wf_buf *out, struct wf_buf *in)
{
    reap(comm);
    for (uint32_t p = 0; p < comm->size; p++) {
        if (p != comm->rank) {
            send_copy(comm, p, TAG_EXCHANGE, out[p].data, out[p].size);
        }
    }
    for (uint32_t p = 0; p < comm->size; p++) {
        if (p != comm->rank) {
            receive_from(comm, p, TAG_EXCHANGE, &in[p]);
        }
    }
}

void wf_comm_post(struct wf_comm *comm, uint32_t to, const void *bytes, size_t size)
{
    reap(comm);
    send_copy(comm, to, TAG_POST, bytes, size);
    comm->posted++;
}

bool wf_comm_poll(struct wf_comm *comm, struct wf_buf *in)
{
    MPI_Message message;
    MPI_Status status;
    int there = 0;

    (void)MPI_Improbe(MPI_ANY_SOURCE, TAG_POST, comm->mpi, &there, &message, &status);
    if (!there) {
        return false;
    }
    receive(comm, &message, &status, in);
    comm->received++;
    return true;
}

void wf_comm_reduce(struct wf_comm *comm, enum wf_comm_op op, int64_t *values, size_t n)
{
    static const MPI_Op ops[] = {
        [WF_COMM_MIN] = MPI_MIN, [WF_COMM_MAX] = MPI_MAX, [WF_COMM_SUM] = MPI_SUM};
    MPI_Request request;

    (void)MPI_Iallreduce(MPI_IN_PLACE, values, (int)n, MPI_INT64_T, ops[op], comm->mpi,
                         &request);
    wait_for(&request);
}

int64_t wf_comm_in_flight(struct wf_comm *comm, int64_t also_add)
{
    int64_t sum = comm->posted - comm->received + also_add;

    wf_comm_reduce(comm, WF_COMM_SUM, &sum, 1);
    return sum;
}

void wf_comm_collect(struct wf_comm *comm, const void *bytes, size_t size,
                     void (*take)(void *arg, const void *bytes), void *arg)
{
    reap(comm);
    if (comm->rank != 0) {
        send_copy(comm, 0, TAG_COLLECT, bytes, size);
        return;
    }
    struct wf_buf in = {.data = NULL};
    for (uint32_t p = 1; p < comm->size; p++) {
        receive_from(comm, p, TAG_COLLECT, &in);
        take(arg, in.data);
    }
    wf_buf_fini(&in);
}

void wf_comm_share(struct wf_comm *comm, void *bytes, size_t size)
{
    MPI_Request request;

    (void)MPI_Ibcast(bytes, (int)size, MPI_BYTE, 0, comm->mpi, &request);
    wait_for(&request);
}
