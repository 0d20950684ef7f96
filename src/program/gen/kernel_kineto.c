/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of a trace of PyTorch's profiler, an object with a list "traceEvents": a kernel of the GPU names
 * the call that launched it by a number, that call happened on a thread within an operation, and an operation
 * has the sizes of its inputs if they were recorded. The time of an operation is that of its kernels.
 */
#include "base/array.h"
#include "base/map.h"
#include "base/scan.h"
#include "base/units.h"
#include "program/gen/kernel_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = 4, INPUTS = 3, EVENTS_MAX = 1 << 26 };
/* Times since 1970 are 1.7e15; whole numbers are exact. */
static const double micros_max = 9e15;

enum category { OTHER, OPERATION, LAUNCH, KERNEL };

struct event {
    enum category category;
    bool is_product, is_attention, is_backward, heads_first, in8, in16;
    uint32_t n_inputs;
    uint32_t n_dims[INPUTS];
    uint64_t dims[INPUTS][DIMS];
    uint64_t thread, correlation;
    double ts, dur;
};

/* An operation with a shape, while its kernels are added up. */
struct operation {
    uint64_t thread;
    double begin, end;
    struct wf_gen_kernel kernel;
};

struct launch {
    uint64_t thread;
    double at;
};

struct device_kernel {
    uint64_t correlation;
    double micros;
};

struct kineto {
    struct wf_scan scan;
    struct operation *operations;
    uint32_t n_operations, operations_max;
    struct launch *launches;
    uint32_t n_launches, launches_max;
    struct device_kernel *kernels;
    uint32_t n_kernels, kernels_max;
    struct wf_map launch_of; /* correlation to the number of a launch, plus 1 */
};

/* ---- events ---- */

static bool contains(const char *text, size_t length, const char *what)
{
    return memmem(text, length, what, strlen(what)) != NULL;
}

static bool is_text(const char *text, size_t length, const char *what)
{
    return length == strlen(what) && memcmp(text, what, length) == 0;
}

static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

/* Passes a value and sets its text; that of lists and objects counts, too. */
static void take(struct wf_scan *scan, const char **text, size_t *length)
{
    if (wf_scan_look(scan) == '"') {
        (void)wf_scan_text(scan, text, length);
        return;
    }
    *text = scan->at;
    wf_scan_skip(scan, 0);
    *length = (size_t)(scan->at - *text);
}

static double number(const char *text, size_t length)
{
    char copy[32] = "";
    char *end = NULL;

    memcpy(copy, text, length < sizeof(copy) - 1 ? length : sizeof(copy) - 1);
    double value = strtod(copy, &end);
    return end == copy || !(value >= 0 && value <= micros_max) ? 0 : value;
}

/* The inputs of an operation: a list of lists of sizes. Those of scalars are empty. */
static void take_dims(struct wf_scan *scan, struct event *event)
{
    bool first = true;

    if (!wf_scan_begin(scan, '[')) {
        return;
    }
    while (wf_scan_next(scan, ']', &first)) {
        uint32_t i = event->n_inputs, n = 0;
        bool first_dim = true;
        if (wf_scan_begin(scan, '[')) {
            for (; wf_scan_next(scan, ']', &first_dim); n++) {
                const char *text = NULL;
                size_t length = 0;
                take(scan, &text, &length);
                if (i < INPUTS && n < DIMS && !scan->failed) {
                    event->dims[i][n] = (uint64_t)number(text, length);
                }
            }
        }
        if (i < INPUTS) {
            event->n_dims[i] = n;
            event->n_inputs++;
        }
    }
}

static void take_args(struct wf_scan *scan, struct event *event)
{
    bool first = true;

    if (!wf_scan_begin(scan, '{')) {
        return;
    }
    while (wf_scan_next(scan, '}', &first) && wf_scan_key(scan)) {
        const char *text = NULL;
        size_t length = 0;
        if (strcmp(scan->key, "input dims") == 0) {
            take_dims(scan, event);
            continue;
        }
        bool is_type = strcmp(scan->key, "input type") == 0;
        bool is_number = strcmp(scan->key, "correlation") == 0;
        take(scan, &text, &length);
        if (is_type && !scan->failed) {
            event->in8 = contains(text, length, "Float8");
            event->in16 = contains(text, length, "BFloat16") || contains(text, length, "Half");
        } else if (is_number && !scan->failed) {
            event->correlation = (uint64_t)number(text, length);
        }
    }
}

