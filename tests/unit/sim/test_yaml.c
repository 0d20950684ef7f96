/* SPDX-License-Identifier: Apache-2.0 */
#include "run/machine/yaml.h"

#include "harness/wf_test.h"

/* Writes a tree in one line with all positions: "1:1{a@1:1=1:4'x'}". */
static void write_node(const struct wf_yaml *node, char *buf, size_t size)
{
    size_t used = strlen(buf);

    if (node->key != NULL) {
        (void)snprintf(buf + used, size - used, "%s@%u:%u=", node->key, node->key_at.line,
                       node->key_at.column);
        used = strlen(buf);
    }
    (void)snprintf(buf + used, size - used, "%u:%u", node->at.line, node->at.column);
    used = strlen(buf);
    if (node->kind == WF_YAML_SCALAR) {
        (void)snprintf(buf + used, size - used, "'%s'", node->text);
        return;
    }
    (void)snprintf(buf + used, size - used, "%s", node->kind == WF_YAML_MAP ? "{" : "[");
    for (const struct wf_yaml *at = node->first; at != NULL; at = at->next) {
        write_node(at, buf, size);
        if (at->next != NULL) {
            (void)strncat(buf, " ", size - strlen(buf) - 1);
        }
    }
    (void)strncat(buf, node->kind == WF_YAML_MAP ? "}" : "]", size - strlen(buf) - 1);
}

static void trees_keep_order_and_places(void)
{
    static const struct {
        const char *text, *tree;
    } cases[] = {
        {"a: x\n", "1:1{a@1:1=1:4'x'}"},
        {"# c\nb:\n  - 1\n  - 'two 2'\na: \"q\\n\"\n",
         "2:1{b@2:1=3:3[3:5'1' 4:5'two 2'] a@5:1=5:4'q\n'}"},
        {"{a: [], b: {}}", "1:1{a@1:2=1:5[] b@1:9=1:12{}}"},
        {"a:\nb: c\n", "1:1{a@1:1=1:3'' b@2:1=2:4'c'}"},
        {"word", "1:1'word'"},
        {"- {k: {l: m}}\n- n\n", "1:1[1:3{k@1:4=1:7{l@1:8=1:11'm'}} 2:3'n']"},
        {"\xc3\xa4\xc3\xb6: x\n", "1:1{\xc3\xa4\xc3\xb6@1:1=1:5'x'}"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_yaml *root = NULL;
        struct wf_err err = {.status = WF_OK};
        char buf[256] = "";

        CHECK(wf_yaml_parse(cases[i].text, strlen(cases[i].text), &root, &err) == WF_OK);
        write_node(root, buf, sizeof(buf));
        CHECK_STR(buf, cases[i].tree);
        wf_yaml_free(root);
    }
}

static void what_is_no_configuration_is_refused(void)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "1:1: there is nothing in it"},
        {"# a comment\n", "1:1: there is nothing in it"},
        {"a: 1\nb: 2\na: 3\n", "3:1: the key 'a' is given twice"},
        {"a: {x: 1, x: 2}\n", "1:11: the key 'x' is given twice"},
        {"a: &b c\n", "1:4: anchors"},
        {"a: &b [c]\n", "1:4: anchors"},
        {"a: &b {c: d}\n", "1:4: anchors"},
        {"a: *b\n", "1:4: aliases"},
        {"a: !t b\n", "1:4: tags"},
        {"a: !t [b]\n", "1:4: tags"},
        {"a: 1\n--- 2\n", "2:1: a second document"},
        {"{[a]: b}\n", "1:2: a key must be a single value"},
        {"{{a: b}: c}\n", "1:2: a key must be a single value"},
        {"a: \"\\0\"\n", "1:4: a value must not contain control characters"},
        {"a: \"x\\e[2J\"\n", "1:4: a value must not contain control characters"},
        {"a: [1\n", "2:1: not valid YAML: "},
        {"a: b: c\n", "1:5: not valid YAML: "},
        {"a: 1\nb: \xff\n", "not valid YAML: "},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_yaml *root = NULL;
        struct wf_err err = {.status = WF_OK};

        CHECK(wf_yaml_parse(cases[i].text, strlen(cases[i].text), &root, &err) == WF_EINVAL);
        CHECK(root == NULL);
        if (strstr(err.text, cases[i].words) == NULL) {
            printf("# %s: %s\n", cases[i].text, err.text);
        }
        CHECK(strstr(err.text, cases[i].words) != NULL);
    }
}

/* `n` times `open`, then `n` times `close`. */
static enum wf_status parse_nested(size_t n, struct wf_err *err)
{
    char *text = malloc(2 * n + 1);
    struct wf_yaml *root = NULL;

    memset(text, '[', n);
    memset(text + n, ']', n);
    enum wf_status status = wf_yaml_parse(text, 2 * n, &root, err);
    wf_yaml_free(root);
    free(text);
    return status;
}

static enum wf_status parse_many(size_t n, struct wf_err *err)
{
    char *text = malloc(2 * n);
    struct wf_yaml *root = NULL;

    for (size_t i = 0; i < n; i++) {
        text[2 * i] = i == 0 ? '[' : ',';
        text[2 * i + 1] = 'a';
    }
    text[2 * n - 1] = ']';
    enum wf_status status = wf_yaml_parse(text, 2 * n, &root, err);
    wf_yaml_free(root);
    free(text);
    return status;
}

static void depth_and_size_are_limited(void)
{
    struct wf_err err = {.status = WF_OK};

    CHECK(parse_nested(WF_YAML_DEPTH_MAX, &err) == WF_OK);
    CHECK(parse_nested(WF_YAML_DEPTH_MAX + 1, &err) == WF_EINVAL);
    CHECK(strstr(err.text, "1:81: nested more than 80 deep") != NULL);
    CHECK(parse_many(WF_YAML_NODES_MAX, &err) == WF_OK);
    CHECK(parse_many(WF_YAML_NODES_MAX + 1, &err) == WF_EINVAL);
    CHECK(strstr(err.text, "more than 4096") != NULL);

    struct wf_yaml *root = NULL;
    char *text = malloc(WF_YAML_BYTES_MAX + 1);
    memset(text, '#', WF_YAML_BYTES_MAX + 1);
    CHECK(wf_yaml_parse(text, WF_YAML_BYTES_MAX + 1, &root, &err) == WF_EINVAL);
    CHECK(strstr(err.text, "longer than 1MiB") != NULL);
    free(text);
}

int main(void)
{
    RUN(trees_keep_order_and_places);
    RUN(what_is_no_configuration_is_refused);
    RUN(depth_and_size_are_limited);
    return wf_test_done();
}
