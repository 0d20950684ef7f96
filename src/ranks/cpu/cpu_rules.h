/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_CPU_CPU_RULES_H
#define WF_RANKS_CPU_CPU_RULES_H

/*
 * Rules for single regions and counters of a program: the settings cpu.region.<name> and
 * cpu.counter.<name>. See docs/models/cpu.md.
 */

#include "base/status.h"
#include "ranks/cpu/cpu.h"

struct wf_source;

enum wf_cpu_rule_kind { WF_CPU_NO_RULE, WF_CPU_REGION, WF_CPU_COUNTER };

struct wf_cpu_rule {
    enum wf_cpu_rule_kind kind;
    const char *name; /* of the region or counter */
    const char *text; /* region: a factor or a formula; counter: the time of one count */
};

/* Parses the name of a setting within the scope cpu, for example "region.solve". Sets the kind
 * and the name, which points into `setting`; returns the kind. */
enum wf_cpu_rule_kind wf_cpu_rule_parse(const char *setting, struct wf_cpu_rule *rule);

/* Builds the rules for these sources, the jobs of a run. A rule applies to each job that has a
 * region or counter of its name. WF_EUSAGE if none has, WF_EINVAL if the text is wrong; the
 * message begins with the full name of the setting. On success the caller owns *out, which
 * refers neither to the rules nor to the sources; null if there are no rules. */
WF_NODISCARD
enum wf_status wf_cpu_build(const struct wf_cpu_rule *rules, uint32_t n_rules,
                            const struct wf_source *const *sources, uint32_t n_sources,
                            struct wf_cpu_rules **out, struct wf_err *err);
void wf_cpu_rules_free(struct wf_cpu_rules *rules); /* null is allowed */

/* For wf_cpu_duration(): the duration of the work by the rules, or WF_CPU_NO_TIME. `otherwise`
 * is its duration without rules. */
int64_t wf_cpu_by_rules(const struct wf_cpu_rules *rules, const struct wf_cpu_work *work,
                        int64_t otherwise);

#endif
