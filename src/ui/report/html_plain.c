/* SPDX-License-Identifier: Apache-2.0 */
/* The main results as HTML without scripts: what a reader of a page that may not run scripts
 * sees. Tables as data: each has a title, a list or section of the document, and columns. */
#include "base/result/times.h"
#include "base/text.h"
#include "ui/report/page.h"
#include "ui/report/phrase.h"

#include <inttypes.h>
#include <string.h>

static void put_element(const char *tag, const char *text, FILE *out)
{
    const char *space = strchr(tag, ' ');
    int name = space != NULL ? (int)(space - tag) : (int)strlen(tag);

    (void)fprintf(out, "<%s>", tag);
    wf_text_markup(out, text);
    (void)fprintf(out, "</%.*s>\n", name, tag);
}

/* The value as people read it; the end of the name tells the unit. */
static void put_value(const char *tag, const struct wf_value *value, const char *unit_name,
                      FILE *out)
{
    struct wf_phrase phrase = {.used = 0};

    if (value != NULL && value->type != WF_VALUE_SECTION && value->type != WF_VALUE_LIST) {
        wf_phrase_value(&phrase, value, unit_name);
    }
    put_element(tag, phrase.text, out);
}

static void open_table(const char *title, const char *const *heads, FILE *out)
{
    put_element("h2", title, out);
    (void)fputs("<div class=\"wide\"><table><thead><tr>", out);
    for (size_t i = 0; heads[i] != NULL; i++) {
        put_element("th", heads[i], out);
    }
    (void)fputs("</tr></thead><tbody>\n", out);
}

static void close_table(FILE *out)
{
    (void)fputs("</tbody></table></div>\n", out);
}

/* ---- single values ---- */

struct fact {
    const char *path, *words;
};

/* Writes the values that the document has; nothing if it has none. */
static void put_facts(const struct wf_value *doc, const char *title, const struct fact *facts,
                      FILE *out)
{
    static const char *const heads[] = {"", "", NULL};
    bool any = false;

    for (const struct fact *fact = facts; fact->path != NULL; fact++) {
        const struct wf_value *value = wf_doc_find(doc, fact->path);
        const char *dot = strrchr(fact->path, '.');
        if (value == NULL || value->type == WF_VALUE_NULL) {
            continue;
        }
        if (!any) {
            open_table(title, heads, out);
            any = true;
        }
        (void)fputs("<tr>", out);
        put_element("td", fact->words, out);
        put_value("td class=\"n\"", value, dot != NULL ? dot + 1 : fact->path, out);
        (void)fputs("</tr>\n", out);
    }
    if (any) {
        close_table(out);
    }
}

static void put_scenario(const struct wf_value *doc, FILE *out)
{
    static const struct fact facts[] = {
        {"scenario.ranks", "ranks"},
        {"scenario.network", "network model"},
        {"scenario.topology", "topology"},
        {"result.messages", "messages"},
        {"result.bytes", "sent"},
        {"result.recorded_time_ps", "recorded time"},
        {"result.predicted_time_p05_ps", "predicted time, 5 % of the runs are below"},
        {"result.predicted_time_p50_ps", "predicted time, median of the runs"},
        {"result.predicted_time_p95_ps", "predicted time, 95 % of the runs are below"},
        {"result.accepted_load", "accepted load"},
        {"result.energy.joules", "energy in joules"},
        {"result.digest", "digest"},
        {"version", "version of weft"},
        {NULL, NULL},
    };
    static const struct fact efficiency[] = {
        {"result.efficiency.parallel_percent", "parallel efficiency"},
        {"result.efficiency.load_balance_percent", "load balance"},
        {"result.efficiency.serialisation_percent", "serialisation"},
        {"result.efficiency.transfer_percent", "transfer"},
        {"result.efficiency.free_network_ps", "time if the network cost nothing"},
        {"result.efficiency.ideal_time_ps", "time if messages cost nothing"},
        {NULL, NULL},
    };

    put_facts(doc, "The run", facts, out);
    put_facts(doc, "Efficiency", efficiency, out);
}

/* ---- tables ---- */

static void put_ranks(const struct wf_value *doc, FILE *out)
{
    static const char *const heads[] = {"time of a rank", "min", "mean", "max", NULL};
    const struct wf_value *ranks = wf_doc_find(doc, "result.ranks");

    if (ranks == NULL || ranks->type != WF_VALUE_SECTION) {
        return;
    }
    open_table("Where time goes", heads, out);
    for (const struct wf_result_rank_time *kind = wf_result_rank_times; kind->path != NULL;
         kind++) {
        const struct wf_value *spread = wf_doc_find(doc, kind->path);
        if (spread != NULL && spread->type == WF_VALUE_SECTION) {
            (void)fputs("<tr>", out);
            put_element("td", kind->words, out);
            for (size_t i = 1; heads[i] != NULL; i++) {
                put_value("td class=\"n\"", wf_doc_find(spread, heads[i]), "_ps", out);
            }
            (void)fputs("</tr>\n", out);
        }
    }
    close_table(out);
}

