/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of C++: std::thread, mutexes, condition variables, futures, thread-local objects. */
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mpi.h>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static std::condition_variable ready;
static std::shared_mutex both;
static thread_local std::vector<int> mine;

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<std::thread> threads;
    std::atomic<int> sum{0};
    int stage = 0, turns = 0;
    for (int i = 0; i < 3; i++) {
        threads.emplace_back([&, i] {
            mine.push_back(i);
            for (int k = 0; k < 4; k++) {
                std::unique_lock<std::mutex> own(lock);
                ready.wait(own, [&] { return stage % 3 == i; });
                stage++;
                turns += (int)mine.size();
                ready.notify_all();
            }
            std::shared_lock<std::shared_mutex> read(both);
            sum += 10 * rank + i;
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    auto later = std::async(std::launch::async, [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        return rank + 100;
    });
    std::promise<int> promise;
    std::thread giver([&] { promise.set_value(7); });
    int got = later.get() + promise.get_future().get();
    giver.join();
    int all = 0, own = sum + got + stage + turns;
    MPI_Reduce(&own, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        std::printf("%d ranks: %d, %zu\n", size, all, mine.size());
    }
    MPI_Finalize();
    return 0;
}
