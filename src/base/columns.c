/* SPDX-License-Identifier: Apache-2.0 */
#include "base/columns.h"

#include "base/text.h"

#include <string.h>

enum { WIDTH = 80, INDENT = 2, TEXT_COLUMN = 28 };

void wf_columns_text(FILE *out, size_t indent, const char *text)
{
    size_t column = indent;

    text += strspn(text, " \n\t");
    while (*text != '\0') {
        size_t length = strcspn(text, " \n\t");
        if (column > indent && column + 1 + length > WIDTH) {
            (void)fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        if (column > indent) {
            (void)fputc(' ', out);
            column++;
        }
        wf_text_print(out, "%.*s", (int)length, text);
        column += length;
        text += length;
        text += strspn(text, " \n\t");
    }
    (void)fputc('\n', out);
}

void wf_columns_row(FILE *out, const char *term, const char *text)
{
    size_t column = INDENT + strlen(term);

    (void)fprintf(out, "%*s%s", INDENT, "", term);
    if (column + 2 > TEXT_COLUMN) {
        (void)fputc('\n', out);
        column = 0;
    }
    (void)fprintf(out, "%*s", (int)(TEXT_COLUMN - column), "");
    wf_columns_text(out, TEXT_COLUMN, text);
}
