/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/compare.h"

#include "base/result/times.h"
#include "base/text.h"
#include "base/units.h"
#include "ui/report/compare_runs.h"
#include "ui/report/path_text.h"

#include <math.h>
#include <string.h>

enum { PATH_MAX_LENGTH = 256 };

/* A walk over two documents at once. */
struct walk {
    FILE *out;
    size_t most, found; /* maximum number of lines; differences found */
    size_t alone;  /* of them, settings that one of the documents has, if they are not listed */
    bool settings; /* of scenarios: numbers have no percentages */
    char path[PATH_MAX_LENGTH];
};

static bool is_branch(const struct wf_value *value)
{
    return value->type == WF_VALUE_SECTION || value->type == WF_VALUE_LIST;
}

static bool is_number(const struct wf_value *value)
{
    return value->type == WF_VALUE_COUNT || value->type == WF_VALUE_REAL;
}

static double number(const struct wf_value *value)
{
    return value->type == WF_VALUE_COUNT ? (double)value->count : value->real;
}

static bool same_leaf(const struct wf_value *a, const struct wf_value *b)
{
    if (is_number(a) && is_number(b)) {
        return a->type == b->type && a->type == WF_VALUE_COUNT ? a->count == b->count
                                                               : number(a) == number(b);
    }
    if (a->type != b->type) {
        return false;
    }
    if (a->type == WF_VALUE_TEXT) {
        return strcmp(a->text, b->text) == 0;
    }
    return a->type == WF_VALUE_NULL || a->truth == b->truth;
}

static void add_leaf(struct wf_phrase *out, const struct wf_value *value, const char *path)
{
    const char *name = strrchr(path, '.');

    if (value == NULL) {
        wf_phrase_add(out, "absent");
    } else if (is_branch(value)) {
        wf_phrase_add(out, value->type == WF_VALUE_LIST ? "a list" : "a section");
    } else if (value->type == WF_VALUE_TEXT) {
        wf_phrase_add(out, "%.80s", value->text);
    } else {
        /* The unit is in the name of the value, or in the name of the spread that contains
         * it. */
        wf_phrase_value(out, value,
                        wf_phrase_ends_with(path, "_ps.min") ||
                                wf_phrase_ends_with(path, "_ps.mean") ||
                                wf_phrase_ends_with(path, "_ps.max")
                            ? "time_ps"
                            : (name != NULL ? name + 1 : path));
    }
}

/* "(+12.50 %)", or "(x 16.0)" for what has more than doubled. */
static void add_change(struct wf_phrase *out, double before, double after)
{
    if (before > 0 && after > 2 * before) {
        wf_phrase_add(out, " (x %.3g)", after / before);
    } else if (before > 0 || before < 0) {
        wf_phrase_add(out, " (%+.2f %%)", 100 * (after - before) / before);
    }
}

static void differ(struct walk *walk, const struct wf_value *a, const struct wf_value *b)
{
    struct wf_phrase line = {.used = 0};

    walk->found++;
    if (walk->settings && (a == NULL || b == NULL) && walk->most < SIZE_MAX) {
        walk->alone++;
        return;
    }
    if (walk->found - walk->alone > walk->most) {
        return;
    }
    wf_phrase_add(&line, "  %s: ", walk->path);
    add_leaf(&line, b, walk->path);
    wf_phrase_add(&line, ", was ");
    add_leaf(&line, a, walk->path);
    if (!walk->settings && a != NULL && b != NULL && is_number(a) && is_number(b)) {
        add_change(&line, number(a), number(b));
    }
    (void)fprintf(walk->out, "%s\n", line.text);
}

static void walk_values(struct walk *walk, const struct wf_value *a, const struct wf_value *b);

/* Descends one level, to a member or a list element. */
static void step(struct walk *walk, const struct wf_value *a, const struct wf_value *b,
                 const char *name)
{
    size_t length = strlen(walk->path);

    (void)snprintf(walk->path + length, sizeof(walk->path) - length, "%s%s",
                   length > 0 ? "." : "", name);
    walk_values(walk, a, b);
    walk->path[length] = '\0';
}

static void walk_section(struct walk *walk, const struct wf_value *a, const struct wf_value *b)
{
    for (const struct wf_value *v = a->first; v != NULL; v = v->next) {
        step(walk, v, wf_doc_member(b, v->name), v->name);
    }
    for (const struct wf_value *v = b->first; v != NULL; v = v->next) {
        if (wf_doc_member(a, v->name) == NULL) {
            step(walk, NULL, v, v->name);
        }
    }
}

