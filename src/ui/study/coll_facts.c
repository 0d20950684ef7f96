/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/coll_facts.h"

#include "base/result/result.h"
#include "base/text.h"
#include "base/units.h"

#include <weft/weft.h>

#include <inttypes.h>
#include <string.h>

#define COLL_SCHEMA "weft-coll-1"

/* Longer lists of messages are counted, and printed only on request. */
enum { MESSAGES_SHOWN = 200 };

static struct wf_value *new_document(void)
{
    return wf_result_new_as(COLL_SCHEMA, weft_version());
}

enum wf_status wf_study_coll_kind(const char *name, enum wf_coll_kind *out, struct wf_err *err)
{
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, name);
    for (int kind = 0; kind < WF_COLL_KINDS; kind++) {
        if (strcmp(wf_coll_name((enum wf_coll_kind)kind), name) == 0) {
            *out = (enum wf_coll_kind)kind;
            return WF_OK;
        }
        wf_nearest_add(&nearest, wf_coll_name((enum wf_coll_kind)kind));
    }
    (void)wf_nearest_hint(&nearest, hint);
    return wf_err_set(err, WF_EUSAGE, "coll: unknown collective '%.64s'%s", name,
                      hint[0] != '\0' ? hint : "; 'weft coll list' shows all");
}

static enum wf_status unknown_algorithm(enum wf_coll_kind kind, const char *name,
                                        struct wf_err *err)
{
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, name);
    for (const struct wf_coll_ops *const *ops = wf_coll_table(); *ops != NULL; ops++) {
        if ((*ops)->kind == kind) {
            wf_nearest_add(&nearest, (*ops)->name);
        }
    }
    (void)wf_nearest_hint(&nearest, hint);
    if (hint[0] == '\0') {
        (void)snprintf(hint, sizeof(hint), "; 'weft coll list %s' shows all",
                       wf_coll_name(kind));
    }
    return wf_err_set(err, WF_EUSAGE, "coll: %s has no algorithm '%.64s'%s", wf_coll_name(kind),
                      name, hint);
}

enum wf_status wf_study_coll_choose(enum wf_coll_rules rules, const char *name,
                                    const struct wf_coll_args *args,
                                    const struct wf_coll_ops **out, struct wf_err *err)
{
    *out = name == NULL ? wf_coll_choose(rules, args) : wf_coll_find(args->kind, name);
    if (*out == NULL) {
        return unknown_algorithm(args->kind, name, err);
    }
    if (!wf_coll_applies(*out, args)) {
        return wf_err_set(err, WF_EUSAGE, "coll: %s of %s does not work for %" PRIu32 " ranks",
                          (*out)->name, wf_coll_name(args->kind), args->size);
    }
    return WF_OK;
}

struct wf_value *wf_study_coll_list(enum wf_coll_kind only)
{
    struct wf_value *doc = new_document();
    struct wf_value *list = wf_doc_list(doc, "algorithms");

    for (const struct wf_coll_ops *const *ops = wf_coll_table(); *ops != NULL; ops++) {
        if (only == WF_COLL_KINDS || (*ops)->kind == only) {
            struct wf_value *entry = wf_doc_section(list, NULL);

            wf_doc_text(entry, "collective", wf_coll_name((*ops)->kind));
            wf_doc_text(entry, "name", (*ops)->name);
            wf_doc_text(entry, "summary", (*ops)->summary);
        }
    }
    return doc;
}

/* ---- messages ---- */

/* The parts of the data that a message carries: "3", "0-3", "6-7 0-1", "1 3 5 7". A list that
 * does not fit ends with dots. */
static const char *name_slots(const struct wf_coll_slots *slots, uint32_t n_slots, char *buf,
                              size_t size)
{
    enum { DOTS = 24 }; /* space for one more run of parts, and for the dots */
    size_t length = 0;
    uint32_t i = 0;

    buf[0] = '\0';
    while (i < slots->count) {
        uint32_t from = (slots->first + i) % n_slots, run = 0;

        while (i + run < slots->count && from + run < n_slots &&
               (slots->mask == 0 || ((i + run) & slots->mask) != 0)) {
            run++;
        }
        i += run > 0 ? run : 1;
        if (run == 0) {
            continue;
        }
        if (length + DOTS > size) {
            (void)snprintf(buf + length, size - length, " ...");
            break;
        }
        int written = run > 1 ? snprintf(buf + length, size - length, "%s%" PRIu32 "-%" PRIu32,
                                         length > 0 ? " " : "", from, from + run - 1)
                              : snprintf(buf + length, size - length, "%s%" PRIu32,
                                         length > 0 ? " " : "", from);
        length += written > 0 ? (size_t)written : 0;
    }
    return buf;
}

static void print_messages(FILE *out, const struct wf_study_messages *messages)
{
    char bytes[WF_UNITS_TEXT_MAX], parts[52];

    (void)fprintf(out, "\n%6s %6s %6s %10s  %s\n", "Round", "From", "To", "Size", "Parts");
    for (uint32_t i = 0; i < messages->n; i++) {
        const struct wf_study_message *sent = &messages->sent[i];

        (void)fprintf(out, "%6" PRIu32 " %6" PRIu32 " %6" PRIu32 " %10s  %s\n", sent->round,
                      sent->from, sent->to, wf_human_size(sent->bytes, bytes),
                      name_slots(&sent->slots, messages->n_slots, parts, sizeof(parts)));
    }
}

