/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices: memory, copies, launches and the barriers of kernels, on the host's back end. With
 * WEFT_GPU=1 in the environment the same on a GPU (`make test-gpu`).
 */
#include "harness/wf_test.h"
#include "model/net/router/gpu/gpu.h"
#include "unit/gpu/kernels.h"

#include <time.h>

const struct wf_gpu_program *test_gpu_program(void);

static int backend = 2; /* of wf_gpu_names: host */
static struct wf_gpu *gpu;
static struct wf_err err;

static const struct wf_gpu_ops *ops(void)
{
    return gpu->ops;
}

static double seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void opens(void)
{
    struct wf_gpu_facts facts;

    CHECK_STR(wf_gpu_names[0], "auto");
    CHECK_STR(wf_gpu_names[2], "host");
    CHECK(wf_gpu_open(backend, &gpu, &err) == WF_OK);
    CHECK(ops()->facts(gpu, &facts, &err) == WF_OK);
    CHECK(facts.name[0] != '\0' && facts.memory_free > 0 && facts.threads_max > 0);
    CHECK(facts.memory_free <= facts.memory_total && facts.shared_max >= 1024);
    printf("# %s, %u processors, %.1f of %.1f GiB free, %u threads, %u bytes shared\n",
           facts.name, facts.processors, (double)facts.memory_free / 0x1p30,
           (double)facts.memory_total / 0x1p30, facts.threads_max, facts.shared_max);
    double begin = seconds();
    CHECK(ops()->load(gpu, test_gpu_program(), &err) == WF_OK);
    printf("# kernels loaded in %.3f s\n", seconds() - begin);
}

static void copies(void)
{
    uint64_t words[64], back[64];
    wf_gpu_address at = 0;

    for (uint64_t i = 0; i < 64; i++) {
        words[i] = i * i + 1;
    }
    CHECK(ops()->allocate(gpu, sizeof(words), &at, &err) == WF_OK && at != 0);
    CHECK(ops()->copy_in(gpu, at, words, sizeof(words), &err) == WF_OK);
    CHECK(ops()->zero(gpu, at + 16, 24, &err) == WF_OK);
    CHECK(ops()->copy_out(gpu, back, at, sizeof(back), &err) == WF_OK);
    for (uint64_t i = 0; i < 64; i++) {
        CHECK_U64(back[i], i >= 2 && i < 5 ? 0 : words[i]);
    }
    ops()->release(gpu, at);
    ops()->release(gpu, 0);
}

static void counts(void)
{
    enum { N = 10000 };
    uint64_t sums[CLASSES + 2] = {0}, want[CLASSES] = {0}, most = 0;
    uint32_t bits = 0;
    wf_gpu_address at = 0;
    struct wf_gpu_facts facts;

    CHECK(ops()->facts(gpu, &facts, &err) == WF_OK);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t number = mix(i);
        want[number % CLASSES]++;
        most = number > most ? number : most;
        bits |= number & 0xff00;
    }
    CHECK(ops()->allocate(gpu, sizeof(sums), &at, &err) == WF_OK);
    CHECK(ops()->zero(gpu, at, sizeof(sums), &err) == WF_OK);
    struct count_args args = {wf_gpu_pointer(at), wf_gpu_pointer(at + 8 * CLASSES),
                              wf_gpu_pointer(at + 8 * CLASSES + 8), N};
    const struct wf_gpu_launch launch = {.kernel = "wf_gpu_count",
                                         .blocks = 5,
                                         .threads =
                                             facts.threads_max < 128 ? facts.threads_max : 128,
                                         .shared = CLASSES * 4,
                                         .args = &args,
                                         .args_size = sizeof(args)};
    CHECK(ops()->launch(gpu, &launch, &err) == WF_OK);
    CHECK(ops()->wait(gpu, &err) == WF_OK);
    CHECK(ops()->copy_out(gpu, sums, at, sizeof(sums), &err) == WF_OK);
    for (uint32_t i = 0; i < CLASSES; i++) {
        CHECK_U64(sums[i], want[i]);
    }
    CHECK_U64(sums[CLASSES], most);
    CHECK_U64(sums[CLASSES + 1], bits);
    ops()->release(gpu, at);
}

/* The numbers of the ring after all turns, by the host. */
static void ring_by_host(uint32_t *cells, uint32_t n, uint32_t turns)
{
    for (uint32_t turn = 1; turn <= turns; turn++) {
        const uint32_t *from = cells + (turn & 1 ? 0 : n);
        uint32_t *to = cells + (turn & 1 ? n : 0);
        for (uint32_t i = 0; i < n; i++) {
            to[i] = from[i == 0 ? n - 1 : i - 1] + 3 * from[i + 1 == n ? 0 : i + 1];
        }
    }
}

