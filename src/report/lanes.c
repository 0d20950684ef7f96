/* SPDX-License-Identifier: Apache-2.0 */
#include "report/lanes.h"

#include <stdlib.h>
#include <string.h>

const char *const wf_lane_words[WF_LANE_KINDS + 1] = {"computing",
                                                      "CPU time on messages",
                                                      "waiting in a send",
                                                      "waiting for a message",
                                                      "waiting in a collective",
                                                      "idle"};

static const char letters[] = "cosrk";

struct wf_lanes wf_lanes_of(const struct wf_value *doc)
{
    const struct wf_value *spans = wf_doc_find(doc, "recording.spans");
    const struct wf_value *rows = wf_doc_find(doc, "recording.rows");
    const struct wf_value *list = spans != NULL ? spans : rows;
    const struct wf_value *messages = wf_doc_find(doc, "recording.messages");
    struct wf_lanes lanes = {
        .exact = spans != NULL,
        .end_ps = wf_doc_get_count(doc, "recording.end_ps", 0),
        .bin_ps = wf_doc_get_count(doc, "recording.bin_ps", 1),
        .bins = wf_doc_get_count(doc, "recording.bins", 0),
        .nodes = wf_doc_get_text(doc, "recording.nodes", NULL),
    };

    if (list == NULL || list->type != WF_VALUE_LIST) {
        return lanes;
    }
    lanes.first = list->first;
    for (const struct wf_value *v = list->first; v != NULL; v = v->next) {
        lanes.n++;
    }
    if (lanes.exact && messages != NULL && messages->type == WF_VALUE_LIST) {
        lanes.messages = messages->first;
    }
    return lanes;
}

struct wf_lane wf_lane_open(const struct wf_lanes *lanes, const struct wf_value *value,
                            uint64_t number)
{
    struct wf_lane lane = {.lanes = lanes, .first_rank = number, .ranks = 1, .at = ""};

    if (lanes->exact) {
        lane.at = value->type == WF_VALUE_TEXT ? value->text : "";
    } else if (value->type == WF_VALUE_SECTION) {
        lane.at = wf_doc_get_text(value, "shares", "");
        lane.first_rank = wf_doc_get_count(value, "first_rank", 0);
        lane.ranks = wf_doc_get_count(value, "ranks", 1);
    }
    return lane;
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
    return lane->lanes->exact ? next_exact(lane, out) : next_mixed(lane, out);
}

bool wf_lane_message(const char **at, uint64_t *now, struct wf_lane_message *out)
{
    uint64_t numbers[4];

    for (size_t i = 0; i < 4; i++) {
        char *end;
        numbers[i] = strtoull(*at, &end, 10);
        if (end == *at) {
            return false;
        }
        *at = end + (*end == ';' ? 1 : 0);
    }
    *now += numbers[1];
    *out = (struct wf_lane_message){numbers[0], *now, *now + numbers[2], numbers[3]};
    return true;
}

uint64_t wf_lane_node(const char **at)
{
    char *end;
    uint64_t node = strtoull(*at, &end, 10);

    *at = end;
    return node;
}
