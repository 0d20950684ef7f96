/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/capture/settings.h"

#include <stdlib.h>
#include <string.h>

static const char *text(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

bool wf_cap_settings_read(struct wf_cap_settings *settings)
{
    static const char *const clocks[] = {"cpu", "wall", "none"};
    const char *clock = text("WEFT_CAPTURE_CLOCK"), *counters = text("WEFT_CAPTURE_COUNTERS");

    *settings = (struct wf_cap_settings){
        .directory = text("WEFT_CAPTURE_DIR"),
        .clock_name = clocks[0],
        .ranks = text("WEFT_CAPTURE_RANKS"),
        .region = text("WEFT_CAPTURE_REGION"),
        .waits_for_pcontrol = text("WEFT_CAPTURE_PCONTROL") != NULL,
        .keeps_polls = text("WEFT_CAPTURE_ALL_POLLS") != NULL,
        .keeps_stacks = text("WEFT_CAPTURE_STACKS") != NULL,
        .counters = counters != NULL ? counters : "",
        .compares_clocks = text("WEFT_CAPTURE_COMPARE_CLOCKS") != NULL,
    };
    for (int i = 0; i < 3 && clock != NULL; i++) {
        if (strcmp(clock, clocks[i]) == 0) {
            settings->clock = (enum wf_cap_clock_choice)i;
            settings->clock_name = clocks[i];
        }
    }
    return settings->directory != NULL;
}

bool wf_cap_settings_has_rank(const struct wf_cap_settings *settings, uint32_t rank)
{
    const char *at = settings->ranks;

    while (at != NULL && *at != '\0') {
        char *end = NULL;
        unsigned long first = strtoul(at, &end, 10), last = first;
        if (end == at) {
            return false;
        }
        if (*end == '-') {
            at = end + 1;
            last = strtoul(at, &end, 10);
        }
        if (rank >= first && rank <= last) {
            return true;
        }
        at = *end == ',' ? end + 1 : end;
        if (*end != ',' && *end != '\0') {
            return false;
        }
    }
    return settings->ranks == NULL;
}