void wf_study_coll_print(const struct wf_study_messages *messages, bool all, FILE *out)
{
    char buf[WF_UNITS_TEXT_MAX];

    (void)fprintf(out, "\nRounds                %" PRIu32 "\n", messages->n_rounds);
    (void)fprintf(out, "Messages              %" PRIu32 "\n", messages->n);
    (void)fprintf(out, "Bytes                 %s\n", wf_human_size(messages->bytes, buf));
    (void)fprintf(out, "Most sent by a rank   %s\n", wf_human_size(messages->most_sent, buf));
    (void)fprintf(out, "Most received by one  %s\n",
                  wf_human_size(messages->most_received, buf));
    (void)fprintf(out, "Parts of the data     %" PRIu32 "\n", messages->n_slots);
    if (messages->n > 0 && (all || messages->n <= MESSAGES_SHOWN)) {
        print_messages(out, messages);
    } else if (messages->n > 0) {
        (void)fputs("\n--all prints the messages.\n", out);
    }
}

struct wf_value *wf_study_coll_document(const struct wf_coll_ops *ops,
                                        const struct wf_coll_args *args,
                                        const struct wf_study_messages *messages)
{
    enum { PARTS_MAX = 4096 };
    char parts[PARTS_MAX];
    struct wf_value *doc = new_document();

    wf_doc_text(doc, "collective", wf_coll_name(ops->kind));
    wf_doc_text(doc, "algorithm", ops->name);
    wf_doc_count(doc, "ranks", args->size);
    wf_doc_count(doc, "root", args->root);
    wf_doc_count(doc, "data_bytes", args->bytes);
    wf_doc_count(doc, "parts", messages->n_slots);
    wf_doc_count(doc, "rounds", messages->n_rounds);
    wf_doc_count(doc, "bytes", messages->bytes);
    wf_doc_count(doc, "most_sent_bytes", messages->most_sent);
    wf_doc_count(doc, "most_received_bytes", messages->most_received);
    struct wf_value *list = wf_doc_list(doc, "messages");
    for (uint32_t i = 0; i < messages->n; i++) {
        const struct wf_study_message *sent = &messages->sent[i];
        struct wf_value *entry = wf_doc_section(list, NULL);

        wf_doc_count(entry, "round", sent->round);
        wf_doc_count(entry, "from", sent->from);
        wf_doc_count(entry, "to", sent->to);
        wf_doc_count(entry, "bytes", sent->bytes);
        wf_doc_text(entry, "parts",
                    name_slots(&sent->slots, messages->n_slots, parts, sizeof(parts)));
    }
    return doc;
}

/* ---- rules ---- */

static const struct wf_coll_ops *chosen(enum wf_coll_rules rules, enum wf_coll_kind kind,
                                        uint32_t ranks, uint64_t bytes)
{
    const struct wf_coll_args args = {.kind = kind, .size = ranks, .bytes = bytes};

    return wf_coll_choose(rules, &args);
}

/* The first size above `bytes` for which another algorithm is chosen; UINT64_MAX if there is
 * none up to 1 TiB. Tries eight sizes in each power of two. Where two neighbours differ, it
 * searches for the exact size between them. */
static uint64_t next_change(enum wf_coll_rules rules, enum wf_coll_kind kind, uint32_t ranks,
                            uint64_t bytes)
{
    const uint64_t last = UINT64_C(1) << 40;
    const struct wf_coll_ops *now = chosen(rules, kind, ranks, bytes);
    uint64_t same = bytes, other = bytes;

    while (other < last) {
        other += other / 8 + 1;
        if (chosen(rules, kind, ranks, other) != now) {
            while (other - same > 1) {
                uint64_t middle = same + (other - same) / 2;
                bool differs = chosen(rules, kind, ranks, middle) != now;

                other = differs ? middle : other;
                same = differs ? same : middle;
            }
            return other;
        }
        same = other;
    }
    return UINT64_MAX;
}

static void print_rules(FILE *out, enum wf_coll_rules rules, enum wf_coll_kind kind,
                        uint32_t ranks)
{
    char size[WF_UNITS_TEXT_MAX];

    (void)fprintf(out, "\n%s\n", wf_coll_rules_names[rules]);
    for (uint64_t at = 0; at != UINT64_MAX; at = next_change(rules, kind, ranks, at)) {
        const struct wf_coll_ops *ops = chosen(rules, kind, ranks, at);

        (void)fprintf(out, "  from %-12s %s\n", wf_format_size(at, size), ops->name);
    }
}

void wf_study_coll_rules_print(enum wf_coll_kind kind, uint32_t ranks, FILE *out)
{
    (void)fprintf(out, "%s of %" PRIu32 " ranks, by the bytes of %s\n", wf_coll_name(kind),
                  ranks, kind == WF_COLL_BARRIER ? "nothing" : "the call");
    for (int rules = 0; wf_coll_rules_names[rules] != NULL; rules++) {
        print_rules(out, (enum wf_coll_rules)rules, kind, ranks);
    }
}

struct wf_value *wf_study_coll_rules(enum wf_coll_kind kind, uint32_t ranks)
{
    struct wf_value *doc = new_document();

    wf_doc_text(doc, "collective", wf_coll_name(kind));
    wf_doc_count(doc, "ranks", ranks);
    struct wf_value *list = wf_doc_list(doc, "rules");
    for (int rules = 0; wf_coll_rules_names[rules] != NULL; rules++) {
        enum wf_coll_rules whose = (enum wf_coll_rules)rules;

        for (uint64_t at = 0; at != UINT64_MAX; at = next_change(whose, kind, ranks, at)) {
            struct wf_value *entry = wf_doc_section(list, NULL);

            wf_doc_text(entry, "rules", wf_coll_rules_names[rules]);
            wf_doc_count(entry, "from_bytes", at);
            wf_doc_text(entry, "algorithm", chosen(whose, kind, ranks, at)->name);
        }
    }
    return doc;
}
