/* SPDX-License-Identifier: Apache-2.0 */
/* A program in C++: constructors that run before MPI_Init, an exception around calls. */
#include <iostream>
#include <mpi.h>
#include <numeric>
#include <stdexcept>
#include <vector>

struct session {
    session(int &argc, char **&argv) { MPI_Init(&argc, &argv); }
    ~session() { MPI_Finalize(); }
};

static std::vector<int> numbers(100);

int main(int argc, char **argv)
{
    session all(argc, argv);
    int rank = 0, size = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::iota(numbers.begin(), numbers.end(), rank);
    try {
        std::vector<int> got(numbers.size());
        MPI_Sendrecv(numbers.data(), 100, MPI_INT, (rank + 1) % size, 1, got.data(), 100, MPI_INT,
                     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        throw std::runtime_error(got.at(1) > 0 ? "as thrown" : "wrong");
    } catch (const std::exception &e) {
        int sum = 0;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) {
            std::cout << e.what() << ' ' << sum << std::endl;
        }
    }
    return 0;
}
