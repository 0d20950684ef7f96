/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/weft/file.h"

#include "base/array.h"
#include "base/guard.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "base/varint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEX_NAME "index.weft"
#define MAPPED_MAX (UINT64_C(256) << 20) /* bytes of files that are mapped into memory */
enum { AIM_MAX = 1 << 20, UNPACKED_MAX = 1 << 10, BYTES_PER_RANK = 64 }; /* see raw_max() */
enum { OPEN_FILES_MAX = 256, PARTS_MAX = 1 << 20 };
enum { RANKS_PLAUSIBLE = 1 << 24, RANKS_PER_BLOCK = 1024 }; /* see check_ranks() */

/* Notes damage of the trace. The first note is kept. */
WF_PRINTF(2, 3)
static void note_damage(struct wf_native_set *set, const char *fmt, ...)
{
    char words[WF_ERR_TEXT_MAX];
    va_list args;

    if (set->damaged) {
        return;
    }
    va_start(args, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    set->damaged = true;
    (void)wf_err_set(&set->damage, WF_EINVAL, "%s", words);
}

static bool read_fully(int fd, uint64_t offset, unsigned char *bytes, size_t size)
{
    while (size > 0) {
        errno = 0;
        ssize_t n = pread(fd, bytes, size, (off_t)offset);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        bytes += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return true;
}

/* Reads bytes of a file. Returns false if it cannot; errno is 0 if the file ends before. */
static bool read_bytes(const struct wf_native_set *set, uint32_t file, uint64_t offset,
                       void *bytes, size_t size)
{
    const struct wf_native_file *f = &set->files[file];

    if (f->map != NULL) {
        errno = 0;
        bool inside = offset <= f->size && size <= f->size - offset;
        if (inside && size > 0) {
            memcpy(bytes, f->map + offset, size);
        }
        return inside;
    }
    int fd = f->fd >= 0 ? f->fd : open(f->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    bool done = read_fully(fd, offset, bytes, size);
    if (f->fd < 0) {
        int saved = errno;
        (void)close(fd);
        errno = saved;
    }
    return done;
}

/* The most that the content of a frame can have. A block ends when it has the size that its writer
 * aims for, after an op whose arrays have elements for each rank; all else is in proportion to what
 * is stored, so that memory and time are in proportion to the files. */
static uint64_t raw_max(const struct wf_native_set *set, const struct wf_native_frame *frame)
{
    uint64_t aim = set->header.block_size < AIM_MAX ? set->header.block_size : AIM_MAX;
    uint64_t ranks = set->n_bytes / WF_NATIVE_FRAME_BYTES;

    if (frame->type != WF_FRAME_BLOCK) {
        return AIM_MAX + (uint64_t)UNPACKED_MAX * frame->stored_size;
    }
    ranks = ranks < set->header.n_ranks ? ranks : set->header.n_ranks;
    return 2 * aim + (1 << 12) + BYTES_PER_RANK * ranks +
           (uint64_t)UNPACKED_MAX * frame->stored_size;
}

const char *wf_native_read_frame(const struct wf_native_set *set, uint32_t file,
                                 uint64_t offset, struct wf_native_frame *frame,
                                 struct wf_native_tools *tools)
{
    struct wf_buf *stored = &tools->stored, *raw = &tools->raw;
    unsigned char head[WF_NATIVE_FRAME_BYTES];
    uint64_t left = set->files[file].size - offset;

    if (!read_bytes(set, file, offset, head, sizeof(head))) {
        return errno != 0 ? strerror(errno) : "the file ends before";
    }
    if (!wf_native_frame_read(head, frame)) {
        return "its head is damaged";
    }
    if (left < sizeof(head) || frame->stored_size > left - sizeof(head)) {
        return "the file ends within it";
    }
    if (frame->raw_size > raw_max(set, frame)) {
        return "its content is damaged (impossible size)";
    }
    stored->size = 0;
    raw->size = 0;
    wf_buf_reserve(raw, 1);
    void *bytes = wf_buf_extend(stored, (size_t)frame->stored_size + 1);
    if (!read_bytes(set, file, offset + sizeof(head), bytes, frame->stored_size)) {
        return errno != 0 ? strerror(errno) : "the file ends within it";
    }
    (void)wf_buf_extend(raw, frame->raw_size);
    return wf_native_frame_unpack(tools->packer, frame, bytes, raw->data)
               ? NULL
               : "its content is damaged (wrong checksum)";
}

const unsigned char *wf_native_mapped_frame(const struct wf_native_set *set, uint32_t file,
                                            uint64_t offset, size_t padding,
                                            struct wf_native_frame *frame)
{
    const struct wf_native_file *f = &set->files[file];

    if (f->map == NULL || f->size - offset < WF_NATIVE_FRAME_BYTES ||
        !wf_native_frame_read(f->map + offset, frame) || frame->compressed ||
        f->size - offset - WF_NATIVE_FRAME_BYTES < (uint64_t)frame->stored_size + padding) {
        return NULL;
    }
    return f->map + offset + WF_NATIVE_FRAME_BYTES;
}

void wf_native_set_own(struct wf_native_set *set)
{
    set->is_ours = true;
    for (uint32_t i = 0; i < set->n_files && set->n_bytes <= MAPPED_MAX; i++) {
        struct wf_native_file *file = &set->files[i];
        void *map =
            file->fd < 0 || file->size == 0
                ? MAP_FAILED
                : wf_guard_map(mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, file->fd, 0),
                               file->size);
        file->map = map == MAP_FAILED ? NULL : map;
    }
}

void wf_native_tools_fini(struct wf_native_tools *tools)
{
    wf_native_packer_free(tools->packer);
    wf_buf_fini(&tools->stored);
    wf_buf_fini(&tools->raw);
}

/* Reads a frame and its content (frames->raw). Returns false if it is missing or damaged. */
static bool read_content(const struct wf_native_set *set, uint32_t file, uint64_t offset,
                         struct wf_native_frame *frame, struct wf_native_tools *frames)
{
    return wf_native_read_frame(set, file, offset, frame, frames) == NULL;
}

static void add_block(struct wf_native_set *set, struct wf_native_block block)
{
    WF_PUSH(set->blocks, set->n_blocks, set->capacity, block);
}

/* Reads the names of the other files of a directory. Returns null, or what is wrong. */
static const char *read_parts(struct wf_native_set *set, const struct wf_buf *raw)
{
    struct wf_reading in = {raw->data, raw->data + raw->size, false};
    uint64_t n = wf_varint_get_max(&in, PARTS_MAX);

    for (uint64_t i = 0; i < n && !in.failed; i++) {
        uint64_t length = wf_varint_get_max(&in, 255);
        if (length == 0 || length > (uint64_t)(in.end - in.at) ||
            memchr(in.at, '/', length) != NULL || memchr(in.at, 0, length) != NULL) {
            in.failed = true;
            break;
        }
        set->parts = wf_xrealloc(set->parts, (size_t)set->n_parts + 1, sizeof(*set->parts));
        set->parts[set->n_parts++] = wf_text_make("%.*s", (int)length, (const char *)in.at);
        in.at += length;
    }
    return in.failed ? "the names of its parts make no sense" : NULL;
}

/* Reads the content of a frame that is a table or a list of parts. */
static bool use_content(struct wf_native_set *set, const struct wf_native_frame *frame,
                        const struct wf_buf *raw, const char **fault)
{
    if (frame->type == WF_FRAME_PARTS) {
        *fault = read_parts(set, raw);
        return *fault == NULL;
    }
    return wf_native_table(set, raw->data, raw->size, fault);
}

/* ---- without an index ---- */

static void scan(struct wf_native_set *set, uint32_t file, struct wf_native_tools *frames)
{
    const struct wf_native_file *f = &set->files[file];
    uint64_t offset = WF_NATIVE_HEADER_BYTES;
    unsigned char head[WF_NATIVE_FRAME_BYTES];
    const char *fault = NULL;
    struct wf_native_frame frame;

    while (f->size - offset >= WF_NATIVE_FRAME_BYTES &&
           read_bytes(set, file, offset, head, sizeof(head)) &&
           wf_native_frame_read(head, &frame) && frame.type != WF_FRAME_INDEX &&
           frame.stored_size <= f->size - offset - WF_NATIVE_FRAME_BYTES) {
        if (frame.type == WF_FRAME_BLOCK) {
            if (frame.rank >= set->header.n_ranks || frame.n_ops == 0) {
                break;
            }
            add_block(set, (struct wf_native_block){offset, frame.first_op, frame.n_ops,
                                                    frame.rank, file});
        } else if (frame.type == WF_FRAME_TABLE || frame.type == WF_FRAME_PARTS) {
            if (!read_content(set, file, offset, &frame, frames) ||
                !use_content(set, &frame, &frames->raw, &fault)) {
                break;
            }
        }
        offset += WF_NATIVE_FRAME_BYTES + frame.stored_size;
    }
    set->files[file].end = offset;
    note_damage(set,
                "%.200s: truncated or damaged at byte %" PRIu64
                ": it has no index, and what follows is lost",
                f->path, offset);
}

/* ---- with an index ---- */

static bool read_tables(struct wf_native_set *set, uint32_t file, struct wf_reading *in,
                        const uint64_t n_tables)
{
    struct wf_native_tools frames = {.packer = wf_native_packer_new()};
    struct wf_native_frame frame;
    const char *fault = NULL;
    uint64_t offset = 0;
    bool good = true;

    for (uint64_t i = 0; i < n_tables && good; i++) {
        offset += wf_varint_get(in);
        good = !in->failed && offset < set->files[file].size &&
               read_content(set, file, offset, &frame, &frames) &&
               (frame.type == WF_FRAME_TABLE || frame.type == WF_FRAME_PARTS) &&
               use_content(set, &frame, &frames.raw, &fault);
    }
    wf_native_tools_fini(&frames);
    return good;
}

/* Reads the list of blocks in one frame of the index. Each entry is stored as the difference to
 * the one before, which `before` holds between calls. */
static bool read_blocks(struct wf_native_set *set, uint64_t n, struct wf_reading *in,
                        struct wf_native_block *before)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t step = wf_varint_get(in);
        uint64_t rank = before->rank + wf_unzigzag(wf_varint_get(in));
        before->n_ops = wf_varint_get(in);
        if (in->failed || step < (i == 0 ? 1 : WF_NATIVE_FRAME_BYTES) ||
            step > set->files[before->file].size - before->offset ||
            rank >= set->header.n_ranks || before->n_ops == 0) {
            return false;
        }
        before->offset += step;
        before->rank = (uint32_t)rank;
        add_block(set, *before);
    }
    return true;
}

