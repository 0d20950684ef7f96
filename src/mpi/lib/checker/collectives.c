/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether all members of a communicator call the same collectives, in the same order, with
 * arguments that fit. The calls of a collective that differ are kept, each with the lowest rank
 * that made it, until all members have called. Where members run in several processes, each
 * process sends its calls to the process of the first member, which compares them.
 */
#include "mpi/lib/checker/checker.h"
#include "mpi/lib/checker/orders.h"
#include "mpi/lib/checker/state.h"
#include "mpi/lib/coll/collective.h"
#include "mpi/lib/comm/registry.h"
#include "mpi/lib/interprocess.h"
#include "mpi/lib/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NO_ROOT UINT32_MAX

/* One call, or equal calls of several members. */
struct note {
    struct wl_mark call; /* of the lowest rank */
    uint32_t root;
    int32_t op;
    uint32_t has_signature;
    struct wl_signature signature;
    uint64_t counts; /* of a reduce-scatter: a hash of those of all members; else 0 */
};

struct key {
    uint32_t id, first; /* of the communicator, as in struct wl_sequence */
    uint32_t sequence;
};

struct meeting {
    struct meeting *next; /* in the bucket */
    struct key key;
    uint32_t n_called, n_expected;
    uint32_t n_notes, max_notes;
    struct note *notes;
};

enum { BUCKETS = 1024 };

struct wl_check_registry {
    pthread_mutex_t lock;
    struct meeting *buckets[BUCKETS];
};

struct wl_check_registry *wl_check_registry_new(void)
{
    struct wl_check_registry *registry = wl_calloc(1, sizeof(*registry));

    (void)pthread_mutex_init(&registry->lock, NULL);
    return registry;
}

static void meeting_free(struct meeting *meeting)
{
    free(meeting->notes);
    free(meeting);
}

void wl_check_registry_free(struct wl_check_registry *registry)
{
    for (size_t i = 0; registry != NULL && i < BUCKETS; i++) {
        while (registry->buckets[i] != NULL) {
            struct meeting *next = registry->buckets[i]->next;
            meeting_free(registry->buckets[i]);
            registry->buckets[i] = next;
        }
    }
    if (registry != NULL) {
        (void)pthread_mutex_destroy(&registry->lock);
    }
    free(registry);
}

static struct meeting **find_meeting(const struct key *key)
{
    uint32_t hash = (key->id * 31 + key->first) * 2654435761U + key->sequence * 40503U;
    struct meeting **at = &wl.checked->buckets[hash % BUCKETS];

    while (*at != NULL && memcmp(&(*at)->key, key, sizeof(*key)) != 0) {
        at = &(*at)->next;
    }
    return at;
}

/* ---- comparing ---- */

/* MPI_X() and MPI_X_c() are the same. */
static bool is_same_function(const struct note *one, const struct note *other)
{
    const char *a = wl_mark_function(&one->call), *b = wl_mark_function(&other->call);

    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return (*a == '\0' || strcmp(a, "_c") == 0) && (*b == '\0' || strcmp(b, "_c") == 0);
}

static bool signatures_fit(const struct note *one, const struct note *other)
{
    return !one->has_signature || !other->has_signature ||
           wl_signatures_equal(&one->signature, &other->signature);
}

/* Reports in which respect a call differs from that of the lowest rank. */
static void report(const struct note *own, const struct note *first)
{
    const struct wl_mark *a = &own->call, *b = &first->call;
    const struct wl_signature *mine = &own->signature, *its = &first->signature;

    if (!is_same_function(own, first)) {
        wl_report(WF_FINDING_COLLECTIVE, a, b, "calls %s where rank %u calls %s",
                  wl_mark_function(a), b->rank, wl_mark_function(b));
    } else if (own->root != first->root) {
        wl_report(WF_FINDING_COLLECTIVE, a, b, "has root %d where rank %u has root %d",
                  (int)own->root, b->rank, (int)first->root);
    } else if (own->op != first->op) {
        wl_report(WF_FINDING_COLLECTIVE, a, b, "has another reduction operation than rank %u",
                  b->rank);
    } else if (!signatures_fit(own, first)) {
        wl_report(mine->basic != its->basic ? WF_FINDING_DATATYPE : WF_FINDING_COLLECTIVE, a, b,
                  "has %llu bytes, as %s, where rank %u has %llu bytes, as %s",
                  (unsigned long long)mine->bytes, wl_signature_text(mine), b->rank,
                  (unsigned long long)its->bytes, wl_signature_text(its));
    } else if (own->counts != first->counts) {
        wl_report(WF_FINDING_COLLECTIVE, a, b, "has other counts than rank %u", b->rank);
    }
}

