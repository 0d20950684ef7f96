/* SPDX-License-Identifier: Apache-2.0 */
#include "run/execute/stages.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/result/doc.h"
#include "engine/hosts/comm.h"
#include "program/ops/live.h"
#include "run/document/document.h"
#include "run/program/program.h"
#include "run/scenario/scenario.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 1200, PLACE_TEXT_MAX = 2 * WF_SIM_PLACE_MAX };

/* ---- collecting ---- */

void wf_sim_check_collect(const struct wf_plan *plan, struct wf_comm *world,
                          struct wf_findings *out)
{
    uint32_t n = wf_comm_size(world);

    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        const struct wf_source *source = plan->jobs[i].source;
        if (source != NULL && source->live != NULL && source->live->findings != NULL) {
            source->live->findings(source, out);
        }
    }
    if (n == 1) {
        return;
    }
    struct wf_buf *sent = wf_xcalloc(n, sizeof(*sent)), *got = wf_xcalloc(n, sizeof(*got));
    if (wf_comm_rank(world) != 0) {
        wf_buf_append(&sent[0], out->items, out->n * sizeof(*out->items));
    }
    wf_comm_exchange(world, sent, got);
    for (uint32_t p = 0; p < n; p++) {
        for (size_t at = 0; at + sizeof(struct wf_finding) <= got[p].size;
             at += sizeof(struct wf_finding)) {
            struct wf_finding finding;
            memcpy(&finding, got[p].data + at, sizeof(finding));
            wf_findings_add(out, &finding);
        }
        wf_buf_fini(&sent[p]);
        wf_buf_fini(&got[p]);
    }
    free(sent);
    free(got);
}

/* ---- source lines ---- */

/* Of each finding: the place of its own call, and of the other one. */
struct places {
    struct wf_sim_place own, other;
};

static const char *path_of(const struct wf_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        if (plan->jobs[i].program) {
            return plan->jobs[i].settings->source + strlen(WF_PROGRAM_PREFIX);
        }
    }
    return "";
}

/* A return address is after its call, perhaps in the next line. */
static uint64_t call_at(uint64_t site)
{
    return site > 0 ? site - 1 : 0;
}

static struct places *find_places(const struct wf_plan *plan,
                                  const struct wf_findings *findings)
{
    size_t n = 2 * (size_t)findings->n;
    uint64_t *sites = wf_xcalloc(n + 1, sizeof(*sites));
    struct places *places = wf_xcalloc(findings->n + (size_t)1, sizeof(*places));
    struct wf_sim_place *found = wf_xcalloc(n + 1, sizeof(*found));

    for (uint32_t i = 0; i < findings->n; i++) {
        sites[(size_t)2 * i] = call_at(findings->items[i].own.site);
        sites[(size_t)2 * i + 1] = call_at(findings->items[i].other.site);
    }
    wf_sim_places(path_of(plan), sites, n, found);
    for (uint32_t i = 0; i < findings->n; i++) {
        places[i] = (struct places){found[(size_t)2 * i], found[(size_t)2 * i + 1]};
    }
    free(found);
    free(sites);
    return places;
}

/* "MPI_Send at ring.c:12". */
static const char *call_text(const struct wf_finding_call *call,
                             const struct wf_sim_place *place, char *buf)
{
    if (place->source[0] != '\0') {
        (void)snprintf(buf, PLACE_TEXT_MAX, "%s at %.200s", call->call, place->source);
    } else if (place->function[0] != '\0') {
        (void)snprintf(buf, PLACE_TEXT_MAX, "%s in %.200s (build with -g for the line)",
                       call->call, place->function);
    } else if (call->site != 0) {
        (void)snprintf(buf, PLACE_TEXT_MAX, "%s at 0x%" PRIx64, call->call, call->site);
    } else {
        (void)snprintf(buf, PLACE_TEXT_MAX, "%s", call->call);
    }
    return buf;
}

