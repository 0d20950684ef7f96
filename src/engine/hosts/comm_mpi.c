/* SPDX-License-Identifier: Apache-2.0 */
/* The library that connects processes by an MPI; see engine/hosts/comm_ops.h. */
#include "base/clock.h"
#include "base/mem.h"
#include "engine/hosts/comm_ops.h"
#include "weft_version.h"

#include <linux/futex.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TAG_EXCHANGE = 1, TAG_POST = 2, TAG_COLLECT = 3 };

/* Messages are sent in units of this many bytes, so that an int count of MPI reaches 128
 * GiB. The first 8 bytes are the true length. */
enum { UNIT = 64 };

/* Larger buffers are freed when they have been sent. */
enum { KEPT_BYTES = 1 << 20 };

/* A process that waits looks at MPI again and again for some microseconds, if it has a core of its own.
 * Then it sleeps, for an eighth of the time that it has waited, until a process of its host that has
 * sent something rings its bell. It does not yield: the kernel may run it again before the process
 * that it waits for. */
enum {
    SPIN_NS = 20000,
    SLEEP_SHARE = 8,
    SLEEP_MIN_NS = 20000,
    SLEEP_MAX_NS = 1000000,
    TELL_AFTER_S = 5, /* the user, and again when it has taken twice as long */
};

/* In memory that the processes of a host share, which MPI aligns to numbers, not to cache lines. */
struct bell {
    _Atomic uint32_t rung; /* how often */
    _Atomic uint32_t sleeping;
    unsigned char apart[WF_CACHE_LINE]; /* from the next process's */
};

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
    bool crowded; /* fewer cores than processes */
    char *hosts;  /* of all processes, MPI_MAX_PROCESSOR_NAME bytes each */
    MPI_Win shared;
    struct bell **bells; /* of all processes; null: on another host */
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

/* ---- waiting ---- */

struct wait {
    uint32_t from; /* the process that is waited for; the number of processes: all others... */
    bool silent;   /* ...which may take as long as they like */
    int64_t begun; /* 0 before the first look; in ns, like the next two */
    int64_t tell_at; /* of waiting */
    uint32_t rung;   /* the bell, before the last look */
};

static int64_t clock_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void tell(struct joined *own, struct wait *wait, int64_t waited)
{
    bool one = wait->from < own->comm.size;
    int64_t limit = (int64_t)own->comm.wait_limit_s * 1000000000;

    if (wait->tell_at == 0) {
        wait->tell_at = (int64_t)TELL_AFTER_S * 1000000000;
    }
    if (own->comm.tell == NULL || wait->silent || waited < wait->tell_at) {
        return;
    }
    own->comm.tell(
        own->comm.tell_arg,
        &(struct wf_comm_wait){
            .process = own->comm.rank,
            .from = wait->from,
            .host = one ? own->hosts + (size_t)wait->from * MPI_MAX_PROCESSOR_NAME : NULL,
            .seconds = (unsigned)(waited / 1000000000),
        });
    wait->tell_at *= 2;
    if (limit > 0 && wait->tell_at > limit) {
        wait->tell_at = limit;
    }
}

