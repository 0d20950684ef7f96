/* SPDX-License-Identifier: Apache-2.0 */
/* Derived datatypes: where bytes go, and what is known of them. */
#include "report.h"

#include <stddef.h>

static int rank, size;

struct particle {
    char kind;
    double x[3];
    int id;
};

static void describe(const char *name, MPI_Datatype type)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    int bytes, n_ints, n_addresses, n_types, combiner;
    MPI_Count wide;

    MPI_Type_size(type, &bytes);
    MPI_Type_size_x(type, &wide);
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &true_lb, &true_extent);
    MPI_Type_get_envelope(type, &n_ints, &n_addresses, &n_types, &combiner);
    say("%s: size %d %lld, from %ld for %ld, really %ld for %ld, made of %d %d %d", name, bytes,
        (long long)wide, (long)lb, (long)extent, (long)true_lb, (long)true_extent, n_ints,
        n_addresses, n_types);
}

/* Sends an array through the type to itself and says what came, as integers. */
static void through(const char *name, MPI_Datatype type, int count)
{
    int from[64], to[64], got;
    MPI_Status status;

    for (int i = 0; i < 64; i++) {
        from[i] = 1000 * rank + i;
        to[i] = -1;
    }
    MPI_Sendrecv(from, count, type, 0, 1, to, 60, MPI_INT, 0, 1, MPI_COMM_SELF, &status);
    MPI_Get_count(&status, MPI_INT, &got);
    say_ints(name, to, got);
    memset(to, 0xff, sizeof(to));
    MPI_Sendrecv(from, got, MPI_INT, 0, 1, to, count, type, 0, 1, MPI_COMM_SELF, &status);
    say_ints("  back", to, 40);
}

static void all_kinds(void)
{
    const int lengths[3] = {2, 1, 3}, displs[3] = {5, 0, 9};
    const MPI_Aint wide[3] = {20, 0, 36};
    const int sizes[3] = {3, 4, 5}, parts[3] = {2, 2, 3}, starts[3] = {1, 1, 2};
    struct {
        const char *name;
        MPI_Datatype type;
    } made[12];
    MPI_Datatype vector;

    MPI_Type_contiguous(5, MPI_INT, &made[0].type);
    MPI_Type_vector(3, 2, 5, MPI_INT, &made[1].type);
    MPI_Type_create_hvector(3, 1, 16, MPI_INT, &made[2].type);
    MPI_Type_indexed(3, lengths, displs, MPI_INT, &made[3].type);
    MPI_Type_create_hindexed(3, lengths, wide, MPI_INT, &made[4].type);
    MPI_Type_create_indexed_block(3, 2, displs, MPI_INT, &made[5].type);
    MPI_Type_create_hindexed_block(3, 2, wide, MPI_INT, &made[6].type);
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &made[7].type);
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT,
                             &made[8].type);
    MPI_Type_create_resized(made[1].type, -4, 64, &made[9].type);
    MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
    MPI_Type_vector(2, 2, 3, vector, &made[10].type);
    MPI_Type_dup(made[3].type, &made[11].type);
    static const char *const names[12] = {"contiguous",     "vector",  "hvector", "indexed",
                                          "hindexed",       "block",   "hblock",  "subarray",
                                          "subarray in f.", "resized", "nested",  "dup"};
    for (int i = 0; i < 12; i++) {
        MPI_Type_commit(&made[i].type);
        describe(names[i], made[i].type);
        through(names[i], made[i].type, 1);
    }
    through("two vectors", made[1].type, 2);
    through("two contiguous", made[0].type, 2);
    for (int i = 0; i < 12; i++) {
        MPI_Type_free(&made[i].type);
    }
    MPI_Type_free(&vector);
    say("null: %d", vector == MPI_DATATYPE_NULL);
}

