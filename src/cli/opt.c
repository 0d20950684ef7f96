/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/opt.h"

#include "base/mem.h"
#include "base/text.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The arguments not yet looked at, and where what they say goes. */
struct parser {
    const struct wf_opt *table;
    void *opts;
    struct wf_operands *operands;
    char *const *next;
    char *const *end;
};

static void *member(const struct wf_opt *row, void *opts)
{
    return (char *)opts + row->param.offset;
}

static bool is_flag(const struct wf_opt *row)
{
    return row->kind == WF_OPT_VALUE && row->param.type == WF_PARAM_BOOL;
}

static void list_add(struct wf_opt_list *list, const char *text)
{
    /* Full at each power of two. */
    if ((list->n & (list->n - 1)) == 0) {
        size_t room = list->n == 0 ? 1 : 2 * list->n;
        list->items = wf_xrealloc(list->items, room, sizeof(*list->items));
    }
    list->items[list->n++] = text;
}

static void list_release(struct wf_opt_list *list)
{
    free(list->items);
    *list = (struct wf_opt_list){0};
}

static const struct wf_opt *find_letter(const struct wf_opt *table, char letter)
{
    for (const struct wf_opt *row = table; row->param.name != NULL; row++) {
        if (row->letter != 0 && row->letter == letter) {
            return row;
        }
    }
    return NULL;
}

static const struct wf_opt *find_name(const struct wf_opt *table, const char *name,
                                      size_t length)
{
    for (const struct wf_opt *row = table; row->param.name != NULL; row++) {
        if (strlen(row->param.name) == length && memcmp(row->param.name, name, length) == 0) {
            return row;
        }
    }
    return NULL;
}

/* `dashes` and the first `shown` characters of `name` are what the user wrote; all of `name` is
 * what known names are compared with. */
static enum wf_status unknown_option(const struct wf_opt *table, const char *dashes,
                                     const char *name, size_t shown, struct wf_err *err)
{
    char wanted[WF_HINT_MAX];
    struct wf_nearest nearest;

    (void)snprintf(wanted, sizeof(wanted), "%.*s", (int)strcspn(name, "="), name);
    wf_nearest_begin(&nearest, wanted);
    for (const struct wf_opt *row = table; row->param.name != NULL; row++) {
        wf_nearest_add(&nearest, row->param.name);
    }

    int width = shown < 64 ? (int)shown : 64;
    if (nearest.best == NULL) {
        return wf_err_set(err, WF_EUSAGE, "unknown option '%s%.*s'", dashes, width, name);
    }
    return wf_err_set(err, WF_EUSAGE, "unknown option '%s%.*s'; did you mean '--%s'?", dashes,
                      width, name, nearest.best);
}

static enum wf_status store(const struct parser *parser, const struct wf_opt *row,
                            const char *value, struct wf_err *err)
{
    const struct wf_param params[] = {row->param, WF_PARAM_END};
    const char *equals = strchr(value, '=');

    if (row->kind == WF_OPT_PAIRS && (equals == NULL || equals == value)) {
        return wf_err_set(err, WF_EUSAGE, "--%s: '%.64s' is not of the form name=value",
                          row->param.name, value);
    }
    parser->operands->given |= UINT64_C(1) << (row - parser->table);
    if (row->kind != WF_OPT_VALUE) {
        list_add(member(row, parser->opts), value);
        return WF_OK;
    }
    if (row->param.type == WF_PARAM_TEXT) {
        *(const char **)member(row, parser->opts) = value;
        return WF_OK;
    }
    return wf_param_set(params, parser->opts, "--", row->param.name, value, err);
}

/* The placeholder of an option's argument. */
static const char *placeholder(const struct wf_opt *row, char *buf)
{
    if (row->arg != NULL) {
        return row->arg;
    }
    if (row->kind == WF_OPT_PAIRS) {
        return "<name>=<value>";
    }
    return row->kind == WF_OPT_LIST ? "<text>" : wf_param_syntax(&row->param, buf);
}

/* Takes `attached`, or the next argument if it is null, as the value. */
static enum wf_status store_argument(struct parser *parser, const struct wf_opt *row,
                                     const char *attached, struct wf_err *err)
{
    char buf[WF_PARAM_TEXT_MAX];

    if (attached == NULL && parser->next == parser->end) {
        return wf_err_set(err, WF_EUSAGE, "option '--%s' needs an argument: %.128s",
                          row->param.name, placeholder(row, buf));
    }
    return store(parser, row, attached != NULL ? attached : *parser->next++, err);
}