static struct wf_native_totals read_totals(struct wf_reading *in)
{
    struct wf_native_totals totals;
    uint64_t flags = wf_varint_get(in);

    totals.acts_in_background = (flags & 1) != 0;
    totals.depends_on_time = (flags & 2) != 0;
    totals.any_sizes = (flags & 4) != 0;
    totals.n_ops = wf_varint_get(in);
    totals.n_stored = wf_varint_get(in);
    totals.raw_bytes = wf_varint_get(in);
    totals.n_messages = wf_varint_get(in);
    return totals;
}

/* In a directory, only the file that lists the others has totals; they cover all files. Files
 * of a directory without a list have totals of their own. */
static void add_totals(struct wf_native_totals *sum, const struct wf_native_totals *totals)
{
    sum->n_ops += totals->n_ops;
    sum->n_stored += totals->n_stored;
    sum->raw_bytes += totals->raw_bytes;
    sum->n_messages += totals->n_messages;
    sum->acts_in_background |= totals->acts_in_background;
    sum->depends_on_time |= totals->depends_on_time;
    sum->any_sizes |= totals->any_sizes;
}

static bool read_index_frames(struct wf_native_set *set, uint32_t file, uint64_t offset,
                              struct wf_native_tools *frames)
{
    uint64_t end = set->files[file].size - WF_NATIVE_TRAILER_BYTES;
    struct wf_native_block before = {.file = file};
    uint64_t n_left = 0;