static void take_name(struct event *event, const char *text, size_t length)
{
    event->is_product =
        is_text(text, length, "aten::mm") || is_text(text, length, "aten::addmm") ||
        is_text(text, length, "aten::bmm") || is_text(text, length, "aten::baddbmm") ||
        is_text(text, length, "aten::_scaled_mm");
    event->heads_first = contains(text, length, "_scaled_dot_product_");
    event->is_attention = event->heads_first || contains(text, length, "_flash_attention_") ||
                          contains(text, length, "_flash_attn_");
    event->is_backward = contains(text, length, "backward");
}

static enum category category_of(const char *text, size_t length)
{
    return is_text(text, length, "cpu_op")   ? OPERATION
           : is_text(text, length, "kernel") ? KERNEL
           : is_text(text, length, "cuda_runtime") || is_text(text, length, "cuda_driver")
               ? LAUNCH
               : OTHER;
}

static void take_event(struct wf_scan *scan, struct event *event)
{
    bool first = true;

    *event = (struct event){.category = OTHER};
    if (!wf_scan_begin(scan, '{')) {
        return;
    }
    while (wf_scan_next(scan, '}', &first) && wf_scan_key(scan)) {
        char key[WF_SCAN_KEY_BYTES];
        const char *text = NULL;
        size_t length = 0;
        memcpy(key, scan->key, sizeof(key));
        if (strcmp(key, "args") == 0) {
            take_args(scan, event);
            continue;
        }
        take(scan, &text, &length);
        if (scan->failed) {
            return;
        }
        if (strcmp(key, "cat") == 0) {
            event->category = category_of(text, length);
        } else if (strcmp(key, "name") == 0) {
            take_name(event, text, length);
        } else if (strcmp(key, "ts") == 0) {
            event->ts = number(text, length);
        } else if (strcmp(key, "dur") == 0) {
            event->dur = number(text, length);
        } else if (strcmp(key, "tid") == 0 || strcmp(key, "pid") == 0) {
            event->thread += hash_of(text, length) * (key[0] == 't' ? 1 : 3);
        }
    }
}

/* ---- shapes ---- */

/* The product of the last two of its inputs that are matrices. */
static bool shape_of_product(const struct event *event, struct wf_gen_kernel *out)
{
    uint32_t a = 0;

    while (a + 1 < event->n_inputs && !(event->n_dims[a] >= 2 && event->n_dims[a + 1] >= 2 &&
                                        event->n_dims[a] == event->n_dims[a + 1])) {
        a++;
    }
    /* Of three matrices the first is added to the product of the others. */
    if (a == 0 && event->n_inputs > 2 && event->n_dims[2] == event->n_dims[1] &&
        event->dims[0][event->n_dims[0] - 1] != event->dims[1][event->n_dims[1] - 2]) {
        a = 1;
    }
    uint32_t n = event->n_dims[a];
    if (a + 1 >= event->n_inputs || n < 2 || n > 3 ||
        event->dims[a][n - 1] != event->dims[a + 1][n - 2]) {
        return false;
    }
    *out = (struct wf_gen_kernel){.kind = WF_GEN_KERNEL_PRODUCT,
                                  .batch = n == 3 ? event->dims[a][0] : 1,
                                  .rows = event->dims[a][n - 2],
                                  .columns = event->dims[a + 1][n - 1],
                                  .depth = event->dims[a][n - 1]};
    return true;
}

/* The first input is the query or, backwards, a gradient of its shape: batch, tokens, heads, width;
 * or heads before tokens. */
static bool shape_of_attention(const struct event *event, struct wf_gen_kernel *out)
{
    const uint64_t *dims = event->dims[0];

    *out = (struct wf_gen_kernel){.kind = event->is_backward ? WF_GEN_KERNEL_ATTENTION_BACKWARD
                                                             : WF_GEN_KERNEL_ATTENTION,
                                  .batch = dims[0],
                                  .rows = dims[event->heads_first ? 2 : 1],
                                  .columns = dims[event->heads_first ? 1 : 2],
                                  .depth = dims[3]};
    return event->n_inputs > 0 && event->n_dims[0] == DIMS;
}

