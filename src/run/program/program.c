/* SPDX-License-Identifier: Apache-2.0 */
#include "run/program/program.h"

#include "base/mem.h"
#include "mpi/vrank/program_source.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_STACK = 16 << 10 };

static const char *const clock_names[] = {"simulated", "host", NULL};
static const char *const compute_names[] = {"measured", "model", "none", "counted", NULL};

const struct wf_param wf_program_params[] = {
    WF_PARAM_ROW(struct wf_program_params, args, TEXT, .def = "",
                 .doc = "Arguments of the program, quoted as in a shell"),
    WF_PARAM_ROW(struct wf_program_params, compute, ENUM, .def = "measured",
                 .choices = compute_names,
                 .doc = "What computing costs a rank: its processor time on this machine "
                        "(times cpu.scale), what the program says with WEFT_COMPUTE, nothing, "
                        "or its instructions at run.rate"),
    WF_PARAM_ROW(struct wf_program_params, rate, REAL, .def = "1e9", .min = "1", .max = "1e18",
                 .doc = "Instructions per second, if they are counted"),
    WF_PARAM_ROW(
        struct wf_program_params, stack, SIZE, .def = "0", .max = "16GiB",
        .doc =
            "Stack of each rank, at least 16KiB; only the used part takes memory. 0: 8MiB, or "
            "256KiB with more than 16,384 ranks"),
    WF_PARAM_ROW(struct wf_program_params, spare, COUNT, .def = "0", .max = "16777216",
                 .doc = "Ranks besides those of the run that wait until the program starts "
                        "them with MPI_Comm_spawn"),
    WF_PARAM_ROW(struct wf_program_params, kernels, TEXT, .def = "",
                 .doc = "File of functions, such as those of BLAS, that are not executed but "
                        "take the time of a formula of their arguments. Empty: none"),
    WF_PARAM_ROW(
        struct wf_program_params, spill, TEXT, .def = "",
        .doc = "Directory for a file that holds stacks and large blocks of ranks: the run "
               "may be larger than memory. Empty: none"),
    WF_PARAM_ROW(struct wf_program_params, labels, BOOL, .def = "false",
                 .doc = "Put the rank before each line of the standard output; lines of "
                        "different ranks never mix"),
    WF_PARAM_ROW(struct wf_program_params, no_payload, BOOL, .def = "false",
                 .doc = "Do not deliver data longer than run.payload_kept, only its time and, "
                        "from rank to rank, its ends: saves memory if the results of the "
                        "program do not matter"),
    WF_PARAM_ROW(struct wf_program_params, payload_kept, SIZE, .def = "8KiB", .min = "64B",
                 .max = "1GiB",
                 .doc = "With no_payload: data up to this size arrives; of longer messages "
                        "the first and the last half of it do, where programs put what "
                        "controls them"),
    WF_PARAM_ROW(struct wf_program_params, check, BOOL, .def = "false",
                 .doc = "Compare checksums of sent and received data: finds programs that "
                        "overwrite buffers in use"),
    WF_PARAM_ROW(struct wf_program_params, check_use, BOOL, .def = "false",
                 .doc = "Find errors in the use of MPI: unmatched messages, leaked requests, "
                        "arguments that do not fit, buffers in use, epochs of windows, "
                        "deadlocks; errors make the exit code 4. With 'all-orders' the program "
                        "runs again for each order in which its messages and requests could "
                        "complete"),
    WF_PARAM_ROW(struct wf_program_params, all_orders, BOOL, .def = "false",
                 .doc = "Find errors in the use of MPI in all orders in which messages and "
                        "requests could complete: --check=all-orders"),
    WF_PARAM_ROW(struct wf_program_params, orders_max, COUNT, .def = "1000", .min = "1",
                 .doc = "With all_orders: run the program at most so often"),
    WF_PARAM_ROW(struct wf_program_params, schedule, TEXT, .def = "",
                 .doc = "Repeat the order that all_orders found: words rank.number=outcome, "
                        "or 'default' for the first order"),
    WF_PARAM_ROW(struct wf_program_params, robust, BOOL, .def = "true",
                 .doc =
                     "Correct measured compute times that the operating system disturbed, by "
                     "those of the same place in other ranks and iterations"),
    WF_PARAM_ROW(struct wf_program_params, clock, ENUM, .def = "simulated",
                 .choices = clock_names,
                 .doc = "The clocks that the program reads and sleeps by, such as "
                        "gettimeofday and sleep: the simulated time, as MPI_Wtime, or the "
                        "host's"),
    WF_PARAM_END,
};

