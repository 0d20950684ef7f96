/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/plain_page.h"

#include "base/text.h"

#include <weft/weft.h>

void wf_study_plain_begin(const char *verb, const char *title, FILE *out)
{
    (void)fprintf(out,
                  "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width\">\n"
                  "<link rel=\"icon\" href=\"data:,\">\n<title>weft %s: ",
                  verb);
    wf_text_markup(out, title);
    (void)fputs("</title>\n<style>\n"
                "body { font: 15px system-ui, sans-serif; margin: 2em auto; max-width: 62em; "
                "padding: 0 1em; color: #1d2733; background: #fff; }\n"
                "h1 { overflow-wrap: anywhere; }\n"
                "svg { max-width: 100%; height: auto; }\n"
                "pre { overflow-x: auto; }\n"
                "table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n"
                "td, th { text-align: right; padding: 0.2em 0.7em; "
                "border-bottom: 1px solid #dfe3e8; }\n</style>\n<h1>",
                out);
    wf_text_markup(out, title);
    (void)fputs("</h1>\n", out);
}

void wf_study_plain_end(FILE *out)
{
    (void)fprintf(out, "<p>Made by weft %s.</p>\n</html>\n", weft_version());
}
