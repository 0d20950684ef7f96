/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank does in the place of a kernel: it computes for as long as the formula says. */
#include "base/mem.h"
#include "base/rng.h"
#include "mpi/vrank/kernel_calls.h"
#include "mpi/vrank/program_state.h"

#include <stdlib.h>

struct wf_vrank_kernel_counts {
    _Atomic uint64_t calls, executed, picoseconds;
};

enum wf_status wf_vrank_program_kernels(struct wf_vrank_program *program, const char *path,
                                        struct wf_err *err)
{
    if (path == NULL || path[0] == '\0') {
        return WF_OK;
    }
    WF_TRY(wf_vrank_kernels_read(path, &program->kernels, err));
    program->kernel_counts =
        wf_xcalloc(program->kernels->n_functions, sizeof(struct wf_vrank_kernel_counts));
    return WF_OK;
}

/* Kernels that follow each other are one computation. */
void wf_vrank_kernels_flush(struct wf_vrank_rank *rank)
{
    const struct wf_op op = {.kind = WF_OP_COMPUTE, .duration = rank->kernel_time};

    if (rank->kernel_time > 0) {
        rank->kernel_time = 0;
        wf_vrank_oplog_add(&rank->log, &op);
    }
}

/* Formulas are times of the simulated machine: the factor for other computing is taken back. */
static void compute(struct wf_vrank_rank *rank, int64_t picoseconds)
{
    double scale = rank->program->port.scale;
    int64_t *to = rank->self.computed != NULL ? rank->self.computed : &rank->kernel_time;

    if (scale < 1 || scale > 1) {
        picoseconds = (int64_t)((double)picoseconds / scale);
    }
    *to = __builtin_add_overflow(*to, picoseconds, to) ? INT64_MAX : *to;
}

static uint32_t section_of(struct wf_vrank_rank *rank)
{
    const struct wf_vrank_program *program = rank->program;

    if (!rank->has_section) {
        rank->has_section = true;
        rank->section =
            wf_vrank_kernels_section(program->kernels, rank->self.rank,
                                     program->port.node(&rank->self, rank->self.rank));
    }
    return rank->section;
}

static uint64_t draw(struct wf_vrank_rank *rank)
{
    return wf_rng_draw(rank->program->config.seed, rank->self.rank, rank->kernel_draws++);
}

struct wf_vrank_kernel_outcome
wf_vrank_kernel_called(uint32_t number, const struct wf_vrank_call *call, const void *caller)
{
    struct wf_vrank_rank *rank = wf_vrank_running();
    struct wf_vrank_kernel_outcome outcome = {.execute = NULL};
    uint64_t values[WF_VRANK_NAMED_MAX] = {0};

    if (rank == NULL || rank->program->kernels == NULL) {
        return outcome;
    }
    struct wf_vrank_program *program = rank->program;
    const struct wf_vrank_kernel_function *function = &program->kernels->functions[number];
    struct wf_vrank_kernel_site *site =
        wf_vrank_image_kernel(program->image, rank->self.rank, number);
    if (rank->in_kernel > 0) { /* a part of one that is executed */
        rank->in_kernel++;
        outcome.execute = site;
        return outcome;
    }
    const struct wf_vrank_kernel_time *time =
        wf_vrank_kernels_time(program->kernels, section_of(rank), function->kernel);
    struct wf_vrank_kernel_counts *counts = &program->kernel_counts[number];
    bool some = wf_vrank_arguments_values(&function->arguments, call, values);
    uint64_t for_time = time->spread != NULL ? draw(rank) : 0;
    int64_t duration = some ? wf_vrank_kernel_duration(time, values, for_time) : 0;
    uint64_t random = time->below ? draw(rank) : 0;
    outcome.result = wf_vrank_kernel_result(time, values, function->base, random);
    wf_vrank_port.enter(&rank->self, caller);
    compute(rank, duration);
    (void)atomic_fetch_add_explicit(&counts->calls, 1, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&counts->picoseconds, (uint64_t)duration,
                                    memory_order_relaxed);
    if (time->every > 0 && rank->kernel_calls++ % time->every == 0 && site != NULL) {
        rank->in_kernel = 1;
        outcome.execute = site;
        (void)atomic_fetch_add_explicit(&counts->executed, 1, memory_order_relaxed);
        return outcome;
    }
    wf_vrank_port.leave(&rank->self);
    return outcome;
}

void wf_vrank_kernel_executed(void)
{
    struct wf_vrank_rank *rank = wf_vrank_running();

    if (rank != NULL && --rank->in_kernel == 0) {
        wf_vrank_port.leave(&rank->self);
    }
}

static bool has_any(const struct wf_vrank_program *program, uint32_t kernel)
{
    bool found = false;

    for (uint32_t i = 0; i < program->kernels->n_functions && !found; i++) {
        found = program->kernels->functions[i].kernel == kernel &&
                wf_vrank_image_has_kernel(program->image, i);
    }
    return found;
}

bool wf_vrank_kernels_counted(const struct wf_vrank_program *program, uint32_t i,
                              struct wf_live_kernel *out)
{
    if (program->kernels == NULL || i >= program->kernels->n_functions) {
        return false;
    }
    struct wf_vrank_kernel_counts *counts = &program->kernel_counts[i];
    *out = (struct wf_live_kernel){.name = program->kernels->functions[i].name,
                                   .found = wf_vrank_image_has_kernel(program->image, i),
                                   .kernel_found =
                                       has_any(program, program->kernels->functions[i].kernel),
                                   .calls = atomic_load(&counts->calls),
                                   .executed = atomic_load(&counts->executed),
                                   .picoseconds = atomic_load(&counts->picoseconds)};
    return true;
}
