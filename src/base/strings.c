/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strings.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 32 };

void wf_strings_fini(struct wf_strings *strings)
{
    for (uint32_t i = 0; i < strings->n; i++) {
        free(strings->texts[i]);
    }
    free(strings->texts);
    free(strings->lengths);
    free(strings->slots);
    *strings = (struct wf_strings){.n = 0};
}

const char *wf_strings_at(const struct wf_strings *strings, uint32_t number)
{
    return strings->texts[number];
}

static uint64_t hash(const char *text, size_t length)
{
    uint64_t h = length;

    for (size_t i = 0; i < length; i++) {
        h = h * UINT64_C(0x100000001b3) + (unsigned char)text[i];
    }
    return wf_rng_mix(h);
}

/* The slot that has the text, or the free slot where it belongs. */
static uint32_t *slot_of(const struct wf_strings *strings, const char *text, size_t length)
{
    size_t mask = strings->n_slots - 1, at = (size_t)hash(text, length) & mask;

    for (; strings->slots[at] != 0; at = (at + 1) & mask) {
        uint32_t number = strings->slots[at] - 1;
        if (strings->lengths[number] == length &&
            memcmp(strings->texts[number], text, length) == 0) {
            break;
        }
    }
    return &strings->slots[at];
}

uint32_t wf_strings_find(const struct wf_strings *strings, const char *text, size_t length)
{
    uint32_t found = strings->n > 0 ? *slot_of(strings, text, length) : 0;

    return found > 0 ? found - 1 : WF_STRINGS_NONE;
}

static void double_slots(struct wf_strings *strings)
{
    free(strings->slots);
    strings->n_slots = strings->n_slots == 0 ? FIRST_SLOTS : 2 * strings->n_slots;
    strings->slots = wf_xcalloc(strings->n_slots, sizeof(*strings->slots));
    for (uint32_t i = 0; i < strings->n; i++) {
        *slot_of(strings, strings->texts[i], strings->lengths[i]) = i + 1;
    }
}

uint32_t wf_strings_put(struct wf_strings *strings, const char *text, size_t length)
{
    uint32_t known = wf_strings_find(strings, text, length);

    if (known != WF_STRINGS_NONE) {
        return known;
    }
    if (strings->n >= strings->n_slots / 2) {
        double_slots(strings);
    }
    char *copy = wf_xmalloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    WF_GROW(strings->texts, strings->n, strings->texts_capacity);
    WF_GROW(strings->lengths, strings->n, strings->lengths_capacity);
    strings->texts[strings->n] = copy;
    strings->lengths[strings->n] = (uint32_t)length;
    *slot_of(strings, text, length) = ++strings->n;
    return strings->n - 1;
}
