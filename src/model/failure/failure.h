/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * When parts of a machine fail. A class is a number of parts that are alike; each fails after
 * random times by the law of its class and is as new afterwards. Times are microseconds.
 *
 * A law is one file with a const struct wf_failure_law and one line in laws.def.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct wf_failure_class;

struct wf_failure_law {
    const char *name, *summary;
    bool memoryless; /* a part that has worked for long is like a new one */
    /* The time from one failure of a part to the next, of the mean `mtbf`. Null: the times are
     * listed. */
    double (*gap)(const struct wf_failure_class *class, uint64_t random);
};

#define WF_FAILURE_LAW(name) extern const struct wf_failure_law wf_failure_law_##name;
#include "model/failure/laws.def"

enum { WF_FAILURE_NAME_MAX = 32 };

struct wf_failure_event {
    int64_t at;
    uint32_t of;   /* number of the class */
    uint32_t part; /* of the class, or what a list says; UINT32_MAX: unknown */
};

struct wf_failure_class {
    char name[WF_FAILURE_NAME_MAX];
    const struct wf_failure_law *law;
    uint64_t count; /* parts; 0: not given */
    int64_t mtbf;   /* mean time between failures of one part */
    int64_t age;    /* of all parts at the start */
    int64_t repair; /* time for which the node of the part is gone; 0: it is not */
    double shape;   /* of a Weibull distribution; below 1, young parts fail more often */
    double stretch; /* what makes the mean of that distribution 1 */
    struct wf_failure_event *times; /* listed ones, in ascending order */
    size_t n_times, times_capacity;
};

/* Reads "name:count=16384,mtbf=5y,law=weibull,shape=0.7,age=1y,repair=4h" or "name:times=file"; the name
 * may be missing. WF_EUSAGE, or what a file gives. The caller releases *out. */
enum wf_status wf_failure_parse(const char *text, struct wf_failure_class *out,
                                struct wf_err *err);
void wf_failure_fini(struct wf_failure_class *class);

/* Prints the laws, for help. */
void wf_failure_list(FILE *out);

/* Failures of all classes, in a row, per microsecond. Listed ones count for `horizon`. */
double wf_failure_rate(const struct wf_failure_class *classes, size_t n, int64_t horizon);

/* All failures before `horizon`, in the order of time, in an array that the caller frees; the same
 * seed and a longer horizon give the same ones and more. */
size_t wf_failure_trace(const struct wf_failure_class *classes, size_t n, uint64_t seed,
                        int64_t horizon, struct wf_failure_event **out);
