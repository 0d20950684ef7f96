# SPDX-License-Identifier: Apache-2.0
# cmake -DINPUT=<file> -DSYMBOL=<name> -DOUTPUT=<file.c> -P WeftEmbedText.cmake
#     Writes a C source that defines `const char *const <name>`: the text of the file.

file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REPLACE "0x0a," "0x0a,\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "/* Written by cmake/WeftEmbedText.cmake. */
extern const char *const ${SYMBOL};
static const char text[] = {
${bytes}0};
const char *const ${SYMBOL} = text;
")
