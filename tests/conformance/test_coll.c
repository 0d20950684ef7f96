/* SPDX-License-Identifier: Apache-2.0 */
/* What every registered collective algorithm promises, whoever wrote it, shown by moving data.
 */
#include "harness/coll_calls.h"

static const uint64_t byte_counts[] = {0, 1, 7, 8, 1000, 100000, 1 << 20};
enum { N_BYTE_COUNTS = sizeof(byte_counts) / sizeof(byte_counts[0]) };

static void post_send(struct world *w, uint32_t from, const struct wf_coll_step *step)
{
    struct rank *rank = &w->ranks[from];
    struct wire *wire = &w->wires[from][step->send_to];
    struct message *msg =
        malloc(sizeof(*msg) + sizeof(msg->contents[0]) * (step->send.count + 1));
    uint64_t bytes = 0;

    *msg = (struct message){.bytes =
                                wf_coll_bytes(&rank->args, rank->n_slots, &step->send, false)};
    for (uint32_t i = 0; i < step->send.count; i++) {
        if (is_selected(&step->send, i)) {
            struct content *content = &rank->own[slot_at(rank, &step->send, i)];
            if (content->from == 0) {
                fail(w, "a rank sends what it does not have");
            }
            bytes += content->length;
            msg->contents[msg->n++] = *content;
        }
    }
    if (bytes != msg->bytes) {
        fail(w, "a message is not as long as its contents");
    }
    *wire->end = msg;
    wire->end = &msg->next;
    wire->n_sent++;
    wire->n_waiting++;
    w->n_messages++;
    w->n_bytes += bytes;
    w->sent_bytes[from] += bytes;
}

/* What must not be done while messages of the steps before are under way. */
static void check_step(struct world *w, const struct rank *rank,
                       const struct wf_coll_step *step)
{
    bool sends = step->send_to != WF_COLL_NOBODY;
    bool receives = step->recv_from != WF_COLL_NOBODY;
    bool combines = step->take == WF_COLL_COMBINE || step->take == WF_COLL_COMBINE_RESULT;
    bool same_side = !w->two_sided || step->take == WF_COLL_RELAY;
    bool marks[N_SLOTS] = {false};

    if ((sends && !is_sound(rank, &step->send)) || (receives && !is_sound(rank, &step->recv))) {
        fail(w, "there are no such slots");
        return;
    }
    if (sends && same_side && any(rank, &step->send, rank->received)) {
        fail(w, "what is sent has not been waited for");
    }
    if (receives && same_side && any(rank, &step->recv, rank->sent)) {
        fail(w, "what is still being sent is received into");
    }
    if (receives && any(rank, &step->recv, rank->received) &&
        (!combines || !any(rank, &step->recv, rank->combined))) {
        fail(w, "two messages are received into one slot");
    }
    if (sends && receives && step->take == WF_COLL_STORE && !w->two_sided) {
        mark(rank, &step->send, marks);
        if (any(rank, &step->recv, marks)) {
            fail(w, "a step receives into what it sends");
        }
    }
}

static bool is_peer(const struct world *w, uint32_t self, uint32_t other)
{
    return other == WF_COLL_NOBODY ||
           (other < w->size && (other != self || is_neighborhood(w->ops->kind)));
}

/* Posts the messages of a rank's next step. */
static void enter(struct world *w, uint32_t self, bool *waits)
{
    struct rank *rank = &w->ranks[self];
    struct wf_coll_step step;

    *waits = true;
    rank->entered = true;
    if (!w->ops->step(&rank->args, rank->step, &step)) {
        rank->at_end = true;
        return;
    }
    if (!is_peer(w, self, step.send_to) || !is_peer(w, self, step.recv_from)) {
        fail(w, "there is no such rank");
        return;
    }
    check_step(w, rank, &step);
    if (w->fault != NULL) {
        return;
    }
    if (step.recv_from != WF_COLL_NOBODY) {
        if (rank->n_pending == N_PENDING) {
            fail(w, "too many receives at once");
            return;
        }
        rank->pending[rank->n_pending++] =
            (struct pending){step.recv_from, step.recv, step.take};
        w->wires[step.recv_from][self].n_posted++;
        mark(rank, &step.recv, rank->received);
        if (step.take == WF_COLL_COMBINE || step.take == WF_COLL_COMBINE_RESULT) {
            mark(rank, &step.recv, rank->combined);
        }
    }
    if (step.send_to != WF_COLL_NOBODY) {
        post_send(w, self, &step);
        mark(rank, &step.send, rank->sent);
    }
    *waits = !step.go_on;
}

