/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/*
 * Call stacks of the program, for `weft capture --stacks`.
 *
 * A number stands for the functions that are active at the call of MPI which returns to `site`,
 * from main() to the one that makes the call. It is a hash of their return addresses relative
 * to their files, so that it is the same in all ranks of a program. The first time a number
 * occurs its names are written to the trace: "main > solve > exchange". Takes 1 to 3 us. Only
 * one thread at a time may call it.
 */
uint32_t wf_cap_stack(const void *site);
