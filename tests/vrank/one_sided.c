/* SPDX-License-Identifier: Apache-2.0 */
/* Windows: fences, post and start, locks, atomic operations; memory of all kinds. */
#include "report.h"

static int rank, size, left, right;
static int global[16]; /* a window in a variable of the program */

static void fences(void)
{
    int out[4] = {rank, 10 * rank, 7, 8}, in[4] = {-1, -1, -1, -1};
    MPI_Win win;

    for (int i = 0; i < 16; i++) {
        global[i] = -rank;
    }
    MPI_Win_create(global, sizeof(global), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(out, 2, MPI_INT, right, 3, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    say_ints("put", global, 8);
    MPI_Get(in, 4, MPI_INT, left, 2, 4, MPI_INT, win);
    MPI_Win_fence(0, win);
    say_ints("get", in, 4);
    MPI_Accumulate(out + 2, 1, MPI_INT, 0, 10, 1, MPI_INT, MPI_SUM, win);
    MPI_Accumulate(&rank, 1, MPI_INT, 0, 11, 1, MPI_INT, MPI_MAX, win);
    MPI_Win_fence(0, win);
    say_ints("accumulate", global + 9, 4);
    MPI_Put(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
    say("null: %d", win == MPI_WIN_NULL);
}

static void with_types(void)
{
    int *memory, out[6] = {1, 2, 3, 4, 5, 6}, flag;
    MPI_Win win;
    MPI_Datatype every_second;
    MPI_Aint *bytes;

    MPI_Win_allocate(12 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &win);
    for (int i = 0; i < 12; i++) {
        memory[i] = 0;
    }
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &flag);
    say("size: %d %d", flag, (int)*bytes);
    MPI_Type_vector(3, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    MPI_Win_fence(0, win);
    MPI_Put(out, 3, MPI_INT, right, 1, 1, every_second, win);
    MPI_Type_free(&every_second);
    MPI_Win_fence(0, win);
    say_ints("every second", memory, 12);
    MPI_Win_free(&win);
}

static void post_and_start(void)
{
    int memory[4] = {0}, mine = 100 + rank;
    MPI_Group world, to, from;
    MPI_Win win;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &right, &to);
    MPI_Group_incl(world, 1, &left, &from);
    MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < 3; i++) {
        MPI_Win_post(from, 0, win);
        MPI_Win_start(to, 0, win);
        MPI_Put(&mine, 1, MPI_INT, right, i, 1, MPI_INT, win);
        MPI_Win_complete(win);
        if (i < 2) {
            MPI_Win_wait(win);
        } else {
            int flag = 0;
            while (!flag) {
                MPI_Win_test(win, &flag);
            }
        }
        mine++;
    }
    say_ints("post and start", memory, 4);
    MPI_Win_free(&win);
    MPI_Group_free(&world);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

/* A counter at rank 0 that all add to: everybody gets another number. */
static void locks(void)
{
    long counter[2] = {0, 0}, one = 1, mine = -1, sum = 0, sum_all = 0, value, next;
    MPI_Win win;

    MPI_Win_create(counter, sizeof(counter), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < 5; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Fetch_and_op(&one, &mine, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_unlock(0, win);
        sum += mine;
    }
    for (int i = 0; i < 3; i++) { /* reads and writes, alone */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&value, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        next = value + 1;
        MPI_Put(&next, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&sum, &sum_all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(&value, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
    say("counted: %ld, alone: %ld", sum_all, value);
    MPI_Win_free(&win);
}

static void atomic_ones(void)
{
    int *memory, won = 0, all, expected = 0, mine = rank + 1, old = -1, three[3] = {1, 2, 3};
    int before[3] = {-1, -1, -1};
    MPI_Win win;
    MPI_Request request;

    MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &win);
    memset(memory, 0, 8 * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Compare_and_swap(&mine, &expected, &old, MPI_INT, size - 1, 0, win);
    MPI_Win_flush(size - 1, win);
    won = old == 0;
    MPI_Allreduce(&won, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say("one has won: %d", all);
    MPI_Get_accumulate(three, 3, MPI_INT, before, 3, MPI_INT, right, 2, 3, MPI_INT, MPI_SUM,
                       win);
    MPI_Win_flush_all(win);
    say_ints("before", before, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get_accumulate(NULL, 0, MPI_INT, before, 3, MPI_INT, right, 2, 3, MPI_INT, MPI_NO_OP,
                       win);
    MPI_Win_flush_local(right, win);
    say_ints("after", before, 3);
    MPI_Rput(&mine, 1, MPI_INT, right, 6, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(right, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rget(&old, 1, MPI_INT, left, 6, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("rget: %d, own %d", old, memory[6]);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* Types that are made of pairs, or of nothing. */
static void pairs(void)
{
    struct pair {
        double value;
        int place;
    } memory[6], out[6];
    MPI_Datatype columns, nothing;
    MPI_Win win;

    for (int i = 0; i < 6; i++) {
        memory[i] = (struct pair){i % 2, -1};
        out[i] = (struct pair){rank * i % 3, rank};
    }
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE_INT, &columns);
    MPI_Type_commit(&columns);
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(out, 1, columns, 0, 0, 1, columns, MPI_MAXLOC, win);
    MPI_Accumulate(out, 1, nothing, 0, 0, 1, nothing, MPI_SUM, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 6; i++) {
        say("pair: %g at %d", memory[i].value, memory[i].place);
    }
    MPI_Win_free(&win);
    MPI_Type_free(&columns);
    MPI_Type_free(&nothing);
}

static void dynamic(void)
{
    int memory[4] = {rank, rank + 1, rank + 2, rank + 3}, in = -1;
    MPI_Aint own, *all = calloc((size_t)size, sizeof(MPI_Aint));
    MPI_Win win;

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, memory, sizeof(memory));
    MPI_Get_address(memory, &own);
    MPI_Allgather(&own, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    MPI_Get(&in, 1, MPI_INT, right, MPI_Aint_add(all[right], 8), 1, MPI_INT, win);
    MPI_Win_unlock(right, win);
    say("dynamic: %d", in);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
    free(all);
}

/* Keys of the standard are kept, those of nobody are not. */
static void infos(void)
{
    static const char *const keys[] = {"no_locks", "accumulate_ordering", "accumulate_ops",
                                       "same_size", "nobody's"};
    char value[64];
    int *memory, flag;
    MPI_Info given, found;
    MPI_Win win;

    MPI_Info_create(&given);
    MPI_Info_set(given, "no_locks", "true");
    MPI_Info_set(given, "nobody's", "1");
    MPI_Win_allocate(sizeof(int), sizeof(int), given, MPI_COMM_WORLD, &memory, &win);
    MPI_Info_set(given, "accumulate_ordering", "none");
    MPI_Win_set_info(win, given);
    MPI_Win_get_info(win, &found);
    for (int i = 0; i < 5; i++) {
        MPI_Info_get(found, keys[i], sizeof(value) - 1, value, &flag);
        say("%s: %s", keys[i], flag ? value : "-");
    }
    MPI_Info_free(&given);
    MPI_Info_free(&found);
    MPI_Win_free(&win);
}

/* A key of shared windows. */
static void shared_info(void)
{
    char value[64] = "";
    int *memory, flag = 0;
    MPI_Comm node;
    MPI_Info given, found;
    MPI_Win win;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Info_create(&given);
    MPI_Info_set(given, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), given, node, &memory, &win);
    MPI_Win_get_info(win, &found);
    MPI_Info_get(found, "alloc_shared_noncontig", sizeof(value) - 1, value, &flag);
    say("noncontig: %s", flag ? value : "-");
    MPI_Info_free(&given);
    MPI_Info_free(&found);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    fences();
    with_types();
    post_and_start();
    locks();
    atomic_ones();
    pairs();
    dynamic();
    infos();
    shared_info();
    say_all();
    return 0;
}