static bool can_complete(const struct world *w, uint32_t self)
{
    const struct rank *rank = &w->ranks[self];
    uint32_t needed[N_RANKS] = {0};

    for (uint32_t i = 0; i < rank->n_pending; i++) {
        uint32_t from = rank->pending[i].from;
        if (w->wires[from][self].n_waiting < ++needed[from]) {
            return false;
        }
    }
    for (uint32_t to = 0; w->synchronous && to < w->size; to++) {
        if (w->wires[self][to].n_posted < w->wires[self][to].n_sent) {
            return false;
        }
    }
    return true;
}

static void combine(struct world *w, struct content *into, const struct content *what)
{
    if (w->ops->kind != WF_COLL_BARRIER && (into->from & what->from) != 0) {
        fail(w, "a contribution is counted twice");
    }
    if (into->piece != what->piece || into->length != what->length) {
        fail(w, "different parts of the data are combined");
    }
    into->from |= what->from;
}

static void take(struct world *w, struct rank *rank, const struct pending *pending,
                 const struct message *msg)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < pending->slots.count; i++) {
        uint32_t slot = slot_at(rank, &pending->slots, i);
        const struct content *content = &msg->contents[n];

        if (!is_selected(&pending->slots, i)) {
            continue;
        }
        if (n++ == msg->n) {
            fail(w, "more slots are received than were sent");
            return;
        }
        if (pending->take == WF_COLL_COMBINE || pending->take == WF_COLL_COMBINE_RESULT) {
            combine(w, &rank->own[slot], content);
        } else {
            (w->two_sided && pending->take == WF_COLL_STORE ? rank->incoming
                                                            : rank->own)[slot] = *content;
        }
        if (pending->take == WF_COLL_COMBINE_RESULT) {
            combine(w, &rank->result[slot], content);
        }
    }
    if (n != msg->n) {
        fail(w, "more slots were sent than are received");
    }
    if (wf_coll_bytes(&rank->args, rank->n_slots, &pending->slots, true) != msg->bytes) {
        fail(w, "sender and receiver differ about the length of a message");
    }
}

static void complete(struct world *w, uint32_t self)
{
    struct rank *rank = &w->ranks[self];

    for (uint32_t i = 0; i < rank->n_pending; i++) {
        struct wire *wire = &w->wires[rank->pending[i].from][self];
        struct message *msg = wire->first;

        wire->first = msg->next;
        wire->end = wire->first == NULL ? &wire->first : wire->end;
        wire->n_waiting--;
        take(w, rank, &rank->pending[i], msg);
        free(msg);
    }
    w->most_pending = w->most_pending < rank->n_pending ? rank->n_pending : w->most_pending;
    rank->n_pending = 0;
    memset(rank->sent, 0, sizeof(rank->sent));
    memset(rank->received, 0, sizeof(rank->received));
    memset(rank->combined, 0, sizeof(rank->combined));
}

/* Makes one step of a rank if it can; true if something happened. */
static bool advance(struct world *w, uint32_t self)
{
    struct rank *rank = &w->ranks[self];
    bool moved = !rank->entered;
    bool waits = true;

    if (rank->ended || w->fault != NULL) {
        return false;
    }
    if (!rank->entered) {
        enter(w, self, &waits);
    }
    if (w->fault != NULL || (waits && !can_complete(w, self))) {
        return moved;
    }
    if (waits) {
        complete(w, self);
    }
    rank->entered = false;
    rank->ended = rank->at_end;
    rank->step++;
    return true;
}

