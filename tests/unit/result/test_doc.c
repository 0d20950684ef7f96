/* SPDX-License-Identifier: Apache-2.0 */
#include "base/result/doc.h"

#include "base/result/json.h"
#include "base/result/result.h"

#include "harness/wf_test.h"

#include <math.h>
#include <string.h>

/* The document as JSON without white space. */
static char *compact(const struct wf_value *doc)
{
    char *text = wf_doc_to_json(doc);
    char *to = text;

    for (const char *from = text; *from != '\0'; from++) {
        if (*from != ' ' && *from != '\n') {
            *to++ = *from;
        }
    }
    *to = '\0';
    return text;
}

static void a_document_keeps_its_order_and_its_values(void)
{
    struct wf_value *doc = wf_doc_new();
    struct wf_value *section = wf_doc_section(doc, "b");

    wf_doc_count(section, "n", 3);
    wf_doc_bool(section, "yes", true);
    wf_doc_null(section, "none");
    struct wf_value *list = wf_doc_list(doc, "a");
    wf_doc_text(list, NULL, "x");
    wf_doc_real(list, NULL, 0.5);
    (void)wf_doc_section(list, NULL);

    char *text = compact(doc);
    CHECK(strcmp(text, "{\"b\":{\"n\":3,\"yes\":true,\"none\":null},\"a\":[\"x\",0.5,{}]}") ==
          0);
    free(text);
    wf_doc_free(doc);
}

static void values_are_found_by_path(void)
{
    struct wf_value *doc = wf_doc_new();
    struct wf_value *section = wf_doc_section(wf_doc_section(doc, "a"), "b");

    wf_doc_count(section, "c", 7);
    wf_doc_text(section, "t", "text");
    CHECK_U64(wf_doc_get_count(doc, "a.b.c", 0), 7);
    CHECK_U64(wf_doc_get_count(doc, "a.b.t", 9), 9);
    CHECK_U64(wf_doc_get_count(doc, "a.b.missing", 9), 9);
    CHECK(strcmp(wf_doc_get_text(doc, "a.b.t", ""), "text") == 0);
    CHECK(wf_doc_find(doc, "a.b") == section);
    CHECK(wf_doc_find(doc, "a.b.c.d") == NULL);
    CHECK(wf_doc_find(doc, "") == NULL);
    wf_doc_free(doc);
}

static void numbers_keep_their_digits(void)
{
    static const struct {
        uint64_t count;
        const char *json;
    } cases[] = {
        {0, "0"},
        {UINT64_C(9007199254740992), "9007199254740992"},
        {UINT64_C(9007199254740993), "\"9007199254740993\""},
        {UINT64_MAX, "\"18446744073709551615\""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_value *doc = wf_doc_new();
        wf_doc_count(doc, "n", cases[i].count);
        char *text = compact(doc);
        CHECK(strncmp(text + 5, cases[i].json, strlen(cases[i].json)) == 0);
        free(text);
        wf_doc_free(doc);
    }
}

static void a_real_is_written_as_people_wrote_it_and_comes_back(void)
{
    struct wf_value *doc = wf_doc_new();
    wf_doc_real(doc, "r", 0.1);
    char *text = compact(doc);
    CHECK(strcmp(text, "{\"r\":0.1}") == 0);
    free(text);

    wf_doc_real(doc, "s", 1.0 / 3.0);
    text = compact(doc);
    CHECK(strtod(strstr(text, "\"s\":") + 4, NULL) == 1.0 / 3.0);
    free(text);
    wf_doc_free(doc);
}

static void what_is_not_a_number_is_null(void)
{
    struct wf_value *doc = wf_doc_new();

    wf_doc_real(doc, "a", (double)NAN);
    wf_doc_real(doc, "b", (double)INFINITY);
    wf_doc_measured(doc, "c", 1.23456, 2);
    char *text = compact(doc);
    CHECK(strcmp(text, "{\"a\":null,\"b\":null,\"c\":1.23}") == 0);
    free(text);
    wf_doc_free(doc);
}

static void bytes_that_are_no_text_do_not_break_the_document(void)
{
    struct wf_value *doc = wf_doc_new();

    wf_doc_text(doc, "t", "a\xff\"\n");
    char *text = compact(doc);
    CHECK(strcmp(text, "{\"t\":\"a?\\\"\\n\"}") == 0);
    free(text);
    wf_doc_free(doc);
}

static void an_error_is_a_document_too(void)
{
    struct wf_err err;
    (void)wf_err_set(&err, WF_ELIMIT, "too much");
    struct wf_value *doc = wf_result_new_error("1.2.3", &err, wf_status_exit_code(err.status));

    CHECK(strcmp(wf_doc_get_text(doc, "schema", ""), WF_RESULT_SCHEMA) == 0);
    CHECK(strcmp(wf_doc_get_text(doc, "version", ""), "1.2.3") == 0);
    CHECK(strcmp(wf_doc_get_text(doc, "error.message", ""), "too much") == 0);
    CHECK_U64(wf_doc_get_count(doc, "error.exit_code", 0), 5);
    wf_doc_free(doc);
}

int main(void)
{
    RUN(a_document_keeps_its_order_and_its_values);
    RUN(values_are_found_by_path);
    RUN(numbers_keep_their_digits);
    RUN(a_real_is_written_as_people_wrote_it_and_comes_back);
    RUN(what_is_not_a_number_is_null);
    RUN(bytes_that_are_no_text_do_not_break_the_document);
    RUN(an_error_is_a_document_too);
    return wf_test_done();
}
