/* SPDX-License-Identifier: Apache-2.0 */
/* The state that the members of a collective share. */
#include "mpi/lib/coll/exchange.h"

#include "mpi/lib/comm/registry.h"
#include "mpi/lib/interprocess.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/payload.h"

#include <stdlib.h>

struct wl_exchange {
    struct wl_exchange *next;
    uint32_t sequence;
    uint32_t n_left;
    struct wl_part result; /* the same for all */
    bool computing, computed;
    pthread_cond_t done;   /* the result is computed */
    struct wl_part *parts; /* by member; allocated with the first */
    uint64_t *checksums;   /* of the parts, if data is checked */
};

static void lock(struct wl_comm *comm)
{
    (void)pthread_mutex_lock(&comm->lock);
}

static void unlock(struct wl_comm *comm)
{
    (void)pthread_mutex_unlock(&comm->lock);
}

static struct wl_exchange *find_exchange(const struct wl_comm *comm, uint32_t sequence)
{
    struct wl_exchange *exchange = comm->exchanges;

    while (exchange != NULL && exchange->sequence != sequence) {
        exchange = exchange->next;
    }
    return exchange;
}

static struct wl_exchange *find_or_new(struct wl_comm *comm, uint32_t sequence)
{
    struct wl_exchange *exchange = find_exchange(comm, sequence);

    if (exchange == NULL) {
        exchange = wl_calloc(1, sizeof(*exchange));
        exchange->sequence = sequence;
        (void)pthread_cond_init(&exchange->done, NULL);
        exchange->next = comm->exchanges;
        comm->exchanges = exchange;
    }
    return exchange;
}

struct wl_exchange *wl_exchange_join(struct wl_comm *comm, uint32_t sequence)
{
    lock(comm);
    struct wl_exchange *exchange = find_or_new(comm, sequence);
    comm->n_joined = sequence >= comm->n_joined ? sequence + 1 : comm->n_joined;
    unlock(comm);
    return exchange;
}

static void meeting_free(const struct wl_comm *comm, struct wl_exchange *exchange)
{
    for (uint32_t i = 0; exchange->parts != NULL && i < comm->size; i++) {
        free(exchange->parts[i].bytes);
    }
    free(exchange->parts);
    free(exchange->checksums);
    free(exchange->result.bytes);
    (void)pthread_cond_destroy(&exchange->done);
    free(exchange);
}

void wl_exchange_leave(struct wl_comm *comm, struct wl_exchange *exchange)
{
    lock(comm);
    bool last = ++exchange->n_left == comm->n_local;
    if (last) {
        struct wl_exchange **at = &comm->exchanges;
        while (*at != exchange) {
            at = &(*at)->next;
        }
        *at = exchange->next;
    }
    unlock(comm);
    if (last) {
        meeting_free(comm, exchange);
    }
}

static void put(const struct wl_comm *comm, struct wl_exchange *exchange, uint32_t member,
                struct wl_part part)
{
    if (member == WL_FOR_ALL) {
        exchange->result = part;
        exchange->computed = true;
        return;
    }
    if (exchange->parts == NULL) {
        exchange->parts = wl_calloc(comm->size, sizeof(struct wl_part));
    }
    exchange->parts[member] = part;
    if (wl.port->checks_data) {
        if (exchange->checksums == NULL) {
            exchange->checksums = wl_calloc(comm->size, sizeof(uint64_t));
        }
        exchange->checksums[member] = wl_payload_checksum(part.bytes, part.size);
    }
}

void wl_exchange_put_local(struct wl_comm *comm, struct wl_exchange *exchange, uint32_t member,
                           struct wl_part part)
{
    lock(comm);
    put(comm, exchange, member, part);
    unlock(comm);
}

void wl_exchange_put_remote(const struct wl_comm *comm, const struct wl_exchange *exchange,
                            uint32_t member, struct wl_part part, uint32_t process)
{
    wl_part_send(
        process,
        &(struct wl_part_key){comm->id, wl_member(comm, 0), exchange->sequence, member}, part);
}

void wl_exchange_put(struct wl_comm *comm, struct wl_exchange *exchange, uint32_t member,
                     struct wl_part part)
{
    for (uint32_t i = 0; i < comm->n_processes; i++) {
        wl_exchange_put_remote(comm, exchange, member, part, comm->processes[i]);
    }
    wl_exchange_put_local(comm, exchange, member, part);
}

void wl_exchange_put_for(struct wl_comm *comm, struct wl_exchange *exchange, uint32_t member,
                         struct wl_part part, struct wl_members to)
{
    unsigned char *sent =
        comm->n_processes > 0 ? wl_calloc(wl.processes->n_processes, 1) : NULL;
    bool needed_here = false;

    for (uint32_t i = 0; i < to.n; i++) {
        if (to.list[i] == WF_PROC_NULL) {
            continue;
        }
        uint32_t rank = wl_member(comm, to.list[i]);
        if (wl_is_local(rank)) {
            needed_here = true;
        } else if (sent != NULL && !sent[wl_process_of(rank)]) {
            wl_exchange_put_remote(comm, exchange, member, part, wl_process_of(rank));
            sent[wl_process_of(rank)] = 1;
        }
    }
    if (needed_here) {
        wl_exchange_put_local(comm, exchange, member, part);
    } else {
        free(part.bytes);
    }
    free(sent);
}

void wl_exchange_receive(struct wl_comm *comm, const struct wl_part_key *key,
                         struct wl_part part)
{
    lock(comm);
    if (key->sequence < comm->n_joined && find_exchange(comm, key->sequence) == NULL) {
        free(part.bytes);
    } else {
        put(comm, find_or_new(comm, key->sequence), key->member, part);
    }
    unlock(comm);
}

struct wl_part wl_exchange_part(struct wl_comm *comm, struct wl_exchange *exchange,
                                uint32_t member)
{
    lock(comm);
    struct wl_part part =
        exchange->parts != NULL ? exchange->parts[member] : (struct wl_part){.bytes = NULL};
    uint64_t checksum = exchange->checksums != NULL ? exchange->checksums[member] : 0;
    unlock(comm);
    wl_payload_check(part.bytes, part.size, checksum);
    return part;
}

const struct wl_part *wl_exchange_parts(struct wl_comm *comm,
                                        const struct wl_exchange *exchange)
{
    lock(comm);
    const struct wl_part *parts = exchange->parts;
    unlock(comm);
    return parts;
}

struct wl_part wl_exchange_result(struct wl_comm *comm, struct wl_exchange *exchange)
{
    lock(comm);
    struct wl_part part = exchange->result;
    unlock(comm);
    return part;
}

/* Computes without the lock: it takes long, and may call functions of the program. */
struct wl_part wl_exchange_compute(struct wl_comm *comm, struct wl_exchange *exchange,
                                   struct wl_part (*compute)(void *arg), void *arg)
{
    lock(comm);
    while (exchange->computing && !exchange->computed) {
        (void)pthread_cond_wait(&exchange->done, &comm->lock);
    }
    if (!exchange->computed) {
        exchange->computing = true;
        unlock(comm);
        struct wl_part result = compute(arg);
        lock(comm);
        exchange->result = result;
        exchange->computed = true;
        (void)pthread_cond_broadcast(&exchange->done);
    }
    struct wl_part part = exchange->result;
    unlock(comm);
    return part;
}

void wl_exchanges_free(struct wl_comm *comm)
{
    while (comm->exchanges != NULL) {
        struct wl_exchange *next = comm->exchanges->next;
        meeting_free(comm, comm->exchanges);
        comm->exchanges = next;
    }
}
