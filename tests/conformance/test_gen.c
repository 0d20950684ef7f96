/* SPDX-License-Identifier: Apache-2.0 */
/* What every registered generator promises, whoever wrote it: a program that ends, with a
 * receive for every message, a wait for every request and the same collectives on all ranks of
 * a group. All ranks are run to their end by a scheduler that knows no time: it lets any rank
 * go on that can. */
#include "program/gen/gen.h"

#include "base/mem.h"
#include "harness/wf_test.h"

#include <unistd.h>

enum { N_RANKS = 40, N_REQUESTS = 256, N_COMMS = 8, LIST_MAX = 65536 };
enum { SLOT_CALL = N_REQUESTS, SLOT_CALL_2, N_SLOTS }; /* what a rank itself waits for */

/* A message on its way, or a receive that waits for one. */
struct half {
    uint32_t rank, peer; /* whose it is, and the other */
    int32_t tag;
    uint64_t bytes;
    uint32_t slot;
};

struct list {
    struct half items[LIST_MAX];
    uint32_t n;
};

struct collective {
    struct collective *next;
    uint32_t id, leader, number; /* of the group, its first rank, the call in it */
    uint32_t arrived;
    struct wf_op first; /* whoever came first */
    uint32_t slots[N_RANKS];
    /* By ranks of the group: what the first sends the second, what it receives from it. */
    uint64_t sent[N_RANKS][N_RANKS], received[N_RANKS][N_RANKS];
};

struct rank {
    struct wf_cursor cursor;
    bool ended;
    bool open[N_SLOTS];
    uint32_t wait_first, wait_count; /* of slots */
    uint32_t n_calls[N_COMMS];
    int depth; /* of markers */
};

struct world {
    const struct wf_source *source;
    bool synchronous; /* every send waits for its receive */
    struct rank ranks[N_RANKS];
    struct list messages, receives; /* in the order of their posting */
    struct collective *collectives; /* those that somebody waits for */
    uint64_t n_messages;
    bool has_collectives;
};

static void take_out(struct list *list, uint32_t i)
{
    list->n--;
    memmove(&list->items[i], &list->items[i + 1], (list->n - i) * sizeof(list->items[0]));
}

static void open_slot(struct world *world, uint32_t rank, uint32_t slot)
{
    CHECK(slot < N_SLOTS && !world->ranks[rank].open[slot]);
    world->ranks[rank].open[slot] = true;
}

static bool match(const struct half *message, const struct half *receive)
{
    return message->peer == receive->rank &&
           (receive->peer == WF_ANY_SOURCE || receive->peer == message->rank) &&
           (receive->tag == WF_ANY_TAG || receive->tag == message->tag);
}

static void complete(struct world *world, const struct half *message,
                     const struct half *receive)
{
    struct rank *to = &world->ranks[receive->rank];

    CHECK(message->bytes <= receive->bytes);
    to->open[receive->slot] = false;
    if (world->synchronous) {
        world->ranks[message->rank].open[message->slot] = false;
    }
    if (receive->peer == WF_ANY_SOURCE || receive->tag == WF_ANY_TAG) {
        CHECK(world->source->depends_on_time);
        to->cursor.seen_source = message->rank;
        to->cursor.seen_tag = message->tag;
    }
    world->n_messages++;
}

static void post_send(struct world *world, struct half send)
{
    struct list *waiting = &world->receives;

    if (send.peer == WF_PROC_NULL) {
        return;
    }
    CHECK(send.peer < world->source->n_ranks && send.tag >= 0);
    if (world->synchronous) {
        open_slot(world, send.rank, send.slot);
    }
    for (uint32_t i = 0; i < waiting->n; i++) {
        if (match(&send, &waiting->items[i])) {
            complete(world, &send, &waiting->items[i]);
            take_out(waiting, i);
            return;
        }
    }
    CHECK(world->messages.n < LIST_MAX);
    world->messages.items[world->messages.n++] = send;
}

static void post_receive(struct world *world, struct half receive)
{
    struct list *waiting = &world->messages;

    if (receive.peer == WF_PROC_NULL) {
        return;
    }
    CHECK(receive.peer < world->source->n_ranks || receive.peer == WF_ANY_SOURCE);
    CHECK(receive.tag >= 0 || receive.tag == WF_ANY_TAG);
    open_slot(world, receive.rank, receive.slot);
    for (uint32_t i = 0; i < waiting->n; i++) {
        if (match(&waiting->items[i], &receive)) {
            complete(world, &waiting->items[i], &receive);
            take_out(waiting, i);
            return;
        }
    }
    CHECK(world->receives.n < LIST_MAX);
    world->receives.items[world->receives.n++] = receive;
}