    for (uint32_t number = 0; offset < end; number++) {
        struct wf_native_frame frame;
        if (!read_content(set, file, offset, &frame, frames) || frame.type != WF_FRAME_INDEX ||
            frame.rank != number) {
            return false;
        }
        const struct wf_buf *raw = &frames->raw;
        struct wf_reading in = {raw->data, raw->data + raw->size, false};
        if (number == 0) {
            struct wf_native_totals totals = read_totals(&in);
            n_left = wf_varint_get(&in);
            uint64_t n_tables = wf_varint_get(&in);
            if (in.failed || !read_tables(set, file, &in, n_tables)) {
                return false;
            }
            add_totals(&set->totals, &totals);
        }
        if (frame.n_ops > n_left || !read_blocks(set, frame.n_ops, &in, &before) ||
            in.at != in.end) {
            return false;
        }
        n_left -= frame.n_ops;
        offset += WF_NATIVE_FRAME_BYTES + frame.stored_size;
    }
    return offset == end && n_left == 0;
}

static void forget_tables(struct wf_native_set *set)
{
    for (uint32_t kind = 0; kind < WF_NAME_KINDS; kind++) {
        for (uint32_t i = 0; i < set->names[kind].n; i++) {
            free(set->names[kind].names[i]);
        }
        free(set->names[kind].names);
        set->names[kind] = (struct wf_native_names){NULL, 0};
    }
    for (uint32_t i = 0; i < set->n_parts; i++) {
        free(set->parts[i]);
    }
    free(set->parts);
    set->parts = NULL;
    set->n_parts = 0;
    free(set->creator);
    set->creator = NULL;
    set->walls.n = 0;
    set->costs.n = 0;
    set->n_cancelled = 0;
    set->clocks = (struct wf_native_clocks){0};
    set->n_members = 0;
    free(set->roots_end);
    set->roots_end = NULL;
}

