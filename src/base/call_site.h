/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* A number for an address in a program or its libraries, the same in every run and in every
 * copy of the program: the offset in the file that contains it. 0 if the address is null or in
 * no file. Different files may share numbers. Takes a few nanoseconds, except for the first
 * time in a thread. */
uint32_t wf_call_site(const void *address);