/* One sentence about the finding. */
static void word_finding(const struct wf_finding *finding, const struct places *places,
                         char *words)
{
    char own[PLACE_TEXT_MAX], other[PLACE_TEXT_MAX], times[48] = "", second[WORDS_MAX] = "";

    if (finding->count > 1) {
        (void)snprintf(times, sizeof(times), " (%" PRIu64 " times in all)", finding->count);
    }
    if (finding->other.rank != WF_FINDING_NO_RANK) {
        (void)snprintf(second, sizeof(second), "; the other call is %s%.300s",
                       finding->other.rank == finding->own.rank ? "" : "that rank's ",
                       call_text(&finding->other, &places->other, other));
    }
    (void)snprintf(words, WORDS_MAX, "rank %" PRIu32 ": %.300s: %s%.400s%s", finding->own.rank,
                   call_text(&finding->own, &places->own, own), finding->what, second, times);
}

/* ---- the document ---- */

static void add_call(struct wf_value *section, const struct wf_finding_call *call,
                     const struct wf_sim_place *place)
{
    wf_doc_count(section, "rank", call->rank);
    wf_doc_text(section, "call", call->call);
    if (place->function[0] != '\0') {
        wf_doc_text(section, "function", place->function);
    }
    if (place->source[0] != '\0') {
        wf_doc_text(section, "source", place->source);
    }
}

static void add_finding(struct wf_value *list, const struct wf_finding *finding,
                        const struct places *places, const char *words)
{
    struct wf_value *section = wf_doc_section(list, NULL);

    wf_doc_text(section, "kind", wf_finding_name((enum wf_finding_kind)finding->kind));
    wf_doc_count(section, "count", finding->count);
    add_call(section, &finding->own, &places->own);
    if (finding->other.rank != WF_FINDING_NO_RANK) {
        add_call(wf_doc_section(section, "other"), &finding->other, &places->other);
    }
    wf_doc_text(section, "words", words);
}

static bool is_checked(const struct wf_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_jobs; i++) {
        const struct wf_program_params *params = plan->jobs[i].block.values;
        if (plan->jobs[i].program && wf_program_is_checked(params)) {
            return true;
        }
    }
    return false;
}

/* What the simulation says about a rank that has not ended; null if nothing. */
static const struct wf_value *unfinished(const struct wf_value *root, uint32_t rank)
{
    const struct wf_value *list = wf_doc_find(root, "result.waiting.ranks");

    for (const struct wf_value *v = list != NULL ? list->first : NULL; v != NULL; v = v->next) {
        if (wf_doc_get_count(v, "rank", UINT64_MAX) == rank) {
            return v;
        }
    }
    return NULL;
}

/* The call of a rank that has not ended: it waits for ever, or cannot be executed. In a run that
 * failed, ranks also wait for those that failed; then it is no finding. */
static bool judge_last_call(const struct wf_value *root, struct wf_finding *finding)
{
    bool deadlock = strcmp(wf_doc_get_text(root, "result.status", ""), "deadlock") == 0;
    const struct wf_value *rank = unfinished(root, finding->own.rank);

    if (!deadlock && (rank == NULL || wf_doc_find(rank, "collective") != NULL)) {
        return false;
    }
    if (rank != NULL) {
        (void)snprintf(finding->what, sizeof(finding->what), "%s",
                       wf_doc_get_text(rank, "waits", finding->what));
    }
    finding->kind = deadlock ? WF_FINDING_DEADLOCK : WF_FINDING_FAILED_CALL;
    return true;
}

/* Drops what only follows from the end of the run: messages that ranks did not come to receive. */
static void drop_consequences(const struct wf_value *root, struct wf_findings *findings)
{
    bool all_ended = wf_doc_find(root, "result.waiting") == NULL;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < findings->n; i++) {
        struct wf_finding *finding = &findings->items[i];
        bool unmatched = finding->kind == WF_FINDING_UNMATCHED_SEND ||
                         finding->kind == WF_FINDING_UNMATCHED_RECEIVE;
        if (finding->kind == WF_FINDING_DEADLOCK ? judge_last_call(root, finding)
                                                 : all_ended || !unmatched) {
            findings->items[kept++] = *finding;
        }
    }
    findings->n = kept;
}

