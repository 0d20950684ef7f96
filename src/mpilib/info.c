/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of keys and values. */
#include "mpilib/datatype.h"
#include "mpilib/memory.h"
#include "mpilib/properties.h"
#include "mpilib/window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    char *key, *value;
};

struct info {
    int n, room;
    struct pair *pairs;
};

static int find(const struct info *info, const char *key)
{
    int i = 0;

    while (i < info->n && strcmp(info->pairs[i].key, key) != 0) {
        i++;
    }
    return i;
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(wl_malloc(size), text, size);
}

static void put(struct info *info, const char *key, const char *value)
{
    int i = find(info, key);

    if (i == info->n) {
        if (info->n == info->room) {
            info->room = info->room == 0 ? 4 : 2 * info->room;
            info->pairs = wl_realloc(info->pairs, (size_t)info->room, sizeof(struct pair));
        }
        info->pairs[info->n++] = (struct pair){copy_text(key), NULL};
    }
    free(info->pairs[i].value);
    info->pairs[i].value = copy_text(value);
}

static struct info *info_new(struct wl_rank *rank, MPI_Info *handle)
{
    struct info *info = wl_calloc(1, sizeof(*info));

    *handle = wl_table_add(&rank->infos, WL_INFO, info);
    return info;
}

/* What the program was started with, as far as the library knows it. */
static struct info *info_env(struct wl_rank *rank)
{
    static const char *const levels[] = {
        [MPI_THREAD_SINGLE] = "MPI_THREAD_SINGLE",
        [MPI_THREAD_FUNNELED] = "MPI_THREAD_FUNNELED",
    };
    char number[16];

    if (rank->info_env == 0) {
        struct info *made = info_new(rank, &rank->info_env);
        (void)snprintf(number, sizeof(number), "%u", wl.n_ranks);
        put(made, "maxprocs", number);
        put(made, "thread_level", levels[rank->thread_level]);
    }
    return wl_table_get(&rank->infos, WL_INFO, rank->info_env);
}

static struct info *info_of(struct wl_rank *rank, MPI_Info handle, const char *function)
{
    if (handle == MPI_INFO_ENV) {
        return info_env(rank);
    }
    struct info *info = wl_table_get(&rank->infos, WL_INFO, handle);

    if (info == NULL) {
        wl_fatal(rank, function, "there is no info 0x%x", (unsigned)handle);
    }
    return info;
}

