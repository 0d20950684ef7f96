/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What a reader of a trace format is made of. A new reader is one .c file that includes this
 * header and defines a const struct wf_reader_ops, and one line in program/trace/readers.def; the
 * conformance test (tests/conformance/test_reader.c) then covers it.
 *
 *   program/trace/reader.h      the contract; probing, notes for the user, paths beside the trace
 *   kit/infile.h        a cursor over a binary or text file, bounded by its size, and errors
 *                       that name the file, the byte or line, and the rank
 *   kit/open_requests.h the requests of a rank that are not complete yet
 *   kit/records.h       how often each kind of record occurs
 *   kit/workers.h       the files of a trace on several threads
 *   kit/task_table.h    tasks on their way to becoming a graph
 *
 * Most readers keep the ops that they find in a spool (program/trace/spool/spool.h), which becomes
 * their source.
 *
 * Writers have program/trace/writer.h and, of this folder, target.h (a file that appears when it is
 * whole), completion.h (what a wait completes), losses.h (what a format cannot hold) and basic.h
 * (for formats without modes, wildcards and communicators).
 */

#include "program/trace/kit/infile.h"
#include "program/trace/kit/open_requests.h"
#include "program/trace/kit/records.h"
#include "program/trace/kit/task_table.h"
#include "program/trace/kit/workers.h"
#include "program/trace/reader.h"
