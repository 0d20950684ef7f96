/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever a Paraver trace is, it is read or refused. */
#include "foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    foreign_write("t.prv", data, size);
    foreign_check("t.prv", &wf_paraver_reader_ops);
    return 0;
}
