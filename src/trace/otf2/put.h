/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_OTF2_PUT_H
#define WF_TRACE_OTF2_PUT_H

/* The ops of a source as events of an OTF2 archive. A call takes no time. */

#include "ops/source.h"
#include "trace/kit/losses.h"
#include "trace/otf2/out.h"

/* Writes all ranks, but finishes nothing; `losses` may be null. A source that cannot be read is
 * WF_EINVAL. */
WF_NODISCARD
enum wf_status wf_otf2_put_source(struct wf_otf2_out *out, const struct wf_source *source,
                                  struct wf_losses *losses, struct wf_err *err);

#endif
