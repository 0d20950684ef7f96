/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/result/doc.h"
#include "model/topo/classes.h"
#include "model/topo/topo.h"
#include "run/execute/run.h"
#include "run/scenario/scenario.h"
#include "ui/study/calibration.h"
#include "ui/study/calibration_errors.h"
#include "ui/study/calibration_settings.h"
#include "ui/study/fit_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLASSES_MAX = 6,     /* link classes that are fitted separately */
    PACKET_BYTES = 1448, /* the data of a full TCP segment in an Ethernet frame */
    HEADER_BYTES = 66,   /* of Ethernet, IP and TCP with time stamps */
    SWEEPS_MAX = 24,
};

static const double first_step = 0.2, last_step = 0.008;
static const double better_by = 0.99;        /* a table must reduce the error to this part... */
static const double clearly_better_by = 0.9; /* ...an option to this one... */
static const double far_better_by = 0.6;     /* ...and one that changes much to this one */
/* A table of forty numbers must reduce it further, unless it is known to matter: ranks of one
 * host copy all data with their CPUs. */
static const double much_better_by = 0.8;
/* The first model generalises best: another must be better by this. */
static const double preferred_by = 0.7, preferred_points = 0.005;
static const double tcp_rate_max = 5e9; /* bytes per second: faster is not TCP */
static const double change_max = 4;     /* the most by which a direct estimate is changed */
static const double noise_floor = 0.02, error_max = 1;

struct fitting {
    const struct wf_calibration *measured;
    const struct wf_points_host *host;
    const char *spec; /* of the topology */
    const struct wf_topo *topo;
    struct wf_fit pair; /* LogGP between two ranks */
    bool *chosen;       /* measurements that the parameters are fitted to */
    const struct wf_calibration_model *model;
    double *predicted; /* of this model */
    /* What is simulated: */
    uint64_t from, to;     /* sizes of messages */
    bool meets;            /* also patterns in which messages meet */
    bool two_ranks;        /* only patterns of two ranks */
    bool crowded;          /* only patterns of more ranks than cores */
    bool all;              /* all measurements, not only the chosen ones */
    struct wf_err *errors; /* one for each measurement */
};

/* ---- simulation ---- */

static void set(struct wf_scenario *scenario, const char *key, const char *value,
                struct wf_err *err)
{
    if (err->status == WF_OK) {
        err->status = wf_scenario_set(scenario, key, value, NULL, err);
    }
}

static void set_count(struct wf_scenario *scenario, const char *key, uint64_t value,
                      struct wf_err *err)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    set(scenario, key, text, err);
}

/* How many ranks take part in a measurement; the others sleep. */
static uint64_t active_ranks(const struct wf_calibration *measured,
                             const struct wf_calibration_measure *m)
{
    return m->kind <= WF_CALIBRATION_EXCHANGES   ? 2
           : m->kind == WF_CALIBRATION_BUTTERFLY ? m->second + 1
                                                 : measured->n_ranks;
}

static bool is_crowded(const struct wf_calibration *measured,
                       const struct wf_calibration_measure *m)
{
    return measured->cores > 0 && active_ranks(measured, m) > measured->cores;
}

/* Ranks that sleep do not take turns on the cores: what node.poll is without node.host_cores. */
static double poll_of(const struct wf_calibration *measured,
                      const struct wf_calibration_measure *m, double poll)
{
    double cores = (double)measured->cores;

    return is_crowded(measured, m) ? poll * (double)active_ranks(measured, m) / cores : 0;
}

/* Sets a setting of the model, as it is in a simulation of the measurement. */
static void set_for(const struct fitting *fitting, const struct wf_calibration_measure *m,
                    const struct wf_calibration_setting *setting, struct wf_scenario *scenario,
                    struct wf_err *err)
{
    char text[48];

    if (strcmp(setting->key, "node.host_cores") == 0) {
        return;
    }
    if (strcmp(setting->key, "node.poll") == 0) {
        wf_calibration_format(setting->key, poll_of(fitting->measured, m, setting->number),
                              text, sizeof(text));
        set(scenario, setting->key, text, err);
        return;
    }
    set(scenario, setting->key, setting->text, err);
}

