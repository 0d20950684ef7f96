/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The most entries that a table of a topology may have. Some topologies fill such a table when
 * they are created, which takes seconds for the largest. Builds for fuzzing allow only small
 * tables, so that an input that takes long is a finding.
 */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { WF_TOPO_TABLE_MAX = 1 << 16 };
#else
enum { WF_TOPO_TABLE_MAX = 1 << 28 };
#endif