/* A list of sections as a table: the names of columns in the document, and their headings. */
struct listing {
    const char *path, *title;
    const char *names[8];
    const char *heads[8];
};

static void put_listing(const struct wf_value *doc, const struct listing *listing, FILE *out)
{
    const struct wf_value *list = wf_doc_find(doc, listing->path);

    if (list == NULL || list->type != WF_VALUE_LIST || list->first == NULL) {
        return;
    }
    open_table(listing->title, listing->heads, out);
    for (const struct wf_value *item = list->first; item != NULL; item = item->next) {
        (void)fputs("<tr>", out);
        for (size_t i = 0; listing->names[i] != NULL; i++) {
            put_value("td class=\"n\"",
                      item->type == WF_VALUE_SECTION ? wf_doc_find(item, listing->names[i])
                                                     : NULL,
                      listing->names[i], out);
        }
        (void)fputs("</tr>\n", out);
    }
    close_table(out);
}

enum { SHARES_MAX = 16 };

static void put_path(const struct wf_value *doc, FILE *out)
{
    struct fact shares[SHARES_MAX] = {{NULL, NULL}};
    size_t n = 0;

    for (const struct wf_result_path_time *share = wf_result_path_times;
         share->path != NULL && n + 1 < SHARES_MAX; share++) {
        shares[n++] = (struct fact){share->path, share->words};
    }
    put_facts(doc, "The critical path", shares, out);
}

static void put_listings(const struct wf_value *doc, FILE *out)
{
    static const struct listing listings[] = {
        {"what_if",
         "What if",
         {"change", "time_ps", "saved_percent", "from"},
         {"change", "time", "saved", "from"}},
        {"critical_path.calls",
         "The critical path by call",
         {"call", "time_ps"},
         {"call", "time"}},
        {"result.network.link_classes",
         "Links by dimension or level",
         {"class", "links", "mean_busy_percent", "max_busy_percent", "bytes", "packets"},
         {"class", "links", "busy, mean", "busy, most", "bytes", "packets"}},
        {"result.network.hot_links",
         "The busiest links",
         {"vertex", "port", "to", "busy_percent", "bytes", "packets"},
         {"from vertex", "port", "to vertex", "busy", "bytes", "packets"}},
    };

    for (size_t i = 0; i < sizeof(listings) / sizeof(listings[0]); i++) {
        put_listing(doc, &listings[i], out);
    }
}

static void put_section(const char *title, const struct wf_value *section, FILE *out)
{
    static const char *const heads[] = {"name", "value", NULL};

    if (section == NULL || section->type != WF_VALUE_SECTION) {
        return;
    }
    open_table(title, heads, out);
    for (const struct wf_value *v = section->first; v != NULL; v = v->next) {
        (void)fputs("<tr>", out);
        put_element("td", v->name, out);
        put_value("td", v, v->name, out);
        (void)fputs("</tr>\n", out);
    }
    close_table(out);
}

static void put_parameters(const struct wf_value *doc, FILE *out)
{
    const struct wf_value *scopes = wf_doc_find(doc, "scenario.parameters");

    if (scopes == NULL || scopes->type != WF_VALUE_SECTION) {
        return;
    }
    for (const struct wf_value *scope = scopes->first; scope != NULL; scope = scope->next) {
        struct wf_phrase title = {.used = 0};
        wf_phrase_add(&title, "Parameters: %s", scope->name);
        put_section(title.text, scope, out);
    }
}

static void put_warnings(const struct wf_value *doc, FILE *out)
{
    const struct wf_value *list = wf_doc_find(doc, "warnings");

    if (list == NULL || list->type != WF_VALUE_LIST) {
        return;
    }
    put_element("h2", "Warnings", out);
    for (const struct wf_value *v = list->first; v != NULL; v = v->next) {
        if (v->type == WF_VALUE_TEXT) {
            put_element("p", v->text, out);
        }
    }
}