/* The scenario that repeats a measurement on the model. */
static void describe(const struct fitting *fitting, const struct wf_calibration_measure *m,
                     struct wf_scenario *scenario, struct wf_err *err)
{
    const struct wf_calibration_model *model = fitting->model;
    enum wf_calibration_kind kind =
        m->kind == WF_CALIBRATION_EXCHANGES ? WF_CALIBRATION_EXCHANGE : m->kind;
    char lag[32];

    (void)snprintf(lag, sizeof(lag), "%.0fps", m->lag * 1e3);
    for (size_t i = 0; i < model->n; i++) {
        set_for(fitting, m, &model->settings[i], scenario, err);
    }
    set(scenario, "source", "gen:pattern", err);
    set(scenario, "placement", "linear", err);
    set_count(scenario, "ranks", fitting->measured->n_ranks, err);
    set(scenario, "gen.kind", wf_calibration_kind_names[kind], err);
    set_count(scenario, "gen.first", m->first, err);
    set_count(scenario, "gen.second", m->second, err);
    set_count(scenario, "gen.bytes", m->bytes, err);
    set_count(scenario, "gen.rounds", m->rounds, err);
    set(scenario, "gen.lag", lag, err);
}

static bool is_wanted(const struct fitting *fitting, size_t i)
{
    uint64_t bytes = fitting->measured->measures[i].bytes;

    enum wf_calibration_kind kind = fitting->measured->measures[i].kind;
    bool meets = kind == WF_CALIBRATION_EXCHANGE || kind == WF_CALIBRATION_EXCHANGES ||
                 kind >= WF_CALIBRATION_BISECTION;

    if (fitting->two_ranks && kind > WF_CALIBRATION_EXCHANGES) {
        return false;
    }
    if (fitting->crowded && !is_crowded(fitting->measured, &fitting->measured->measures[i])) {
        return false;
    }
    return fitting->all || (fitting->chosen[i] && (!meets || fitting->meets) &&
                            bytes >= fitting->from && bytes <= fitting->to);
}

static bool simulate(void *arg, size_t i)
{
    struct fitting *fitting = arg;
    struct wf_err *err = &fitting->errors[i];
    const struct wf_sim_host host = {.stop = fitting->host->stop};
    struct wf_value *doc = NULL;

    fitting->predicted[i] = 0;
    if (!is_wanted(fitting, i)) {
        return true;
    }
    *err = (struct wf_err){.status = WF_OK};
    struct wf_scenario *scenario = wf_scenario_new();
    describe(fitting, &fitting->measured->measures[i], scenario, err);
    if (err->status == WF_OK) {
        err->status = wf_sim_run(scenario, &host, &doc, err);
    }
    if (err->status == WF_OK) {
        fitting->predicted[i] =
            (double)wf_doc_get_count(doc, "result.predicted_time_ps", 0) / 1e3;
    }
    wf_doc_free(doc);
    wf_scenario_free(scenario);
    return true;
}

static double weight(const struct wf_calibration_measure *m)
{
    return 1 / (noise_floor + m->spread);
}

/* The mean error of the model, as a logarithm; noisy measurements count less. Infinite if a
 * simulation failed. */
static double judge(struct fitting *fitting, const struct wf_calibration_model *model,
                    double *predicted)
{
    const struct wf_points_host quiet = {.jobs = fitting->host->jobs,
                                         .stop = fitting->host->stop};
    double sum = 0, weights = 0;

    fitting->model = model;
    fitting->predicted = predicted;
    if (!wf_points_run(&quiet, fitting->measured->n, 0, simulate, fitting)) {
        return (double)INFINITY;
    }
    for (size_t i = 0; i < fitting->measured->n; i++) {
        const struct wf_calibration_measure *m = &fitting->measured->measures[i];
        if (!is_wanted(fitting, i)) {
            continue;
        }
        if (!(predicted[i] > 0)) {
            return (double)INFINITY;
        }
        double off = fabs(log(predicted[i] / m->ns));
        sum += weight(m) * (off < error_max ? off : error_max);
        weights += weight(m);
    }
    return weights > 0 ? sum / weights : 0;
}

/* ---- parameters ---- */

static double try_number(struct fitting *fitting, struct wf_calibration_model *model, size_t i,
                         double number)
{
    model->settings[i].number = number;
    wf_calibration_set_number(model, model->settings[i].key, number, model->settings[i].note);
    return judge(fitting, model, model->predicted);
}

