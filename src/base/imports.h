/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The symbols that a loaded program or library imports: reading and changing what they are bound
 * to. */

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Called for each import, with the word that holds its address. May change the word. */
typedef void wf_import(const char *name, uintptr_t *bound, void *arg);

/* Visits the imports of an object, as dl_iterate_phdr() passes it. A call that the loader has not
 * bound yet has an address in the object itself. */
void wf_imports_visit(const struct dl_phdr_info *object, wf_import *visit, void *arg);

/* The addresses of an object. */
struct wf_address_range {
    uintptr_t begin, end;
};

static inline bool wf_address_in(struct wf_address_range range, uintptr_t address)
{
    return address >= range.begin && address < range.end;
}

struct wf_address_range wf_imports_range(const struct dl_phdr_info *object);
