/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever the bytes of a CODES configuration are, the outcome is a machine file
 * that can be read, or an error that names the file. */
#include "run/import/codes.h"
#include "run/machine/machine.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wf_codes_source source = {"f.conf", "f", (const char *)data, size, wf_machine_check};
    struct wf_codes_result result = {.machine = {.data = NULL}};
    struct wf_machine *machine = NULL;
    struct wf_err err = {.status = WF_OK};

    if (wf_codes_import(&source, &result, &err) == WF_OK) {
        require(wf_machine_parse("f.yaml", (const char *)result.machine.data,
                                 result.machine.size, &machine, &err) == WF_OK);
        wf_machine_free(machine);
    } else {
        require(err.status == WF_EINVAL && strncmp(err.text, "f.conf:", 7) == 0);
    }
    wf_buf_fini(&result.machine);
    wf_buf_fini(&result.notes);
    return 0;
}
