/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/shared_state.h"

#include "mpi/vrank/outbox.h"

#include <string.h>

static void lock(struct wf_vrank_shared *shared)
{
    (void)pthread_mutex_lock(&shared->lock);
}

static void unlock(struct wf_vrank_shared *shared)
{
    (void)pthread_mutex_unlock(&shared->lock);
}

void wf_vrank_shared_init(struct wf_vrank_shared *shared)
{
    (void)pthread_mutex_init(&shared->lock, NULL);
    shared->names = wf_vrank_names_new(1, 0);
}

void wf_vrank_shared_fini(struct wf_vrank_shared *shared)
{
    wf_vrank_outbox_free(shared->outbox);
    wf_vrank_names_free(shared->names);
    wf_findings_fini(&shared->findings);
    (void)pthread_mutex_destroy(&shared->lock);
}

/* ---- processes ---- */

static uint32_t home_of(void *arg, uint32_t rank)
{
    const struct wf_vrank_shared *shared = arg;

    return shared->homes->of(shared->homes, rank);
}

static void ship(void *arg, uint32_t process, const struct wf_port_bytes *pieces, uint32_t n)
{
    wf_vrank_outbox_put(((struct wf_vrank_shared *)arg)->outbox, process, WF_VRANK_PARCEL_DATA,
                        pieces, n);
}

void wf_vrank_shared_spread(struct wf_vrank_shared *shared, const struct wf_homes *homes,
                            const struct wf_port_library *library)
{
    wf_vrank_outbox_free(shared->outbox);
    wf_vrank_names_free(shared->names);
    shared->outbox = wf_vrank_outbox_new(homes);
    shared->names = wf_vrank_names_new(homes->n_processes, homes->own);
    shared->homes = homes;
    shared->library = library;
    shared->processes = (struct wf_port_processes){.n_processes = homes->n_processes,
                                                   .own = homes->own,
                                                   .arg = shared,
                                                   .home = home_of,
                                                   .ship = ship};
    library->set_processes(&shared->processes);
}

/* ---- the end of the program ---- */

static void note_end(struct wf_vrank_shared *shared, const struct wf_vrank_end *end)
{
    struct wf_vrank_end *known = &shared->end;

    lock(shared);
    if (!known->ended || end->clock < known->clock ||
        (end->clock == known->clock && end->rank < known->rank)) {
        *known = *end;
    }
    unlock(shared);
    atomic_store(&shared->over, true);
}

void wf_vrank_shared_end(struct wf_vrank_shared *shared, const struct wf_vrank_end *end)
{
    const struct wf_port_bytes piece = {end, sizeof(*end)};

    note_end(shared, end);
    wf_vrank_outbox_put_all(shared->outbox, WF_VRANK_PARCEL_END, &piece, 1);
}

/* ---- names ---- */

uint32_t wf_vrank_shared_number(struct wf_vrank_shared *shared, enum wf_vrank_name_kind kind,
                                const char *name)
{
    const struct wf_port_bytes pieces[] = {
        {&shared->processes.own, sizeof(shared->processes.own)}, {name, strlen(name) + 1}};
    bool is_new;

    lock(shared);
    uint32_t number = wf_vrank_names_number(shared->names, kind, name, &is_new);
    if (is_new && kind == WF_VRANK_NAME_REGION) {
        /* Under the lock: others must receive names in the order of their numbers. */
        wf_vrank_outbox_put_all(shared->outbox, WF_VRANK_PARCEL_NAME, pieces, 2);
    }
    unlock(shared);
    return number;
}

const char *wf_vrank_shared_name(struct wf_vrank_shared *shared, enum wf_vrank_name_kind kind,
                                 uint32_t number)
{
    lock(shared); /* ranks may be adding names */
    const char *name = wf_vrank_names_at(shared->names, kind, number);
    unlock(shared);
    return name;
}

static void hear_name(struct wf_vrank_shared *shared, const unsigned char *bytes)
{
    uint32_t process;

    memcpy(&process, bytes, sizeof(process));
    lock(shared);
    wf_vrank_names_heard(shared->names, process, WF_VRANK_NAME_REGION,
                         (const char *)bytes + sizeof(process));
    unlock(shared);
}

/* ---- findings ---- */

void wf_vrank_shared_found(struct wf_vrank_shared *shared, const struct wf_finding *finding)
{
    lock(shared);
    wf_findings_add(&shared->findings, finding);
    unlock(shared);
}

void wf_vrank_shared_findings(struct wf_vrank_shared *shared, struct wf_findings *out)
{
    lock(shared);
    for (uint32_t i = 0; i < shared->findings.n; i++) {
        wf_findings_add(out, &shared->findings.items[i]);
    }
    unlock(shared);
}

/* ---- parcels ---- */

void wf_vrank_shared_load(struct wf_vrank_shared *shared, uint32_t process, struct wf_buf *out)
{
    wf_vrank_outbox_take(shared->outbox, process, out);
}

static void read_parcel(void *arg, enum wf_vrank_parcel kind, const unsigned char *bytes,
                        size_t size)
{
    struct wf_vrank_shared *shared = arg;
    struct wf_vrank_end end;

    if (kind == WF_VRANK_PARCEL_END) {
        memcpy(&end, bytes, sizeof(end));
        note_end(shared, &end);
    } else if (kind == WF_VRANK_PARCEL_NAME) {
        hear_name(shared, bytes);
    } else {
        shared->library->arrived(bytes, size);
    }
}

void wf_vrank_shared_unload(struct wf_vrank_shared *shared, const unsigned char *bytes,
                            size_t size)
{
    wf_vrank_parcels_read(bytes, size, read_parcel, shared);
}
