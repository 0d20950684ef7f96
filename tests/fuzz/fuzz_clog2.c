/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever the bytes of a CLOG2 log are, it is read or refused. */
#include "foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    foreign_write("t.clog2", data, size);
    foreign_check("t.clog2", &wf_clog2_reader_ops);
    return 0;
}
