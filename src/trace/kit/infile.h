/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_KIT_INFILE_H
#define WF_TRACE_KIT_INFILE_H

/*
 * A binary file that is read from front to back, believing nothing: whoever reads beyond its
 * end gets zeros, and `failed` says so from then on. So a reader takes a record apart first and
 * asks once whether it was all there.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_infile {
    char *path;
    int fd;
    bool swapped; /* numbers have the least significant byte first */
    bool failed;
    uint64_t size; /* of the file */
    uint64_t base; /* where the buffer begins in it */
    size_t n, next;
    unsigned char *buffer;
};

/* What is no file that can be read is WF_EIO. The path is copied. */
WF_NODISCARD
enum wf_status wf_infile_open(struct wf_infile *in, const char *path, struct wf_err *err);
void wf_infile_close(struct wf_infile *in); /* zeroed is allowed */

/* Goes to a place; one beyond the end fails there. */
void wf_infile_seek(struct wf_infile *in, uint64_t offset);

static inline uint64_t wf_infile_at(const struct wf_infile *in)
{
    return in->base + in->next;
}

static inline uint64_t wf_infile_left(const struct wf_infile *in)
{
    return in->size - wf_infile_at(in);
}

/* The next bytes, at most 4096, valid until the next call; zeros if they are not there. */
const unsigned char *wf_infile_bytes(struct wf_infile *in, size_t n);
void wf_infile_skip(struct wf_infile *in, uint64_t n);

/* A number of 1 to 8 bytes. */
uint64_t wf_infile_unsigned(struct wf_infile *in, unsigned width);
int64_t wf_infile_signed(struct wf_infile *in, unsigned width);

#endif
