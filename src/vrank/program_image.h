/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_VRANK_PROGRAM_IMAGE_H
#define WF_VRANK_PROGRAM_IMAGE_H

/*
 * The program in memory. Its global and static variables are private to each rank, although
 * there is one program: what a rank has written to them is put aside when another one runs.
 */

#include "base/status.h"
#include "mpilib/port.h"

struct wf_vrank_image;

struct wf_vrank_image_config {
    const char *program;
    uint32_t n_ranks;
    uint32_t copies; /* threads that run ranks at the same time */
};

/* Loads a program built with weftcc. On success the caller owns *out; *library lives as long.
 * Fails with WF_EINVAL or WF_EIO, naming what is wrong with the program. */
WF_NODISCARD
enum wf_status wf_vrank_image_load(const struct wf_vrank_image_config *config,
                                   struct wf_vrank_image **out,
                                   const struct wf_port_library **library, struct wf_err *err);
void wf_vrank_image_free(struct wf_vrank_image *image); /* null is allowed */

/* From now on this thread runs this rank: the program's variables are the rank's. */
void wf_vrank_image_enter(struct wf_vrank_image *image, uint32_t rank);
/* The rank needs its variables no more. */
void wf_vrank_image_ended(struct wf_vrank_image *image, uint32_t rank);

/* In a signal handler, after a fault at this address: whether it was a page of the program's
 * variables that a rank has now written to for the first time. Then it can go on. */
bool wf_vrank_image_repair(struct wf_vrank_image *image, const void *address);

/* The same before the system writes there, which would fail. */
void wf_vrank_image_touch(struct wf_vrank_image *image, const void *place, size_t bytes);

/* Calls the program's main(). */
int wf_vrank_image_main(const struct wf_vrank_image *image, uint32_t rank, char **argv);

#endif
