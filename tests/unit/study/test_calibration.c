/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/calibration.h"

#include "base/mem.h"
#include "harness/wf_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct wf_points_host host = {.jobs = 1};

/* A machine with known parameters: what a calibration would have measured on it. */
struct truth {
    const char *model, *topology; /* the topology that the fit is told */
    const char *settings[12][2];
    uint64_t ranks, eager_max;
    double call; /* ns */
    uint64_t cores;
};

static void add(struct wf_calibration *measured, const char *kind, int second, int rounds,
                int bytes)
{
    char line[160];
    double progress = 0;

    (void)snprintf(line, sizeof(line), "measure %s 0 %d %d %d %d 9 2 2 2 2", kind, second,
                   rounds, bytes >= 65536 && strcmp(kind, "exchange") == 0 ? 1 : 0, bytes);
    wf_calibration_line(measured, line, &progress);
}

static void measure(const struct truth *truth, struct wf_calibration *measured)
{
    static const char *const many[] = {"incast", "outcast", "bisection", "allpairs"};
    static const int sizes[] = {1, 1024, 8192, 65536, 262144};
    struct wf_calibration_model *model = wf_xcalloc(1, sizeof(*model));
    struct wf_err err = {.status = WF_OK};

    *measured = (struct wf_calibration){.n_ranks = truth->ranks,
                                        .send = truth->call,
                                        .take = truth->call,
                                        .stream = truth->call,
                                        .eager_max = truth->eager_max,
                                        .cores = truth->cores,
                                        .has_limit = true};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        add(measured, "pingpong", 1, 2, sizes[i]);
        add(measured, "exchange", 1, 2, sizes[i]);
        for (size_t k = 0; k < 4 && truth->ranks > 2 && i > 0; k++) {
            add(measured, many[k], 0, 1, sizes[i]);
        }
        for (int members = 4; members <= (int)truth->ranks && truth->cores > 0; members *= 2) {
            add(measured, "butterfly", members - 1, 10, sizes[i]);
        }
    }
    model->name = truth->model;
    for (; truth->settings[model->n][0] != NULL; model->n++) {
        (void)snprintf(model->settings[model->n].key, sizeof(model->settings[0].key), "%s",
                       truth->settings[model->n][0]);
        model->settings[model->n].text = wf_xstrdup(truth->settings[model->n][1]);
        model->settings[model->n].number = strtod(truth->settings[model->n][1], NULL);
    }
    CHECK(wf_calibration_predict(measured, model, &host, &err) == WF_OK);
    CHECK_STR(err.text, "");
    for (size_t i = 0; i < measured->n; i++) {
        measured->measures[i].ns = model->predicted[i];
        CHECK(model->predicted[i] > 0);
    }
    for (size_t i = 0; i < model->n; i++) {
        free(model->settings[i].text);
    }
    free(model);
}

static double found(const struct wf_calibration_model *model, const char *key)
{
    for (size_t i = 0; model != NULL && i < model->n; i++) {
        if (strcmp(model->settings[i].key, key) == 0) {
            return model->settings[i].number;
        }
    }
    return 0;
}

static const char *text_of(const struct wf_calibration_model *model, const char *key)
{
    for (size_t i = 0; i < model->n; i++) {
        if (strcmp(model->settings[i].key, key) == 0) {
            return model->settings[i].text;
        }
    }
    return "";
}

/* Fits the measurements of the machine; `own` is the fit of its own model. */
static void fit_machine(const struct truth *truth, struct wf_calibration_fit *fit,
                        const struct wf_calibration_model **own)
{
    struct wf_calibration *measured = wf_xcalloc(1, sizeof(*measured));
    struct wf_err err = {.status = WF_OK};

    measure(truth, measured);
    CHECK(wf_calibration_fit(measured, truth->topology, &host, fit, &err) == WF_OK);
    CHECK_STR(err.text, "");
    CHECK(fit->n == WF_CALIBRATION_MODELS);
    for (size_t i = 0; i < fit->n; i++) {
        *own = strcmp(fit->models[i].name, truth->model) == 0 ? &fit->models[i] : *own;
    }
    free(measured);
}

static void release(struct wf_calibration_fit *fit)
{
    wf_calibration_fit_release(fit);
    free(fit);
}

#define CHECK_NEAR(value, expected, part) CHECK(fabs((value) / (expected)-1) < (part))

/* Two leaves of two hosts with a slower link between them: only a model with links describes
 * it, and the fit finds the bandwidth of both classes. */
