/* SPDX-License-Identifier: Apache-2.0 */
#include "study/coll_messages.h"

#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/opt.h"
#include "report/writer.h"
#include "result/doc.h"

#include <weft/weft.h>

#include <inttypes.h>
#include <string.h>

#define COLL_SCHEMA "weft-coll-1"

/* More messages than this are counted, but not printed one by one unless asked for. */
enum { MESSAGES_SHOWN = 200 };

struct coll_opts {
    bool help, json, all;
    uint64_t ranks, bytes, root;
    const char *algorithm;
    int rules;
};

static const struct wf_opt rows[] = {
    {.param = {.name = "ranks",
               .type = WF_PARAM_COUNT,
               .offset = offsetof(struct coll_opts, ranks),
               .def = "8",
               .min = "1",
               .max = "1073741824",
               .doc = "Ranks of the communicator"},
     .letter = 'n'},
    {.param = {.name = "bytes",
               .type = WF_PARAM_SIZE,
               .offset = offsetof(struct coll_opts, bytes),
               .def = "1KiB",
               .max = "1TiB",
               .doc = "Size of the data, or of one block where each rank has one"},
     .letter = 'b'},
    {.param = {.name = "root",
               .type = WF_PARAM_COUNT,
               .offset = offsetof(struct coll_opts, root),
               .def = "0",
               .doc = "Root, for collectives that have one"}},
    {.param = {.name = "algorithm",
               .type = WF_PARAM_TEXT,
               .offset = offsetof(struct coll_opts, algorithm),
               .doc = "Algorithm to show instead of the one that the rules choose"},
     .letter = 'a',
     .arg = "<name>"},
    {.param = {.name = "rules",
               .type = WF_PARAM_ENUM,
               .offset = offsetof(struct coll_opts, rules),
               .def = "mpich",
               .choices = wf_coll_rules_names,
               .doc = "Whose rules choose the algorithm"}},
    {.param = {.name = "all",
               .type = WF_PARAM_BOOL,
               .offset = offsetof(struct coll_opts, all),
               .doc = "Print all messages, however many"}},
    {.param = {.name = "json",
               .type = WF_PARAM_BOOL,
               .offset = offsetof(struct coll_opts, json),
               .doc = "Print everything as one JSON document"}},
    WF_OPT_HELP(struct coll_opts),
    WF_OPT_END,
};

static void coll_help(FILE *out)
{
    static const struct wf_opt_help help = {
        .synopsis = "weft coll (list [<kind>] | show <kind> | rules <kind>) [options]",
        .summary = "List the algorithms of collectives, show who sends what to whom, or which "
                   "algorithm MPI libraries choose",
        .examples =
            {
                {"weft coll show allreduce -n 8 --bytes 64KiB -a ring",
                 "Every message of an allreduce, round by round"},
                {"weft coll rules allreduce -n 64",
                 "The algorithms of MPICH and Open MPI by size"},
            },
        .table = rows,
    };

    wf_opt_print_help(&help, out);
}

static struct wf_value *new_document(void)
{
    struct wf_value *doc = wf_doc_new();

    wf_doc_text(doc, "schema", COLL_SCHEMA);
    wf_doc_text(doc, "version", weft_version());
    return doc;
}

static void write_json(struct wf_cli *cli, struct wf_value *doc)
{
    const struct wf_write_options options = {.verbose = false};

    wf_writer_json.write(doc, &options, cli->out);
    cli->answered = true;
    wf_doc_free(doc);
}

static enum wf_status find_kind(const char *name, enum wf_coll_kind *out, struct wf_err *err)
{
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, name);
    for (int kind = 0; kind < WF_COLL_KINDS; kind++) {
        if (strcmp(wf_coll_name((enum wf_coll_kind)kind), name) == 0) {
            *out = (enum wf_coll_kind)kind;
            return WF_OK;
        }
        wf_nearest_add(&nearest, wf_coll_name((enum wf_coll_kind)kind));
    }
    (void)wf_nearest_hint(&nearest, hint);
    return wf_err_set(err, WF_EUSAGE, "coll: unknown collective '%.64s'%s", name,
                      hint[0] != '\0' ? hint : "; 'weft coll list' shows all");
}

