/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/warp/history.h"

#include "base/mem.h"
#include "harness/engine_events.h"

enum { SEED = 9, MOST = 600, KPS = 5 };

/* A log, with a list of the records that it should hold, from first to last. */
struct entry {
    uint64_t place, name, prev;
    uint32_t kp;
    enum wf_fate fate;
};

struct pair {
    struct wf_history history;
    struct wf_ctx ctx;
    struct wf_undo_log undo_log;
    struct entry entries[MOST];
    uint32_t n;
    uint64_t names;
    uint64_t moves; /* of the log in memory */
};

static struct pair *pair_new(void)
{
    struct pair *pair = wf_xcalloc(1, sizeof(*pair));

    pair->ctx.undo_log = &pair->undo_log;
    return pair;
}

static void pair_free(struct pair *pair)
{
    wf_history_fini(&pair->history);
    wf_undo_log_fini(&pair->undo_log);
    wf_buf_fini(&pair->ctx.trail);
    free(pair);
}

/* What record `name` is made of. */
static struct wf_frame frame_of(uint64_t name)
{
    uint64_t random = wf_test_rand(SEED, 1, name);

    return (struct wf_frame){
        .digest = random,
        .sent = name,
        .random = ~name,
        .undo_size = (uint32_t)(random % 7 == 0 ? 800 : random % 3 * 8),
        .undo_last = (uint32_t)(random >> 8) % 9,
        .sent_size = (uint32_t)((random >> 16) % 4 * TEST_STRIDE),
        .note_size =
            (uint32_t)((random >> 24) % 3 == 0 ? (random >> 32) % (WF_NOTE_MAX + 1) : 0),
        .trail_size = (uint32_t)((random >> 48) % 4 == 0 ? (random >> 50) % 100 * 8 : 0),
    };
}

static unsigned char byte_of(uint64_t name, size_t part, size_t at)
{
    return (unsigned char)(name * 31 + part * 101 + at);
}

static void fill(void *bytes, uint64_t name, size_t part, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        ((unsigned char *)bytes)[i] = byte_of(name, part, i);
    }
}

static bool is_filled(const unsigned char *bytes, uint64_t name, size_t part, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != byte_of(name, part, i)) {
            return false;
        }
    }
    return true;
}

/* The last entry of the KP that is not undone, or null. */
static const struct entry *last_of(const struct pair *pair, uint32_t kp)
{
    for (uint32_t i = pair->n; i-- > 0;) {
        if (pair->entries[i].kp == kp && pair->entries[i].fate != WF_UNDONE) {
            return &pair->entries[i];
        }
    }
    return NULL;
}

static void append(struct pair *pair, uint32_t kp)
{
    uint64_t name = pair->names++;
    struct test_event ev = make_event((int64_t)name, name);
    struct wf_frame frame = frame_of(name);
    const struct entry *last = last_of(pair, kp);
    uint64_t prev = last == NULL ? WF_NOWHERE : last->place, base = pair->history.base;

    pair->undo_log.sent.size = pair->undo_log.entries.size = pair->ctx.trail.size = 0;
    fill(wf_buf_extend(&pair->undo_log.sent, frame.sent_size), name, 0, frame.sent_size);
    fill(pair->ctx.note, name, 1, frame.note_size);
    fill(wf_buf_extend(&pair->ctx.trail, frame.trail_size), name, 3, frame.trail_size);
    fill(wf_buf_extend(&pair->undo_log.entries, frame.undo_size), name, 2, frame.undo_size);
    uint64_t place = wf_history_append(&pair->history, &pair->ctx, as_event(&ev), &frame, prev);
    pair->entries[pair->n++] =
        (struct entry){.place = place, .name = name, .prev = prev, .kp = kp, .fate = WF_LIVE};
    pair->moves += pair->history.base != base;
}

static bool is_record(const struct pair *pair, const struct entry *entry)
{
    struct wf_record *record = wf_history_at(&pair->history, entry->place);
    struct test_event ev = make_event((int64_t)entry->name, entry->name);
    struct wf_frame frame = frame_of(entry->name);

    return record->prev == entry->prev && record->fate == (uint64_t)entry->fate &&
           memcmp(&record->frame, &frame, sizeof(frame)) == 0 &&
           is_event(wf_record_event(record), &ev) &&
           is_filled(wf_record_sent(record), entry->name, 0, frame.sent_size) &&
           is_filled(wf_record_note(record), entry->name, 1, frame.note_size) &&
           is_filled(wf_record_trail(record), entry->name, 3, frame.trail_size) &&
           is_filled(wf_record_undo(record), entry->name, 2, frame.undo_size) &&
           (uintptr_t)record % 8 == 0;
}

/* Checks the whole log, in both directions. */
static bool is_right(const struct pair *pair)
{
    const struct wf_history *history = &pair->history;
    uint64_t forward = history->begin, backward = history->end;
    uint32_t size = history->last_size;

    for (uint32_t i = 0; i < pair->n; i++) {
        if (forward != pair->entries[i].place || !is_record(pair, &pair->entries[i])) {
            return false;
        }
        forward += wf_history_at(history, forward)->size;
    }
    for (uint32_t i = pair->n; i-- > 0;) {
        backward -= size;
        if (backward != pair->entries[i].place) {
            return false;
        }
        size = wf_history_at(history, backward)->size_back;
    }
    return forward == history->end && backward == history->begin && size == 0 &&
           wf_history_bytes(history) == history->end - history->begin &&
           history->end - history->base <= history->capacity;
}

