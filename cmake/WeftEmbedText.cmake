# SPDX-License-Identifier: Apache-2.0
# cmake -DINPUT=<file> -DSYMBOL=<name> -DOUTPUT=<file.c> -P WeftEmbedText.cmake
#     Writes a C source that defines `const char *const <name>`: the text of the file.
#     As strings, one for each line: a compiler reads them twenty times as fast as numbers.

file(READ ${INPUT} text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\t" "\\t" text "${text}")
string(REPLACE "\n" "\\n\"\n\"" text "${text}")
file(WRITE ${OUTPUT} "/* Written by cmake/WeftEmbedText.cmake. */
#pragma GCC diagnostic ignored \"-Woverlength-strings\"
extern const char *const ${SYMBOL};
const char *const ${SYMBOL} =
\"${text}\";
")
