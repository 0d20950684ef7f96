/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers that several calls use at once, and buffers that the program changes while they are
 * being sent. The buffers of active requests are in a treap by their first byte, in which each
 * node also has the highest end of its subtree: to find a buffer that overlaps another one
 * takes a number of steps that grows with the logarithm of the number of requests.
 */
#include "mpi/lib/checker/checker.h"
#include "mpi/lib/checker/state.h"
#include "mpi/lib/memory.h"

#include <stdlib.h>
#include <string.h>

struct wl_span {
    struct wl_span *left, *right;
    uint64_t priority;
    uintptr_t begin, end;
    uintptr_t highest_end; /* of its subtree */
    struct wl_buffer_use what;
    struct wl_caller caller;
};

/* The buffer of an active request. */
struct wl_use {
    struct wl_span span; /* must be first */
    struct wl_use *next; /* of the same request */
    uint64_t sum;        /* of the data; 0 if MPI writes to it */
    bool summed;
    uint32_t part; /* of a long buffer: which pieces are in the sum */
};

/* ---- the treap ---- */

static bool is_before(const struct wl_span *one, const struct wl_span *other)
{
    return one->begin != other->begin ? one->begin < other->begin : one < other;
}

static void update(struct wl_span *span)
{
    span->highest_end = span->end;
    if (span->left != NULL && span->left->highest_end > span->highest_end) {
        span->highest_end = span->left->highest_end;
    }
    if (span->right != NULL && span->right->highest_end > span->highest_end) {
        span->highest_end = span->right->highest_end;
    }
}

/* Splits a tree into what is before the span and what is not. */
static void split(struct wl_span *root, const struct wl_span *at, struct wl_span **before,
                  struct wl_span **after) /* NOLINT(misc-no-recursion) */
{
    if (root == NULL) {
        *before = *after = NULL;
    } else if (is_before(root, at)) {
        split(root->right, at, &root->right, after);
        *before = root;
        update(root);
    } else {
        split(root->left, at, before, &root->left);
        *after = root;
        update(root);
    }
}

static struct wl_span *merge(struct wl_span *one,
                             struct wl_span *other) /* NOLINT(misc-no-recursion) */
{
    if (one == NULL || other == NULL) {
        return one != NULL ? one : other;
    }
    if (one->priority > other->priority) {
        one->right = merge(one->right, other);
        update(one);
        return one;
    }
    other->left = merge(one, other->left);
    update(other);
    return other;
}

/* Goes down to where the priority of the span is the highest, and splits only what is below. */
static struct wl_span *with(struct wl_span *root,
                            struct wl_span *span) /* NOLINT(misc-no-recursion) */
{
    if (root == NULL || span->priority > root->priority) {
        split(root, span, &span->left, &span->right);
        update(span);
        return span;
    }
    if (is_before(span, root)) {
        root->left = with(root->left, span);
    } else {
        root->right = with(root->right, span);
    }
    if (span->end > root->highest_end) {
        root->highest_end = span->end;
    }
    return root;
}

static void insert(struct wl_checker *checker, struct wl_span *span)
{
    checker->random = checker->random * UINT64_C(6364136223846793005) + 1442695040888963407U;
    span->priority = checker->random;
    checker->spans = with(checker->spans, span);
}

static struct wl_span *without(struct wl_span *root,
                               const struct wl_span *span) /* NOLINT(misc-no-recursion) */
{
    if (root == span) {
        return merge(root->left, root->right);
    }
    if (is_before(span, root)) {
        root->left = without(root->left, span);
    } else {
        root->right = without(root->right, span);
    }
    update(root);
    return root;
}

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

static struct wl_span span_of(const struct wl_rank *rank, const struct wl_buffer_use *what)
{
    const struct wl_type *type = what->type;
    uintptr_t begin = (uintptr_t)what->buffer + (uintptr_t)type->true_lb;
    MPI_Aint last = what->count > 0 ? (MPI_Aint)(what->count - 1) * type->extent : 0;

