/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/capture/file.h"

#include "base/mem.h"
#include "mpi/capture/capture.h"
#include "program/trace/weft/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { TABLE_MAX = 1 << 20 };

static struct {
    int fd;
    pid_t owner; /* a forked child must not write to the file */
    uint32_t rank;
    uint64_t offset, first_op;
    struct wf_native_index index;
    unsigned char *table; /* records that are not in the file yet */
    size_t table_size, table_capacity;
} file = {.fd = -1};

/* Blocks SIGXFSZ, which would kill the program when the file reaches the size limit. */
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

/* Appends head and body, or nothing. */
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
        wf_cap_give_up(strerror(error));
        return false;
    }
    file.offset += head_size + body_size;
    return true;
}

static bool put_frame(struct wf_native_frame frame, const unsigned char *raw, size_t size)
{
    unsigned char head[WF_NATIVE_FRAME_BYTES];

    wf_native_frame_store(&frame, raw, size);
    wf_native_frame_write(&frame, head);
    return append(head, sizeof(head), raw, size);
}

/* Returns memory for at least `n` elements, with spare capacity. If there is no memory, ends
 * the recording and returns null. */
static void *enlarge(void *array, size_t n, size_t *capacity, size_t element)
{
    if (n <= *capacity) {
        return array;
    }
    size_t doubled = n < 256 ? 256 : n * 2;
    void *larger = realloc(array, doubled * element);
    if (larger == NULL) {
        wf_cap_give_up("out of memory");
        return NULL;
    }
    *capacity = doubled;
    return larger;
}

bool wf_cap_file_open(const char *path, uint32_t rank, uint32_t n_ranks)
{
    const struct wf_native_header header = {WF_NATIVE_FILE_VERSION, n_ranks,
                                            WF_NATIVE_BLOCK_BYTES, 1};
    unsigned char bytes[WF_NATIVE_HEADER_BYTES];

    file.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.fd < 0) {
        wf_cap_give_up(strerror(errno));
        return false;
    }
    file.owner = getpid();
    file.rank = rank;
    wf_native_header_write(&header, bytes);
    return append(bytes, sizeof(bytes), NULL, 0);
}

static bool put_table(void)
{
    struct wf_native_index *index = &file.index;

    if (file.table_size == 0) {
        return true;
    }
    uint64_t *tables = enlarge(index->tables, index->n_tables + 1, &index->tables_capacity,
                               sizeof(*index->tables));
    if (tables == NULL) {
        return false;
    }
    index->tables = tables;
    tables[index->n_tables++] = file.offset;
    bool done = put_frame((struct wf_native_frame){.type = WF_FRAME_TABLE}, file.table,
                          file.table_size);
    file.table_size = 0;
    return done;
}

void wf_cap_file_record(enum wf_native_record_type type, const uint64_t *numbers, size_t n,
                        const char *text)
{
    const struct wf_native_record record = {type, numbers, n, text};
    unsigned char *table = enlarge(file.table, file.table_size + wf_native_record_max(&record),
                                   &file.table_capacity, 1);

    if (table == NULL) {
        return;
    }
    file.table = table;
    file.table_size =
        (size_t)(wf_native_encode_record(&record, table + file.table_size) - table);
    if (file.table_size > TABLE_MAX) {
        (void)put_table();
    }
}

void wf_cap_file_block(const unsigned char *raw, size_t size, uint64_t n_ops)
{
    struct wf_native_index *index = &file.index;

    if (!put_table()) {
        return;
    }
    struct wf_native_block *blocks = enlarge(index->blocks, index->n_blocks + 1,
                                             &index->blocks_capacity, sizeof(*index->blocks));
    if (blocks == NULL) {
        return;
    }
    index->blocks = blocks;
    const struct wf_native_block block = {file.offset, file.first_op, n_ops, file.rank, 0};
    const struct wf_native_frame frame = {
        .type = WF_FRAME_BLOCK, .rank = file.rank, .first_op = file.first_op, .n_ops = n_ops};
    if (put_frame(frame, raw, size)) {
        blocks[index->n_blocks++] = block;
        file.first_op += n_ops;
    }
}

void wf_cap_file_finish(const struct wf_native_totals *totals)
{
    if (!put_table()) {
        return;
    }
    unsigned char *bytes = malloc(wf_native_index_max(&file.index, 0));
    unsigned char trailer[WF_NATIVE_TRAILER_BYTES];
    uint64_t begin = file.offset;
    uint32_t number = 0;
    size_t done = 0;
    bool good = bytes != NULL;

    while (good && (number == 0 || done < file.index.n_blocks)) {
        size_t first = done;
        const unsigned char *end = wf_native_encode_index(&file.index, totals, &done, bytes);
        const struct wf_native_frame frame = {
            .type = WF_FRAME_INDEX, .rank = number++, .n_ops = done - first};
        good = put_frame(frame, bytes, (size_t)(end - bytes));
    }
    if (good) {
        wf_native_trailer_write(begin, trailer);
        (void)append(trailer, sizeof(trailer), NULL, 0);
    }
    free(bytes);
}

void wf_cap_file_close(void)
{
    if (file.fd >= 0) {
        (void)close(file.fd);
        file.fd = -1;
    }
}
