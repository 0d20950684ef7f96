/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/wasm/wasm.h"

#include "base/mem.h"
#include "base/result/doc.h"
#include "base/result/json.h"
#include "model/coll/coll.h"
#include "model/net/route/route.h"
#include "run/execute/run.h"
#include "run/scenario/catalog.h"
#include "run/scenario/scenario.h"
#include "ui/study/page.h"
#include "weft_version.h"

#include <stdlib.h>
#include <string.h>

/* The request and the answer. The module has one thread, and one caller. */
static char *request, *answer;

char *wf_wasm_room(uint32_t size)
{
    free(request);
    request = wf_xcalloc(1, (size_t)size + 1);
    return request;
}

static const char *answer_with(struct wf_value *doc)
{
    free(answer);
    answer = wf_doc_to_compact_json(doc, NULL, NULL);
    wf_doc_free(doc);
    return answer;
}

/* ---- runs ---- */

enum { KEY, VALUE, ORIGIN, PLACE, MODEL, WITH_TOPOLOGY, FIELDS };

static char *copy_unless_empty(const char *text)
{
    return text[0] != '\0' ? wf_xstrdup(text) : NULL;
}

static enum wf_status add_setting(struct wf_scenario *scenario, const char *const *fields,
                                  struct wf_err *err)
{
    if (fields[PLACE][0] == '\0') {
        return wf_scenario_set(scenario, fields[KEY], fields[VALUE],
                               fields[ORIGIN][0] != '\0' ? fields[ORIGIN] : NULL, err);
    }
    return wf_scenario_add(
        scenario,
        (struct wf_setting){
            .key = wf_xstrdup(fields[KEY]),
            .value = wf_xstrdup(fields[VALUE]),
            .origin = wf_xstrdup(fields[ORIGIN][0] != '\0' ? fields[ORIGIN] : fields[KEY]),
            .place = wf_xstrdup(fields[PLACE]),
            .model = copy_unless_empty(fields[MODEL]),
            .with_topology = fields[WITH_TOPOLOGY][0] == '1',
        },
        err);
}

static enum wf_status read_request(uint32_t size, struct wf_scenario *scenario,
                                   struct wf_err *err)
{
    const char *fields[FIELDS];
    size_t n = 0;
    enum wf_status status = WF_OK;

    for (const char *at = request; status == WF_OK && at < request + size;
         at += strlen(at) + 1) {
        fields[n++] = at;
        if (n == FIELDS) {
            status = add_setting(scenario, fields, err);
            n = 0;
        }
    }
    return status;
}

/* Moves the document below `root`. */
static void adopt(struct wf_value *root, const char *name, struct wf_value *doc)
{
    struct wf_value *section = wf_doc_section(root, name);

    section->first = doc->first;
    section->last = doc->last;
    doc->first = doc->last = NULL;
    wf_doc_free(doc);
}

static struct wf_value *outcome(enum wf_status status, const struct wf_err *err)
{
    struct wf_value *root = wf_doc_new();

    wf_doc_count(root, "code", (uint64_t)wf_status_exit_code(status));
    wf_doc_text(root, "error", status == WF_OK ? "" : err->text);
    return root;
}

const char *wf_wasm_run(uint32_t size, uint32_t flags, uint32_t record_limit,
                        uint32_t path_bytes)
{
    const struct wf_sim_recording recording = {.spans = record_limit,
                                               .messages = record_limit,
                                               .calls = record_limit,
                                               .has_calls = true,
                                               .path_bytes = path_bytes};
    const struct wf_sim_host host = {
        .recording = (flags & WF_WASM_RECORDS) != 0 ? &recording : NULL,
        .what_if_events = (flags & WF_WASM_WHAT_IF) != 0 ? UINT64_MAX : 0};
    struct wf_err err = {.status = WF_OK};
    struct wf_scenario *scenario = wf_scenario_new();
    struct wf_value *doc = NULL;

    enum wf_status status = read_request(size, scenario, &err);
    WF_THEN(status, wf_sim_run(scenario, &host, &doc, &err));
    wf_scenario_free(scenario);

    struct wf_value *root = outcome(status, &err);
    if (doc != NULL) {
        if ((flags & WF_WASM_RECORDS) != 0) {
            adopt(root, "extra", wf_study_page(doc));
        }
        adopt(root, "document", doc);
    }
    return answer_with(root);
}

/* ---- what there is ---- */

static void add_param(struct wf_value *list, const struct wf_param *row)
{
    static const char *const types[] = {"bool", "count", "size",  "time",  "rate",  "real",
                                        "enum", "text",  "times", "rates", "groups"};
    struct wf_value *param = wf_doc_section(list, NULL);

    wf_doc_text(param, "name", row->name);
    wf_doc_text(param, "type", types[row->type]);
    wf_doc_text(param, "doc", row->doc);
    if (row->def != NULL) {
        wf_doc_text(param, "default", row->def);
    }
    if (row->word != NULL) {
        wf_doc_text(param, "word", row->word);
    }
    if (row->only_with != NULL) {
        wf_doc_text(param, "only_with", row->only_with);
    }
    if (row->type == WF_PARAM_ENUM) {
        struct wf_value *choices = wf_doc_list(param, "choices");
        for (const char *const *choice = row->choices; *choice != NULL; choice++) {
            wf_doc_text(choices, NULL, *choice);
        }
    }
}

/* The algorithms of each collective. */
static void add_algorithms(struct wf_value *root)
{
    struct wf_value *all = wf_doc_section(root, "algorithms"), *list = NULL;
    enum wf_coll_kind last = WF_COLL_KINDS;

    for (const struct wf_coll_ops *const *ops = wf_coll_table(); *ops != NULL; ops++) {
        if ((*ops)->kind != last) {
            last = (*ops)->kind;
            list = wf_doc_list(all, wf_coll_name(last));
        }
        wf_doc_text(list, NULL, (*ops)->name);
    }
}

static void add_routings(struct wf_value *root)
{
    struct wf_value *list = wf_doc_list(root, "routings");

    for (const struct wf_route_ops *const *ops = wf_route_table(); *ops != NULL; ops++) {
        wf_doc_text(list, NULL, (*ops)->name);
    }
}

const char *wf_wasm_catalog(void)
{
    struct wf_value *root = wf_doc_new();
    add_algorithms(root);
    add_routings(root);

    struct wf_value *list = wf_doc_list(root, "entries");
    struct wf_catalog_entry entry;

    for (size_t at = 0; wf_catalog_next(&at, &entry);) {
        struct wf_value *section = wf_doc_section(list, NULL);
        wf_doc_text(section, "kind", entry.kind);
        wf_doc_text(section, "name", entry.name != NULL ? entry.name : "");
        wf_doc_text(section, "scope", entry.scope != NULL ? entry.scope : "");
        wf_doc_text(section, "summary", entry.summary != NULL ? entry.summary : "");
        wf_doc_text(section, "args", entry.args != NULL ? entry.args : "");
        struct wf_value *params = wf_doc_list(section, "params");
        for (const struct wf_param *row = entry.params; row != NULL && row->name != NULL;
             row++) {
            add_param(params, row);
        }
    }
    return answer_with(root);
}

const char *wf_wasm_version(void)
{
    return WEFT_VERSION;
}
