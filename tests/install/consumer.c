/* SPDX-License-Identifier: Apache-2.0 */
/* A program of somebody else's: prints the version of the library that it found, after it has
 * written a trace with the collectives expanded and fitted a machine. */
#include <stdio.h>
#include <stdlib.h>
#include <weft/weft.h>

static int fails(enum weft_code code, const struct weft_error *error)
{
    if (code != WEFT_OK) {
        fprintf(stderr, "consumer: %s\n", error->text);
    }
    return code != WEFT_OK;
}

int main(void)
{
    const struct weft_sample samples[] = {
        {1, 1000, 0}, {64, 1006, 0}, {4096, 1410, 0}, {65536, 7554, 0}};
    const struct weft_measurements measured = {.size = sizeof(measured),
                                               .samples = samples,
                                               .n = 4,
                                               .send_ns = 100,
                                               .receive_ns = 100,
                                               .stream_ns = 80};
    const struct weft_convert how = {
        .size = sizeof(how), .ranks = 4, .expand_collectives = true, .force = true};
    struct weft_error error;
    struct weft_fit fit = {.size = sizeof(fit)};

    if (fails(weft_trace_convert("gen:stencil3d", "stencil.weft", &how, &error), &error) ||
        fails(weft_fit(&measured, "host", "mpich", &fit, &error), &error)) {
        return 1;
    }
    weft_free(fit.machine);
    return puts(weft_version()) < 0;
}
