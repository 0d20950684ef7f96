/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/file.h"

#include "base/mem.h"
#include "base/varint.h"
#include "capture/capture.h"
#include "trace/weft/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { TABLE_MAX = 1 << 20, INDEX_BLOCKS = 1 << 20, INDEX_ENTRY = 3 * WF_VARINT_MAX };

struct listed {
    uint64_t offset, n_ops;
};

static struct {
    int fd;
    pid_t owner; /* a child of the program must not write to its file */
    uint32_t rank;
    uint64_t offset, first_op;
    struct listed *blocks;
    size_t n_blocks, blocks_room;
    uint64_t *tables;
    size_t n_tables, tables_room;
    unsigned char *table; /* records that are not in the file yet */
    size_t table_size, table_room;
} file = {.fd = -1};

/* A limit on the size of files is told by a signal that would end the program. */
struct quiet {
    sigset_t before;
    bool changed;
};

static void quiet_begin(struct quiet *quiet)
{
    sigset_t limit;

    (void)sigemptyset(&limit);
    (void)sigaddset(&limit, SIGXFSZ);
    quiet->changed = pthread_sigmask(SIG_BLOCK, &limit, &quiet->before) == 0;
}

static void quiet_end(const struct quiet *quiet, int error)
{
    static const struct timespec at_once = {0, 0};
    sigset_t limit;

    if (!quiet->changed || sigismember(&quiet->before, SIGXFSZ) == 1) {
        return;
    }
    if (error == EFBIG) {
        (void)sigemptyset(&limit);
        (void)sigaddset(&limit, SIGXFSZ);
        (void)sigtimedwait(&limit, NULL, &at_once);
    }
    (void)pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
}

/* Appends both, or nothing. */
static bool append(const void *head, size_t head_size, const void *body, size_t body_size)
{
    struct iovec parts[2] = {{wf_unconst(head), head_size}, {wf_unconst(body), body_size}};
    size_t left = head_size + body_size;
    struct quiet quiet;
    int error = 0;

    if (file.fd < 0 || file.owner != getpid()) {
        return false;
    }
    quiet_begin(&quiet);
    while (left > 0 && error == 0) {
        ssize_t n = writev(file.fd, parts, 2);
        if (n < 0) {
            error = errno == EINTR ? 0 : errno;
            continue;
        }
        left -= (size_t)n;
        for (int i = 0; i < 2; i++) {
            size_t done = (size_t)n < parts[i].iov_len ? (size_t)n : parts[i].iov_len;
            parts[i].iov_base = (char *)parts[i].iov_base + done;
            parts[i].iov_len -= done;
            n -= (ssize_t)done;
        }
    }
    quiet_end(&quiet, error);
    if (error != 0) {
        (void)!ftruncate(file.fd, (off_t)file.offset);
        wf_give_up(strerror(error));
        return false;
    }
    file.offset += head_size + body_size;
    return true;
}

static bool put_frame(struct wf_frame frame, const unsigned char *raw, size_t size)
{
    unsigned char head[WF_FRAME_BYTES];

    wf_frame_store(&frame, raw, size);
    wf_frame_write(&frame, head);
    return append(head, sizeof(head), raw, size);
}

/* Room for one more element; null if there is no memory, and then the recording is over. */
static void *one_more(void *array, size_t n, size_t *room, size_t element)
{
    if (n < *room) {
        return array;
    }
    size_t more = *room == 0 ? 256 : *room * 2;
    void *larger = realloc(array, more * element);
    if (larger == NULL) {
        wf_give_up("out of memory");
        return NULL;
    }
    *room = more;
    return larger;
}

bool wf_file_open(const char *path, uint32_t rank, uint32_t n_ranks)
{
    const struct wf_file_header header = {WF_FILE_VERSION, n_ranks, WF_BLOCK_BYTES, 1};
    unsigned char bytes[WF_HEADER_BYTES];

    file.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.fd < 0) {
        wf_give_up(strerror(errno));
        return false;
    }
    file.owner = getpid();
    file.rank = rank;
    wf_header_write(&header, bytes);
    return append(bytes, sizeof(bytes), NULL, 0);
}

