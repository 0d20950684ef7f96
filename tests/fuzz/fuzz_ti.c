/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever the text of a time-independent trace is, it is read or refused. */
#include "foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    foreign_write("t.ti", data, size);
    foreign_check("t.ti", &wf_ti_reader_ops);
    return 0;
}
