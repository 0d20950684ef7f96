/* SPDX-License-Identifier: Apache-2.0 */
#include "run/plan/cpu_settings.h"

#include "base/mem.h"
#include "base/result/doc.h"
#include "model/ranks/cpu/cpu.h"
#include "model/ranks/node_params.h"

#include <stdlib.h>
#include <string.h>

#define SCOPE "cpu."

/* Reads a setting as a rule; false if the setting is not a rule. */
static bool read_rule(const struct wf_setting *setting, struct wf_cpu_rule *rule)
{
    size_t length = strlen(SCOPE);

    rule->text = setting->value;
    return strncmp(setting->key, SCOPE, length) == 0 &&
           wf_cpu_rule_parse(setting->key + length, rule) != WF_CPU_NO_RULE;
}

bool wf_sim_cpu_settings_has(const struct wf_setting *setting)
{
    struct wf_cpu_rule rule;

    return read_rule(setting, &rule);
}

/* The rules in effect; the caller frees the array. */
static struct wf_cpu_rule *collect(const struct wf_scenario *scenario, uint32_t *n)
{
    struct wf_cpu_rule *rules = wf_xcalloc(scenario->n + 1, sizeof(*rules));

    *n = 0;
    for (size_t i = 0; i < scenario->n; i++) {
        const struct wf_setting *setting = &scenario->settings[i];
        if (read_rule(setting, &rules[*n]) &&
            wf_scenario_find(scenario, setting->key) == setting) {
            ++*n;
        }
    }
    return rules;
}

/* Shares that wait for memory mean something only if memory and cores have a bandwidth. */
static enum wf_status check_memory(const struct wf_cpu_rule *rules, uint32_t n,
                                   const struct wf_node_params *node, struct wf_err *err)
{
    for (uint32_t i = 0; i < n; i++) {
        if (rules[i].kind == WF_CPU_MEMORY && (node->core_bandwidth == WF_PARAM_WORD ||
                                               node->memory_bandwidth == WF_PARAM_WORD)) {
            return wf_err_set(err, WF_EUSAGE,
                              SCOPE "memory.%.64s: node.core_bandwidth or "
                                    "node.memory_bandwidth is unlimited; set both to the "
                                    "bandwidth of a core and of a domain",
                              rules[i].name);
        }
    }
    return WF_OK;
}

enum wf_status wf_sim_cpu_settings_build(const struct wf_scenario *scenario,
                                         const struct wf_node_params *node,
                                         const struct wf_source *const *sources,
                                         uint32_t n_sources, struct wf_cpu_rules **out,
                                         struct wf_err *err)
{
    uint32_t n;
    struct wf_cpu_rule *rules = collect(scenario, &n);
    enum wf_status status = check_memory(rules, n, node, err);
    WF_THEN(status, wf_cpu_build(rules, n, sources, n_sources, out, err));

    free(rules);
    return status;
}

static void describe_kind(const struct wf_cpu_rule *rules, uint32_t n,
                          enum wf_cpu_rule_kind kind, const char *name, struct wf_value *parent)
{
    struct wf_value *section = NULL;

    for (uint32_t i = 0; i < n; i++) {
        if (rules[i].kind == kind) {
            section = section != NULL ? section : wf_doc_section(parent, name);
            wf_doc_text(section, rules[i].name, rules[i].text);
        }
    }
}

void wf_sim_cpu_settings_describe(const struct wf_scenario *scenario, struct wf_value *section)
{
    uint32_t n;
    struct wf_cpu_rule *rules = collect(scenario, &n);

    describe_kind(rules, n, WF_CPU_REGION, "region", section);
    describe_kind(rules, n, WF_CPU_COUNTER, "counter", section);
    describe_kind(rules, n, WF_CPU_MEMORY, "memory", section);
    free(rules);
}
