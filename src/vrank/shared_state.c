/* SPDX-License-Identifier: Apache-2.0 */
#include "vrank/shared_state.h"

#include "vrank/outbox.h"

#include <string.h>

static void lock(struct wf_vrank_shared *common)
{
    (void)pthread_mutex_lock(&common->lock);
}

static void unlock(struct wf_vrank_shared *common)
{
    (void)pthread_mutex_unlock(&common->lock);
}

void wf_vrank_shared_init(struct wf_vrank_shared *common)
{
    (void)pthread_mutex_init(&common->lock, NULL);
    common->names = wf_vrank_names_new(1, 0);
}

void wf_vrank_shared_fini(struct wf_vrank_shared *common)
{
    wf_vrank_outbox_free(common->remote);
    wf_vrank_names_free(common->names);
    (void)pthread_mutex_destroy(&common->lock);
}

/* ---- the way to each other ---- */

static uint32_t home_of(void *arg, uint32_t rank)
{
    const struct wf_vrank_shared *common = arg;

    return common->homes->of(common->homes, rank);
}

static void ship(void *arg, uint32_t process, const struct wf_port_bytes *pieces, uint32_t n)
{
    wf_vrank_outbox_put(((struct wf_vrank_shared *)arg)->remote, process, WF_VRANK_PARCEL_DATA,
                        pieces, n);
}

void wf_vrank_shared_spread(struct wf_vrank_shared *common, const struct wf_homes *homes,
                            const struct wf_port_library *library)
{
    wf_vrank_outbox_free(common->remote);
    wf_vrank_names_free(common->names);
    common->remote = wf_vrank_outbox_new(homes);
    common->names = wf_vrank_names_new(homes->n_processes, homes->own);
    common->homes = homes;
    common->library = library;
    common->spread = (struct wf_port_processes){.n_processes = homes->n_processes,
                                                .own = homes->own,
                                                .arg = common,
                                                .home = home_of,
                                                .ship = ship};
    library->set_processes(&common->spread);
}

/* ---- how it ends ---- */

static void note_end(struct wf_vrank_shared *common, const struct wf_vrank_end *end)
{
    struct wf_vrank_end *known = &common->end;

    lock(common);
    if (!known->ended || end->clock < known->clock ||
        (end->clock == known->clock && end->rank < known->rank)) {
        *known = *end;
    }
    unlock(common);
    atomic_store(&common->over, true);
}

void wf_vrank_shared_end(struct wf_vrank_shared *common, const struct wf_vrank_end *end)
{
    const struct wf_port_bytes piece = {end, sizeof(*end)};

    note_end(common, end);
    wf_vrank_outbox_put_all(common->remote, WF_VRANK_PARCEL_END, &piece, 1);
}

/* ---- names ---- */

uint32_t wf_vrank_shared_number(struct wf_vrank_shared *common, enum wf_vrank_name_kind kind,
                                const char *name)
{
    const struct wf_port_bytes pieces[] = {{&common->spread.own, sizeof(common->spread.own)},
                                           {name, strlen(name) + 1}};
    bool is_new;

    lock(common);
    uint32_t number = wf_vrank_names_number(common->names, kind, name, &is_new);
    if (is_new &&
        kind == WF_VRANK_NAME_REGION) { /* others hear it in the order of the numbers */
        wf_vrank_outbox_put_all(common->remote, WF_VRANK_PARCEL_NAME, pieces, 2);
    }
    unlock(common);
    return number;
}

const char *wf_vrank_shared_name(struct wf_vrank_shared *common, enum wf_vrank_name_kind kind,
                                 uint32_t number)
{
    lock(common); /* ranks may be naming others */
    const char *name = wf_vrank_names_at(common->names, kind, number);
    unlock(common);
    return name;
}

static void hear_name(struct wf_vrank_shared *common, const unsigned char *bytes)
{
    uint32_t process;

    memcpy(&process, bytes, sizeof(process));
    lock(common);
    wf_vrank_names_heard(common->names, process, WF_VRANK_NAME_REGION,
                         (const char *)bytes + sizeof(process));
    unlock(common);
}

/* ---- parcels ---- */

void wf_vrank_shared_load(struct wf_vrank_shared *common, uint32_t process, struct wf_buf *out)
{
    wf_vrank_outbox_take(common->remote, process, out);
}

static void open_parcel(void *arg, enum wf_vrank_parcel kind, const unsigned char *bytes,
                        size_t size)
{
    struct wf_vrank_shared *common = arg;
    struct wf_vrank_end end;

    if (kind == WF_VRANK_PARCEL_END) {
        memcpy(&end, bytes, sizeof(end));
        note_end(common, &end);
    } else if (kind == WF_VRANK_PARCEL_NAME) {
        hear_name(common, bytes);
    } else {
        common->library->arrived(bytes, size);
    }
}

void wf_vrank_shared_unload(struct wf_vrank_shared *common, const unsigned char *bytes,
                            size_t size)
{
    wf_vrank_parcels_read(bytes, size, open_parcel, common);
}
