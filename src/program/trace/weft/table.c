/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "base/mem.h"
#include "base/varint.h"
#include "program/trace/weft/file.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 1 << 20 };

static char *copy_text(const struct wf_reading *in)
{
    size_t size = (size_t)(in->end - in->at);
    char *text = wf_xmalloc(size + 1);

    memcpy(text, in->at, size);
    text[size] = '\0';
    return text;
}

static const char *read_creator(struct wf_native_set *set, struct wf_reading *in)
{
    free(set->creator);
    set->creator = copy_text(in);
    return NULL;
}

static const char *read_name(struct wf_native_set *set, struct wf_reading *in)
{
    uint64_t kind = wf_varint_get(in);
    uint64_t number = wf_varint_get(in);

    if (in->failed || kind >= WF_NAME_KINDS || number >= NAMES_MAX) {
        return "a name makes no sense";
    }
    struct wf_native_names *names = &set->names[kind];
    WF_GROW_ZERO(names->names, number, names->n);
    free(names->names[number]);
    names->names[number] = copy_text(in);
    return NULL;
}

static uint32_t *read_members(struct wf_reading *in, uint32_t size)
{
    uint64_t member = 0;

    /* A member takes at least one byte. */
    if (size > (uint64_t)(in->end - in->at)) {
        in->failed = true;
        return NULL;
    }
    uint32_t *members = wf_xmalloc((size_t)size * sizeof(*members) + 1);
    for (uint32_t r = 0; r < size; r++) {
        member += wf_unzigzag(wf_varint_get(in));
        in->failed |= member > UINT32_MAX;
        members[r] = (uint32_t)member;
    }
    return members;
}

/* Groups given by arithmetic are short in a file and long in memory. Limits their total length
 * by the size of the files, so that a damaged trace cannot exhaust the memory. */
static bool too_many(struct wf_native_set *set, uint32_t size)
{
    set->n_members += size;
    return set->n_members > (UINT64_C(1) << 20) + 16 * set->n_bytes;
}

static const char *read_group(struct wf_native_set *set, struct wf_reading *in)
{
    uint32_t comm = wf_varint_get_u32(in);
    struct wf_group group = {.id = wf_varint_get_u32(in)};
    uint32_t *members = NULL;
    const char *fault = NULL;

    group.size = wf_varint_get_u32(in);
    if (wf_varint_get_max(in, 1) == 1) {
        group.first = wf_varint_get_u32(in);
        group.stride = wf_varint_get_u32(in);
        group.width = wf_varint_get_u32(in);
        group.stride2 = wf_varint_get_u32(in);
    } else {
        members = read_members(in, group.size);
        group.members = members;
        in->failed |= group.size == 0;
    }
    if (in->failed || comm == WF_COMM_WORLD) {
        fault = "a communicator makes no sense";
    } else if (too_many(set, group.size)) {
        fault = "its communicators have more members than the file has room for";
    } else {
        fault = wf_groups_fault(set->groups, &group);
    }
    if (fault == NULL && !wf_groups_has(set->groups, group.id, wf_group_rank(&group, 0))) {
        wf_groups_add(set->groups, comm, &group);
    }
    free(members);
    return fault;
}

static const char *read_bind(struct wf_native_set *set, struct wf_reading *in)
{
    uint32_t rank = wf_varint_get_u32(in);
    uint32_t comm = wf_varint_get_u32(in);
    uint32_t id = wf_varint_get_u32(in);
    uint32_t first = wf_varint_get_u32(in);

    if (in->failed || rank >= set->header.n_ranks || comm == WF_COMM_WORLD ||
        !wf_groups_bind(set->groups, rank, comm, id, first)) {
        return "a number of a communicator makes no sense";
    }
    return NULL;
}

static const char *read_time(const struct wf_native_set *set, struct wf_native_times *times,
                             struct wf_reading *in)
{
    uint32_t rank = wf_varint_get_u32(in);
    uint64_t ps = wf_varint_get_max(in, INT64_MAX);

    if (in->failed || rank >= set->header.n_ranks) {
        return "a recorded time makes no sense";
    }
    const struct wf_native_time time = {rank, (int64_t)ps};
    WF_PUSH(times->times, times->n, times->capacity, time);
    return NULL;
}

static const char *read_wall(struct wf_native_set *set, struct wf_reading *in)
{
    return read_time(set, &set->walls, in);
}

static const char *read_cost(struct wf_native_set *set, struct wf_reading *in)
{
    return read_time(set, &set->costs, in);
}

int wf_native_by_op(const void *a, const void *b)
{
    const struct wf_native_cancelled *x = a, *y = b;

    return 2 * WF_ORDER(x->rank, y->rank) + WF_ORDER(x->op, y->op);
}