static void drain(struct world *w)
{
    for (uint32_t i = 0; i < w->size; i++) {
        for (uint32_t j = 0; j < w->size; j++) {
            while (w->wires[i][j].first != NULL) {
                struct message *msg = w->wires[i][j].first;
                w->wires[i][j].first = msg->next;
                fail(w, "a message is never received");
                free(msg);
            }
        }
    }
}

/* Runs to the end. */
static void execute(struct world *w, const struct trial *trial)
{
    bool moved = true;

    begin(w, trial);
    for (uint64_t sweep = 0; moved && w->fault == NULL; sweep++) {
        moved = false;
        for (uint32_t i = 0; i < w->size; i++) {
            uint64_t random = wf_test_rand(trial->seed, sweep + 5000, i);
            uint32_t falling = w->size - 1 - i;
            moved |= advance(w, trial->order == 0   ? i
                                : trial->order == 1 ? falling
                                                    : (uint32_t)(random % w->size));
        }
        /* Chance may have visited only such as cannot move. */
        for (uint32_t i = 0; trial->order == 2 && !moved && i < w->size; i++) {
            moved = advance(w, i);
        }
    }
    for (uint32_t i = 0; i < w->size; i++) {
        if (!w->ranks[i].ended) {
            fail(w, "ranks wait for each other for ever");
        }
    }
    drain(w);
}

/* The contents of a slot are the contributions `from` to piece `piece`. */
static bool is(const struct content *content, uint64_t from, uint32_t piece)
{
    return content->from == from && content->piece == piece;
}

static uint64_t bit(uint32_t rank)
{
    return UINT64_C(1) << rank;
}

/* The block of each other rank for this one is where it belongs, or after a relay in any one
 * slot. */
static bool has_all_blocks(const struct world *w, uint32_t self)
{
    const struct rank *rank = &w->ranks[self];
    uint64_t found = is(&rank->own[self], bit(self), self) ? bit(self) : 0;

    for (uint32_t i = 0; i < w->size; i++) {
        const struct content *own = &rank->own[i];
        if (is(&rank->incoming[i], bit(i), self)) {
            found |= bit(i);
        } else if (rank->incoming[i].from != 0) {
            return false;
        } else if (own->piece == self && (found & own->from) == 0) {
            found |= own->from;
        }
    }
    return found == bit(w->size) - 1;
}

/* Likewise for neighbours: the m-th source that is a certain rank belongs to the m-th of that
 * rank's destinations which is this one. */
static bool has_neighbors_blocks(const struct world *w, uint32_t self)
{
    const struct rank *rank = &w->ranks[self];
    uint32_t next[N_RANKS] = {0};

    for (uint32_t i = 0; i < rank->args.n_sources; i++) {
        uint32_t from = rank->args.sources[i];
        while (w->destinations[from][next[from]] != self) {
            next[from]++;
        }
        if (!is(&rank->incoming[i], bit(from), next[from]++)) {
            return false;
        }
    }
    return true;
}

static bool has_all_of(const struct world *w, uint32_t self, uint64_t from)
{
    const struct rank *rank = &w->ranks[self];

    for (uint32_t i = 0; i < rank->n_slots; i++) {
        if (!is(&rank->own[i], from, i)) {
            return false;
        }
    }
    return true;
}

/* The pieces into which the algorithm cuts a block. */
static uint32_t n_pieces(const struct world *w)
{
    return w->ranks[0].n_slots > w->size ? w->ranks[0].n_slots / w->size : 1;
}

static bool has_everybodys(const struct world *w, uint32_t self)
{
    uint32_t cut = n_pieces(w);

    for (uint32_t i = 0; i < w->size * cut; i++) {
        if (!is(&w->ranks[self].own[i], bit(i / cut), i)) {
            return false;
        }
    }
    return true;
}

