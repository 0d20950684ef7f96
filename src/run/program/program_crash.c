/* SPDX-License-Identifier: Apache-2.0 */
#include "base/result/doc.h"
#include "base/result/result.h"
#include "base/units.h"
#include "mpi/vrank/crash.h"
#include "program/ops/live.h"
#include "run/program/program.h"

#include <weft/weft.h>

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The innermost place that is the user's. */
static void find_place(const struct wf_live_crash *crash, struct wf_sim_place *place)
{
    struct wf_sim_place found[WF_LIVE_PLACES];
    size_t n = crash->n_places, i = 0;

    *place = (struct wf_sim_place){.function = ""};
    if (n > 0) {
        wf_sim_places(crash->program, crash->places, n, found);
        while (i + 1 < n && found[i].is_of_runtime) {
            i++;
        }
        *place = found[i].is_of_runtime ? found[0] : found[i];
    }
}

/* One sentence. */
static void word_crash(const struct wf_live_crash *crash, const struct wf_sim_place *place,
                       struct wf_err *err)
{
    if (crash->has_no_rank) {
        (void)wf_err_set(err, WF_ESIM, "%s", crash->what);
        return;
    }
    char time[WF_UNITS_TEXT_MAX], where[2 * WF_SIM_PLACE_MAX + 16] = "", call[64] = "";

    if (place->function[0] != '\0') {
        (void)snprintf(where, sizeof(where), ", in %.100s%s%.100s", place->function,
                       place->source[0] != '\0' ? " at " : "", place->source);
    }
    if (crash->call != NULL) {
        (void)snprintf(call, sizeof(call), ", %s %.40s", crash->in_call ? "during" : "after",
                       crash->call);
    }
    (void)wf_err_set(err, WF_ESIM, "rank %u crashed at simulated time %s: %s%s%s", crash->rank,
                     wf_human_time(crash->clock, time), crash->what, where, call);
}

struct wf_value *wf_program_crash_document(const struct wf_live_crash *crash,
                                           struct wf_err *err)
{
    struct wf_sim_place place;

    find_place(crash, &place);
    word_crash(crash, &place, err);

    struct wf_value *doc =
        wf_result_new_error(weft_version(), err, wf_status_exit_code(err->status));
    struct wf_value *error = doc->last;

    if (!crash->has_no_rank) {
        wf_doc_count(error, "rank", crash->rank);
        wf_doc_count(error, "time_ps", (uint64_t)crash->clock);
    }
    if (crash->call != NULL) {
        wf_doc_text(error, "call", crash->call);
    }
    if (place.function[0] != '\0') {
        wf_doc_text(error, "function", place.function);
    }
    if (place.source[0] != '\0') {
        wf_doc_text(error, "source", place.source);
    }
    return doc;
}

/* The program is loaded from a file in memory, whose name tells nobody anything. */
void wf_program_crash_backtrace(const struct wf_live_crash *crash, int fd)
{
    static const char memory_file[] = "/proc/self/fd/";
    char **lines = backtrace_symbols(crash->frames, (int)crash->n_frames);

    for (uint32_t i = 0; lines != NULL && i < crash->n_frames; i++) {
        const char *place = strchr(lines[i], '(');
        bool own = strncmp(lines[i], memory_file, sizeof(memory_file) - 1) == 0;
        (void)dprintf(fd, "%s%s\n", own ? crash->program : "",
                      own && place != NULL ? place : lines[i]);
    }
    free(lines);
}

void wf_program_leave(void)
{
    wf_vrank_crash_leave();
}

void wf_program_report_crashes(void (*report)(const struct wf_live_crash *crash))
{
    wf_vrank_crash_report_by(report);
}
