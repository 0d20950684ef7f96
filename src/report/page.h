/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The page of share/report in three parts. The result document goes between the first two, the
 * picture of the topology between the last two, both as JSON. Each part ends with a NUL. */
extern const unsigned char wf_page_before[];
extern const unsigned char wf_page_between[];
extern const unsigned char wf_page_after[];
