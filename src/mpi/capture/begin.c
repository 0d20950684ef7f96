/* SPDX-License-Identifier: Apache-2.0 */
/* Begins and ends a recording; the steps that all wrappers share. */
#include "base/call_site.h"
#include "base/os_watch.h"
#include "mpi/capture/cost.h"
#include "mpi/capture/counters.h"
#include "mpi/capture/file.h"
#include "mpi/capture/inside.h"
#include "mpi/capture/settings.h"
#include "mpi/capture/stacks.h"
#include "program/ops/disturbance.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wf_cap wf_cap;
_Thread_local struct wf_cap_thread wf_cap_thread __attribute__((tls_model("initial-exec")));

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(void)
{
    if (wf_cap.threaded) {
        (void)pthread_mutex_lock(&mutex);
    }
}

static void unlock(void)
{
    if (wf_cap.threaded) {
        (void)pthread_mutex_unlock(&mutex);
    }
}

void wf_cap_give_up(const char *why)
{
    if (!wf_cap.is_dead) {
        wf_cap.is_dead = true;
        wf_cap.emits = false;
        (void)fprintf(stderr, "weft: capture: rank %u is recorded no further: %s\n",
                      wf_cap.rank, why);
        wf_cap_file_close();
    }
}

/* ---- steps of every wrapper ---- */

/* What the system did before the call. CPU time contains no time without a processor, except for
 * what a hypervisor takes. */
static uint32_t disturbances_of(const struct wf_cap_call *call)
{
    const struct wf_os_watch_counts counts = wf_os_watch_end((int64_t)call->entered, call->gap);
    int64_t waited = wf_cap.clock == WF_CLOCK_WALL ? counts.waited : 0;

    return wf_disturbance_of(&counts, counts.stolen + waited, call->gap);
}

void wf_cap_enter_slowly(struct wf_cap_call *call, struct wf_cap_thread *thread)
{
    thread->depth = 1;
    call->n_blocks = 0;
    call->used = 0;
    call->n = 0;
    call->first_index = 0;
    call->reduction = WF_REDUCE_UNKNOWN;
    call->seen = NULL;
    call->is_alone = false;
    call->entered = wf_cap_clock_now();
    call->gap = wf_cap_clock_gap(&thread->clock, call->entered, wf_cap.clock == WF_CLOCK_CPU);
    call->disturbances = call->gap >= WF_OS_WATCH_NS ? disturbances_of(call) : 0;
    if (wf_cap.n_counters > 0) {
        wf_cap_counters_read(call->counters);
    }
    call->is_measured = wf_cap_cost_is_due(thread->n_calls++);
    if (call->is_measured) {
        call->entering = wf_cap_clock_now() - call->entered;
    }
}

void wf_cap_on_in_order(struct wf_cap_call *call)
{
    lock();
    call->is_alone = true;
}

bool wf_cap_returned(struct wf_cap_call *call, int rc)
{
    if (!call->is_alone) {
        lock();
    }
    if (call->is_measured) {
        call->returned = wf_cap_clock_now();
    }
    if (wf_cap.threaded) {
        /* The time until the last call of another thread ended is recorded already. */
        int64_t most = (int64_t)(call->entered - wf_cap.left);
        call->gap = most < 0 ? 0 : call->gap > most ? most : call->gap;
    }
    /* The stack of a call is that of the computing before it. */
    bool has_stack = wf_cap.keeps_stacks && wf_cap.emits;
    call->place = has_stack ? wf_cap_stack(call->site) : wf_call_site(call->site);
    if (call->gap > 0 || has_stack) {
        wf_cap_emit_compute(&(const struct wf_cap_span){
            call->gap > 0 ? call->gap : 0, call->counters, call->place, call->disturbances});
    }
    return rc == MPI_SUCCESS;
}

