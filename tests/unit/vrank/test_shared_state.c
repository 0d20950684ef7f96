/* SPDX-License-Identifier: Apache-2.0 */
/* Three processes of a program inside one process: how they tell each other about ends and
 * names, and what happens to the parcels of their libraries. */
#include "harness/wf_test.h"
#include "mpi/vrank/shared_state.h"

enum { PROCESSES = 3, SENDERS = 4, PARCELS = 400, NAMES = 12 };

static struct wf_vrank_shared processes[PROCESSES];
static struct wf_homes homes[PROCESSES];
static const struct wf_port_processes *spreads[PROCESSES];
static uint32_t opening; /* the process whose library gets parcels */

/* What arrived: of each sender, how many parcels, all in order and as they were sent. */
static struct {
    uint32_t next[PROCESSES][SENDERS];
    bool wrong;
} arrived[PROCESSES];

static uint32_t home_of(const struct wf_homes *all, uint32_t rank)
{
    return rank % all->n_processes;
}

/* A parcel: who has sent it and its number, then so many bytes that follow from them. */
struct head {
    uint32_t process, sender, number, padding;
};

static size_t length_of(const struct head *head)
{
    return (size_t)(wf_test_rand(head->process, head->sender, head->number) % 40);
}

static unsigned char byte_of(const struct head *head, size_t i)
{
    return (unsigned char)(head->process + 3 * head->sender + 7 * head->number + 11 * i);
}

static void take(const unsigned char *bytes, size_t size)
{
    struct head head;

    memcpy(&head, bytes, sizeof(head));
    arrived[opening].wrong |= (uintptr_t)bytes % 8 != 0 ||
                              size != sizeof(head) + length_of(&head) ||
                              head.number != arrived[opening].next[head.process][head.sender]++;
    for (size_t i = 0; sizeof(head) + i < size; i++) {
        arrived[opening].wrong |= bytes[sizeof(head) + i] != byte_of(&head, i);
    }
}

static void note_spread(const struct wf_port_processes *spread)
{
    spreads[spread->own] = spread;
}

static const struct wf_port_library library = {.set_processes = note_spread, .arrived = take};

static void begin(void)
{
    memset(processes, 0, sizeof(processes));
    memset(arrived, 0, sizeof(arrived));
    for (uint32_t p = 0; p < PROCESSES; p++) {
        homes[p] = (struct wf_homes){.n_processes = PROCESSES, .own = p, .of = home_of};
        wf_vrank_shared_init(&processes[p]);
        wf_vrank_shared_spread(&processes[p], &homes[p], &library);
    }
}

static void end(void)
{
    for (uint32_t p = 0; p < PROCESSES; p++) {
        wf_vrank_shared_fini(&processes[p]);
    }
}

static void deliver(uint32_t from, uint32_t to)
{
    struct wf_buf letter = {.data = NULL};

    opening = to;
    wf_vrank_shared_load(&processes[from], to, &letter);
    wf_vrank_shared_unload(&processes[to], letter.data, letter.size);
    wf_buf_fini(&letter);
}

static void deliver_all(void)
{
    for (uint32_t from = 0; from < PROCESSES; from++) {
        for (uint32_t to = 0; to < PROCESSES; to++) {
            if (from != to) {
                deliver(from, to);
            }
        }
    }
}

static void *send_many(void *arg)
{
    struct head head = *(struct head *)arg;
    unsigned char body[64];

    for (; head.number < PARCELS; head.number++) {
        size_t n = length_of(&head);
        for (size_t i = 0; i < n; i++) {
            body[i] = byte_of(&head, i);
        }
        const struct wf_port_bytes pieces[] = {{&head, sizeof(head)}, {body, n}};
        for (uint32_t to = 0; to < PROCESSES; to++) {
            if (to != head.process) {
                spreads[head.process]->ship(spreads[head.process]->arg, to, pieces, 2);
            }
        }
    }
    return NULL;
}

