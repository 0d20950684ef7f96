/* SPDX-License-Identifier: Apache-2.0 */
#include "topo/names.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

void wf_names_release(struct wf_names *names)
{
    wf_buf_fini(&names->text);
    wf_buf_fini(&names->offsets);
    free(names->slots);
    *names = (struct wf_names){.n = 0};
}

static uint32_t offset_of(const struct wf_names *names, uint32_t number)
{
    uint32_t offset;

    memcpy(&offset, names->offsets.data + number * sizeof(offset), sizeof(offset));
    return offset;
}

const char *wf_names_text(const struct wf_names *names, uint32_t number)
{
    return (const char *)names->text.data + offset_of(names, number);
}

static uint32_t length_of(const struct wf_names *names, uint32_t number)
{
    size_t end = number + 1 < names->n ? offset_of(names, number + 1) : names->text.size;

    return (uint32_t)(end - offset_of(names, number) - 1);
}

static uint64_t hash(const char *name, size_t len)
{
    uint64_t h = len;

    for (size_t i = 0; i < len; i++) {
        h = h * UINT64_C(0x100000001b3) + (unsigned char)name[i];
    }
    return wf_rng_mix(h);
}

/* The slot that has the name, or the free one where it belongs. */
static uint32_t slot_of(const struct wf_names *names, const char *name, size_t len)
{
    uint32_t mask = names->n_slots - 1;
    uint32_t slot = (uint32_t)hash(name, len) & mask;

    for (; names->slots[slot] != 0; slot = (slot + 1) & mask) {
        uint32_t number = names->slots[slot] - 1;
        if (length_of(names, number) == len &&
            memcmp(wf_names_text(names, number), name, len) == 0) {
            break;
        }
    }
    return slot;
}

uint32_t wf_names_find(const struct wf_names *names, const char *name, size_t len)
{
    if (names->n_slots == 0) {
        return WF_NAMES_NONE;
    }
    uint32_t number = names->slots[slot_of(names, name, len)];
    return number != 0 ? number - 1 : WF_NAMES_NONE;
}

static void double_slots(struct wf_names *names)
{
    free(names->slots);
    names->n_slots = names->n_slots == 0 ? 64 : 2 * names->n_slots;
    names->slots = wf_xcalloc(names->n_slots, sizeof(*names->slots));
    for (uint32_t number = 0; number < names->n; number++) {
        uint32_t slot = slot_of(names, wf_names_text(names, number), length_of(names, number));
        names->slots[slot] = number + 1;
    }
}

uint32_t wf_names_add(struct wf_names *names, const char *name, size_t len)
{
    if (names->n >= names->n_slots / 2) {
        double_slots(names);
    }
    uint32_t slot = slot_of(names, name, len);
    if (names->slots[slot] == 0) {
        uint32_t offset = (uint32_t)names->text.size;
        wf_buf_append(&names->offsets, &offset, sizeof(offset));
        wf_buf_append(&names->text, name, len);
        wf_buf_append(&names->text, "", 1);
        names->slots[slot] = ++names->n;
    }
    return names->slots[slot] - 1;
}
