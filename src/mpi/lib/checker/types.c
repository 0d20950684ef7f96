/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the values that are sent fit those that are received (MPI-4.0, 3.3.1). Types that are
 * the same on this machine, such as MPI_INT and MPI_INT32_T, fit each other. Values of several
 * types are compared by a hash: a polynomial over their types, so that the hash of a repetition
 * takes a number of steps that grows with the logarithm of the count.
 */
#include "mpi/lib/checker/checker.h"
#include "mpi/lib/coll/collective.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/request.h"

#include <string.h>

static const uint64_t BASE = UINT64_C(0x9e3779b97f4a7c15);

/* The hash of a sequence of values, and the base to the power of its length. */
struct hash {
    uint64_t n, hash, power;
};

static struct hash empty(void)
{
    return (struct hash){0, 0, 1};
}

static struct hash join(struct hash one, struct hash other)
{
    return (struct hash){one.n + other.n, one.hash * other.power + other.hash,
                         one.power * other.power};
}

static struct hash repeat(struct hash what, uint64_t count)
{
    struct hash all = empty();

    for (; count > 0; count >>= 1) {
        if (count & 1) {
            all = join(what, all); /* repetitions of one thing commute */
        }
        what = join(what, what);
    }
    return all;
}

static struct hash value_hash(enum wl_basic basic)
{
    return (struct hash){1, (uint64_t)basic + 1, BASE};
}

struct walk {
    struct hash hash;
    uint64_t limit;
};

static void visit_value(void *arg, const struct wl_type *predefined)
{
    struct walk *walk = arg;

    if (walk->hash.n < walk->limit) {
        walk->hash = join(walk->hash, value_hash(predefined->basic));
    }
}

/* The hash of the first `limit` values of an element. */
static struct hash element_hash(const struct wl_type *type, uint64_t limit)
{
    struct walk walk = {empty(), limit};

    wl_type_visit(type, &(struct wl_visit){visit_value, &walk});
    return walk.hash;
}

/* The hash of one element; computed once. */
static struct hash whole_hash(const struct wl_type *type)
{
    struct wl_type *own = (struct wl_type *)(uintptr_t)type;

    if (type->n_values == 0) {
        struct hash hash = element_hash(type, UINT64_MAX);
        own->values_hash = hash.hash;
        own->n_values = hash.n;
    }
    const struct hash power = repeat((struct hash){1, 0, BASE}, type->n_values);
    return (struct hash){type->n_values, type->values_hash, power.power};
}

struct wl_signature wl_signature_of(const struct wl_type *type, size_t count)
{
    struct wl_signature signature = {.basic = type->basic,
                                     .any = type->name != NULL &&
                                            strcmp(type->name, "MPI_PACKED") == 0,
                                     .bytes = count * type->size};

    if (type->basic == WL_BASIC_NONE && signature.bytes > 0) {
        struct hash hash = repeat(whole_hash(type), count);
        signature.n = hash.n;
        signature.hash = hash.hash;
    }
    return signature;
}

bool wl_signatures_equal(const struct wl_signature *one, const struct wl_signature *other)
{
    return one->any || other->any || one->bytes + other->bytes == 0 ||
           (one->bytes == other->bytes && one->basic == other->basic &&
            one->hash == other->hash);
}

static const struct {
    const char *name;
    size_t size;
} basics[WL_BASICS] = {
#define X(name, type) [WL_BASIC_##name] = {#type, sizeof(type)},
    WL_BASIC_MAP(X)
#undef X
        [WL_BASIC_NONE] = {"values of several types", 0},
    [WL_BASIC_PAIR] = {"pairs", 0},
    [WL_BASIC_BYTES] = {"bytes", 1},
};

const char *wl_signature_text(const struct wl_signature *signature)
{
    return basics[signature->basic].name;
}

/* The hash of what was sent, if its values are known. */
static bool sent_hash(const struct wl_signature *sent, struct hash *hash)
{
    if (sent->basic == WL_BASIC_NONE) {
        *hash = (struct hash){sent->n, sent->hash, 0};
        return true;
    }
    if (basics[sent->basic].size == 0) {
        return false;
    }
    *hash = repeat(value_hash(sent->basic), sent->bytes / basics[sent->basic].size);
    return true;
}

