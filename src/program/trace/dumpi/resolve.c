/* SPDX-License-Identifier: Apache-2.0 */
/* Replays the calls of all ranks that create communicators, to find out their members. */
#include "base/array.h"
#include "base/mem.h"
#include "program/trace/dumpi/comms.h"

#include <stdlib.h>
#include <string.h>

/* An ordered list of ranks of the program without duplicates: a group of MPI. */
struct rank_list {
    uint32_t n;
    uint32_t *ranks; /* freed by the owner */
};

/* A handle of a rank, and the communicator or group that it stands for. */
struct handle {
    int16_t number;
    bool is_group;
    uint32_t comm;         /* the communicator */
    struct rank_list list; /* the group; if empty, that of `comm` */
};

struct player {
    struct handle *handles;
    uint32_t n, capacity;
    bool queued;
};

struct play {
    struct wf_dumpi_comms *comms;
    struct player *players;
    uint32_t *queue; /* ranks that can continue */
    uint32_t n_queue;
    uint32_t first;  /* all ranks before it are done */
    uint32_t *marks; /* per rank: serial number of the last list with it */
    uint32_t serial;
    uint64_t n_lost;
};

/* ---- lists of ranks ---- */

/* Returns an empty list that can hold `most` ranks. */
static struct rank_list new_list(uint64_t most)
{
    return (struct rank_list){0, wf_xcalloc(most + 1, sizeof(uint32_t))};
}

static void append(struct rank_list *list, uint32_t rank)
{
    list->ranks[list->n++] = rank;
}

/* Marks a rank as seen in list `serial`. Returns false if it was marked already. */
static bool mark(struct play *play, uint32_t rank)
{
    bool is_new = play->marks[rank] != play->serial;

    play->marks[rank] = play->serial;
    return is_new;
}

/* Returns the ranks of `a`, then those of `b` that are not in `a`. */
static struct rank_list union_of(struct play *play, const struct rank_list *a,
                                 const struct rank_list *b)
{
    struct rank_list list = new_list((uint64_t)a->n + b->n);

    play->serial++;
    for (uint32_t i = 0; i < a->n + b->n; i++) {
        uint32_t rank = i < a->n ? a->ranks[i] : b->ranks[i - a->n];
        if (mark(play, rank)) {
            append(&list, rank);
        }
    }
    return list;
}

/* Returns the ranks of `a` that are in `b` or, if `in_b` is false, that are not. */
static struct rank_list common(struct play *play, const struct rank_list *a,
                               const struct rank_list *b, bool in_b)
{
    struct rank_list list = new_list(a->n);

    play->serial++;
    for (uint32_t i = 0; i < b->n; i++) {
        (void)mark(play, b->ranks[i]);
    }
    for (uint32_t i = 0; i < a->n; i++) {
        if ((play->marks[a->ranks[i]] == play->serial) == in_b) {
            append(&list, a->ranks[i]);
        }
    }
    return list;
}

/* Returns the ranks at these indices. Ignores indices outside of the list. */
static struct rank_list pick(struct play *play, const struct rank_list *from,
                             const int32_t *places, uint32_t n)
{
    struct rank_list list = new_list(from->n);

    play->serial++;
    for (uint32_t i = 0; i < n; i++) {
        if (places[i] >= 0 && (uint32_t)places[i] < from->n &&
            mark(play, from->ranks[places[i]])) {
            append(&list, from->ranks[places[i]]);
        }
    }
    return list;
}

/* ---- handles ---- */

static struct handle *find_handle(struct player *player, bool is_group, int16_t number)
{
    for (uint32_t i = player->n; i-- > 0;) {
        if (player->handles[i].number == number && player->handles[i].is_group == is_group) {
            return &player->handles[i];
        }
    }
    return NULL;
}

/* Returns the handle, which is added if it is new, and clears its old meaning. */
static struct handle *take_handle(struct player *player, bool is_group, int16_t number)
{
    struct handle *handle = find_handle(player, is_group, number);

    if (handle == NULL) {
        WF_GROW(player->handles, player->n, player->capacity);
        handle = &player->handles[player->n++];
        *handle = (struct handle){.number = number, .is_group = is_group};
    }
    free(handle->list.ranks);
    handle->list = (struct rank_list){0, NULL};
    handle->comm = WF_DUMPI_NO_COMM;
    return handle;
}

