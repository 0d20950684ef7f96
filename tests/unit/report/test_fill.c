/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/report/phrase.h"

#include "harness/wf_test.h"

#include <string.h>

static struct wf_value *document(void)
{
    struct wf_value *doc = wf_doc_new(), *part = wf_doc_section(doc, "part");

    wf_doc_count(doc, "ranks", 1);
    wf_doc_count(doc, "none", 0);
    wf_doc_count(doc, "sent_bytes", 2048);
    wf_doc_real(doc, "use", 0.125);
    wf_doc_bool(doc, "broken", false);
    wf_doc_text(doc, "name", "torus");
    wf_doc_count(part, "time_ps", 2500000);
    wf_doc_count(part, "events", 12345);
    return doc;
}

/* Whether the text becomes `expected`, and is complete. */
static void check_fill(const char *text, const char *expected, bool complete)
{
    struct wf_value *doc = document();
    struct wf_phrase phrase = {.used = 0};

    CHECK(wf_phrase_fill(&phrase, doc, text) == complete);
    CHECK_STR(phrase.text, expected);
    wf_doc_free(doc);
}

static void values_have_the_unit_of_their_names(void)
{
    check_fill("{name}: {sent_bytes}, {part.time_ps}, {part.events}",
               "torus: 2.00 KiB, 2.500 us, 12,345", true);
}

static void formats_override_the_unit(void)
{
    check_fill("{part.events:plain}|{use:.2}|{use:%.1}|{use:+.3}|{part.events:.3g}",
               "12345|0.12|12.5|+0.125|1.23e+04", true);
    check_fill("{ranks:rank|ranks} of {part.events:rank|ranks}", "1 rank of 12,345 ranks",
               true);
    check_fill("[{ranks:4plain}][{name:-7}].", "   1torus  .", true);
}

static void brackets_leave_out_what_is_missing(void)
{
    check_fill("a[ {none} b][ {ranks} c][ {nothing} d]", "a 1 c", true);
    check_fill("a[ b{broken?}][ c{broken!}][ d{nothing!}]", "a c d", true);
    check_fill("a[ {ranks}[ {nothing}] b]", "a 1 b", true);
    check_fill("{none} {nothing|?}", "0 ?", true);
    check_fill("{name} {nothing}", "torus ", false);
}

int main(void)
{
    RUN(values_have_the_unit_of_their_names);
    RUN(formats_override_the_unit);
    RUN(brackets_leave_out_what_is_missing);
    return wf_test_done();
}
