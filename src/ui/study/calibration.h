/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What `weft calibrate` measured, the machine models fitted to it, and the machine file.
 *
 * Every measurement is one pattern of messages (program/gen/pattern.c) at one size, done by a real MPI
 * (mpi/capture/patterns.c). A model is fitted by simulating the same patterns: the constants come
 * from direct estimates, and a few parameters are then varied until the simulated times are as
 * close to the measured ones as possible. This works alike for every network model.
 */

#include "base/points.h"
#include "base/status.h"
#include "ui/study/fit.h"

#include <stdio.h>

struct wf_value;

enum { WF_CALIBRATION_MEASURES_MAX = 512, WF_CALIBRATION_SAMPLES_MAX = 128 };

enum wf_calibration_kind {
    WF_CALIBRATION_PINGPONG,
    WF_CALIBRATION_ONEWAY,
    WF_CALIBRATION_EXCHANGE,
    WF_CALIBRATION_EXCHANGES, /* several in a row */
    WF_CALIBRATION_INCAST,
    WF_CALIBRATION_OUTCAST,
    WF_CALIBRATION_BISECTION,
    WF_CALIBRATION_ALLPAIRS,
    WF_CALIBRATION_BUTTERFLY, /* of ranks up to `second` */
    WF_CALIBRATION_KINDS,
};

extern const char *const wf_calibration_kind_names[]; /* null-terminated */

/* Times are in nanoseconds and those of all rounds together. */
struct wf_calibration_measure {
    enum wf_calibration_kind kind;
    uint64_t first, second; /* ranks; see program/gen/pattern.c */
    uint64_t rounds, bytes;
    double lag;
    double ns;     /* what counts as the measured time */
    double spread; /* relative standard deviation of the repetitions */
};

/* All measurements. */
struct wf_calibration {
    struct wf_calibration_measure measures[WF_CALIBRATION_MEASURES_MAX];
    size_t n;
    uint64_t n_ranks;
    uint64_t cores;              /* of the computer that all ranks run on; 0: several */
    uint64_t repeats;            /* of each measurement */
    char host[256];              /* name of the first host */
    bool one_host;               /* all ranks ran on it */
    double send, take;           /* calls that send and receive a byte */
    double stream;               /* interval of messages in a stream */
    double copy_send, copy_take; /* CPU time per KiB */
    double combine;              /* likewise, of adding numbers; 0: unknown */
    uint64_t eager_max;          /* the longest message sent eagerly... */
    bool has_limit;              /* ...if there are longer ones */
    double overlap; /* part of a long message that moved while its ranks computed; 0: unknown */
    double lost; /* percent of the time that computations did not get, mean of the ranks... */
    uint64_t n_lost; /* ...of which there are so many */
};

/* Reads one line, such as "send 812.5". A line "progress 0.42" is stored in *progress. Returns
 * whether the line belongs to the measurements; others are skipped. */
bool wf_calibration_line(struct wf_calibration *measured, const char *line, double *progress);

/* The measurements of a ping-pong and of exchanges between the first two ranks, for wf_fit().
 * `samples` has space for WF_CALIBRATION_SAMPLES_MAX. */
void wf_calibration_samples(const struct wf_calibration *measured,
                            struct wf_fit_sample *samples, struct wf_fit_input *input);

/* The least load of the hosts, in percent of lost time, that is worth a warning. */
#define WF_CALIBRATION_LOST_MAX 10.0

/* ---- models ---- */

enum { WF_CALIBRATION_SETTINGS_MAX = 24, WF_CALIBRATION_MODELS = 3 };

struct wf_calibration_setting {
    char key[64];     /* "net.bandwidth" */
    char *text;       /* its value */
    double number;    /* the value of one that was fitted; 0: it was not... */
    double start;     /* ...and where the fit began */
    double percent;   /* relative standard deviation of a fitted one; 0: unknown */
    const char *note; /* where it comes from, for the machine file */
};

/* A network model with the parameters that describe the measurements best. */
struct wf_calibration_model {
    const char *name; /* "packet" */
    struct wf_calibration_setting settings[WF_CALIBRATION_SETTINGS_MAX];
    size_t n;
    double predicted[WF_CALIBRATION_MEASURES_MAX]; /* ns; 0: not simulated */
    /* Mean and largest relative error by pattern; 0 where nothing was measured. */
    double mean[WF_CALIBRATION_KINDS], worst[WF_CALIBRATION_KINDS];
    double error;         /* mean over the patterns: how well the model describes the machine */
    double model_percent; /* standard deviation of messages that bandwidth decides */
    double cpu_percent;   /* standard deviation of compute times */
};

struct wf_calibration_fit {
    struct wf_calibration_model models[WF_CALIBRATION_MODELS];
    size_t n, best; /* of these models */
    char *topology; /* spec of the topology that they were fitted on */
};

/* A model that describes the machine has at most this mean error. */
#define WF_CALIBRATION_GOOD 0.1

/*
 * Fits all models to the measurements on the topology, a spec such as "star:8"; null means one
 * switch for all ranks. WF_EINVAL if the topology has fewer nodes than there are ranks or the
 * measurements contradict each other; WF_EINTR if host->stop ended it. The caller releases
 * *out, also after an error.
 */
enum wf_status wf_calibration_fit(const struct wf_calibration *measured, const char *topology,
                                  const struct wf_points_host *host,
                                  struct wf_calibration_fit *out, struct wf_err *err);
/* Makes the model of this name the best one, if the fit has it. */
void wf_calibration_choose(struct wf_calibration_fit *fit, const char *model);
/* Simulates all measurements on the model, for its member `predicted`. WF_EINVAL if a setting is
 * wrong, WF_EINTR if host->stop ended it. */
enum wf_status wf_calibration_predict(const struct wf_calibration *measured,
                                      struct wf_calibration_model *model,
                                      const struct wf_points_host *host, struct wf_err *err);
void wf_calibration_fit_release(struct wf_calibration_fit *fit);

/* ---- output ---- */

/* Writes a machine file with the best model; the others, and the measurements, are comments.
 * `mpi` is the MPI library ("mpich", "openmpi"). The caller checks `out` for errors. */
void wf_calibration_write(const struct wf_calibration *measured,
                          const struct wf_calibration_fit *fit, const char *mpi, FILE *out);

/* A summary for people, and the same for programs. */
void wf_calibration_print(const struct wf_calibration *measured,
                          const struct wf_calibration_fit *fit, FILE *out);
void wf_calibration_add(const struct wf_calibration *measured,
                        const struct wf_calibration_fit *fit, struct wf_value *doc);