/* The sizes that determine a parameter. Others would only add their noise. */
static void look_at(struct fitting *fitting, const char *key)
{
    bool is_rate = strstr(key, "bandwidth") != NULL, is_burst = strcmp(key, "net.burst") == 0;

    fitting->crowded = strcmp(key, "node.poll") == 0;
    fitting->meets = strcmp(key, "net.bandwidth") != 0;
    fitting->two_ranks = !is_rate && !fitting->crowded; /* others disturb each other */
    fitting->from = is_rate ? WF_CALIBRATION_LARGE : is_burst ? WF_CALIBRATION_BURST_FROM : 0;
    fitting->to = is_rate    ? UINT64_MAX
                  : is_burst ? WF_CALIBRATION_BURST_TO
                             : WF_CALIBRATION_SMALL;
}

static void look_at_all(struct fitting *fitting)
{
    fitting->from = 0;
    fitting->to = UINT64_MAX;
    fitting->meets = true;
    fitting->two_ranks = false;
    fitting->crowded = false;
}

/* Moves one parameter to the better of two neighbours; returns whether one was better. */
static bool improve(struct fitting *fitting, struct wf_calibration_model *model, size_t i,
                    double step)
{
    double old = model->settings[i].number;
    const double tries[] = {old * (1 + step), old / (1 + step)};

    look_at(fitting, model->settings[i].key);
    double least = try_number(fitting, model, i, old);
    for (size_t k = 0; k < 2; k++) {
        double ratio = tries[k] / model->settings[i].start;
        if (ratio > change_max || ratio < 1 / change_max) {
            continue;
        }
        if (try_number(fitting, model, i, tries[k]) < least) {
            model->settings[i].number = tries[k];
            return true;
        }
    }
    model->settings[i].number = old;
    wf_calibration_set_number(model, model->settings[i].key, old, model->settings[i].note);
    return false;
}

/* Varies one parameter after another, by smaller and smaller steps. Returns the error. */
static double descend(struct fitting *fitting, struct wf_calibration_model *model, double step)
{
    for (int sweep = 0; step > last_step && sweep < SWEEPS_MAX; sweep++) {
        bool better = false;
        for (size_t i = 0; i < model->n; i++) {
            if (model->settings[i].number > 0 && improve(fitting, model, i, step)) {
                better = true;
            }
        }
        step = better ? step : step / 2;
    }
    look_at_all(fitting);
    return judge(fitting, model, model->predicted);
}

/* Sets an option if the error is then below `most`. Returns the error with the option. */
static double try_option(struct fitting *fitting, struct wf_calibration_model *model,
                         const char *const option[2], double most)
{
    const char *key = option[0], *value = option[1];
    const struct wf_calibration_setting *before = wf_calibration_find(model, key);
    char *old = before != NULL ? wf_xstrdup(before->text) : NULL;

    wf_calibration_set(model, key, value, "the option that fits better");
    double error = judge(fitting, model, model->predicted);
    if (!(error < most) && old != NULL) {
        wf_calibration_set(model, key, old, "choice");
    } else if (!(error < most)) {
        wf_calibration_remove(model, key);
    }
    free(old);
    return error;
}

/* ---- models ---- */

static double overheads(const struct fitting *fitting, double *send, double *recv)
{
    const struct wf_calibration *measured = fitting->measured;
    double one = fitting->pair.L + 2 * fitting->pair.o;

    /* A receive that waits does at least the work of a send; taking what has arrived does
     * less. */
    *send = measured->send;
    *recv = measured->take > measured->send ? measured->take : measured->send;
    double both = *send + *recv;
    if (both > 0.9 * one) {
        *send *= 0.9 * one / both;
        *recv *= 0.9 * one / both;
    }
    return one - *send - *recv;
}

/* Whether more ranks than cores took part in a measurement. */
static bool has_crowd(const struct wf_calibration *measured)
{
    for (size_t i = 0; i < measured->n; i++) {
        if (is_crowded(measured, &measured->measures[i])) {
            return true;
        }
    }
    return false;
}

