// SPDX-License-Identifier: Apache-2.0
// What runs before main() and after it runs for each rank, with its own memory: constructors and
// destructors of global objects, variables that are created when they are first used, atexit().
#include "report.h"

#include <map>
#include <string>
#include <vector>

static int rank = -1;

namespace {

// Rank 0 prints; the others only must not disturb it.
void tell(const char *what, int value)
{
    if (rank == 0) {
        printf("%s %d\n", what, value);
        fflush(stdout);
    }
}

std::vector<int> numbers(3, 7);
std::map<std::string, int> names = {{"before", 1}, {"main", 2}};

struct Watch {
    int *count = new int(41);
    ~Watch()
    {
        tell("destructor finds", *count);
        tell("names", static_cast<int>(names.size()));
        delete count;
    }
} watch;

struct Late {
    int value;
    explicit Late(int first) : value(first) {}
    ~Late() { tell("late", value); }
};

int next()
{
    static Late late(rank * 10);
    return ++late.value;
}

void meet()
{
    int sum;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

void at_the_end()
{
    int over;
    MPI_Finalized(&over);
    tell("atexit after the end of MPI:", over);
    tell("numbers", numbers[1]);
}

void the_last_first()
{
    tell("atexit, the last first", static_cast<int>(numbers.size()));
}

__attribute__((constructor)) void early()
{
    numbers.push_back(8);
}

} // namespace

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    atexit(at_the_end);
    atexit(the_last_first);
    meet();
    numbers[1] += rank;
    *watch.count += rank;
    names["rank " + std::to_string(rank)] = rank;
    for (int i = 0; i < rank; i++) {
        numbers.push_back(i);
    }
    meet();
    say("numbers %zu, second %d", numbers.size(), numbers[1]);
    say("names %zu, counted %d, next %d", names.size(), *watch.count, next());
    meet();
    say("next %d", next());
    say_all();
    if (rank % 2 == 1) {
        exit(0);
    }
    return 0;
}
