/* SPDX-License-Identifier: Apache-2.0 */
/* Programs with large numbers, which do not end if a cost grows with their squares; the argument
 * says which. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

/* ---- gets: very many at a time ---- */

static void gets_at_once(void)
{
    enum { N = 100000 };
    int *memory, *got = calloc(N, sizeof(int));
    long sum = 0;
    MPI_Win win;

    MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &win);
    for (int i = 0; i < N; i++) {
        memory[i] = rank + i;
    }
    MPI_Win_fence(0, win);
    for (int i = 0; i < N; i++) {
        MPI_Get(&got[i], 1, MPI_INT, (rank + 1 + i % (size - 1)) % size, i, 1, MPI_INT, win);
    }
    MPI_Win_fence(0, win);
    for (int i = 0; i < N; i++) {
        sum += got[i];
    }
    if (rank == 0) {
        printf("sum %ld\n", sum);
    }
    free(got);
    MPI_Win_free(&win);
}

/* ---- receives: very many with wildcards at a time ---- */

static void receives_at_once(void)
{
    enum { N = 50000 };
    MPI_Request *requests = malloc(2 * N * sizeof(MPI_Request));
    int *in = calloc(N, sizeof(int)), out = rank + 1;
    long sum = 0;

    for (int i = 0; i < N; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < N; i++) {
        MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[N + i]);
    }
    MPI_Waitall(2 * N, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) {
        sum += in[i];
    }
    if (rank == 0) {
        printf("sum %ld\n", sum);
    }
    free(in);
    free(requests);
}

/* ---- list: all ranks append to a list that all of them walk ---- */

struct place {
    int rank, item;
};

/* Waits until the item that was reserved for somebody says where it goes on. */
static int follow(MPI_Win win, const struct place *at)
{
    int next = -1;

    while (next < 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, at->rank, 0, win);
        MPI_Get(&next, 1, MPI_INT, at->rank, 2 * at->item + 1, 1, MPI_INT, win);
        MPI_Win_unlock(at->rank, win);
    }
    return next;
}

/* Appends an item of this rank after the last one. Returns whether `at` was the last one. */
static int append(MPI_Win win, struct place *at, int item)
{
    int none = -1, owner = -1;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, at->rank, 0, win);
    MPI_Compare_and_swap(&rank, &none, &owner, MPI_INT, at->rank, 2 * at->item, win);
    MPI_Win_unlock(at->rank, win);
    if (owner != -1) {
        *at = (struct place){owner, follow(win, at)};
        return 0;
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, at->rank, 0, win);
    MPI_Accumulate(&item, 1, MPI_INT, at->rank, 2 * at->item + 1, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_unlock(at->rank, win);
    *at = (struct place){rank, item};
    return 1;
}

static int count(MPI_Win win)
{
    struct place at = {0, 0};
    int n = 0;

    for (;;) {
        int next[2];
        MPI_Win_lock(MPI_LOCK_SHARED, at.rank, 0, win);
        MPI_Get(next, 2, MPI_INT, at.rank, 2 * at.item, 2, MPI_INT, win);
        MPI_Win_unlock(at.rank, win);
        if (next[0] < 0) {
            return n;
        }
        at = (struct place){next[0], next[1]};
        n++;
    }
}

static void list(void)
{
    enum { ITEMS = 20 };
    struct place at = {0, 0};
    int *memory;
    MPI_Win win;

    MPI_Win_allocate(2 * (ITEMS + 1) * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &memory, &win);
    memset(memory, 0xff, 2 * (ITEMS + 1) * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 1; i <= ITEMS;) {
        i += append(win, &at, i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d items of %d ranks\n", count(win), size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

/* ---- types: of far more elements than there is memory ---- */

static void tell(const char *what, MPI_Datatype type)
{
    MPI_Count bytes, lb, extent;

    MPI_Type_size_x(type, &bytes);
    MPI_Type_get_extent_x(type, &lb, &extent);
    if (rank == 0) {
        printf("%s: %lld, %lld %lld\n", what, (long long)bytes, (long long)lb,
               (long long)extent);
    }
    MPI_Type_free(&type);
}

static void types(void)
{
    static const int sizes[] = {100000, 100000, 100000}, parts[] = {50000, 50000, 50000};
    static const int starts[] = {1, 2, 3}, places[] = {3, MPI_DISTRIBUTE_DFLT_DARG};
    static const int how[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    static const int processes[] = {2, 2}, global[] = {1000003, 70001};
    MPI_Datatype type, outer;

    MPI_Type_vector(1000000000, 1, 2, MPI_INT, &type);
    MPI_Type_create_hvector(1000000, 3, 1000000000000, type, &outer);
    tell("vector", type);
    tell("vector of vectors", outer);
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    tell("subarray", type);
    MPI_Type_create_darray(4, 1, 2, global, how, places, processes, MPI_ORDER_FORTRAN, MPI_INT,
                           &type);
    tell("darray", type);
}

/* ---- view: of a file, by a type that is nested deeply ---- */

enum { LEVELS = 30, GAP = 4 };

/* Three at each level, with gaps between them. Sets the distances at each level. */
static MPI_Datatype nested(MPI_Datatype innermost, MPI_Aint steps[LEVELS])
{
    MPI_Datatype type = innermost, outer;
    MPI_Aint lb, extent;

    for (int i = 0; i < LEVELS; i++) {
        MPI_Type_get_extent(type, &lb, &extent);
        steps[i] = extent + GAP;
        MPI_Type_create_hvector(3, 1, steps[i], type, &outer);
        if (i > 0) {
            MPI_Type_free(&type);
        }
        type = outer;
    }
    MPI_Type_commit(&type);
    return type;
}

static int class_of_view(MPI_File file, MPI_Datatype type)
{
    int class = -1;

    MPI_Error_class(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), &class);
    MPI_Type_free(&type);
    return class;
}

/* The offset of an element: the digits of its number to the base 3 choose a part at each level. */
static MPI_Offset offset_of(const MPI_Aint steps[LEVELS], MPI_Offset element)
{
    MPI_Offset at = 0;

    for (int i = 0; i < LEVELS; i++, element /= 3) {
        at += element % 3 * steps[i];
    }
    return at;
}

static void view(void)
{
    static const int lengths[] = {1, 1}, back[] = {2, 0};
    MPI_Aint steps[LEVELS], others[LEVELS];
    MPI_Offset at, element = 123456789012345;
    MPI_Datatype type;
    MPI_File file;

    MPI_File_open(MPI_COMM_WORLD, "large_view.data",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_Type_indexed(2, lengths, back, MPI_INT, &type);
    int wrong = class_of_view(file, nested(type, others));
    MPI_Type_free(&type);
    int right = class_of_view(file, nested(MPI_INT, steps));
    MPI_File_get_byte_offset(file, element, &at);
    if (rank == 0) {
        printf("view %s, %s, %s\n", right == MPI_SUCCESS ? "right" : "wrong",
               at == offset_of(steps, element) ? "right" : "wrong",
               wrong == MPI_ERR_IO ? "refused" : "taken");
    }
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(argv[1], "gets") == 0) {
        gets_at_once();
    } else if (strcmp(argv[1], "receives") == 0) {
        receives_at_once();
    } else if (strcmp(argv[1], "list") == 0) {
        list();
    } else if (strcmp(argv[1], "view") == 0) {
        view();
    } else {
        types();
    }
    MPI_Finalize();
    return 0;
}
