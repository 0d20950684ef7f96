/* SPDX-License-Identifier: Apache-2.0 */
/* MPI_Comm_idup(), attributes whose copy function fails, attributes of predefined objects, and
 * external32. */
#include "report.h"

#include <stddef.h>

static int rank, size;

/* ---- copies without waiting ---- */

static int sum_on(MPI_Comm comm)
{
    int sum = -1;

    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

/* The last one says that it has begun before the others come: nobody may wait in the call. */
static void one_by_one(void)
{
    MPI_Comm copy, half;
    MPI_Request request;
    int token = 7, result;

    if (rank < size - 1) {
        MPI_Recv(&token, 1, MPI_INT, rank + 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    if (rank > 0) {
        MPI_Send(&token, 1, MPI_INT, rank - 1, 3, MPI_COMM_WORLD);
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_compare(MPI_COMM_WORLD, copy, &result);
    say("idup: congruent %d, sum %d, half %d", result == MPI_CONGRUENT, sum_on(copy),
        sum_on(half));
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
}

/* Three pairs of three ranks, each begun before the others are complete. */
static void pairs_at_once(void)
{
    static const int pairs[3][2] = {{0, 1}, {1, 2}, {0, 2}};
    static const int order[3][2] = {{0, 2}, {1, 0}, {1, 2}};
    MPI_Comm comms[3], copies[3];
    MPI_Request requests[2];
    MPI_Group world, group;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < 3 && size >= 3; i++) {
        MPI_Group_incl(world, 2, pairs[i], &group);
        MPI_Comm_create(MPI_COMM_WORLD, group, &comms[i]);
        MPI_Group_free(&group);
    }
    MPI_Group_free(&world);
    if (size < 3 || rank >= 3) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        MPI_Comm_idup(comms[order[rank][i]], &copies[order[rank][i]], &requests[i]);
    }
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++) {
        int pair = order[rank][i];
        say("pair %d: %d", pair, sum_on(copies[pair]));
        MPI_Comm_free(&copies[pair]);
        MPI_Comm_free(&comms[pair]);
    }
}

/* Several at once, completed backwards; their messages do not meet. */
static void several(void)
{
    enum { N = 3 };
    MPI_Comm copies[N], again;
    MPI_Request requests[N], sends[N];
    int out[N], in[N];

    for (int i = 0; i < N; i++) {
        MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[i]);
    }
    for (int i = N - 1; i >= 0; i--) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < N; i++) {
        out[i] = 10 * rank + i;
        MPI_Isend(&out[i], 1, MPI_INT, (rank + 1) % size, 1, copies[i], &sends[i]);
    }
    for (int i = N - 1; i >= 0; i--) {
        MPI_Recv(&in[i], 1, MPI_INT, (rank + size - 1) % size, 1, copies[i], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < N; i++) {
        MPI_Wait(&sends[i], MPI_STATUS_IGNORE);
    }
    say_ints("several", in, N);
    MPI_Comm_dup(copies[1], &again);
    say("dup of an idup: %d", sum_on(again));
    MPI_Comm_free(&again);
    MPI_Comm_idup(copies[2], &again, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    say("idup of an idup: %d", sum_on(again));
    MPI_Comm_free(&again);
    for (int i = 0; i < N; i++) {
        MPI_Comm_free(&copies[i]);
    }
}

/* What a call uses may be freed before it is complete. */

static void add_up(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++) {
        ((int *)inout)[i] += ((int *)in)[i];
    }
}

static void freed_early(void)
{
    enum { ROOM = 64 };
    int out[ROOM], in[3][ROOM], counts[ROOM], displs[ROOM];
    MPI_Datatype pairs, types[ROOM];
    MPI_Op sum;
    MPI_Request requests[3];

    MPI_Type_vector(2, 1, 2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Op_create(add_up, 1, &sum);
    for (int i = 0; i < ROOM; i++) {
        out[i] = 100 * rank + i;
        in[0][i] = in[1][i] = in[2][i] = -1;
    }
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = 4 * i * (int)sizeof(int);
        types[i] = pairs;
    }
    MPI_Igather(out, 1, pairs, in[0], 2, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(out, in[1], 2, MPI_INT, sum, MPI_COMM_WORLD, &requests[1]);
    MPI_Ialltoallw(out, counts, displs, types, in[2], counts, displs, types, MPI_COMM_WORLD,
                   &requests[2]);
    MPI_Type_free(&pairs);
    MPI_Op_free(&sum);
    for (int i = 2; i >= 0; i--) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        say_ints("freed early", in[i], 4 * size);
    }
}