/* Returns false if there is no valid index. Then nothing that it contained is kept. */
static bool read_index(struct wf_native_set *set, uint32_t file, struct wf_native_tools *frames)
{
    unsigned char trailer[WF_NATIVE_TRAILER_BYTES];
    uint64_t size = set->files[file].size;
    uint64_t offset = 0;
    size_t n_blocks = set->n_blocks;

    if (size < WF_NATIVE_HEADER_BYTES + WF_NATIVE_TRAILER_BYTES ||
        !read_bytes(set, file, size - WF_NATIVE_TRAILER_BYTES, trailer, sizeof(trailer)) ||
        !wf_native_trailer_read(trailer, &offset) || offset < WF_NATIVE_HEADER_BYTES ||
        offset >= size - WF_NATIVE_TRAILER_BYTES) {
        return false;
    }
    if (read_index_frames(set, file, offset, frames)) {
        return true;
    }
    set->n_blocks = n_blocks;
    if (file == 0) {
        forget_tables(set);
        wf_groups_free(set->groups);
        set->groups = wf_groups_new(set->header.n_ranks);
    }
    return false;
}

/* ---- files ---- */

static enum wf_status check_header(struct wf_native_set *set, const char *path,
                                   const struct wf_native_header *header, struct wf_err *err)
{
    if (header->version == 0 || header->version > WF_NATIVE_VERSION_LAST) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s: a trace of version %" PRIu32
                          "; this weft reads versions up to %d",
                          path, header->version, WF_NATIVE_VERSION_LAST);
    }
    if (header->n_ranks == 0 || header->n_ranks > WF_RANKS_MAX || header->unit_ps != 1 ||
        header->block_size > WF_NATIVE_RAW_MAX) {
        return wf_err_set(err, WF_EINVAL, "%.200s: its header makes no sense", path);
    }
    if (set->groups != NULL && header->version != set->header.version) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s: of version %" PRIu32 "; the others have %" PRIu32, path,
                          header->version, set->header.version);
    }
    if (set->groups != NULL && header->n_ranks != set->header.n_ranks) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s: of a trace of %" PRIu32 " ranks; the others have %" PRIu32,
                          path, header->n_ranks, set->header.n_ranks);
    }
    return WF_OK;
}

/* Opens a file and adds it to the set. Takes ownership of `path`. */
static enum wf_status add_file(struct wf_native_set *set, char *path, struct wf_err *err)
{
    struct stat st;
    struct wf_native_file file = {
        .path = path, .fd = wf_guard_fd(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC))};

    set->files = wf_xrealloc(set->files, (size_t)set->n_files + 1, sizeof(*set->files));
    set->files[set->n_files++] = file;
    if (file.fd < 0 || fstat(file.fd, &st) != 0) {
        return wf_err_set(err, WF_EIO, "cannot read '%.300s': %s", path, strerror(errno));
    }
    if (!S_ISREG(st.st_mode)) {
        return wf_err_set(err, WF_EINVAL, "'%.300s' is no file: traces are read from files",
                          path);
    }
    set->files[set->n_files - 1].device = st.st_dev;
    set->files[set->n_files - 1].inode = st.st_ino;
    set->files[set->n_files - 1].size = (uint64_t)st.st_size;
    set->n_bytes += (uint64_t)st.st_size;
    return WF_OK;
}