static bool has_its_block(const struct world *w, uint32_t self, uint64_t from)
{
    uint32_t cut = n_pieces(w);

    for (uint32_t i = self * cut; i < (self + 1) * cut; i++) {
        if (!is(&w->ranks[self].own[i], from, i)) {
            return false;
        }
    }
    return true;
}

/* What the MPI standard says a rank has in the end. */
static bool is_right(const struct world *w, uint32_t self)
{
    const struct rank *rank = &w->ranks[self];
    uint64_t all = bit(w->size) - 1;

    switch (w->ops->kind) {
    case WF_COLL_BARRIER:
    case WF_COLL_ALLREDUCE:
        return has_all_of(w, self, all);
    case WF_COLL_BCAST:
        return has_all_of(w, self, bit(w->root));
    case WF_COLL_REDUCE:
        return self != w->root || has_all_of(w, self, all);
    case WF_COLL_GATHER:
    case WF_COLL_GATHERV:
        return self != w->root || has_everybodys(w, self);
    case WF_COLL_SCATTER:
    case WF_COLL_SCATTERV:
        return is(&rank->own[self], bit(w->root), self);
    case WF_COLL_ALLGATHER:
    case WF_COLL_ALLGATHERV:
        return has_everybodys(w, self);
    case WF_COLL_ALLTOALL:
    case WF_COLL_ALLTOALLV:
        return has_all_blocks(w, self);
    case WF_COLL_REDUCE_SCATTER:
    case WF_COLL_REDUCE_SCATTER_BLOCK:
        return has_its_block(w, self, all);
    case WF_COLL_SCAN:
        return is(&rank->result[0], bit(self + 1) - 1, 0) && rank->n_slots == 1;
    case WF_COLL_EXSCAN:
        return is(&rank->result[0], bit(self) - 1, 0) && rank->n_slots == 1;
    case WF_COLL_NEIGHBOR_ALLGATHER:
    case WF_COLL_NEIGHBOR_ALLTOALL:
        return has_neighbors_blocks(w, self);
    case WF_COLL_KINDS:
        break;
    }
    return false;
}

/* Runs it and says what is wrong, if anything is. */
static void try(struct world *w, const struct trial *trial)
{
    execute(w, trial);
    for (uint32_t i = 0; i < w->size && w->fault == NULL; i++) {
        if (!is_right(w, i)) {
            fail(w, "a rank does not have what it should in the end");
        }
    }
    if (w->fault != NULL) {
        printf("# %s %s, size %u, root %u, %llu bytes, seed %llu, order %d, synchronous %d\n",
               wf_coll_name(trial->ops->kind), trial->ops->name, trial->size, trial->root,
               (unsigned long long)trial->bytes, (unsigned long long)trial->seed, trial->order,
               trial->synchronous);
        printf("# %s\n", w->fault);
        wf_test_failed = 1;
    }
}

/* Every root of the small ones, a few of the large ones. */
static bool is_root_of_interest(const struct wf_coll_ops *ops, uint32_t size, uint32_t root)
{
    if (!wf_coll_has_root(ops->kind)) {
        return root == 0;
    }
    return size <= 9 || root <= 1 || root == size / 2 || root == size - 1;
}

/* The orders of execution take turns. */
static void try_size(struct world *w, const struct wf_coll_ops *ops, uint32_t size)
{
    for (uint32_t root = 0; root < size; root++) {
        const struct wf_coll_args args = {.kind = ops->kind, .size = size, .root = root};

        for (int i = 0; is_root_of_interest(ops, size, root) && i < N_BYTE_COUNTS; i++) {
            struct trial trial = {.ops = ops, .size = size, .root = root};
            trial.bytes = byte_counts[i];
            trial.seed = size * 1000 + root * 10 + (uint64_t)i;
            trial.order = (int)((size + root + (uint32_t)i) % 3);
            for (int mode = 0; mode < 2 && wf_coll_applies(ops, &args) && !wf_test_failed;
                 mode++) {
                trial.synchronous = mode != 0;
                try(w, &trial);
            }
        }
    }
}