static bool is_prefix(const struct wl_signature *sent, const struct wl_recv *recv)
{
    const struct wl_type *type = recv->type;
    struct hash expected;

    if (sent->any || (type->name != NULL && strcmp(type->name, "MPI_PACKED") == 0) ||
        sent->bytes == 0 || type->size == 0) {
        return true;
    }
    if (sent->basic != WL_BASIC_NONE && type->basic != WL_BASIC_NONE) {
        return sent->basic == type->basic;
    }
    if (!sent_hash(sent, &expected)) {
        return true;
    }
    struct hash whole =
        type->basic == WL_BASIC_NONE ? whole_hash(type) : value_hash(type->basic);
    if (whole.n == 0) {
        return true;
    }
    struct hash all = repeat(whole, expected.n / whole.n);
    if (expected.n % whole.n > 0) {
        all = join(all, element_hash(type, expected.n % whole.n));
    }
    return all.hash == expected.hash;
}

static void set_sent(const struct wl_rank *rank, struct wl_caller caller,
                     const struct wl_type *type, size_t count, struct wl_sent *sent)
{
    memset(sent, 0, sizeof(*sent)); /* padding too: it is sent to other processes */
    sent->call = wl_mark_of(rank, caller);
    sent->signature = wl_signature_of(type, count);
}

struct wl_sent *wl_check_sent(const struct wl_rank *rank, const struct wl_type *type,
                              size_t count)
{
    struct wl_sent *sent = wl_malloc(sizeof(*sent));

    set_sent(rank, wl_caller_of(rank), type, count, sent);
    return sent;
}

void wl_check_label(const struct wl_collective *coll, const struct wl_type *type, size_t count,
                    unsigned char *to)
{
    struct wl_sent sent;

    set_sent(coll->rank, coll->caller, type, count, &sent);
    memcpy(to, &sent, sizeof(sent));
}

/* Counts that all members must have alike are compared when they call (checker/collectives.c). */
static bool has_own_counts(const struct wl_collective *coll)
{
    return coll->view.inter || coll->kind >= WL_NEIGHBOR_ALLGATHER ||
           coll->op == WF_OP_GATHERV || coll->op == WF_OP_SCATTERV ||
           coll->op == WF_OP_ALLGATHERV || coll->op == WF_OP_ALLTOALLV ||
           coll->op == WF_OP_ALLTOALLW;
}

void wl_check_block(const struct wl_collective *coll, const struct wl_type *type, size_t count,
                    const unsigned char *label)
{
    struct wl_sent sent;
    const struct wl_signature own = wl_signature_of(type, count), *its = &sent.signature;

    memcpy(&sent, label, sizeof(sent));
    if (has_own_counts(coll) && !wl_signatures_equal(&own, its)) {
        const struct wl_mark call = wl_mark_of(coll->rank, coll->caller);
        wl_report(own.bytes == its->bytes ? WF_FINDING_DATATYPE : WF_FINDING_COLLECTIVE, &call,
                  &sent.call,
                  "receives %llu bytes, as %s, where rank %u sends %llu bytes, as %s",
                  (unsigned long long)own.bytes, wl_signature_text(&own), sent.call.rank,
                  (unsigned long long)its->bytes, wl_signature_text(its));
    }
}

void wl_check_received(const struct wl_rank *rank, const struct wl_recv *recv,
                       const struct wl_message *message)
{
    const struct wl_sent *sent = message->sent;

    if (!is_prefix(&sent->signature, recv)) {
        const struct wl_mark call = wl_mark_of(rank, recv->posted);
        const struct wl_signature own = wl_signature_of(recv->type, recv->count);
        wl_report(WF_FINDING_DATATYPE, &call, &sent->call,
                  "receives %s in a message with tag %d, but rank %u sent %s",
                  wl_signature_text(&own), message->tag, message->source,
                  wl_signature_text(&sent->signature));
    }
}
