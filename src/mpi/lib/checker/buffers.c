/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers that several calls use at once, and buffers that the program changes while they are
 * being sent. */
#include "mpi/lib/checker/spans.h"
#include "mpi/lib/checker/state.h"
#include "mpi/lib/memory.h"

#include <stdlib.h>
#include <string.h>

/* The buffer of an active request. */
struct wl_use {
    struct wl_span span; /* must be first */
    struct wl_use *next; /* of the same request */
    uint64_t sum;        /* of the data; 0 if MPI is to write to it */
    bool summed;
    uint32_t part; /* of a long buffer: which pieces are in the sum */
};

/* ---- buffers with gaps ---- */

/* Goes over the runs of bytes of a buffer. */
struct runs {
    const struct wl_buffer_use *what;
    size_t element, packed; /* the next run: of this element, at this byte of it */
    uintptr_t begin, end;   /* the current run */
};

static bool next_run(struct runs *runs)
{
    const struct wl_type *type = runs->what->type;
    size_t length;

    if (runs->packed == type->size) {
        runs->packed = 0;
        runs->element++;
    }
    if (runs->element >= runs->what->count) {
        return false;
    }
    MPI_Aint at = wl_type_locate(type, runs->packed, &length);
    uintptr_t begin = (uintptr_t)runs->what->buffer +
                      (uintptr_t)((MPI_Aint)runs->element * type->extent + at);
    bool ordered = begin >= runs->end;
    runs->packed += length;
    runs->begin = begin;
    runs->end = begin + length;
    return ordered; /* others are not compared */
}

static bool runs_meet(const struct wl_buffer_use *one, const struct wl_buffer_use *other)
{
    struct runs a = {.what = one}, b = {.what = other};
    bool both = next_run(&a) && next_run(&b);

    while (both) {
        if (a.begin < b.end && b.begin < a.end) {
            return true;
        }
        both = next_run(a.end <= b.begin ? &a : &b);
    }
    return false;
}

static bool is_dense(const struct wl_buffer_use *what)
{
    return what->type->contiguous || what->type->size == (size_t)what->type->true_extent;
}

/* Programs exchange the same buffers again and again: the answer for two of them is kept. */
static bool shares_bytes(struct wl_checker *checker, const struct wl_buffer_use *one,
                         const struct wl_buffer_use *other)
{
    MPI_Aint distance = (const char *)one->buffer - (const char *)other->buffer;
    size_t slot =
        ((uintptr_t)one->type / 64 + (uintptr_t)other->type / 32 + (size_t)distance / 8) %
        WL_GAPS_ANSWERS;
    struct wl_gaps_answer *answer = &checker->answers[slot];

    if (is_dense(one) && is_dense(other)) {
        return true;
    }
    if (answer->one != one->type || answer->other != other->type ||
        answer->one_count != one->count || answer->other_count != other->count ||
        answer->distance != distance) {
        *answer = (struct wl_gaps_answer){one->type,    other->type, one->count,
                                          other->count, distance,    runs_meet(one, other)};
    }
    return answer->shares;
}

/* ---- overlaps ---- */

/* A span in the tree that must not be used together with this one; or null. */
static const struct wl_span *find_conflict(struct wl_checker *checker,
                                           const struct wl_span *root,
                                           const struct wl_span *span) /* NOLINT */
{
    if (root == NULL || root->highest_end <= span->begin) {
        return NULL;
    }
    const struct wl_span *found = find_conflict(checker, root->left, span);
    if (found != NULL || root->begin >= span->end) {
        return found;
    }
    if (root->end > span->begin && (root->what.writes || span->what.writes) &&
        shares_bytes(checker, &root->what, &span->what)) {
        return root;
    }
    return find_conflict(checker, root->right, span);
}

