/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The open files of a native trace: which blocks there are, and the content of the tables. The
 * index at the end of a file lists its blocks. If the index is missing or damaged, the file is
 * read frame by frame. Nothing changes after opening.
 */

#include "program/ops/graph.h"
#include "program/ops/groups.h"
#include "program/trace/weft/frame.h"
#include "program/trace/weft/native.h"

struct wf_native_file {
    char *path;
    int fd; /* -1: opened for each read, because a process cannot have more open files */
    const unsigned char *map; /* its bytes, or null (see wf_native_set_own()) */
    uint64_t size;
    uint64_t end; /* of what can be read */
    bool is_whole;
    uint64_t device, inode; /* which file it is, whatever its name */
};

/* A time of each rank that has one. */
struct wf_native_times {
    struct wf_native_time {
        uint32_t rank;
        int64_t ps;
    } * times; /* by rank */
    size_t n, capacity;
};

/* The earliest and latest start of ranks, in nanoseconds: by the wall clock of each host, and
 * by its monotonic clock, corrected by the difference to the clock of rank 0. */
struct wf_native_clocks {
    uint32_t n, n_compared;
    uint64_t first_wall, last_wall;
    int64_t first_compared, last_compared;
    uint64_t doubt; /* the largest */
};

/* A cancelled op. */
struct wf_native_cancelled {
    uint32_t rank;
    uint64_t op;
};

struct wf_native_names {
    char **names; /* by number, null if unknown */
    uint32_t n;
};

struct wf_native_set {
    char *path; /* as the user wrote it */
    struct wf_native_file *files;
    uint32_t n_files;
    struct wf_native_header header;
    struct wf_native_block *blocks; /* by rank, then in order */
    size_t n_blocks, capacity;
    struct wf_groups *groups;
    uint64_t n_members; /* of all groups */
    uint64_t n_ops;     /* of all blocks */
    struct wf_native_names names[WF_NAME_KINDS];
    struct wf_native_times walls;          /* how long the rank ran */
    struct wf_native_times costs;          /* of recording, for each compute op */
    struct wf_native_cancelled *cancelled; /* by rank and number */
    size_t n_cancelled, cancelled_capacity;
    struct wf_native_clocks clocks;
    uint32_t
        *roots_end; /* of each PE of a graph: the end of tasks that need nothing; or null */
    uint32_t n_streams, n_nics;      /* of a PE of a graph; 0: one */
    uint8_t streams[WF_STREAMS_MAX]; /* kinds of its streams */
    char *creator;                   /* or null */
    struct wf_native_totals totals;
    bool totals_known;
    bool is_ours; /* see wf_native_set_own() */
    char **parts; /* names of other files, while opening */
    uint32_t n_parts;
    bool damaged;         /* then the readable part is read first, and... */
    struct wf_err damage; /* ...this is reported after it */
    uint64_t n_bytes;     /* of all files */
};

enum wf_status wf_native_set_open(const char *path, struct wf_native_set *set,
                                  struct wf_err *err);
/* This process has written the files, and nobody else knows them: their ops are valid, and the
 * bytes, unless they are very many, can be mapped into memory. */
void wf_native_set_own(struct wf_native_set *set);

/* Order of struct wf_native_cancelled. */
int wf_native_by_op(const void *a, const void *b);

void wf_native_set_close(struct wf_native_set *set);

/* Sets the facts. */
void wf_native_set_facts(const struct wf_native_set *set, struct wf_native_facts *out);

/* Decompressor and buffers to read frames. Only `packer` must be set. */
struct wf_native_tools {
    struct wf_native_tools *next; /* for lists of unused ones */
    struct wf_native_packer *packer;
    struct wf_buf stored; /* the bytes in the file */
    struct wf_buf raw;    /* the content */
};

void wf_native_tools_fini(struct wf_native_tools *tools);

/* Reads a frame and its content, tools->raw. Returns what is wrong with the frame, or null. */
const char *wf_native_read_frame(const struct wf_native_set *set, uint32_t file,
                                 uint64_t offset, struct wf_native_frame *frame,
                                 struct wf_native_tools *tools);

/* The content of a frame in files of our own, where it is stored as it is; null if it is not there:
 * compressed, or not mapped. At least `padding` more bytes can be read. */
const unsigned char *wf_native_mapped_frame(const struct wf_native_set *set, uint32_t file,
                                            uint64_t offset, size_t padding,
                                            struct wf_native_frame *frame);

/* Reads the records of a table. False if one is invalid: *fault says why. */
bool wf_native_table(struct wf_native_set *set, const unsigned char *raw, size_t size,
                     const char **fault);
