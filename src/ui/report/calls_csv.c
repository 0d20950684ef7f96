/* SPDX-License-Identifier: Apache-2.0 */
/* Calls and regions as CSV, one line each: those of a rank in the order of its program, regions
 * first. Fields that a call does not have are empty. */
#include "base/text.h"
#include "ui/report/calls.h"

#include <inttypes.h>

static void write_call(uint64_t rank, const char *type, const char *name,
                       const struct wf_track_call *call, const char *stack, FILE *out)
{
    (void)fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,", rank, call->from, call->until,
                  type);
    wf_text_csv(out, name);
    if (call->has_args && call->has_peer) {
        (void)fprintf(out, ",%" PRIu32, call->peer);
    } else {
        (void)fputc(',', out);
    }
    if (call->has_args && call->has_tag) {
        (void)fprintf(out, ",%" PRIu32, call->tag);
    } else {
        (void)fputc(',', out);
    }
    if (call->has_args) {
        (void)fprintf(out, ",%" PRIu32 ",%" PRIu64, call->comm, call->bytes);
    } else {
        (void)fputs(",,", out);
    }
    if (stack != NULL) {
        (void)fputc(',', out);
        wf_text_csv(out, stack);
    }
    (void)fputc('\n', out);
}

/* The functions that make the call; null if no call has any, and the table no such column. */
static const char *stack_of(const struct wf_track_calls *calls,
                            const struct wf_track_call *call)
{
    return calls->n_stack_names == 0            ? NULL
           : call->stack < calls->n_stack_names ? calls->stack_names[call->stack]
                                                : "";
}

static void calls_write(const struct wf_value *doc, const struct wf_write_options *options,
                        FILE *out)
{
    struct wf_track_calls calls;
    struct wf_tracks tracks;
    struct wf_track track;

    wf_tracks_init(&tracks, doc, options);
    wf_track_calls_init(&calls, doc, &tracks);
    if (!calls.known) {
        (void)fputs(
            "# the recording has no individual calls (--record-calls, --record-limit)\n", out);
    }
    (void)fprintf(out, "rank,from_ps,until_ps,type,name,peer,tag,communicator,bytes%s\n",
                  calls.n_stack_names > 0 ? ",stack" : "");
    for (struct wf_track_walk walk = wf_tracks_walk(&tracks);
         calls.known && wf_track_step(&walk, &track);) {
        const struct wf_track_list *list = &calls.calls[track.number];
        for (size_t i = 0; calls.regions != NULL && i < calls.regions[track.number].n; i++) {
            const struct wf_track_call *region = &calls.regions[track.number].calls[i];
            write_call(track.first_rank, "region", calls.region_names[region->name], region,
                       stack_of(&calls, region), out);
        }
        for (size_t i = 0; i < list->n; i++) {
            write_call(track.first_rank, "call", calls.names[list->calls[i].name].text,
                       &list->calls[i], stack_of(&calls, &list->calls[i]), out);
        }
    }
    wf_track_calls_fini(&calls);
    wf_tracks_fini(&tracks);
}

const struct wf_writer_ops wf_writer_calls_csv = {
    .name = "calls",
    .extension = ".calls.csv",
    .summary = "the calls and regions of the ranks, a line each",
    .records = true,
    .timeline = true,
    .write = calls_write,
};
