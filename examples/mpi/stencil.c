/* SPDX-License-Identifier: Apache-2.0 */
/* Heat on a plate: Jacobi's method on a grid that is spread over a grid of ranks.
 * usage: stencil [points of a side for each rank] [iterations] */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct plate {
    int n; /* own points of a side; around them there is a border of the neighbours' */
    double *now, *next;
    MPI_Comm grid;
    MPI_Datatype column;
    int up, down, left, right;
    int row, col, rows, cols; /* where this part of the plate is */
};

static double *at(double *field, const struct plate *plate, int i, int k)
{
    return &field[(size_t)i * (size_t)(plate->n + 2) + (size_t)k];
}

static void set_up(struct plate *plate, int n)
{
    int size, dims[2] = {0, 0}, periods[2] = {0, 0}, place[2];
    size_t points = (size_t)(n + 2) * (size_t)(n + 2);

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &plate->grid);
    MPI_Cart_get(plate->grid, 2, dims, periods, place);
    MPI_Cart_shift(plate->grid, 0, 1, &plate->up, &plate->down);
    MPI_Cart_shift(plate->grid, 1, 1, &plate->left, &plate->right);
    MPI_Type_vector(n, 1, n + 2, MPI_DOUBLE, &plate->column);
    MPI_Type_commit(&plate->column);
    plate->n = n;
    plate->rows = dims[0];
    plate->cols = dims[1];
    plate->row = place[0];
    plate->col = place[1];
    plate->now = calloc(points, sizeof(double));
    plate->next = calloc(points, sizeof(double));
    for (int k = 0; k < n + 2; k++) { /* the upper edge of the whole plate is hot */
        if (plate->row == 0) {
            *at(plate->now, plate, 0, k) = *at(plate->next, plate, 0, k) = 100;
        }
    }
}

static void exchange(struct plate *plate)
{
    int n = plate->n;
    double *field = plate->now;
    MPI_Request requests[8];

    MPI_Irecv(at(field, plate, 0, 1), n, MPI_DOUBLE, plate->up, 0, plate->grid, &requests[0]);
    MPI_Irecv(at(field, plate, n + 1, 1), n, MPI_DOUBLE, plate->down, 1, plate->grid,
              &requests[1]);
    MPI_Irecv(at(field, plate, 1, 0), 1, plate->column, plate->left, 2, plate->grid,
              &requests[2]);
    MPI_Irecv(at(field, plate, 1, n + 1), 1, plate->column, plate->right, 3, plate->grid,
              &requests[3]);
    MPI_Isend(at(field, plate, n, 1), n, MPI_DOUBLE, plate->down, 0, plate->grid, &requests[4]);
    MPI_Isend(at(field, plate, 1, 1), n, MPI_DOUBLE, plate->up, 1, plate->grid, &requests[5]);
    MPI_Isend(at(field, plate, 1, n), 1, plate->column, plate->right, 2, plate->grid,
              &requests[6]);
    MPI_Isend(at(field, plate, 1, 1), 1, plate->column, plate->left, 3, plate->grid,
              &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

/* One step; returns the largest change. */
static double relax(struct plate *plate)
{
    double change = 0;

    for (int i = 1; i <= plate->n; i++) {
        for (int k = 1; k <= plate->n; k++) {
            double value =
                0.25 * (*at(plate->now, plate, i - 1, k) + *at(plate->now, plate, i + 1, k) +
                        *at(plate->now, plate, i, k - 1) + *at(plate->now, plate, i, k + 1));
            change = fmax(change, fabs(value - *at(plate->now, plate, i, k)));
            *at(plate->next, plate, i, k) = value;
        }
    }
    double *old = plate->now;
    plate->now = plate->next;
    plate->next = old;
    return change;
}

int main(int argc, char **argv)
{
    int rank, n = argc > 1 ? atoi(argv[1]) : 16, steps = argc > 2 ? atoi(argv[2]) : 50;
    double change = 0, most = 0, corner, warmest = 0;
    struct plate plate;

    MPI_Init(&argc, &argv);
    set_up(&plate, n);
    MPI_Comm_rank(plate.grid, &rank);
    for (int i = 0; i < steps; i++) {
        exchange(&plate);
        change = relax(&plate);
        MPI_Allreduce(&change, &most, 1, MPI_DOUBLE, MPI_MAX, plate.grid);
    }
    corner = *at(plate.now, &plate, n, n);
    MPI_Reduce(&corner, &warmest, 1, MPI_DOUBLE, MPI_MAX, 0, plate.grid);
    if (rank == 0) {
        printf("%d x %d ranks of %d x %d points, %d steps\n", plate.rows, plate.cols, n, n,
               steps);
        printf("last change %.9f, warmest corner %.9f, first point %.9f\n", most, warmest,
               *at(plate.now, &plate, 1, 1));
    }
    MPI_Type_free(&plate.column);
    MPI_Comm_free(&plate.grid);
    free(plate.now);
    free(plate.next);
    MPI_Finalize();
    return 0;
}
