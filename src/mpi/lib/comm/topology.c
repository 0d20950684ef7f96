/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies in general, and Cartesian ones. */
#include "mpi/lib/comm/topology.h"

#include "mpi/lib/errors.h"
#include "mpi/lib/memory.h"

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

/* Null if the communicator has none. */
static const struct wl_topology *find_topology(struct wl_rank *rank, MPI_Comm comm)
{
    const struct wl_properties *properties = *wl_comm_properties(rank, comm);

    return properties != NULL ? properties->topology : NULL;
}

const struct wl_topology *wl_topology_of(struct wl_rank *rank, MPI_Comm comm, int kind)
{
    const struct wl_topology *topology = find_topology(rank, comm);

    if (topology == NULL || topology->kind != kind) {
        wl_fatal(rank, "the communicator has no %s topology",
                 kind == MPI_CART    ? "Cartesian"
                 : kind == MPI_GRAPH ? "graph"
                                     : "distributed graph");
    }
    return topology;
}

void wl_topology_set(struct wl_rank *rank, MPI_Comm comm, struct wl_topology *topology)
{
    wl_properties_get(wl_comm_properties(rank, comm))->topology = topology;
}

/* The lists of a topology, and how long they are. */
enum { LISTS = 9 };
struct list {
    int **list;
    int n;
};

static void get_lists(struct wl_topology *topology, struct list out[LISTS])
{
    int n = topology->n;
    int n_edges = topology->index != NULL && n > 0 ? topology->index[n - 1] : 0;
    const struct list lists[LISTS] = {
        {&topology->dims, n},
        {&topology->periods, n},
        {&topology->coords, n},
        {&topology->index, n},
        {&topology->edges, n_edges},
        {&topology->sources, topology->n_sources},
        {&topology->destinations, topology->n_destinations},
        {&topology->source_weights, topology->n_sources},
        {&topology->destination_weights, topology->n_destinations},
    };

    memcpy(out, lists, sizeof(lists));
}

struct wl_topology *wl_topology_copy(const struct wl_topology *from)
{
    struct list lists[LISTS];

    if (from == NULL) {
        return NULL;
    }
    struct wl_topology *copy = wl_malloc(sizeof(*copy));
    *copy = *from;
    get_lists(copy, lists);
    for (int i = 0; i < LISTS; i++) {
        if (*lists[i].list != NULL) {
            *lists[i].list = wl_copy_ints(*lists[i].list, (size_t)lists[i].n);
        }
    }
    return copy;
}

void wl_topology_free(struct wl_topology *topology)
{
    struct list lists[LISTS];

    if (topology != NULL) {
        get_lists(topology, lists);
        for (int i = 0; i < LISTS; i++) {
            free(*lists[i].list);
        }
        free(topology);
    }
}