static void report_meeting(const struct meeting *meeting)
{
    const struct note *first = &meeting->notes[0];

    for (uint32_t i = 1; i < meeting->n_notes; i++) {
        first = meeting->notes[i].call.rank < first->call.rank ? &meeting->notes[i] : first;
    }
    for (uint32_t i = 0; i < meeting->n_notes; i++) {
        if (&meeting->notes[i] != first) {
            report(&meeting->notes[i], first);
        }
    }
}

static bool is_equal(const struct note *one, const struct note *other)
{
    return is_same_function(one, other) && one->root == other->root && one->op == other->op &&
           one->has_signature == other->has_signature && one->counts == other->counts &&
           (!one->has_signature || (one->signature.any == other->signature.any &&
                                    one->signature.bytes == other->signature.bytes &&
                                    one->signature.basic == other->signature.basic &&
                                    one->signature.hash == other->signature.hash));
}

static void add_note(struct meeting *meeting, const struct note *note)
{
    for (uint32_t i = 0; i < meeting->n_notes; i++) {
        struct note *known = &meeting->notes[i];
        if (is_equal(known, note)) {
            if (note->call.rank < known->call.rank) {
                *known = *note;
            }
            return;
        }
    }
    WL_GROW(meeting->notes, meeting->n_notes, meeting->max_notes);
    meeting->notes[meeting->n_notes++] = *note;
}

/* ---- between processes ---- */

/* Followed by the notes. */
struct notes_header {
    struct key key;
    uint32_t n_called, n_expected, n_notes;
};

static void ship(const struct meeting *meeting, uint32_t n_members)
{
    const struct notes_header header = {meeting->key, meeting->n_called, n_members,
                                        meeting->n_notes};
    size_t size = meeting->n_notes * sizeof(struct note);
    unsigned char *bytes = wl_malloc(sizeof(header) + size);

    memcpy(bytes, &header, sizeof(header));
    memcpy(bytes + sizeof(header), meeting->notes, size);
    wl_notes_send(wl_process_of(meeting->key.first), bytes, sizeof(header) + size);
    free(bytes);
}

/* Adds calls to a collective. Returns it, out of the table, if all are there that this process
 * waits for; else null. */
static struct meeting *add_calls(const struct notes_header *header, const struct note *notes)
{
    struct meeting *complete = NULL;

    (void)pthread_mutex_lock(&wl.checked->lock);
    struct meeting **at = find_meeting(&header->key), *meeting = *at;
    if (meeting == NULL) {
        meeting = *at = wl_calloc(1, sizeof(*meeting));
        meeting->key = header->key;
        meeting->n_expected = header->n_expected;
    }
    meeting->n_called += header->n_called;
    for (uint32_t i = 0; i < header->n_notes; i++) {
        add_note(meeting, &notes[i]);
    }
    if (meeting->n_called == meeting->n_expected) {
        complete = meeting;
        *at = meeting->next;
    }
    (void)pthread_mutex_unlock(&wl.checked->lock);
    return complete;
}

void wl_check_notes_arrived(const unsigned char *bytes, size_t size)
{
    struct notes_header header;

    memcpy(&header, bytes, sizeof(header));
    struct note *notes = wl_malloc(size - sizeof(header));
    memcpy(notes, bytes + sizeof(header), size - sizeof(header));
    struct meeting *complete = add_calls(&header, notes);
    free(notes);
    if (complete != NULL) {
        report_meeting(complete);
        meeting_free(complete);
    }
}

/* ---- the call ---- */

