/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_REPORT_PAGE_H
#define WF_REPORT_PAGE_H

/* The page of share/report in three parts: between the first two stands the result document,
 * between the last two what else is known of the run, both as JSON. Each ends with a zero byte.
 */
extern const unsigned char wf_page_before[];
extern const unsigned char wf_page_between[];
extern const unsigned char wf_page_after[];

#endif