    if (last < 0) { /* elements go downwards */
        begin += (uintptr_t)last;
        last = -last;
    }
    return (struct wl_span){.begin = begin,
                            .end = begin + (uintptr_t)(last + type->true_extent),
                            .what = *what,
                            .caller = wl_caller_of(rank)};
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

static bool is_empty(const struct wl_buffer_use *what)
{
    return what->count == 0 || what->type == NULL || what->type->size == 0;
}

static void check(struct wl_rank *rank, const struct wl_span *span)
{
    const struct wl_span *found = find_conflict(rank->checker, rank->checker->spans, span);

    if (found != NULL) {
        report(rank, span, found);
    }
}

void wl_check_use(struct wl_rank *rank, const struct wl_buffer_use *what)
{
    if (!is_empty(what)) {
        const struct wl_span span = span_of(rank, what);
        check(rank, &span);
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
    if (is_empty(what)) {
        return;
    }
    struct wl_use *use = wl_calloc(1, sizeof(*use));

    use->span = span_of(rank, what);
    check(rank, &use->span);
    wl_type_hold(what->type);
    if (!what->writes && !what->brief && wl.port->payload_max == UINT64_MAX) {
        use->summed = true;
        use->part = rank->checker->n_sums++ % PARTS;
        use->sum = sum_buffer(what, use->part);
    }
    insert(rank->checker, &use->span);
    use->next = *uses;
    *uses = use;
}

static void release(struct wl_rank *rank, struct wl_use **uses, bool looks)
{
    while (*uses != NULL) {
        struct wl_use *use = *uses;
        *uses = use->next;
        rank->checker->spans = without(rank->checker->spans, &use->span);
        if (looks && use->summed && sum_buffer(&use->span.what, use->part) != use->sum) {
            const struct wl_mark own = wl_mark_of(rank, use->span.caller);
            const struct wl_mark other = wl_mark_of(rank, wl_caller_of(rank));
            wl_report(WF_FINDING_CHANGED_BUFFER, &own, &other,
                      "reads a buffer that the program changed before the operation was "
                      "complete");
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

/* ---- windows ---- */

/* An access to a window of this rank. */
struct access {
    struct wl_span span; /* must be first */
    struct wl_access_note note;
};

static void free_accesses(struct wl_span *root) /* NOLINT(misc-no-recursion) */
{
    if (root != NULL) {
        free_accesses(root->left);
        free_accesses(root->right);
        free(root);
    }
}

void wl_check_accesses_free(struct wl_checker *checker)
{
    free_accesses(checker->accesses);
    checker->accesses = NULL;
}

/* Accumulates with one operation may go to the same place; those that only read, and those that
 * compare and swap, with any other. */
static bool are_atomic(int32_t one, int32_t other)
{
    return one != 0 && other != 0 &&
           (one == other || one < 0 || other < 0 || one == MPI_NO_OP || other == MPI_NO_OP);
}

static const struct access *find_access(const struct wl_span *root,
                                        const struct access *access) /* NOLINT */
{
    if (root == NULL || root->highest_end <= access->span.begin) {
        return NULL;
    }
    const struct access *found = find_access(root->left, access);
    const struct access *own = (const struct access *)root;
    if (found != NULL || root->begin >= access->span.end) {
        return found;
    }
    if (root->end > access->span.begin && (root->what.writes || access->span.what.writes) &&
        !are_atomic(own->note.op, access->note.op)) {
        return own;
    }
    return find_access(root->right, access);
}

static bool is_since_same(const struct wl_access_note *one, const struct wl_access_note *other)
{
    return one->id == other->id && one->first == other->first && one->fence == other->fence;
}

void wl_check_access(struct wl_rank *rank, const struct wl_access_note *note,
                     const struct wl_buffer_use *what)
{
    struct wl_checker *checker = rank->checker;

    if (is_empty(what)) {
        return;
    }
    if (!is_since_same(&checker->accesses_since, note)) {
        wl_check_accesses_free(checker);
        checker->accesses_since = *note;
    }
    struct access *access = wl_calloc(1, sizeof(*access));
    access->span = span_of(rank, what);
    access->span.what.type = NULL; /* it may be freed */
    access->note = *note;
    const struct access *found = find_access(checker->accesses, access);
    if (found != NULL) {
        wl_report(WF_FINDING_WINDOW, &note->call, &found->note.call,
                  "%s memory of rank %u that rank %u %s between the same two fences",
                  what->writes ? "writes to" : "reads", rank->self->rank, found->note.call.rank,
                  found->span.what.writes ? "writes to" : "reads");
    }
    checker->random = checker->random * UINT64_C(6364136223846793005) + 1442695040888963407U;
    access->span.priority = checker->random;
    checker->accesses = with(checker->accesses, &access->span);
}