/* `text` is what follows the two dashes. */
static enum wf_status parse_long(struct parser *parser, const char *text, struct wf_err *err)
{
    size_t length = strcspn(text, "=");
    const char *attached = text[length] == '=' ? text + length + 1 : NULL;
    const struct wf_opt *row = find_name(parser->table, text, length);

    if (row == NULL) {
        return unknown_option(parser->table, "--", text, length, err);
    }
    if (is_flag(row) && attached == NULL) {
        return store(parser, row, "true", err);
    }
    return store_argument(parser, row, attached, err);
}

/* `text` is what follows the dash: flags, then perhaps an option with its argument. */
static enum wf_status parse_short(struct parser *parser, const char *text, struct wf_err *err)
{
    for (const char *p = text; *p != '\0'; p++) {
        const struct wf_opt *row = find_letter(parser->table, *p);
        if (row == NULL) {
            return unknown_option(parser->table, "-", p, 1, err);
        }
        if (!is_flag(row)) {
            return store_argument(parser, row, p[1] == '\0' ? NULL : p + 1, err);
        }

        enum wf_status status = store(parser, row, "true", err);
        if (status != WF_OK) {
            return status;
        }
    }
    return WF_OK;
}

static enum wf_status parse_all(struct parser *parser, struct wf_err *err)
{
    bool options_ended = false;

    while (parser->next < parser->end) {
        const char *arg = *parser->next++;
        enum wf_status status = WF_OK;

        if (options_ended || arg[0] != '-' || arg[1] == '\0') {
            list_add(&parser->operands->args, arg);
        } else if (arg[1] != '-') {
            status = parse_short(parser, arg + 1, err);
        } else if (arg[2] != '\0') {
            status = parse_long(parser, arg + 2, err);
        } else {
            options_ended = true;
        }
        if (status != WF_OK) {
            return status;
        }
    }
    return WF_OK;
}

static void clear(const struct wf_opt *row, void *opts)
{
    static const size_t sizes[] = {
        [WF_PARAM_BOOL] = sizeof(bool),     [WF_PARAM_COUNT] = sizeof(uint64_t),
        [WF_PARAM_SIZE] = sizeof(uint64_t), [WF_PARAM_TIME] = sizeof(int64_t),
        [WF_PARAM_RATE] = sizeof(uint64_t), [WF_PARAM_REAL] = sizeof(double),
        [WF_PARAM_ENUM] = sizeof(int),      [WF_PARAM_TEXT] = sizeof(const char *),
    };
    size_t size =
        row->kind == WF_OPT_VALUE ? sizes[row->param.type] : sizeof(struct wf_opt_list);

    memset(member(row, opts), 0, size);
}

static enum wf_status set_defaults(const struct parser *parser, struct wf_err *err)
{
    for (const struct wf_opt *row = parser->table; row->param.name != NULL; row++) {
        assert(row - parser->table < 64);
        clear(row, parser->opts);
    }
    for (const struct wf_opt *row = parser->table; row->param.name != NULL; row++) {
        enum wf_status status = WF_OK;
        if (row->param.def != NULL) {
            status = store(parser, row, row->param.def, err);
        }
        if (status != WF_OK) {
            return status;
        }
    }
    parser->operands->given = 0;
    return WF_OK;
}

enum wf_status wf_opt_parse(const struct wf_opt *table, int argc, char *const *argv, void *opts,
                            struct wf_operands *operands, struct wf_err *err)
{
    struct parser parser = {
        .table = table,
        .opts = opts,
        .operands = operands,
        .next = argv,
        .end = argv + argc,
    };

    *operands = (struct wf_operands){0};
    enum wf_status status = set_defaults(&parser, err);
    if (status == WF_OK) {
        status = parse_all(&parser, err);
    }
    if (status != WF_OK) {
        wf_opt_release(table, opts, operands);
    }
    return status;
}

void wf_opt_release(const struct wf_opt *table, void *opts, struct wf_operands *operands)
{
    for (const struct wf_opt *row = table; row->param.name != NULL; row++) {
        if (row->kind != WF_OPT_VALUE) {
            list_release(member(row, opts));
        }
    }
    list_release(&operands->args);
}