static uint32_t next_sequence(struct wl_checker *checker, uint32_t id, uint32_t first)
{
    uint32_t mask;

    if (2 * checker->n_sequences >= checker->max_sequences) {
        struct wl_sequence *old = checker->sequences;
        uint32_t n = checker->max_sequences;
        checker->max_sequences = n == 0 ? 8 : 2 * n;
        checker->sequences = wl_calloc(checker->max_sequences, sizeof(*old));
        mask = checker->max_sequences - 1;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t to = (old[i].id * 31 + old[i].first) & mask;
            while (old[i].used && checker->sequences[to].used) {
                to = (to + 1) & mask;
            }
            if (old[i].used) {
                checker->sequences[to] = old[i];
            }
        }
        free(old);
    }
    mask = checker->max_sequences - 1;
    uint32_t at = (id * 31 + first) & mask;
    while (checker->sequences[at].used &&
           (checker->sequences[at].id != id || checker->sequences[at].first != first)) {
        at = (at + 1) & mask;
    }
    if (!checker->sequences[at].used) {
        checker->sequences[at] = (struct wl_sequence){id, first, 0, true};
        checker->n_sequences++;
    }
    return checker->sequences[at].n++;
}

/* Which side the root and the others have whose values all members have alike. */
enum side_kind { SIDE_NONE, SIDE_SEND, SIDE_RECV };
static const struct {
    unsigned char root, others; /* enum side_kind */
} common_sides[WL_COLLECTIVES] = {
    [WL_BCAST] = {SIDE_SEND, SIDE_SEND},    [WL_GATHER] = {SIDE_RECV, SIDE_SEND},
    [WL_SCATTER] = {SIDE_SEND, SIDE_RECV},  [WL_ALLGATHER] = {SIDE_RECV, SIDE_RECV},
    [WL_ALLTOALL] = {SIDE_RECV, SIDE_RECV},
};

static const struct wl_side *common_side(const struct wl_collective *coll)
{
    unsigned side = coll->view.rank == coll->root ? common_sides[coll->kind].root
                                                  : common_sides[coll->kind].others;

    return side == SIDE_SEND ? &coll->send : side == SIDE_RECV ? &coll->recv : NULL;
}

