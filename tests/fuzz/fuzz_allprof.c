/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever the files of a liballprof trace are, they are read or refused. Two ranks
 * have the same file. */
#include "foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    foreign_write("t-0.txt", data, size);
    foreign_write("t-1.txt", data, size);
    foreign_check("t-0.txt", &wf_allprof_reader_ops);
    return 0;
}