enum wf_status wf_sim_check_describe(const struct wf_plan *plan, struct wf_findings *findings,
                                     struct wf_value *root, enum wf_status status,
                                     struct wf_err *err)
{
    bool checked = is_checked(plan);
    uint64_t errors = 0;

    drop_consequences(root, findings);
    wf_findings_sort(findings);
    if (findings->n == 0 && !checked) {
        return status;
    }
    for (uint32_t i = 0; i < findings->n; i++) {
        errors += findings->items[i].count;
    }
    struct places *places = find_places(plan, findings);
    struct wf_value *section = checked ? wf_doc_section(root, "check") : NULL, *list = NULL;
    char words[WORDS_MAX], first[WORDS_MAX] = "";
    if (checked) {
        wf_doc_count(section, "errors", errors);
        list = wf_doc_list(section, "findings");
    }
    for (uint32_t i = 0; i < findings->n; i++) {
        word_finding(&findings->items[i], &places[i], words);
        if (checked) {
            add_finding(list, &findings->items[i], &places[i], words);
        } else {
            wf_sim_warn(root, "%s", words);
        }
        if (i == 0) {
            (void)snprintf(first, sizeof(first), "%s", words);
        }
    }
    free(places);
    if (!checked || findings->n == 0 || status != WF_OK) {
        return status;
    }
    return wf_err_set(err, WF_ESIM,
                      "the program has %" PRIu64 " error%s in its use of MPI: %.400s", errors,
                      errors == 1 ? "" : "s", first);
}

/* "rank 0: MPI_Recv at race.c:12 gets the message of rank 2". */
static void word_decision(const struct wf_decision *decision, const struct wf_sim_place *place,
                          char *words)
{
    static const char *const verbs[] = {
        [WF_DECISION_RECEIVE] = "gets a message of rank",
        [WF_DECISION_PROBE] = "finds a message of rank",
        [WF_DECISION_LOOK] = "finds a message of rank",
        [WF_DECISION_TEST] = "finds complete: request",
        [WF_DECISION_WAIT] = "completes request",
    };
    char call[PLACE_TEXT_MAX], outcome[80] = "finds nothing";

    if (decision->outcome >= 0) {
        (void)snprintf(outcome, sizeof(outcome), "%s %" PRId32 "%s", verbs[decision->kind],
                       decision->outcome,
                       decision->kind <= WF_DECISION_LOOK ? " of its communicator" : "");
    }
    (void)snprintf(words, WORDS_MAX, "rank %" PRIu32 ": %.300s %s", decision->call.rank,
                   call_text(&decision->call, place, call), outcome);
}

static void word_orders(const struct wf_orders *orders, char *words)
{
    if (orders->found) {
        (void)snprintf(words, WORDS_MAX,
                       "number %" PRIu64
                       " has errors; to run it again: --schedule \"%.900s\"%s",
                       orders->runs, orders->schedule,
                       strlen(orders->schedule) > 900 ? "... (see the document)" : "");
    } else {
        (void)snprintf(words, WORDS_MAX, "%" PRIu64 " run, %s", orders->runs,
                       orders->is_complete ? "which are all"
                                           : "the limit; there are more (--orders)");
    }
}

static size_t count_fixed(const struct wf_scenario *scenario)
{
    const struct wf_setting *setting = wf_scenario_find(scenario, "run.schedule");
    struct wf_schedule schedule = {.n = 0};
    struct wf_err err;

    if (setting == NULL || wf_schedule_parse(setting->value, &schedule, &err) != WF_OK) {
        return 0;
    }
    size_t n = schedule.n;
    wf_schedule_fini(&schedule);
    return n;
}