/* ---- weft coll list ---- */

/* Calls for each algorithm, of one kind or, if that is WF_COLL_KINDS, of all. */
static void list_text(struct wf_cli *cli, enum wf_coll_kind only)
{
    enum wf_coll_kind last = WF_COLL_KINDS;

    for (const struct wf_coll_ops *const *ops = wf_coll_table(); *ops != NULL; ops++) {
        enum wf_coll_kind kind = (*ops)->kind;

        if (only != WF_COLL_KINDS && kind != only) {
            continue;
        }
        if (kind != last) {
            (void)fprintf(cli->out, "%s%s\n", last != WF_COLL_KINDS ? "\n" : "",
                          wf_coll_name(kind));
            last = kind;
        }
        wf_columns_row(cli->out, (*ops)->name, (*ops)->summary);
    }
    (void)fputs("\n-p mpi.<collective>=<algorithm> chooses one for a replay, 'auto' what\n"
                "-p mpi.rules=mpich|openmpi says. 'ideal' and 'hardware', for every one,\n"
                "are formulas without messages.\n",
                cli->out);
}

static void list_json(struct wf_cli *cli, enum wf_coll_kind only)
{
    struct wf_value *doc = new_document();
    struct wf_value *list = wf_doc_list(doc, "algorithms");

    for (const struct wf_coll_ops *const *ops = wf_coll_table(); *ops != NULL; ops++) {
        if (only == WF_COLL_KINDS || (*ops)->kind == only) {
            struct wf_value *entry = wf_doc_section(list, NULL);

            wf_doc_text(entry, "collective", wf_coll_name((*ops)->kind));
            wf_doc_text(entry, "name", (*ops)->name);
            wf_doc_text(entry, "summary", (*ops)->summary);
        }
    }
    write_json(cli, doc);
}

/* ---- weft coll show ---- */

static enum wf_status unknown_algorithm(enum wf_coll_kind kind, const char *name,
                                        struct wf_err *err)
{
    char hint[WF_HINT_MAX];
    struct wf_nearest nearest;

    wf_nearest_begin(&nearest, name);
    for (const struct wf_coll_ops *const *ops = wf_coll_table(); *ops != NULL; ops++) {
        if ((*ops)->kind == kind) {
            wf_nearest_add(&nearest, (*ops)->name);
        }
    }
    (void)wf_nearest_hint(&nearest, hint);
    if (hint[0] == '\0') {
        (void)snprintf(hint, sizeof(hint), "; 'weft coll list %s' shows all",
                       wf_coll_name(kind));
    }
    return wf_err_set(err, WF_EUSAGE, "coll: %s has no algorithm '%.64s'%s", wf_coll_name(kind),
                      name, hint);
}

static enum wf_status choose(const struct coll_opts *opts, const struct wf_coll_args *args,
                             const struct wf_coll_ops **out, struct wf_err *err)
{
    if (opts->ranks > WF_COLL_SHOW_RANKS) {
        return wf_err_set(err, WF_EUSAGE, "--ranks: messages of at most %d ranks can be shown",
                          WF_COLL_SHOW_RANKS);
    }
    if (opts->root >= opts->ranks) {
        return wf_err_set(err, WF_EUSAGE, "--root: there are only ranks 0 to %" PRIu64,
                          opts->ranks - 1);
    }
    *out = opts->algorithm == NULL ? wf_coll_choose((enum wf_coll_rules)opts->rules, args)
                                   : wf_coll_find(args->kind, opts->algorithm);
    if (*out == NULL) {
        return unknown_algorithm(args->kind, opts->algorithm, err);
    }
    if (!(*out)->applies(args)) {
        return wf_err_set(err, WF_EUSAGE, "coll: %s of %s does not work for %" PRIu32 " ranks",
                          (*out)->name, wf_coll_name(args->kind), args->size);
    }
    return WF_OK;
}

