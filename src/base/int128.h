/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The 128-bit integer of gcc and clang, for products of two 64-bit numbers. Not for files,
 * messages or interfaces of modules. */
__extension__ typedef unsigned __int128 wf_u128;