void wf_cap_leave(struct wf_cap_call *call)
{
    struct wf_cap_thread *thread = &wf_cap_thread;

    for (uint32_t i = 0; i < call->n_blocks; i++) {
        free(call->blocks[i]);
    }
    if (wf_cap.n_counters > 0) {
        wf_cap_counters_mark();
    }
    if (wf_cap.clock != WF_CLOCK_NONE) {
        wf_os_watch_begin((int64_t)wf_cap_clock_now());
    }
    wf_cap.left =
        wf_cap_clock_leave(&thread->clock, call->entered, wf_cap.clock == WF_CLOCK_CPU);
    if (call->is_measured) {
        wf_cap_cost_measured(call->entering, call->returned, wf_cap.left);
    }
    if (wf_cap.emits) {
        wf_cap_cost_call();
    }
    unlock();
    thread->depth = 0;
}

void *wf_cap_call_memory(struct wf_cap_call *call, size_t bytes)
{
    size_t rounded = (bytes + 15) & ~(size_t)15;

    if (rounded <= sizeof(call->arena) - call->used) {
        void *memory = call->arena + call->used;
        call->used += (uint32_t)rounded;
        return memory;
    }
    void *memory =
        call->n_blocks < sizeof(call->blocks) / sizeof(call->blocks[0]) ? malloc(bytes) : NULL;
    if (memory == NULL) {
        wf_cap_give_up("out of memory");
        return NULL;
    }
    call->blocks[call->n_blocks++] = memory;
    return memory;
}

/* ---- calls recorded by name only ---- */

static void record_name(enum wf_source_name kind, uint32_t number, const char *name)
{
    char text[256] = "";

    (void)strncat(text, name, sizeof(text) - 1);
    wf_cap_file_record(WF_RECORD_NAME, (const uint64_t[]){(uint64_t)kind, number}, 2, text);
}

void wf_cap_record_region(uint32_t number, const char *name)
{
    record_name(WF_NAME_REGION, number, name);
}

static void emit_call(enum wf_op_kind kind, uint32_t name)
{
    static bool named[2048];
    const struct wf_op op = {.kind = kind, .tag = (int32_t)name};

    if (name < sizeof(named) && !named[name] && wf_cap.emits && name < wf_cap_n_call_names) {
        named[name] = true;
        record_name(WF_NAME_CALL, name, wf_cap_call_names[name]);
    }
    wf_cap_emit(&op, 0);
}

void wf_cap_on_named(struct wf_cap_call *call, uint32_t name)
{
    static const uint64_t nothing[WF_COUNTERS_MAX];
    int64_t lasted = (int64_t)(wf_cap_clock_now() - call->entered);

    wf_cap_emit_compute(
        &(const struct wf_cap_span){.ns = lasted, .counters = nothing, .site = call->place});
    emit_call(WF_OP_CALL, name);
}

static uint32_t name_number(const char *name)
{
    for (uint32_t i = 0; i < wf_cap_n_call_names; i++) {
        if (strcmp(wf_cap_call_names[i], name) == 0) {
            return i;
        }
    }
    return 0;
}

/* ---- the beginning ---- */

static void record_creator(const struct wf_cap_settings *settings)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING + 64], library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;

    (void)PMPI_Get_library_version(library, &length);
    library[strcspn(library, "\n,")] = '\0';
    (void)snprintf(text, sizeof(text), "weft capture, %s, %s clock", library,
                   settings->clock_name);
    wf_cap_file_record(WF_RECORD_CREATOR, NULL, 0, text);
}

/* Records the host and the start of the rank's clock, so that a reader can compare the clocks
 * of hosts. */
static void record_clock(int64_t offset, uint64_t doubt)
{
    char host[256] = "";
    struct timespec real;

    (void)gethostname(host, sizeof(host) - 1);
    (void)clock_gettime(CLOCK_REALTIME, &real);
    const uint64_t numbers[] = {wf_cap.rank, wf_cap_clock_monotonic(),
                                (uint64_t)real.tv_sec * UINT64_C(1000000000) +
                                    (uint64_t)real.tv_nsec,
                                wf_zigzag(offset), doubt};
    wf_cap_file_record(WF_RECORD_CLOCK, numbers, 5, host);
}

