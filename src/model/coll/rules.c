/* SPDX-License-Identifier: Apache-2.0 */
#include "model/coll/rules.h"

#include "model/coll/nccl.h"
#include "model/coll/parts.h"

const char *const wf_coll_rules_names[] = {[WF_COLL_RULES_MPICH] = "mpich",
                                           [WF_COLL_RULES_OPENMPI] = "openmpi",
                                           [WF_COLL_RULES_NCCL] = "nccl",
                                           [WF_COLL_RULES_NCCL_FORMULA] = "nccl_formula",
                                           NULL};

static const struct wf_coll_kind_rules *const sets[] = {
    [WF_COLL_RULES_MPICH] = wf_coll_rules_mpich,
    [WF_COLL_RULES_OPENMPI] = wf_coll_rules_openmpi,
    [WF_COLL_RULES_NCCL] = wf_coll_rules_nccl,
    [WF_COLL_RULES_NCCL_FORMULA] = wf_coll_rules_nccl,
};

/* The bytes of all blocks. An overflow gives the largest number; the limits in rules are far
 * lower. */
static uint64_t total(const struct wf_coll_args *args)
{
    uint64_t sum = 0;

    if (args->counts == NULL) {
        bool over = __builtin_mul_overflow(args->bytes, (uint64_t)args->size, &sum);
        return over ? UINT64_MAX : sum;
    }
    for (uint32_t i = 0; i < args->size; i++) {
        if (__builtin_add_overflow(sum, args->counts[i], &sum)) {
            return UINT64_MAX;
        }
    }
    return sum;
}

/* The result is below UINT64_MAX, so that a rule for any number of bytes matches. */
static uint64_t measure(enum wf_coll_measure how, const struct wf_coll_args *args)
{
    uint64_t bytes = how == WF_COLL_MEASURE_GIVEN ? args->bytes : total(args);

    if (how == WF_COLL_MEASURE_MEAN) {
        bytes /= args->size;
    }
    return bytes < UINT64_MAX ? bytes : UINT64_MAX - 1;
}

static bool is_enough(enum wf_coll_enough enough, uint32_t size, uint64_t bytes)
{
    uint64_t elements = bytes / WF_COLL_ELEMENT;

    if (enough == WF_COLL_ENOUGH_FOR_RANKS) {
        return elements >= size;
    }
    return enough == WF_COLL_ENOUGH_ANY || elements >> wf_coll_log2_down(size) != 0;
}

static bool is_nccl(enum wf_coll_rules rules)
{
    return rules == WF_COLL_RULES_NCCL || rules == WF_COLL_RULES_NCCL_FORMULA;
}

/* The bytes that NCCL's tuning model goes by. */
static struct wf_coll_nccl_choice tuned(const struct wf_coll_args *args)
{
    bool whole = args->kind == WF_COLL_ALLREDUCE || args->kind == WF_COLL_BCAST ||
                 args->kind == WF_COLL_REDUCE;

    return wf_coll_nccl_choose(args, whole ? args->bytes : total(args), true);
}

enum wf_coll_protocol wf_coll_choose_protocol(enum wf_coll_rules rules,
                                              const struct wf_coll_args *args)
{
    if (!is_nccl(rules) || !wf_coll_nccl_has(args->kind)) {
        return WF_COLL_PLAIN;
    }
    /* Ranks do not know the counts of other ranks, but must agree. */
    return args->kind == WF_COLL_ALLTOALLV ? WF_COLL_SIMPLE : tuned(args).protocol;
}

bool wf_coll_is_formula(enum wf_coll_rules rules, const struct wf_coll_args *args)
{
    return is_nccl(rules) && wf_coll_nccl_has(args->kind);
}

const struct wf_coll_ops *wf_coll_choose(enum wf_coll_rules rules,
                                         const struct wf_coll_args *args)
{
    const struct wf_coll_kind_rules *of_kind = &sets[rules][args->kind];
    uint64_t bytes = measure(of_kind->measure, args);

    if (is_nccl(rules) && args->kind == WF_COLL_ALLREDUCE &&
        tuned(args).algorithm == WF_COLL_NCCL_TREE &&
        wf_coll_applies(&wf_coll_allreduce_double_tree, args)) {
        return &wf_coll_allreduce_double_tree;
    }
    for (const struct wf_coll_rule *rule = of_kind->rules;; rule++) {
        const struct wf_coll_pick *pick = rule->pick;

        if (args->size >= rule->below_size || bytes >= rule->below_bytes) {
            continue;
        }
        if (wf_coll_applies(pick->use, args) && is_enough(pick->enough, args->size, bytes)) {
            return pick->use;
        }
        if (pick->otherwise != NULL) {
            return pick->otherwise;
        }
    }
}
