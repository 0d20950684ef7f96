/* SPDX-License-Identifier: Apache-2.0 */
/* A program of somebody else's: prints the version of the library it found. */
#include <stdio.h>
#include <weft/weft.h>

int main(void)
{
    return puts(weft_version()) < 0;
}
