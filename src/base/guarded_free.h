/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Included before every file of weft (cmake/WeftModules.cmake), so that no block is freed behind the
 * back of a guard (base/guard.h). */

#include <stdlib.h>

void wf_guarded_free(void *block);

#define free(block) wf_guarded_free(block)