/* ---- attributes ---- */

static int n_copied;

static int copy_or_not(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag)
{
    n_copied++;
    *(void **)out = in;
    *flag = 1;
    return *(int *)state != 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void refusing(void)
{
    MPI_Comm copy = MPI_COMM_WORLD, base;
    MPI_Request request;
    int keyval, fails = 0, value = 5, *found = NULL, flag;

    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    MPI_Comm_set_errhandler(base, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copy_or_not, MPI_COMM_NULL_DELETE_FN, &keyval, &fails);
    MPI_Comm_set_attr(base, keyval, &value);
    say("copied: %d", MPI_Comm_dup(base, &copy));
    MPI_Comm_get_attr(copy, keyval, &found, &flag);
    say("attribute: %d, %d", flag, *found);
    MPI_Comm_free(&copy);
    MPI_Comm_idup(base, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_get_attr(copy, keyval, &found, &flag);
    say("attribute of an idup: %d, %d", flag, *found);
    MPI_Comm_free(&copy);
    fails = 1;
    say("refused: %d", MPI_Comm_dup(base, &copy) != MPI_SUCCESS);
    say("%d copies", n_copied);
    MPI_Comm_free(&base);
    MPI_Comm_free_keyval(&keyval);
}

static void of_types(void)
{
    MPI_Datatype copy;
    int keyval, value = 9, *found = NULL, flag;

    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, NULL);
    MPI_Type_get_attr(MPI_INT, keyval, &found, &flag);
    say("before: %d", flag);
    MPI_Type_set_attr(MPI_INT, keyval, &value);
    MPI_Type_get_attr(MPI_INT, keyval, &found, &flag);
    say("of MPI_INT: %d, %d", flag, *found);
    MPI_Type_get_attr(MPI_DOUBLE, keyval, &found, &flag);
    say("of MPI_DOUBLE: %d", flag);
    MPI_Type_dup(MPI_INT, &copy);
    MPI_Type_get_attr(copy, keyval, &found, &flag);
    say("of a dup: %d, %d", flag, *found);
    MPI_Type_delete_attr(MPI_INT, keyval);
    MPI_Type_get_attr(MPI_INT, keyval, &found, &flag);
    say("deleted: %d", flag);
    MPI_Type_free(&copy);
    MPI_Type_free_keyval(&keyval);
}

static void of_windows(void)
{
    MPI_Win win;
    MPI_Aint *bytes = NULL;
    int *unit = NULL, flags[4], memory[2];
    void *base = memory;

    MPI_Win_create(NULL, 0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flags[0]);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &flags[1]);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flags[2]);
    say("empty window: %d %d, %d %d, %d %d", flags[0], base == NULL, flags[1], (int)*bytes,
        flags[2], *unit);
    MPI_Win_free(&win);
    MPI_Win_create(memory, sizeof(memory), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flags[0]);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &flags[1]);
    say("window: %d %d, %d %d", flags[0], base == (void *)memory, flags[1], (int)*bytes);
    MPI_Win_free(&win);
}

static void of_start(void)
{
    MPI_Info copy;
    int n = -1;

    MPI_Info_get_nkeys(MPI_INFO_ENV, &n);
    say("environment: %d", n >= 0);
    MPI_Info_dup(MPI_INFO_ENV, &copy);
    MPI_Info_free(&copy);
}

/* ---- as it is outside ---- */

static char outside[] = "external32";

static void pack_out(const char *name, void *data, int count, MPI_Datatype type, int bytes)
{
    unsigned char buffer[128];
    int list[128];
    MPI_Aint size = -1, at = 2;
    char *back = calloc(1, (size_t)bytes);

    MPI_Pack_external_size(outside, count, type, &size);
    memset(buffer, 0, sizeof(buffer));
    MPI_Pack_external(outside, data, count, type, buffer, sizeof(buffer), &at);
    for (int i = 0; i < (int)at; i++) {
        list[i] = buffer[i];
    }
    say("%s: %d bytes, up to %d", name, (int)size, (int)at);
    say_ints("  ", list, (int)at);
    at = 2;
    MPI_Unpack_external(outside, buffer, sizeof(buffer), &at, back, count, type);
    say("  back %d, the same %d", (int)at, memcmp(back, data, (size_t)bytes) == 0);
    free(back);
}

struct mixed {
    int a[2];
    double b;
    short c[4];
};