static void start_common(struct fitting *fitting, struct wf_calibration_model *model)
{
    char text[32];

    wf_calibration_set(model, "network", model->name, NULL);
    if (has_crowd(fitting->measured)) {
        (void)snprintf(text, sizeof(text), "%" PRIu64, fitting->measured->cores);
        wf_calibration_set(model, "node.host_cores", text,
                           "measured: all hosts run on one computer");
    }
    if (fitting->measured->combine > 0) {
        wf_calibration_set_number(model, "mpi.reduce_bandwidth",
                                  1024e9 / fitting->measured->combine,
                                  "measured: adding numbers");
    }
    if (fitting->measured->has_limit) {
        (void)snprintf(text, sizeof(text), "%" PRIu64, fitting->measured->eager_max);
        wf_calibration_set(model, "mpi.eager_max", text,
                           "the longest message whose send does not wait for its receive");
        if (fitting->measured->overlap < 0.5) {
            wf_calibration_set(
                model, "mpi.progress", "waits",
                fitting->measured->overlap > 0
                    ? "measured: long messages do not move while their ranks compute"
                    : "choice: not measured; most libraries have no progress thread");
        }
    }
}

static double bandwidth(const struct fitting *fitting)
{
    return fitting->pair.G > 1e-6 ? 1e9 / fitting->pair.G : 1e15;
}

/* Each class of links but the first may have a bandwidth of its own. */
static void start_classes(struct fitting *fitting, struct wf_calibration_model *model)
{
    uint32_t n = wf_topo_n_classes(fitting->topo);

    for (uint32_t i = 1; i < n && i < CLASSES_MAX && fitting->measured->n_ranks > 2; i++) {
        char key[64];
        (void)snprintf(key, sizeof(key), "net.links.%.40s.bandwidth",
                       wf_topo_class_name(fitting->topo, i));
        wf_calibration_vary(model, key, bandwidth(fitting), "fitted");
    }
}

/* Between looks of a rank the other ranks of its core have their turns: first estimated from
 * steps of a butterfly of a byte, which take longer than exchanges of two ranks. */
static void start_poll(struct fitting *fitting, struct wf_calibration_model *model)
{
    static const double mean_wait = 7.0 / 12; /* until the next look, in periods */
    const struct wf_calibration *measured = fitting->measured;
    double pair = 0, poll = 0;

    for (size_t i = 0; i < measured->n; i++) {
        const struct wf_calibration_measure *m = &measured->measures[i];
        double rounds = (double)m->rounds, ranks = (double)m->second + 1;
        if (m->bytes == 1 && m->kind == WF_CALIBRATION_EXCHANGE && m->second == 1) {
            pair = m->ns / rounds;
        } else if (m->bytes == 1 && m->kind == WF_CALIBRATION_BUTTERFLY &&
                   is_crowded(measured, m)) {
            double excess = (m->ns / rounds / log2(ranks) - pair) / mean_wait;
            poll = excess / poll_of(measured, m, 1);
        }
    }
    if (poll > 0) {
        wf_calibration_vary(model, "node.poll", poll,
                            "fitted: turn of another rank on a shared core");
    }
}

/* How the time of two calls is divided: evenly, or so that a send takes as long as it was
 * measured. Where a send passes the message on itself, the receiver finds it at once. */
static void try_split(struct fitting *fitting, struct wf_calibration_model *model, double both)
{
    static const double most = 0.9; /* of the time of both */
    double send = fmin(fitting->measured->send, most * both);
    static const char *const keys[] = {"node.o_send", "node.o_recv"};
    const double tries[] = {send, both - send};

    look_at(fitting, "net.link_latency");
    double least = judge(fitting, model, model->predicted);
    struct wf_calibration_model *other = wf_xcalloc(1, sizeof(*other));
    wf_calibration_copy(model, other);
    for (size_t i = 0; i < 2; i++) {
        wf_calibration_set_number(other, keys[i], tries[i],
                                  wf_calibration_find(model, keys[i])->note);
    }
    if (judge(fitting, other, other->predicted) < better_by * least) {
        wf_calibration_copy(other, model);
    }
    wf_calibration_clear(other);
    free(other);
    look_at_all(fitting);
}