static struct collective **find_collective(struct world *world, const struct wf_op *op,
                                           const struct wf_group *group, uint32_t number)
{
    uint32_t leader = wf_group_rank(group, 0);
    struct collective **at = &world->collectives;

    while (*at != NULL &&
           ((*at)->id != group->id || (*at)->leader != leader || (*at)->number != number)) {
        at = &(*at)->next;
    }
    if (*at == NULL) {
        *at = wf_xcalloc(1, sizeof(**at));
        (*at)->id = group->id;
        (*at)->leader = leader;
        (*at)->number = number;
        (*at)->first = *op;
    }
    return at;
}

static bool has_equal_blocks(enum wf_op_kind kind)
{
    const char *name = wf_op_name(kind);

    return name[strlen(name) - 1] != 'v' && strstr(name, "reduce_scatter") == NULL;
}

/* Writes down what a rank says it sends and receives. */
static void enter_blocks(struct collective *collective, const struct wf_op *op,
                         const struct wf_group *group)
{
    uint32_t r = group->rank;

    for (uint32_t i = 0; i < group->size && op->counts != NULL; i++) {
        if (op->recv_counts != NULL) {
            collective->sent[r][i] = op->counts[i];
            collective->received[r][i] = op->recv_counts[i];
        } else {
            collective->sent[r][i] = op->counts[r];
            collective->received[r][i] = op->counts[i];
        }
    }
    for (uint32_t i = 0; i < op->n_destinations; i++) {
        CHECK(op->destinations[i] < group->size);
        collective->sent[r][op->destinations[i]]++;
    }
    for (uint32_t i = 0; i < op->n_sources; i++) {
        CHECK(op->sources[i] < group->size);
        collective->received[r][op->sources[i]]++;
    }
}

static void finish_collective(struct world *world, struct collective **at,
                              const struct wf_group *group)
{
    struct collective *done = *at;

    for (uint32_t i = 0; i < group->size; i++) {
        for (uint32_t j = 0; j < group->size; j++) {
            CHECK_U64(done->sent[i][j], done->received[j][i]);
        }
        world->ranks[wf_group_rank(group, i)].open[done->slots[i]] = false;
    }
    *at = done->next;
    free(done);
}

static bool is_rooted_v(enum wf_op_kind kind)
{
    uint8_t detail = wf_op_info(kind)->detail;

    return detail == wf_op_info(WF_OP_GATHERV)->detail ||
           detail == wf_op_info(WF_OP_SCATTERV)->detail;
}

static void arrive(struct world *world, uint32_t rank, const struct wf_op *op, uint32_t slot)
{
    struct wf_group group;

    CHECK(op->comm < N_COMMS && wf_source_group(world->source, rank, op->comm, &group));
    CHECK(group.size >= 1 && group.rank < group.size);
    CHECK_U64(wf_group_rank(&group, group.rank), rank);
    CHECK(op->root < group.size);

    struct collective **at =
        find_collective(world, op, &group, world->ranks[rank].n_calls[op->comm]++);
    struct collective *collective = *at;
    CHECK(collective->first.kind == op->kind && collective->first.root == op->root);
    if (has_equal_blocks(op->kind)) {
        CHECK_U64(collective->first.bytes, op->bytes);
    }
    if (is_rooted_v(op->kind)) {
        /* As a message to the root, of this rank's own block. */
        collective->sent[group.rank][op->root] = op->bytes;
        for (uint32_t i = 0; i < group.size && group.rank == op->root; i++) {
            collective->received[op->root][i] = op->counts[i];
        }
    } else {
        enter_blocks(collective, op, &group);
    }
    collective->slots[group.rank] = slot;
    open_slot(world, rank, slot);
    if (++collective->arrived == group.size) {
        finish_collective(world, at, &group);
    }
}

static void wait_for(struct rank *rank, uint32_t first, uint32_t count)
{
    rank->wait_first = first;
    rank->wait_count = count;
}

