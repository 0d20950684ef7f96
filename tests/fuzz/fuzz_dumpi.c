/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever the bytes of a rank's file of a DUMPI trace are, it is read or refused.
 * Both ranks have the same file. */
#include "foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char meta[] = "hostname=h\nnumprocs=2\nfileprefix=t\nversion=1\n";

    foreign_write("t.meta", meta, sizeof(meta) - 1);
    foreign_write("t-0000.bin", data, size);
    foreign_write("t-0001.bin", data, size);
    foreign_check("t.meta", &wf_dumpi_reader_ops);
    return 0;
}