static uint32_t comm_of(struct play *play, uint32_t rank, int16_t number)
{
    if (number == WF_DUMPI_COMM_WORLD || number == WF_DUMPI_COMM_SELF) {
        return number == WF_DUMPI_COMM_WORLD ? WF_DUMPI_WORLD : WF_DUMPI_SELF;
    }
    const struct handle *handle = find_handle(&play->players[rank], false, number);
    return handle != NULL ? handle->comm : WF_DUMPI_NO_COMM;
}

static struct wf_dumpi_event *event_of(const struct play *play, uint32_t rank)
{
    struct wf_dumpi_events *all = &play->comms->events[rank];

    return &all->items[all->next];
}

static uint32_t member(const struct wf_dumpi_comm *comm, uint32_t i)
{
    return comm->members != NULL ? comm->members[i] : i;
}

/* ---- groups ---- */

static struct rank_list list_of_comm(const struct play *play, uint32_t rank, uint32_t comm)
{
    if (comm == WF_DUMPI_NO_COMM) {
        return new_list(0);
    }
    const struct wf_dumpi_comm *from = &play->comms->items[comm];
    struct rank_list list = new_list(from->size);
    for (uint32_t i = 0; i < from->size; i++) {
        append(&list, comm == WF_DUMPI_SELF ? rank : member(from, i));
    }
    return list;
}

/* Returns the ranks of a group. The caller frees the list. */
static struct rank_list list_of_group(struct play *play, uint32_t rank, int16_t number)
{
    const struct handle *handle = find_handle(&play->players[rank], true, number);

    if (handle == NULL || handle->list.n == 0) {
        return list_of_comm(play, rank, handle != NULL ? handle->comm : WF_DUMPI_NO_COMM);
    }
    return common(play, &handle->list, &handle->list, true);
}

static void create_group(struct play *play, uint32_t rank, const struct wf_dumpi_event *event)
{
    struct player *player = &play->players[rank];
    struct rank_list created;

    if (event->function == WF_DUMPI_COMM_GROUP) {
        /* Copies nothing: all ranks may ask for the same large group. */
        uint32_t comm = comm_of(play, rank, event->parent);
        take_handle(player, true, event->created)->comm = comm;
        return;
    }
    struct rank_list a = list_of_group(play, rank, event->parent);
    struct rank_list b = list_of_group(play, rank, (int16_t)event->values[0]);
    if (event->function == WF_DUMPI_GROUP_INCL) {
        created = pick(play, &a, event->list, event->n_list);
    } else if (event->function == WF_DUMPI_GROUP_EXCL) {
        struct rank_list dropped = pick(play, &a, event->list, event->n_list);
        created = common(play, &a, &dropped, false);
        free(dropped.ranks);
    } else if (event->function == WF_DUMPI_GROUP_UNION) {
        created = union_of(play, &a, &b);
    } else {
        created = common(play, &a, &b, event->function == WF_DUMPI_GROUP_INTERSECTION);
    }
    free(a.ranks);
    free(b.ranks);
    take_handle(player, true, event->created)->list = created;
}

/* ---- communicators ---- */

/* Adds a communicator, and makes it the result of the call of all its members. Copies its
 * dimensions. */
static uint32_t add_comm(struct play *play, struct wf_dumpi_comm comm)
{
    const int32_t *dims = comm.dims;

    comm.dims = NULL;
    if (comm.n_dims > 0) {
        comm.dims = wf_xcalloc(comm.n_dims, sizeof(*dims));
        memcpy(comm.dims, dims, comm.n_dims * sizeof(*dims));
    }
    uint32_t place = wf_dumpi_comms_add(play->comms, &comm);
    for (uint32_t i = 0; i < comm.size; i++) {
        event_of(play, member(&comm, i))->result = place;
    }
    return place;
}

/* As add_comm(), for a communicator of these ranks. Takes ownership of the list. */
static uint32_t create_comm(struct play *play, uint32_t id, struct rank_list list)
{
    return add_comm(play,
                    (struct wf_dumpi_comm){
                        .id = id, .size = list.n, .members = list.ranks, .owned = list.ranks});
}

static void duplicate(struct play *play, uint32_t parent, uint32_t id)
{
    struct wf_dumpi_comm comm = play->comms->items[parent];

    comm.id = id;
    comm.owned = NULL;
    comm.n_arrived = 0;
    comm.waits_for_other = false;
    (void)add_comm(play, comm);
}