static void finds_the_links_of_a_tree(void)
{
    const struct truth truth = {.model = "packet",
                                .topology = "fattree:2x2,up=1x1",
                                .settings = {{"network", "packet"},
                                             {"topology", "fattree:2x2,up=1x1"},
                                             {"net.packet", "1448"},
                                             {"net.router_delay", "0"},
                                             {"net.bandwidth", "10MB/s"},
                                             {"net.links.level1.bandwidth", "6MB/s"},
                                             {"net.link_latency", "5us"},
                                             {"node.o_send", "2us"},
                                             {"node.o_recv", "2us"}},
                                .ranks = 4,
                                .eager_max = UINT64_MAX,
                                .call = 2000};
    const struct wf_calibration_model *own = NULL;
    struct wf_calibration_fit *fit = wf_xcalloc(1, sizeof(*fit));

    fit_machine(&truth, fit, &own);
    CHECK_NEAR(found(own, "net.bandwidth"), 10e6, 0.03);
    CHECK_NEAR(found(own, "net.links.level1.bandwidth"), 6e6, 0.03);
    CHECK_NEAR(found(own, "net.link_latency"), 5000, 0.1);
    CHECK(own != NULL && own->error < 0.02);
    CHECK_STR(fit->models[fit->best].name, "packet");
    release(fit);
}

/* Eight hosts on two cores: ranks take turns, which only patterns of many ranks show. */
static void finds_the_turns_on_shared_cores(void)
{
    const struct truth truth = {.model = "packet",
                                .topology = "star:8",
                                .settings = {{"network", "packet"},
                                             {"topology", "star:8"},
                                             {"net.packet", "1448"},
                                             {"net.router_delay", "0"},
                                             {"net.bandwidth", "6MB/s"},
                                             {"net.link_latency", "5us"},
                                             {"node.o_send", "2us"},
                                             {"node.o_recv", "2us"},
                                             {"node.poll", "20000ns"}},
                                .ranks = 8,
                                .eager_max = UINT64_MAX,
                                .call = 2000,
                                .cores = 2};
    const struct wf_calibration_model *own = NULL;
    struct wf_calibration_fit *fit = wf_xcalloc(1, sizeof(*fit));

    fit_machine(&truth, fit, &own);
    CHECK_NEAR(found(own, "node.poll"), 20000, 0.25);
    for (size_t i = 0; i < fit->n; i++) { /* computing shares the cores in every model */
        CHECK_STR(text_of(&fit->models[i], "node.host_cores"), "2");
    }
    CHECK_NEAR(found(own, "net.bandwidth"), 6e6, 0.03);
    CHECK(own != NULL && fabs(own->model_percent - 5) < 1e-9); /* the least */
    CHECK(fit->models[1].model_percent > 20);                  /* latency lacks contention */
    release(fit);
}

/* Short messages pass a traffic shaper at once. */
static void find_burst(const char *burst, double bytes)
{
    const struct truth truth = {.model = "packet",
                                .settings = {{"network", "packet"},
                                             {"topology", "star:2"},
                                             {"net.packet", "1448"},
                                             {"net.router_delay", "0"},
                                             {"net.bandwidth", "6MB/s"},
                                             {"net.burst", burst},
                                             {"net.link_latency", "5us"},
                                             {"node.o_send", "2us"},
                                             {"node.o_recv", "2us"}},
                                .ranks = 2,
                                .eager_max = UINT64_MAX,
                                .call = 2000};
    const struct wf_calibration_model *own = NULL;
    struct wf_calibration_fit *fit = wf_xcalloc(1, sizeof(*fit));

    fit_machine(&truth, fit, &own);
    CHECK_NEAR(found(own, "net.bandwidth"), 6e6, 0.03);
    CHECK_NEAR(found(own, "net.burst"), bytes, 0.1);
    CHECK_NEAR(found(own, "net.link_latency"), 5000, 0.1);
    release(fit);
}

static void finds_the_burst_of_a_shaper(void)
{
    find_burst("4000B", 4000);
    find_burst("2112B", 2112);
    find_burst("1500B", 1500);
}

