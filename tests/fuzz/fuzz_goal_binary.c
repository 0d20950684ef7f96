/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever a binary GOAL schedule is, it is read or refused. */
#include "foreign_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    foreign_write("t.bin", data, size);
    foreign_check_graph("t.bin");
    return 0;
}
