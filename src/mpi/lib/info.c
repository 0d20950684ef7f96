/* SPDX-License-Identifier: Apache-2.0 */
/* Infos: lists of keys and values (MPI-3.1, 9). */
#include "mpi/lib/comm/communicator.h"
#include "mpi/lib/library.h"
#include "mpi/lib/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    char *key, *value;
};

struct info {
    int n, capacity;
    struct pair *pairs;
};

static int find_pair(const struct info *info, const char *key)
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
    int i = find_pair(info, key);

    if (i == info->n) {
        WL_GROW(info->pairs, info->n, info->capacity);
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

/* MPI_INFO_ENV: how the program was started, as far as the library knows. */
static struct info *info_env(struct wl_rank *rank)
{
    char number[16];

    if (rank->info_env == 0) {
        struct info *created = info_new(rank, &rank->info_env);
        (void)snprintf(number, sizeof(number), "%u", wl_comm_of(rank, MPI_COMM_WORLD).size);
        put(created, "maxprocs", number);
        put(created, "thread_level", wl_thread_level_name(rank->thread_level));
    }
    return wl_table_get(&rank->infos, WL_INFO, rank->info_env);
}

static struct info *info_of(struct wl_rank *rank, MPI_Info handle)
{
    if (handle == MPI_INFO_ENV) {
        return info_env(rank);
    }
    struct info *info = wl_table_get(&rank->infos, WL_INFO, handle);

    if (info == NULL) {
        wl_fatal(rank, "there is no info 0x%x", (unsigned)handle);
    }
    return info;
}

int wl_MPI_Info_create(struct wl_rank *rank, MPI_Info *info)
{
    (void)info_new(rank, info);
    return MPI_SUCCESS;
}

int wl_MPI_Info_dup(struct wl_rank *rank, MPI_Info handle, MPI_Info *newinfo)
{
    const struct info *info = info_of(rank, handle);
    struct info *copy = info_new(rank, newinfo);

    for (int i = 0; i < info->n; i++) {
        put(copy, info->pairs[i].key, info->pairs[i].value);
    }
    return MPI_SUCCESS;
}

int wl_MPI_Info_free(struct wl_rank *rank, MPI_Info *handle)
{
    if (*handle == MPI_INFO_ENV) {
        wl_fatal(rank, "MPI_INFO_ENV cannot be freed");
    }
    struct info *info = info_of(rank, *handle);

    for (int i = 0; i < info->n; i++) {
        free(info->pairs[i].key);
        free(info->pairs[i].value);
    }
    free(info->pairs);
    free(wl_table_take(&rank->infos, WL_INFO, *handle));
    *handle = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

int wl_MPI_Info_set(struct wl_rank *rank, MPI_Info handle, const char *key, const char *value)
{
    put(info_of(rank, handle), key, value);
    return MPI_SUCCESS;
}

int wl_MPI_Info_delete(struct wl_rank *rank, MPI_Info handle, const char *key)
{
    struct info *info = info_of(rank, handle);
    int i = find_pair(info, key);

    if (i == info->n) {
        return MPI_ERR_INFO_NOKEY;
    }
    free(info->pairs[i].key);
    free(info->pairs[i].value);
    info->n--;
    memmove(&info->pairs[i], &info->pairs[i + 1], (size_t)(info->n - i) * sizeof(struct pair));
    return MPI_SUCCESS;
}

/* The value of a key; null if there is none. Sets *flag. */
static const char *value_of(struct wl_rank *rank, MPI_Info handle, const char *key, int *flag)
{
    const struct info *info = info_of(rank, handle);
    int i = find_pair(info, key);

    *flag = i < info->n;
    return *flag ? info->pairs[i].value : NULL;
}

int wl_MPI_Info_get(struct wl_rank *rank, MPI_Info handle, const char *key, int valuelen,
                    char *value, int *flag)
{
    const char *text = value_of(rank, handle, key, flag);

    if (text != NULL) {
        (void)snprintf(value, (size_t)valuelen + 1, "%s", text);
    }
    return MPI_SUCCESS;
}

/* Replaces MPI_Info_get() in MPI-4.0: *buflen counts the byte that ends the string, and becomes
 * what the whole value needs. */
int wl_MPI_Info_get_string(struct wl_rank *rank, MPI_Info handle, const char *key, int *buflen,
                           char *value, int *flag)
{
    const char *text = value_of(rank, handle, key, flag);

    if (text != NULL && *buflen > 0) {
        (void)snprintf(value, (size_t)*buflen, "%s", text);
    }
    *buflen = text != NULL ? (int)strlen(text) + 1 : *buflen;
    return MPI_SUCCESS;
}

/* A copy of MPI_INFO_ENV, also before MPI_Init(). */
int wl_MPI_Info_create_env(struct wl_rank *rank, int argc, char **argv, MPI_Info *info)
{
    return wl_MPI_Info_dup(rank, MPI_INFO_ENV, info);
}

int wl_MPI_Info_get_valuelen(struct wl_rank *rank, MPI_Info handle, const char *key,
                             int *valuelen, int *flag)
{
    const char *text = value_of(rank, handle, key, flag);

    *valuelen = text != NULL ? (int)strlen(text) : *valuelen;
    return MPI_SUCCESS;
}

int wl_MPI_Info_get_nkeys(struct wl_rank *rank, MPI_Info handle, int *nkeys)
{
    *nkeys = info_of(rank, handle)->n;
    return MPI_SUCCESS;
}

int wl_MPI_Info_get_nthkey(struct wl_rank *rank, MPI_Info handle, int n, char *key)
{
    const struct info *info = info_of(rank, handle);

    if (n < 0 || n >= info->n) {
        wl_fatal(rank, "there is no key %d of %d", n, info->n);
    }
    (void)snprintf(key, MPI_MAX_INFO_KEY, "%s", info->pairs[n].key);
    return MPI_SUCCESS;
}

/* ---- infos of other objects: hints, which the library ignores ---- */