static void do_op(struct world *world, uint32_t number, const struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    struct rank *rank = &world->ranks[number];
    uint32_t slot = info->returns_request ? op->request : SLOT_CALL;
    struct half half = {number, op->peer, op->tag, op->bytes, slot};

    CHECK(!info->returns_request || op->request < N_REQUESTS);
    wait_for(rank, SLOT_CALL, info->returns_request ? 0 : 2);
    if (info->family == WF_FAMILY_COMPUTE) {
        CHECK(op->duration >= 0);
        CHECK(op->n_counters == 0 ||
              wf_source_name_of(world->source, WF_NAME_COUNTER, op->n_counters - 1) != NULL);
    } else if (info->family == WF_FAMILY_SEND) {
        CHECK(op->comm == WF_COMM_WORLD);
        post_send(world, half);
    } else if (info->family == WF_FAMILY_RECV) {
        CHECK(op->comm == WF_COMM_WORLD && !op->recorded);
        post_receive(world, half);
    } else if (info->family == WF_FAMILY_SENDRECV) {
        struct half other = {number, op->recv_peer, op->recv_tag, op->recv_bytes, SLOT_CALL_2};
        post_receive(world, other);
        post_send(world, half);
    } else if (info->family == WF_FAMILY_WAIT) {
        CHECK(op->kind == WF_OP_WAITALL && op->requests == NULL);
        CHECK(op->request + op->count <= N_REQUESTS);
        wait_for(rank, op->request, op->count);
    } else if (info->family == WF_FAMILY_COLLECTIVE) {
        CHECK(!info->returns_request || world->source->acts_in_background);
        world->has_collectives = true;
        arrive(world, number, op, slot);
    } else if (info->family == WF_FAMILY_FILE) {
        CHECK(op->tag >= 0 && op->offset <= INT64_MAX - op->bytes);
    } else {
        CHECK(info->family == WF_FAMILY_MARKER);
        rank->depth += info->detail % 2 == 0 ? 1 : -1;
        CHECK(rank->depth >= 0);
    }
}

/* One op of a rank. A saved cursor must answer the same again. */
static void step(struct world *world, uint32_t number)
{
    struct rank *rank = &world->ranks[number];
    struct wf_cursor saved = rank->cursor;
    struct wf_op op, again;

    memset(&op, 0, sizeof(op));
    memset(&again, 0, sizeof(again));
    bool more = wf_source_next(world->source, number, &rank->cursor, &op);
    CHECK(more == wf_source_next(world->source, number, &saved, &again));
    CHECK(memcmp(&rank->cursor, &saved, sizeof(saved)) == 0);
    CHECK(memcmp(&op, &again, sizeof(op)) == 0);
    if (more) {
        do_op(world, number, &op);
        return;
    }
    rank->ended = true;
    CHECK(rank->depth == 0);
    for (uint32_t i = 0; i < N_SLOTS; i++) {
        CHECK(!rank->open[i]);
    }
}

static bool can_go_on(const struct rank *rank)
{
    for (uint32_t i = 0; i < rank->wait_count; i++) {
        if (rank->open[rank->wait_first + i]) {
            return false;
        }
    }
    return !rank->ended;
}

/* Runs all ranks to their end, in an order that depends on `seed`. */
static void run(struct world *world, const struct wf_source *source, bool synchronous,
                uint64_t seed)
{
    uint32_t n_left = source->n_ranks;

    memset(world->ranks, 0, sizeof(world->ranks));
    world->source = source;
    world->synchronous = synchronous;
    world->n_messages = 0;
    world->has_collectives = false;
    for (uint64_t i = 0; n_left > 0; i++) {
        uint32_t start = (uint32_t)(wf_test_rand(seed, 0, i) % source->n_ranks), tried = 0;
        while (tried < source->n_ranks &&
               !can_go_on(&world->ranks[(start + tried) % source->n_ranks])) {
            tried++;
        }
        CHECK(tried < source->n_ranks); /* else nobody can go on */
        uint32_t rank = (start + tried) % source->n_ranks;
        step(world, rank);
        CHECK(wf_test_failed == 0);
        n_left -= world->ranks[rank].ended ? 1 : 0;
    }
    CHECK_U64(world->messages.n, 0);
    CHECK_U64(world->receives.n, 0);
    CHECK(world->collectives == NULL);
    CHECK(wf_source_check(source, NULL) == WF_OK);
    if (source->messages_expected != 0 && !world->has_collectives) {
        CHECK_U64(source->messages_expected, world->n_messages);
    }
}

/* A program with a little of everything that the workload language has. */
static const char program[] =
    "param n = 3; param bytes = 4KiB\n"
    "let nx = max(1, sqrt(size))\n"
    "group row = rank / nx * nx, 1, min(nx, size - rank / nx * nx)\n"
    "loop i 0..n { iteration {\n"
    "  isend (rank + 1) % size bytes tag i; irecv (rank - 1) % size bytes tag i\n"
    "  iallreduce 8 in row\n"
    "  waitall\n"
    "  compute 1us * (1 + rank % 3)\n"
    "  region solve { bcast 100 root size - 1; barrier in row }\n"
    "  sendrecv rank ^ 1 < size ? rank ^ 1 : none from rank ^ 1 < size ? rank ^ 1 : none 10\n"
    "} }\n"
    "if rank == 0 { repeat size - 1 { recv any 8 tag any; ssend seen_source 8 tag seen_tag } "
    "}\n"
    "else { send 0 8 tag rank; recv 0 8 tag any\n"
    "  while seen_tag != rank { compute 1ns } }\n";