int wl_MPI_Topo_test(struct wl_rank *rank, MPI_Comm comm, int *status)
{
    const struct wl_topology *topology = find_topology(rank, comm);

    *status = topology != NULL ? topology->kind : MPI_UNDEFINED;
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

/* Coordinates outside wrap around in periodic dimensions; else MPI_PROC_NULL. */
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

int wl_MPI_Cart_create(struct wl_rank *rank, MPI_Comm comm, int ndims, const int *dims,
                       const int *periods, int reorder, MPI_Comm *newcomm)
{
    struct wl_view view = wl_comm_of(rank, comm);
    uint64_t size = 1;

    *newcomm = MPI_COMM_NULL;
    for (int d = 0; d < ndims; d++) {
        size *= dims[d] > 0 ? (uint64_t)dims[d] : view.size + UINT64_C(1);
    }
    if (size > view.size) {
        return wl_error(rank, comm, MPI_ERR_DIMS,
                        "the grid has more than the %u ranks of the communicator", view.size);
    }
    const struct wl_split_args args = {.color = view.rank < size ? 0 : MPI_UNDEFINED};
    *newcomm = wl_comm_split(rank, &view, &args, WF_OP_CART_CREATE);
    if (*newcomm != MPI_COMM_NULL) {
        wl_topology_set(rank, *newcomm, cart_new(ndims, dims, periods, (int)view.rank));
    }
    return MPI_SUCCESS;
}

int wl_MPI_Cart_map(struct wl_rank *rank, MPI_Comm comm, int ndims, const int *dims,
                    const int *periods, int *newrank)
{
    struct wl_view view = wl_comm_of(rank, comm);
    uint64_t size = 1;

    for (int d = 0; d < ndims; d++) {
        size *= (uint64_t)dims[d];
    }
    *newrank = view.rank < size ? (int)view.rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int wl_MPI_Cart_get(struct wl_rank *rank, MPI_Comm comm, int maxdims, int *dims, int *periods,
                    int *coords)
{
    const struct wl_topology *cart = wl_topology_of(rank, comm, MPI_CART);

    for (int d = 0; d < cart->n && d < maxdims; d++) {
        dims[d] = cart->dims[d];
        periods[d] = cart->periods[d];
        coords[d] = cart->coords[d];
    }
    return MPI_SUCCESS;
}

int wl_MPI_Cart_rank(struct wl_rank *rank, MPI_Comm comm, const int *coords, int *place)
{
    const struct wl_topology *cart = wl_topology_of(rank, comm, MPI_CART);
    int code = MPI_SUCCESS;

    *place = to_place(cart, coords);
    if (*place == MPI_PROC_NULL) {
        code = wl_error(rank, comm, MPI_ERR_ARG, "the coordinates are outside the grid");
    }
    return code;
}

int wl_MPI_Cart_coords(struct wl_rank *rank, MPI_Comm comm, int place, int maxdims, int *coords)
{
    const struct wl_topology *cart = wl_topology_of(rank, comm, MPI_CART);
    int *all = wl_calloc((size_t)cart->n, sizeof(int));

    to_coords(cart, place, all);
    for (int d = 0; d < cart->n && d < maxdims; d++) {
        coords[d] = all[d];
    }
    free(all);
    return MPI_SUCCESS;
}

/* The rank that is `displacement` steps away; MPI_PROC_NULL if there is none. */
static int cart_neighbor(const struct wl_topology *cart, int direction, int displacement)
{
    int *there = wl_copy_ints(cart->coords, (size_t)cart->n);

    there[direction] += displacement;
    int place = to_place(cart, there);
    free(there);
    return place;
}

int wl_MPI_Cart_shift(struct wl_rank *rank, MPI_Comm comm, int direction, int displacement,
                      int *source, int *dest)
{
    const struct wl_topology *cart = wl_topology_of(rank, comm, MPI_CART);

    if (direction < 0 || direction >= cart->n) {
        wl_fatal(rank, "there is no dimension %d in a grid of %d dimensions", direction,
                 cart->n);
    }
    *source = cart_neighbor(cart, direction, -displacement);
    *dest = cart_neighbor(cart, direction, displacement);
    return MPI_SUCCESS;
}

int wl_MPI_Cart_sub(struct wl_rank *rank, MPI_Comm comm, const int *remain_dims,
                    MPI_Comm *newcomm)
{
    struct wl_view view = wl_comm_of(rank, comm);
    const struct wl_topology *cart = wl_topology_of(rank, comm, MPI_CART);
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
    /* Without dimensions it is as MPI_Cart_create() without any: of the first rank alone. */
    color = n > 0 || view.rank == 0 ? color : MPI_UNDEFINED;
    *newcomm = wl_comm_split(rank, &view, &(struct wl_split_args){.color = color, .key = key},
                             WF_OP_COMM_SPLIT);
    if (*newcomm != MPI_COMM_NULL) {
        wl_topology_set(rank, *newcomm, cart_new(n, dims, periods, key));
    }
    free(dims);
    free(periods);
    return MPI_SUCCESS;
}

/* ---- MPI_Dims_create() ---- */

/* The factors of a number that are closest to each other, in descending order: with the smallest
 * difference between the largest and the smallest one, then with the largest smallest one, then the
 * largest one before it, and so on. These are the grids of MPICH. */
struct factors {
    const int *divisors; /* of the number, in ascending order */
    int n_divisors, n;
    int *tried, *best;
    int64_t spread; /* of the best */
};

static void compare_factors(struct factors *search)
{
    int last = search->n - 1;
    int64_t spread = (int64_t)search->tried[0] - search->tried[last];
    int64_t gain = search->spread - spread;

    for (int i = last; i >= 0 && gain == 0; i--) {
        gain = (int64_t)search->tried[i] - search->best[i];
    }
    if (gain > 0) {
        memcpy(search->best, search->tried, (size_t)search->n * sizeof(int));
        search->spread = spread;
    }
}

static bool reaches(int factor, int n, int product)
{
    int64_t reach = 1;

    for (int i = 0; i < n && reach < product; i++) {
        reach *= factor;
    }
    return reach >= product;
}

/* Tries all factors from place `at` on, whose product is `left`. The smallest of them is at most the
 * first one that is large enough to be the largest. */
static void try_factors(struct factors *search, int at, int left)
{
    int first = 0;

    if (at == search->n) {
        compare_factors(search);
        return;
    }
    for (int i = 0; i < search->n_divisors; i++) {
        int factor = search->divisors[i];
        if (left % factor != 0 || !reaches(factor, search->n - at, left)) {
            continue;
        }
        first = first == 0 ? factor : first;
        int largest = at > 0 ? search->tried[0] : factor;
        if ((at > 0 && factor > search->tried[at - 1]) ||
            (int64_t)largest - first > search->spread) {
            return;
        }
        if (at < search->n - 1 || factor == left) {
            search->tried[at] = factor;
            try_factors(search, at + 1, left / factor);
        }
    }
}

static void best_factors(int product, int n, int *best)
{
    int n_divisors = 0, *divisors = wl_malloc(sizeof(int)),
        *tried = wl_calloc((size_t)n, sizeof(int));

    for (int64_t d = 1; d * d <= product; d++) {
        if (product % d == 0) {
            divisors = wl_realloc(divisors, (size_t)n_divisors + 2, sizeof(int));
            divisors[n_divisors++] = (int)d;
        }
    }
    for (int i = n_divisors - 1; i >= 0; i--) {
        int other = product / divisors[i];
        if (other != divisors[i]) {
            divisors = wl_realloc(divisors, (size_t)n_divisors + 1, sizeof(int));
            divisors[n_divisors++] = other;
        }
    }
    struct factors search = {.divisors = divisors,
                             .n_divisors = n_divisors,
                             .n = n,
                             .tried = tried,
                             .best = best,
                             .spread = INT64_MAX};
    try_factors(&search, 0, product);
    free(divisors);
    free(tried);
}

int wl_MPI_Dims_create(struct wl_rank *rank, int nnodes, int ndims, int *dims)
{
    int left = nnodes, open = 0, at = 0;

    for (int d = 0; d < ndims; d++) {
        if (dims[d] == 0) {
            open++;
        } else if (dims[d] < 0 || left % dims[d] != 0) {
            wl_fatal(rank, "%d nodes do not form a grid with a side of %d", nnodes, dims[d]);
        } else {
            left /= dims[d];
        }
    }
    int *found = wl_calloc((size_t)open, sizeof(int));
    if (open > 0) {
        best_factors(left, open, found);
    }
    for (int d = 0; d < ndims; d++) {
        if (dims[d] == 0) {
            dims[d] = found[at++];
        }
    }
    free(found);
    return MPI_SUCCESS;
}

/* ---- neighborhood collectives ---- */

static uint32_t *to_members(const int *list, uint32_t n)
{
    uint32_t *out = wl_malloc(n * sizeof(uint32_t));

    for (uint32_t i = 0; i < n; i++) {
        out[i] = list[i] == MPI_PROC_NULL ? WF_PROC_NULL : (uint32_t)list[i];
    }
    return out;
}

/* On a grid: in each dimension the rank before and the rank after this one. */
static uint32_t *cart_neighbors(const struct wl_topology *cart)
{
    uint32_t *out = wl_malloc(2 * (size_t)cart->n * sizeof(uint32_t));

    for (int i = 0; i < 2 * cart->n; i++) {
        int place = cart_neighbor(cart, i / 2, i % 2 == 0 ? -1 : 1);
        out[i] = place == MPI_PROC_NULL ? WF_PROC_NULL : (uint32_t)place;
    }
    return out;
}

void wl_topology_neighbors(struct wl_collective *coll)
{
    const struct wl_topology *topology = find_topology(coll->rank, coll->comm);
    uint32_t rank = coll->view.rank;

    if (topology == NULL) {
        wl_fatal(coll->rank, "the communicator has no topology");
    }
    if (topology->kind == MPI_CART) {
        coll->mirrored = true;
        coll->n_sources = coll->n_destinations = 2 * (uint32_t)topology->n;
        coll->sources = cart_neighbors(topology);
        coll->destinations = cart_neighbors(topology);
    } else if (topology->kind == MPI_GRAPH) {
        int first = rank > 0 ? topology->index[rank - 1] : 0;
        uint32_t n = (uint32_t)(topology->index[rank] - first);
        coll->n_sources = coll->n_destinations = n;
        coll->sources = to_members(topology->edges + first, n);
        coll->destinations = to_members(topology->edges + first, n);
    } else {
        coll->n_sources = (uint32_t)topology->n_sources;
        coll->n_destinations = (uint32_t)topology->n_destinations;
        coll->sources = to_members(topology->sources, coll->n_sources);
        coll->destinations = to_members(topology->destinations, coll->n_destinations);
    }
}