static const char *read_cancelled(struct wf_native_set *set, struct wf_reading *in)
{
    uint32_t rank = wf_varint_get_u32(in);
    uint64_t op = wf_varint_get(in);

    if (in->failed || rank >= set->header.n_ranks) {
        return "what was cancelled makes no sense";
    }
    const struct wf_native_cancelled one = {rank, op};
    WF_PUSH(set->cancelled, set->n_cancelled, set->cancelled_capacity, one);
    return NULL;
}

static const char *read_clock(struct wf_native_set *set, struct wf_reading *in)
{
    struct wf_native_clocks *clocks = &set->clocks;
    uint32_t rank = wf_varint_get_u32(in);
    uint64_t ticks = wf_varint_get_max(in, INT64_MAX / 2);
    uint64_t wall = wf_varint_get_max(in, INT64_MAX);
    int64_t ahead = (int64_t)wf_unzigzag(wf_varint_get(in));
    uint64_t doubt = wf_varint_get_max(in, INT64_MAX);

    if (in->failed || rank >= set->header.n_ranks || ahead > INT64_MAX / 2 ||
        ahead < -INT64_MAX / 2) {
        return "a clock makes no sense";
    }
    int64_t compared = (int64_t)ticks - ahead;
    bool first = clocks->n++ == 0;
    clocks->first_wall = first || wall < clocks->first_wall ? wall : clocks->first_wall;
    clocks->last_wall = first || wall > clocks->last_wall ? wall : clocks->last_wall;
    clocks->first_compared =
        first || compared < clocks->first_compared ? compared : clocks->first_compared;
    clocks->last_compared =
        first || compared > clocks->last_compared ? compared : clocks->last_compared;
    /* The clock of rank 0 is the reference. */
    clocks->n_compared += doubt > 0 || rank == 0 ? 1 : 0;
    clocks->doubt = doubt > clocks->doubt ? doubt : clocks->doubt;
    return NULL;
}

static const char *read_roots(struct wf_native_set *set, struct wf_reading *in)
{
    uint32_t pe = wf_varint_get_u32(in);
    uint32_t end = wf_varint_get_u32(in);

    if (in->failed || pe >= set->header.n_ranks) {
        return "where the first tasks of a PE are makes no sense";
    }
    if (set->roots_end == NULL) {
        size_t size = set->header.n_ranks * sizeof(*set->roots_end);
        set->roots_end = wf_xmalloc(size);
        memset(set->roots_end, 0xff, size);
    }
    set->roots_end[pe] = end;
    return NULL;
}

static const char *read_streams(struct wf_native_set *set, struct wf_reading *in)
{
    uint32_t n_nics = wf_varint_get_u32(in);
    uint32_t n_streams = wf_varint_get_u32(in);

    if (in->failed || n_nics == 0 || n_nics > UINT8_MAX + 1 || n_streams == 0 ||
        n_streams > WF_STREAMS_MAX) {
        return "the numbers of streams and interfaces of a PE make no sense";
    }
    set->n_nics = n_nics;
    set->n_streams = n_streams;
    for (uint32_t i = 0; i < n_streams; i++) {
        set->streams[i] = (uint8_t)wf_varint_get_max(in, WF_STREAM_KINDS - 1);
    }
    return in->failed ? "a stream of a PE makes no sense" : NULL;
}

static const struct {
    enum wf_native_record_type type;
    const char *(*read)(struct wf_native_set *set, struct wf_reading *in);
} readers[] = {
    {WF_RECORD_CREATOR, read_creator},     {WF_RECORD_NAME, read_name},
    {WF_RECORD_GROUP, read_group},         {WF_RECORD_BIND, read_bind},
    {WF_RECORD_WALL, read_wall},           {WF_RECORD_ROOTS, read_roots},
    {WF_RECORD_CLOCK, read_clock},         {WF_RECORD_COST, read_cost},
    {WF_RECORD_CANCELLED, read_cancelled}, {WF_RECORD_STREAMS, read_streams},
};

bool wf_native_table(struct wf_native_set *set, const unsigned char *raw, size_t size,
                     const char **fault)
{
    struct wf_reading in = {raw, raw + size, false};

    *fault = NULL;
    while (in.at < in.end && *fault == NULL) {
        uint64_t type = wf_varint_get(&in);
        uint64_t length = wf_varint_get(&in);
        if (in.failed || length > (uint64_t)(in.end - in.at)) {
            *fault = "a record is cut off";
            break;
        }
        struct wf_reading record = {in.at, in.at + length, false};
        in.at += length;
        /* Records of unknown types come from later versions, and may be ignored. */
        for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
            if (readers[i].type == type) {
                *fault = readers[i].read(set, &record);
            }
        }
    }
    return *fault == NULL;
}