static void open_file(const struct wf_cap_settings *settings)
{
    char path[4096];

    if (!wf_cap_settings_has_rank(settings, wf_cap.rank)) {
        wf_cap.is_dead = true;
        return;
    }
    int n = snprintf(path, sizeof(path), "%s/rank-%07u.weft", settings->directory, wf_cap.rank);
    if (n < 0 || (size_t)n >= sizeof(path)) {
        wf_cap_give_up("the name of the directory is too long");
    } else if (!wf_cap_ops_init()) {
        wf_cap_give_up("out of memory");
    } else if (wf_cap_file_open(path, wf_cap.rank, wf_cap.n_ranks)) {
        record_creator(settings);
    }
}

void wf_cap_begin(int provided)
{
    struct wf_cap_settings settings;
    MPI_Comm parent = MPI_COMM_NULL;
    int rank = 0, size = 0;

    if (wf_cap.on || !wf_cap_settings_read(&settings)) {
        return;
    }
    /* Processes started by MPI_Comm_spawn have their own MPI_COMM_WORLD: do not record. */
    (void)PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        return;
    }
    (void)PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)PMPI_Comm_size(MPI_COMM_WORLD, &size);
    wf_cap.rank = (uint32_t)rank;
    wf_cap.n_ranks = (uint32_t)size;
    wf_cap.clock = settings.clock;
    wf_cap.region = settings.region;
    wf_cap.waits_for_pcontrol = settings.waits_for_pcontrol;
    wf_cap.keeps_polls = settings.keeps_polls;
    wf_cap.keeps_stacks = settings.keeps_stacks;
    wf_cap.threaded = provided == MPI_THREAD_MULTIPLE;
    wf_cap_clock_init();
    struct wf_cap_clock_difference difference = {0, 0};
    if (settings.compares_clocks) {
        wf_cap_clock_compare(&difference);
    }
    open_file(&settings);
    if (!wf_cap.is_dead) {
        wf_cap.emits = true;
        record_clock(difference.offset, difference.doubt);
        wf_cap.n_counters = wf_cap_counters_open(settings.counters);
    }
    for (uint32_t i = 0; i < wf_cap.n_counters; i++) {
        record_name(WF_NAME_COUNTER, i, wf_cap_counters_name(i));
    }
    wf_cap_comms_init();
    emit_call(WF_OP_INIT, name_number("MPI_Init"));
    wf_cap.emits = wf_cap.emits && settings.region == NULL && !settings.waits_for_pcontrol;
    wf_cap.on = true;
    wf_cap_counters_mark();
    wf_cap.began = wf_cap_clock_leave(&wf_cap_thread.clock, 0, wf_cap.clock == WF_CLOCK_CPU);
    wf_cap.left = wf_cap.began;
}

/* ---- the end ---- */

void wf_cap_end(void)
{
    struct wf_cap_call call;

    if (!wf_cap_enter(&call)) {
        return;
    }
    (void)wf_cap_returned(&call, MPI_SUCCESS);
    if (!wf_cap.is_dead) {
        wf_cap.emits = true;
        emit_call(WF_OP_FINALIZE, name_number("MPI_Finalize"));
        uint64_t wall = (call.entered - wf_cap.began) * 1000;
        wf_cap_file_record(WF_RECORD_WALL, (const uint64_t[]){wf_cap.rank, wall}, 2, NULL);
        wf_cap_ops_finish();
        wf_cap_file_close();
    }
    wf_cap.on = false;
    wf_cap.emits = false;
    wf_cap.is_dead = true;
    wf_cap_leave(&call);
}

void wf_cap_break_off(void)
{
    if (wf_cap.on && !wf_cap.is_dead) {
        wf_cap.on = false;
        wf_cap_ops_flush();
        wf_cap.is_dead = true;
        wf_cap_file_close();
    }
}

/* Keeps the recording of a program that exits without MPI_Finalize. */
__attribute__((destructor)) static void at_exit(void)
{
    wf_cap_break_off();
}