static void everybody_ends_with_what_the_standard_says(void)
{
    static struct world w;

    for (const struct wf_coll_ops *const *ops = wf_coll_table(); *ops != NULL; ops++) {
        if (!wf_test_wants((*ops)->name)) {
            continue;
        }
        for (uint32_t size = 1; size <= N_RANKS; size++) {
            try_size(&w, *ops, size);
        }
    }
}

static void the_table_is_in_order_and_names_are_found(void)
{
    const struct wf_coll_ops *const *table = wf_coll_table();
    bool is_own = wf_coll_registry.with == NULL; /* plug-ins stand behind the others */
    uint32_t kinds = 0;

    for (uint32_t i = 0; table[i] != NULL; i++) {
        CHECK(wf_coll_find(table[i]->kind, table[i]->name) == table[i]);
        CHECK(i == 0 || !is_own || table[i]->kind >= table[i - 1]->kind);
        kinds |= UINT32_C(1) << table[i]->kind;
    }
    CHECK_U64(kinds, (UINT32_C(1) << WF_COLL_KINDS) - 1);
    CHECK(wf_coll_find(WF_COLL_BARRIER, "binomial") == NULL);
    CHECK(wf_coll_find(WF_COLL_BCAST, "binomial") == &wf_coll_bcast_binomial);
    CHECK_STR(wf_coll_name(WF_COLL_REDUCE_SCATTER_BLOCK), "reduce_scatter_block");
    CHECK(wf_coll_has_root(WF_COLL_SCATTERV) && !wf_coll_has_root(WF_COLL_ALLTOALL));
}

/* How many messages and bytes the literature says, all ranks together, with blocks or data of
 * `bytes`. */
struct cost {
    const struct wf_coll_ops *ops;
    uint64_t messages, bytes;
};

static uint32_t log2_down(uint32_t n)
{
    return n == 1 ? 0 : 1 + log2_down(n / 2);
}

static void costs_are_what_the_literature_says(void)
{
    static struct world w;

    for (uint32_t n = 1; n <= N_RANKS; n++) {
        uint32_t down = log2_down(n);
        uint64_t power = bit(down);
        uint64_t up = power == n ? down : down + 1;
        uint64_t pairs = (uint64_t)n * (n - 1);
        uint64_t b = UINT64_C(64) * n; /* pieces are equal */
        uint64_t doubling = power * down + 2 * (n - power);
        uint64_t bits = 0; /* of all numbers below n */

        for (uint32_t i = 0; i < n; i++) {
            bits += (uint64_t)__builtin_popcount(i);
        }
        const struct cost costs[] = {
            {&wf_coll_barrier_dissemination, n * up, 0},
            {&wf_coll_barrier_tree, 2 * (uint64_t)(n - 1), 0},
            {&wf_coll_bcast_binomial, n - 1, (n - 1) * b},
            {&wf_coll_bcast_chain, n - 1, (n - 1) * b},
            {&wf_coll_allreduce_recursive_doubling, doubling, doubling * b},
            {&wf_coll_allreduce_ring, 2 * pairs, 2 * pairs * (b / n)},
            {&wf_coll_allreduce_rabenseifner, 2 * (power * down + n - power),
             2 * (power - 1) * b + 2 * (n - power) * b},
            {&wf_coll_allreduce_direct, 2 * pairs, 2 * pairs * (b / n)},
            {&wf_coll_alltoall_ring, n * pairs / 2, n * pairs / 2 * b},
            {&wf_coll_gather_linear, n - 1, (n - 1) * b},
            {&wf_coll_allgather_ring, pairs, pairs * b},
            {&wf_coll_allgather_bruck, n * up, pairs * b},
            {&wf_coll_alltoall_linear, pairs, pairs * b},
            {&wf_coll_alltoall_pairwise, pairs, pairs * b},
            {&wf_coll_alltoall_bruck, n * up, n * bits * b},
            {&wf_coll_reduce_scatter_block_pairwise, pairs, pairs * b},
            {&wf_coll_reduce_scatter_block_ring, pairs, pairs * b},
        };
        for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
            try(&w, &(struct trial){.ops = costs[i].ops, .size = n, .bytes = b});
            CHECK_U64(w.n_messages, costs[i].messages);
            CHECK_U64(w.n_bytes, costs[i].bytes);
        }
        /* Each rank's part: 2 (n - 1) / n of the data. */
        try(&w, &(struct trial){.ops = &wf_coll_allreduce_ring, .size = n, .bytes = b});
        for (uint32_t i = 0; i < n; i++) {
            CHECK_U64(w.sent_bytes[i], 2 * (b - b / n));
        }
    }
}

