/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/core/undo.h"

#include "harness/engine_harness.h"

enum { SEED = 10, CELL_SIZE = 24, CELLS_MAX = 6, STRIDE = sizeof(struct wf_event) + 8 };

/* ---- a process that does everything that can be undone ---- */

struct state {
    uint64_t counter;
    unsigned char bytes[24];
    uint32_t cells[CELLS_MAX];
    uint32_t n_cells, padding;
};

static uint64_t commits; /* called, and the sum of their notes */
static uint64_t committed_notes;

/* Overlapping announcements, the same bytes changed several times. */
static void scribble(struct state *own, uint64_t random, struct wf_ctx *ctx)
{
    for (unsigned i = 0; i < 4; i++) {
        size_t at = (random >> (8 * i)) % 20, size = 1 + (random >> (8 * i + 4)) % 4;
        wf_touch(ctx, own->bytes + at, size);
        memset(own->bytes + at, (int)(random >> (8 * i)) & 255, size);
    }
}

/* Gets, changes or frees a cell. */
static void use_cells(struct state *own, uint64_t random, struct wf_ctx *ctx)
{
    wf_touch(ctx, own->cells, sizeof(own->cells) + sizeof(own->n_cells));
    if (random % 3 == 0 && own->n_cells < CELLS_MAX) {
        own->cells[own->n_cells++] = wf_cell_new(ctx);
    }
    if (own->n_cells > 0) {
        uint64_t *words = wf_cell_edit(ctx, own->cells[random % own->n_cells]);
        words[random % 3] += random;
    }
    if (random % 5 == 0 && own->n_cells > 0) {
        wf_cell_free(ctx, own->cells[--own->n_cells]);
    }
}

static void start(void *state, struct wf_ctx *ctx)
{
    uint64_t hops = 40;

    wf_schedule(ctx, wf_self(ctx), 5, 0, &hops, sizeof(hops));
}

static void act(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    struct state *own = state;
    uint64_t random = wf_random(ctx), before = own->counter, hops = ev->payload[0];

    own->counter = before + (random >> 60) + 1;
    wf_note(ctx, &before, sizeof(before));
    scribble(own, random, ctx);
    use_cells(own, random, ctx);
    if (hops > 0) {
        hops--;
        wf_schedule(ctx, (uint32_t)(random % 8), (int64_t)(1 + random % 50), 1, &hops,
                    sizeof(hops));
    }
}

/* The counter is the one thing that is not announced. */
static void act_undo(void *state, const struct wf_event *ev, const void *note,
                     struct wf_ctx *ctx)
{
    memcpy(&((struct state *)state)->counter, note, sizeof(uint64_t));
}

static void act_announced(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    wf_touch(ctx, state, sizeof(uint64_t));
    act(state, ev, ctx);
}

static void act_commit(const struct wf_event *ev, const void *note, struct wf_ctx *ctx)
{
    uint64_t before;

    memcpy(&before, note, sizeof(before));
    commits++;
    committed_notes += before;
}

#define KIND(text, handler, undoing, announcing)                                    \
    {                                                                               \
        .name = (text), .payload_max = 8, .init = start, .event = (handler),        \
        .undo = (undoing), .announces_changes = (announcing), .commit = act_commit, \
    }

