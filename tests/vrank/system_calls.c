/* SPDX-License-Identifier: Apache-2.0 */
/* Reads its own source by every system call that writes to global variables, to which no rank
 * has written before. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 1 << 20 };

static char by_read[ROOM], by_fread[ROOM], by_fgets[ROOM];
static struct stat about[ROOM / sizeof(struct stat)];
static struct timespec used[ROOM / sizeof(struct timespec)];
static int numbers[ROOM];

/* What one rank has left in a file is there behind a barrier. */
static int left_behind(int rank, int size)
{
    const char *name = "left_behind.tmp";
    int number = 0;
    FILE *file;

    MPI_Barrier(MPI_COMM_WORLD);
    remove(name);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) {
        file = fopen(name, "w");
        fprintf(file, "%d\n", 4711);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    file = fopen(name, "r");
    if (file == NULL || fscanf(file, "%d", &number) != 1 || number != 4711) {
        printf("rank %d: the file is not there\n", rank);
    }
    if (file != NULL) {
        fclose(file);
    }
    return number != 4711;
}

int main(int argc, char **argv)
{
    int rank, failed = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *file = fopen(argv[1], "r");
    int fd = open(argv[1], O_RDONLY);
    if (file == NULL || fd < 0) {
        return 1;
    }
    ssize_t n = read(fd, by_read, ROOM);
    if (n < 1000 || memcmp(by_read, "/* SPDX", 7) != 0) {
        printf("rank %d: read() gave %zd\n", rank, n);
        failed = 1;
    }
    if (fread(by_fread, 1, ROOM, file) != (size_t)n || memcmp(by_read, by_fread, n) != 0) {
        printf("rank %d: fread() gave something else\n", rank);
        failed = 1;
    }
    rewind(file);
    if (fgets(by_fgets + ROOM / 2, ROOM / 2, file) == NULL ||
        memcmp(by_read, by_fgets + ROOM / 2, 10) != 0) {
        printf("rank %d: fgets() gave something else\n", rank);
        failed = 1;
    }
    if (stat(argv[1], &about[1000]) != 0 || about[1000].st_size != n) {
        printf("rank %d: stat() gave something else\n", rank);
        failed = 1;
    }
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used[1000]) != 0) {
        printf("rank %d: clock_gettime() failed\n", rank);
        failed = 1;
    }
    if (sscanf("1 2 3", "%d %d %d", &numbers[10], &numbers[ROOM / 2], &numbers[ROOM - 1]) !=
            3 ||
        numbers[10] + numbers[ROOM / 2] + numbers[ROOM - 1] != 6) {
        printf("rank %d: sscanf() gave something else\n", rank);
        failed = 1;
    }
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    failed += left_behind(rank, size);
    numbers[ROOM / 2] += rank;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (numbers[ROOM / 2] != 2 + rank || by_read[n] != '\0') {
        printf("rank %d: its variables are those of another one\n", rank);
    }
    if (rank == 0) {
        printf("%d failures\n", failed);
    }
    fclose(file);
    close(fd);
    MPI_Finalize();
    return 0;
}