static void ring(struct joined *own, uint32_t to)
{
    struct bell *bell = own->bells[to];

    if (bell == NULL) {
        return;
    }
    /* Both sequentially consistent: either this process sees the sleeper, or that one the number. */
    (void)atomic_fetch_add(&bell->rung, 1);
    if (atomic_load(&bell->sleeping) > 0) {
        (void)syscall(SYS_futex, &bell->rung, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

/* What a collective operation sends is not known. */
static void ring_all(struct joined *own)
{
    for (uint32_t p = 0; p < own->comm.size; p++) {
        if (p != own->comm.rank) {
            ring(own, p);
        }
    }
}

static void sleep_for(struct joined *own, const struct wait *wait, int64_t waited)
{
    struct bell *bell = own->bells[own->comm.rank];
    int64_t ns = waited / SLEEP_SHARE;

    ns = ns < SLEEP_MIN_NS ? SLEEP_MIN_NS : ns < SLEEP_MAX_NS ? ns : SLEEP_MAX_NS;
    atomic_store(&bell->sleeping, 1);
    (void)syscall(SYS_futex, &bell->rung, FUTEX_WAIT, wait->rung,
                  &(struct timespec){.tv_nsec = (long)ns}, NULL, 0);
    atomic_store_explicit(&bell->sleeping, 0, memory_order_relaxed);
}

/* Called when a look at MPI found nothing. */
static void relax(struct joined *own, struct wait *wait)
{
    uint32_t rung = atomic_load(&own->bells[own->comm.rank]->rung);
    int64_t now = clock_ns(), waited = now - wait->begun;
    bool first = wait->begun == 0;

    wait->begun = first ? now : wait->begun;
    if (!first && rung == wait->rung && (own->crowded || waited >= SPIN_NS)) {
        sleep_for(own, wait, waited);
        tell(own, wait, waited);
    }
    wait->rung = rung;
}

/* Waits for an operation. */
static void wait_for(struct joined *own, MPI_Request *request, struct wait wait)
{
    int done = 0;

    for (;;) {
        (void)MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done) {
            return;
        }
        relax(own, &wait);
    }
}

static void comm_close(struct wf_comm *comm)
{
    struct joined *own = joined_of(comm);

    for (struct in_flight *send = own->sending; send != NULL; send = send->next) {
        wait_for(own, &send->request, (struct wait){.silent = true});
    }
    free_list(own->sending);
    free_list(own->idle);
    wf_buf_fini(&own->incoming);
    (void)MPI_Type_free(&own->unit);
    (void)MPI_Win_free(&own->shared);
    (void)MPI_Finalize();
    free(own->hosts);
    free(own->bells);
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
    ring(own, to);
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
    wait_for(own, &request, (struct wait){.from = (uint32_t)status->MPI_SOURCE});
    memcpy(&length, own->incoming.data, sizeof(length));
    in->size = 0;
    wf_buf_append(in, own->incoming.data + sizeof(length), (size_t)length);
}

static void receive_from(struct joined *own, uint32_t from, int tag, struct wf_buf *in)
{
    MPI_Message message;
    MPI_Status status;
    struct wait wait = {.from = from};
    int there = 0;

    for (;;) {
        (void)MPI_Improbe((int)from, tag, own->mpi, &there, &message, &status);
        if (there) {
            break;
        }
        relax(own, &wait);
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
    ring_all(own);
    wait_for(own, &request, (struct wait){.from = comm->size});
    ring_all(own);
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
    /* The first process may have a run of its own meanwhile. */
    wait_for(own, &request, (struct wait){.silent = true});
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

/* Counts the processes on this host, and the cores that they have together: a launcher may have given
 * each some of its own. */
static void count_local(struct joined *own, MPI_Comm local)
{
    int size = 1;
    cpu_set_t cores;

    CPU_ZERO(&cores);
    (void)sched_getaffinity(0, sizeof(cores), &cores);
    (void)MPI_Comm_size(local, &size);
    (void)MPI_Allreduce(MPI_IN_PLACE, &cores, sizeof(cores), MPI_BYTE, MPI_BOR, local);
    own->comm.local_size = (uint32_t)size;
    own->comm.local_cores = (uint32_t)CPU_COUNT(&cores);
    if (own->comm.local_cores == 0) { /* more than the set can hold */
        own->comm.local_cores = (uint32_t)wf_clock_all_cores();
    }
    own->crowded = own->comm.local_cores < own->comm.local_size;
}

static void hang_bells(struct joined *own, MPI_Comm local)
{
    uint32_t *ranks = wf_xcalloc(own->comm.local_size, sizeof(*ranks));
    struct bell *bell = NULL;

    own->bells = wf_xcalloc(own->comm.size, sizeof(struct bell *));
    (void)MPI_Allgather(&own->comm.rank, 1, MPI_UINT32_T, ranks, 1, MPI_UINT32_T, local);
    (void)MPI_Win_allocate_shared(sizeof(*bell), 1, MPI_INFO_NULL, local, &bell, &own->shared);
    memset(bell, 0, sizeof(*bell));
    for (uint32_t i = 0; i < own->comm.local_size; i++) {
        MPI_Aint bytes;
        int unit;
        (void)MPI_Win_shared_query(own->shared, (int)i, &bytes, &unit, &own->bells[ranks[i]]);
    }
    (void)MPI_Barrier(local); /* all bells are still */
    free(ranks);
}

static void meet_host(struct joined *own)
{
    MPI_Comm local;

    (void)MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
    count_local(own, local);
    hang_bells(own, local);
    (void)MPI_Comm_free(&local);
}

static void learn_hosts(struct joined *own)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;

    own->hosts = wf_xcalloc(own->comm.size, MPI_MAX_PROCESSOR_NAME);
    (void)MPI_Get_processor_name(name, &length);
    (void)MPI_Allgather(name, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, own->hosts,
                        MPI_MAX_PROCESSOR_NAME, MPI_CHAR, own->mpi);
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
    own->comm = (struct wf_comm){.ops = &ops, .rank = (uint32_t)rank, .size = (uint32_t)size};
    own->mpi = MPI_COMM_WORLD;
    meet_host(own);
    learn_hosts(own);
    (void)MPI_Type_contiguous(UNIT, MPI_BYTE, &own->unit);
    (void)MPI_Type_commit(&own->unit);
    *out = &own->comm;
    return WF_OK;
}

/* The only symbol that the library shows. */
extern const struct wf_comm_ops wf_comm_ops_of_this_library
    __attribute__((alias("ops"), visibility("default")));
