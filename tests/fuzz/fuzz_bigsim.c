/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever the files of a BigSim trace are, they are read or refused. The input is
 * the summary and one file of logs. */
#include "foreign_graph.h"

enum { SUMMARY_BYTES = 60 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t first = size < SUMMARY_BYTES ? size : SUMMARY_BYTES;

    foreign_write("bgTrace", data, first);
    foreign_write("bgTrace0", data + first, size - first);
    foreign_check_graph("bgTrace");
    return 0;
}
