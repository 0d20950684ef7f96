/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a report shows beside the result document. */

#include "result/doc.h"

/* A document for struct wf_write_options.extra, which the caller frees: the `picture` of the
 * topology (study/picture.h) and the `defaults` of the parameters. */
struct wf_value *wf_study_page(const struct wf_value *doc);
