/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline as CSV, one line per span. */
#include "ui/report/tracks.h"
#include "ui/report/writer.h"

#include <inttypes.h>

static void timeline_write(const struct wf_value *doc, const struct wf_write_options *options,
                           FILE *out)
{
    struct wf_tracks tracks;
    struct wf_track track;

    wf_tracks_init(&tracks, doc, options);
    (void)fputs("first_rank,ranks,from_ps,until_ps,what\n", out);
    for (struct wf_track_walk walk = wf_tracks_walk(&tracks); wf_track_step(&walk, &track);) {
        struct wf_track_span span;
        while (wf_track_next(&track, &span)) {
            (void)fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s\n",
                          track.first_rank, track.ranks, span.from, span.until,
                          wf_track_names[span.what]);
        }
    }
    wf_tracks_fini(&tracks);
}

const struct wf_writer_ops wf_writer_timeline_csv = {
    .name = "timeline",
    .extension = ".timeline.csv",
    .summary = "the timeline of the ranks, a line for each span",
    .records = true,
    .timeline = true,
    .write = timeline_write,
};
