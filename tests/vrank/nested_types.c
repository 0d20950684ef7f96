/* SPDX-License-Identifier: Apache-2.0 */
/* Random nested datatypes: ./nested_types <first seed> <last seed>. Prints sizes, extents and
 * checksums of packed and unpacked data, the same under every implementation of MPI. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 4, MOST = 1 << 16 }; /* bytes of data and of extent */

static uint64_t state;

static int draw(int below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)below);
}

static uint64_t sum_of(const unsigned char *bytes, MPI_Aint n)
{
    uint64_t sum = 1469598103934665603u;

    for (MPI_Aint i = 0; i < n; i++) {
        sum = (sum ^ bytes[i]) * 1099511628211u;
    }
    return sum;
}

static MPI_Datatype listed(MPI_Datatype old, MPI_Aint extent)
{
    int lengths[4], places[4], n = 1 + draw(4);
    MPI_Aint in_bytes[4];
    MPI_Datatype types[4], out;

    for (int i = 0; i < n; i++) {
        lengths[i] = draw(3);
        places[i] = 3 * i + draw(2); /* in order and without overlap */
        in_bytes[i] = places[i] * extent;
        types[i] = old;
    }
    switch (draw(4)) {
    case 0:
        MPI_Type_indexed(n, lengths, places, old, &out);
        break;
    case 1:
        MPI_Type_create_hindexed(n, lengths, in_bytes, old, &out);
        break;
    case 2:
        MPI_Type_create_indexed_block(n, 2, places, old, &out);
        break;
    default:
        MPI_Type_create_struct(n, lengths, in_bytes, types, &out);
        break;
    }
    return out;
}

static MPI_Datatype box(MPI_Datatype old)
{
    int n = 1 + draw(3), sizes[3], subsizes[3], starts[3];
    MPI_Datatype out;

    for (int d = 0; d < n; d++) {
        sizes[d] = 1 + draw(4);
        subsizes[d] = 1 + draw(sizes[d]);
        starts[d] = draw(sizes[d] - subsizes[d] + 1);
    }
    MPI_Type_create_subarray(n, sizes, subsizes, starts,
                             draw(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old, &out);
    return out;
}

static MPI_Datatype distributed(MPI_Datatype old)
{
    static const int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC,
                                MPI_DISTRIBUTE_NONE};
    int n = 1 + draw(3), sizes[3], how[3], arguments[3], processes[3], all = 1;
    MPI_Datatype out;

    for (int d = 0; d < n; d++) {
        sizes[d] = 1 + draw(7);
        how[d] = kinds[draw(3)];
        processes[d] = how[d] == MPI_DISTRIBUTE_NONE ? 1 : 1 + draw(3);
        arguments[d] = MPI_DISTRIBUTE_DFLT_DARG;
        if (how[d] == MPI_DISTRIBUTE_CYCLIC && draw(2)) {
            arguments[d] = 1 + draw(3);
        }
        all *= processes[d];
    }
    MPI_Type_create_darray(all, draw(all), n, sizes, how, arguments, processes,
                           draw(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old, &out);
    return out;
}

static MPI_Datatype derive(MPI_Datatype old)
{
    MPI_Aint lb, extent;
    MPI_Datatype out;

    MPI_Type_get_extent(old, &lb, &extent);
    switch (draw(8)) {
    case 0:
        MPI_Type_contiguous(1 + draw(4), old, &out);
        break;
    case 1:
        MPI_Type_vector(1 + draw(4), 1 + draw(3), 3 + draw(3), old, &out);
        break;
    case 2:
        MPI_Type_create_hvector(1 + draw(4), 1 + draw(2), 2 * extent + 8 * draw(3), old, &out);
        break;
    case 3:
        MPI_Type_create_resized(old, lb, extent + 8 * draw(3), &out);
        break;
    case 4:
        out = box(old);
        break;
    case 5:
        out = distributed(old);
        break;
    case 6:
        MPI_Type_dup(old, &out);
        break;
    default:
        out = listed(old, extent);
        break;
    }
    return out;
}

static void tell(int seed, MPI_Datatype type)
{
    static unsigned char memory[4 * MOST], packed[2 * MOST], back[4 * MOST];
    int size, at = 0;
    MPI_Aint lb, extent, true_lb, true_extent;

    MPI_Type_size(type, &size);
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &true_lb, &true_extent);
    if (size == 0) { /* implementations differ about its extent */
        printf("%d: empty\n", seed);
        return;
    }
    printf("%d: size %d, %ld %ld", seed, size, (long)lb, (long)extent);
    if (size <= MOST && true_lb >= 0 && true_lb + true_extent + extent < 3 * MOST) {
        for (size_t i = 0; i < sizeof(memory); i++) {
            memory[i] = (unsigned char)(i * 31 + i / 251);
        }
        MPI_Pack(memory, 2, type, packed, sizeof(packed), &at, MPI_COMM_SELF);
        memset(back, 0, sizeof(back));
        MPI_Sendrecv(packed, at, MPI_PACKED, 0, 1, back, 2, type, 0, 1, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
        printf(", packed %d %016llx, back %016llx", at, (unsigned long long)sum_of(packed, at),
               (unsigned long long)sum_of(back, sizeof(back)));
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    static const MPI_Datatype basic[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_SHORT};

    MPI_Init(&argc, &argv);
    for (int seed = atoi(argv[1]); seed <= atoi(argv[2]); seed++) {
        state = (uint64_t)seed * 2654435761u + 1;
        MPI_Datatype type, next;
        MPI_Type_dup(basic[draw(4)], &type);
        for (int depth = 1 + draw(DEPTH), size = 0; depth > 0 && size < MOST / 512; depth--) {
            next = derive(type);
            MPI_Type_free(&type);
            type = next;
            MPI_Type_size(type, &size);
        }
        MPI_Type_commit(&type);
        tell(seed, type);
        MPI_Type_free(&type);
    }
    MPI_Finalize();
    return 0;
}
