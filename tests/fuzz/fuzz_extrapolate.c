/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: programs at two or three numbers of ranks that differ from rank to rank and from count
 * to count in any way; each byte chooses something that exists: a kind of op, a rule for a member of
 * its layout, a number at a limit. Whatever is understood of them is written for a fourth number,
 * and every op that is written makes sense. */
#include "base/mem.h"
#include "program/extrapolate/extrapolate.h"
#include "program/ops/created.h"
#include "program/ops/fields.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COUNTS_MAX = 3, RANKS_MAX = 12, OPS_MAX = 400, RECORD = 8, ELEMENTS = 64 };

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

/* A program: the ops of each rank. */
struct program {
    struct wf_source source;
    struct wf_op ops[RANKS_MAX][OPS_MAX];
    uint32_t n[RANKS_MAX];
    uint32_t members[RANKS_MAX];
    uint64_t elements[ELEMENTS];
};

static bool program_next(const struct wf_source *source, uint32_t rank,
                         struct wf_cursor *cursor, struct wf_op *op)
{
    const struct program *p = (const struct program *)source;

    if (cursor->word[0] >= p->n[rank]) {
        return false;
    }
    *op = p->ops[rank][cursor->word[0]++];
    return true;
}

/* 0: the world, 1: halves, 2: every other rank, 3: only rank 0 and the last have it. */
static bool program_group(const struct wf_source *source, uint32_t rank, uint32_t comm,
                          struct wf_group *out)
{
    uint32_t n = source->n_ranks, half = n / 2;

    *out = (struct wf_group){.id = comm, .size = n, .rank = rank, .stride = 1, .width = n};
    if (comm == 1 && half > 0) {
        out->first = rank < half ? 0 : half;
        out->size = rank < half ? half : n - half;
        out->rank = rank - out->first;
    } else if (comm == 2) {
        out->first = rank % 2;
        out->stride = 2;
        out->size = (n - rank % 2 + 1) / 2;
        out->rank = rank / 2;
    } else if (comm == 3) {
        out->stride = n > 1 ? n - 1 : 1;
        out->size = n > 1 ? 2 : 1;
        out->rank = rank > 0 ? 1 : 0;
        return rank == 0 || rank == n - 1;
    }
    return comm <= 2;
}

static const struct wf_source_ops program_ops = {
    .name = "fuzz", .next = program_next, .group = program_group};

static const uint64_t limits[] = {
    0,
    1,
    2,
    7,
    255,
    4096,
    INT32_MAX,
    UINT32_MAX,
    WF_PROC_NULL,
    INT64_MAX,
    UINT64_MAX,
    1000003,
    (uint64_t)INT32_MIN,
    UINT64_C(1) << 40,
    UINT64_C(1) << 62,
    100,
};

/* A number from a byte that says the rule and one that is its parameter. */
static uint64_t number(uint8_t rule, uint8_t by, uint32_t rank, uint32_t n)
{
    switch (rule % 10) {
    case 0:
        return by % n;
    case 1:
        return (rank + by) % n;
    case 2:
        return rank ^ by;
    case 3:
        return (uint64_t)by * n;
    case 4:
        return (uint64_t)by * rank;
    case 5:
        return limits[by % 16];
    case 6:
        return limits[by % 16] - limits[rank % 16];
    case 7:
        return n / (1U + by % 4);
    case 8:
        return WF_PROC_NULL + by % 2;
    default:
        return by;
    }
}

/* Which ranks of which counts execute a record. */
static bool is_chosen(uint8_t when, uint32_t rank, uint32_t n)
{
    switch (when % 8) {
    case 4:
        return rank < n / 2;
    case 5:
        return rank % 2 == (when >> 3) % 2;
    case 6:
        return rank == (when >> 3) % n;
    case 7:
        return n % 3 == (when >> 3) % 3U;
    default:
        return true;
    }
}

