/* SPDX-License-Identifier: Apache-2.0 */
/* Info keys of windows (MPI-3.1, 11.2): a window keeps those of the standard and tells their
 * values. They change nothing else: the library promises more than any of them asks for. */
#include "mpi/lib/memory.h"
#include "mpi/lib/rma/window.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *key, *value; /* by default */
} keys[] = {
    {"no_locks", "false"},
    {"accumulate_ordering", "rar,raw,war,waw"},
    {"accumulate_ops", "same_op_no_op"},
    {"same_size", "false"},
    {"same_disp_unit", "false"},
    {"alloc_shared_noncontig", "false"},
};
enum { N_KEYS = sizeof(keys) / sizeof(keys[0]) };
_Static_assert((int)N_KEYS == (int)WL_WIN_KEYS, "a value for each key");

int wl_MPI_Win_set_info(struct wl_rank *rank, MPI_Win handle, MPI_Info info)
{
    struct wl_win *win = wl_win_of(rank, handle);
    char value[MPI_MAX_INFO_VAL + 1];
    int flag;

    for (int i = 0; info != MPI_INFO_NULL && i < N_KEYS; i++) {
        (void)wl_MPI_Info_get(rank, info, keys[i].key, MPI_MAX_INFO_VAL, value, &flag);
        if (flag) {
            free(win->info[i]);
            win->info[i] = wl_malloc(strlen(value) + 1);
            memcpy(win->info[i], value, strlen(value) + 1);
        }
    }
    return MPI_SUCCESS;
}

int wl_MPI_Win_get_info(struct wl_rank *rank, MPI_Win handle, MPI_Info *info)
{
    const struct wl_win *win = wl_win_of(rank, handle);

    (void)wl_MPI_Info_create(rank, info);
    for (int i = 0; i < N_KEYS; i++) {
        (void)wl_MPI_Info_set(rank, *info, keys[i].key,
                              win->info[i] != NULL ? win->info[i] : keys[i].value);
    }
    return MPI_SUCCESS;
}

void wl_win_info_free(struct wl_win *win)
{
    for (int i = 0; i < N_KEYS; i++) {
        free(win->info[i]);
    }
}