static void keep(struct kineto *k, const struct event *event)
{
    struct wf_gen_kernel kernel = {.ps = 0};

    if (event->category == LAUNCH && event->correlation != 0) {
        struct launch launch = {event->thread, event->ts};
        WF_PUSH(k->launches, k->n_launches, k->launches_max, launch);
        *wf_map_put(&k->launch_of, event->correlation) = k->n_launches;
    } else if (event->category == KERNEL && event->correlation != 0) {
        struct device_kernel one = {event->correlation, event->dur};
        WF_PUSH(k->kernels, k->n_kernels, k->kernels_max, one);
    } else if (event->category == OPERATION && (event->in8 || event->in16) &&
               ((event->is_product && shape_of_product(event, &kernel)) ||
                (event->is_attention && shape_of_attention(event, &kernel)))) {
        kernel.bits = event->in8 ? 8 : 16;
        bool counts = wf_gen_kernel_work(&kernel) > 0;
        struct operation operation = {event->thread, event->ts, event->ts + event->dur, kernel};
        if (counts) {
            WF_PUSH(k->operations, k->n_operations, k->operations_max, operation);
        }
    }
}

/* ---- kernels of operations ---- */

static int by_begin(const void *a, const void *b)
{
    const struct operation *x = a, *y = b;

    return 4 * WF_ORDER(x->thread, y->thread) + 2 * WF_ORDER(x->begin, y->begin) -
           WF_ORDER(x->end, y->end);
}

/* The innermost operation of a thread at a time; null if there is none. */
static struct operation *operation_at(const struct kineto *k, const struct launch *launch)
{
    enum { NESTED_MAX = 8 };
    uint32_t low = 0;

    WF_BISECT(low, k->n_operations, middle,
              k->operations[middle].thread < launch->thread ||
                  (k->operations[middle].thread == launch->thread &&
                   k->operations[middle].begin <= launch->at));
    for (uint32_t i = 0; i < NESTED_MAX && low > i; i++) {
        struct operation *operation = &k->operations[low - 1 - i];
        if (operation->thread == launch->thread && operation->end >= launch->at) {
            return operation;
        }
    }
    return NULL;
}

static void add_up(struct kineto *k, struct wf_gen_kernel_table *table)
{
    WF_SORT(k->operations, k->n_operations, by_begin);
    for (uint32_t i = 0; i < k->n_kernels; i++) {
        const uint64_t *launch = wf_map_get(&k->launch_of, k->kernels[i].correlation);
        struct operation *operation =
            launch != NULL ? operation_at(k, &k->launches[*launch - 1]) : NULL;
        if (operation != NULL && operation->kernel.ps < WF_TIME_MAX / 4) {
            double ps = k->kernels[i].micros * 1e6;
            operation->kernel.ps += ps < (double)WF_TIME_MAX / 4 ? (int64_t)(ps + 0.5) : 0;
        }
    }
    for (uint32_t i = 0; i < k->n_operations; i++) {
        if (k->operations[i].kernel.ps > 0) {
            wf_gen_kernel_table_add(table, &k->operations[i].kernel);
        }
    }
}

static void read_events(struct kineto *k)
{
    struct wf_scan *scan = &k->scan;
    bool first = true;

    if (!wf_scan_begin(scan, '[')) {
        return;
    }
    for (uint32_t n = 0; n < EVENTS_MAX && wf_scan_next(scan, ']', &first); n++) {
        struct event event;
        take_event(scan, &event);
        keep(k, &event);
    }
}

enum wf_status wf_gen_kernel_table_kineto(const char *path, const struct wf_buf *text,
                                          struct wf_gen_kernel_table *table, struct wf_err *err)
{
    const char *begin = (const char *)text->data;
    struct kineto k = {.scan = {.begin = begin, .at = begin, .end = begin + text->size}};
    bool first = true;

    if (wf_scan_look(&k.scan) == '[') {
        read_events(&k);
    } else if (wf_scan_pass(&k.scan, '{')) {
        while (wf_scan_next(&k.scan, '}', &first) && wf_scan_key(&k.scan)) {
            if (strcmp(k.scan.key, "traceevents") == 0) {
                read_events(&k);
            } else {
                wf_scan_skip(&k.scan, 0);
            }
        }
    }
    enum wf_status status = WF_OK;
    if (k.scan.failed) {
        status =
            wf_err_set(err, WF_EINVAL, "%.128s: byte %zu: not a trace of PyTorch's profiler",
                       path, (size_t)(k.scan.at - begin));
    } else {
        add_up(&k, table);
    }
    free(k.operations);
    free(k.launches);
    free(k.kernels);
    wf_map_fini(&k.launch_of);
    return status;
}
