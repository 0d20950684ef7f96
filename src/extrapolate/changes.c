/* SPDX-License-Identifier: Apache-2.0 */
#include "extrapolate/changes.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum wf_status wf_ext_scales_read(const char *option, const char *text,
                                  struct wf_ext_scales *out, struct wf_err *err)
{
    out->text = wf_xstrdup(text);
    out->n = 0;
    for (char *part = out->text, *next = NULL; part != NULL; part = next) {
        char *number = NULL, *end = NULL;
        next = strchr(part, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        number = strrchr(part, '=');
        if (number != NULL) {
            *number++ = '\0';
        }
        double factor = strtod(number != NULL ? number : part, &end);
        bool named = number == NULL || part[0] != '\0';
        if (end == (number != NULL ? number : part) || *end != '\0' || !named ||
            !(factor >= 0) || factor > 1e9 || out->n == WF_EXT_SCALES_MAX) {
            return wf_err_set(
                err, WF_EUSAGE,
                "--%s %.64s: expected a factor from 0 to 1e9, or up to %d factors "
                "of regions, as in solve=2,io=0.5",
                option, text, WF_EXT_SCALES_MAX);
        }
        out->all[out->n++] =
            (struct wf_ext_scale){.region = number != NULL ? part : NULL, .factor = factor};
    }
    return WF_OK;
}

void wf_ext_scales_fini(struct wf_ext_scales *scales)
{
    free(scales->text);
    scales->text = NULL;
    scales->n = 0;
}

double wf_ext_scale_now(const struct wf_ext_scales *scales, const uint32_t *open)
{
    double factor = 1;

    for (uint32_t i = 0; i < scales->n; i++) {
        factor *= scales->all[i].region == NULL || open[i] > 0 ? scales->all[i].factor : 1;
    }
    return factor;
}

void wf_ext_scale_enter(const struct wf_ext_scales *scales, uint32_t *open, const char *region,
                        int change)
{
    for (uint32_t i = 0; i < scales->n; i++) {
        if (scales->all[i].region != NULL && strcmp(scales->all[i].region, region) == 0) {
            open[i] = change > 0 ? open[i] + 1 : open[i] > 0 ? open[i] - 1 : 0;
        }
    }
}

double wf_ext_spread(double spread, uint32_t rank, uint64_t number)
{
    uint64_t bits = wf_rng_mix(wf_rng_mix(rank + UINT64_C(1)) + number);

    return 1 + spread * (2 * ((double)(bits >> 11) / (double)(UINT64_C(1) << 53)) - 1);
}