/* MPI_Comm_create. Members may pass different groups if these are disjoint. */
static void create(struct play *play, const struct rank_list *all, uint32_t id)
{
    for (uint32_t i = 0; i < all->n; i++) {
        const struct wf_dumpi_event *event = event_of(play, all->ranks[i]);

        if (event->result != WF_DUMPI_NO_COMM || event->created == WF_DUMPI_COMM_NULL) {
            continue;
        }
        struct rank_list group = list_of_group(play, all->ranks[i], (int16_t)event->values[0]);
        struct rank_list list = common(play, &group, all, true);
        free(group.ranks);
        if (list.n > 0) {
            (void)create_comm(play, id, list);
        } else {
            free(list.ranks);
        }
    }
}

struct choice {
    int32_t color, key;
    uint32_t place, rank;
};

static int by_choice(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;

    return 4 * WF_ORDER(x->color, y->color) + 2 * WF_ORDER(x->key, y->key) +
           WF_ORDER(x->place, y->place);
}

/* Creates one communicator per nonnegative color. Copies the `dims` of a grid to each. */
static void split(struct play *play, struct choice *choices, uint32_t n,
                  const struct wf_dumpi_comm *like)
{
    WF_SORT(choices, n, by_choice);
    for (uint32_t begin = 0, end; begin < n; begin = end) {
        for (end = begin; end < n && choices[end].color == choices[begin].color;) {
            end++;
        }
        if (choices[begin].color < 0) {
            continue;
        }
        struct rank_list list = new_list(end - begin);
        for (uint32_t i = begin; i < end; i++) {
            append(&list, choices[i].rank);
        }
        struct wf_dumpi_comm comm = *like;
        comm.size = list.n;
        comm.members = comm.owned = list.ranks;
        (void)add_comm(play, comm);
    }
}

static void split_by_color(struct play *play, const struct rank_list *all, uint32_t id)
{
    struct choice *choices = wf_xcalloc(all->n, sizeof(*choices));
    const struct wf_dumpi_comm like = {.id = id};

    for (uint32_t i = 0; i < all->n; i++) {
        const struct wf_dumpi_event *event = event_of(play, all->ranks[i]);
        choices[i] = (struct choice){event->values[0], event->values[1], i, all->ranks[i]};
    }
    split(play, choices, all->n, &like);
    free(choices);
}

/* MPI_Cart_create and MPI_Graph_create: the members are the first ranks, as many as the grid or
 * graph has nodes. */
static void take_first(struct play *play, const struct rank_list *all, uint32_t id)
{
    const struct wf_dumpi_event *event = event_of(play, all->ranks[0]);
    bool is_grid = event->function == WF_DUMPI_CART_CREATE;
    uint64_t n = 1;

    for (uint32_t i = 0; i < event->n_list && is_grid && n <= all->n; i++) {
        n *= event->list[i] > 0 ? (uint64_t)event->list[i] : 1;
    }
    /* The values of a graph are its edges and nodes; the value of a grid is its number of
     * dimensions. */
    n = is_grid ? n : (uint64_t)(event->values[1] > 0 ? event->values[1] : 0);
    if (n == 0 || n > all->n) {
        return;
    }
    struct choice *choices = wf_xcalloc(all->n, sizeof(*choices));
    for (uint32_t i = 0; i < all->n; i++) {
        choices[i] = (struct choice){i < n ? 0 : -1, 0, i, all->ranks[i]};
    }
    const struct wf_dumpi_comm like = {
        .id = id, .n_dims = is_grid ? event->n_list : 0, .dims = event->list};
    split(play, choices, all->n, &like);
    free(choices);
}

/* MPI_Cart_sub: one communicator for the ranks with equal coordinates in the dropped
 * dimensions. */
static void take_slices(struct play *play, uint32_t parent, const struct rank_list *all,
                        uint32_t id)
{
    const struct wf_dumpi_comm grid = play->comms->items[parent];
    const struct wf_dumpi_event *event = event_of(play, all->ranks[0]);

    if (grid.n_dims == 0 || event->n_list != grid.n_dims) {
        return;
    }
    struct choice *choices = wf_xcalloc(all->n, sizeof(*choices));
    int32_t *dims = wf_xcalloc(grid.n_dims, sizeof(*dims));
    struct wf_dumpi_comm like = {.id = id, .dims = dims};
    for (uint32_t d = 0; d < grid.n_dims; d++) {
        if (event->list[d] != 0) {
            dims[like.n_dims++] = grid.dims[d];
        }
    }
    for (uint32_t i = 0; i < all->n; i++) {
        uint32_t rest = i, color_step = 1, key_step = 1;
        choices[i] = (struct choice){0, 0, i, all->ranks[i]};
        for (uint32_t d = grid.n_dims; d-- > 0;) {
            uint32_t size = grid.dims[d] > 0 ? (uint32_t)grid.dims[d] : 1;
            uint32_t *step = event->list[d] != 0 ? &key_step : &color_step;
            int32_t *sum = event->list[d] != 0 ? &choices[i].key : &choices[i].color;

            *sum += (int32_t)(rest % size * *step);
            *step *= size;
            rest /= size;
        }
    }
    split(play, choices, all->n, &like);
    free(choices);
    free(dims);
}