static void start_links(struct fitting *fitting, struct wf_calibration_model *model)
{
    double send, recv, wire = overheads(fitting, &send, &recv);
    uint32_t hops = fitting->topo->ops->distance(fitting->topo, 0, 1);

    start_common(fitting, model);
    wf_calibration_set(model, "topology", fitting->spec, NULL);
    wf_calibration_vary(model, "net.bandwidth", bandwidth(fitting), "fitted");
    wf_calibration_vary(model, "net.link_latency", fmax(wire / (hops > 0 ? hops : 1), 1),
                        "fitted");
    start_classes(fitting, model);
    wf_calibration_set_number(model, "node.o_send", send, "a call that sends a byte");
    wf_calibration_set_number(model, "node.o_recv", recv, "a call that receives a byte");
    start_poll(fitting, model);
    try_split(fitting, model, send + recv);
}

/* Sets the burst that describes short messages best, of some multiples of half a packet: its error
 * has several minima, and the fit finds the one that is next. */
static void start_burst(struct fitting *fitting, struct wf_calibration_model *model)
{
    enum { HALVES_MAX = 6 };
    double least = (double)INFINITY, best = PACKET_BYTES;

    for (int halves = 1; halves <= HALVES_MAX; halves++) {
        double bytes = halves * (PACKET_BYTES / 2.0);
        wf_calibration_vary(model, "net.burst", bytes,
                            "fitted: bytes that pass at once after a pause");
        double error = judge(fitting, model, model->predicted);
        best = error < least ? bytes : best;
        least = error < least ? error : least;
    }
    wf_calibration_vary(model, "net.burst", best,
                        "fitted: bytes that pass at once after a pause");
}

/* Links of virtual machines and traffic shapers are often token buckets: the first bytes after
 * a pause pass at once. */
static double try_bursts(struct fitting *fitting, struct wf_calibration_model *model)
{
    struct wf_calibration_model *before = wf_xcalloc(1, sizeof(*before));

    wf_calibration_copy(model, before);
    look_at(fitting, "net.burst");
    double least = judge(fitting, model, model->predicted);
    start_burst(fitting, model);
    (void)descend(fitting, model, first_step);
    look_at(fitting, "net.burst");
    double error = judge(fitting, model, model->predicted);
    if (!(error < clearly_better_by * least)) {
        wf_calibration_copy(before, model);
    }
    wf_calibration_clear(before);
    free(before);
    return descend(fitting, model, first_step);
}

/* Headers of packets instead of a lower bandwidth: what they cost shows with short messages. The
 * other parameters change with them, so they are fitted again. */
static double try_headers(struct fitting *fitting, struct wf_calibration_model *model,
                          double least)
{
    struct wf_calibration_model *before = wf_xcalloc(1, sizeof(*before));
    struct wf_calibration_setting *rate = wf_calibration_find(model, "net.bandwidth");

    wf_calibration_copy(model, before);
    wf_calibration_vary(model, "net.bandwidth",
                        rate->number * (1 + (double)HEADER_BYTES / PACKET_BYTES), rate->note);
    wf_calibration_set(model, "net.header", "66", "choice: of TCP, IP and Ethernet");
    double error = descend(fitting, model, first_step);
    if (!(error < clearly_better_by * least)) {
        wf_calibration_copy(before, model);
        error = least;
    }
    wf_calibration_clear(before);
    free(before);
    return error;
}

static double fit_packet(struct fitting *fitting, struct wf_calibration_model *model)
{
    char packet[24];

    (void)snprintf(packet, sizeof(packet), "%d",
                   bandwidth(fitting) < tcp_rate_max ? PACKET_BYTES : 4096);
    start_links(fitting, model);
    wf_calibration_set(model, "net.packet", packet, "choice: data of a full frame");
    wf_calibration_set(model, "net.router_delay", "0", "choice: part of link_latency");
    (void)descend(fitting, model, first_step);
    double least = try_bursts(fitting, model);
    static const char *const turns[] = {"net.nic", "rr"};
    static const char *const stored[] = {"net.timing", "store_and_forward"};
    /* Whether long messages hold each other up depends on who comes first, so on the program
     * more than on the machine: only clear evidence counts. */
    double turned = try_option(fitting, model, turns, far_better_by * least);
    least = turned < far_better_by * least ? turned : least;
    if (bandwidth(fitting) < tcp_rate_max) {
        least = try_headers(fitting, model, least);
    }
    /* On busy hosts the difference of the next option is noise. */
    if (fitting->measured->lost <= WF_CALIBRATION_LOST_MAX &&
        wf_calibration_find(model, "net.burst") == NULL) {
        (void)try_option(fitting, model, stored, clearly_better_by * least);
    }
    return descend(fitting, model, first_step / 8);
}

