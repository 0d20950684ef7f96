/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/changes.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum { NORMAL_MOST = 4, EXPONENTIAL_MOST = 8 };

static const struct {
    const char *name;
    uint32_t numbers;
} kinds[WF_EXT_SCALE_KINDS] = {
    [WF_EXT_ALWAYS] = {"", 1},
    [WF_EXT_UNIFORM] = {"uniform:", 2},
    [WF_EXT_NORMAL] = {"normal:", 2},
    [WF_EXT_EXPONENTIAL] = {"exponential:", 1},
};

/* Reads a factor from 0 to 1e9 up to `end`. */
static bool read_number(const char **text, char end, double *out)
{
    char *after = NULL;

    *out = strtod(*text, &after);
    bool is_good = after != *text && *after == end && *out >= 0 && *out <= 1e9;
    *text = after + (is_good && end != '\0' ? 1 : 0);
    return is_good;
}

/* Reads "2", "uniform:0.8:1.2" and the like. */
static bool read_scale(const char *text, struct wf_ext_scale *out)
{
    uint32_t kind = WF_EXT_SCALE_KINDS - 1;

    while (kind > 0 && strncmp(text, kinds[kind].name, strlen(kinds[kind].name)) != 0) {
        kind--;
    }
    text += strlen(kinds[kind].name);
    out->kind = (enum wf_ext_scale_kind)kind;
    bool two = kinds[kind].numbers == 2;
    return read_number(&text, two ? ':' : '\0', &out->a) &&
           (!two || read_number(&text, '\0', &out->b)) &&
           (out->kind != WF_EXT_UNIFORM || out->b >= out->a);
}

enum wf_status wf_ext_scales_read(const char *option, const char *text,
                                  struct wf_ext_scales *out, struct wf_err *err)
{
    out->text = wf_xstrdup(text);
    out->n = 0;
    for (char *part = out->text, *next = NULL; part != NULL; part = next) {
        struct wf_ext_scale scale = {.region = NULL};
        next = strchr(part, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        char *number = strrchr(part, '=');
        if (number != NULL) {
            *number++ = '\0';
            scale.region = part;
        }
        bool is_named = number == NULL || part[0] != '\0';
        if (!is_named || !read_scale(number != NULL ? number : part, &scale) ||
            out->n == WF_EXT_SCALES_MAX) {
            return wf_err_set(
                err, WF_EUSAGE,
                "--%s %.64s: expected a factor from 0 to 1e9, uniform:<least>:<most>, "
                "normal:<mean>:<deviation> or exponential:<mean>, or up to %d of regions, as "
                "in solve=2,io=normal:1:0.1",
                option, text, WF_EXT_SCALES_MAX);
        }
        out->all[out->n++] = scale;
    }
    return WF_OK;
}

void wf_ext_scales_fini(struct wf_ext_scales *scales)
{
    free(scales->text);
    scales->text = NULL;
    scales->n = 0;
}

static double most_of(const struct wf_ext_scale *scale)
{
    if (scale->kind == WF_EXT_NORMAL) {
        return scale->a + NORMAL_MOST * scale->b;
    }
    return scale->kind == WF_EXT_UNIFORM       ? scale->b
           : scale->kind == WF_EXT_EXPONENTIAL ? EXPONENTIAL_MOST * scale->a
                                               : scale->a;
}

static double mean_of(const struct wf_ext_scale *scale)
{
    return scale->kind == WF_EXT_UNIFORM ? (scale->a + scale->b) / 2 : scale->a;
}

static double draw(const struct wf_ext_scale *scale, uint64_t random)
{
    double share = (double)(random >> 11) / (double)(UINT64_C(1) << 53), factor = scale->a;

    if (scale->kind == WF_EXT_UNIFORM) {
        factor = scale->a + (scale->b - scale->a) * share;
    } else if (scale->kind == WF_EXT_NORMAL) {
        factor = scale->a + scale->b * wf_rng_normal(random);
    } else if (scale->kind == WF_EXT_EXPONENTIAL) {
        factor = scale->a * wf_rng_exponential(random);
    }
    return factor < 0 ? 0 : factor > most_of(scale) ? most_of(scale) : factor;
}

static bool applies(const struct wf_ext_scales *scales, const uint32_t *open, uint32_t i)
{
    return scales->all[i].region == NULL || open[i] > 0;
}

double wf_ext_scale_now(const struct wf_ext_scales *scales, const uint32_t *open,
                        uint64_t random)
{
    double factor = 1;

    for (uint32_t i = 0; i < scales->n; i++) {
        factor *= applies(scales, open, i) ? draw(&scales->all[i], wf_rng_mix(random + i)) : 1;
    }
    return factor;
}

double wf_ext_scale_most(const struct wf_ext_scales *scales, const uint32_t *open)
{
    double factor = 1;

    for (uint32_t i = 0; i < scales->n; i++) {
        factor *= applies(scales, open, i) ? most_of(&scales->all[i]) : 1;
    }
    return factor;
}

double wf_ext_scale_mean(const struct wf_ext_scales *scales, const uint32_t *open)
{
    double factor = 1;

    for (uint32_t i = 0; i < scales->n; i++) {
        factor *= applies(scales, open, i) ? mean_of(&scales->all[i]) : 1;
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
