/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/tracks.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

const char *const wf_track_names[WF_TRACK_KINDS + 1] = {"computing",
                                                        "CPU time on messages",
                                                        "waiting in a send",
                                                        "waiting for a message",
                                                        "waiting in a collective",
                                                        "waiting for a core",
                                                        "waiting for a file",
                                                        "idle"};

static const char letters[WF_TRACK_KINDS + 1] = "cosrkwf";

/* More ranks than weft simulates are a mistake of the document. */
enum { NUMBERS_MAX = 1 << 26 };

static const struct wf_value *list_at(const struct wf_value *doc, const char *path)
{
    const struct wf_value *list = wf_doc_find(doc, path);

    return list != NULL && list->type == WF_VALUE_LIST ? list : NULL;
}

/* Reads for which ranks and times the recording has individual spans. */
static void read_kept(const struct wf_value *doc, struct wf_choice *kept)
{
    const char *ranks = wf_doc_get_text(doc, "recording.chosen.ranks", NULL);
    struct wf_err ignored; /* for a damaged document, show everything */

    if (ranks != NULL && wf_choice_ranks("", ranks, kept, &ignored) != WF_OK) {
        kept->n_ranges = 0;
    }
}

static bool is_shown(const struct wf_tracks *tracks, uint64_t rank)
{
    return wf_choice_has_rank(&tracks->kept, rank) && wf_choice_has_rank(&tracks->view, rank);
}

/* The ranks below which all are that can have spans. The document may claim any number of
 * ranks, but it has a text for each of those that were kept. */
static uint64_t count_numbers(const struct wf_tracks *tracks)
{
    const struct wf_choice *kept = &tracks->kept;
    uint64_t most = 0;

    if (kept->n_ranges > 0) {
        most = (uint64_t)kept->ranges[kept->n_ranges - 1].last + 1;
    } else {
        for (const struct wf_value *v = tracks->spans->first; v != NULL; v = v->next) {
            most++;
        }
    }
    return most < tracks->ranks ? most : tracks->ranks;
}

static void number_ranks(struct wf_tracks *tracks)
{
    tracks->number = wf_xcalloc(tracks->n_numbers + 1, sizeof(*tracks->number));
    for (uint64_t rank = 0; rank < tracks->n_numbers; rank++) {
        if (is_shown(tracks, rank)) {
            tracks->number[rank] = (uint32_t)++tracks->n;
        }
    }
}

static void count_rows(struct wf_tracks *tracks)
{
    struct wf_track_walk walk = wf_tracks_walk(tracks);
    struct wf_track track;

    tracks->n = 0;
    while (wf_track_step(&walk, &track)) {
        tracks->n++;
    }
}

static bool has_more(const struct wf_tracks *tracks, uint64_t limit)
{
    struct wf_track_walk walk = wf_tracks_walk(tracks);
    struct wf_track track;
    struct wf_track_span span;
    uint64_t n = 0;

    while (wf_track_step(&walk, &track)) {
        while (wf_track_next(&track, &span)) {
            n++;
        }
    }
    return n > limit;
}

void wf_tracks_init(struct wf_tracks *tracks, const struct wf_value *doc,
                    const struct wf_write_options *options)
{
    const char *nodes = wf_doc_get_text(doc, "recording.chosen.nodes", NULL);
    const char *kinds = wf_doc_get_text(doc, "recording.kinds", "cosrk");

    *tracks = (struct wf_tracks){
        .spans = list_at(doc, "recording.spans"),
        .rows = list_at(doc, "recording.rows"),
        .ranks = wf_doc_get_count(doc, "recording.ranks", 0),
        .end_ps = wf_doc_get_count(doc, "recording.end_ps", 0),
        .bin_ps = wf_doc_get_count(doc, "recording.bin_ps", 1),
        .bins = wf_doc_get_count(doc, "recording.bins", 0),
        .letters = kinds,
        .kinds = strlen(kinds),
        .nodes = nodes != NULL ? nodes : wf_doc_get_text(doc, "recording.nodes", NULL),
        .view = options->view,
    };
    if (tracks->spans != NULL) {
        read_kept(doc, &tracks->kept);
        tracks->n_numbers = count_numbers(tracks);
    }
    if (tracks->spans != NULL && tracks->n_numbers <= NUMBERS_MAX) {
        tracks->exact = true;
        number_ranks(tracks);
        if (options->limit > 0 && has_more(tracks, options->limit)) {
            tracks->exact = false;
        }
    }
    if (tracks->exact) {
        const struct wf_value *messages = list_at(doc, "recording.messages");
        tracks->messages = messages != NULL ? messages->first : NULL;
    } else {
        tracks->nodes = NULL;
        count_rows(tracks);
    }
}

void wf_tracks_fini(struct wf_tracks *tracks)
{
    free(tracks->number);
    tracks->number = NULL;
}

/* ---- tracks ---- */

struct wf_track_walk wf_tracks_walk(const struct wf_tracks *tracks)
{
    const struct wf_value *list = tracks->exact ? tracks->spans : tracks->rows;

    return (struct wf_track_walk){
        .tracks = tracks, .value = list != NULL ? list->first : NULL, .nodes = tracks->nodes};
}

/* The next rank whose spans are in the document. */
static uint64_t next_kept(const struct wf_tracks *tracks, uint64_t rank)
{
    while (rank < tracks->n_numbers && !wf_choice_has_rank(&tracks->kept, rank)) {
        rank++;
    }
    return rank;
}