static void walk_list(struct walk *walk, const struct wf_value *a, const struct wf_value *b)
{
    const struct wf_value *x = a->first, *y = b->first;

    for (size_t i = 0; x != NULL || y != NULL; i++) {
        char place[24];
        (void)snprintf(place, sizeof(place), "%zu", i);
        step(walk, x, y, place);
        x = x != NULL ? x->next : NULL;
        y = y != NULL ? y->next : NULL;
    }
}

/* Lists with a value for each repeated run or each rank: where they differ, all differ. */
static bool is_sample(const char *path)
{
    return strcmp(path, "uncertainty.times_ps") == 0 || strcmp(path, "uncertainty.ranks") == 0;
}

/* Counts all differences of two lists as one. */
static void walk_sample(struct walk *walk, const struct wf_value *a, const struct wf_value *b)
{
    struct walk inside = {.out = walk->out, .most = 0};

    walk_list(&inside, a, b);
    if (inside.found > 0) {
        walk->found++;
        if (walk->found <= walk->most) {
            (void)fprintf(walk->out, "  %s: %zu values differ\n", walk->path, inside.found);
        }
    }
}

static void walk_values(struct walk *walk, const struct wf_value *a, const struct wf_value *b)
{
    if (strcmp(walk->path, "settings") == 0) {
        return; /* the parameters and members of the scenario have them too */
    }
    if (a == NULL || b == NULL) {
        differ(walk, a, b);
    } else if (a->type == WF_VALUE_SECTION && b->type == WF_VALUE_SECTION) {
        walk_section(walk, a, b);
    } else if (a->type == WF_VALUE_LIST && b->type == WF_VALUE_LIST && is_sample(walk->path)) {
        walk_sample(walk, a, b);
    } else if (a->type == WF_VALUE_LIST && b->type == WF_VALUE_LIST) {
        walk_list(walk, a, b);
    } else if (is_branch(a) || is_branch(b) || !same_leaf(a, b)) {
        differ(walk, a, b);
    }
}

/* Compares a part of the documents; returns the number of differences. */
static size_t compare_part(const struct wf_compared *base, const struct wf_compared *other,
                           const char *part, size_t most, FILE *out)
{
    struct walk walk = {.out = out, .most = most, .settings = strcmp(part, "scenario") == 0};
    const struct wf_value *a = wf_doc_find(base->doc, part);
    const struct wf_value *b = wf_doc_find(other->doc, part);

    if (a == NULL && b == NULL) {
        return 0;
    }
    if (a == NULL || b == NULL) {
        (void)snprintf(walk.path, sizeof(walk.path), "%s", part);
    }
    walk_values(&walk, a, b);
    if (walk.found - walk.alone > most) {
        (void)fprintf(out, "  ... and %zu more; --verbose lists all\n", walk.found - most);
    } else if (walk.alone > 0) {
        (void)fprintf(out, "  ... and %zu %s only one of them has; --verbose lists %s\n",
                      walk.alone, walk.alone == 1 ? "setting that" : "settings that",
                      walk.alone == 1 ? "it" : "them");
    }
    return walk.found;
}

/* Adds the main cause of a difference in time, from the means over the ranks. */
static void add_cause(const struct wf_value *a, const struct wf_value *b, double more,
                      struct wf_phrase *out)
{
    const char *cause = NULL;
    double most = 0;

    for (const struct wf_result_rank_time *part = wf_result_rank_times; part->path != NULL;
         part++) {
        double change = (double)wf_doc_get_count(b, part->mean, 0) -
                        (double)wf_doc_get_count(a, part->mean, 0);
        if (change / more > most) {
            most = change / more;
            cause = part->words;
        }
    }
    if (cause != NULL) {
        wf_phrase_add(out, ", of which %.0f %% is %s", 100 * (most < 1 ? most : 1), cause);
    }
}

static void add_speed(const struct wf_value *a, const struct wf_value *b, FILE *out)
{
    uint64_t before = wf_doc_get_count(a, "result.predicted_time_ps", 0);
    uint64_t after = wf_doc_get_count(b, "result.predicted_time_ps", 0);
    struct wf_phrase line = {.used = 0};

    if (before == 0 || after == 0 || before == after) {
        return;
    }
    double ratio =
        after > before ? (double)after / (double)before : (double)before / (double)after;
    wf_phrase_add(&line, ratio < 1.1 ? "  %.2g %% %s: " : "  %.3g x %s: ",
                  ratio < 1.1 ? 100 * (ratio - 1) : ratio,
                  after > before ? "slower" : "faster");
    wf_phrase_time(&line, after);
    wf_phrase_add(&line, ", was ");
    wf_phrase_time(&line, before);
    add_cause(a, b, (double)after - (double)before, &line);
    (void)wf_explain_path_change(a, b, &line);
    (void)fprintf(out, "%s\n", line.text);
}