static void no_more_messages_are_under_way_than_allowed(void)
{
    static const struct {
        const struct wf_coll_ops *ops;
        uint32_t most;
    } cases[] = {
        {&wf_coll_alltoall_linear, 32},       {&wf_coll_alltoall_scattered, 31},
        {&wf_coll_alltoallv_pairwise, 1},     {&wf_coll_gather_linear, 32},
        {&wf_coll_reduce_binary_pipeline, 2},
    };
    static struct world w;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        try(&w, &(struct trial){.ops = cases[i].ops, .size = 33, .bytes = 50000});
        CHECK_U64(w.most_pending, cases[i].most);
    }
}

/* All ranks of Open MPI's linear alltoallv send to rank 0 first, those of alltoall to the next. */
static void linear_alltoallv_goes_by_rank(void)
{
    static const uint32_t by_rank[] = {0, 1, 3, 4}, by_distance[] = {3, 4, 0, 1};
    const struct wf_coll_args args = {.kind = WF_COLL_ALLTOALLV, .rank = 2, .size = 5};
    struct wf_coll_step step;

    for (uint32_t k = 0; k < 4; k++) {
        CHECK(wf_coll_alltoallv_linear.step(&args, k, &step) && step.go_on);
        CHECK_U64(step.send_to, by_rank[k]);
        CHECK_U64(step.recv_from, by_rank[k]);
        CHECK(wf_coll_alltoall_linear.step(&args, k, &step));
        CHECK_U64(step.send_to, by_distance[k]);
    }
    CHECK(!wf_coll_alltoallv_linear.step(&args, 4, &step));
}

static void huge_calls_stay_in_range(void)
{
    for (const struct wf_coll_ops *const *ops = wf_coll_table(); *ops != NULL; ops++) {
        if (!wf_test_wants((*ops)->name)) {
            continue;
        }
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t size = WF_COLL_SIZE_MAX - i % 2;
            struct wf_coll_args args = {.kind = (*ops)->kind, .size = size};
            args.node_size = i % 2 == 0 ? 8 : 0;
            uint32_t n_slots;
            struct wf_coll_step step;

            args.rank = i / 2 == 3 ? size - 1 : size / 3 * (i / 2);
            args.root = wf_coll_has_root(args.kind) ? size - 2 : 0;
            args.bytes = UINT64_MAX >> (is_neighborhood(args.kind) ? 34 : 0);
            n_slots = (*ops)->n_slots(&args);
            for (uint32_t k = 0; k < 100 && wf_coll_applies(*ops, &args); k++) {
                if (!(*ops)->step(&args, k, &step)) {
                    break;
                }
                CHECK(step.send_to == WF_COLL_NOBODY ||
                      (step.send_to < size && step.send.first < n_slots &&
                       step.send.count <= n_slots));
                CHECK(step.recv_from == WF_COLL_NOBODY ||
                      (step.recv_from < size && step.recv.first < n_slots &&
                       step.recv.count <= n_slots));
            }
        }
    }
}

int main(void)
{
    RUN(everybody_ends_with_what_the_standard_says);
    RUN(the_table_is_in_order_and_names_are_found);
    RUN(costs_are_what_the_literature_says);
    RUN(no_more_messages_are_under_way_than_allowed);
    RUN(linear_alltoallv_goes_by_rank);
    RUN(huge_calls_stay_in_range);
    return wf_test_done();
}