/* ---- intercommunicators ---- */

/* Sets the leaders that one side of an intercommunicator names: its own and that of the other
 * side. Returns false if they make no sense. */
static bool leaders(struct play *play, uint32_t comm, uint32_t *own, uint32_t *other)
{
    const struct wf_dumpi_comm *local = &play->comms->items[comm];
    int32_t leader = event_of(play, member(local, 0))->values[0];

    if (leader < 0 || (uint32_t)leader >= local->size || comm == WF_DUMPI_SELF) {
        return false;
    }
    *own = member(local, (uint32_t)leader);
    const struct wf_dumpi_event *event = event_of(play, *own);
    uint32_t between = comm_of(play, *own, (int16_t)event->values[1]);
    int32_t place = event->values[2];
    if (between == WF_DUMPI_NO_COMM || between == WF_DUMPI_SELF || place < 0 ||
        (uint32_t)place >= play->comms->items[between].size) {
        return false;
    }
    *other = member(&play->comms->items[between], (uint32_t)place);
    return true;
}

/* Returns the communicator of the other side, if all its ranks have reached the call. */
static uint32_t find_other(struct play *play, uint32_t comm)
{
    uint32_t own, other, its_own, its_other;

    if (!leaders(play, comm, &own, &other)) {
        return WF_DUMPI_NO_COMM;
    }
    for (uint32_t i = 0; i < play->comms->n; i++) {
        if (i != comm && play->comms->items[i].waits_for_other &&
            leaders(play, i, &its_own, &its_other) && its_own == other && its_other == own) {
            return i;
        }
    }
    return WF_DUMPI_NO_COMM;
}

static void merge(struct play *play, uint32_t parent, const struct rank_list *all, uint32_t id)
{
    uint32_t n_low = play->comms->items[parent].n_low;

    if (n_low == 0) {
        return;
    }
    struct rank_list low = {n_low, all->ranks};
    struct rank_list high = {all->n - n_low, all->ranks + n_low};
    bool swapped = event_of(play, all->ranks[0])->values[0] != 0;
    (void)create_comm(play, id, union_of(play, swapped ? &high : &low, swapped ? &low : &high));
}

/* ---- replay ---- */

static void resume(struct play *play, uint32_t rank)
{
    struct wf_dumpi_event *event = event_of(play, rank);

    take_handle(&play->players[rank], false, event->created)->comm = event->result;
    play->comms->events[rank].next++;
    if (!play->players[rank].queued) {
        play->players[rank].queued = true;
        play->queue[play->n_queue++] = rank;
    }
}

static void resume_all(struct play *play, const struct rank_list *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        resume(play, list->ranks[i]);
    }
}

static void resolve(struct play *play, uint32_t parent, const struct rank_list *all)
{
    uint32_t function = event_of(play, all->ranks[0])->function;
    uint32_t id = play->comms->next_id++;

    for (uint32_t i = 0; i < all->n; i++) {
        if (event_of(play, all->ranks[i])->function != function) {
            play->n_lost++;
            return;
        }
    }
    switch (function) {
    case WF_DUMPI_COMM_DUP:
        duplicate(play, parent, id);
        break;
    case WF_DUMPI_COMM_CREATE:
        create(play, all, id);
        break;
    case WF_DUMPI_COMM_SPLIT:
        split_by_color(play, all, id);
        break;
    case WF_DUMPI_CART_SUB:
        take_slices(play, parent, all, id);
        break;
    case WF_DUMPI_INTERCOMM_MERGE:
        merge(play, parent, all, id);
        break;
    default:
        take_first(play, all, id);
        break;
    }
}