static enum wf_status open_file(struct wf_native_set *set, char *path, struct wf_err *err)
{
    unsigned char bytes[WF_NATIVE_HEADER_BYTES];
    struct wf_native_header header;
    uint32_t file = set->n_files;

    WF_TRY(add_file(set, path, err));
    if (!read_bytes(set, file, 0, bytes, sizeof(bytes)) ||
        !wf_native_header_read(bytes, &header)) {
        return wf_err_set(err, WF_EINVAL, "%.300s: its header is damaged or truncated", path);
    }
    WF_TRY(check_header(set, path, &header, err));
    if (set->groups == NULL) {
        set->header = header;
        set->groups = wf_groups_new(header.n_ranks);
    }
    struct wf_native_tools frames = {.packer = wf_native_packer_new()};
    if (read_index(set, file, &frames)) {
        set->files[file].is_whole = true;
        set->files[file].end = set->files[file].size;
    } else {
        scan(set, file, &frames);
    }
    wf_native_tools_fini(&frames);
    if (file >= OPEN_FILES_MAX) {
        (void)wf_close(set->files[file].fd);
        set->files[file].fd = -1;
    }
    return WF_OK;
}

static int is_trace(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return entry->d_name[0] != '.' && length > 5 &&
           strcmp(entry->d_name + length - 5, ".weft") == 0;
}

/* Opens all files of a directory that has no list of its files. */
static enum wf_status open_all(struct wf_native_set *set, struct wf_err *err)
{
    struct dirent **entries = NULL;
    int n = scandir(set->path, &entries, is_trace, alphasort);
    enum wf_status status = WF_OK;

    if (n <= 0) {
        free(entries);
        return n < 0
                   ? wf_err_set(err, WF_EIO, "cannot read '%.300s': %s", set->path,
                                strerror(errno))
                   : wf_err_set(err, WF_EINVAL, "'%.300s' has no .weft files in it", set->path);
    }
    for (int i = 0; i < n; i++) {
        WF_THEN(status,
                open_file(set, wf_text_make("%s/%s", set->path, entries[i]->d_name), err));
        free(entries[i]);
    }
    free(entries);
    return status;
}

static enum wf_status open_directory(struct wf_native_set *set, struct wf_err *err)
{
    char *index = wf_text_make("%s/%s", set->path, INDEX_NAME);

    if (access(index, F_OK) != 0) {
        free(index);
        return open_all(set, err);
    }
    WF_TRY(open_file(set, index, err));
    uint32_t n_parts = set->n_parts;
    for (uint32_t i = 0; i < n_parts; i++) {
        if (strcmp(set->parts[i], INDEX_NAME) == 0) {
            return wf_err_set(err, WF_EINVAL, "%.200s/" INDEX_NAME ": lists itself", set->path);
        }
        WF_TRY(open_file(set, wf_text_make("%s/%s", set->path, set->parts[i]), err));
        if (set->n_parts > n_parts) {
            return wf_err_set(err, WF_EINVAL,
                              "%.200s/%.100s: lists other files, which only " INDEX_NAME " may",
                              set->path, set->parts[i]);
        }
    }
    return WF_OK;
}

/* ---- the set of files ---- */

struct identity {
    uint64_t device, inode;
    const char *path;
};

static int compare_identities(const void *a, const void *b)
{
    const struct identity *x = a, *y = b;

    return 2 * WF_ORDER(x->device, y->device) + WF_ORDER(x->inode, y->inode);
}

/* Finds a file that is there twice, by two names or through a link. */
static enum wf_status check_files(const struct wf_native_set *set, struct wf_err *err)
{
    struct identity *files = wf_xcalloc(set->n_files, sizeof(*files));
    enum wf_status status = WF_OK;

    for (uint32_t i = 0; i < set->n_files; i++) {
        const struct wf_native_file *file = &set->files[i];
        files[i] = (struct identity){file->device, file->inode, file->path};
    }
    WF_SORT(files, set->n_files, compare_identities);
    for (uint32_t i = 1; i < set->n_files && status == WF_OK; i++) {
        if (compare_identities(&files[i - 1], &files[i]) == 0) {
            status = wf_err_set(err, WF_EINVAL, "'%.200s' and '%.200s' are the same file",
                                files[i - 1].path, files[i].path);
        }
    }
    free(files);
    return status;
}

static int compare_blocks(const void *a, const void *b)
{
    const struct wf_native_block *x = a, *y = b;

    return 4 * WF_ORDER(x->rank, y->rank) + 2 * WF_ORDER(x->file, y->file) +
           WF_ORDER(x->offset, y->offset);
}