static void set_fate(struct pair *pair, uint32_t i, enum wf_fate fate)
{
    pair->entries[i].fate = fate;
    wf_history_at(&pair->history, pair->entries[i].place)->fate = fate;
}

/* Undoes the last `count` records of a KP, along the chain, and trims. */
static bool undo(struct pair *pair, uint32_t kp, uint32_t count)
{
    const struct entry *last = last_of(pair, kp);

    for (; count > 0 && last != NULL && last->fate == WF_LIVE; count--) {
        uint64_t prev = wf_history_at(&pair->history, last->place)->prev;
        set_fate(pair, (uint32_t)(last - pair->entries), WF_UNDONE);
        last = last_of(pair, kp);
        /* Where the chain leads, if not to what has been dropped. */
        if (last == NULL ? prev != WF_NOWHERE && prev >= pair->history.begin
                         : prev != last->place) {
            return false;
        }
    }
    wf_history_trim_end(&pair->history);
    while (pair->n > 0 && pair->entries[pair->n - 1].fate == WF_UNDONE) {
        pair->n--;
    }
    return true;
}

static void drop(struct pair *pair, uint32_t count)
{
    uint64_t base = pair->history.base;

    for (; count > 0 && pair->n > 0; count--) {
        wf_history_drop_first(&pair->history);
        memmove(pair->entries, pair->entries + 1, --pair->n * sizeof(pair->entries[0]));
    }
    pair->moves += pair->history.base != base;
}

static void random_use_leaves_what_should_be_left(void)
{
    for (uint64_t stream = 0; stream < 8; stream++) {
        struct pair *pair = pair_new();
        for (uint64_t i = 0; i < 3000; i++) {
            uint64_t random = wf_test_rand(SEED, 100 + stream, i);
            uint32_t few = (uint32_t)(random >> 32) % (stream % 2 == 0 ? 4 : 60);
            uint32_t kp = (uint32_t)(random >> 8) % KPS;
            if (random % 8 == 0) {
                CHECK(undo(pair, kp, few));
            } else if (random % 8 == 1) {
                drop(pair, few);
            } else if (random % 8 == 2 && pair->n > 0 && pair->entries[0].fate == WF_LIVE) {
                set_fate(pair, 0, WF_COMMITTED);
            } else if (pair->n < MOST) {
                append(pair, kp);
            }
            CHECK(i % 32 != 0 || is_right(pair));
        }
        CHECK(is_right(pair));
        CHECK(stream % 2 == 0 || pair->moves > 0);
        drop(pair, pair->n);
        CHECK_U64(wf_history_bytes(&pair->history), 0);
        pair_free(pair);
    }
}

/* A log that grows at one end and is dropped at the other stays at about the same place in
 * memory. */
static void a_log_of_constant_length_needs_constant_memory(void)
{
    struct pair *pair = pair_new();

    for (uint32_t i = 0; i < 20000; i++) {
        append(pair, i % KPS);
        if (pair->n > 50) {
            drop(pair, 1);
        }
    }
    CHECK(pair->moves > 10 && pair->moves < 2000);
    CHECK(pair->history.capacity <= 131072);
    CHECK(is_right(pair));
    pair_free(pair);
}

/* A log that is emptied now and then begins again where it began, and never moves its records. */
static void an_empty_log_begins_at_the_beginning_of_its_memory(void)
{
    struct pair *pair = pair_new();

    for (uint32_t round = 0; round < 1000; round++) {
        append(pair, 0);
        CHECK((void *)wf_history_at(&pair->history, pair->entries[0].place) ==
              (void *)pair->history.data);
        append(pair, 1);
        CHECK(is_right(pair));
        drop(pair, 2);
    }
    CHECK(pair->history.capacity <= 65536);
    pair_free(pair);
}

static void what_is_undone_in_the_middle_stays_until_the_end_is(void)
{
    struct pair *pair = pair_new();

    for (uint32_t i = 0; i < 6; i++) {
        append(pair, i % 2);
    }
    CHECK(undo(pair, 0, 2)); /* the third and fifth: dead weight */
    CHECK_U64(pair->n, 6);
    CHECK(is_right(pair));
    CHECK(undo(pair, 1, 2)); /* the fourth and sixth: all four can go */
    CHECK_U64(pair->n, 2);
    CHECK(is_right(pair));
    set_fate(pair, 1, WF_COMMITTED);
    wf_history_trim_end(&pair->history);
    CHECK(is_right(pair)); /* what is committed early is no dead weight */
    drop(pair, 2);
    append(pair, 0);
    CHECK(is_right(pair));
    CHECK(undo(pair, 0, 1));
    CHECK_U64(pair->n, 0);
    CHECK(is_right(pair));
    pair_free(pair);
}

int main(void)
{
    RUN(random_use_leaves_what_should_be_left);
    RUN(a_log_of_constant_length_needs_constant_memory);
    RUN(an_empty_log_begins_at_the_beginning_of_its_memory);
    RUN(what_is_undone_in_the_middle_stays_until_the_end_is);
    return wf_test_done();
}
