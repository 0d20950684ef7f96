/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/router/lockstep/mail.h"

#include "base/array.h"
#include "base/mem.h"
#include "model/net/router/lockstep/host.h"

#include <stdlib.h>

bool wf_lockstep_mail_needed(const struct wf_lockstep *lock)
{
    const struct wf_traffic *traffic = lock->traffic;
    const struct wf_traffic_params *set = traffic->set;

    return !set->drop || set->arrivals != WF_TRAFFIC_BERNOULLI || traffic->sizes.n > 0 ||
           set->rounds > 0 || set->long_share > 0 || set->size > lock->model->set.packet;
}

/* The wheel of closed loops: cycles until a source learns that its message has arrived. */
static void set_wheel(struct wf_lockstep_net *net, const struct wf_lockstep *lock)
{
    struct wf_lockstep_mail *mail = &net->mail;

    mail->least = (uint32_t)((uint64_t)(lock->model->net.promise_ps + 1) / net->cycle_ps);
    uint64_t longest = mail->least + (uint64_t)net->credit_last + 1;
    for (mail->done_mask = 1; mail->done_mask < longest;) {
        mail->done_mask = 2 * mail->done_mask + 1;
    }
}

void wf_lockstep_mail_set(struct wf_lockstep_net *net, const struct wf_lockstep *lock)
{
    const struct wf_traffic_params *set = lock->traffic->set;
    struct wf_lockstep_mail *mail = &net->mail;

    mail->needed = wf_lockstep_mail_needed(lock);
    mail->rounds = set->rounds;
    mail->reply = set->reply;
    mail->packet = lock->model->set.packet;
    if (set->rounds > 0) {
        set_wheel(net, lock);
    }
}

void wf_lockstep_mail_new(struct wf_lockstep_net *net)
{
    struct wf_lockstep_mail *mail = &net->mail;

    if (mail->needed == 0) {
        return;
    }
    mail->senders = wf_xcalloc(net->n_nodes, sizeof(*mail->senders));
    if (mail->rounds > 0) {
        mail->done =
            wf_xcalloc(((size_t)mail->done_mask + 1) * net->n_nodes, sizeof(*mail->done));
    }
}

void wf_lockstep_mail_free(struct wf_lockstep_net *net)
{
    for (uint32_t i = 0; net->mail.senders != NULL && i < net->n_nodes; i++) {
        free(net->mail.senders[i].waiting.items);
        free(net->mail.senders[i].partial.items);
        free(net->mail.senders[i].reactions.items);
    }
    free(net->mail.senders);
    free(net->mail.done);
}

void wf_lockstep_host_grow(struct wf_lockstep_list *list, uint32_t size)
{
    uint32_t more = (uint32_t)wf_array_more(list->n, list->capacity);

    list->items = wf_array_grow(list->items, list->capacity, more, size, false);
    list->capacity = more;
}