static void report(const struct wl_rank *rank, const struct wl_span *span,
                   const struct wl_span *found)
{
    const struct wl_mark own = wl_mark_of(rank, span->caller);
    const struct wl_mark other = wl_mark_of(rank, found->caller);

    if (found->caller.function == span->caller.function &&
        found->caller.site == span->caller.site && !(found->what.writes && span->what.writes)) {
        wl_report(WF_FINDING_BUFFER, &own, &other,
                  "reads and writes the same memory, in one call or in one that is not "
                  "complete");
        return;
    }
    wl_report(
        WF_FINDING_BUFFER, &own, &other, "%s memory that an operation that is not complete %s",
        span->what.writes ? "writes to" : "reads", found->what.writes ? "writes to" : "reads");
}

/* ---- datatypes that overlap themselves ---- */

struct piece {
    uintptr_t begin, end;
};

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Whether two values of a buffer share bytes. Of buffers with very many pieces the first ones are
 * looked at. */
static bool overlaps_itself(const struct wl_buffer_use *what)
{
    enum { PIECES_MAX = 4096 };
    bool apart = what->count == 1 || what->type->extent >= what->type->true_extent;
    struct runs runs = {.what = what};
    size_t n = 0;

    if (what->type->contiguous || (apart && wl_type_order(what->type) == WL_ORDER_APART)) {
        return false;
    }
    struct piece *pieces = wl_malloc(PIECES_MAX * sizeof(*pieces));
    do {
        (void)next_run(&runs);
        pieces[n++] = (struct piece){runs.begin, runs.end};
    } while (n < PIECES_MAX &&
             (runs.packed < what->type->size || runs.element + 1 < what->count));
    qsort(pieces, n, sizeof(*pieces), compare_pieces);
    bool found = false;
    for (size_t i = 1; i < n && !found; i++) {
        found = pieces[i].begin < pieces[i - 1].end;
    }
    free(pieces);
    return found;
}

/* The answer is kept for the next buffer of the type. */
static void check_type(const struct wl_rank *rank, const struct wl_buffer_use *what)
{
    struct wl_type *type = (struct wl_type *)(uintptr_t)what->type;

    if (!what->writes || type->predefined ||
        what->count <= __atomic_load_n(&type->n_apart, __ATOMIC_RELAXED)) {
        return;
    }
    if (overlaps_itself(what)) {
        const struct wl_mark own = wl_mark_of(rank, wl_caller_of(rank));
        wl_report(WF_FINDING_DATATYPE, &own, NULL,
                  "writes to a buffer with a datatype in which values overlap");
    } else {
        __atomic_store_n(&type->n_apart, what->count, __ATOMIC_RELAXED);
    }
}

/* Returns whether it has reported a conflict. */
static bool check(struct wl_rank *rank, const struct wl_span *span)
{
    const struct wl_span *found = find_conflict(rank->checker, rank->checker->spans, span);

    check_type(rank, &span->what);
    if (found != NULL) {
        report(rank, span, found);
    }
    return (rank->n_wins > 0 && wl_check_local(rank, &span->what)) || found != NULL;
}

/* Of programs that were built with weftcc -fweft-check: a load or store. */
void weft_mpi_access(const void *place, size_t bytes, int writes, const void *site);
void weft_mpi_access(const void *place, size_t bytes, int writes, const void *site)
{
    struct wf_port_rank *self =
        wl.port != NULL && wl_checks() && !wl.in_child ? wl.port->self() : NULL;
    struct wl_rank *rank = self != NULL ? self->lib : NULL;
    struct wl_checker *checker = rank != NULL ? rank->checker : NULL;

    if (checker == NULL || rank->function != NULL || checker->reported == site ||
        (checker->spans == NULL && rank->n_wins == 0)) {
        return;
    }
    const void *called_from = rank->site;
    const struct wl_buffer_use what = {place, bytes, wl_type_of(rank, MPI_BYTE),
                                       .writes = writes != 0};
    rank->function = writes ? "store" : "load";
    rank->site = site;
    const struct wl_span span = wl_span_of(rank, &what);
    if (check(rank, &span)) {
        checker->reported = site;
    }
    rank->function = NULL;
    rank->site = called_from;
}