static uint64_t hash_counts(const struct wl_collective *coll)
{
    uint64_t hash = 0;

    for (uint32_t i = 0; i < coll->view.size; i++) {
        hash = (hash + wl_side_count(&coll->recv, i) + 1) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static void fill_signature(const struct wl_collective *coll, struct note *note)
{
    const struct wl_side *side = common_side(coll);

    if (coll->reduce_op != 0 && coll->reduction.type != NULL) {
        note->signature = wl_signature_of(coll->reduction.type, coll->reduction.count);
        note->has_signature = true;
        note->op = wl_op_is_user(coll->reduction.op) ? -1 : coll->reduce_op;
        note->counts = coll->kind == WL_REDUCE_SCATTER ? hash_counts(coll) : 0;
    } else if (side != NULL && side->type != NULL && !wl_in_place(side) &&
               !wl_side_varies(side) && side->types == NULL) {
        note->signature = wl_signature_of(side->type, side->count);
        note->has_signature = true;
    }
}

static bool has_root(const struct wl_collective *coll)
{
    return coll->kind == WL_BCAST || coll->kind == WL_GATHER || coll->kind == WL_SCATTER ||
           coll->kind == WL_REDUCE;
}

void wl_check_collective(const struct wl_rank *rank, const struct wl_view *view,
                         const struct wl_collective *coll)
{
    const struct wl_comm *comm = view->comm;
    uint32_t first = wl_member(comm, 0);
    const struct notes_header header = {
        {comm->id, first, next_sequence(rank->checker, comm->id, first)},
        1,
        wl_is_local(first) ? comm->size : comm->n_local,
        1};
    struct note note;

    if (wl_orders() && coll == NULL) {
        (void)wl_order_meets(rank, view, NULL, true);
    }
    memset(&note, 0, sizeof(note)); /* padding too: it is sent to other processes */
    note.call = wl_mark_of(rank, wl_caller_of(rank));
    note.root = NO_ROOT;
    if (coll != NULL && !view->inter) {
        note.root = has_root(coll) ? coll->root : NO_ROOT;
        fill_signature(coll, &note);
    }
    struct meeting *complete = add_calls(&header, &note);
    if (complete != NULL && !wl_is_local(first)) {
        ship(complete, comm->size);
    } else if (complete != NULL && complete->n_notes > 1) {
        report_meeting(complete);
    }
    if (complete != NULL) {
        meeting_free(complete);
    }
}

void wl_check_collectives_end(void)
{
    for (size_t i = 0; wl.checked != NULL && i < BUCKETS; i++) {
        for (const struct meeting *m = wl.checked->buckets[i]; m != NULL; m = m->next) {
            report_meeting(m);
        }
    }
}

/* ---- buffers ---- */

/* How many times the count of a side its buffer has. */
enum blocks { BLOCK_ONE, BLOCK_MEMBERS, BLOCK_SOURCES, BLOCK_DESTINATIONS };
static const struct {
    unsigned char send, recv; /* enum blocks */
} side_blocks[WL_COLLECTIVES] = {
    [WL_GATHER] = {BLOCK_ONE, BLOCK_MEMBERS},
    [WL_SCATTER] = {BLOCK_MEMBERS, BLOCK_ONE},
    [WL_ALLGATHER] = {BLOCK_ONE, BLOCK_MEMBERS},
    [WL_ALLTOALL] = {BLOCK_MEMBERS, BLOCK_MEMBERS},
    [WL_REDUCE_SCATTER] = {BLOCK_MEMBERS, BLOCK_ONE},
    [WL_NEIGHBOR_ALLGATHER] = {BLOCK_ONE, BLOCK_SOURCES},
    [WL_NEIGHBOR_ALLTOALL] = {BLOCK_DESTINATIONS, BLOCK_SOURCES},
};

static size_t blocks_of(const struct wl_collective *coll, const struct wl_side *side)
{
    const size_t n[] = {[BLOCK_ONE] = 1,
                        [BLOCK_MEMBERS] = coll->view.n_peers,
                        [BLOCK_SOURCES] = coll->n_sources,
                        [BLOCK_DESTINATIONS] = coll->n_destinations};

    return n[side == &coll->recv ? side_blocks[coll->kind].recv : side_blocks[coll->kind].send];
}

/* Only sides with one count are compared. Those that this member does not use have no type. */
static bool use_of(const struct wl_collective *coll, const struct wl_side *side,
                   struct wl_buffer_use *what)
{
    bool is_root = coll->view.rank == coll->root;
    bool writes = side == &coll->recv;

    if (side->type == NULL || side->buffer == NULL || wl_in_place(side) ||
        wl_side_varies(side) || side->types != NULL || coll->view.inter ||
        (coll->kind == WL_REDUCE_SCATTER && wl_side_varies(&coll->recv)) ||
        (coll->kind == WL_REDUCE && writes && !is_root) ||
        (coll->kind == WL_BCAST && side == &coll->recv)) {
        return false;
    }
    *what = (struct wl_buffer_use){.buffer = side->buffer,
                                   .count = side->count * blocks_of(coll, side),
                                   .type = side->type,
                                   .writes = coll->kind == WL_BCAST ? !is_root : writes};
    return true;
}

/* Likewise for a side with a count for each member: the elements for or from member i. */
static bool use_of_part(const struct wl_collective *coll, const struct wl_side *side,
                        uint32_t i, struct wl_buffer_use *what)
{
    *what = (struct wl_buffer_use){.buffer = wl_side_place(side, i),
                                   .count = wl_side_count(side, i),
                                   .type = side->type,
                                   .writes = side == &coll->recv};
    return what->count > 0;
}

static void hold_side(const struct wl_collective *coll, const struct wl_side *side, bool brief,
                      struct wl_use **uses)
{
    struct wl_buffer_use what;
    bool parts = wl_side_varies(side) && side->type != NULL && side->buffer != NULL &&
                 !wl_in_place(side) && side->types == NULL && !coll->view.inter &&
                 coll->kind != WL_REDUCE_SCATTER;

    if (use_of(coll, side, &what)) {
        what.brief = brief;
        wl_check_hold(coll->rank, &what, uses);
    }
    for (uint32_t i = 0; parts && i < blocks_of(coll, side); i++) {
        if (use_of_part(coll, side, i, &what)) {
            what.brief = brief;
            wl_check_hold(coll->rank, &what, uses);
        }
    }
}

void wl_check_collective_buffers(struct wl_rank *rank, const struct wl_collective *coll,
                                 struct wl_use **uses)
{
    struct wl_use *own = NULL;

    hold_side(coll, &coll->send, uses == NULL, uses != NULL ? uses : &own);
    hold_side(coll, &coll->recv, uses == NULL, uses != NULL ? uses : &own);
    wl_check_forget(rank, &own);
}