static void waits(void)
{
    enum { N = 100 * 1000, TURNS = 60 };
    static uint32_t cells[2 * N], back[2 * N];
    wf_gpu_address at = 0, count = 0;
    struct wf_gpu_facts facts;
    uint32_t blocks = 0;

    CHECK(ops()->facts(gpu, &facts, &err) == WF_OK);
    for (uint32_t i = 0; i < 2 * N; i++) {
        cells[i] = mix(i);
    }
    CHECK(ops()->allocate(gpu, sizeof(cells), &at, &err) == WF_OK);
    CHECK(ops()->allocate(gpu, 4, &count, &err) == WF_OK);
    CHECK(ops()->copy_in(gpu, at, cells, sizeof(cells), &err) == WF_OK);
    CHECK(ops()->zero(gpu, count, 4, &err) == WF_OK);
    struct ring_args args = {wf_gpu_pointer(at), wf_gpu_pointer(count), N, TURNS};
    struct wf_gpu_launch launch = {.kernel = "wf_gpu_ring",
                                   .threads = facts.threads_max < 256 ? facts.threads_max : 256,
                                   .together = true,
                                   .args = &args,
                                   .args_size = sizeof(args)};
    CHECK(ops()->resident(gpu, &launch, &blocks, &err) == WF_OK && blocks > 0);
    launch.blocks = blocks;
    CHECK(ops()->launch(gpu, &launch, &err) == WF_OK);
    CHECK(ops()->copy_out(gpu, back, at, sizeof(back), &err) == WF_OK);
    ring_by_host(cells, N, TURNS);
    CHECK(memcmp(back, cells, sizeof(cells)) == 0);

    /* Only barriers: for the cost, which is printed. */
    args.n = 0;
    args.turns = backend == 1 ? 100000 : 100;
    CHECK(ops()->zero(gpu, count, 4, &err) == WF_OK);
    CHECK(ops()->wait(gpu, &err) == WF_OK);
    double begin = seconds();
    CHECK(ops()->launch(gpu, &launch, &err) == WF_OK);
    CHECK(ops()->wait(gpu, &err) == WF_OK);
    printf("# a barrier of %u blocks of %u threads: %.3f us\n", blocks, launch.threads,
           (seconds() - begin) / args.turns * 1e6);
    ops()->release(gpu, at);
    ops()->release(gpu, count);
}

static void fails(void)
{
    struct wf_gpu_launch launch = {.kernel = "wf_gpu_nothing", .blocks = 1, .threads = 1};

    CHECK(ops()->launch(gpu, &launch, &err) == WF_EIO);
    CHECK(strstr(err.text, "wf_gpu_nothing") != NULL);
    printf("# %s\n", err.text);
}

/* What belongs to a device ends with it, and with no other one. That memory which was not released is
 * freed is for LeakSanitizer to see. */
static void closes(void)
{
    const uint64_t word = 7;
    uint64_t back = 0;
    struct wf_gpu *other = NULL;
    wf_gpu_address at = 0;

    CHECK(wf_gpu_open(backend, &other, &err) == WF_OK);
    CHECK(other->ops->allocate(other, sizeof(word), &at, &err) == WF_OK && at != 0);
    wf_gpu_close(gpu);
    wf_gpu_close(NULL);
    CHECK(other->ops->copy_in(other, at, &word, sizeof(word), &err) == WF_OK);
    CHECK(other->ops->copy_out(other, &back, at, sizeof(back), &err) == WF_OK);
    CHECK_U64(back, word);
    other->ops->release(other, at);
    wf_gpu_close(other);
    CHECK(wf_gpu_open(backend, &gpu, &err) == WF_OK);
    CHECK(ops()->allocate(gpu, sizeof(word), &at, &err) == WF_OK && at != 0);
    ops()->release(gpu, at);
    wf_gpu_close(gpu);
}

static void run_all(void)
{
    RUN(opens);
    if (gpu != NULL) {
        RUN(copies);
        RUN(counts);
        RUN(waits);
        RUN(fails);
        RUN(closes);
    }
    gpu = NULL;
}

int main(void)
{
    const char *wanted = getenv("WEFT_GPU");

    run_all();
    if (wanted != NULL && strcmp(wanted, "1") == 0) {
        backend = 1;
        run_all();
    }
    return wf_test_done();
}
