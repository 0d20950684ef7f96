/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/again.h"

#include "base/mem.h"
#include "base/result/doc.h"
#include "base/result/result.h"
#include "run/execute/run.h"
#include "run/machine/machine.h"
#include "run/scenario/scenario.h"

#include <string.h>

static const double QUICK_SECONDS = 8;

bool wf_study_can_run_again(const struct wf_value *doc)
{
    const struct wf_value *settings = wf_doc_find(doc, "scenario.settings");
    const char *source = wf_doc_get_text(doc, "scenario.settings.source", "");

    return settings != NULL && settings->type == WF_VALUE_SECTION && source[0] != '\0' &&
           strcmp(wf_doc_get_text(doc, "scenario.command", ""), "replay") == 0 &&
           strcmp(wf_doc_get_text(doc, "result.status", ""), WF_RESULT_COMPLETED) == 0;
}

bool wf_study_is_quick_again(const struct wf_value *doc)
{
    uint64_t runs = wf_doc_get_count(doc, "scenario.runs", 0);

    return runs == 0 && wf_doc_get_real(doc, "run.cpu_seconds", QUICK_SECONDS) < QUICK_SECONDS;
}

/* The scenario of the document. Its settings are those of a file: none may start a program. */
static enum wf_status scenario_of(const struct wf_value *doc, struct wf_scenario *scenario,
                                  struct wf_err *err)
{
    const char *machine = wf_doc_get_text(doc, "scenario.machine", NULL);
    const struct wf_value *settings = wf_doc_find(doc, "scenario.settings");

    WF_TRY(machine != NULL ? wf_machine_apply(machine, scenario, err) : WF_OK);
    for (const struct wf_value *v = settings->first; v != NULL; v = v->next) {
        if (v->type != WF_VALUE_TEXT || strcmp(v->name, "runs") == 0) {
            continue;
        }
        WF_TRY(wf_scenario_add(scenario,
                               (struct wf_setting){.key = wf_xstrdup(v->name),
                                                   .value = wf_xstrdup(v->text),
                                                   .origin = wf_xstrdup(v->name),
                                                   .place = wf_xstrdup("scenario.settings")},
                               err));
    }
    return wf_scenario_set(scenario, "efficiency", "yes", NULL, err);
}

/* Moves the section into the document. */
static void move_efficiency(struct wf_value *from, struct wf_value *to)
{
    struct wf_value *found = wf_unconst(wf_doc_find(from, "result.efficiency"));
    struct wf_value *own = wf_doc_section(wf_unconst(wf_doc_find(to, "result")), "efficiency");

    own->first = found->first;
    own->last = found->last;
    found->first = found->last = NULL;
}

enum wf_status wf_study_add_efficiency(struct wf_value *doc, const struct wf_sim_host *host,
                                       struct wf_err *err)
{
    struct wf_scenario *scenario = wf_scenario_new();
    struct wf_value *again = NULL;

    enum wf_status status = scenario_of(doc, scenario, err);
    WF_THEN(status, wf_sim_run(scenario, host, &again, err));
    if (status == WF_OK && strcmp(wf_doc_get_text(doc, "result.digest", ""),
                                  wf_doc_get_text(again, "result.digest", "-")) != 0) {
        status = wf_err_set(err, WF_EINVAL,
                            "the scenario of this result gives another result today: its trace "
                            "or machine file, or weft itself, has changed since");
    }
    if (status == WF_OK && wf_doc_find(again, "result.efficiency") != NULL) {
        move_efficiency(again, doc);
    }
    wf_doc_free(again);
    wf_scenario_free(scenario);
    return status;
}