static bool step_exact(struct wf_track_walk *walk, struct wf_track *out)
{
    const struct wf_tracks *tracks = walk->tracks;

    for (; walk->value != NULL; walk->value = walk->value->next) {
        uint64_t rank = next_kept(tracks, walk->rank);
        if (rank >= tracks->n_numbers) {
            return false;
        }
        walk->rank = rank + 1;
        *out = (struct wf_track){
            .tracks = tracks,
            .first_rank = rank,
            .ranks = 1,
            .node = walk->nodes != NULL ? wf_track_number(&walk->nodes) : 0,
            .at = walk->value->type == WF_VALUE_TEXT ? walk->value->text : "",
        };
        if (tracks->number[rank] != 0) {
            out->number = tracks->number[rank] - 1;
            walk->value = walk->value->next;
            return true;
        }
    }
    return false;
}

static bool step_rows(struct wf_track_walk *walk, struct wf_track *out)
{
    for (; walk->value != NULL; walk->value = walk->value->next) {
        const struct wf_value *row = walk->value;
        uint64_t first = wf_doc_get_count(row, "first_rank", 0);
        uint64_t ranks = wf_doc_get_count(row, "ranks", 1);
        if (wf_choice_has_any(&walk->tracks->view, first, ranks)) {
            *out = (struct wf_track){.tracks = walk->tracks,
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

bool wf_track_step(struct wf_track_walk *walk, struct wf_track *out)
{
    return walk->tracks->exact ? step_exact(walk, out) : step_rows(walk, out);
}

static bool next_exact(struct wf_track *track, struct wf_track_span *out)
{
    while (*track->at != '\0') {
        const char *letter = strchr(letters, *track->at);
        char *end;
        uint64_t length = strtoull(track->at + 1, &end, 10);
        if (end == track->at + 1) {
            return false; /* damaged: the rest cannot be read */
        }
        track->at = end;
        track->now += length;
        if (letter != NULL) {
            *out = (struct wf_track_span){track->now - length, track->now,
                                          (int)(letter - letters)};
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

/* Decodes one byte of base64 text; the caller knows that it exists. */
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

static int most_in(const struct wf_track *track, uint64_t bin)
{
    int most = 0, best = WF_TRACK_IDLE, all = 0;

    for (uint64_t what = 0; what < track->tracks->kinds; what++) {
        int share = byte_at(track->at, bin * track->tracks->kinds + what);
        all += share;
        const char *letter = strchr(letters, track->tracks->letters[what]);
        if (share > most && letter != NULL) {
            most = share;
            best = (int)(letter - letters);
        }
    }
    return 255 - all > most ? WF_TRACK_IDLE : best;
}

static bool next_mixed(struct wf_track *track, struct wf_track_span *out)
{
    uint64_t bins = track->tracks->bins, bin_ps = track->tracks->bin_ps;

    if (bins > strlen(track->at) / 4 * 3 / track->tracks->kinds) {
        return false; /* damaged */
    }
    while (track->now < bins) {
        uint64_t first = track->now;
        int what = most_in(track, first);
        while (track->now < bins && most_in(track, track->now) == what) {
            track->now++;
        }
        if (what != WF_TRACK_IDLE) {
            uint64_t until = track->now * bin_ps, end = track->tracks->end_ps;
            *out = (struct wf_track_span){first * bin_ps, until < end ? until : end, what};
            return true;
        }
    }
    return false;
}

bool wf_track_next(struct wf_track *track, struct wf_track_span *out)
{
    const struct wf_choice *view = &track->tracks->view;

    while (track->tracks->exact ? next_exact(track, out) : next_mixed(track, out)) {
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

struct wf_message_walk wf_tracks_messages(const struct wf_tracks *tracks)
{
    return (struct wf_message_walk){.tracks = tracks, .value = tracks->messages};
}

/* Reads the next message from the current text. */
static bool read_message(struct wf_message_walk *walk, struct wf_track_message *out)
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
    *out = (struct wf_track_message){walk->rank, numbers[0], walk->now, walk->now + numbers[2],
                                     numbers[3]};
    return true;
}

static bool shows_message(const struct wf_tracks *tracks,
                          const struct wf_track_message *message)
{
    return message->from < tracks->n_numbers && message->to < tracks->n_numbers &&
           tracks->number[message->from] != 0 && tracks->number[message->to] != 0 &&
           wf_choice_touches(&tracks->view, (int64_t)message->departure,
                             (int64_t)message->arrival + 1);
}

bool wf_track_message(struct wf_message_walk *walk, struct wf_track_message *out)
{
    while (walk->value != NULL) {
        if (walk->at == NULL) {
            walk->rank = next_kept(walk->tracks, walk->rank);
            walk->at = walk->value->type == WF_VALUE_TEXT ? walk->value->text : "";
            walk->now = 0;
        }
        while (read_message(walk, out)) {
            if (shows_message(walk->tracks, out)) {
                return true;
            }
        }
        walk->value = walk->value->next;
        walk->at = NULL;
        walk->rank++;
    }
    return false;
}

uint64_t wf_track_number(const char **at)
{
    char *end;
    uint64_t number = strtoull(*at, &end, 10);

    *at = end != *at ? end : *at + strlen(*at); /* damaged: the rest cannot be read */
    return number;
}