/* "3", "0-3", "6-7 0-1", "1 3 5 7": the parts of the data that a message carries; what does not
 * fit ends with dots. */
static const char *name_slots(const struct wf_coll_slots *slots, uint32_t n_slots, char *buf,
                              size_t size)
{
    enum { DOTS = 24 }; /* room for one more run, and for them */
    size_t length = 0;
    uint32_t i = 0;

    buf[0] = '\0';
    while (i < slots->count) {
        uint32_t from = (slots->first + i) % n_slots, run = 0;

        while (i + run < slots->count && from + run < n_slots &&
               (slots->mask == 0 || ((i + run) & slots->mask) != 0)) {
            run++;
        }
        i += run > 0 ? run : 1;
        if (run == 0) {
            continue;
        }
        if (length + DOTS > size) {
            (void)snprintf(buf + length, size - length, " ...");
            break;
        }
        int more = run > 1 ? snprintf(buf + length, size - length, "%s%" PRIu32 "-%" PRIu32,
                                      length > 0 ? " " : "", from, from + run - 1)
                           : snprintf(buf + length, size - length, "%s%" PRIu32,
                                      length > 0 ? " " : "", from);
        length += more > 0 ? (size_t)more : 0;
    }
    return buf;
}

static void print_messages(FILE *out, const struct wf_coll_messages *messages)
{
    char bytes[WF_UNITS_TEXT_MAX], parts[52];

    (void)fprintf(out, "\n%6s %6s %6s %10s  %s\n", "Round", "From", "To", "Size", "Parts");
    for (uint32_t i = 0; i < messages->n; i++) {
        const struct wf_coll_sent *sent = &messages->sent[i];

        (void)fprintf(out, "%6" PRIu32 " %6" PRIu32 " %6" PRIu32 " %10s  %s\n", sent->round,
                      sent->from, sent->to, wf_human_size(sent->bytes, bytes),
                      name_slots(&sent->slots, messages->n_slots, parts, sizeof(parts)));
    }
}

static void print_call(struct wf_cli *cli, const struct wf_coll_ops *ops,
                       const struct wf_coll_args *args, const struct coll_opts *opts,
                       const struct wf_coll_messages *messages)
{
    char buf[WF_UNITS_TEXT_MAX];
    FILE *out = cli->out;

    (void)fprintf(out, "%s by %s, %" PRIu32 " ranks, %s\n", wf_coll_name(ops->kind), ops->name,
                  args->size, wf_human_size(args->bytes, buf));
    wf_columns_text(out, ops->summary);
    (void)fprintf(out, "\nRounds                %" PRIu32 "\n", messages->n_rounds);
    (void)fprintf(out, "Messages              %" PRIu32 "\n", messages->n);
    (void)fprintf(out, "Bytes                 %s\n", wf_human_size(messages->bytes, buf));
    (void)fprintf(out, "Most sent by a rank   %s\n", wf_human_size(messages->most_sent, buf));
    (void)fprintf(out, "Most received by one  %s\n",
                  wf_human_size(messages->most_received, buf));
    (void)fprintf(out, "Parts of the data     %" PRIu32 "\n", messages->n_slots);
    if (messages->n > 0 && (opts->all || messages->n <= MESSAGES_SHOWN)) {
        print_messages(out, messages);
    } else if (messages->n > 0) {
        (void)fputs("\n--all prints the messages.\n", out);
    }
}

