/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/rails.h"

#include "base/mem.h"
#include "base/units.h"
#include "model/ranks/cores.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The domain of each interface. */
struct nic_domains {
    uint32_t of[WF_NET_NICS_MAX];
};

static enum wf_status bad_domains(const struct wf_node_params *node, struct wf_err *err)
{
    return wf_err_set(err, WF_EINVAL,
                      "node.nic_domains: '%.64s': expected %" PRIu64 " numbers below %" PRIu64
                      ", the memory domain of each interface, like 0,0,1,1",
                      node->nic_domains, node->nics, node->domains);
}

static enum wf_status parse_domains(const struct wf_node_params *node, struct nic_domains *out,
                                    struct wf_err *err)
{
    const char *text = node->nic_domains;

    for (uint64_t i = 0; i < node->nics; i++) {
        out->of[i] = (uint32_t)(i * node->domains / node->nics);
    }
    if (text == NULL || text[0] == '\0') {
        return WF_OK;
    }
    for (uint64_t i = 0; i < node->nics; i++) {
        char item[16];
        size_t length = strcspn(text, ",");
        uint64_t domain;

        if (length >= sizeof(item) || (text[length] == ',') != (i + 1 < node->nics)) {
            return bad_domains(node, err);
        }
        memcpy(item, text, length);
        item[length] = '\0';
        if (wf_parse_count(item, &domain, NULL) != WF_OK || domain >= node->domains) {
            return bad_domains(node, err);
        }
        out->of[i] = (uint32_t)domain;
        text += length + (text[length] == ',' ? 1 : 0);
    }
    return WF_OK;
}

/* Lists the interfaces that the ranks of a domain use; returns their number. */
static uint32_t list_near(const struct nic_domains *domains, uint32_t n_nics,
                          const struct wf_cores *cores, uint32_t domain, uint8_t *near)
{
    uint32_t socket = domain / cores->domains_per_socket;

    /* The same domain, the same socket, the same node. */
    for (int distance = 0; distance < 3; distance++) {
        uint32_t n = 0;

        for (uint32_t nic = 0; nic < n_nics; nic++) {
            uint32_t other = domains->of[nic];
            if (distance == 2 || other == domain ||
                (distance == 1 && other / cores->domains_per_socket == socket)) {
                near[n++] = (uint8_t)nic;
            }
        }
        if (n > 0) {
            return n;
        }
    }
    return 0; /* not reached: a node has at least one interface */
}

/* Gives the slots of a domain their interfaces. */
static void deal_nics(struct wf_rails *rails, const struct nic_domains *domains,
                      const struct wf_cores *cores, uint32_t domain, uint32_t *users)
{
    uint32_t n_slots = rails->place->slots_max, here = 0, number = 0;
    uint8_t near[WF_NET_NICS_MAX];
    uint32_t n_near = list_near(domains, rails->net->ends.nics, cores, domain, near);

    for (uint32_t slot = 0; slot < n_slots; slot++) {
        here += wf_cores_domain(cores, slot) == domain;
    }
    for (uint32_t slot = 0; slot < n_slots; slot++) {
        if (wf_cores_domain(cores, slot) == domain) {
            uint8_t nic = near[(uint64_t)number++ * n_near / here];

            rails->nic_of[slot] = nic;
            users[nic]++;
            rails->ranks_per_nic =
                users[nic] > rails->ranks_per_nic ? users[nic] : rails->ranks_per_nic;
        }
    }
}

enum wf_status wf_rails_init(struct wf_rails *rails, const struct wf_place *place,
                             const struct wf_net *net, const struct wf_node_params *node,
                             struct wf_err *err)
{
    struct nic_domains domains;
    uint32_t users[WF_NET_NICS_MAX] = {0};

    *rails = (struct wf_rails){.place = place,
                               .net = net,
                               .ranks_per_nic = place->slots_max > 1 ? place->slots_max : 1};
    if (net->ends.nics != node->nics) {
        return wf_err_set(err, WF_EINVAL,
                          "the network was created for %" PRIu32 " interfaces a node, but "
                          "node.nics is %" PRIu64,
                          net->ends.nics, node->nics);
    }
    if (node->nics == 1) {
        return WF_OK;
    }
    WF_TRY(parse_domains(node, &domains, err));
    rails->nic_of = wf_xcalloc(place->slots_max, sizeof(*rails->nic_of));
    rails->ranks_per_nic = 1;
    rails->policy = node->nic_policy;
    rails->stripe_min = node->stripe_min;
    const struct wf_cores cores = wf_cores_init(node, place->slots_max);
    for (uint32_t domain = 0; domain < cores.domains; domain++) {
        deal_nics(rails, &domains, &cores, domain, users);
    }
    return WF_OK;
}

void wf_rails_fini(struct wf_rails *rails)
{
    free(rails->nic_of);
    rails->nic_of = NULL;
}