static double fit_latency(struct fitting *fitting, struct wf_calibration_model *model)
{
    start_links(fitting, model);
    return descend(fitting, model, first_step);
}

static void set_points(struct wf_calibration_model *model, const char *key,
                       const struct wf_fit_points *points)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL) {
        wf_panic("no memory for a machine file");
    }
    wf_fit_points_write(points, out);
    (void)fclose(out);
    wf_calibration_set(model, key, text, "measured between two ranks");
    free(text);
}

static double fit_loggp(struct fitting *fitting, struct wf_calibration_model *model)
{
    const struct wf_fit *pair = &fitting->pair;
    char text[32];

    start_common(fitting, model);
    wf_calibration_vary(model, "net.L", fmax(pair->L, 1), "fitted");
    wf_calibration_vary(model, "net.bandwidth", bandwidth(fitting), "fitted");
    wf_calibration_set_number(model, "net.o", pair->o, "calls that send and receive a byte");
    wf_calibration_set_number(model, "net.g", pair->g, "a stream of messages of a byte");
    double plain = descend(fitting, model, first_step);

    /* The time by size instead of one bandwidth, and directions that hold each other up. */
    struct wf_calibration_setting *latency = wf_calibration_find(model, "net.L");
    double fitted = latency->number;
    wf_calibration_set_number(model, "net.L", pair->L, "a ping-pong of a byte");
    set_points(model, "net.sizes", &pair->tail);
    double curve = judge(fitting, model, model->predicted);
    if (curve > better_by * plain) {
        wf_calibration_remove(model, "net.sizes");
        wf_calibration_set_number(model, "net.L", fitted, "fitted");
        curve = plain;
    } else {
        wf_calibration_find(model, "net.L")->number = pair->L;
    }
    if (pair->held.n > 0) {
        (void)snprintf(text, sizeof(text), "%.3f", pair->shared);
        wf_calibration_set(model, "net.shared", text, "measured: exchanges of two ranks");
        set_points(model, "net.held", &pair->held);
        double held = judge(fitting, model, model->predicted);
        if (held > (fitting->measured->one_host ? better_by : much_better_by) * curve) {
            wf_calibration_remove(model, "net.held");
            wf_calibration_remove(model, "net.shared");
        }
    }
    return curve;
}

static const struct {
    const char *name;
    double (*fit)(struct fitting *fitting, struct wf_calibration_model *model);
} kinds[WF_CALIBRATION_MODELS] = {
    {"packet", fit_packet},
    {"latency", fit_latency},
    {"loggp", fit_loggp},
};

/* ---- all models ---- */

/* Large messages between two ranks have all sizes; the fit needs only some of them. */
static void choose(const struct wf_calibration *measured, bool *chosen)
{
    for (size_t i = 0; i < measured->n; i++) {
        const struct wf_calibration_measure *m = &measured->measures[i];
        bool is_pair = m->kind <= WF_CALIBRATION_EXCHANGE && m->kind != WF_CALIBRATION_ONEWAY;
        bool is_two_ranks = m->kind <= WF_CALIBRATION_EXCHANGES;
        bool is_turned = m->kind == WF_CALIBRATION_BUTTERFLY && is_crowded(measured, m);
        bool is_coarse = m->bytes == 1 ||
                         (m->bytes >= WF_CALIBRATION_SMALL && (m->bytes & (m->bytes - 1)) == 0);
        /* Short messages of many ranks measure the cores that the ranks share, if they do. */
        chosen[i] =
            is_pair ? is_coarse : is_two_ranks || is_turned || m->bytes > WF_CALIBRATION_SMALL;
    }
}

static enum wf_status predict(struct fitting *fitting, struct wf_calibration_model *model,
                              struct wf_err *err)
{
    fitting->all = true;
    model->error = judge(fitting, model, model->predicted);
    if (fitting->host->stop != NULL && *fitting->host->stop != 0) {
        return wf_err_set(err, WF_EINTR, "interrupted");
    }
    for (size_t i = 0; i < fitting->measured->n; i++) {
        if (fitting->errors[i].status != WF_OK) {
            *err = fitting->errors[i];
            wf_err_prefix(err, "the model %s: ", model->name);
            return err->status;
        }
    }
    return WF_OK;
}

