/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Measured times of GPU kernels by operation and shape: of a CSV file, or of a trace of PyTorch's profiler
 * (Kineto's JSON). Private to gen/.
 */

#include "base/buf.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum wf_gen_kernel_kind {
    WF_GEN_KERNEL_PRODUCT, /* rows x depth times depth x columns, `batch` of them */
    /* A batch of sequences of `rows` tokens, `columns` heads that are `depth` wide. */
    WF_GEN_KERNEL_ATTENTION,
    WF_GEN_KERNEL_ATTENTION_BACKWARD,
    WF_GEN_KERNEL_KINDS
};

struct wf_gen_kernel {
    uint8_t kind, bits; /* enum wf_gen_kernel_kind; 8 or 16 */
    uint64_t batch, rows, columns, depth;
    int64_t ps;
};

struct wf_gen_kernel_table {
    struct wf_gen_kernel *kernels; /* sorted by shape, each once */
    uint32_t n, capacity;
};

/* Reads a table; the caller frees it with wf_gen_kernel_table_fini(), also after an error. */
enum wf_status wf_gen_kernel_table_read(const char *path, struct wf_gen_kernel_table *out,
                                        struct wf_err *err);
void wf_gen_kernel_table_fini(struct wf_gen_kernel_table *table); /* zeroed is allowed */

enum wf_gen_kernel_found {
    WF_GEN_KERNEL_MEASURED,
    WF_GEN_KERNEL_SCALED,
    WF_GEN_KERNEL_MISSING
};

/* Sets wanted->ps to the time of this shape, or of the nearest one of its kind, scaled by the number of
 * operations. None is near if the sides differ by more than a factor of four in all. */
enum wf_gen_kernel_found wf_gen_kernel_table_find(const struct wf_gen_kernel_table *table,
                                                  struct wf_gen_kernel *wanted);

/* The operations of a kernel, up to a factor. */
double wf_gen_kernel_work(const struct wf_gen_kernel *kernel);

/* Adds a measured kernel. */
void wf_gen_kernel_table_add(struct wf_gen_kernel_table *table,
                             const struct wf_gen_kernel *kernel);

/* Adds the kernels of a trace of PyTorch's profiler. WF_EINVAL if it is damaged. `text` ends with NUL. */
enum wf_status wf_gen_kernel_table_kineto(const char *path, const struct wf_buf *text,
                                          struct wf_gen_kernel_table *table,
                                          struct wf_err *err);