static void make_op(struct program *p, uint32_t rank, const uint8_t *record, struct wf_op *op)
{
    uint32_t n = p->source.n_ranks;

    memset(op, 0, sizeof(*op));
    op->kind = (enum wf_op_kind)(record[0] % WF_OP_KINDS);
    const struct wf_op_layout *layout = wf_op_layout_of(op->kind);
    op->comm = record[1] % 5;
    op->new_comm = record[1] / 5 % 5;
    for (uint32_t i = 0; i < layout->n_fields; i++) {
        const struct wf_op_field *field = &layout->fields[i];
        uint64_t value = number((uint8_t)(record[2] + i * record[3]),
                                (uint8_t)(record[4] + i * record[5]), rank, n);
        if (field->offset == offsetof(struct wf_op, comm) && record[1] % 5 < 4) {
            continue;
        }
        if (field->width == WF_FIELD_BOOL) {
            bool yes = value % 2 != 0;
            memcpy((char *)op + field->offset, &yes, sizeof(yes));
        } else {
            memcpy((char *)op + field->offset, &value, field->width == WF_FIELD_64 ? 8 : 4);
        }
    }
    op->recorded = op->recorded && (record[6] & 1) != 0;
    op->count %= 8;
    op->n_sources %= 4;
    op->n_destinations %= 4;
    op->outcome %= 4;
    op->sources = op->destinations = p->members;
    op->outcomes = p->members;
    op->counts = (record[6] & 2) != 0 ? p->elements : NULL;
    op->recv_counts = (record[6] & 4) != 0 ? p->elements + 16 : NULL;
}

static void add_records(struct program *p, uint32_t rank, const uint8_t *data, size_t size)
{
    struct wf_created created = {.n = 0};

    for (size_t at = 0; at + RECORD <= size && p->n[rank] < OPS_MAX; at += RECORD) {
        const uint8_t *record = data + at;
        struct wf_group group;
        struct wf_op op;
        uint32_t times =
            1 + (record[7] >> 3) % 5 * (record[7] % 8 == 3 ? p->source.n_ranks : 1);
        if (!is_chosen(record[7], rank, p->source.n_ranks)) {
            continue;
        }
        make_op(p, rank, record, &op);
        bool known = program_group(&p->source, rank, op.comm, &group);
        if (wf_op_fault(&op, known ? &group : NULL) != NULL ||
            wf_created_check(&created, &op) != NULL) {
            continue;
        }
        for (uint32_t i = 0; i < times && p->n[rank] < OPS_MAX; i++) {
            p->ops[rank][p->n[rank]++] = op;
        }
    }
    wf_created_fini(&created);
}

static struct program *make_program(uint32_t n_ranks, const uint8_t *data, size_t size)
{
    struct program *p = wf_xcalloc(1, sizeof(*p));

    p->source = (struct wf_source){.ops = &program_ops, .n_ranks = n_ranks};
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        p->elements[i] = i < size ? number(data[i], (uint8_t)i, i, n_ranks) & INT64_MAX : i;
    }
    for (uint32_t i = 0; i < RANKS_MAX; i++) {
        p->members[i] = i % n_ranks;
    }
    for (uint32_t r = 0; r < n_ranks; r++) {
        add_records(p, r, data, size);
    }
    return p;
}

static void check_ops(const struct wf_source *source)
{
    for (uint32_t r = 0; r < source->n_ranks; r++) {
        struct wf_cursor cursor = {.word = {0}};
        struct wf_group group;
        struct wf_op op;

        while (wf_source_next(source, r, &cursor, &op)) {
            uint32_t comm = wf_op_has_comm(op.kind) ? op.comm : WF_COMM_WORLD;
            require(wf_source_group(source, r, comm, &group));
            require(wf_op_fault(&op, &group) == NULL);
        }
    }
}

static enum wf_status predict(struct wf_ext_model *model, struct program **programs, uint32_t n,
                              uint32_t target, struct wf_err *err)
{
    const struct wf_ext_options options = {.target = target};
    struct wf_source *source = NULL;

    for (uint32_t i = 0; i < n; i++) {
        WF_TRY(wf_ext_read(&model->input, "fuzz", &programs[i]->source, err));
    }
    WF_TRY(wf_ext_understand(model, &options, err));
    WF_TRY(wf_ext_source(model, &options, &source, err));
    check_ops(source);
    wf_source_free(source);
    return WF_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wf_ext_model *model = wf_xcalloc(1, sizeof(*model));
    struct program *programs[COUNTS_MAX] = {NULL};
    struct wf_err err = {.status = WF_OK};

    if (size < 4 + RECORD) {
        free(model);
        return 0;
    }
    uint32_t n = 2 + data[0] % 2;
    for (uint32_t i = 0; i < n; i++) {
        programs[i] =
            make_program(((uint32_t)data[1] >> (2 * i)) % 4 + 2 + 2 * i, data + 3, size - 3);
    }
    enum wf_status status = predict(model, programs, n, 1 + data[2] % 24, &err);
    require(status == WF_OK || strlen(err.text) > 10);
    wf_ext_model_fini(model);
    free(model);
    for (uint32_t i = 0; i < n; i++) {
        free(programs[i]);
    }
    return 0;
}