static void structs(void)
{
    struct particle out[3], in[3];
    const int lengths[3] = {1, 3, 1};
    const MPI_Aint displs[3] = {offsetof(struct particle, kind), offsetof(struct particle, x),
                                offsetof(struct particle, id)};
    const MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
    MPI_Datatype plain, particle, parts[3];
    int n, ints[8], elements;
    MPI_Aint addresses[8];
    MPI_Status status;

    MPI_Type_create_struct(3, lengths, displs, types, &plain);
    MPI_Type_create_resized(plain, 0, sizeof(struct particle), &particle);
    MPI_Type_commit(&particle);
    describe("struct", plain);
    describe("particle", particle);
    memset(in, 0, sizeof(in));
    for (int i = 0; i < 3; i++) {
        out[i] = (struct particle){(char)('a' + i), {i, rank, 0.5}, 10 * rank + i};
    }
    MPI_Sendrecv(out, 2, particle, (rank + 1) % size, 0, in, 3, particle,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, particle, &n);
    MPI_Get_elements(&status, particle, &elements);
    say("particles: %d, %d values: %c %g %g %d, untouched %d", n, elements, in[1].kind,
        in[1].x[0], in[1].x[1], in[1].id, in[2].id);
    /* A part of an element. */
    MPI_Sendrecv("ab", 1, MPI_CHAR, 0, 1, in, 3, particle, 0, 1, MPI_COMM_SELF, &status);
    MPI_Get_count(&status, particle, &n);
    MPI_Get_elements(&status, particle, &elements);
    say("a part: %d, %d values", n == MPI_UNDEFINED, elements);
    MPI_Type_get_contents(plain, 8, 8, 3, ints, addresses, parts);
    say("contents: %d lengths %d %d %d, at %ld %ld %ld, types %d %d %d", ints[0], ints[1],
        ints[2], ints[3], (long)addresses[0], (long)addresses[1], (long)addresses[2],
        parts[0] == MPI_CHAR, parts[1] == MPI_DOUBLE, parts[2] == MPI_INT);
    MPI_Type_free(&plain);
    MPI_Type_free(&particle);
}

static void packing(void)
{
    char buffer[200];
    int position = 0, n, a = rank, list[4] = {1, 2, 3, 4}, back[4] = {0};
    double x = 0.25 * rank, y = 0;
    MPI_Datatype every_second;

    MPI_Type_vector(2, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    MPI_Pack(&a, 1, MPI_INT, buffer, sizeof(buffer), &position, MPI_COMM_WORLD);
    MPI_Pack(&x, 1, MPI_DOUBLE, buffer, sizeof(buffer), &position, MPI_COMM_WORLD);
    MPI_Pack(list, 1, every_second, buffer, sizeof(buffer), &position, MPI_COMM_WORLD);
    MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &n);
    say("packed: %d, at least %d", position, n >= 4);
    MPI_Sendrecv_replace(buffer, position, MPI_PACKED, (rank + 1) % size, 3,
                         (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    n = position;
    position = 0;
    MPI_Unpack(buffer, n, &position, &a, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(buffer, n, &position, &y, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Unpack(buffer, n, &position, back, 2, MPI_INT, MPI_COMM_WORLD);
    say("unpacked: %d %g %d %d", a, y, back[0], back[1]);
    MPI_Type_free(&every_second);
}

static void spread(void)
{
    const int gsizes[2] = {6, 5}, psizes[2] = {2, 2}, dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
    const int distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};

    for (int place = 0; place < 4; place++) {
        MPI_Datatype type;
        MPI_Type_create_darray(4, place, 2, gsizes, distribs, dargs, psizes, MPI_ORDER_C,
                               MPI_INT, &type);
        MPI_Type_commit(&type);
        describe("darray", type);
        through("darray", type, 1);
        MPI_Type_free(&type);
    }
}

static void others(void)
{
    MPI_Aint a, b;
    int list[4], n;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Datatype type, pair;

    MPI_Get_address(&list[0], &a);
    MPI_Get_address(&list[3], &b);
    say("addresses: %ld %ld", (long)MPI_Aint_diff(b, a), (long)(MPI_Aint_add(a, 12) - b));
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type);
    MPI_Type_size(type, &n);
    say("match: %d", n);
    MPI_Type_get_name(MPI_DOUBLE, name, &n);
    say("name: %s %d", name, n);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_set_name(pair, "a pair");
    MPI_Type_get_name(pair, name, &n);
    say("name: %s %d", name, n);
    /* In use, it lives on. */
    MPI_Request request;
    int in[2];
    MPI_Type_commit(&pair);
    MPI_Irecv(in, 1, pair, 0, 0, MPI_COMM_SELF, &request);
    MPI_Type_free(&pair);
    list[0] = 7;
    list[1] = rank;
    MPI_Send(list, 2, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say_ints("freed in use", in, 2);
    describe("double", MPI_DOUBLE);
    describe("pair of double and int", MPI_DOUBLE_INT);
    describe("pair of short and int", MPI_SHORT_INT);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    all_kinds();
    structs();
    packing();
    spread();
    others();
    say_all();
    return 0;
}
