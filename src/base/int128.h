/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_BASE_INT128_H
#define WF_BASE_INT128_H

/* The 128-bit integer of gcc and clang, for products of two 64-bit numbers. Not for files,
 * messages or interfaces of modules. */
__extension__ typedef unsigned __int128 wf_u128;

#endif
