// SPDX-License-Identifier: Apache-2.0
// Exceptions that are being handled, and thread_local objects, belong to a rank.
#include <cstdio>
#include <exception>
#include <mpi.h>
#include <stdexcept>
#include <string>

struct Counted {
    std::string text = "fresh";
    ~Counted()
    {
        if (text != "used") {
            std::puts("the destructor finds another object");
        }
    }
};

static thread_local Counted counted;

static int handle(int rank, int depth)
{
    try {
        if (depth > 0) {
            return handle(rank, depth - 1);
        }
        throw std::runtime_error(std::to_string(rank));
    } catch (const std::exception &error) {
        MPI_Barrier(MPI_COMM_WORLD); // other ranks throw and catch meanwhile
        try {
            throw;
        } catch (const std::exception &again) {
            MPI_Barrier(MPI_COMM_WORLD);
            return std::stoi(again.what()) == rank && std::stoi(error.what()) == rank ? 0 : 1;
        }
    }
}

int main(int argc, char **argv)
{
    int rank, wrong = 0, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (counted.text != "fresh") {
        wrong++;
    }
    counted.text = "used";
    for (int i = 0; i < 5; i++) {
        wrong += handle(rank, i);
    }
    if (std::uncaught_exceptions() != 0 || std::current_exception()) {
        wrong++;
    }
#pragma omp parallel for reduction(+ : wrong) schedule(dynamic)
    for (int i = 0; i < 20; i++) {
        try {
            throw i;
        } catch (int value) {
#pragma omp critical
            wrong += value != i;
        }
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        std::printf("%d failures\n", all);
    }
    MPI_Finalize();
}
