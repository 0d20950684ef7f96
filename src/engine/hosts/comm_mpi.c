/* SPDX-License-Identifier: Apache-2.0 */
/* The library that connects processes by an MPI; see engine/hosts/comm_ops.h. */
#include "base/mem.h"
#include "engine/hosts/barrier.h"
#include "engine/hosts/comm_ops.h"
#include "weft_version.h"

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

struct joined {
    struct wf_comm comm; /* must be first */
    MPI_Comm mpi;
    MPI_Datatype unit;
    struct in_flight *sending;
    struct in_flight *idle;
    struct wf_buf incoming;
    int64_t posted, received;
};

static struct joined *joined_of(struct wf_comm *comm)
{
    return (struct joined *)comm;
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

static void comm_close(struct wf_comm *comm)
{
    struct joined *own = joined_of(comm);

    for (struct in_flight *send = own->sending; send != NULL; send = send->next) {
        wait_for(&send->request);
    }
    free_list(own->sending);
    free_list(own->idle);
    wf_buf_fini(&own->incoming);
    (void)MPI_Type_free(&own->unit);
    (void)MPI_Finalize();
    free(own);
}

/* Moves completed sends to the idle list. */
static void reap(struct joined *own)
{
    for (struct in_flight **at = &own->sending; *at != NULL;) {
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
        send->next = own->idle;
        own->idle = send;
    }
}

static void send_copy(struct joined *own, uint32_t to, int tag, const void *bytes, size_t size)
{
    struct in_flight *send = own->idle;
    uint64_t length = size;
    size_t padded = (sizeof(length) + size + UNIT - 1) / UNIT * UNIT;

    if (send != NULL) {
        own->idle = send->next;
    } else {
        send = wf_xcalloc(1, sizeof(*send));
    }
    send->buf.size = 0;
    wf_buf_append(&send->buf, &length, sizeof(length));
    wf_buf_append(&send->buf, bytes, size);
    memset(wf_buf_extend(&send->buf, padded - send->buf.size), 0,
           padded - sizeof(length) - size);
    (void)MPI_Isend(send->buf.data, (int)(padded / UNIT), own->unit, (int)to, tag, own->mpi,
                    &send->request);
    send->next = own->sending;
    own->sending = send;
}

/* Receives a message that MPI_Improbe() found. */
static void receive(struct joined *own, MPI_Message *message, const MPI_Status *status,
                    struct wf_buf *in)
{
    int units = 0;
    uint64_t length = 0;
    MPI_Request request;