enum { WIDTH = 80, OPTION_INDENT = 2, EXAMPLE_INDENT = 6, DOC_INDENT = 28 };

/* Text that is broken between words. A line begins with `indent` spaces. */
struct page {
    FILE *out;
    size_t indent;
    size_t column; /* characters on the line so far; 0 before its first word */
};

static void put_spaces(struct page *page, size_t n)
{
    (void)fprintf(page->out, "%*s", (int)n, "");
    page->column += n;
}

static void end_line(struct page *page)
{
    (void)fputc('\n', page->out);
    page->column = 0;
}

static void put_word(struct page *page, const char *word, size_t length)
{
    bool first = page->column <= page->indent;

    if (!first && page->column + 1 + length > WIDTH) {
        end_line(page);
        first = true;
    }
    put_spaces(page, first ? page->indent - page->column : 1);
    (void)fprintf(page->out, "%.*s", (int)length, word);
    page->column += length;
}

static void put_text(struct page *page, const char *text)
{
    for (const char *p = text; *p != '\0';) {
        size_t length = strcspn(p, " ");
        if (length > 0) {
            put_word(page, p, length);
        }
        p += length;
        p += strspn(p, " ");
    }
}

/* "-n, --name <arg>" */
static void put_names(struct page *page, const struct wf_opt *row)
{
    char buf[WF_PARAM_TEXT_MAX], names[2 * WF_PARAM_TEXT_MAX];
    char letter[] = {'-', row->letter, ',', ' ', '\0'};

    (void)snprintf(names, sizeof(names), "%s--%s%s%s", row->letter != 0 ? letter : "    ",
                   row->param.name, is_flag(row) ? "" : " ",
                   is_flag(row) ? "" : placeholder(row, buf));
    put_spaces(page, OPTION_INDENT);
    (void)fputs(names, page->out);
    page->column += strlen(names);
}

/* "(1 to 64; default: 4)", of which either part may be missing. */
static void put_limits(struct page *page, const struct wf_param *param)
{
    char text[WF_PARAM_TEXT_MAX];
    const char *min = param->min, *max = param->max;
    int n = 0;

    if (min != NULL && max != NULL) {
        n = snprintf(text, sizeof(text), "%s to %s", min, max);
    } else if (min != NULL || max != NULL) {
        n = snprintf(text, sizeof(text), "at %s %s", min != NULL ? "least" : "most",
                     min != NULL ? min : max);
    }
    if (param->def != NULL) {
        (void)snprintf(text + n, sizeof(text) - (size_t)n, "%sdefault: %s", n > 0 ? "; " : "",
                       param->def);
    }
    if (n > 0 || param->def != NULL) {
        char brackets[WF_PARAM_TEXT_MAX + 2];
        (void)snprintf(brackets, sizeof(brackets), "(%s)", text);
        put_text(page, brackets);
    }
}

static void put_option(FILE *out, const struct wf_opt *row)
{
    struct page page = {.out = out, .indent = DOC_INDENT};

    put_names(&page, row);
    if (page.column + 2 > DOC_INDENT) {
        end_line(&page);
    }
    put_text(&page, row->param.doc);
    if (row->kind != WF_OPT_VALUE) {
        put_text(&page, "(may be repeated)");
    } else {
        put_limits(&page, &row->param);
    }
    end_line(&page);
}

static void put_paragraph(FILE *out, const char *text, size_t indent)
{
    struct page page = {.out = out, .indent = indent};

    put_text(&page, text);
    end_line(&page);
}

void wf_opt_print_help(const struct wf_opt_help *help, FILE *out)
{
    struct page usage = {.out = out, .indent = 7};

    (void)fputs("usage: ", out);
    usage.column = usage.indent;
    put_text(&usage, help->synopsis);
    end_line(&usage);
    end_line(&usage);
    put_paragraph(out, help->summary, 0);

    (void)fputs("\nExamples:\n", out);
    for (size_t i = 0; i < sizeof(help->examples) / sizeof(help->examples[0]); i++) {
        put_paragraph(out, help->examples[i].command, OPTION_INDENT);
        put_paragraph(out, help->examples[i].doc, EXAMPLE_INDENT);
    }

    (void)fputs("\nOptions:\n", out);
    for (const struct wf_opt *row = help->table; row->param.name != NULL; row++) {
        put_option(out, row);
    }
}
