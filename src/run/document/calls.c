/* SPDX-License-Identifier: Apache-2.0 */
/* The calls and regions of a recording. Lists are stored as texts, as those of spans are. */
#include "base/array.h"
#include "base/buf.h"
#include "base/result/doc.h"
#include "model/ranks/record/recording.h"
#include "program/ops/source.h"
#include "run/document/document.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_text(struct wf_buf *buf, const char *text)
{
    wf_buf_append(buf, text, strlen(text));
}

static void put_number(struct wf_buf *buf, const char *before, uint64_t number)
{
    char digits[48];

    (void)snprintf(digits, sizeof(digits), "%s%" PRIu64, before, number);
    put_text(buf, digits);
}

/* The names that calls and regions refer to, in the order of their first use. */
struct names {
    struct wf_value *list;
    const char **texts; /* belong to the document */
    size_t n, capacity;
    struct names *stacks; /* those of calls; the list is made when there is one */
    struct wf_value *section;
};

static size_t name_number(struct names *names, const char *text)
{
    for (size_t i = names->n; i-- > 0;) {
        if (strcmp(names->texts[i], text) == 0) {
            return i;
        }
    }
    wf_doc_text(names->list, NULL, text);
    WF_GROW(names->texts, names->n, names->capacity);
    names->texts[names->n] = names->list->last->text;
    return names->n++;
}

/* The name of a call: that of its kind, or the program's. */
static const char *call_name(const struct wf_document_jobs *jobs, const struct wf_call *call)
{
    enum wf_op_kind kind = (enum wf_op_kind)call->kind;
    const struct wf_source *source = jobs->of[wf_document_job_of(jobs, call->rank)].source;
    const char *name = NULL;

    if (source != NULL && kind == WF_OP_CALL) {
        name = wf_source_name_of(source, WF_NAME_CALL, (uint32_t)call->tag);
    } else if (source != NULL && kind == WF_OP_REGION_BEGIN) {
        name = wf_source_name_of(source, WF_NAME_REGION, (uint32_t)call->tag);
    }
    return name != NULL && name[0] != '\0' ? name
           : kind == WF_OP_REGION_BEGIN    ? "region"
                                           : wf_op_name(kind);
}

/* The functions that make a call: "main > solve"; null if they were not recorded. */
static const char *stack_of(const struct wf_document_jobs *jobs, const struct wf_call *call)
{
    const struct wf_source *source = jobs->of[wf_document_job_of(jobs, call->rank)].source;

    return source != NULL && call->site != 0
               ? wf_source_name_of(source, WF_NAME_SITE, call->site)
               : NULL;
}

static bool is_marker(const struct wf_call *call)
{
    return wf_op_info((enum wf_op_kind)call->kind)->family == WF_FAMILY_MARKER;
}

/* Writes the calls of a rank as "0 1200 30 5 7 0 64;...": name, time since the begin of the
 * previous call, duration, and for calls that have them peer, tag, communicator, bytes; a peer or
 * tag that a call does not have is "-". At the end "@2": the stack, if it is known. */
static void put_calls(struct wf_buf *buf, const struct wf_document_jobs *jobs,
                      struct names *names, const struct wf_call *call,
                      const struct wf_call *end)
{
    int64_t now = 0;
    const char *before = "";

    for (; call < end; call++) {
        if (is_marker(call)) {
            continue;
        }
        put_number(buf, before, name_number(names, call_name(jobs, call)));
        put_number(buf, " ", (uint64_t)(call->from - now));
        put_number(buf, " ", (uint64_t)(call->until - call->from));
        bool has_tag = call->tag >= 0 && call->kind != WF_OP_CALL;
        if (call->comm != WF_CALL_NONE || call->peer != WF_CALL_NONE || call->bytes > 0) {
            call->peer != WF_CALL_NONE ? put_number(buf, " ", call->peer) : put_text(buf, " -");
            has_tag ? put_number(buf, " ", (uint64_t)call->tag) : put_text(buf, " -");
            put_number(buf, " ", call->comm != WF_CALL_NONE ? call->comm : 0);
            put_number(buf, " ", call->bytes);
        }
        const char *stack = stack_of(jobs, call);
        if (stack != NULL) {
            struct names *stacks = names->stacks;
            stacks->list = stacks->list != NULL ? stacks->list
                                                : wf_doc_list(stacks->section, "stack_names");
            put_number(buf, "@", name_number(stacks, stack));
        }
        now = call->from;
        before = ";";
    }
}