void wl_check_use(struct wl_rank *rank, const struct wl_buffer_use *what)
{
    if (!wl_use_is_empty(what)) {
        const struct wl_span span = wl_span_of(rank, what);
        (void)check(rank, &span);
    }
}

/* ---- data that changes ---- */

/* Two running sums, as Fletcher's, in four lanes: few instructions, and every change of one word
 * changes the sum. */
enum { LANES = 4 };
typedef uint64_t lanes __attribute__((vector_size(LANES * sizeof(uint64_t))));

static uint64_t sum_of(const unsigned char *bytes, size_t size)
{
    lanes plain = {size}, weighted = {0}, words;
    uint64_t sum = 0;

    for (; size >= sizeof(words); size -= sizeof(words), bytes += sizeof(words)) {
        memcpy(&words, bytes, sizeof(words));
        plain += words;
        weighted += plain;
    }
    memset(&words, 0, sizeof(words));
    memcpy(&words, bytes, size);
    plain += words;
    weighted += plain;
    for (int i = 0; i < LANES; i++) {
        sum = sum * 31 + plain[i] + 7 * weighted[i];
    }
    return sum;
}

/* Of long buffers only every eighth piece is summed up, since reading them takes as long as copying
 * them; which pieces changes from one operation to the next. */
enum { PIECE = 256, PARTS = 8, ALL_MAX = 4 * 1024 };

static uint64_t sum_part(const unsigned char *bytes, size_t size, uint32_t part)
{
    uint64_t sum = size;

    for (size_t at = part * (size_t)PIECE; at < size; at += (size_t)PARTS * PIECE) {
        sum = sum * 31 + sum_of(bytes + at, size - at < PIECE ? size - at : PIECE);
    }
    return sum;
}

static uint64_t sum_buffer(const struct wl_buffer_use *what, uint32_t part)
{
    size_t size = what->count * what->type->size;

    if (what->type->contiguous && size > ALL_MAX) {
        return sum_part(what->buffer, size, part);
    }
    if (what->type->contiguous) {
        return sum_of(what->buffer, size);
    }
    unsigned char *packed = wl_malloc(size);
    wl_pack(what->type, what->buffer, what->count, packed);
    uint64_t sum = sum_of(packed, size);
    free(packed);
    return sum;
}

void wl_check_hold(struct wl_rank *rank, const struct wl_buffer_use *what, struct wl_use **uses)
{
    if (wl_use_is_empty(what)) {
        return;
    }
    struct wl_use *use = wl_calloc(1, sizeof(*use));

    use->span = wl_span_of(rank, what);
    (void)check(rank, &use->span);
    wl_type_hold(what->type);
    if ((!what->writes || what->done) && !what->brief && wl.port->payload_max == UINT64_MAX) {
        use->summed = true;
        use->part = rank->checker->n_sums++ % PARTS;
        use->sum = sum_buffer(what, use->part);
    }
    rank->checker->spans =
        wl_spans_with(rank->checker->spans, &use->span, &rank->checker->random);
    use->next = *uses;
    *uses = use;
}

static void release(struct wl_rank *rank, struct wl_use **uses, bool looks)
{
    while (*uses != NULL) {
        struct wl_use *use = *uses;
        *uses = use->next;
        rank->checker->spans = wl_spans_without(rank->checker->spans, &use->span);
        if (looks && use->summed && sum_buffer(&use->span.what, use->part) != use->sum) {
            const struct wl_mark own = wl_mark_of(rank, use->span.caller);
            const struct wl_mark other = wl_mark_of(rank, wl_caller_of(rank));
            wl_report(WF_FINDING_CHANGED_BUFFER, &own, &other,
                      "%s a buffer that the program changed before the operation was complete",
                      use->span.what.writes ? "writes to" : "reads");
        }
        wl_type_release(use->span.what.type);
        free(use);
    }
}

void wl_check_release(struct wl_rank *rank, struct wl_use **uses)
{
    release(rank, uses, true);
}

void wl_check_forget(struct wl_rank *rank, struct wl_use **uses)
{
    release(rank, uses, false);
}