enum wf_status wf_calibration_predict(const struct wf_calibration *measured,
                                      struct wf_calibration_model *model,
                                      const struct wf_points_host *host, struct wf_err *err)
{
    struct fitting fitting = {.measured = measured,
                              .host = host,
                              .errors = wf_xcalloc(measured->n, sizeof(*fitting.errors))};
    enum wf_status status = predict(&fitting, model, err);

    free(fitting.errors);
    return status;
}

static enum wf_status fit_models(struct fitting *fitting, struct wf_calibration_fit *out,
                                 struct wf_err *err)
{
    double least = (double)INFINITY;

    for (size_t i = 0; i < WF_CALIBRATION_MODELS; i++) {
        struct wf_calibration_model *model = &out->models[out->n++];

        model->name = kinds[i].name;
        fitting->all = false;
        look_at_all(fitting);
        (void)kinds[i].fit(fitting, model);
        WF_TRY(predict(fitting, model, err));
        wf_calibration_add_errors(fitting->measured, model);
        if (fitting->host->progress != NULL) {
            fitting->host->progress(fitting->host->progress_arg, i + 1, WF_CALIBRATION_MODELS);
        }
        if (model->error < preferred_by * least && model->error < least - preferred_points) {
            least = model->error;
            out->best = i;
        }
    }
    return WF_OK;
}

void wf_calibration_choose(struct wf_calibration_fit *fit, const char *model)
{
    for (size_t i = 0; i < fit->n; i++) {
        fit->best = strcmp(fit->models[i].name, model) == 0 ? i : fit->best;
    }
}

static enum wf_status open_topology(struct fitting *fitting, const char *spec,
                                    struct wf_calibration_fit *out, struct wf_err *err)
{
    struct wf_topo *topo = NULL;
    char star[32];

    (void)snprintf(star, sizeof(star), "star:%" PRIu64, fitting->measured->n_ranks);
    out->topology = wf_xstrdup(spec != NULL ? spec : star);
    WF_TRY(wf_topo_create(out->topology, &topo, err));
    fitting->topo = topo;
    fitting->spec = out->topology;
    if (topo->n_nodes < fitting->measured->n_ranks) {
        return wf_err_set(err, WF_EINVAL,
                          "the topology %.100s has %u nodes, but %" PRIu64
                          " ranks measured, one on each node",
                          out->topology, topo->n_nodes, fitting->measured->n_ranks);
    }
    return WF_OK;
}

enum wf_status wf_calibration_fit(const struct wf_calibration *measured, const char *topology,
                                  const struct wf_points_host *host,
                                  struct wf_calibration_fit *out, struct wf_err *err)
{
    struct wf_fit_sample samples[WF_CALIBRATION_SAMPLES_MAX];
    struct wf_fit_input input;
    struct fitting fitting = {.measured = measured, .host = host};

    *out = (struct wf_calibration_fit){.n = 0};
    wf_calibration_samples(measured, samples, &input);
    if (measured->n_ranks < 2 || !wf_fit(&input, &fitting.pair)) {
        return wf_err_set(err, WF_EINVAL,
                          "there are too few measurements, or their times contradict each "
                          "other; measure again on a machine that is not busy");
    }
    fitting.chosen = wf_xcalloc(measured->n, sizeof(*fitting.chosen));
    fitting.errors = wf_xcalloc(measured->n, sizeof(*fitting.errors));
    choose(measured, fitting.chosen);
    enum wf_status status = open_topology(&fitting, topology, out, err);
    WF_THEN(status, fit_models(&fitting, out, err));
    wf_topo_free((struct wf_topo *)wf_unconst(fitting.topo));
    free(fitting.chosen);
    free(fitting.errors);
    return status;
}

void wf_calibration_fit_release(struct wf_calibration_fit *fit)
{
    for (size_t i = 0; i < fit->n; i++) {
        wf_calibration_clear(&fit->models[i]);
    }
    free(fit->topology);
    *fit = (struct wf_calibration_fit){.n = 0};
}