/* MPICH 4.0 crashes if it packs a struct: its parts one by one are the same. */
static void pack_struct(const struct mixed *from, char *buffer, MPI_Aint bytes, MPI_Aint *at)
{
#ifdef MPICH_VERSION
    MPI_Pack_external(outside, from->a, 2, MPI_INT, buffer, bytes, at);
    MPI_Pack_external(outside, &from->b, 1, MPI_DOUBLE, buffer, bytes, at);
    MPI_Pack_external(outside, from->c, 4, MPI_SHORT, buffer, bytes, at);
#else
    MPI_Datatype made, types[] = {MPI_INT, MPI_DOUBLE, MPI_SHORT};
    int lengths[] = {2, 1, 4};
    MPI_Aint places[] = {offsetof(struct mixed, a), offsetof(struct mixed, b),
                         offsetof(struct mixed, c)};

    MPI_Type_create_struct(3, lengths, places, types, &made);
    MPI_Type_commit(&made);
    MPI_Pack_external(outside, from, 1, made, buffer, bytes, at);
    MPI_Type_free(&made);
#endif
}

static void structs(void)
{
    const struct mixed mixed = {{1, 2}, 3.5, {4, 5, 6, 7}};
    struct mixed back;
    char buffer[64];
    MPI_Aint at = 0;
    int list[64];

    pack_struct(&mixed, buffer, sizeof(buffer), &at);
    for (int i = 0; i < (int)at; i++) {
        list[i] = buffer[i];
    }
    say_ints("struct", list, (int)at);
    at = 0;
    MPI_Unpack_external(outside, buffer, sizeof(buffer), &at, back.a, 2, MPI_INT);
    MPI_Unpack_external(outside, buffer, sizeof(buffer), &at, &back.b, 1, MPI_DOUBLE);
    MPI_Unpack_external(outside, buffer, sizeof(buffer), &at, back.c, 4, MPI_SHORT);
    say("  back: %d %d %g %d %d", back.a[0], back.a[1], back.b, back.c[0], back.c[3]);
}

/* What has another size outside, which MPICH 4.0 does not have. */
static int pack_others(void)
{
#ifdef MPICH_VERSION
    return 1;
#else
    static const unsigned char wide[32] = {0x3f, 0xff, 0x80, [16] = 0xc0, 0x00, 0x10};
    static const unsigned char words[8] = {0xff, 0xff, 0xff, 0xfe, 0, 0, 1, 2};
    long double reals[2] = {1.5L, -2.125L}, back[2] = {0, 0};
    long longs[2] = {-2, 258}, longs_back[2];
    unsigned char buffer[32];
    MPI_Aint at = 0, size;

    MPI_Pack_external(outside, reals, 2, MPI_LONG_DOUBLE, buffer, sizeof(buffer), &at);
    int right = at == 32 && memcmp(buffer, wide, 32) == 0;
    at = 0;
    MPI_Unpack_external(outside, buffer, sizeof(buffer), &at, back, 2, MPI_LONG_DOUBLE);
    right &= back[0] == reals[0] && back[1] == reals[1];
    at = 0;
    MPI_Pack_external_size(outside, 3, MPI_LONG_INT, &size);
    MPI_Pack_external(outside, longs, 2, MPI_LONG, buffer, sizeof(buffer), &at);
    right &= size == 24 && at == 8 && memcmp(buffer, words, 8) == 0;
    at = 0;
    MPI_Unpack_external(outside, buffer, sizeof(buffer), &at, longs_back, 2, MPI_LONG);
    return right && longs_back[0] == -2 && longs_back[1] == 258;
#endif
}

static void packing(void)
{
    int ints[] = {1, -2, 0x01020304};
    double reals[] = {1.5, -2.25};
    short shorts[] = {258, -1};
    char chars[] = "weft";
    long long longs[] = {-5, 0x0102030405060708};
    MPI_Datatype made;
    int strided[] = {1, 0, 3};

    pack_out("int", ints, 3, MPI_INT, sizeof(ints));
    pack_out("double", reals, 2, MPI_DOUBLE, sizeof(reals));
    pack_out("short", shorts, 2, MPI_SHORT, sizeof(shorts));
    pack_out("char", chars, 4, MPI_CHAR, 4);
    pack_out("long long", longs, 2, MPI_LONG_LONG, sizeof(longs));
    MPI_Type_vector(2, 1, 2, MPI_INT, &made);
    MPI_Type_commit(&made);
    pack_out("vector", strided, 1, made, sizeof(strided));
    MPI_Type_free(&made);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    one_by_one();
    pairs_at_once();
    several();
    freed_early();
    refusing();
    of_types();
    of_windows();
    of_start();
    packing();
    structs();
    say("others: %d", pack_others());
    say_all();
    return 0;
}