static bool put_table(void)
{
    if (file.table_size == 0) {
        return true;
    }
    void *tables = one_more(file.tables, file.n_tables, &file.tables_room, sizeof(uint64_t));
    if (tables == NULL) {
        return false;
    }
    file.tables = tables;
    file.tables[file.n_tables++] = file.offset;
    bool done =
        put_frame((struct wf_frame){.type = WF_FRAME_TABLE}, file.table, file.table_size);
    file.table_size = 0;
    return done;
}

void wf_file_record(enum wf_record_type type, const unsigned char *bytes, size_t size)
{
    size_t most = file.table_size + size + 2 * (size_t)WF_VARINT_MAX;

    if (most > file.table_room) {
        size_t room = most * 2 < 4096 ? 4096 : most * 2;
        unsigned char *larger = realloc(file.table, room);
        if (larger == NULL) {
            wf_give_up("out of memory");
            return;
        }
        file.table = larger;
        file.table_room = room;
    }
    unsigned char *at = file.table + file.table_size;
    at = wf_varint_write(at, type);
    at = wf_varint_write(at, size);
    memcpy(at, bytes, size);
    file.table_size = (size_t)(at + size - file.table);
    if (file.table_size > TABLE_MAX) {
        (void)put_table();
    }
}

void wf_file_block(const unsigned char *raw, size_t size, uint64_t n_ops)
{
    if (!put_table()) {
        return;
    }
    void *blocks =
        one_more(file.blocks, file.n_blocks, &file.blocks_room, sizeof(*file.blocks));
    if (blocks == NULL) {
        return;
    }
    file.blocks = blocks;
    uint64_t at = file.offset;
    const struct wf_frame frame = {
        .type = WF_FRAME_BLOCK, .rank = file.rank, .first_op = file.first_op, .n_ops = n_ops};
    if (put_frame(frame, raw, size)) {
        file.blocks[file.n_blocks++] = (struct listed){at, n_ops};
        file.first_op += n_ops;
    }
}

static unsigned char *index_head(unsigned char *at, const struct wf_totals *totals)
{
    uint64_t before = 0;

    at = wf_varint_write(at, (totals->acts_in_background ? 1U : 0U) |
                                 (totals->depends_on_time ? 2U : 0U));
    at = wf_varint_write(at, totals->n_ops);
    at = wf_varint_write(at, totals->n_stored);
    at = wf_varint_write(at, totals->raw_bytes);
    at = wf_varint_write(at, totals->n_messages);
    at = wf_varint_write(at, file.n_blocks);
    at = wf_varint_write(at, file.n_tables);
    for (size_t i = 0; i < file.n_tables; i++) {
        at = wf_varint_write(at, file.tables[i] - before);
        before = file.tables[i];
    }
    return at;
}

void wf_file_finish(const struct wf_totals *totals)
{
    if (!put_table()) {
        return;
    }
    size_t most = file.n_blocks < INDEX_BLOCKS ? file.n_blocks : INDEX_BLOCKS;
    unsigned char *index = malloc((8 + file.n_tables) * WF_VARINT_MAX + most * INDEX_ENTRY);
    unsigned char trailer[WF_TRAILER_BYTES];
    uint64_t begin = file.offset, before = 0, rank = file.rank;
    size_t done = 0;
    uint32_t number = 0;
    bool good = index != NULL;

    while (good && (number == 0 || done < file.n_blocks)) {
        unsigned char *at = number == 0 ? index_head(index, totals) : index;
        size_t n = file.n_blocks - done < most ? file.n_blocks - done : most;
        for (size_t i = done; i < done + n; i++) {
            at = wf_varint_write(at, file.blocks[i].offset - before);
            at = wf_varint_write(at, wf_zigzag((int64_t)rank));
            at = wf_varint_write(at, file.blocks[i].n_ops);
            before = file.blocks[i].offset;
            rank = 0;
        }
        const struct wf_frame frame = {.type = WF_FRAME_INDEX, .rank = number++, .n_ops = n};
        good = put_frame(frame, index, (size_t)(at - index));
        done += n;
    }
    if (good) {
        wf_trailer_write(begin, trailer);
        (void)append(trailer, sizeof(trailer), NULL, 0);
    }
    free(index);
}

void wf_file_close(void)
{
    if (file.fd >= 0) {
        (void)close(file.fd);
        file.fd = -1;
    }
}
