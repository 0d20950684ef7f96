/* SPDX-License-Identifier: Apache-2.0 */
/* The MPI environment (MPI-3.1, 8): beginning and end, time, versions, memory; and the marks of
 * weft/mark.h. */
#include "mpi/lib/checker/checker.h"
#include "mpi/lib/comm/properties.h"
#include "mpi/lib/comm/spawn.h"
#include "mpi/lib/libc/clocks.h"
#include "mpi/lib/threads/openmp.h"

#include <stdarg.h>
#include <stdio.h>
#include <weft/mark.h>

int wl_MPI_Init(struct wl_rank *rank, int *argc, char ***argv)
{
    if (rank->initialized) {
        wl_fatal(rank, "the program has called it before");
    }
    rank->initialized = true;
    rank->callable = true;
    return MPI_SUCCESS;
}

int wl_thread_level(int required)
{
    return required < MPI_THREAD_MULTIPLE ? required : MPI_THREAD_MULTIPLE;
}

const char *wl_thread_level_name(int level)
{
    static const char *const names[] = {
        [MPI_THREAD_SINGLE] = "MPI_THREAD_SINGLE",
        [MPI_THREAD_FUNNELED] = "MPI_THREAD_FUNNELED",
        [MPI_THREAD_SERIALIZED] = "MPI_THREAD_SERIALIZED",
        [MPI_THREAD_MULTIPLE] = "MPI_THREAD_MULTIPLE",
    };

    return names[level];
}

int wl_MPI_Init_thread(struct wl_rank *rank, int *argc, char ***argv, int required,
                       int *provided)
{
    rank->thread_level = wl_thread_level(required);
    *provided = rank->thread_level;
    wl_omp_note_level(rank);
    return wl_MPI_Init(rank, argc, argv);
}

int wl_MPI_Finalize(struct wl_rank *rank)
{
    const struct wf_op op = {.kind = WF_OP_FINALIZE};

    if (wl_table_n(&rank->keyvals) >
        0) { /* programs learn of the end by deleting an attribute */
        wl_attributes_delete(rank, MPI_COMM_SELF, wl_comm_of(rank, MPI_COMM_SELF).properties);
    }
    wl_spare_go(rank);
    wl_check_finalize(rank);
    wl_post(rank, &op);
    rank->finalized = true;
    rank->callable = false;
    return MPI_SUCCESS;
}

/* ---- time, versions and memory ---- */

double MPI_Wtime(void)
{
    struct wl_rank *rank = wl_enter();

    wl_clock_read_from(rank, __builtin_return_address(0));
    int64_t time = wl_clock_now(rank);

    wl_leave(rank);
    return (double)time * 1e-12;
}

double MPI_Wtick(void)
{
    return 1e-12;
}

/* ---- marks: weft/mark.h calls MPI_Pcontrol() ---- */

static void mark(enum wf_op_kind kind, const char *region, uint64_t value)
{
    struct wl_rank *rank = wl_enter();
    const struct wf_op op = {
        .kind = kind,
        .tag = region != NULL ? (int32_t)wl.port->name(rank->self, true, region) : 0,
        .bytes = value};

    wl_post(rank, &op);
    wl_leave(rank);
}

/* WEFT_COMPUTE(): the program says how long it computes. */
static void compute(double seconds)
{
    struct wl_rank *rank = wl_enter();

    if (seconds > 0) {
        wl.port->compute(rank->self, (int64_t)(seconds * 1e12));
    }
    wl_leave(rank);
}

/* MPI_Pcontrol() with other levels: level n > 0 begins a region, -n ends it. */
static void numbered_region(int level)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "pcontrol %d", level > 0 ? level : -level);
    mark(level > 0 ? WF_OP_REGION_BEGIN : WF_OP_REGION_END, name, 0);
}

static void control(int level, va_list ap)
{
    switch (level) {
    case WEFT_MARK_REGION_BEGIN:
        mark(WF_OP_REGION_BEGIN, va_arg(ap, const char *), 0);
        break;
    case WEFT_MARK_REGION_END:
        mark(WF_OP_REGION_END, va_arg(ap, const char *), 0);
        break;
    case WEFT_MARK_ITERATION_BEGIN:
        mark(WF_OP_ITERATION_BEGIN, NULL, 0);
        break;
    case WEFT_MARK_ITERATION_END:
        mark(WF_OP_ITERATION_END, NULL, 0);
        break;
    case WEFT_MARK_COMPUTE:
        compute(va_arg(ap, double));
        break;
    default:
        if (level != 0) {
            numbered_region(level);
        }
        break;
    }
}

int MPI_Pcontrol(const int level, ...)
{
    va_list ap;

    va_start(ap, level);
    control(level, ap);
    va_end(ap);
    return MPI_SUCCESS;
}

int PMPI_Pcontrol(const int level, ...)
{
    va_list ap;

    va_start(ap, level);
    control(level, ap);
    va_end(ap);
    return MPI_SUCCESS;
}