static void write_call(struct wf_cli *cli, const struct wf_coll_ops *ops,
                       const struct wf_coll_args *args, const struct wf_coll_messages *messages)
{
    enum { PARTS_MAX = 4096 };
    char parts[PARTS_MAX];
    struct wf_value *doc = new_document();

    wf_doc_text(doc, "collective", wf_coll_name(ops->kind));
    wf_doc_text(doc, "algorithm", ops->name);
    wf_doc_count(doc, "ranks", args->size);
    wf_doc_count(doc, "root", args->root);
    wf_doc_count(doc, "data_bytes", args->bytes);
    wf_doc_count(doc, "parts", messages->n_slots);
    wf_doc_count(doc, "rounds", messages->n_rounds);
    wf_doc_count(doc, "bytes", messages->bytes);
    wf_doc_count(doc, "most_sent_bytes", messages->most_sent);
    wf_doc_count(doc, "most_received_bytes", messages->most_received);
    struct wf_value *list = wf_doc_list(doc, "messages");
    for (uint32_t i = 0; i < messages->n; i++) {
        const struct wf_coll_sent *sent = &messages->sent[i];
        struct wf_value *entry = wf_doc_section(list, NULL);

        wf_doc_count(entry, "round", sent->round);
        wf_doc_count(entry, "from", sent->from);
        wf_doc_count(entry, "to", sent->to);
        wf_doc_count(entry, "bytes", sent->bytes);
        wf_doc_text(entry, "parts",
                    name_slots(&sent->slots, messages->n_slots, parts, sizeof(parts)));
    }
    write_json(cli, doc);
}

static enum wf_status show(struct wf_cli *cli, enum wf_coll_kind kind,
                           const struct coll_opts *opts, struct wf_err *err)
{
    const struct wf_coll_args args = {
        .kind = kind,
        .size = (uint32_t)opts->ranks,
        .root = wf_coll_has_root(kind) ? (uint32_t)opts->root : 0,
        .bytes = kind == WF_COLL_BARRIER ? 0 : opts->bytes,
    };
    const struct wf_coll_ops *ops = NULL;
    struct wf_coll_messages messages;

    enum wf_status status = choose(opts, &args, &ops, err);
    if (status != WF_OK || ops == NULL) {
        return status;
    }
    wf_coll_messages_init(&messages, ops, &args);
    if (opts->json) {
        write_call(cli, ops, &args, &messages);
    } else {
        print_call(cli, ops, &args, opts, &messages);
    }
    wf_coll_messages_fini(&messages);
    return WF_OK;
}

/* ---- weft coll rules ---- */

static const struct wf_coll_ops *chosen(enum wf_coll_rules rules, enum wf_coll_kind kind,
                                        uint32_t ranks, uint64_t bytes)
{
    const struct wf_coll_args args = {.kind = kind, .size = ranks, .bytes = bytes};

    return wf_coll_choose(rules, &args);
}

/* The first size above `bytes` for which another algorithm is chosen; UINT64_MAX if there is
 * none up to 1 TiB. Looks at eight sizes of each power of two, and between two of those that
 * differ for the exact size. */
static uint64_t next_change(enum wf_coll_rules rules, enum wf_coll_kind kind, uint32_t ranks,
                            uint64_t bytes)
{
    const uint64_t last = UINT64_C(1) << 40;
    const struct wf_coll_ops *now = chosen(rules, kind, ranks, bytes);
    uint64_t same = bytes, other = bytes;

    while (other < last) {
        other += other / 8 + 1;
        if (chosen(rules, kind, ranks, other) != now) {
            while (other - same > 1) {
                uint64_t middle = same + (other - same) / 2;
                bool differs = chosen(rules, kind, ranks, middle) != now;

                other = differs ? middle : other;
                same = differs ? same : middle;
            }
            return other;
        }
        same = other;
    }
    return UINT64_MAX;
}

static void print_rules(struct wf_cli *cli, enum wf_coll_rules rules, enum wf_coll_kind kind,
                        uint32_t ranks)
{
    char size[WF_UNITS_TEXT_MAX];

    (void)fprintf(cli->out, "\n%s\n", wf_coll_rules_names[rules]);
    for (uint64_t at = 0; at != UINT64_MAX; at = next_change(rules, kind, ranks, at)) {
        const struct wf_coll_ops *ops = chosen(rules, kind, ranks, at);

        (void)fprintf(cli->out, "  from %-12s %s\n", wf_format_size(at, size), ops->name);
    }
}

