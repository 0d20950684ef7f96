/* SPDX-License-Identifier: Apache-2.0 */
/* A line for each span of a timeline. */
#include "report/lanes.h"
#include "report/writer.h"

#include <inttypes.h>

static void timeline_write(const struct wf_value *doc, const struct wf_write_options *options,
                           FILE *out)
{
    struct wf_lanes lanes;
    struct wf_lane lane;

    wf_lanes_init(&lanes, doc, options);
    (void)fputs("first_rank,ranks,from_ps,until_ps,what\n", out);
    for (struct wf_lane_walk walk = wf_lanes_walk(&lanes); wf_lane_step(&walk, &lane);) {
        struct wf_lane_span span;
        while (wf_lane_next(&lane, &span)) {
            (void)fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s\n",
                          lane.first_rank, lane.ranks, span.from, span.until,
                          wf_lane_words[span.what]);
        }
    }
    wf_lanes_fini(&lanes);
}

const struct wf_writer_ops wf_writer_timeline_csv = {
    .name = "timeline",
    .extension = ".timeline.csv",
    .summary = "what ranks did when, a line for each span",
    .records = true,
    .timeline = true,
    .write = timeline_write,
};
