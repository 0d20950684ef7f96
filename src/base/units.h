/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Numbers with units, as people write and read them. Conversions are exact: they use integers
 * and no floating point, so that "1.1us" is 1,100,000 ps.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

#define WF_TIME_MAX INT64_MAX       /* picoseconds: 106 days */
#define WF_SPAN_MAX (INT64_MAX / 8) /* microseconds: 36,000 years */

/* A rate is an integer in millibits per second, up to 2.3 PB/s. */
#define WF_RATE_BYTE UINT64_C(8000) /* one byte per second */

/* Each parser reads the whole text: a decimal number, at most one space, and a unit. Units are
 * case-sensitive. On failure the status is WF_EINVAL, *out is unchanged and `err` says what was
 * expected. A value that is not a whole number of the base unit ("0.1ps") is an error. */
enum wf_status wf_parse_count(const char *text, uint64_t *out, struct wf_err *err);
/* "64KiB", "1.5MB", "4096", "4k", "4Ki": bytes, with decimal and binary prefixes. "64K" is
 * ambiguous: an error. Counts too have the prefixes k, Ki, M, Mi and so on. */
enum wf_status wf_parse_size(const char *text, uint64_t *out, struct wf_err *err);
/* "1.5us", "0": picoseconds, never negative. A unit (ps ns us ms s min h) is required unless 0.
 */
enum wf_status wf_parse_time(const char *text, int64_t *out, struct wf_err *err);
/* "1.5h", "30d", "5y", "0": a long time in microseconds, never negative, at most WF_SPAN_MAX. A unit
 * (us ms s min h d y) is required unless 0; a year has 365 days. */
enum wf_status wf_parse_span(const char *text, int64_t *out, struct wf_err *err);
/* "200Gbit/s", "25GB/s", "0.1bit/s": a rate, never 0; a unit is required. "Gbps", "Gb/s" and
 * "GBps" are read too. */
enum wf_status wf_parse_rate(const char *text, uint64_t *out, struct wf_err *err);
/* "0.1", "-2.5e-3": a finite decimal number, rounded to the nearest double. */
enum wf_status wf_parse_real(const char *text, double *out, struct wf_err *err);

/* The shortest text that the parser above reads back to the same value ("1.5us", "64KiB",
 * "25GB/s"), with a number not below 1 if possible; among equally short ones the one with the
 * largest unit. Rates are in bytes per second. The rate 0 and negative times are written in the
 * same way, although no parser reads them. `buf` has WF_UNITS_TEXT_MAX bytes and is returned.
 */
enum { WF_UNITS_TEXT_MAX = 40 };
char *wf_format_count(uint64_t value, char *buf);
char *wf_format_size(uint64_t bytes, char *buf);
char *wf_format_time(int64_t ps, char *buf);
char *wf_format_span(int64_t us, char *buf);
char *wf_format_rate(uint64_t rate, char *buf);
char *wf_format_real(double value, char *buf); /* fewest digits; finite values only */

/* What was measured, to six significant digits, as the parsers read it: "445.55ns", "8.36123GB/s". */
char *wf_format_measured_time(double ps, char *buf);
char *wf_format_measured_rate(double bytes_per_second, char *buf);

/* For tables that people read: rounded to three or four significant digits. `buf` as above. */
char *wf_human_time(int64_t ps, char *buf);     /* "3.146 ms"; seconds up to an hour */
char *wf_human_span(int64_t us, char *buf);     /* "2.50 h"; days from one day on */
char *wf_human_size(uint64_t bytes, char *buf); /* "1.50 GiB" */
char *wf_human_count(double value, char *buf);  /* "12.3 M" */

/* The sum of two times, of which `b` is not negative, at most WF_TIME_MAX: a simulation that
 * takes too long exceeds the limit of the engine instead of overflowing. */
static inline int64_t wf_time_add(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? WF_TIME_MAX : sum;
}

/* The sum, at most UINT64_MAX. */
static inline uint64_t wf_count_add(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* The time that `bytes` take at `rate`, rounded up to a picosecond, at most WF_TIME_MAX. The
 * rate must not be 0. No other place converts a rate into a time. */
int64_t wf_transfer_ps(uint64_t bytes, uint64_t rate);