static void write_program(char *path)
{
    int fd = mkstemp(path);

    if (fd < 0 || write(fd, program, sizeof(program) - 1) != (ssize_t)sizeof(program) - 1) {
        abort();
    }
    (void)close(fd);
}

static struct wf_source *make(const struct wf_source_ops *ops, const char *name,
                              const char *value, uint32_t n_ranks)
{
    char path[] = "/tmp/weft_test_gen_XXXXXX";
    void *params = wf_xcalloc(1, ops->params_size);
    struct wf_source *source = NULL;
    bool reads_file = wf_param_find(ops->params, "file") != NULL;

    if (reads_file) {
        write_program(path);
    }
    if (wf_param_defaults(ops->params, params, NULL) != WF_OK ||
        (reads_file && wf_param_set(ops->params, params, "", "file", path, NULL) != WF_OK) ||
        (name != NULL && wf_param_set(ops->params, params, "", name, value, NULL) != WF_OK) ||
        ops->create(params, n_ranks, &source, NULL) != WF_OK) {
        abort();
    }
    if (reads_file) {
        (void)unlink(path);
    }
    wf_param_release(ops->params, params);
    free(params);
    return source;
}

static void check_program(struct world *world, const struct wf_source_ops *ops,
                          const char *name, const char *value, uint32_t n_ranks)
{
    struct wf_source *source = make(ops, name, value, n_ranks);

    CHECK_U64(source->n_ranks, n_ranks);
    run(world, source, false, 1);
    run(world, source, true, 2);
    for (uint64_t seed = 3; seed < 6 && source->depends_on_time; seed++) {
        run(world, source, seed % 2 == 0, seed);
    }
    if (wf_test_failed != 0) {
        printf("# gen:%s on %u ranks with %s=%s\n", ops->name, n_ranks,
               name != NULL ? name : "all", name != NULL ? value : "default");
    }
    wf_source_free(source);
}

static void programs_run_to_their_end(void)
{
    struct world *world = wf_xcalloc(1, sizeof(*world));

    for (const struct wf_source_ops *const *ops = wf_gen_table(); *ops != NULL; ops++) {
        if (!wf_test_wants((*ops)->name)) {
            continue;
        }
        for (uint32_t n = 1; n <= N_RANKS; n++) {
            check_program(world, *ops, NULL, NULL, n);
            CHECK(wf_test_failed == 0);
        }
    }
    free(world);
}

/* Every choice of a parameter that has some. */
static void programs_run_to_their_end_with_every_choice(void)
{
    static const char *const bools[] = {"false", "true", NULL};
    static const uint32_t numbers[] = {1, 2, 3, 6, 7, 16, 24, 36};
    struct world *world = wf_xcalloc(1, sizeof(*world));

    for (const struct wf_source_ops *const *ops = wf_gen_table(); *ops != NULL; ops++) {
        if (!wf_test_wants((*ops)->name)) {
            continue;
        }
        for (const struct wf_param *row = (*ops)->params; row->name != NULL; row++) {
            const char *const *choice = row->type == WF_PARAM_BOOL   ? bools
                                        : row->type == WF_PARAM_ENUM ? row->choices
                                                                     : bools + 2;
            for (; *choice != NULL; choice++) {
                for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
                    check_program(world, *ops, row->name, *choice, numbers[i]);
                    CHECK(wf_test_failed == 0);
                }
            }
        }
    }
    free(world);
}

static void every_generator_is_described(void)
{
    for (const struct wf_source_ops *const *ops = wf_gen_table(); *ops != NULL; ops++) {
        if (!wf_test_wants((*ops)->name)) {
            continue;
        }
        const struct wf_source_ops *found = NULL;
        CHECK(wf_gen_find((*ops)->name, &found, NULL) == WF_OK && found == *ops);
        CHECK((*ops)->summary != NULL);
        for (const struct wf_param *row = (*ops)->params; row->name != NULL; row++) {
            CHECK(row->doc != NULL && row->offset < (*ops)->params_size);
        }
    }
}

int main(void)
{
    RUN(every_generator_is_described);
    RUN(programs_run_to_their_end);
    RUN(programs_run_to_their_end_with_every_choice);
    return wf_test_done();
}