bool wf_program_is_checked(const struct wf_program_params *params)
{
    return params->check_use || params->all_orders || params->schedule[0] != '\0';
}

/* ---- arguments ---- */

char *wf_program_add_arg(char *args, const char *arg)
{
    size_t had = args != NULL ? strlen(args) : 0;
    char *out = wf_xrealloc(args, had + 2 * strlen(arg) + 4, 1);
    char *to = out + had;
    bool is_bare = arg[0] != '\0' && strpbrk(arg, " \t\n'\"\\") == NULL;

    if (had > 0) {
        *to++ = ' ';
    }
    if (!is_bare) {
        *to++ = '"';
    }
    for (; *arg != '\0'; arg++) {
        if (*arg == '"' || *arg == '\\') {
            *to++ = '\\';
        }
        *to++ = *arg;
    }
    if (!is_bare) {
        *to++ = '"';
    }
    *to = '\0';
    return out;
}

/* Copies one word to *to; returns the position after it, or null if a quote is not closed. */
static const char *take_word(const char *at, char **to)
{
    char quote = '\0';

    for (; *at != '\0' && (quote != '\0' || (*at != ' ' && *at != '\t')); at++) {
        if (quote != '\0' ? *at == quote : *at == '\'' || *at == '"') {
            if (quote != '\0') {
                quote = '\0';
            } else {
                quote = *at;
            }
        } else if (*at == '\\' && quote != '\'' && at[1] != '\0') {
            *(*to)++ = *++at;
        } else {
            *(*to)++ = *at;
        }
    }
    *(*to)++ = '\0';
    return quote == '\0' ? at : NULL;
}

/* The program's arguments, null-terminated, in one block of memory. */
static enum wf_status split(const char *program, const char *args, char ***out,
                            struct wf_err *err)
{
    const char *all = args;
    size_t most = strlen(args) / 2 + 3, length = strlen(program) + 1;
    char **argv = wf_xmalloc(most * sizeof(char *) + length + strlen(args) + 1);
    char *to = (char *)(argv + most);
    size_t n = 0;

    argv[n++] = memcpy(to, program, length);
    to += length;
    for (args += strspn(args, " \t"); args != NULL && *args != '\0';) {
        argv[n++] = to;
        args = take_word(args, &to);
        args = args != NULL ? args + strspn(args, " \t") : NULL;
    }
    if (args == NULL) {
        free(argv);
        return wf_err_set(err, WF_EUSAGE, "run.args: a quote is not closed in: %.200s", all);
    }
    argv[n] = NULL;
    *out = argv;
    return WF_OK;
}

/* Ranks get the usual stack size of processes. With very many ranks stacks are smaller, to save
 * address space and page tables. */
static size_t stack_of(const struct wf_program_params *params, uint32_t n_ranks)
{
    enum { MANY_RANKS = 16384, USUAL = 8 << 20, SMALL = 256 << 10 };

    if (params->stack != 0) {
        return params->stack;
    }
    return n_ranks > MANY_RANKS ? SMALL : USUAL;
}

enum wf_status wf_program_open(const char *path, const struct wf_program_params *params,
                               const struct wf_program_run *run, struct wf_source **out,
                               struct wf_err *err)
{
    if (params->stack != 0 && params->stack < LEAST_STACK) {
        return wf_err_set(err, WF_EUSAGE, "run.stack: a rank needs a stack of at least 16KiB");
    }
    char **argv = NULL;
    WF_TRY(split(path, params->args, &argv, err));
    const struct wf_vrank_config config = {
        .argv = argv,
        .n_ranks = run->n_ranks + (uint32_t)params->spare,
        .n_spare = (uint32_t)params->spare,
        .stack_bytes = stack_of(params, run->n_ranks + (uint32_t)params->spare),
        .compute = (enum wf_vrank_compute)params->compute,
        .rate = params->rate,
        .kernels = params->kernels,
        .seed = run->seed,
        .spill = params->spill,
        .labels = params->labels,
        .payload_kept = params->no_payload ? params->payload_kept : UINT64_MAX,
        .check = params->check,
        .check_use = wf_program_is_checked(params),
        .schedule = params->schedule,
        .cores = run->cores,
        .scale = run->scale,
        .host_clock = params->clock != 0,
        .copies = run->threads > 0 ? run->threads : 1,
    };
    enum wf_status status = wf_vrank_source_new(&config, out, err);

    if (status != WF_OK) {
        free(argv);
    }
    return status;
}