    (void)MPI_Get_count(status, own->unit, &units);
    own->incoming.size = 0;
    wf_buf_reserve(&own->incoming, (size_t)units * UNIT);
    (void)MPI_Imrecv(own->incoming.data, units, own->unit, message, &request);
    wait_for(&request);
    memcpy(&length, own->incoming.data, sizeof(length));
    in->size = 0;
    wf_buf_append(in, own->incoming.data + sizeof(length), (size_t)length);
}

static void receive_from(struct joined *own, uint32_t from, int tag, struct wf_buf *in)
{
    MPI_Message message;
    MPI_Status status;
    uint32_t spins = 0;
    int there = 0;

    for (;;) {
        (void)MPI_Improbe((int)from, tag, own->mpi, &there, &message, &status);
        if (there) {
            break;
        }
        wf_relax(&spins);
    }
    receive(own, &message, &status, in);
}

static void comm_exchange(struct wf_comm *comm, const struct wf_buf *out, struct wf_buf *in)
{
    struct joined *own = joined_of(comm);

    reap(own);
    for (uint32_t p = 0; p < comm->size; p++) {
        if (p != comm->rank) {
            send_copy(own, p, TAG_EXCHANGE, out[p].data, out[p].size);
        }
    }
    for (uint32_t p = 0; p < comm->size; p++) {
        if (p != comm->rank) {
            receive_from(own, p, TAG_EXCHANGE, &in[p]);
        }
    }
}

static void comm_post(struct wf_comm *comm, uint32_t to, const void *bytes, size_t size)
{
    struct joined *own = joined_of(comm);

    reap(own);
    send_copy(own, to, TAG_POST, bytes, size);
    own->posted++;
}

static bool comm_poll(struct wf_comm *comm, struct wf_buf *in)
{
    struct joined *own = joined_of(comm);

    MPI_Message message;
    MPI_Status status;
    int there = 0;

    (void)MPI_Improbe(MPI_ANY_SOURCE, TAG_POST, own->mpi, &there, &message, &status);
    if (!there) {
        return false;
    }
    receive(own, &message, &status, in);
    own->received++;
    return true;
}

static void comm_reduce(struct wf_comm *comm, enum wf_comm_op op, int64_t *values, size_t n)
{
    struct joined *own = joined_of(comm);

    static const MPI_Op ops[] = {
        [WF_COMM_MIN] = MPI_MIN, [WF_COMM_MAX] = MPI_MAX, [WF_COMM_SUM] = MPI_SUM};
    MPI_Request request;

    (void)MPI_Iallreduce(MPI_IN_PLACE, values, (int)n, MPI_INT64_T, ops[op], own->mpi,
                         &request);
    wait_for(&request);
}

static int64_t comm_in_flight(struct wf_comm *comm, int64_t also_add)
{
    struct joined *own = joined_of(comm);

    int64_t sum = own->posted - own->received + also_add;

    comm_reduce(comm, WF_COMM_SUM, &sum, 1);
    return sum;
}

static void comm_collect(struct wf_comm *comm, const void *bytes, size_t size,
                         void (*take)(void *arg, const void *bytes), void *arg)
{
    struct joined *own = joined_of(comm);

    reap(own);
    if (comm->rank != 0) {
        send_copy(own, 0, TAG_COLLECT, bytes, size);
        return;
    }
    struct wf_buf in = {.data = NULL};
    for (uint32_t p = 1; p < comm->size; p++) {
        receive_from(own, p, TAG_COLLECT, &in);
        take(arg, in.data);
    }
    wf_buf_fini(&in);
}

static void comm_share(struct wf_comm *comm, void *bytes, size_t size)
{
    struct joined *own = joined_of(comm);

    MPI_Request request;

    (void)MPI_Ibcast(bytes, (int)size, MPI_BYTE, 0, own->mpi, &request);
    wait_for(&request);
}

static enum wf_status comm_open(struct wf_comm **out, struct wf_err *err);

static const struct wf_comm_ops ops = {
    .version = WEFT_VERSION,
#if defined(MPICH_VERSION)
    .library = "MPICH " MPICH_VERSION,
#elif defined(OMPI_MAJOR_VERSION)
    .library = "Open MPI",
#else
    .library = "MPI",
#endif
    .open = comm_open,
    .close = comm_close,
    .exchange = comm_exchange,
    .post = comm_post,
    .poll = comm_poll,
    .in_flight = comm_in_flight,
    .reduce = comm_reduce,
    .collect = comm_collect,
    .share = comm_share,
};

static int count_local(void)
{
    MPI_Comm local;
    int size = 1;

    (void)MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
    (void)MPI_Comm_size(local, &size);
    (void)MPI_Comm_free(&local);
    return size;
}

static enum wf_status comm_open(struct wf_comm **out, struct wf_err *err)
{
    int provided = 0, rank = 0, size = 0;

    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_FUNNELED) {
        return wf_err_set(err, WF_EIO,
                          "MPI_Init_thread failed, or this MPI does not support threads");
    }
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &size);

    struct joined *own = wf_xcalloc(1, sizeof(*own));
    own->comm = (struct wf_comm){.ops = &ops,
                                 .rank = (uint32_t)rank,
                                 .size = (uint32_t)size,
                                 .local_size = (uint32_t)count_local()};
    own->mpi = MPI_COMM_WORLD;
    (void)MPI_Type_contiguous(UNIT, MPI_BYTE, &own->unit);
    (void)MPI_Type_commit(&own->unit);
    *out = &own->comm;
    return WF_OK;
}

/* The only symbol that the library shows. */
extern const struct wf_comm_ops wf_comm_ops_of_this_library
    __attribute__((alias("ops"), visibility("default")));