static int compare_times(const void *a, const void *b)
{
    const struct wf_native_time *x = a, *y = b;

    return WF_ORDER(x->rank, y->rank);
}

/* Sorts the blocks, and numbers the ops of each rank across its blocks. */
static enum wf_status number_blocks(struct wf_native_set *set, struct wf_err *err)
{
    WF_SORT(set->blocks, set->n_blocks, compare_blocks);
    for (size_t i = 0; i < set->n_blocks; i++) {
        struct wf_native_block *block = &set->blocks[i];
        const struct wf_native_block *before = i > 0 ? block - 1 : block;
        bool same = i > 0 && before->rank == block->rank;

        if (same && before->file != block->file) {
            return wf_err_set(err, WF_EINVAL, "%.200s: rank %" PRIu32 " is in several files",
                              set->path, block->rank);
        }
        block->first_op = same ? before->first_op + before->n_ops : 0;
        if (block->n_ops > UINT64_MAX / 2 - block->first_op) {
            return wf_err_set(err, WF_EINVAL, "%.200s: rank %" PRIu32 " has too many ops",
                              set->path, block->rank);
        }
        set->n_ops = wf_count_add(set->n_ops, block->n_ops);
    }
    set->totals_known = !set->damaged && set->n_ops == set->totals.n_ops;
    return WF_OK;
}

/* Many ranks take memory even if they do nothing: the header of a small file must not ask for it. */
static enum wf_status check_ranks(const struct wf_native_set *set, struct wf_err *err)
{
    uint32_t n = set->header.n_ranks;

    if (n > RANKS_PLAUSIBLE && n / RANKS_PER_BLOCK > set->n_blocks) {
        return wf_err_set(err, WF_EINVAL,
                          "%.200s: its header says %" PRIu32
                          " ranks, but at most %zu of them have operations",
                          set->path, n, set->n_blocks);
    }
    return WF_OK;
}

enum wf_status wf_native_set_open(const char *path, struct wf_native_set *set,
                                  struct wf_err *err)
{
    struct stat st;

    *set = (struct wf_native_set){.path = wf_xstrdup(path)};
    enum wf_status status = stat(path, &st) == 0 && S_ISDIR(st.st_mode)
                                ? open_directory(set, err)
                                : open_file(set, wf_xstrdup(path), err);
    WF_THEN(status, check_files(set, err));
    WF_THEN(status, number_blocks(set, err));
    WF_THEN(status, check_ranks(set, err));
    if (status != WF_OK) {
        wf_native_set_close(set);
        return status;
    }
    WF_SORT(set->walls.times, set->walls.n, compare_times);
    WF_SORT(set->costs.times, set->costs.n, compare_times);
    WF_SORT(set->cancelled, set->n_cancelled, wf_native_by_op);
    return WF_OK;
}

void wf_native_set_close(struct wf_native_set *set)
{
    forget_tables(set);
    for (uint32_t i = 0; i < set->n_files; i++) {
        if (set->files[i].map != NULL) {
            (void)wf_munmap(wf_unconst(set->files[i].map), set->files[i].size);
        }
        if (set->files[i].fd >= 0) {
            (void)wf_close(set->files[i].fd);
        }
        free(set->files[i].path);
    }
    free(set->files);
    free(set->blocks);
    free(set->walls.times);
    free(set->costs.times);
    free(set->cancelled);
    free(set->path);
    wf_groups_free(set->groups);
}

void wf_native_set_facts(const struct wf_native_set *set, struct wf_native_facts *out)
{
    const struct wf_native_clocks *clocks = &set->clocks;
    bool compared = clocks->doubt > 0 && clocks->n_compared == clocks->n;

    *out = (struct wf_native_facts){
        .n_bytes = set->n_bytes,
        .n_ops = set->n_ops,
        .n_blocks = set->n_blocks,
        .n_files = set->n_files,
        .creator = set->creator,
        .totals_known = set->totals_known,
        .totals = set->totals,
        .damage = set->damaged ? &set->damage : NULL,
        .n_starts = clocks->n,
        .starts_ns = compared ? (uint64_t)(clocks->last_compared - clocks->first_compared)
                              : clocks->last_wall - clocks->first_wall,
        .doubt_ns = compared ? clocks->doubt : 0,
    };
}