static const struct wf_process_ops kinds[] = {
    KIND("by handler", act, act_undo, false),
    KIND("by announced bytes", act_announced, NULL, true),
    KIND("by copy", act, NULL, false),
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* ---- one process and a worker, without a scheduler ---- */

struct rig {
    struct wf_engine engine;
    struct wf_worker worker;
    struct wf_process_group group;
    struct wf_block block;
    struct wf_bag *no_bags;
    struct wf_undo_log undo_log;
    uint64_t records[(sizeof(struct wf_lp) + sizeof(struct state)) / 8];
    uint64_t out[STRIDE / 8];
};

static void send(struct wf_worker *worker, const struct wf_event *ev)
{
    wf_event_copy(wf_buf_extend(&worker->ctx.undo_log->sent, STRIDE), ev);
}

static struct rig *rig_new(const struct wf_process_ops *ops, void *model)
{
    struct rig *rig = wf_xaligned(sizeof(*rig));

    memset(rig, 0, sizeof(*rig));
    rig->group = (struct wf_process_group){.ops = ops,
                                           .model = model,
                                           .count = 8, /* the others are only sent to */
                                           .stride = sizeof(rig->records),
                                           .state_size = sizeof(struct state)};
    rig->block = (struct wf_block){.lps = (void *)rig->records,
                                   .group = &rig->group,
                                   .count = 8,
                                   .end = 8,
                                   .payload_max = (uint32_t)ops->payload_max};
    rig->engine.blocks = &rig->block;
    rig->engine.n_blocks = 1;
    rig->engine.map.shift = 11;
    rig->engine.stride = STRIDE;
    rig->worker.engine = &rig->engine;
    rig->worker.ctx = (struct wf_ctx){.worker = &rig->worker,
                                      .undo_log = &rig->undo_log,
                                      .bags = &rig->no_bags,
                                      .send = send,
                                      .blocks = &rig->block,
                                      .n_blocks = 1,
                                      .map.shift = 11,
                                      .end = INT64_MAX,
                                      .out = (void *)rig->out};
    wf_cells_init(&rig->worker.cells, &(uint32_t){CELL_SIZE}, 1);
    commits = committed_notes = 0;
    return rig;
}

static void rig_free(struct rig *rig)
{
    wf_undo_log_fini(&rig->undo_log);
    wf_cells_fini(&rig->worker.cells);
    free(rig);
}

/* The number of cells in use. */
static uint32_t cells_in_use(const struct rig *rig)
{
    const struct wf_cells *cells = &rig->worker.cells;

    return cells->in_use;
}

/* Everything that belongs to a process: the engine's data, its state, and the contents of its
 * cells. */
struct image {
    uint64_t records[(sizeof(struct wf_lp) + sizeof(struct state)) / 8];
    unsigned char cells[CELLS_MAX][CELL_SIZE];
    uint64_t overflows;
};

static struct image image_of(const struct rig *rig)
{
    const struct state *own = (const void *)((const struct wf_lp *)rig->records + 1);
    struct image image = {.overflows = rig->worker.overflows};

    memcpy(image.records, rig->records, sizeof(image.records));
    for (uint32_t i = 0; i < own->n_cells; i++) {
        memcpy(image.cells[i], wf_cells_at(&rig->worker.cells, own->cells[i]), CELL_SIZE);
    }
    return image;
}

static bool looks_like(const struct rig *rig, const struct image *image)
{
    struct image now = image_of(rig);

    return memcmp(&now, image, sizeof(now)) == 0;
}

/* ---- steps forward, taken back or made final ---- */

struct step {
    struct image before, after;
    struct wf_frame frame;
    uint64_t event[STRIDE / 8];
    uint64_t note[WF_NOTE_MAX / 8];
    struct wf_buf undo, sent;
};

static struct wf_event *event_of(struct step *step)
{
    return (void *)step->event;
}

static void forward(struct rig *rig, struct step *step, uint64_t name)
{
    struct wf_event *ev = event_of(step);

    *ev = (struct wf_event){.key = {.time = (int64_t)name, .seq = name}, .size = 8};
    ev->payload[0] = name % 4;
    step->before = image_of(rig);
    wf_undo_execute(&rig->worker, ev, &step->frame);
    step->after = image_of(rig);
    memcpy(step->note, rig->worker.ctx.note, sizeof(step->note));
    wf_buf_append(&step->undo, rig->undo_log.entries.data, rig->undo_log.entries.size);
    wf_buf_append(&step->sent, rig->undo_log.sent.data, rig->undo_log.sent.size);
}

static void forget(struct step *step)
{
    wf_buf_fini(&step->undo);
    wf_buf_fini(&step->sent);
}

/* True if everything is as it was. */
static bool back(struct rig *rig, struct step *step)
{
    wf_undo_revert(&rig->worker, event_of(step), &step->frame, step->note, step->undo.data);
    return looks_like(rig, &step->before);
}

static void finally(struct rig *rig, struct step *step)
{
    wf_undo_commit(&rig->worker, event_of(step), &step->frame, step->note, NULL,
                   step->undo.data);
}

static void forward_back_and_forward_again_is_forward(void)
{
    for (size_t k = 0; k < KINDS; k++) {
        struct rig *rig = rig_new(&kinds[k], NULL);
        for (uint64_t i = 0; i < 300; i++) {
            struct step first = {.undo = {.data = NULL}}, second = {.undo = {.data = NULL}};
            forward(rig, &first, i);
            CHECK(!looks_like(rig, &first.before));
            CHECK(back(rig, &first));
            forward(rig, &second, i);
            CHECK(looks_like(rig, &first.after));
            CHECK_U64(second.sent.size, first.sent.size);
            CHECK_U64(second.sent.size, i % 4 == 0 ? 0 : STRIDE);
            CHECK(first.sent.size == 0 ||
                  memcmp(first.sent.data, second.sent.data, first.sent.size) == 0);
            finally(rig, &second);
            CHECK_U64(commits, i + 1);
            CHECK_U64(rig->worker.count.committed, i + 1);
            CHECK(rig->worker.count.last_time == (int64_t)i);
            const struct state *own = (const void *)((const struct wf_lp *)rig->records + 1);
            CHECK_U64(cells_in_use(rig), own->n_cells);
            forget(&first);
            forget(&second);
        }
        CHECK(committed_notes > 0);
        rig_free(rig);
    }
}

/* Steps are undone from the end and committed from the beginning, as a scheduler does. */
static void steps_are_undone_from_the_end_and_committed_from_the_beginning(void)
{
    enum { MOST = 20 };

    for (size_t k = 0; k < KINDS; k++) {
        struct rig *rig = rig_new(&kinds[k], NULL);
        struct step steps[MOST] = {{.undo = {.data = NULL}}};
        uint32_t n = 0;
        for (uint64_t i = 0; i < 4000; i++) {
            uint64_t random = wf_test_rand(SEED, k, i);
            if (random % 4 < 2 && n < MOST) {
                steps[n] = (struct step){.undo = {.data = NULL}};
                forward(rig, &steps[n++], i);
            } else if (random % 4 == 2 && n > 0) {
                CHECK(back(rig, &steps[--n]));
                forget(&steps[n]);
            } else if (n > 0) {
                finally(rig, &steps[0]);
                CHECK(looks_like(rig, &steps[n - 1].after));
                forget(&steps[0]);
                memmove(steps, steps + 1, --n * sizeof(steps[0]));
            }
        }
        while (n > 0) {
            CHECK(back(rig, &steps[--n]));
            forget(&steps[n]);
        }
        const struct state *own = (const void *)((const struct wf_lp *)rig->records + 1);
        CHECK_U64(cells_in_use(rig), own->n_cells);
        rig_free(rig);
    }
}

/* ---- every short sequence of what can be done to cells ---- */

enum act { EDIT_OLD, FREE_OLD, NEW, EDIT_NEW, FREE_NEW, ACTS };

struct sequence {
    enum act acts[5];
    uint32_t n;
};

/* Whether the sequence makes sense, and how many cells it leaves; the first is there before. */
static bool is_valid(const struct sequence *sequence, uint32_t *left)
{
    bool old = true, fresh = false;

    for (uint32_t i = 0; i < sequence->n; i++) {
        enum act what = sequence->acts[i];
        if (what == NEW ? fresh : what == EDIT_OLD || what == FREE_OLD ? !old : !fresh) {
            return false;
        }
        old = old && what != FREE_OLD;
        fresh = (fresh || what == NEW) && what != FREE_NEW;
    }
    *left = (uint32_t)old + fresh;
    return true;
}

static void follow(void *state, const struct wf_event *ev, struct wf_ctx *ctx)
{
    const struct sequence *sequence = wf_model(ctx);
    struct state *own = state;
    uint32_t fresh = 0;

    for (uint32_t i = 0; i < sequence->n; i++) {
        switch (sequence->acts[i]) {
        case EDIT_OLD:
            memset(wf_cell_edit(ctx, own->cells[0]), (int)i + 1, CELL_SIZE);
            break;
        case FREE_OLD:
            wf_cell_free(ctx, own->cells[0]);
            own->n_cells = 0;
            break;
        case NEW:
            fresh = wf_cell_new(ctx);
            break;
        case EDIT_NEW:
            memset(wf_cell_edit(ctx, fresh), (int)i + 1, CELL_SIZE);
            break;
        case FREE_NEW:
            wf_cell_free(ctx, fresh);
            break;
        case ACTS:
            break;
        }
    }
}

static const struct wf_process_ops follower = {.name = "follower", .event = follow};

static void follow_one(struct sequence *sequence, uint32_t left)
{
    struct rig *rig = rig_new(&follower, sequence);
    struct state *own = (void *)((struct wf_lp *)rig->records + 1);
    struct step first = {.undo = {.data = NULL}}, second = {.undo = {.data = NULL}};

    own->n_cells = 1;
    own->cells[0] = wf_cells_get(&rig->worker.cells, CELL_SIZE);
    memset(wf_cells_at(&rig->worker.cells, own->cells[0]), 77, CELL_SIZE);
    forward(rig, &first, 1);
    CHECK(back(rig, &first));
    CHECK_U64(cells_in_use(rig), 1);
    forward(rig, &second, 1);
    finally(rig, &second);
    CHECK_U64(cells_in_use(rig), left);
    forget(&first);
    forget(&second);
    rig_free(rig);
}

static void all_that_can_be_done_to_cells_is_undone_and_committed(void)
{
    uint32_t tried = 0;

    for (uint32_t n = 0; n <= 5; n++) {
        uint32_t all = 1;
        for (uint32_t i = 0; i < n; i++) {
            all *= ACTS;
        }
        for (uint32_t code = 0; code < all; code++) {
            struct sequence sequence = {.n = n};
            uint32_t left = 0, rest = code;
            for (uint32_t i = 0; i < n; i++, rest /= ACTS) {
                sequence.acts[i] = (enum act)(rest % ACTS);
            }
            if (is_valid(&sequence, &left)) {
                follow_one(&sequence, left);
                tried++;
            }
        }
    }
    CHECK(tried > 100);
}

/* ---- the same on a real engine ---- */

static void build(struct wf_engine *engine, void *model)
{
    (void)wf_engine_add(engine, model, 8, sizeof(struct state), NULL);
    wf_engine_promise(engine, 1);
    wf_engine_cells(engine, CELL_SIZE);
}

/* The three kinds differ only in how they are undone, so they give the same digest. */
static void how_it_is_undone_makes_no_difference(void)
{
    struct wf_engine_config config = engine_defaults(WF_SEQUENTIAL, 1);
    struct wf_process_ops ops = kinds[0];
    struct outcome expected, out;

    ops.commit = NULL; /* counts in a variable that threads would share */
    expected = run_model(&config, build, &ops, NULL, 0);
    CHECK_U64(expected.run.events_committed, UINT64_C(8) * 41);
    for (size_t k = 0; k < KINDS; k++) {
        ops = kinds[k];
        ops.commit = NULL;
        for (size_t i = 0; way_to_run(i, &config); i++) {
            out = run_model(&config, build, &ops, NULL, 0);
            CHECK(same_outcome(&config, &expected, &out));
        }
    }
}

int main(void)
{
    RUN(forward_back_and_forward_again_is_forward);
    RUN(steps_are_undone_from_the_end_and_committed_from_the_beginning);
    RUN(all_that_can_be_done_to_cells_is_undone_and_committed);
    RUN(how_it_is_undone_makes_no_difference);
    return wf_test_done();
}
