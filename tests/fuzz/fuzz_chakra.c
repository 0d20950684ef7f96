/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever the files of a Chakra trace are, they are read or refused. Two ranks
 * have the same file. */
#include "foreign_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    foreign_write("t.0.et", data, size);
    foreign_write("t.1.et", data, size);
    foreign_check_graph("t.0.et");
    return 0;
}