/* Of weft run --check=all-orders: how many were run, and the decisions of this one. */
static void put_orders(const struct wf_value *doc, FILE *out)
{
    const struct wf_value *list = wf_doc_find(doc, "check.orders.decisions");

    if (wf_doc_find(doc, "check.orders.words") != NULL) {
        put_element("p", wf_doc_get_text(doc, "check.orders.words", ""), out);
    }
    if (list != NULL && list->type == WF_VALUE_LIST && list->first != NULL) {
        (void)fputs("<ol>\n", out);
        for (const struct wf_value *v = list->first; v != NULL; v = v->next) {
            put_element("li", wf_doc_get_text(v, "words", ""), out);
        }
        (void)fputs("</ol>\n", out);
    }
}

/* What weft run --check has found. */
static void put_check(const struct wf_value *doc, FILE *out)
{
    static const char *const heads[] = {"kind", "count", "where and what", NULL};
    const struct wf_value *list = wf_doc_find(doc, "check.findings");

    if (list == NULL || list->type != WF_VALUE_LIST) {
        return;
    }
    if (list->first == NULL) {
        put_element("h2", "Errors in the use of MPI", out);
        put_element("p", "None.", out);
        put_orders(doc, out);
        return;
    }
    open_table("Errors in the use of MPI", heads, out);
    for (const struct wf_value *v = list->first; v != NULL; v = v->next) {
        struct wf_phrase count = {.used = 0};
        wf_phrase_add(&count, "%" PRIu64, wf_doc_get_count(v, "count", 0));
        (void)fputs("<tr>", out);
        put_element("td", wf_doc_get_text(v, "kind", ""), out);
        put_element("td", count.text, out);
        put_element("td", wf_doc_get_text(v, "words", ""), out);
        (void)fputs("</tr>\n", out);
    }
    close_table(out);
    put_orders(doc, out);
}

/* A comparison or a study: the predicted time of each result. */
static bool put_several(const struct wf_value *doc, FILE *out)
{
    static const char *const heads[] = {"result", "status", "predicted time", NULL};
    const struct wf_value *list = wf_doc_find(doc, "runs");
    bool runs = list != NULL;

    list = runs ? list : wf_doc_find(doc, "points");
    if (list == NULL || list->type != WF_VALUE_LIST) {
        return false;
    }
    open_table(wf_doc_get_text(doc, "title", "weft compare"), heads, out);
    for (const struct wf_value *v = list->first; v != NULL; v = v->next) {
        const struct wf_value *document = runs ? wf_doc_find(v, "document") : v;
        const struct wf_value *settings = runs ? NULL : wf_doc_find(v, "settings");
        struct wf_phrase name = {.used = 0};
        wf_phrase_add(&name, "%s", runs ? wf_doc_get_text(v, "name", "") : "");
        for (const struct wf_value *s = settings != NULL ? settings->first : NULL; s != NULL;
             s = s->next) {
            wf_phrase_add(&name, "%s%s = %s", s == settings->first ? "" : ", ", s->name,
                          s->type == WF_VALUE_TEXT ? s->text : "");
        }
        (void)fputs("<tr>", out);
        put_element("td", name.text, out);
        put_element("td", wf_doc_get_text(document, runs ? "result.status" : "status", ""),
                    out);
        put_value("td class=\"n\"", wf_doc_find(document, "result.predicted_time_ps"), "_ps",
                  out);
        (void)fputs("</tr>\n", out);
    }
    close_table(out);
    return true;
}

void wf_writer_html_plain(const struct wf_value *doc, FILE *out)
{
    static const char *const times[] = {"result.predicted_time_ps", "result.time_reached_ps",
                                        "result.simulated_time_ps"};
    const char *status = wf_doc_get_text(doc, "result.status", "completed");
    const char *error = wf_doc_get_text(doc, "error.message", NULL);
    const struct wf_value *time = NULL;
    struct wf_phrase head = {.used = 0};

    if (put_several(doc, out)) {
        return;
    }
    wf_phrase_add(&head, "weft %s %s", wf_doc_get_text(doc, "scenario.command", ""),
                  wf_doc_get_text(doc, "scenario.source", ""));
    put_element("h1", head.text, out);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]) && time == NULL; i++) {
        time = wf_doc_find(doc, times[i]);
    }
    if (time != NULL) {
        put_value("p class=\"big\"", time, "_ps", out);
        put_element("p", strcmp(status, "completed") == 0 ? "predicted time" : status, out);
    }
    if (error != NULL) {
        put_element("p class=\"bad\"", error, out);
    }
    put_scenario(doc, out);
    put_ranks(doc, out);
    put_path(doc, out);
    put_listings(doc, out);
    put_parameters(doc, out);
    put_check(doc, out);
    put_warnings(doc, out);
}
