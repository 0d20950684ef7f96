/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RANKS_CPU_CPU_RULES_H
#define WF_RANKS_CPU_CPU_RULES_H

/*
 * What users say of single regions and counters of a program, cpu.region.<name> and
 * cpu.counter.<name>; see docs/models/cpu.md.
 */

#include "base/status.h"
#include "ranks/cpu/cpu.h"

struct wf_source;

enum wf_cpu_rule_kind { WF_CPU_NO_RULE, WF_CPU_REGION, WF_CPU_COUNTER };

struct wf_cpu_rule {
    enum wf_cpu_rule_kind kind;
    const char *name; /* of the region or counter */
    const char *text; /* a factor or a formula; of a counter what one of it costs */
};

/* Understands a setting's name within the scope cpu: "region.solve". Sets the kind and the
 * name, which points into `setting`; returns the kind. */
enum wf_cpu_rule_kind wf_cpu_rule_parse(const char *setting, struct wf_cpu_rule *rule);

/* The rules for programs of these sources, the jobs of a run. A rule is for each of them that
 * has a region or counter of its name. WF_EUSAGE if none has, WF_EINVAL if the text is not
 * understood; the words begin with the whole name of the setting. On success the caller owns
 * *out, which needs neither the rules nor the sources. No rules make a null. */
WF_NODISCARD
enum wf_status wf_cpu_build(const struct wf_cpu_rule *rules, uint32_t n_rules,
                            const struct wf_source *const *sources, uint32_t n_sources,
                            struct wf_cpu_rules **out, struct wf_err *err);
void wf_cpu_rules_free(struct wf_cpu_rules *rules); /* null is allowed */

/* For wf_cpu_duration(): how long the work takes by the rules, if `otherwise` is its time on a
 * processor without any; or WF_CPU_NO_TIME. */
int64_t wf_cpu_by_rules(const struct wf_cpu_rules *rules, const struct wf_cpu_work *work,
                        int64_t otherwise);

#endif