static void finds_distance_without_contention(void)
{
    const struct truth truth = {.model = "latency",
                                .topology = "ring:4",
                                .settings = {{"network", "latency"},
                                             {"topology", "ring:4"},
                                             {"net.bandwidth", "2GB/s"},
                                             {"net.link_latency", "3us"},
                                             {"node.o_send", "500ns"},
                                             {"node.o_recv", "500ns"},
                                             {"mpi.eager_max", "20000"}},
                                .ranks = 4,
                                .eager_max = 20000,
                                .call = 500};
    const struct wf_calibration_model *own = NULL;
    struct wf_calibration_fit *fit = wf_xcalloc(1, sizeof(*fit));

    fit_machine(&truth, fit, &own);
    CHECK_NEAR(found(own, "net.bandwidth"), 2e9, 0.03);
    CHECK_NEAR(found(own, "net.link_latency"), 3000, 0.05);
    CHECK_STR(fit->models[fit->best].name, "latency");
    release(fit);
}

/* Messages of a size that one bandwidth does not describe: the table of LogGP does. */
static void finds_loggp_between_two_ranks(void)
{
    const struct truth truth = {
        .model = "loggp",
        .settings = {{"network", "loggp"},
                     {"net.L", "2us"},
                     {"net.o", "400ns"},
                     {"net.g", "400ns"},
                     {"net.bandwidth", "1GB/s"},
                     {"net.sizes", "1024:9us,16384:10us,65536:500us,262144:600us"}},
        .ranks = 2,
        .eager_max = UINT64_MAX,
        .call = 400};
    const struct wf_calibration_model *own = NULL;
    struct wf_calibration_fit *fit = wf_xcalloc(1, sizeof(*fit));

    fit_machine(&truth, fit, &own);
    CHECK(own != NULL && own->error < 0.02);
    CHECK_NEAR(found(own, "net.L"), 2000, 0.05);
    CHECK_STR(fit->models[fit->best].name, "loggp");
    release(fit);
}

static void reads_what_was_measured(void)
{
    struct wf_calibration *measured = wf_xcalloc(1, sizeof(*measured));
    double progress = 0;
    static const char *const lines[] = {
        "host 0 alpha",
        "host 1 beta",
        "ranks 2",
        "progress 0.42",
        "a line of the launcher",
        "measure exchange 0 1 8 50000 16384 5 30e6 29e6 31e6 28e6",
        "measure pingpong 0 1 10 0 1 5 300000 200000 400000 100000",
        "measure nonsense 0 1 10 0 1 5 3 2 4 1",
        "measure pingpong 0 1 10 0 1 5 3",
        "measure pingpong 0 1 10 0 1 5 -3 2 4 1",
        "measure pingpong 0 1 10 0 1e14 5 3e9 2e9 4e9 1e9",
        "eager 65472",
        "overlap 0.03",
        "send 812.5",
        "lost 1 27.5",
        "lost 0 3.5",
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        wf_calibration_line(measured, lines[i], &progress);
    }
    CHECK(measured->n == 2 && measured->n_ranks == 2 && !measured->one_host);
    CHECK_STR(measured->host, "alpha");
    CHECK(fabs(progress - 0.42) < 1e-9 && fabs(measured->send - 812.5) < 1e-9);
    CHECK(measured->measures[0].kind == WF_CALIBRATION_EXCHANGES);
    CHECK(fabs(measured->measures[0].ns - 30e6) < 1);
    /* It was disturbed: the least time counts. */
    CHECK(fabs(measured->measures[1].ns - 100000) < 1);
    CHECK(measured->has_limit && measured->eager_max == 65472);
    CHECK(measured->overlap < 0.1 && measured->overlap > 0);
    CHECK(fabs(measured->lost - 15.5) < 1e-9);
    free(measured);
}

static void refuses_what_cannot_be(void)
{
    struct wf_calibration *measured = wf_xcalloc(1, sizeof(*measured));
    struct wf_calibration_fit *fit = wf_xcalloc(1, sizeof(*fit));
    struct wf_err err = {.status = WF_OK};

    CHECK(wf_calibration_fit(measured, NULL, &host, fit, &err) == WF_EINVAL);
    release(fit);
    free(measured);
}

int main(void)
{
    RUN_ONE_THREAD(reads_what_was_measured);
    RUN_ONE_THREAD(refuses_what_cannot_be);
    RUN_ONE_THREAD(finds_the_links_of_a_tree);
    if (WF_TEST_ONE_IN == 1) { /* eight ranks: the longest of the fits */
        RUN_ONE_THREAD(finds_the_turns_on_shared_cores);
    }
    RUN_ONE_THREAD(finds_the_burst_of_a_shaper);
    RUN_ONE_THREAD(finds_distance_without_contention);
    RUN_ONE_THREAD(finds_loggp_between_two_ranks);
    return wf_test_done();
}