/* What a user set otherwise: the machine and the settings of the commands, not what follows from them. */
static void add_changed(const struct wf_value *a, const struct wf_value *b, FILE *out)
{
    static const char *const paths[] = {"scenario.machine", "scenario.settings"};
    struct wf_phrase line = {.used = 0};
    size_t n = 0;

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const struct wf_value *sides[2] = {wf_doc_find(a, paths[i]), wf_doc_find(b, paths[i])};
        for (int side = 0; side < 2; side++) {
            const struct wf_value *v = sides[side];
            bool is_one = v != NULL && v->type == WF_VALUE_TEXT;
            for (v = v != NULL && v->type == WF_VALUE_SECTION ? v->first : v; v != NULL;
                 v = is_one ? NULL : v->next) {
                const struct wf_value *other = sides[!side];
                other = other != NULL && other->type == WF_VALUE_SECTION
                            ? wf_doc_member(other, v->name)
                            : other;
                bool twice = side == 1 && other != NULL; /* told already */
                if (v->type != WF_VALUE_TEXT || twice ||
                    (other != NULL && same_leaf(v, other))) {
                    continue;
                }
                const struct wf_value *before = side == 0 ? v : other;
                const struct wf_value *now = side == 0 ? other : v;
                wf_phrase_add(&line, "%s%s ", n++ > 0 ? ", " : "", v->name);
                wf_phrase_add(&line, "%.64s -> ", before != NULL ? before->text : "not set");
                wf_phrase_add(&line, "%.64s",
                              now != NULL && now->type == WF_VALUE_TEXT ? now->text
                                                                        : "not set");
            }
        }
    }
    if (n > 0) {
        wf_text_print(out, "  changed: %s\n", line.text);
    }
}

/* Where the time of a rank goes, if that differs: what is at least a thousandth of all. */
static void add_parts(const struct wf_value *a, const struct wf_value *b, FILE *out)
{
    double all = fmax((double)wf_doc_get_count(a, "result.predicted_time_ps", 0),
                      (double)wf_doc_get_count(b, "result.predicted_time_ps", 0));
    bool differs = false;

    for (int pass = 0; pass < 2; pass++) {
        for (const struct wf_result_rank_time *part = wf_result_rank_times;
             part->path != NULL && (pass == 0 || differs); part++) {
            uint64_t before = wf_doc_get_count(a, part->mean, 0);
            uint64_t now = wf_doc_get_count(b, part->mean, 0);
            char texts[2][WF_UNITS_TEXT_MAX], change[WF_UNITS_TEXT_MAX];
            uint64_t apart = before > now ? before - now : now - before;
            if (pass == 0) {
                differs = differs || apart > 0;
            } else if ((double)before > all / 1000 || (double)now > all / 1000) {
                (void)fprintf(out, "    %-32s %10s -> %s", part->words,
                              wf_human_time((int64_t)before, texts[0]),
                              wf_human_time((int64_t)now, texts[1]));
                if (apart > 0) {
                    (void)fprintf(out, " (%s%s)", now > before ? "+" : "-",
                                  wf_human_time((int64_t)apart, change));
                }
                (void)fputc('\n', out);
            }
        }
        if (pass == 0 && differs) {
            (void)fputs("  of the time of a rank, means:\n", out);
        }
    }
}

bool wf_compare(const struct wf_compared *base, const struct wf_compared *other, size_t most,
                FILE *out)
{
    static const char *const sections[] = {"version", "scenario", "result", "error"};
    size_t found = 0;

    wf_text_print(out, "%s, compared with %s:\n", other->name, base->name);
    add_speed(base->doc, other->doc, out);
    wf_compare_runs(base->doc, other->doc, out);
    add_parts(base->doc, other->doc, out);
    add_changed(base->doc, other->doc, out);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        found += compare_part(base, other, sections[i], most, out);
    }
    if (found == 0) {
        (void)fprintf(out, "  equal\n");
    }
    return found > 0;
}
