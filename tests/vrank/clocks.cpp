// SPDX-License-Identifier: Apache-2.0
// The clocks of C++ tell the simulated time, also to a static object.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <mpi.h>
#include <thread>

using namespace std::chrono;

static const auto begin = steady_clock::now();

static void expect(const char *what, double found, double expected)
{
    if (std::fabs(found - expected) > 2e-6) {
        std::printf("%s is %.9f, not %.9f\n", what, found, expected);
    }
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::this_thread::sleep_for(milliseconds(1250));
    expect("sleep_for", MPI_Wtime(), 1.25);
    std::this_thread::sleep_until(begin + seconds(3));
    expect("sleep_until", MPI_Wtime(), 3);
    expect("steady_clock", duration<double>(steady_clock::now() - begin).count(), MPI_Wtime());
    expect("system_clock",
           duration<double>(system_clock::now().time_since_epoch()).count() - 946684800,
           MPI_Wtime());
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        std::puts("done");
    }
    MPI_Finalize();
}
