/* SPDX-License-Identifier: Apache-2.0 */
/* Cartesian topologies. */
#include "mpilib/topology.h"

#include "mpilib/errors.h"
#include "mpilib/memory.h"

#include <stdlib.h>
#include <string.h>

int *wl_copy_ints(const int *list, size_t n)
{
    int *copy = wl_malloc(n * sizeof(int));

    if (n > 0) {
        memcpy(copy, list, n * sizeof(int));
    }
    return copy;
}

const struct wl_topology *wl_topology_of(struct wl_rank *rank, MPI_Comm comm, int kind,
                                         const char *function)
{
    struct wl_view view = wl_comm_of(rank, comm, function);
    const struct wl_topology *topology = *view.extra != NULL ? (*view.extra)->topology : NULL;

    if (topology == NULL || topology->kind != kind) {
        wl_fatal(rank, function, "the communicator has no such topology");
    }
    return topology;
}

void wl_topology_give(struct wl_rank *rank, MPI_Comm comm, struct wl_topology *topology)
{
    struct wl_view view = wl_comm_of(rank, comm, "topology");

    wl_comm_extra(&view)->topology = topology;
}

int MPI_Topo_test(MPI_Comm comm, int *status)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Topo_test");

    *status = *view.extra != NULL && (*view.extra)->topology != NULL
                  ? (*view.extra)->topology->kind
                  : MPI_UNDEFINED;
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* ---- Cartesian ---- */

static void to_coords(const struct wl_topology *cart, int place, int *coords)
{
    for (int d = cart->n - 1; d >= 0; d--) {
        coords[d] = place % cart->dims[d];
        place /= cart->dims[d];
    }
}

/* Coordinates outside wrap around where the grid does; else there is nobody. */
static int to_place(const struct wl_topology *cart, const int *coords)
{
    int place = 0;

    for (int d = 0; d < cart->n; d++) {
        int at = coords[d], size = cart->dims[d];
        if (at < 0 || at >= size) {
            if (!cart->periods[d]) {
                return MPI_PROC_NULL;
            }
            at = (at % size + size) % size;
        }
        place = place * size + at;
    }
    return place;
}

static struct wl_topology *cart_new(int n, const int *dims, const int *periods, int place)
{
    struct wl_topology *cart = wl_calloc(1, sizeof(*cart));

    *cart = (struct wl_topology){.kind = MPI_CART,
                                 .n = n,
                                 .dims = wl_copy_ints(dims, (size_t)n),
                                 .periods = wl_copy_ints(periods, (size_t)n),
                                 .coords = wl_calloc((size_t)n, sizeof(int))};
    for (int d = 0; d < n; d++) {
        cart->periods[d] = periods[d] != 0;
    }
    to_coords(cart, place, cart->coords);
    return cart;
}

