/* SPDX-License-Identifier: Apache-2.0 */
#include "weft_version.h"

#include <weft/weft.h>

const char *weft_version(void)
{
    return WEFT_VERSION;
}