static void write_rules(struct wf_cli *cli, enum wf_coll_kind kind, uint32_t ranks)
{
    struct wf_value *doc = new_document();

    wf_doc_text(doc, "collective", wf_coll_name(kind));
    wf_doc_count(doc, "ranks", ranks);
    struct wf_value *list = wf_doc_list(doc, "rules");
    for (int rules = 0; wf_coll_rules_names[rules] != NULL; rules++) {
        enum wf_coll_rules whose = (enum wf_coll_rules)rules;

        for (uint64_t at = 0; at != UINT64_MAX; at = next_change(whose, kind, ranks, at)) {
            struct wf_value *entry = wf_doc_section(list, NULL);

            wf_doc_text(entry, "rules", wf_coll_rules_names[rules]);
            wf_doc_count(entry, "from_bytes", at);
            wf_doc_text(entry, "algorithm", chosen(whose, kind, ranks, at)->name);
        }
    }
    write_json(cli, doc);
}

static enum wf_status show_rules(struct wf_cli *cli, enum wf_coll_kind kind,
                                 const struct coll_opts *opts, struct wf_err *err)
{
    uint32_t ranks = (uint32_t)opts->ranks;

    (void)err;
    if (opts->json) {
        write_rules(cli, kind, ranks);
        return WF_OK;
    }
    (void)fprintf(cli->out, "%s of %" PRIu32 " ranks, by the bytes of %s\n", wf_coll_name(kind),
                  ranks, kind == WF_COLL_BARRIER ? "nothing" : "the call");
    for (int rules = 0; wf_coll_rules_names[rules] != NULL; rules++) {
        print_rules(cli, (enum wf_coll_rules)rules, kind, ranks);
    }
    return WF_OK;
}

/* ---- the verb ---- */

static enum wf_status list(struct wf_cli *cli, enum wf_coll_kind kind,
                           const struct coll_opts *opts, struct wf_err *err)
{
    (void)err;
    if (opts->json) {
        list_json(cli, kind);
    } else {
        list_text(cli, kind);
    }
    return WF_OK;
}

static const struct {
    const char *name;
    bool needs_kind;
    enum wf_status (*run)(struct wf_cli *cli, enum wf_coll_kind kind,
                          const struct coll_opts *opts, struct wf_err *err);
} actions[] = {
    {"list", false, list},
    {"show", true, show},
    {"rules", true, show_rules},
};

static enum wf_status answer(struct wf_cli *cli, const struct coll_opts *opts,
                             const struct wf_opt_list *words, struct wf_err *err)
{
    enum wf_coll_kind kind = WF_COLL_KINDS;
    enum wf_status status = WF_OK;

    if (words->n > 2) {
        return wf_err_set(err, WF_EUSAGE, "coll: too many words, from '%.64s' on",
                          words->items[2]);
    }
    if (words->n == 2) {
        status = find_kind(words->items[1], &kind, err);
    }
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (words->n == 0 || strcmp(words->items[0], actions[i].name) != 0) {
            continue;
        }
        if (actions[i].needs_kind && words->n == 1) {
            return wf_err_set(err, WF_EUSAGE,
                              "coll %s: which collective? For example: weft coll %s allreduce",
                              actions[i].name, actions[i].name);
        }
        return status == WF_OK ? actions[i].run(cli, kind, opts, err) : status;
    }
    return wf_err_set(err, WF_EUSAGE,
                      "coll: expected list, show <kind> or rules <kind>%s%.64s%s",
                      words->n > 0 ? ", not '" : "", words->n > 0 ? words->items[0] : "",
                      words->n > 0 ? "'" : "");
}

static enum wf_status coll_run(struct wf_cli *cli, int argc, char **argv, struct wf_err *err)
{
    struct coll_opts opts;
    struct wf_operands operands;

    enum wf_status status = wf_opt_parse(rows, argc, argv, &opts, &operands, err);
    if (status != WF_OK) {
        return status;
    }
    if (opts.help) {
        coll_help(cli->out);
    } else {
        status = answer(cli, &opts, &operands.args, err);
    }
    wf_opt_release(rows, &opts, &operands);
    return status;
}

const struct wf_verb wf_verb_coll = {
    .name = "coll",
    .summary = "List the algorithms of collectives, and show their messages",
    .run = coll_run,
    .help = coll_help,
};