/* Creates an intercommunicator, after both sides have reached the call. */
static void connect(struct play *play, uint32_t one, uint32_t other)
{
    struct rank_list a = list_of_comm(play, 0, one), b = list_of_comm(play, 0, other);
    bool swapped = b.ranks[0] < a.ranks[0];
    uint32_t n_low = swapped ? b.n : a.n;

    struct rank_list both = union_of(play, swapped ? &b : &a, swapped ? &a : &b);
    uint32_t place = create_comm(play, play->comms->next_id++, both);
    play->comms->items[place].n_low = n_low;
    play->comms->items[one].n_arrived = 0;
    play->comms->items[other].n_arrived = 0;
    play->comms->items[one].waits_for_other = false;
    play->comms->items[other].waits_for_other = false;
    resume_all(play, &a);
    resume_all(play, &b);
    free(a.ranks);
    free(b.ranks);
}

/* A rank reaches a collective call on `parent`. The last one to do so resolves it. */
static void arrive(struct play *play, uint32_t rank, uint32_t parent)
{
    struct wf_dumpi_comm *comm = &play->comms->items[parent];

    if (parent != WF_DUMPI_SELF && ++comm->n_arrived < comm->size) {
        return;
    }
    comm->n_arrived = 0;
    if (event_of(play, rank)->function == WF_DUMPI_INTERCOMM_CREATE) {
        uint32_t other = find_other(play, parent);
        if (other == WF_DUMPI_NO_COMM) {
            comm->waits_for_other = true;
        } else {
            connect(play, parent, other);
        }
        return;
    }
    struct rank_list all = list_of_comm(play, rank, parent);
    if (parent == WF_DUMPI_SELF) {
        /* A communicator made of MPI_COMM_SELF has this rank as its only member. */
        (void)create_comm(play, play->comms->next_id++, list_of_comm(play, rank, parent));
    } else {
        resolve(play, parent, &all);
    }
    resume_all(play, &all);
    free(all.ranks);
}

/* Plays the calls of a rank until one has to wait for others. */
static void advance(struct play *play, uint32_t rank)
{
    struct wf_dumpi_events *all = &play->comms->events[rank];

    play->players[rank].queued = false;
    while (all->next < all->n) {
        struct wf_dumpi_event *event = &all->items[all->next];

        if (event->function < WF_DUMPI_COMM_DUP) {
            create_group(play, rank, event);
            all->next++;
            continue;
        }
        uint32_t parent = comm_of(play, rank, event->parent);
        if (parent != WF_DUMPI_NO_COMM) {
            arrive(play, rank, parent);
            return;
        }
        play->n_lost++;
        take_handle(&play->players[rank], false, event->created)->comm = WF_DUMPI_NO_COMM;
        all->next++;
    }
}

/* All ranks wait for others, since calls are missing: the first one continues without them. */
static bool give_up_one(struct play *play)
{
    for (; play->first < play->comms->n_ranks; play->first++) {
        uint32_t rank = play->first;
        struct wf_dumpi_events *all = &play->comms->events[rank];

        if (all->next < all->n) {
            uint32_t parent = comm_of(play, rank, all->items[all->next].parent);
            struct wf_dumpi_comm *comm = &play->comms->items[parent];
            if (comm->waits_for_other) {
                comm->waits_for_other = false;
                comm->n_arrived = comm->size;
            }
            comm->n_arrived--;
            play->n_lost++;
            resume(play, rank);
            return true;
        }
    }
    return false;
}

uint64_t wf_dumpi_comms_resolve(struct wf_dumpi_comms *comms)
{
    struct play play = {.comms = comms};

    play.players = wf_xcalloc(comms->n_ranks, sizeof(*play.players));
    play.marks = wf_xcalloc(comms->n_ranks, sizeof(*play.marks));
    play.queue = wf_xcalloc(comms->n_ranks, sizeof(*play.queue));
    for (uint32_t rank = 0; rank < comms->n_ranks; rank++) {
        play.players[rank].queued = true;
        play.queue[play.n_queue++] = rank;
    }
    do {
        while (play.n_queue > 0) {
            advance(&play, play.queue[--play.n_queue]);
        }
    } while (give_up_one(&play));
    for (uint32_t rank = 0; rank < comms->n_ranks; rank++) {
        for (uint32_t i = 0; i < play.players[rank].n; i++) {
            free(play.players[rank].handles[i].list.ranks);
        }
        free(play.players[rank].handles);
    }
    free(play.marks);
    free(play.players);
    free(play.queue);
    return play.n_lost;
}
