/* SPDX-License-Identifier: Apache-2.0 */
#include "report/lanes.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

const char *const wf_lane_words[WF_LANE_KINDS + 1] = {"computing",
                                                      "CPU time on messages",
                                                      "waiting in a send",
                                                      "waiting for a message",
                                                      "waiting in a collective",
                                                      "idle"};

static const char letters[] = "cosrk";

static const struct wf_value *list_at(const struct wf_value *doc, const char *path)
{
    const struct wf_value *list = wf_doc_find(doc, path);

    return list != NULL && list->type == WF_VALUE_LIST ? list : NULL;
}

/* The part of the run of which the recording has single spans. */
static void read_kept(const struct wf_value *doc, struct wf_choice *kept)
{
    const char *ranks = wf_doc_get_text(doc, "recording.chosen.ranks", NULL);
    struct wf_err ignored; /* a damaged document shows all there is */

    if (ranks != NULL && wf_choice_ranks("", ranks, kept, &ignored) != WF_OK) {
        kept->n_ranges = 0;
    }
}

static bool is_shown(const struct wf_lanes *lanes, uint64_t rank)
{
    return wf_choice_has_rank(&lanes->kept, rank) && wf_choice_has_rank(&lanes->view, rank);
}

static void number_ranks(struct wf_lanes *lanes)
{
    lanes->number = wf_xcalloc(lanes->ranks + 1, sizeof(*lanes->number));
    for (uint64_t rank = 0; rank < lanes->ranks; rank++) {
        if (is_shown(lanes, rank)) {
            lanes->number[rank] = (uint32_t)++lanes->n;
        }
    }
}

static void count_rows(struct wf_lanes *lanes)
{
    struct wf_lane_walk walk = wf_lanes_walk(lanes);
    struct wf_lane lane;

    lanes->n = 0;
    while (wf_lane_step(&walk, &lane)) {
        lanes->n++;
    }
}

static bool has_more(const struct wf_lanes *lanes, uint64_t limit)
{
    struct wf_lane_walk walk = wf_lanes_walk(lanes);
    struct wf_lane lane;
    struct wf_lane_span span;
    uint64_t n = 0;

    while (wf_lane_step(&walk, &lane)) {
        while (wf_lane_next(&lane, &span)) {
            n++;
        }
    }
    return n > limit;
}

void wf_lanes_init(struct wf_lanes *lanes, const struct wf_value *doc,
                   const struct wf_write_options *options)
{
    const char *nodes = wf_doc_get_text(doc, "recording.chosen.nodes", NULL);

    *lanes = (struct wf_lanes){
        .spans = list_at(doc, "recording.spans"),
        .rows = list_at(doc, "recording.rows"),
        .ranks = wf_doc_get_count(doc, "recording.ranks", 0),
        .end_ps = wf_doc_get_count(doc, "recording.end_ps", 0),
        .bin_ps = wf_doc_get_count(doc, "recording.bin_ps", 1),
        .bins = wf_doc_get_count(doc, "recording.bins", 0),
        .nodes = nodes != NULL ? nodes : wf_doc_get_text(doc, "recording.nodes", NULL),
        .view = options->view,
    };
    if (lanes->spans != NULL && lanes->ranks < UINT32_MAX) {
        read_kept(doc, &lanes->kept);
        lanes->exact = true;
        number_ranks(lanes);
        if (options->limit > 0 && has_more(lanes, options->limit)) {
            lanes->exact = false;
        }
    }
    if (lanes->exact) {
        const struct wf_value *messages = list_at(doc, "recording.messages");
        lanes->messages = messages != NULL ? messages->first : NULL;
    } else {
        lanes->nodes = NULL;
        count_rows(lanes);
    }
}

void wf_lanes_fini(struct wf_lanes *lanes)
{
    free(lanes->number);
    lanes->number = NULL;
}

/* ---- lanes ---- */

struct wf_lane_walk wf_lanes_walk(const struct wf_lanes *lanes)
{
    const struct wf_value *list = lanes->exact ? lanes->spans : lanes->rows;

    return (struct wf_lane_walk){
        .lanes = lanes, .value = list != NULL ? list->first : NULL, .nodes = lanes->nodes};
}

/* The next of the ranks whose spans the document has. */
static uint64_t next_kept(const struct wf_lanes *lanes, uint64_t rank)
{
    while (rank < lanes->ranks && !wf_choice_has_rank(&lanes->kept, rank)) {
        rank++;
    }
    return rank;
}

static bool step_exact(struct wf_lane_walk *walk, struct wf_lane *out)
{
    const struct wf_lanes *lanes = walk->lanes;

    for (; walk->value != NULL; walk->value = walk->value->next) {
        uint64_t rank = next_kept(lanes, walk->rank);
        if (rank >= lanes->ranks) {
            return false;
        }
        walk->rank = rank + 1;
        *out = (struct wf_lane){
            .lanes = lanes,
            .first_rank = rank,
            .ranks = 1,
            .node = walk->nodes != NULL ? wf_lane_number(&walk->nodes) : 0,
            .at = walk->value->type == WF_VALUE_TEXT ? walk->value->text : "",
        };
        if (lanes->number[rank] != 0) {
            out->number = lanes->number[rank] - 1;
            walk->value = walk->value->next;
            return true;
        }
    }
    return false;
}