/* Writes the regions of a rank as "0 1200 5000;...": name, time since the begin of the previous
 * region, duration, in the order of their begins. A region that does not end ends with the
 * rank. */
static void put_regions(struct wf_buf *buf, const struct wf_document_jobs *jobs,
                        struct names *names, const struct wf_call *call,
                        const struct wf_call *end)
{
    int64_t now = 0;
    const char *before = "";

    for (; call < end; call++) {
        if (call->kind != WF_OP_REGION_BEGIN) {
            continue;
        }
        const struct wf_call *last = call + 1;
        for (int depth = 1; last < end; last++) {
            depth += last->kind == WF_OP_REGION_BEGIN ? 1
                     : last->kind == WF_OP_REGION_END ? -1
                                                      : 0;
            if (depth == 0) {
                break;
            }
        }
        int64_t until = last < end ? last->from : end[-1].until;
        put_number(buf, before, name_number(names, call_name(jobs, call)));
        put_number(buf, " ", (uint64_t)(call->from - now));
        put_number(buf, " ", (uint64_t)(until - call->from));
        now = call->from;
        before = ";";
    }
}

typedef void put_fn(struct wf_buf *buf, const struct wf_document_jobs *jobs,
                    struct names *names, const struct wf_call *call, const struct wf_call *end);

static void add_call_texts(struct wf_value *list, struct wf_recording *recording,
                           const struct wf_document_jobs *jobs, struct names *names,
                           put_fn *put)
{
    const struct wf_call *call = wf_recording_calls(recording);
    const struct wf_call *last = call + recording->n_calls;
    struct wf_buf buf = {.data = NULL};

    for (uint64_t rank = 0; rank < recording->n_ranks; rank++) {
        const struct wf_call *end = call;
        while (end < last && end->rank == rank) {
            end++;
        }
        if (wf_choice_has_rank(&recording->limits.choice, rank)) {
            put(&buf, jobs, names, call, end);
            wf_buf_append(&buf, "", 1);
            wf_doc_text(list, NULL, (const char *)buf.data);
            buf.size = 0;
        }
        call = end;
    }
    wf_buf_fini(&buf);
}

static bool has_regions(struct wf_recording *recording)
{
    return recording->by_call[WF_OP_REGION_BEGIN].n > 0;
}

/* Adds the sums by kind of call, and one text for each chosen rank unless there are too many. */
void wf_document_calls(struct wf_value *section, struct wf_recording *recording,
                       const struct wf_document_jobs *jobs)
{
    if (!recording->limits.has_calls) {
        return;
    }
    struct wf_value *sums = wf_doc_list(section, "by_call");
    for (size_t kind = 0; kind < WF_OP_KINDS; kind++) {
        const struct wf_call_sum *sum = &recording->by_call[kind];
        if (sum->n > 0 && wf_op_info((enum wf_op_kind)kind)->family != WF_FAMILY_MARKER) {
            struct wf_value *item = wf_doc_section(sums, NULL);
            wf_doc_text(item, "call", wf_op_name((enum wf_op_kind)kind));
            wf_doc_count(item, "calls", sum->n);
            wf_doc_count(item, "time_ps", sum->time_ps);
            wf_doc_count(item, "max_ps", sum->max_ps);
            wf_doc_count(item, "bytes", sum->bytes);
        }
    }
    wf_doc_count(section, "n_calls", recording->n_calls);
    if (recording->n_calls > recording->limits.calls) {
        return;
    }
    struct names stacks = {.section = section};
    struct names names = {.list = wf_doc_list(section, "call_names"), .stacks = &stacks};
    add_call_texts(wf_doc_list(section, "calls"), recording, jobs, &names, put_calls);
    if (has_regions(recording)) {
        names.n = 0;
        names.list = wf_doc_list(section, "region_names");
        add_call_texts(wf_doc_list(section, "regions"), recording, jobs, &names, put_regions);
    }
    free(names.texts);
    free(stacks.texts);
}