/* Threads ship at once, while what is there is taken away. */
static void parcels_arrive_whole_and_in_order(void)
{
    struct head heads[PROCESSES][SENDERS];
    pthread_t threads[PROCESSES][SENDERS];

    begin();
    for (uint32_t p = 0; p < PROCESSES; p++) {
        for (uint32_t s = 0; s < SENDERS; s++) {
            heads[p][s] = (struct head){.process = p, .sender = s};
            CHECK(pthread_create(&threads[p][s], NULL, send_many, &heads[p][s]) == 0);
        }
    }
    for (int i = 0; i < 20; i++) {
        deliver_all();
    }
    for (uint32_t p = 0; p < PROCESSES; p++) {
        for (uint32_t s = 0; s < SENDERS; s++) {
            CHECK(pthread_join(threads[p][s], NULL) == 0);
        }
    }
    deliver_all();
    for (uint32_t to = 0; to < PROCESSES; to++) {
        CHECK(!arrived[to].wrong);
        for (uint32_t p = 0; p < PROCESSES; p++) {
            for (uint32_t s = 0; s < SENDERS; s++) {
                CHECK_U64(arrived[to].next[p][s], p == to ? 0 : PARCELS);
            }
        }
    }
    end();
}

static void the_library_knows_where_ranks_are(void)
{
    begin();
    for (uint32_t p = 0; p < PROCESSES; p++) {
        CHECK_U64(spreads[p]->n_processes, PROCESSES);
        CHECK_U64(spreads[p]->own, p);
        CHECK_U64(spreads[p]->home(spreads[p]->arg, 7), 7 % PROCESSES);
    }
    end();
}

static void the_first_end_in_simulated_time_counts_everywhere(void)
{
    static const struct wf_vrank_end ends[PROCESSES] = {
        {true, 9, 1, 500}, {true, 4, 2, 300}, {true, 2, 3, 300}};

    begin();
    for (uint32_t p = 0; p < PROCESSES; p++) {
        CHECK(!atomic_load(&processes[p].over));
    }
    wf_vrank_shared_end(&processes[0], &ends[0]);
    CHECK(atomic_load(&processes[0].over) && !atomic_load(&processes[1].over));
    deliver(0, 1);
    CHECK(atomic_load(&processes[1].over));
    CHECK_U64(processes[1].end.rank, 9);
    wf_vrank_shared_end(&processes[1], &ends[1]);
    wf_vrank_shared_end(&processes[2], &ends[2]);
    deliver_all();
    for (uint32_t p = 0; p < PROCESSES; p++) {
        CHECK_U64(processes[p].end.rank, 2);
        CHECK(processes[p].end.code == 3);
    }
    end();
}

static void name_it(uint32_t process, uint64_t draw, char *name)
{
    (void)snprintf(name, 32, "region %llu",
                   (unsigned long long)(wf_test_rand(1, process, draw) % 9));
}

/* Whatever each of them meets first: the same name has the same number in the whole run, other
 * names have others, and the first process can tell all names. */
static void names_have_one_number_in_the_whole_run(void)
{
    uint32_t numbers[PROCESSES][NAMES];
    char name[32], other[32];

    begin();
    for (uint32_t p = 0; p < PROCESSES; p++) {
        for (uint32_t i = 0; i < NAMES; i++) {
            name_it(p, i, name);
            numbers[p][i] = wf_vrank_shared_number(&processes[p], WF_VRANK_NAME_REGION, name);
            CHECK_STR(wf_vrank_shared_name(&processes[p], WF_VRANK_NAME_REGION, numbers[p][i]),
                      name);
        }
    }
    deliver_all();
    for (uint32_t a = 0; a < PROCESSES * NAMES; a++) {
        uint32_t p = a / NAMES, i = a % NAMES;
        uint32_t common =
            wf_vrank_names_common(processes[p].names, WF_VRANK_NAME_REGION, numbers[p][i]);
        name_it(p, i, name);
        CHECK_STR(wf_vrank_shared_name(&processes[0], WF_VRANK_NAME_REGION, common), name);
        for (uint32_t b = 0; b < PROCESSES * NAMES; b++) {
            uint32_t q = b / NAMES, k = b % NAMES;
            name_it(q, k, other);
            CHECK((wf_vrank_names_common(processes[q].names, WF_VRANK_NAME_REGION,
                                         numbers[q][k]) == common) ==
                  (strcmp(name, other) == 0));
        }
    }
    end();
}

int main(void)
{
    RUN(parcels_arrive_whole_and_in_order);
    RUN(the_library_knows_where_ranks_are);
    RUN(the_first_end_in_simulated_time_counts_everywhere);
    RUN(names_have_one_number_in_the_whole_run);
    return wf_test_done();
}