int MPI_Cart_create(MPI_Comm comm, int ndims, const int *dims, const int *periods, int reorder,
                    MPI_Comm *newcomm)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Cart_create");
    uint64_t size = 1;

    (void)reorder;
    for (int d = 0; d < ndims; d++) {
        size *= dims[d] > 0 ? (uint64_t)dims[d] : view.size + UINT64_C(1);
    }
    if (size > view.size) {
        int code = wl_error(rank, comm, MPI_ERR_DIMS, "MPI_Cart_create",
                            "a grid that does not fit into %u ranks", view.size);
        wl_leave(rank);
        return code;
    }
    const struct wl_wish wish = {.color = view.rank < size ? 0 : MPI_UNDEFINED};
    *newcomm = wl_comm_split(rank, &view, &wish, WF_OP_CART_CREATE);
    if (*newcomm != MPI_COMM_NULL) {
        wl_topology_give(rank, *newcomm, cart_new(ndims, dims, periods, (int)view.rank));
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Cart_map(MPI_Comm comm, int ndims, const int *dims, const int *periods, int *newrank)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Cart_map");
    uint64_t size = 1;

    (void)periods;
    for (int d = 0; d < ndims; d++) {
        size *= (uint64_t)dims[d];
    }
    *newrank = view.rank < size ? (int)view.rank : MPI_UNDEFINED;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Cartdim_get(MPI_Comm comm, int *ndims)
{
    struct wl_rank *rank = wl_enter();

    *ndims = wl_topology_of(rank, comm, MPI_CART, "MPI_Cartdim_get")->n;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Cart_get(MPI_Comm comm, int maxdims, int *dims, int *periods, int *coords)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_topology *cart = wl_topology_of(rank, comm, MPI_CART, "MPI_Cart_get");

    for (int d = 0; d < cart->n && d < maxdims; d++) {
        dims[d] = cart->dims[d];
        periods[d] = cart->periods[d];
        coords[d] = cart->coords[d];
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Cart_rank(MPI_Comm comm, const int *coords, int *place)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_topology *cart = wl_topology_of(rank, comm, MPI_CART, "MPI_Cart_rank");
    int code = MPI_SUCCESS;

    *place = to_place(cart, coords);
    if (*place == MPI_PROC_NULL) {
        code = wl_error(rank, comm, MPI_ERR_ARG, "MPI_Cart_rank",
                        "coordinates outside of the grid");
    }
    wl_leave(rank);
    return code;
}

int MPI_Cart_coords(MPI_Comm comm, int place, int maxdims, int *coords)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_topology *cart = wl_topology_of(rank, comm, MPI_CART, "MPI_Cart_coords");
    int *all = wl_calloc((size_t)cart->n, sizeof(int));

    to_coords(cart, place, all);
    for (int d = 0; d < cart->n && d < maxdims; d++) {
        coords[d] = all[d];
    }
    free(all);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int wl_cart_neighbor(const struct wl_topology *cart, int direction, int displacement)
{
    int *there = wl_copy_ints(cart->coords, (size_t)cart->n);

    there[direction] += displacement;
    int place = to_place(cart, there);
    free(there);
    return place;
}

int MPI_Cart_shift(MPI_Comm comm, int direction, int displacement, int *source, int *dest)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_topology *cart = wl_topology_of(rank, comm, MPI_CART, "MPI_Cart_shift");

    if (direction < 0 || direction >= cart->n) {
        wl_fatal(rank, "MPI_Cart_shift", "there is no dimension %d of %d", direction, cart->n);
    }
    *source = wl_cart_neighbor(cart, direction, -displacement);
    *dest = wl_cart_neighbor(cart, direction, displacement);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Cart_sub(MPI_Comm comm, const int *remain_dims, MPI_Comm *newcomm)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Cart_sub");
    const struct wl_topology *cart = wl_topology_of(rank, comm, MPI_CART, "MPI_Cart_sub");
    int color = 0, key = 0, n = 0;
    int *dims = wl_calloc((size_t)cart->n, sizeof(int));
    int *periods = wl_calloc((size_t)cart->n, sizeof(int));

    for (int d = 0; d < cart->n; d++) {
        if (remain_dims[d]) {
            key = key * cart->dims[d] + cart->coords[d];
            dims[n] = cart->dims[d];
            periods[n++] = cart->periods[d];
        } else {
            color = color * cart->dims[d] + cart->coords[d];
        }
    }
    *newcomm = wl_comm_split(rank, &view, &(struct wl_wish){.color = color, .key = key},
                             WF_OP_COMM_SPLIT);
    wl_topology_give(rank, *newcomm, cart_new(n, dims, periods, key));
    free(dims);
    free(periods);
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* ---- sizes for a grid ---- */

/* Of all ways to write `left` as a product of `n` numbers that do not grow, the one whose
 * largest is smallest, then whose next is, and so on. */
static bool best_factors(int left, int n, int largest, int *out)
{
    if (n == 0) {
        return left == 1;
    }
    for (int first = 1; first <= largest && first <= left; first++) {
        uint64_t reach = 1;
        for (int i = 0; i < n && reach < (uint64_t)left; i++) {
            reach *= (uint64_t)first;
        }
        if (left % first == 0 && reach >= (uint64_t)left &&
            best_factors(left / first, n - 1, first, out + 1)) {
            out[0] = first;
            return true;
        }
    }
    return false;
}

int MPI_Dims_create(int nnodes, int ndims, int *dims)
{
    int left = nnodes, open = 0, at = 0;

    for (int d = 0; d < ndims; d++) {
        if (dims[d] == 0) {
            open++;
        } else if (dims[d] < 0 || left % dims[d] != 0) {
            wl_fatal(wl_enter(), "MPI_Dims_create", "%d nodes are no grid with a side of %d",
                     nnodes, dims[d]);
        } else {
            left /= dims[d];
        }
    }
    int *found = wl_calloc((size_t)open, sizeof(int));
    if (open > 0) {
        (void)best_factors(left, open, left, found);
    }
    for (int d = 0; d < ndims; d++) {
        if (dims[d] == 0) {
            dims[d] = found[at++];
        }
    }
    free(found);
    return MPI_SUCCESS;
}
