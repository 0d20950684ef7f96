/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts a program that callbacks describe: ranks on a line exchange their borders and compute.
 * Prints the time on a machine, and where it goes.
 *
 *     cc halo.c $(pkg-config --cflags --libs weft) -o halo && ./halo frontier 64
 */
#include <stdio.h>
#include <stdlib.h>
#include <weft/trace.h>

enum { STEPS = 20, BORDER = 64 * 1024 };

static struct weft_op op(const char *kind)
{
    return (struct weft_op){.size = sizeof(struct weft_op), .kind = weft_op_kind(kind)};
}

/* Sends to a neighbour and receives from it at the same time. */
static struct weft_op exchange(uint32_t with)
{
    struct weft_op both = op("sendrecv");

    both.peer = both.recv_peer = with;
    both.bytes = both.recv_bytes = BORDER;
    return both;
}

static enum weft_code write_rank(void *arg, struct weft_trace_writer *writer, uint32_t rank,
                                 struct weft_error *error)
{
    const uint32_t *ranks = arg;
    struct weft_op left = exchange(rank > 0 ? rank - 1 : WEFT_PROC_NULL);
    struct weft_op right = exchange(rank + 1 < *ranks ? rank + 1 : WEFT_PROC_NULL);
    struct weft_op compute = op("compute");
    enum weft_code code = WEFT_OK;

    compute.duration_ps = 200000000; /* 200 us */
    const struct weft_op *const ops[] = {&left, &right, &compute};
    for (int i = 0; i < STEPS * 3 && code == WEFT_OK; i++) {
        code = weft_trace_add(writer, rank, ops[i % 3], error);
    }
    return code;
}

static bool show_progress(void *arg, double fraction, int64_t time_ps)
{
    fprintf(stderr, "%.0f %%\n", 100 * fraction);
    return true; /* go on */
}

static void print_result(const struct weft_result *result)
{
    struct weft_value value;

    printf("%.3f ms\n", (double)weft_result_predicted_time_ps(result) / 1e9);
    for (size_t i = 0; weft_result_child(result, "result", i, &value); i++) {
        if (value.type == WEFT_COUNT || value.type == WEFT_REAL) {
            printf("%-32s %g %s\n", value.name, value.real,
                   value.unit != NULL ? value.unit : "");
        }
    }
}

int main(int argc, char **argv)
{
    const char *machine = argc > 1 ? argv[1] : "frontier";
    uint32_t ranks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 64;
    const struct weft_program program = {
        .size = sizeof(program), .ranks = ranks, .write = write_rank, .arg = &ranks};
    const struct weft_run_options options = {.size = sizeof(options),
                                             .progress = show_progress};
    struct weft_scenario *scenario = weft_scenario_new();
    struct weft_result *result = NULL;
    struct weft_error error = {.code = WEFT_OK};

    if (weft_scenario_machine(scenario, machine, &error) == WEFT_OK &&
        weft_scenario_program(scenario, &program, &error) == WEFT_OK &&
        weft_run_with(scenario, &options, &result, &error) == WEFT_OK) {
        print_result(result);
    } else {
        fprintf(stderr, "halo: %s\n", error.text);
    }
    weft_result_free(result);
    weft_scenario_free(scenario);
    return (int)error.code;
}