/* The decisions that the schedule fixes. Returns how many the program came to. */
static size_t add_decisions(const struct wf_execution *x, struct wf_value *section)
{
    struct wf_value *list = wf_doc_list(section, "decisions");
    size_t n = 0;
    uint64_t *sites = wf_xcalloc(x->decisions.n + 1, sizeof(*sites));
    struct wf_sim_place *places = wf_xcalloc(x->decisions.n + 1, sizeof(*places));
    char words[WORDS_MAX];

    for (size_t i = 0; i < x->decisions.n; i++) {
        sites[n] = call_at(x->decisions.items[i].call.site);
        n += x->decisions.items[i].is_fixed;
    }
    wf_sim_places(path_of(&x->plan), sites, n, places);
    n = 0;
    for (size_t i = 0; i < x->decisions.n; i++) {
        const struct wf_decision *decision = &x->decisions.items[i];
        if (decision->is_fixed) {
            struct wf_value *item = wf_doc_section(list, NULL);
            wf_doc_text(item, "kind", wf_decision_name(decision->kind));
            add_call(item, &decision->call, &places[n]);
            word_decision(decision, &places[n++], words);
            wf_doc_text(item, "words", words);
        }
    }
    free(places);
    free(sites);
    return n;
}

void wf_sim_check_describe_orders(const struct wf_execution *x, struct wf_value *root)
{
    const struct wf_orders *orders = x->orders;
    struct wf_value *check = (struct wf_value *)wf_unconst(wf_doc_find(root, "check"));

    if (check == NULL || orders == NULL) {
        return;
    }
    struct wf_value *section = wf_doc_section(check, "orders");
    char words[WORDS_MAX];
    if (orders->is_search) {
        word_orders(orders, words);
        wf_doc_text(section, "words", words);
        wf_doc_count(section, "runs", orders->runs);
        wf_doc_count(section, "impossible", orders->impossible);
        wf_doc_count(section, "most", orders->most);
        wf_doc_bool(section, "complete", orders->is_complete);
        wf_doc_bool(section, "found", orders->found);
        wf_doc_text(section, "schedule", orders->schedule);
    }
    size_t n = add_decisions(x, section), n_fixed = count_fixed(x->scenario);
    if (n < n_fixed) {
        wf_sim_warn(root,
                    "the program did not come to %zu of the %zu decisions of its schedule",
                    n_fixed - n, n_fixed);
    }
}

/* Whether the program made the error itself; others only follow from its early end. */
static bool is_own_error(const struct wf_finding *finding)
{
    return finding->kind != WF_FINDING_DEADLOCK && finding->kind != WF_FINDING_LEAKED_REQUEST &&
           finding->kind != WF_FINDING_UNMATCHED_SEND &&
           finding->kind != WF_FINDING_UNMATCHED_RECEIVE;
}

void wf_sim_check_mention(const struct wf_plan *plan, struct wf_comm *world, struct wf_err *err)
{
    struct wf_findings findings = {.items = NULL};
    char text[WF_ERR_TEXT_MAX], words[WORDS_MAX];
    uint32_t kept = 0;

    if (!is_checked(plan)) {
        return;
    }
    wf_sim_check_collect(plan, world, &findings);
    for (uint32_t i = 0; i < findings.n; i++) {
        if (is_own_error(&findings.items[i])) {
            findings.items[kept++] = findings.items[i];
        }
    }
    findings.n = kept;
    wf_findings_sort(&findings);
    if (kept > 0) {
        struct places *places = find_places(plan, &findings);
        word_finding(&findings.items[0], &places[0], words);
        (void)snprintf(text, sizeof(text), "%.120s; before that, %.300s", err->text, words);
        (void)wf_err_set(err, err->status, "%s", text);
        free(places);
    }
    wf_findings_fini(&findings);
}
