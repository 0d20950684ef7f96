/* SPDX-License-Identifier: Apache-2.0 */
#include "program/gen/grid.h"

#include <assert.h>
#include <string.h>

/* The sum of the faces of the grid, one for each dimension. */
static uint64_t surface_of(uint32_t n, uint32_t n_dims, const uint32_t *size)
{
    uint64_t surface = 0;

    for (uint32_t d = 0; d < n_dims; d++) {
        surface += n / size[d];
    }
    return surface;
}

/* Whether d may be the smallest of `n_dims` factors of n. */
static int fits(uint32_t d, uint32_t n, uint32_t n_dims)
{
    uint64_t power = 1;

    for (uint32_t i = 0; i < n_dims; i++) {
        if (power > n / d) {
            return 0;
        }
        power *= d;
    }
    return 1;
}

/* If the smallest factor is given, the surface is smallest when that of the others is. */
void wf_gen_grid_factor(uint32_t n, uint32_t n_dims, uint32_t *size)
{
    uint64_t best = UINT64_MAX;
    uint32_t trial[WF_GEN_GRID_DIMS_MAX] = {1, 1, 1, 1};

    assert(n >= 1 && n_dims >= 1 && n_dims <= WF_GEN_GRID_DIMS_MAX);
    if (n_dims == 1) {
        size[0] = n;
        return;
    }
    for (uint32_t d = 1; fits(d, n, n_dims); d++) {
        if (n % d != 0) {
            continue;
        }
        wf_gen_grid_factor(n / d, n_dims - 1, trial);
        trial[n_dims - 1] = d;
        uint64_t surface = surface_of(n, n_dims, trial);
        if (surface <= best && trial[n_dims - 2] >= d) {
            best = surface;
            memcpy(size, trial, n_dims * sizeof(*size));
        }
    }
}

/* Reads one size and the separator after it: an x, or the end of the text after the last
 * size. */
static const char *read_size(const char *text, uint32_t *size, int last)
{
    uint64_t value = 0;

    if (*text < '1' || *text > '9') {
        return NULL;
    }
    for (; *text >= '0' && *text <= '9'; text++) {
        value = 10 * value + (uint64_t)(*text - '0');
        if (value > UINT32_MAX) {
            return NULL;
        }
    }
    *size = (uint32_t)value;
    if (*text != (last ? '\0' : 'x')) {
        return NULL;
    }
    return text + (last ? 0 : 1);
}

bool wf_gen_grid_parse(const char *text, uint32_t n_dims, uint32_t *size, uint64_t *product)
{
    const char *at = text;

    *product = 1;
    for (uint32_t d = 0; d < n_dims && at != NULL; d++) {
        at = read_size(at, &size[d], d + 1 == n_dims);
        if (at != NULL) {
            *product = *product > UINT32_MAX ? *product : *product * size[d];
        }
    }
    return at != NULL;
}

enum wf_status wf_gen_grid_read(const char *name, const char *text, uint32_t n, uint32_t n_dims,
                                uint32_t *size, struct wf_err *err)
{
    static const char *const forms[] = {"", "A", "AxB", "AxBxC", "AxBxCxD"};
    uint32_t read[WF_GEN_GRID_DIMS_MAX] = {0};
    uint64_t product = 1;

    if (text == NULL || *text == '\0') {
        wf_gen_grid_factor(n, n_dims, size);
        return WF_OK;
    }
    if (!wf_gen_grid_parse(text, n_dims, read, &product)) {
        return wf_err_set(err, WF_EUSAGE,
                          "gen:%s: size: '%.64s' is no grid; write %s, or nothing for a grid "
                          "that fits",
                          name, text, forms[n_dims]);
    }
    if (product != n) {
        return wf_err_set(err, WF_EUSAGE,
                          "gen:%s: size: a grid of '%.64s' has %s%llu ranks, but there are %u",
                          name, text, product > UINT32_MAX ? "more than " : "",
                          (unsigned long long)(product > UINT32_MAX ? UINT32_MAX : product), n);
    }
    memcpy(size, read, n_dims * sizeof(*size));
    return WF_OK;
}