static bool step_rows(struct wf_lane_walk *walk, struct wf_lane *out)
{
    for (; walk->value != NULL; walk->value = walk->value->next) {
        const struct wf_value *row = walk->value;
        uint64_t first = wf_doc_get_count(row, "first_rank", 0);
        uint64_t ranks = wf_doc_get_count(row, "ranks", 1);
        if (wf_choice_has_any(&walk->lanes->view, first, ranks)) {
            *out = (struct wf_lane){.lanes = walk->lanes,
                                    .number = walk->number++,
                                    .first_rank = first,
                                    .ranks = ranks,
                                    .at = wf_doc_get_text(row, "shares", "")};
            walk->value = row->next;
            return true;
        }
    }
    return false;
}

bool wf_lane_step(struct wf_lane_walk *walk, struct wf_lane *out)
{
    return walk->lanes->exact ? step_exact(walk, out) : step_rows(walk, out);
}

static bool next_exact(struct wf_lane *lane, struct wf_lane_span *out)
{
    while (*lane->at != '\0') {
        const char *letter = strchr(letters, *lane->at);
        char *end;
        uint64_t length = strtoull(lane->at + 1, &end, 10);
        if (end == lane->at + 1) {
            return false; /* damaged: what follows means nothing */
        }
        lane->at = end;
        lane->now += length;
        if (letter != NULL) {
            *out =
                (struct wf_lane_span){lane->now - length, lane->now, (int)(letter - letters)};
            return true;
        }
    }
    return false;
}

static int sextet(char c)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;

    return at != NULL ? (int)(at - digits) : 0;
}

/* A byte of base64 text; the caller knows that it is there. */
static int byte_at(const char *text, uint64_t i)
{
    const char *four = text + i / 3 * 4;

    switch (i % 3) {
    case 0:
        return (sextet(four[0]) << 2 | sextet(four[1]) >> 4) & 255;
    case 1:
        return (sextet(four[1]) << 4 | sextet(four[2]) >> 2) & 255;
    default:
        return (sextet(four[2]) << 6 | sextet(four[3])) & 255;
    }
}

static int most_in(const struct wf_lane *lane, uint64_t bin)
{
    int most = 0, best = WF_LANE_IDLE, all = 0;

    for (int what = 0; what < WF_LANE_KINDS; what++) {
        int share = byte_at(lane->at, bin * WF_LANE_KINDS + (uint64_t)what);
        all += share;
        if (share > most) {
            most = share;
            best = what;
        }
    }
    return 255 - all > most ? WF_LANE_IDLE : best;
}

static bool next_mixed(struct wf_lane *lane, struct wf_lane_span *out)
{
    uint64_t bins = lane->lanes->bins, bin_ps = lane->lanes->bin_ps;

    if (strlen(lane->at) / 4 * 3 < bins * WF_LANE_KINDS) {
        return false; /* damaged */
    }
    while (lane->now < bins) {
        uint64_t first = lane->now;
        int what = most_in(lane, first);
        while (lane->now < bins && most_in(lane, lane->now) == what) {
            lane->now++;
        }
        if (what != WF_LANE_IDLE) {
            uint64_t until = lane->now * bin_ps, end = lane->lanes->end_ps;
            *out = (struct wf_lane_span){first * bin_ps, until < end ? until : end, what};
            return true;
        }
    }
    return false;
}

bool wf_lane_next(struct wf_lane *lane, struct wf_lane_span *out)
{
    const struct wf_choice *view = &lane->lanes->view;

    while (lane->lanes->exact ? next_exact(lane, out) : next_mixed(lane, out)) {
        if (view->until == 0) {
            return true;
        }
        uint64_t from = (uint64_t)view->from, until = (uint64_t)view->until;
        out->from = out->from > from ? out->from : from;
        out->until = out->until < until ? out->until : until;
        if (out->from < out->until) {
            return true;
        }
    }
    return false;
}

/* ---- messages ---- */

struct wf_message_walk wf_lanes_messages(const struct wf_lanes *lanes)
{
    return (struct wf_message_walk){.lanes = lanes, .value = lanes->messages};
}

/* The next of the text that is read. */
static bool read_message(struct wf_message_walk *walk, struct wf_lane_message *out)
{
    uint64_t numbers[4];

    for (size_t i = 0; i < 4; i++) {
        char *end;
        numbers[i] = strtoull(walk->at, &end, 10);
        if (end == walk->at) {
            return false;
        }
        walk->at = end + (*end == ';' ? 1 : 0);
    }
    walk->now += numbers[1];
    *out = (struct wf_lane_message){walk->rank, numbers[0], walk->now, walk->now + numbers[2],
                                    numbers[3]};
    return true;
}

static bool shows_message(const struct wf_lanes *lanes, const struct wf_lane_message *message)
{
    return message->from < lanes->ranks && message->to < lanes->ranks &&
           lanes->number[message->from] != 0 && lanes->number[message->to] != 0 &&
           wf_choice_touches(&lanes->view, (int64_t)message->departure,
                             (int64_t)message->arrival + 1);
}

bool wf_lane_message(struct wf_message_walk *walk, struct wf_lane_message *out)
{
    while (walk->value != NULL) {
        if (walk->at == NULL) {
            walk->rank = next_kept(walk->lanes, walk->rank);
            walk->at = walk->value->type == WF_VALUE_TEXT ? walk->value->text : "";
            walk->now = 0;
        }
        while (read_message(walk, out)) {
            if (shows_message(walk->lanes, out)) {
                return true;
            }
        }
        walk->value = walk->value->next;
        walk->at = NULL;
        walk->rank++;
    }
    return false;
}

uint64_t wf_lane_number(const char **at)
{
    char *end;
    uint64_t number = strtoull(*at, &end, 10);

    *at = end;
    return number;
}