int MPI_Info_create(MPI_Info *info)
{
    struct wl_rank *rank = wl_enter();

    (void)info_new(rank, info);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Info_dup(MPI_Info handle, MPI_Info *newinfo)
{
    struct wl_rank *rank = wl_enter();
    const struct info *info = info_of(rank, handle, "MPI_Info_dup");
    struct info *copy = info_new(rank, newinfo);

    for (int i = 0; i < info->n; i++) {
        put(copy, info->pairs[i].key, info->pairs[i].value);
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Info_free(MPI_Info *handle)
{
    struct wl_rank *rank = wl_enter();
    if (*handle == MPI_INFO_ENV) {
        wl_fatal(rank, "MPI_Info_free", "MPI_INFO_ENV cannot be freed");
    }
    struct info *info = info_of(rank, *handle, "MPI_Info_free");

    for (int i = 0; i < info->n; i++) {
        free(info->pairs[i].key);
        free(info->pairs[i].value);
    }
    free(info->pairs);
    free(wl_table_take(&rank->infos, WL_INFO, *handle));
    *handle = MPI_INFO_NULL;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Info_set(MPI_Info handle, const char *key, const char *value)
{
    struct wl_rank *rank = wl_enter();

    put(info_of(rank, handle, "MPI_Info_set"), key, value);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Info_delete(MPI_Info handle, const char *key)
{
    struct wl_rank *rank = wl_enter();
    struct info *info = info_of(rank, handle, "MPI_Info_delete");
    int i = find(info, key);

    if (i == info->n) {
        wl_leave(rank);
        return MPI_ERR_INFO_NOKEY;
    }
    free(info->pairs[i].key);
    free(info->pairs[i].value);
    info->n--;
    memmove(&info->pairs[i], &info->pairs[i + 1], (size_t)(info->n - i) * sizeof(struct pair));
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Info_get(MPI_Info handle, const char *key, int valuelen, char *value, int *flag)
{
    struct wl_rank *rank = wl_enter();
    const struct info *info = info_of(rank, handle, "MPI_Info_get");
    int i = find(info, key);

    *flag = i < info->n;
    if (*flag) {
        (void)snprintf(value, (size_t)valuelen + 1, "%s", info->pairs[i].value);
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Info_get_valuelen(MPI_Info handle, const char *key, int *valuelen, int *flag)
{
    struct wl_rank *rank = wl_enter();
    const struct info *info = info_of(rank, handle, "MPI_Info_get_valuelen");
    int i = find(info, key);

    *flag = i < info->n;
    if (*flag) {
        *valuelen = (int)strlen(info->pairs[i].value);
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Info_get_nkeys(MPI_Info handle, int *nkeys)
{
    struct wl_rank *rank = wl_enter();

    *nkeys = info_of(rank, handle, "MPI_Info_get_nkeys")->n;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Info_get_nthkey(MPI_Info handle, int n, char *key)
{
    struct wl_rank *rank = wl_enter();
    const struct info *info = info_of(rank, handle, "MPI_Info_get_nthkey");

    if (n < 0 || n >= info->n) {
        wl_fatal(rank, "MPI_Info_get_nthkey", "there is no key %d of %d", n, info->n);
    }
    (void)snprintf(key, MPI_MAX_INFO_KEY, "%s", info->pairs[n].key);
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* ---- of other objects: hints, of which none is taken ---- */

int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    (void)comm;
    (void)info;
    return MPI_SUCCESS;
}

int MPI_Comm_get_info(MPI_Comm comm, MPI_Info *info)
{
    (void)comm;
    return MPI_Info_create(info);
}

int MPI_Win_set_info(MPI_Win win, MPI_Info info)
{
    (void)win;
    (void)info;
    return MPI_SUCCESS;
}

int MPI_Win_get_info(MPI_Win win, MPI_Info *info)
{
    (void)win;
    return MPI_Info_create(info);
}

/* ---- names ---- */

static void give_name(struct wl_extra **extra, const char *name)
{
    struct wl_extra *own = wl_extra_of(extra);

    (void)snprintf(own->name, sizeof(own->name), "%s", name);
    own->named = true;
}

static void tell_name(const struct wl_extra *extra, const char *otherwise, char *name,
                      int *length)
{
    *length = snprintf(name, MPI_MAX_OBJECT_NAME, "%s",
                       extra != NULL && extra->named ? extra->name : otherwise);
}

int MPI_Comm_set_name(MPI_Comm comm, const char *name)
{
    struct wl_rank *rank = wl_enter();

    give_name(wl_comm_of(rank, comm, "MPI_Comm_set_name").extra, name);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Comm_get_name(MPI_Comm comm, char *name, int *length)
{
    struct wl_rank *rank = wl_enter();
    const char *otherwise = comm == MPI_COMM_WORLD  ? "MPI_COMM_WORLD"
                            : comm == MPI_COMM_SELF ? "MPI_COMM_SELF"
                                                    : "";

    tell_name(*wl_comm_of(rank, comm, "MPI_Comm_get_name").extra, otherwise, name, length);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Win_set_name(MPI_Win win, const char *name)
{
    struct wl_rank *rank = wl_enter();

    give_name(wl_win_extra(rank, win, "MPI_Win_set_name"), name);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Win_get_name(MPI_Win win, char *name, int *length)
{
    struct wl_rank *rank = wl_enter();

    tell_name(*wl_win_extra(rank, win, "MPI_Win_get_name"), "", name, length);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Type_set_name(MPI_Datatype datatype, const char *name)
{
    struct wl_rank *rank = wl_enter();

    give_name(wl_type_extra(rank, datatype, "MPI_Type_set_name"), name);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Type_get_name(MPI_Datatype datatype, char *name, int *length)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_type *type = wl_type_of(rank, datatype, "MPI_Type_get_name");

    tell_name(*wl_type_extra(rank, datatype, "MPI_Type_get_name"),
              type->name != NULL ? type->name : "", name, length);
    wl_leave(rank);
    return MPI_SUCCESS;
}
